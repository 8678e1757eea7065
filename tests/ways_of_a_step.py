"""The ways in which a step can be run: replayed, looked at by a listener, as it is written, in eager mode looked at."""

from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np

import nd
from nn import ComputationGraph, MultiLayerNetwork
from optimize import Listener

WAYS = {"recorded": (False, False), "watched": (True, False), "eager": (False, True), "watched eager": (True, True)}
"""Name -> whether a listener looks, whether in eager mode."""


class Looks(Listener):
    """Notes the shapes of what is shown, copies the activations of the first step, and clears the gradients."""

    def __init__(self):
        self.first, self.shown = None, []

    def on_forward_pass(self, model, activations):
        by_name = activations if isinstance(activations, dict) else dict(enumerate(activations))
        self.shown.append({name: tuple(array.shape) for name, array in by_name.items()})
        if self.first is None:
            self.first = {name: nd.to_host(nd.copy(array)) for name, array in by_name.items()}

    def on_backward_pass(self, model):
        model.gradient().clear()


class Run(NamedTuple):
    """What training leaves."""

    after: list[Any]
    """Parameters, updater state and score after every minibatch."""
    outputs: list[Any]
    net: Any
    looks: Looks


def trained(make, batches, way, outputs=None):
    """Train a new network in that way, on the current backend."""
    watched, eager = WAYS[way]
    net, looks, after = make(), Looks(), []
    if watched:
        net.set_listeners(looks)
    net.random.set_seed(5)
    with nd.eager() if eager else nullcontext():
        for data in batches:
            net.fit(data)
            vectors = [nd.to_host(nd.copy(vector)) for vector in (net.params(), net.updater_state())]
            after.append([*vectors, np.float64(net.score())])
        found = [] if outputs is None else [nd.to_host(array) for array in outputs(net)]
    return Run(after, found, net, looks)


def assert_all_ways_are_one(make, batches, outputs=None):
    """Assert that the bits are the same whatever the way; return the runs by name."""
    runs = {way: trained(make, batches, way, outputs) for way in WAYS}
    expected = runs["recorded"]
    for way, run in runs.items():
        for number, (mine, theirs) in enumerate(zip(run.after, expected.after, strict=True)):
            for name, one, other in zip(("parameters", "updater state", "score"), mine, theirs, strict=True):
                np.testing.assert_array_equal(one, other, err_msg=f"{way}: {name} after minibatch {number}")
        for one, other in zip(run.outputs, expected.outputs, strict=True):
            np.testing.assert_array_equal(one, other, err_msg=f"{way}: output")
        assert bool(run.looks.shown) == WAYS[way][0]
    return runs


def network_of(conf):
    """Return the network of a configuration of either kind."""
    kind = ComputationGraph if hasattr(conf, "vertices") else MultiLayerNetwork
    return kind(conf).init()
