"""A graph at work: activations, scores and gradients are those computed by hand; what it is asked for by name."""

import copy
import pickle
from types import SimpleNamespace

import numpy as np
import pytest

import nd
from nd.dataset import DataSet, ExistingMultiDataSetIterator, MultiDataSet
from nd.evaluation import Evaluation, RegressionEvaluation
from nn import ComputationGraph, DenseLayer, InputType, MergeVertex, NeuralNetConfiguration, OutputLayer, ScaleVertex
from optimize import Sgd

RNG = np.random.default_rng(11)
N = 6
A, B = RNG.normal(size=(N, 3)), RNG.normal(size=(N, 2))
CLASSES = np.array([0, 2, 1, 2, 0, 2])
Y1, Y2 = np.eye(3)[CLASSES], RNG.normal(size=(N, 2))
MASK = np.array([[1.0], [0], [1], [1], [0], [1]])
CLOSE = {"rtol": 1e-12, "atol": 1e-14}


def network(l2=0.0, **settings):
    """Return a graph of two inputs and two outputs: the hidden layer goes to both, once merged, once scaled."""
    base = NeuralNetConfiguration(**{"seed": 5, "dtype": "float64", "updater": Sgd(0.1), "l2": l2, **settings})
    conf = base.graph(
        inputs={"a": InputType.feed_forward(3), "b": InputType.feed_forward(2)},
        nodes={
            "hidden": (DenseLayer(n_out=4, activation="tanh"), "a"),
            "both": (MergeVertex(), "hidden", "b"),
            "half": (ScaleVertex(0.5), "hidden"),
            "kind": (OutputLayer(n_out=3, loss="mcxent", activation="softmax"), "both"),
            "size": (OutputLayer(n_out=2, loss="l2", activation="identity"), "half"),
        },
        outputs=["kind", "size"],
    )
    return ComputationGraph(conf).init()


def chain(n_out=3, loss="mcxent", activation="softmax"):
    """Return a graph of one input and one output."""
    base = NeuralNetConfiguration(seed=5, dtype="float64", updater=Sgd(0.1))
    nodes = {"out": (OutputLayer(n_out=n_out, loss=loss, activation=activation), "a")}
    return ComputationGraph(base.graph(inputs={"a": InputType.feed_forward(3)}, nodes=nodes, outputs="out")).init()


def by_hand(net, masks=(None, None)):
    """Compute forward and backward in NumPy."""
    p = {name: np.array(nd.to_host(view)) for name, view in net.param_table().items()}
    m1, m2 = (np.ones((N, 1)) if mask is None else mask for mask in masks)
    hidden = np.tanh(A @ p["hidden_W"] + p["hidden_b"])
    both, half = np.hstack([hidden, B]), 0.5 * hidden
    z = both @ p["kind_W"] + p["kind_b"]
    kind = np.exp(z) / np.exp(z).sum(1, keepdims=True)
    size = half @ p["size_W"] + p["size_b"]
    losses = [-(m1 * Y1 * np.log(kind)).sum(1), (m2 * (size - Y2) ** 2).sum(1)]
    d1, d2 = m1 * (kind - Y1), m2 * 2.0 * (size - Y2)
    of_both, of_half = d1 @ p["kind_W"].T, d2 @ p["size_W"].T
    dz = (of_both[:, :4] + 0.5 * of_half) * (1.0 - hidden**2)
    gradients = {"hidden_W": A.T @ dz, "hidden_b": dz.sum(0, keepdims=True), "kind_W": both.T @ d1}
    gradients |= {"kind_b": d1.sum(0, keepdims=True), "size_W": half.T @ d2, "size_b": d2.sum(0, keepdims=True)}
    below = [dz @ p["hidden_W"].T, of_both[:, 4:]]
    activations = {"a": A, "b": B, "hidden": hidden, "both": both, "half": half, "kind": kind, "size": size}
    penalty = sum(0.5 * (p[name] ** 2).sum() for name in p if name.endswith("_W"))
    return SimpleNamespace(
        losses=losses, gradients=gradients, below=below, activations=activations, penalty=penalty, params=p
    )


def data(masks=None):
    return MultiDataSet([A, B], [Y1, Y2], None, masks)


def host(x):
    return np.array(nd.to_host(x))


# ---- activations


def test_outputs_are_in_their_order_and_activations_by_name():
    net, expected = network(), by_hand(network()).activations
    for given in ((A, B), ([A, B],), (A.tolist(), B.tolist())):
        kind, size = net.output(*given)
        np.testing.assert_allclose(kind, expected["kind"], **CLOSE)
        np.testing.assert_allclose(size, expected["size"], **CLOSE)
    named = net.feed_forward(A, B)
    assert list(net.feed_forward(A, B, False)) == list(named)
    assert list(named) == net.topological_order()
    assert net.topological_order()[:2] == ["a", "b"]
    for name, array in named.items():
        np.testing.assert_allclose(array, expected[name], **CLOSE)


