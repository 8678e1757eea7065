"""Data that do not fit a graph: an error that says which array, and the network stays as it was."""

import numpy as np
import pytest

import nd
from nd.dataset import DataSet, ExistingMultiDataSetIterator, ListDataSetIterator, MultiDataSet
from nn import (
    ComputationGraph,
    DenseLayer,
    GlobalPoolingLayer,
    InputType,
    NeuralNetConfiguration,
    OutputLayer,
    StackVertex,
    UnstackVertex,
)
from tests.cells import every_row
from tests.nn.networks.test_graph import MASK, Y1, Y2, A, B, N, chain, data, host, network

NAN = np.full((N, 3), np.nan)
FIT = {
    "a DataSet for two inputs": (DataSet(A, Y1), nd.ShapeError, r"features of 2 input\(s\), got 1.*MultiDataSet"),
    "one array for two": (MultiDataSet([A], [Y1, Y2]), nd.ShapeError, r"features of 2 input\(s\), got 1"),
    "three arrays": (MultiDataSet([A, B, B], [Y1, Y2]), nd.ShapeError, r"features of 2 input\(s\), got 3"),
    "labels of one output": (MultiDataSet([A, B], [Y1]), nd.ShapeError, r"labels of 2 output\(s\), got 1"),
    "labels of three": (MultiDataSet([A, B], [Y1, Y2, Y2]), nd.ShapeError, r"labels of 2 output\(s\), got 3"),
    "no labels": (MultiDataSet([A, B], None), nd.DataError, "fit: a data set needs labels"),
    "unequal features": (
        MultiDataSet([A, B[:4]], [Y1, Y2]),
        nd.ShapeError,
        r"features of input 1: expected \[6, ...\]",
    ),
    "unequal labels": (MultiDataSet([A, B], [Y1, Y2[:4]]), nd.ShapeError, r"labels of output 1: expected \[6, ...\]"),
    "swapped inputs": (
        MultiDataSet([B, A], [Y1, Y2]),
        nd.ShapeError,
        r"'hidden' .*expected input \[N, 3\], got \[6, 2\]",
    ),
    "another number of columns": (
        MultiDataSet([A, B], [Y1, Y1]),
        nd.ShapeError,
        r"layer 'size' \(OutputLayer\).*\[6, 3\]",
    ),
    "a mask of steps for rows": (
        MultiDataSet([A, B], [Y1, Y2], [np.ones((N, 3)), None]),
        nd.ShapeError,
        r"features' mask must be \[6, 1\]",
    ),
    "not finite": (MultiDataSet([NAN, B], [Y1, Y2]), nd.NumericError, r"not finite|NaN"),
    "arrays for two inputs": ((A, Y1), nd.DataError, r"expected a list of 2 features and a list of 2 labels"),
    "features alone": ((A,), nd.DataError, "features need labels"),
    "no data": ((3,), nd.DTypeError, "expected features with labels, a DataSet or an iterator"),
    "an iterator of one input": (
        ListDataSetIterator(DataSet(A, Y1), 3),
        nd.ShapeError,
        r"features of 2 input\(s\), got 1",
    ),
    "an empty iterator": (ExistingMultiDataSetIterator([]), nd.DataError, "minibatch"),
    "a list of something else": ([A, B], nd.DataError, "features need labels"),
}


@every_row("name", FIT)
def test_a_graph_is_not_trained_on(name):
    given, error, message = FIT[name]
    net = network()
    before = host(net.params())
    with pytest.raises(error, match=message):
        net.fit(*given) if isinstance(given, tuple) else net.fit(given)
    np.testing.assert_array_equal(host(net.params()), before)
    assert net.iteration_count == 0
    net.fit(data())  # and goes on with what fits
    assert net.iteration_count == 1


