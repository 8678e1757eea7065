"""Losses at every pixel, voxel and time step: masks, labels that do not fit, evaluation."""

import json
import zipfile

import numpy as np
import pytest

import nd
from backends.cpu.numpy_backend import NumpyBackend
from nd.dataset import DataSet
from nd.losses import LossMAE
from nn import (
    Cnn3DLossLayer,
    CnnLossLayer,
    ConvolutionLayer,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    RnnLossLayer,
    RnnOutputLayer,
)
from nn.files.json import layer_from_json, layer_to_json
from tests.cells import every_row
from tests.layers_at_work import backprop, backprop_delta, forward
from tests.stand_ins import TOLERANCE, as_input
from tests.step_plans import workers_of

N, C = 3, 4
PLACES = {"rnn": (5,), "cnn": (3, 2), "cnn3d": (2, 3, 2)}
LAYERS = {"rnn": RnnLossLayer, "cnn": CnnLossLayer, "cnn3d": Cnn3DLossLayer}
TYPES = {
    "rnn": InputType.recurrent(C, 5),
    "cnn": InputType.convolutional(3, 2, C),
    "cnn3d": InputType.convolutional3d(2, 3, 2, C),
}
RNG = np.random.default_rng(8)


def make_network(*layers, input_type, **settings):
    conf = NeuralNetConfiguration(seed=5, dtype="float64", bias_init=0.1, **settings)
    return MultiLayerNetwork(conf.list(*layers, input_type=input_type)).init()


def softmax(z):
    raised = np.exp(z)
    return raised / raised.sum(1, keepdims=True)


def data_of(kind):
    places = PLACES[kind]
    x = RNG.normal(size=(N, C, *places))
    y = np.moveaxis(np.eye(C)[RNG.integers(0, C, (N, *places))], -1, 1)
    return x, np.ascontiguousarray(y)


def masks_of(kind):
    """Name -> (mask as it is given, the same in the shape of the labels)."""
    places = PLACES[kind]
    of_places = RNG.integers(0, 2, (N, 1, *places)).astype(float)
    of_places[:2, :, :1] = np.array([0.0, 1.0]).reshape(2, *(1 for _ in (1, *places)))
    of_examples = np.array([1.0, 0.0, 1.0]).reshape(N, *(1 for _ in (1, *places)))
    of_outputs = RNG.integers(0, 2, (N, C, *places)).astype(float)
    found = {
        "places": of_places,
        "examples": of_examples,
        "rows": of_examples.reshape(N, 1),
        "outputs": of_outputs,
        "first-axis": of_places[:, :, :1],
    }
    if kind == "rnn":
        found["steps"] = of_places[:, 0]
    full = {
        name: (np.broadcast_to(mask.reshape(N, 1, *places), of_outputs.shape) if name == "steps" else mask)
        for name, mask in found.items()
    }
    full["rows"] = of_examples
    return {name: (mask, np.broadcast_to(full[name], of_outputs.shape)) for name, mask in found.items()}


@every_row(("kind", "name"), [(kind, name) for kind in LAYERS for name in masks_of(kind)])
def test_a_mask_takes_places_out_of_score_and_gradient(kind, name, backend):
    x, y = data_of(kind)
    mask, full = masks_of(kind)[name]
    layer = make_network(LAYERS[kind](loss="l2", activation="tanh"), input_type=TYPES[kind]).get_layer(0)
    p = np.tanh(x)
    cache = forward(layer, as_input(backend, x, dtype="float64"), True)[1]
    labels, given = as_input(backend, y, "f", "float64"), as_input(backend, mask, dtype="float64")
    loss, delta = layer.loss_and_delta(labels, cache, given)
    assert nd.item(loss) == pytest.approx((full * (p - y) ** 2).sum(), rel=1e-12)
    assert nd.item(layer.summed_loss(labels, cache, given)) == pytest.approx(nd.item(loss), rel=1e-12)
    epsilon = nd.to_host(nd.copy(backprop_delta(layer, delta, cache)))
    np.testing.assert_allclose(epsilon, full * 2.0 * (p - y) * (1.0 - p**2), **TOLERANCE["float64"])


def test_the_score_is_divided_by_the_examples_alone(backend):
    x, y = data_of("cnn")
    net = make_network(CnnLossLayer(loss="mcxent", activation="softmax"), input_type=TYPES["cnn"])
    assert net.score(DataSet(x, y)) == pytest.approx(-(y * np.log(softmax(x))).sum() / N, rel=1e-12)


