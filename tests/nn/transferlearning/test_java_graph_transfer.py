"""TransferLearning.GraphBuilder beside Java's: the order of vertices, what is drawn and kept, and training after it."""

import pathlib

import numpy as np
import pytest

import nn.dl4j  # noqa: F401  whose names are asked for here
from nd.dataset import DataSet
from nn import (
    ComputationGraph,
    ComputationGraphConfiguration,
    DenseLayer,
    FineTuneConfiguration,
    OutputLayer,
    TransferLearning,
)
from optimize import Adam, Nesterovs
from tests import java_runs

RUNS = pathlib.Path(__file__).parents[2] / "cases" / "java_graph_transfer"


def fine_tuned(graph):
    settings = FineTuneConfiguration(seed=777, updater=Adam(0.01), l2=0.001)
    return TransferLearning.GraphBuilder(graph).fineTuneConfiguration(settings)


def other(graph):
    settings = FineTuneConfiguration(seed=99, updater=Nesterovs(0.05, momentum=0.8), l2=0.002, bias_init=0.1)
    return TransferLearning.GraphBuilder(graph).fineTuneConfiguration(settings)


CHANGES = {
    "graph2_consumers": lambda graph: other(graph).nOutReplace("a", 9, "relu", "xavier"),
    "graph2_keep_middle": lambda graph: TransferLearning.GraphBuilder(graph).removeVertexKeepConnections("b")
    .addLayer("b", DenseLayer(n_in=7, n_out=6, activation="elu"), "a").setFeatureExtractor("a"),
    "graph2_n_in": lambda graph: other(graph).nInReplace("c", 7, "xavier_uniform").setFeatureExtractor("act"),
    "graph_added_beside": lambda graph: fine_tuned(graph).removeVertexAndConnections("m")
    .removeVertexKeepConnections("out").addLayer("e", DenseLayer(n_in=7, n_out=4, activation="tanh"), "a")
    .addLayer("out", OutputLayer(n_in=16, n_out=3), "b", "c", "e").setFeatureExtractor("b"),
    "graph_frozen": lambda graph: fine_tuned(graph).setFeatureExtractor("a"),
    "graph_frozen_merge": lambda graph: fine_tuned(graph).setFeatureExtractor("m"),
    "graph_keep_connections": lambda graph: fine_tuned(graph).removeVertexKeepConnections("out")
    .addLayer("out", OutputLayer(n_in=6, n_out=4), "m").setOutputs("out"),
    "graph_n_out_replace": lambda graph: fine_tuned(graph).nOutReplace("a", 9, "xavier"),
    "graph_new_output": lambda graph: fine_tuned(graph).setFeatureExtractor("a").removeVertexAndConnections("out")
    .addLayer("d", DenseLayer(n_in=6, n_out=8, activation="elu"), "m")
    .addLayer("out2", OutputLayer(n_in=8, n_out=4), "d").setOutputs("out2"),
    "graph_no_fine_tune": lambda graph: TransferLearning.GraphBuilder(graph).nOutReplace("a", 9, "xavier"),
    "graph_two_replaces": lambda graph: fine_tuned(graph).nOutReplace("a", 9, "xavier", "relu")
    .nInReplace("c", 5, "xavier_uniform"),
}  # fmt: skip


def settings_of(conf):
    return {name: (type(vertex), vertex.innermost) for name, vertex in conf.vertices.items()}


def test_every_run_has_its_change():
    assert sorted(path.parent.name for path in RUNS.glob("*/base.zip")) == sorted(CHANGES)


@pytest.mark.parametrize("name", CHANGES)
def test_graphs_are_changed_and_trained_as_in_java(name):
    folder = RUNS / name
    with np.load(folder / "arrays.npz") as arrays:
        x, y, drawn, trained = (arrays[key] for key in ("x", "y", "params0", "params1"))
    (_, *order), *fits = (line.split() for line in (folder / "scores.txt").read_text().splitlines())
    base = ComputationGraph.load(folder / "base.zip")
    with java_runs.drawn_as_by("1.0.0-M2.1"):
        graph = CHANGES[name](base).build()
    assert graph.topological_order() == order
    assert java_runs.distance(graph.params(), drawn) < java_runs.DRAWN
    settings = folder / "conf.json"  # of some: what every vertex is set to
    if settings.exists():
        theirs = ComputationGraphConfiguration.from_json(settings.read_text())
        assert settings_of(graph.conf) == settings_of(theirs)
    scores = []
    for _ in fits:
        graph.fit(DataSet(x, y))
        scores.append(graph.score())
    np.testing.assert_allclose(scores, [float(score) for _, score in fits], rtol=java_runs.CURVE)
    assert java_runs.distance(graph.params(), trained) < java_runs.PARAMETERS
