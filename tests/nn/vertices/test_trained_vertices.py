"""A vertex of one's own with parameters is trained as layers are: updaters, penalties, normalisation, files."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

import nd
import nn
from nn import (
    ComputationGraph,
    DenseLayer,
    InputType,
    NeuralNetConfiguration,
    OutputLayer,
    ParamSpec,
    TrainedVertexConf,
    VertexConf,
    VertexRuntime,
)
from optimize import L2Regularization, Sgd


class GainRuntime(VertexRuntime):
    pure = splits = True

    def forward(self, xs, params, ctx):
        scaled = nd.multiply(xs[0], params["gain"], ctx.buffer("a", tuple(xs[0].shape)))
        return nd.addi(scaled, params["shift"]), xs[0]

    def backward(self, epsilon, cache, params, grads, ctx):
        nd.sum_into(nd.multiply(epsilon, cache), 0, grads["gain"][0, ...])
        nd.sum_into(epsilon, 0, grads["shift"][0, ...])
        return [nd.multiply(epsilon, params["gain"])]


SPECS = (
    ParamSpec("gain", (1, 4), "c", initial=1.5),
    ParamSpec("shift", (1, 4), "c", bias=True),
)


@dataclass(frozen=True, kw_only=True)
class GainVertex(TrainedVertexConf):
    """Every column times a number that is learned, and one more."""

    runtime: ClassVar = GainRuntime

    def param_specs(self):
        return SPECS


@dataclass(frozen=True)
class BareVertex(VertexConf):
    runtime: ClassVar = GainRuntime

    def param_specs(self):
        return SPECS


def graph_with(vertex):
    conf = NeuralNetConfiguration(seed=1, updater=Sgd(0.5), l2=0.25, dtype="float64").graph(
        inputs=["x"],
        nodes={
            "dense": (DenseLayer(n_in=3, n_out=4, activation="tanh"), "x"),
            "gain": (vertex, "dense"),
            "out": (OutputLayer(n_in=4, n_out=2, loss="mse", activation="identity"), "gain"),
        },
        outputs="out",
    )
    return ComputationGraph(conf).init()


@pytest.fixture
def data():
    rng = np.random.default_rng(5)
    return rng.normal(size=(6, 3)), rng.normal(size=(6, 2))


def step_by_hand(graph, data):
    """Return gain and shift after one step, the gradient by differences of the score without penalties."""
    x, y = data
    out = {}
    for name in ("gain", "shift"):
        start = nd.to_host(graph.get_param(f"gain_{name}")).copy()
        slope = np.zeros_like(start)
        for at in np.ndindex(*start.shape):
            for sign in (1.0, -1.0):
                moved = start.copy()
                moved[at] += sign * 1e-6
                graph.set_param(f"gain_{name}", moved)
                slope[at] += sign * np.mean(((nd.to_host(graph.output_single(x)) - y) ** 2).sum(1) / 2.0) / 2e-6
        graph.set_param(f"gain_{name}", start)
        out[name] = start, slope
    return out


@pytest.mark.parametrize(
    ("settings", "rates", "penalty"),
    [
        ({}, (0.5, 0.5), 0.25),
        ({"updater": Sgd(0.125), "bias_updater": Sgd(0.25), "regularization": [L2Regularization(0.0625)]},
         (0.125, 0.25), 0.0625),
    ],
)  # fmt: skip
def test_it_is_trained_as_layers_are(data, settings, rates, penalty):
    graph = graph_with(GainVertex(**settings))
    by_hand = step_by_hand(graph, data)
    graph.fit(*data)
    for name, rate, l2 in (("gain", rates[0], penalty), ("shift", rates[1], 0.0)):
        start, slope = by_hand[name]
        np.testing.assert_allclose(
            nd.to_host(graph.get_param(f"gain_{name}")), start - rate * (slope + l2 * start), atol=1e-8
        )


def test_its_gradient_is_normalised(data):
    clipped = {"gradient_normalization": "clip_element_wise_absolute_value", "gradient_normalization_threshold": 1e-3}
    graph = graph_with(GainVertex(**clipped, updater=Sgd(1.0), regularization=[L2Regularization(0.0)]))
    graph.fit(*data)
    moved = np.abs(nd.to_host(graph.get_param("gain_gain")) - 1.5)
    np.testing.assert_allclose(moved, 1e-3, rtol=1e-9)


def test_files_have_it(data, tmp_path):
    nn.register(GainVertex, java_class="org.example.GainVertex")
    graph = graph_with(GainVertex(updater=Sgd(0.125)))
    graph.fit(*data)
    graph.save(tmp_path / "gain.zip")
    again = nn.load(tmp_path / "gain.zip")
    again.fit(*data)
    graph.fit(*data)
    assert (nd.to_host(again.params()) == nd.to_host(graph.params())).all()


@dataclass(frozen=True, kw_only=True)
class SizedVertex(TrainedVertexConf):
    """Its parameters are as many as its inputs say, where they are not given."""

    n: int | None = None
    runtime: ClassVar = GainRuntime

    def with_inputs(self, label, input_types):
        return replace(self, n=input_types[0].size)

    def param_specs(self):
        return ParamSpec("gain", (1, self.n), "c", initial=1.5), ParamSpec("shift", (1, self.n), "c", bias=True)


def test_its_parameters_may_wait_for_the_inputs():
    conf = NeuralNetConfiguration(seed=1).graph(
        inputs={"x": InputType.feed_forward(3)},
        nodes={"gain": (SizedVertex(), "x"), "out": (OutputLayer(n_out=2, loss="mse"), "gain")},
        outputs="out",
    )
    assert ComputationGraph(conf).init().get_param("gain_gain").shape == (1, 3)


def test_a_base_without_updaters_is_refused():
    with pytest.raises(nd.ConfigurationError, match=r"must come from TrainedVertexConf.*in the class BareVertex"):
        graph_with(BareVertex())