def test_activations_on_every_backend(backend):
    net, expected = network(), by_hand(network()).activations
    outs = net.output(nd.create(A, "float64"), nd.create(B, "float64"))
    for name, out in zip(("kind", "size"), outs, strict=True):
        np.testing.assert_allclose(nd.to_host(out), expected[name], **CLOSE)


def test_labels_masks_multiply_outputs():
    net, expected = network(), by_hand(network()).activations
    kind, size = net.output(A, B, labels_masks=[None, MASK])
    np.testing.assert_allclose(kind, expected["kind"], **CLOSE)
    np.testing.assert_allclose(size, MASK * expected["size"], **CLOSE)


def test_an_iterator_gives_the_outputs_of_all_its_minibatches():
    net = network()
    halves = [MultiDataSet([A[rows], B[rows]], [Y1[rows], Y2[rows]]) for rows in (slice(0, 4), slice(4, 6))]
    for out, expected in zip(net.output(ExistingMultiDataSetIterator(halves)), net.output(A, B), strict=True):
        np.testing.assert_allclose(out, expected, **CLOSE)


def test_the_minibatch_that_is_set_is_fed_forward():
    net = network()
    net.set_inputs(A, B)
    np.testing.assert_array_equal(net.feed_forward()["kind"], net.output(A, B)[0])
    assert [x.shape for x in net.get_inputs()] == [(N, 3), (N, 2)]
    net.set_labels(Y1, Y2)
    assert [y.shape for y in net.get_labels()] == [(N, 3), (N, 2)]
    net.clear()
    assert (net.get_inputs(), net.get_labels()) == ([], [])
    with pytest.raises(nd.ConfigurationError, match="feed_forward: features must be given, or set_inputs come first"):
        net.feed_forward()


def test_a_single_output():
    net = chain()
    np.testing.assert_array_equal(net.output_single(A), net.output(A)[0])
    with pytest.raises(nd.ConfigurationError, match=r"must have one output, got \['kind', 'size'\]. Call output"):
        network().output_single(A, B)


def test_what_is_returned_is_not_overwritten_later():
    net = network()
    first = net.output(A, B)
    kept = [host(out) for out in first]
    net.output(-A, B)
    net.fit(data())
    for out, before in zip(first, kept, strict=True):
        np.testing.assert_array_equal(out, before)


# ---- scores and gradients


@pytest.mark.parametrize("masks", [None, [None, MASK], [MASK, MASK]], ids=["all", "second", "both"])
def test_losses_are_added_and_gradients_are_those_by_hand(masks):
    net = network(l2=0.1)
    expected = by_hand(net, masks or (None, None))
    net.set_inputs(A, B)
    net.set_labels(Y1, Y2)
    net.set_masks(None, masks)
    net.compute_gradient_and_score()
    score = sum(loss.sum() for loss in expected.losses) / N + 0.1 * expected.penalty
    assert net.score() == pytest.approx(score, rel=1e-12)
    assert net.score(data(masks)) == pytest.approx(score, rel=1e-12)
    found = net.gradient().gradient_for_variable()
    assert list(found) == list(net.param_table())
    for name, gradient in expected.gradients.items():
        np.testing.assert_allclose(found[name], gradient, **CLOSE)
    gradient, below = net.calculate_gradients([A, B], [Y1, Y2], labels_masks=masks)
    np.testing.assert_allclose(gradient.get_gradient_for("hidden_W"), expected.gradients["hidden_W"], **CLOSE)
    for found, epsilon in zip(below, expected.below, strict=True):
        np.testing.assert_allclose(found, epsilon, **CLOSE)


def test_errors_from_outside_train_as_the_losses_would():
    net, expected = network(), by_hand(network())
    kind, size = (expected.activations[name] for name in ("kind", "size"))
    net.feed_forward(A, B)
    net.set_inputs(A, B)
    gradient, below = net.backprop_gradient(-Y1 / kind, 2.0 * (size - Y2))
    for name, one in expected.gradients.items():
        np.testing.assert_allclose(gradient.get_gradient_for(name), one, **CLOSE)
    for found, epsilon in zip(below, expected.below, strict=True):
        np.testing.assert_allclose(found, epsilon, **CLOSE)


def test_scores_of_examples():
    net = network(l2=0.1)
    expected = by_hand(net, (None, MASK))
    losses = sum(expected.losses)[:, None]
    found = net.score_examples(data([None, MASK]), False)
    np.testing.assert_allclose(found, losses, **CLOSE)
    np.testing.assert_allclose(net.score_examples(data([None, MASK])), losses + 0.1 * expected.penalty, **CLOSE)


