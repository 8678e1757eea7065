"""While backward goes on, somebody hears which stretches of a worker's gradient are as they will stay."""

from collections import defaultdict

import numpy as np
import pytest

import nd
from backends.cpu.numpy_backend import NumpyBackend
from optimize import Listener
from tests.nn.layers.test_contracts import batch, network
from tests.nn.layers.test_every_layer import some_kinds
from tests.nn.step.test_kinds_of_nodes import OTHER, X, Y, siamese
from tests.step_plans import recorded, split_small_minibatches


class Hears:
    """Copies every stretch when it is said to be final."""

    def __init__(self, net):
        self.net, self.copies = net, defaultdict(list)
        net.engine.shared_nodes.on_final = self

    def __call__(self, worker, start, stop):
        gradient = self.net.engine.gradients.workers[worker].gradient
        self.copies[worker].append((start, stop, nd.to_host(nd.copy(gradient[start:stop]))))

    def check(self):
        """Every element once for each worker that has computed, the last layers first, and as it was at the end."""
        for worker, stretches in self.copies.items():
            gradient = nd.to_host(self.net.engine.gradients.workers[worker].gradient)
            assert sorted(place for start, stop, _ in stretches for place in range(start, stop)) == [
                *range(len(gradient))
            ]
            assert [start for start, *_ in stretches] == sorted((start for start, *_ in stretches), reverse=True)
            for start, stop, copied in stretches:
                np.testing.assert_array_equal(copied, gradient[start:stop])
        workers, self.copies = len(self.copies), defaultdict(list)
        return workers


def step(net, *arrays):
    net.engine.gradients.compute(net.step_input(*arrays), 0, 0)


@some_kinds
def test_every_stretch_is_final_once_recorded_and_replayed_and_eager(case):
    net = network(case)
    hears, data = Hears(net), batch(case, net)
    with nd.random.drawing(net.random):
        for _ in range(2):
            step(net, *data)
            assert hears.check() == (net.num_params() > 0)
        with nd.eager():
            step(net, *data)
        assert hears.check() == (net.num_params() > 0)


def test_of_every_worker(monkeypatch):
    split_small_minibatches(monkeypatch)
    with nd.use_backend(NumpyBackend(threads=2)):
        net = siamese("float32")
        hears = Hears(net)
        for _ in range(2):
            net.engine.gradients.compute(net.step_input([X, OTHER], [Y]), 0, 0)
            assert hears.check() == 2
        assert all(recorded(net.engine.gradients))


def test_shared_parameters_are_final_when_the_first_of_their_nodes_is_through():
    net = siamese()
    hears = Hears(net)
    step(net, [X, OTHER], [Y])
    assert len(hears.copies[0]) == 2
    hears.check()


def test_nobody_hears_and_nothing_is_noted():
    net = siamese()
    hears = Hears(net)
    net.engine.shared_nodes.on_final = None
    step(net, [X, OTHER], [Y])
    assert not hears.copies


class Looks(Listener):
    def on_forward_pass(self, model, activations):
        pass


def test_watched_steps_say_it_too():
    net = siamese()
    hears = Hears(net)
    net.set_listeners(Looks())
    net.compute_gradient_and_score(net.step_input([X, OTHER], [Y]))
    assert hears.check() == 1


def test_an_error_of_who_hears_ends_the_step():
    net = siamese()
    net.engine.shared_nodes.on_final = lambda *_: 1 / 0
    given = net.step_input([X, OTHER], [Y])
    with pytest.raises(ZeroDivisionError, match="division"):
        net.compute_gradient_and_score(given)
