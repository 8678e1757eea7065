"""Embeddings: series of every length, masks, indices outside of the table, and what the configuration says."""

import json
import math

import numpy as np
import pytest

import nd
from nd.dataset import DataSet
from nn import (
    DenseLayer,
    EmbeddingLayer,
    EmbeddingSequenceLayer,
    GlobalPoolingLayer,
    InputType,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    NormalDistribution,
    OutputLayer,
)
from nn.files.json import layer_from_json
from nn.terms.preprocessors import CnnToFeedForwardPreProcessor
from nn.terms.series_preprocessors import RnnToFeedForwardPreProcessor
from optimize import Sgd
from tests.layers_at_work import backprop, forward, memory_of_gradients
from tests.nn.layers.test_every_layer import check_derivative, orders_of
from tests.stand_ins import TOLERANCE, as_input

RNG = np.random.default_rng(41)
WORDS, SIZE = 6, 3
INDICES = RNG.integers(0, WORDS, (4, 5)).astype(float)
MASK = np.array([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [1, 1, 1, 1, 0], [0, 0, 0, 0, 0]], float)


def host(x):
    return nd.to_host(nd.copy(x))


def sequence(dtype="float64", **settings):
    layer = EmbeddingSequenceLayer(n_in=WORDS, n_out=SIZE, **{"has_bias": True, "activation": "tanh", **settings})
    net = MultiLayerNetwork(NeuralNetConfiguration(seed=3, dtype=dtype, bias_init=0.2).list(layer)).init()
    return net.get_layer(0)


def words(n=4, **settings):
    embedding = EmbeddingLayer(n_in=WORDS, n_out=SIZE, **{"activation": "sigmoid", **settings})
    layers = embedding, OutputLayer(n_out=2, activation="softmax")
    return MultiLayerNetwork(NeuralNetConfiguration(seed=3, dtype="float64", updater=Sgd(0.5)).list(*layers)).init()


def by_hand(layer, mask=None):
    W, b = (host(layer.params[name]).astype(float) for name in ("W", "b"))
    out = np.zeros((4, SIZE, 5))
    for n, c, t in np.ndindex(*out.shape):
        out[n, c, t] = math.tanh(W[int(INDICES[n, t]), c] + b[0, c]) * (1.0 if mask is None else mask[n, t])
    return out


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("shape", [(4, 5), (4, 1, 5)])
def test_every_step_has_its_row(shape, masked, backend, dtype):
    layer, mask = sequence(dtype), MASK if masked else None
    for order in orders_of(backend):
        given = None if mask is None else as_input(backend, mask, order, dtype)
        found = forward(layer, as_input(backend, INDICES.reshape(shape), order, dtype), False, given)[0]
        np.testing.assert_allclose(nd.to_host(found), by_hand(layer, mask), **TOLERANCE[dtype])


@pytest.mark.parametrize("masked", [False, True])
def test_derivatives_of_a_series(masked, backend):
    layer, x = sequence(), nd.create(INDICES)
    mask = nd.create(MASK) if masked else None
    weights = RNG.normal(size=(4, SIZE, 5))

    def weighted():
        return float((nd.to_host(forward(layer, x, True, mask)[0]) * weights).sum())

    views = memory_of_gradients(layer)
    for _ in range(2):  # the gradient of the step before is gone
        assert backprop(layer, nd.create(weights), forward(layer, x, True, mask)[1], views) is None
    gradients = {name: host(view) for name, view in views.items()}
    for name, gradient in gradients.items():
        check_derivative(weighted, layer.params[name], gradient, 4 if backend.name != "strict" else 2)
    used = set(INDICES[MASK > 0] if masked else INDICES.ravel())
    assert {row for row in range(WORDS) if gradients["W"][row].any()} == used


@pytest.mark.parametrize("shape", [(4, 5), (4, 1, 5)])
def test_steps_that_do_not_count_are_left_out_of_a_mean(shape, backend):
    """Whatever stands there: the network sees a bag of the other words."""
    layers = (
        EmbeddingSequenceLayer(n_in=WORDS, n_out=SIZE, activation="identity"),
        GlobalPoolingLayer("avg"),
        OutputLayer(n_out=2, activation="softmax"),
    )
    conf = NeuralNetConfiguration(seed=3, dtype="float64").list(*layers, input_type=InputType.recurrent(1, 5))
    net, mask = MultiLayerNetwork(conf).init(), MASK[:3]
    W, V, b = (host(net.get_param(key)) for key in ("0_W", "2_W", "2_b"))
    means = [W[row[kept > 0].astype(int)].mean(0) for row, kept in zip(INDICES, mask, strict=False)]
    raised = np.exp(np.array(means) @ V + b)
    x = as_input(backend, INDICES[:3].reshape(3, *shape[1:]))
    found = net.output(x, features_mask=as_input(backend, mask))
    np.testing.assert_allclose(host(found), raised / raised.sum(1, keepdims=True), **TOLERANCE["float64"])
    net.fit(DataSet(INDICES[:3].reshape(3, *shape[1:]), np.eye(2)[[0, 1, 1]], mask))
    with pytest.raises(nd.ShapeError, match=r"the features' mask must be \[3, 5\], got \[3, 1\]"):
        net.output(x, features_mask=np.ones((3, 1)))