def test_steps_of_series_with_a_mask_train_as_the_steps_alone_would(backend):
    """Against a dense layer's formulas over the rows that count."""
    x, y = data_of("rnn")
    y = y[:, :2]
    mask = np.array([[1.0, 1, 1, 0, 0], [1, 1, 0, 0, 0], [1, 1, 1, 1, 1]])
    net = make_network(RnnOutputLayer(n_out=2, activation="softmax"), input_type=TYPES["rnn"])
    W, b = (nd.to_host(net.get_param(key)).copy() for key in ("0_W", "0_b"))
    kept = [(x[n, :, t], y[n, :, t]) for t in range(5) for n in range(N) if mask[n, t]]
    rows, labels = (np.array(each) for each in zip(*kept, strict=True))
    p = softmax(rows @ W + b)
    net.set_input(as_input(backend, x))
    net.set_labels(as_input(backend, y))
    net.set_masks(None, as_input(backend, mask))
    net.compute_gradient_and_score()
    assert net.score() == pytest.approx(-(labels * np.log(p)).sum() / N, rel=1e-12)
    delta = p - labels
    found = net.gradient().gradient_for_variable()
    np.testing.assert_allclose(nd.to_host(found["0_W"]), rows.T @ delta, **TOLERANCE["float64"])
    np.testing.assert_allclose(nd.to_host(found["0_b"]), delta.sum(0)[None], **TOLERANCE["float64"])


def test_a_features_mask_reaches_the_loss_and_silences_the_activations(backend):
    x, y = data_of("rnn")
    y = y[:, :2]
    mask = np.array([[1.0, 1, 1, 0, 0], [1, 1, 0, 0, 0], [1, 1, 1, 1, 1]])
    net = make_network(RnnOutputLayer(n_out=2, loss="l2", activation="tanh"), input_type=TYPES["rnn"])
    expected = net.score(DataSet(x, y, labels_mask=mask))
    assert net.score(DataSet(x, y, features_mask=mask)) == pytest.approx(expected, rel=1e-12)
    out = nd.to_host(net.output(as_input(backend, x), features_mask=as_input(backend, mask)))
    np.testing.assert_allclose(out, nd.to_host(net.output(x)) * mask[:, None], **TOLERANCE["float64"])
    layer = net.get_layer(0)
    _, cache = forward(layer, nd.create(x, "float64"), True, nd.create(mask, "float64"))
    epsilon = backprop(layer, nd.ones(*y.shape, dtype="float64"), cache)
    assert not (nd.to_host(nd.copy(epsilon)) * (1.0 - mask[:, None])).any()
    assert nd.to_host(nd.copy(epsilon))[:, :, 0].all()


# ---- what does not fit

RNN = InputType.recurrent(C, 5)


@pytest.mark.parametrize(
    ("labels", "mask", "message"),
    [
        ((N, C), None, r"layer 0 \(RnnLossLayer\): labels must be \[N, C, T\], here \[3, 4, 5\], got \[3, 4\]\. Give"),
        ((N, C, 4), None, r"labels must be \[N, C, T\], here \[3, 4, 5\], got \[3, 4, 4\]"),
        ((N, 2, 5), None, r"layer 0 \(RnnLossLayer\): loss LossMCXENT: labels must be \[N, 4\], got \[15, 2\]"),
        ((N, C, 5), (N, 4), r"mask must be \[N, T\], or \[3, 4, 5\] for each output, got \[3, 4\]"),
        ((N, C, 5), (N, 3, 5), r"mask must be \[N, T\], or \[3, 4, 5\] for each output, got \[3, 3, 5\]"),
        ((N, C, 5), (N, 1, 1, 1), r"mask must be \[N, T\], .* got \[3, 1, 1, 1\]"),
    ],
)
def test_labels_and_masks_that_do_not_fit(labels, mask, message):
    net = make_network(RnnLossLayer(loss="mcxent", activation="softmax"), input_type=RNN)
    net.set_input(np.ones((N, C, 5)))
    net.set_labels(np.ones(labels))
    net.set_masks(None, None if mask is None else np.ones(mask))
    with pytest.raises(nd.ShapeError, match=message):
        net.compute_gradient_and_score()


@pytest.mark.parametrize(
    ("layer", "input_type", "message"),
    [
        (CnnLossLayer(), RNN, r"layer 0 \(CnnLossLayer\): expected input \[N, C, H, W\], got recurrent\(4x5\)"),
        (Cnn3DLossLayer(), TYPES["cnn"], r"expected input \[N, C, D, H, W\], got convolutional\(3x2x4\)\. Use Input"),
        (RnnLossLayer(), TYPES["cnn3d"], r"expected input \[N, C, T\], got convolutional3d\(2x3x2x4\)"),
        (RnnOutputLayer(n_out=2), TYPES["cnn3d"], r"layer 0 \(RnnOutputLayer\): expected time series, got conv"),
    ],
)
def test_inputs_of_another_kind(layer, input_type, message):
    with pytest.raises(nd.ConfigurationError, match=message):
        make_network(layer, input_type=input_type)


