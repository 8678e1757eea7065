"""Parts of one's own that raise in the middle of a step: the network is as before it, and trains on."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import nd
from nd.dataset import DataSet, ListDataSetIterator
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import Adam, LayerConstraint, Listener, Updater
from optimize.regularization import L2Regularization
from optimize.terminations import TerminationCondition
from tests.nn.step.test_interrupted import everything

RNG = np.random.default_rng(23)
DATA = [
    DataSet(RNG.normal(size=(6, 4)).astype(np.float32), np.eye(3, dtype=np.float32)[RNG.integers(0, 3, 6)])
    for _ in range(4)
]
FAILS_AT = 2  # the step, 0-based


class Fuse:
    """Raises in the n-th call; None: never."""

    left: ClassVar[int | None] = None

    @classmethod
    def burn(cls):
        if cls.left is not None:
            cls.left -= 1
            if cls.left < 0:
                raise OSError("the part failed")


@dataclass(frozen=True)
class FailingUpdater(Updater):
    learning_rate: float = 0.1
    state_names = ("V",)

    def coefficients(self, iteration, epoch):
        return (self.learning_rate,)

    def apply(self, gradient, states, scratch, coefficients):
        nd.addi(states[0], gradient)
        Fuse.burn()
        nd.muli(gradient, coefficients[0])


@dataclass(frozen=True)
class PureFailingUpdater(FailingUpdater):
    pure = True


@dataclass(frozen=True)
class FailingPenalty(L2Regularization):
    pure = False

    def apply(self, params, gradient, scratch, coefficient):
        super().apply(params, gradient, scratch, coefficient)
        Fuse.burn()


@dataclass(frozen=True)
class FailingConstraint(LayerConstraint):
    def constrained(self, param, iteration, epoch):
        Fuse.burn()
        return nd.multiply(param, 0.99)


class FailingTermination(TerminationCondition):
    def terminate(self, cost, old_cost, gradient):
        Fuse.burn()
        return False


class FailingListener(Listener):
    def on_gradient_calculation(self, model):
        Fuse.burn()


def network(layer=None, listener=None, **settings):
    """Dropout draws, and Adam has a state, so that there is something to be given back."""
    base = NeuralNetConfiguration(**{"seed": 3, "updater": Adam(0.05), "drop_out": 0.7, **settings})
    net = MultiLayerNetwork(
        base.list(DenseLayer(n_in=4, n_out=5, activation="tanh", **(layer or {})), OutputLayer(n_out=3))
    ).init()
    if listener is not None:
        net.set_listeners(listener())
    return net


SEARCH = {"updater": "sgd", "optimization_algo": "lbfgs", "drop_out": None}
SETTINGS = {  # how a network fails, and how many calls of the part a step takes
    "updater": ({"updater": FailingUpdater(), "layer": {"updater": FailingUpdater(0.2)}}, 2),
    "updater of the last layer": ({"updater": FailingUpdater(), "layer": {"updater": Adam(0.1)}}, 1),
    "penalty": ({"layer": {"regularization": [FailingPenalty(0.01)]}}, 1),
    "constraint": ({"constrain_weights": FailingConstraint()}, 2),
    "constraint of a search": ({"constrain_weights": FailingConstraint(), **SEARCH}, 2),
    "termination of a search": ({"terminations": [FailingTermination()], **SEARCH}, 1),
    "listener": ({"listener": FailingListener}, 1),
    "listener of a search": ({"listener": FailingListener, **SEARCH}, 1),
}


@pytest.fixture(autouse=True)
def whole_fuse():
    Fuse.left = None
    yield
    Fuse.left = None


def train(net, eager):
    for data in DATA:
        if eager:
            with nd.eager():
                net.fit_batch(data)
        else:
            net.fit_batch(data)


@pytest.mark.parametrize("call", [0, -1], ids=["first", "last"])
@pytest.mark.parametrize("eager", [False, True], ids=["", "eager"])
@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.quick_rows(every=3)
def test_a_part_that_raises_leaves_the_network_as_it_was(name, eager, call):
    settings, calls = SETTINGS[name]
    net, twin = network(**settings), network(**settings)
    for data in DATA[:FAILS_AT]:
        net.fit_batch(data)
    before, state = everything(net), net.get_optimizer().get_state()
    Fuse.left = call % calls
    with pytest.raises(OSError, match="the part failed"):
        train(net, eager)
    assert everything(net) == before
    assert repr(net.get_optimizer().get_state()) == repr(state)
    Fuse.left = None
    for data in DATA[FAILS_AT:]:
        net.fit_batch(data)
    for data in DATA:
        twin.fit_batch(data)
    assert everything(net) == everything(twin)


def test_a_part_that_raises_while_it_is_recorded_leaves_the_network_as_it_was():
    settings = {"updater": PureFailingUpdater(), "layer": {"updater": PureFailingUpdater(0.2)}}
    net, twin = network(**settings), network(**settings)
    before, Fuse.left = everything(net), 1
    with pytest.raises(OSError, match="the part failed"):
        net.fit_batch(DATA[0])
    assert everything(net) == before
    Fuse.left = None
    train(net, eager=False)
    train(twin, eager=False)
    assert everything(net) == everything(twin)


def test_fit_gives_back_the_step_that_failed_and_goes_on():
    settings, calls = SETTINGS["updater"]
    net, twin = network(**settings), network(**settings)
    Fuse.left = FAILS_AT * calls + 1
    with pytest.raises(OSError, match="the part failed"):
        net.fit(ListDataSetIterator(DATA))
    Fuse.left = None
    for data in DATA[:FAILS_AT]:
        twin.fit_batch(data)
    assert everything(net) == everything(twin)


class FollowsIterations(LayerConstraint):
    """Elements are at most 1 / (1 + iteration), by functions of nd alone: it may be recorded."""

    pure = True

    def constrained(self, param, iteration, epoch):
        return nd.minimum(param, 1.0 / (1.0 + iteration))


def test_a_recorded_constraint_is_given_the_iteration_of_each_step():
    net = network(constrain_weights=FollowsIterations(), drop_out=None)
    eager = network(constrain_weights=FollowsIterations(), drop_out=None)
    for step in range(1, 9):
        net.fit_batch(DATA[0])
        with nd.eager():
            eager.fit_batch(DATA[0])
        assert float(nd.to_host(net.get_param("0_W")).max()) == pytest.approx(1.0 / (1.0 + step))
    np.testing.assert_allclose(net.params(), eager.params(), rtol=1e-5, atol=1e-6)