def test_words_of_one_minibatch_add_up(backend):
    """dL/dW of a row is the sum over the examples that name it."""
    net = words()
    net.set_input(nd.create([[1.0], [4.0], [1.0], [1.0]], "float64"))
    net.set_labels(nd.create(np.eye(2)[[0, 1, 1, 0]]))
    net.compute_gradient_and_score()
    W, b, table = (host(net.get_param(key)) for key in ("1_W", "1_b", "0_W"))
    z = table[[1, 4, 1, 1]]
    hidden = 1.0 / (1.0 + np.exp(-z))
    raised = np.exp(hidden @ W + b)
    delta = (raised / raised.sum(1, keepdims=True) - np.eye(2)[[0, 1, 1, 0]]) @ W.T * hidden * (1.0 - hidden)
    expected = np.zeros((WORDS, SIZE))
    expected[1], expected[4] = delta[0] + delta[2] + delta[3], delta[1]
    np.testing.assert_allclose(host(net.gradient().gradient_for_variable()["0_W"]), expected, **TOLERANCE["float64"])


@pytest.mark.parametrize("wrong", [1.7, -0.5, math.nan, math.inf])
def test_an_index_that_is_not_whole_is_refused_and_changes_nothing(wrong, backend):
    net, y = words(), np.eye(2)[[0, 1]]
    for x in ([[1.0], [wrong]], [[1.0], [5.0]], [[1.0], [wrong]]):  # computed, and run from the record
        before = host(net.params())
        if x[1] == [5.0]:
            net.fit(np.array(x), y)
            continue
        with pytest.raises(nd.DataError, match=r"layer 0 \(EmbeddingLayer\): an index must be a whole number"):
            net.fit(np.array(x), y)
        np.testing.assert_array_equal(host(net.params()), before)
    if not backend.looks_at_indices:
        return
    layer, steps = sequence(), INDICES.copy()
    steps[2, 1] = wrong
    with pytest.raises(nd.DataError, match=r"layer 0 \(EmbeddingSequenceLayer\): an index must be a whole number"):
        forward(layer, as_input(backend, steps), False)


@pytest.mark.parametrize("wrong", [-1.0, 6.0, 1e6])
def test_an_index_outside_of_the_table_is_named_and_changes_nothing(wrong, backend):
    net, y = words(), np.eye(2)[[0, 1]]
    good, bad = np.array([[1.0], [5.0]]), np.array([[1.0], [wrong]])
    for _ in range(3):  # computed, and run from the record
        before = host(net.params())
        with pytest.raises(
            nd.DataError,
            match=rf"layer 0 \(EmbeddingLayer\): an index must be the number of a row, .* less than 6, got {wrong:.0f}",
        ):
            net.fit(bad, y)
        np.testing.assert_array_equal(host(net.params()), before)
        with pytest.raises(nd.DataError, match=r"layer 0 \(EmbeddingLayer\): an index"):
            net.output(bad)
        net.fit(good, y)
        assert (host(net.params()) != before).any()


def test_indices_of_the_device_that_nobody_looked_at_are_named_as_what_may_be_wrong(device):
    with nd.use_backend(device):
        net, x, y = words(), nd.create([[1.0], [6.0]], "float64"), np.eye(2)[[0, 1]]
        before = host(net.params())
        expected = (
            r"score must be finite, got nan .* An index that is no row of layer 0 \(EmbeddingLayer\) gives NaN on"
        )
        with pytest.raises(nd.NumericError, match=expected):
            net.fit(x, y)
        np.testing.assert_array_equal(host(net.params()), before)


def test_input_of_another_shape_is_refused():
    layer = words().get_layer(0)
    for shape in ((4,), (4, 2), (4, 1, 1)):
        with pytest.raises(nd.ShapeError, match=r"\(EmbeddingLayer\): expected input \[N, 1\], the numbers of rows"):
            forward(layer, np.zeros(shape), False)
    with pytest.raises(nd.DTypeError, match=r"\(EmbeddingLayer\): expected an array, got list"):
        forward(layer, [[1.0]], False)
    for shape in ((4,), (4, 2, 5), (4, 1, 1, 5)):
        with pytest.raises(nd.ShapeError, match=r"\(EmbeddingSequenceLayer\): expected input \[N, T\] or \[N, 1, T\]"):
            forward(sequence(), np.zeros(shape), False)
    fixed = sequence(infer_input_length=False, input_length=5)
    assert tuple(forward(fixed, INDICES, False)[0].shape) == (4, SIZE, 5)
    with pytest.raises(nd.ShapeError, match=r"\(EmbeddingSequenceLayer\): expected series of 5 time steps, got 4"):
        forward(fixed, INDICES[:, :4], False)


