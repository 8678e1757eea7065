"""Gradients of several minibatches, added up as flat vectors: those of one that is as large."""

import itertools

import numpy as np
import pytest

import nd
from nd.dataset import DataSet, MultiDataSet
from nn import DenseLayer, InputType, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import Adam, Listener, Sgd
from tests.cells import wide_rows
from tests.nn.layers.test_contracts import N, batch, network
from tests.nn.layers.test_every_layer import FAMILIES, FIRST_ROWS

CUTS = [0, 1, 3, 6, N]
CLOSE = {"rtol": 1e-12, "atol": 1e-12}
SUMMED = [row for row in FIRST_ROWS if not any((row.values[0].couples, row.values[0].draws, row.values[0].looks_back))]
"""Rows of layers whose numbers do not depend on the minibatch that an example is in."""
OF_FAMILIES = [row.id for row in SUMMED if row.id.partition("-")[0] in FAMILIES]


def state_of(net):
    return [nd.to_host(vector).copy() for vector in (net.params(), net.updater_state())]


@pytest.mark.parametrize("case", wide_rows(SUMMED, 0, unless=OF_FAMILIES))
@pytest.mark.quick_rows(every=2)
def test_so_many_minibatches_are_one_that_is_as_large(case):
    """What follows the minibatches, running parameters, sees others."""
    whole, parts = network(case, l2=0.01), network(case, l2=0.01)
    x, y = batch(case, whole)
    rows = len(y) // len(x)
    given = [(x[start:stop], y[start * rows : stop * rows]) for start, stop in itertools.pairwise(CUTS)]
    expected = whole.compute_gradient_and_score(whole.step_input(x, y))
    found = parts.compute_gradient_and_score([parts.step_input(*pair) for pair in given])
    assert found.examples == expected.examples
    np.testing.assert_allclose(found.score, expected.score, **CLOSE)
    trained = np.ones(whole.num_params(), bool)
    for view in whole.engine.vectors.layout.views:
        trained[view.start : view.stop] = not view.spec.running
    np.testing.assert_allclose(nd.to_host(found.gradient())[trained], nd.to_host(expected.gradient())[trained], **CLOSE)
    for net, result in ((whole, expected), (parts, found)):
        assert net.updater.update(result, 0, 0).taken
    np.testing.assert_allclose(state_of(parts)[0][0, trained], state_of(whole)[0][0, trained], **CLOSE)


def small(**settings):
    layers = DenseLayer(n_out=5, activation="tanh"), OutputLayer(n_out=3, activation="softmax")
    base = NeuralNetConfiguration(**{"seed": 1, "dtype": "float64", "updater": Sgd(0.5), **settings})
    return MultiLayerNetwork(base.list(*layers, input_type=InputType.feed_forward(4))).init()


def minibatches(count=3):
    rng = np.random.default_rng(3)
    return [(rng.normal(size=(6, 4)), np.eye(3)[rng.integers(0, 3, 6)]) for _ in range(count)]


def test_sums_are_not_divided_where_scores_are_not():
    net, pairs = small(mini_batch=False), minibatches()
    scores = [net.compute_gradient_and_score(net.step_input(*pair)).score for pair in pairs]
    assert net.compute_gradient_and_score([net.step_input(*pair) for pair in pairs]).score == pytest.approx(sum(scores))


def test_they_go_through_the_solver_as_one_does():
    """One update, one iteration."""
    net, twin, pairs = small(updater=Adam(0.01)), small(updater=Adam(0.01)), minibatches()
    net._current_solver().optimize(0, [net.step_input(*pair) for pair in pairs])
    twin.fit(DataSet(*map(np.concatenate, zip(*pairs, strict=True))))
    assert net.iteration_count == 1
    for found, expected in zip(state_of(net), state_of(twin), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-14)


def test_listeners_hear_of_every_pass_and_of_the_sum():
    class Hears(Listener):
        def __init__(self):
            self.passes, self.gradients = 0, []

        def on_forward_pass(self, model, activations):
            self.passes += 1

        def on_backward_pass(self, model):
            self.gradients.append(nd.to_host(model.flattened_gradients()).copy())

    net, pairs, hears = small(), minibatches(), Hears()
    net.set_listeners(hears)
    result = net.compute_gradient_and_score([net.step_input(*pair) for pair in pairs])
    assert (hears.passes, len(hears.gradients)) == (3, 1)
    np.testing.assert_array_equal(hears.gradients[0][0], nd.to_host(result.gradient()))


@pytest.mark.parametrize("wrong", [[], ["a minibatch"], 3, (np.ones((2, 4)), np.ones((2, 3)))], ids=repr)
def test_anything_else_is_refused(wrong):
    with pytest.raises(nd.DTypeError, match=r"step must be a StepInput, or several, got .*net\.step_input"):
        small().compute_gradient_and_score(wrong)


def test_inputs_of_steps_are_checked_as_minibatches_are():
    net = small()
    with pytest.raises(nd.ShapeError, match=r"expected input \[N, 4\], got \[6, 5\]"):
        net.step_input(np.ones((6, 5)), np.ones((6, 3)))
    with pytest.raises(nd.DTypeError, match="step_input"):
        net.step_input(MultiDataSet([np.ones((6, 4))], [np.ones((6, 3))]))