ASKED = {
    "outputs of one input": (lambda net: net.output(A), nd.ShapeError, r"features of 2 input\(s\), got 1"),
    "outputs of nothing": (lambda net: net.output(), nd.ShapeError, r"features of 2 input\(s\), got 0"),
    "outputs of unequal examples": (lambda net: net.output(A, B[:2]), nd.ShapeError, r"features of input 1: expected"),
    "outputs of a row": (lambda net: net.output(A[0], B), nd.ShapeError, r"expected features \[N, ...\]"),
    "outputs of a text": (lambda net: net.output("ab", B), nd.DTypeError, "x must be features"),
    "a mask for two outputs": (lambda net: net.output(A, B, labels_masks=[MASK]), nd.ShapeError, "got 1"),
    "a mask that does not fit an output": (
        lambda net: net.output(A, B, labels_masks=[np.ones((N, 2)), None]),
        nd.ShapeError,
        r"labels' mask must be \[6, 1\]",
    ),
    "masks in a dict": (lambda net: net.set_masks({"a": MASK}), nd.DTypeError, "a list with a mask or None for each"),
    "masks too many": (lambda net: net.set_masks([None] * 3), nd.ShapeError, "got 3"),
    "inputs": (lambda net: net.set_inputs(A), nd.ShapeError, r"features of 2 input\(s\), got 1"),
    "labels": (lambda net: net.set_labels(Y1), nd.ShapeError, r"labels of 2 output\(s\), got 1"),
    "a gradient of nothing": (lambda net: net.compute_gradient_and_score(), nd.ConfigurationError, "must come first"),
    "errors of one output": (
        lambda net: (net.set_inputs(A, B), net.backprop_gradient(Y1)),
        nd.ShapeError,
        "expected 2 epsilons, got 1",
    ),
    "errors of another shape": (
        lambda net: (net.set_inputs(A, B), net.backprop_gradient(Y1, Y1)),
        nd.ShapeError,
        r"epsilon must be \[6, 2\]",
    ),
    "errors without inputs": (lambda net: net.backprop_gradient(Y1, Y2), nd.ConfigurationError, "must come first"),
    "a score of arrays": (lambda net: net.score(A), nd.DataError, "score: features need labels"),
    "a score without labels": (
        lambda net: net.score(MultiDataSet([A, B], None)),
        nd.DataError,
        "score: .*needs labels",
    ),
    "a score of one input": (
        lambda net: net.score((A, Y1)),
        nd.DataError,
        r"expected a list of 2 features and a list of 2 labels",
    ),
    "examples of a DataSet": (lambda net: net.score_examples(DataSet(A, Y1)), nd.ShapeError, r"got 1"),
    "an evaluation without labels": (
        lambda net: net.evaluate(MultiDataSet([A, B], None)),
        nd.DataError,
        "evaluate: a data set needs labels",
    ),
    "an evaluation of arrays": (lambda net: net.evaluate([A]), nd.DataError, "evaluate: features need labels"),
    "an evaluation of an unknown output": (
        lambda net: net.do_evaluation(data(), {"both": []}),
        nd.ChoiceError,
        "do_evaluation: .*output.*'both'",
    ),
    "no evaluation": (
        lambda net: net.do_evaluation(data(), {"size": 3}),
        nd.DTypeError,
        "do_evaluation: expected evaluations",
    ),
    "predictions of two inputs": (lambda net: net.predict(A), nd.ShapeError, r"features of 2 input\(s\), got 1"),
    "validation data of one input": (
        lambda net: net.fit(data(), validation_data=(A, Y1)),
        nd.DataError,
        r"validation_data: expected a list of 2 features",
    ),
    "validation data without labels": (
        lambda net: net.fit(data(), validation_data=MultiDataSet([A, B], None)),
        nd.DataError,
        "validation_data must have labels",
    ),
    "weights of other examples": (
        lambda net: net.fit(data(), sample_weight=[1.0, 2.0]),
        nd.ShapeError,
        "sample_weight",
    ),
    "a rate of no layer": (lambda net: net.set_learning_rate("a", 0.1), nd.ConfigurationError, "layer must be one of"),
}


@every_row("name", ASKED)
def test_what_a_graph_is_asked_wrongly(name):
    ask, error, message = ASKED[name]
    with pytest.raises(error, match=message):
        ask(network())


def test_before_init_a_graph_says_so():
    net = ComputationGraph(network().conf)
    for use in (lambda: net.output(A, B), lambda: net.set_inputs(A, B), lambda: net.get_vertex("both"),
                lambda: net.feed_forward(A, B), lambda: net.params(), lambda: net.set_masks(None, None)):  # fmt: skip
        with pytest.raises(nd.ConfigurationError, match=r"init\(\) must come first"):
            use()


def test_an_output_without_a_loss_is_not_trained():
    base = NeuralNetConfiguration(seed=1)
    nodes = {"dense": (DenseLayer(n_out=3), "x"), "out": (OutputLayer(n_out=3), "dense")}
    conf = base.graph(inputs={"x": InputType.feed_forward(3)}, nodes=nodes, outputs=["out", "dense"])
    net = ComputationGraph(conf).init()
    assert [out.shape for out in net.output(A)] == [(N, 3)] * 2
    with pytest.raises(nd.ConfigurationError, match=r"layer 'dense' \(DenseLayer\): .*must have a loss"):
        net.fit(MultiDataSet([A], [Y1, Y1]))


def test_stacked_examples_have_as_many_labels():
    base = NeuralNetConfiguration(seed=1, dtype="float64")
    types = {"a": InputType.feed_forward(3), "b": InputType.feed_forward(3)}
    nodes = {"s": (StackVertex(), "a", "b"), "out": (OutputLayer(n_out=3), "s")}
    net = ComputationGraph(base.graph(inputs=types, nodes=nodes, outputs=["out"])).init()
    net.fit(MultiDataSet([A, -A], [np.concatenate([Y1, Y1])]))
    assert net.batch_size == 2 * N
    with pytest.raises(nd.ShapeError, match=r"layer 'out'.*\[6, 3\]"):
        net.fit(MultiDataSet([A, -A], [Y1]))
    with pytest.raises(nd.ShapeError, match=r"vertex 's'|'s' \(StackVertex\)|n_in|\[6, 2\]"):
        net.fit(MultiDataSet([A, B], [Y1]))
    nodes = {"u": (UnstackVertex(1, 4), "a"), "out": (OutputLayer(n_out=3), "u")}
    net = ComputationGraph(base.graph(inputs={"a": types["a"]}, nodes=nodes, outputs=["out"])).init()
    with pytest.raises(nd.ShapeError, match=r"vertex 'u' \(UnstackVertex\): .*6.*4|4.*6"):
        net.fit(MultiDataSet([A], [Y1]))


def test_series_of_other_lengths_meet_nowhere():
    base = NeuralNetConfiguration(seed=1)
    types = {"a": InputType.recurrent(3), "b": InputType.recurrent(3)}
    nodes = {"out": (OutputLayer(n_out=3), "pool"), "pool": (GlobalPoolingLayer(), "a", "b")}
    net = ComputationGraph(base.graph(inputs=types, nodes=nodes, outputs="out")).init()
    series = np.ones((N, 3, 5))
    assert net.output(series, series)[0].shape == (N, 3)
    with pytest.raises(nd.ShapeError, match=r"vertex 'pool-merge' \(MergeVertex\): .*\[6, 3, 4\]"):
        net.output(series, series[:, :, 1:])


def test_a_single_input_takes_one_array():
    with pytest.raises(nd.ShapeError, match=r"features of 1 input\(s\), got 2"):
        chain().output(A, B)