def test_without_mini_batch_nothing_is_divided():
    net = network(mini_batch=False)
    assert net.score(data()) == pytest.approx(sum(loss.sum() for loss in by_hand(net).losses), rel=1e-12)


# ---- evaluation


def test_each_output_has_evaluations_of_its_own():
    net, expected = network(), by_hand(network()).activations
    counting = net.evaluate(data())
    assert counting.accuracy() == pytest.approx((expected["kind"].argmax(1) == CLASSES).mean())
    errors = np.abs(expected["size"] - Y2).mean(0)
    for output in ("size", 1):
        regression = net.evaluate_regression(data(), output=output)
        np.testing.assert_allclose([regression.mean_absolute_error(column) for column in (0, 1)], errors, rtol=1e-6)
    found = net.do_evaluation(data(), {"kind": [Evaluation()], 1: RegressionEvaluation()})
    assert found[0].accuracy() == counting.accuracy()
    assert found[1].mean_absolute_error(0) == pytest.approx(errors[0], rel=1e-6)
    assert net.do_evaluation(data(), Evaluation())[0].accuracy() == counting.accuracy()
    half = [MultiDataSet([A[:3], B[:3]], [Y1[:3], Y2[:3]]), MultiDataSet([A[3:], B[3:]], [Y1[3:], Y2[3:]])]
    assert net.evaluate(ExistingMultiDataSetIterator(half)).accuracy() == counting.accuracy()
    masked = net.evaluate(data([MASK, None]))
    assert masked.num_row_counter == MASK.sum()


@pytest.mark.parametrize("output", ["both", 2, -1, None, 1.0])
def test_there_is_no_such_output(output):
    with pytest.raises(nd.ChoiceError, match=r"evaluate_regression: .*output"):
        network().evaluate_regression(data(), output=output)


def test_an_output_without_classes_is_not_evaluated():
    with pytest.raises(nd.ConfigurationError, match=r"evaluate: .*'size'"):
        network().evaluate(data(), output="size")


def test_predictions_of_a_graph_of_one_output():
    net = chain()
    expected = host(net.output(A)[0]).argmax(1)
    np.testing.assert_array_equal(net.predict(A), expected)
    net.class_names = ["x", "y", "z"]
    assert net.predict_labels(A) == ["xyz"[number] for number in expected]
    assert net.evaluate(A, CLASSES).accuracy() == pytest.approx((expected == CLASSES).mean())
    assert net.score((A, Y1)) == net.score(DataSet(A, Y1)) == net.score(MultiDataSet([A], [Y1]))


# ---- parameters, names, copies


def test_parameters_lie_in_the_order_in_which_vertices_run():
    net = network()
    assert net.topological_order() == ["a", "b", "hidden", "both", "half", "kind", "size"]
    assert list(net.param_table()) == ["hidden_W", "hidden_b", "kind_W", "kind_b", "size_W", "size_b"]
    assert net.num_params() == 12 + 4 + 18 + 3 + 8 + 2
    view = net.get_param("kind_W")
    net.set_param("kind_W", np.ones((6, 3)))
    assert host(view).sum() == 18.0


def test_vertices_layers_and_sizes_by_name():
    net = network()
    assert (net.num_input_arrays, net.num_output_arrays, net.n_layers) == (2, 2, 3)
    assert sorted(net.layer_names) == ["hidden", "kind", "size"]
    assert net.get_layer("hidden").label == "layer 'hidden' (DenseLayer)"
    assert net.get_vertex("both").label == "vertex 'both' (MergeVertex)"
    assert (net.layer_size("kind"), net.layer_input_size("kind")) == (3, 6)
    with pytest.raises(nd.ConfigurationError, match=r"get_layer: layer must be one of .*'both'"):
        net.get_layer("both")
    with pytest.raises(nd.ChoiceError, match=r"get_vertex: .*'a'"):
        net.get_vertex("a")
    with pytest.raises(nd.ConfigurationError, match=r"layer_size: layer must be one of .*'both'"):
        net.layer_size("both")


@pytest.mark.parametrize(
    "copied", [pickle, copy.copy, copy.deepcopy, ComputationGraph.clone], ids=["pickle", "copy", "deepcopy", "clone"]
)
def test_copies_go_their_own_way(copied):
    net = network(updater="adam")
    net.fit(data())
    other = pickle.loads(pickle.dumps(net)) if copied is pickle else copied(net)
    assert (other.conf.vertices, other.iteration_count) == (net.conf.vertices, 1)
    before = host(net.params())
    other.fit(data())
    np.testing.assert_array_equal(net.params(), before)
    net.fit(data())
    np.testing.assert_array_equal(net.params(), other.params())
    np.testing.assert_array_equal(net.updater_state(), other.updater_state())
