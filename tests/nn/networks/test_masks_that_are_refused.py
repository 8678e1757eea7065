"""A mask is finite and not negative, whichever way it comes in; features have numbers in them."""

import numpy as np
import pytest

import nd
from nd.dataset import DataSet, MultiDataSet
from nn import (
    LSTM,
    ComputationGraph,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    RnnOutputLayer,
)
from tests.cells import every_row

X = np.random.default_rng(3).random((5, 4, 6), np.float32)
Y = np.eye(2, dtype=np.float32)[np.random.default_rng(4).integers(0, 2, (5, 6))].transpose(0, 2, 1)
LAST = RnnOutputLayer(n_out=2, activation="softmax", loss="mcxent")
BASE = NeuralNetConfiguration(seed=1)


def chain(**settings):
    conf = BASE.list(LSTM(n_out=3), LAST, input_type=InputType.recurrent(4), **settings)
    return MultiLayerNetwork(conf).init()


def graph():
    nodes = {"a": (LSTM(n_out=3), "x"), "out": (LAST, "a")}
    return ComputationGraph(BASE.graph({"x": InputType.recurrent(4)}, nodes, "out")).init()


NETWORKS = {
    "chain": chain, "graph": graph,
    "truncated": lambda: chain(backprop_type="truncated_bptt", tbptt_fwd_length=3, tbptt_back_length=3),
}  # fmt: skip
OF_DATA = (
    "fit", "fit_batch", "score", "score_examples", "evaluate", "evaluate_regression", "do_evaluation",
    "compute_gradient_and_score",
)  # fmt: skip


def use(net, method, data):
    if method == "compute_gradient_and_score":
        return net.calculate_gradients(data.features, data.labels, data.features_mask, data.labels_mask)
    return getattr(net, method)(data, *([nd.evaluation.Evaluation()] if method == "do_evaluation" else []))


@every_row("bad", [-1.0, np.nan, np.inf, -np.inf])
@every_row("which", ["features", "labels"])
@every_row("kind", NETWORKS)
def test_every_method_refuses_it(kind, which, bad):
    nd.set_backend("numpy")
    net, mask = NETWORKS[kind](), np.ones((5, 6), np.float32)
    before = net.params().copy()
    mask[2, 3] = bad
    data = DataSet(X, Y, **{f"{which}_mask": mask})
    message = r"masks must be finite and >= 0, got values from"
    for method in OF_DATA:
        with pytest.raises(nd.DataError, match=message):
            use(net, method, data)
    given = mask if kind != "graph" else [mask]
    plural = "" if kind != "graph" else "s"
    with pytest.raises(nd.DataError, match=message):
        net.output(X, **{f"{which}_mask{plural}": given})
    with pytest.raises(nd.DataError, match=message):
        net.set_masks(**{f"{which}_mask{plural}": given})
    if kind == "graph":
        with pytest.raises(nd.DataError, match=message):
            net.fit(MultiDataSet([X], [Y], **{f"{which}_masks": [mask]}))
    np.testing.assert_array_equal(net.params(), before)


@pytest.mark.parametrize("mask", [np.full((5, 6), 0.5), np.ones((5, 6), bool), np.zeros((5, 6)) + np.eye(5, 6)])
def test_weights_of_any_size_are_masks(mask):
    net = chain()
    net.fit(DataSet(X, Y, labels_mask=mask))
    assert np.isfinite(net.score(DataSet(X, Y, labels_mask=mask)))


EMPTY = {"time steps": (5, 4, 0), "channels": (5, 0, 6), "examples": (0, 4, 6)}


@every_row("missing", EMPTY)
@every_row("kind", NETWORKS)
def test_every_method_refuses_features_without_numbers(kind, missing):
    net = NETWORKS[kind]()
    x = np.zeros(EMPTY[missing], np.float32)
    y = np.zeros((x.shape[0], 2, x.shape[2]), np.float32)
    message = r"expected features (with numbers in them|\[N, \.\.\.\] with N >= 1), got"
    for method in OF_DATA:
        with pytest.raises(nd.ShapeError, match=message):
            use(net, method, DataSet(x, y))
    for method in ("output", "feed_forward", "rnn_time_step"):
        with pytest.raises(nd.ShapeError, match=message):
            getattr(net, method)(x)


def test_nan_in_one_step_is_not_in_the_state_of_the_next():
    nd.set_backend("numpy")
    net, other = chain(), chain()
    net.rnn_time_step(X[:, :, 0])
    other.rnn_time_step(X[:, :, 0])
    for bad in (np.nan, np.inf):
        spoilt = X[:, :, 1].copy()
        spoilt[3, 2] = bad
        with pytest.raises(nd.DataError, match=r"rnn_time_step: features must be finite, got NaN or infinity in them"):
            net.rnn_time_step(spoilt)
    np.testing.assert_array_equal(net.rnn_time_step(X[:, :, 1]), other.rnn_time_step(X[:, :, 1]))