@pytest.mark.parametrize(
    "layer",
    [CnnLossLayer(), RnnLossLayer(activation="softmax"), Cnn3DLossLayer(), RnnOutputLayer(n_in=3, n_out=2)],
)
def test_rows_are_refused(layer):
    net = MultiLayerNetwork(NeuralNetConfiguration(seed=1).list(layer)).init()
    with pytest.raises(nd.ShapeError, match=rf"{type(layer).__name__}\): expected input \[N, .*\], got \[2, 3\]\. Set"):
        net.output(np.ones((2, 3)))
    with pytest.raises(nd.DTypeError, match="expected an array, got list"):
        forward(net.get_layer(0), [[1.0]], False)


def test_images_and_series_come_as_rows_where_the_input_type_says_so():
    net = make_network(CnnLossLayer(), input_type=InputType.convolutional_flat(2, 3, 2))
    assert tuple(net.output(np.ones((N, 12))).shape) == (N, 2, 2, 3)
    net = make_network(RnnOutputLayer(n_out=2), input_type=InputType.recurrent(3))
    assert tuple(net.output(np.ones((N, 3, 7))).shape) == (N, 2, 7)
    assert tuple(net.output(np.ones((1, 3, 2))).shape) == (1, 2, 2)
    assert net.conf.layer_types()[0][1].shape == (2, None)


# ---- evaluation


@every_row(("kind", "name"), [(kind, name) for kind in LAYERS for name in masks_of(kind) if name != "outputs"])
def test_evaluation_counts_every_place_that_is_not_masked(kind, name):
    x, y = data_of(kind)
    mask, full = masks_of(kind)[name]
    net = make_network(LAYERS[kind](loss="mcxent", activation="softmax"), input_type=TYPES[kind])
    evaluation = net.evaluate([DataSet(x[:2], y[:2], labels_mask=mask[:2]), DataSet(x[2:], y[2:], None, mask[2:])])
    right = (x.argmax(1) == y.argmax(1))[full[:, 0] == 1.0]
    assert evaluation.num_row_counter == right.size < N * np.prod(PLACES[kind])
    assert evaluation.accuracy() == pytest.approx(right.mean(), rel=1e-12)


def test_features_masks_go_through_the_network_in_evaluation():
    """Masked steps have the output 0, which is class 0, and count: only a labels' mask takes them out."""
    x, y = data_of("rnn")
    mask = np.array([[1.0, 1, 1, 0, 0], [1, 1, 0, 0, 0], [1, 1, 1, 1, 1]])
    net = make_network(RnnOutputLayer(n_out=C, activation="softmax"), input_type=RNN)
    predicted = np.where(mask == 1.0, nd.to_host(net.output(x)).argmax(1), 0)
    assert net.evaluate(DataSet(x, y, mask)).accuracy() == pytest.approx((predicted == y.argmax(1)).mean(), rel=1e-12)
    with pytest.raises(nd.ShapeError, match=r"the features' mask must be \[3, 5\], got \[3, 4\]"):
        net.output(x, features_mask=mask[:, :4])


# ---- files


def test_the_layer_of_a_java_model_is_read_and_written_as_it_was(reference):
    """The last layer of a network that DL4J 1.0.0-beta4 saved; two fields came later."""
    with zipfile.ZipFile(reference / "regression" / "100b4" / "SyntheticCNN_100b4.bin") as archive:
        written = json.loads(archive.read("configuration.json"))["confs"][-1]["layer"]
    layer = layer_from_json(written)
    assert type(layer) is CnnLossLayer
    assert (layer.loss, layer.l2) == (LossMAE(), 1e-4)
    assert layer_to_json(layer) == {**written, "format": "NCHW", "timeDistributedFormat": None}


def test_another_data_format_is_read():
    written = layer_to_json(make_network(CnnLossLayer(), input_type=TYPES["cnn"]).conf.layers[0])
    assert layer_from_json({**written, "format": "NHWC"}).data_format == "NHWC"
    with pytest.raises(nd.ConfigurationError, match="CnnLossLayer: data_format must be NCHW or NHWC, got 'NWC'"):
        layer_from_json({**written, "format": "NWC"})


# ---- minibatches in parts


def test_segmentation_in_two_workers_gives_the_same_gradient():
    shape = (256, 8, 12, 12)
    x, y = RNG.normal(size=shape), np.moveaxis(np.eye(3)[RNG.integers(0, 3, (256, 12, 12))], -1, 1)
    mask = RNG.integers(0, 2, (256, 1, 12, 12)).astype(float)
    found = []
    for threads in (1, 2):
        with nd.use_backend(NumpyBackend(threads=threads)):
            net = make_network(
                ConvolutionLayer(n_out=3, kernel_size=3, convolution_mode="same", activation="identity"),
                CnnLossLayer(loss="mcxent", activation="softmax"),
                input_type=InputType.convolutional(12, 12, 8),
            )
            assert len(workers_of(net, shape)) == threads
            net.fit_batch(DataSet(x, y, labels_mask=mask))
            found.append((net.score(), nd.to_host(nd.copy(net.params()))))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-12)
    np.testing.assert_allclose(found[0][1], found[1][1], **TOLERANCE["float64"])