def test_weights_are_drawn_as_if_one_number_came_in():
    normal = NormalDistribution(0.0, math.sqrt(2.0 / (1 + SIZE)))
    for layer_class in (EmbeddingLayer, EmbeddingSequenceLayer):
        drawn, expected = (
            MultiLayerNetwork(
                NeuralNetConfiguration(seed=9).list(layer_class(n_in=WORDS, n_out=SIZE, weight_init=init))
            ).init()
            for init in ("xavier", normal)
        )
        np.testing.assert_array_equal(drawn.params(), expected.params())


def test_what_the_input_type_says():
    def first(layer, input_type):
        conf = NeuralNetConfiguration().list(layer, input_type=input_type)
        return conf.layers[0], conf.layer_types()[0][1], conf.preprocessors

    word, series = EmbeddingLayer(n_in=WORDS, n_out=SIZE), EmbeddingSequenceLayer(n_in=WORDS, n_out=SIZE)
    rows = InputType.feed_forward(SIZE)
    assert first(word, InputType.feed_forward(1))[:2] == (word_named(word), rows)
    assert first(EmbeddingLayer(n_out=SIZE), InputType.feed_forward(9))[0].n_in == 9
    assert first(word, InputType.recurrent(1, 4))[1:] == (rows, {0: RnnToFeedForwardPreProcessor()})
    assert first(word, InputType.convolutional(1, 1, 1))[2] == {0: CnnToFeedForwardPreProcessor(1, 1, 1)}
    assert first(series, InputType.feed_forward(7))[1] == InputType.recurrent(SIZE, 7)
    assert first(series, InputType.recurrent(1, 7))[1] == InputType.recurrent(SIZE, 7)
    assert first(series, InputType.recurrent(1))[1] == InputType.recurrent(SIZE)
    assert first(EmbeddingSequenceLayer(n_out=SIZE), InputType.recurrent(9, 7))[0].n_in == 9
    chained = NeuralNetConfiguration().list(word, DenseLayer(n_out=2)).layers
    assert chained[1].n_in == SIZE
    with pytest.raises(nd.ConfigurationError, match=r"layer 0 \(EmbeddingLayer\): n_in must be 9, .*got 6"):
        first(word, InputType.feed_forward(9))
    with pytest.raises(nd.ConfigurationError, match=r"layer 0 \(EmbeddingLayer\): n_in is missing"):
        first(EmbeddingLayer(n_out=SIZE), InputType.feed_forward(1))
    with pytest.raises(
        nd.ConfigurationError, match=r"\(EmbeddingSequenceLayer\): expected series of indices, got conv"
    ):
        first(series, InputType.convolutional(2, 2, 1))
    fixed = EmbeddingSequenceLayer(n_in=WORDS, n_out=SIZE, infer_input_length=False, input_length=5)
    with pytest.raises(nd.ConfigurationError, match=r"input_length must be 7, the length of what comes in, got 5"):
        first(fixed, InputType.feed_forward(7))


def word_named(layer):
    return NeuralNetConfiguration().list(layer).layers[0]


@pytest.mark.parametrize(("name", "value"), [("input_length", 0), ("input_length", 2.5), ("infer_input_length", 1)])
def test_what_is_no_configuration_is_refused(name, value):
    with pytest.raises(nd.ConfigurationError, match=f"EmbeddingSequenceLayer: {name} must be .*, got {value}"):
        EmbeddingSequenceLayer(**{name: value})


def test_what_java_takes_where_a_file_says_nothing():
    for layer_class in (EmbeddingLayer, EmbeddingSequenceLayer):
        assert not layer_class(n_in=2, n_out=2).has_bias
        conf = NeuralNetConfiguration(seed=1).list(layer_class(n_in=2, n_out=2))
        document = json.loads(conf.to_json())
        layer = document["confs"][0]["layer"]
        assert document["confs"][0]["variables"] == ["W"]
        for key in ("hasBias", "inputLength", "inferInputLength"):
            layer.pop(key, None)
        read = MultiLayerConfiguration.from_json(json.dumps(document)).layers[0]
        assert read.has_bias
        if layer_class is EmbeddingSequenceLayer:
            assert (read.input_length, read.infer_input_length) == (1, False)
            layer["outputFormat"] = "NWC"
            assert layer_from_json(layer).data_format == "NWC"
