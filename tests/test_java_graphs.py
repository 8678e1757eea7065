"""Java Deeplearning4j's own graphs, repeated number by number."""

import numpy as np
import pytest

import nd
from nd.dataset import EarlyTerminationDataSetIterator, MnistDataSetIterator
from nn import ComputationGraph, ComputationGraphConfiguration, MultiLayerNetwork
from optimize import CollectScoresListener
from tests import java_graphs
from tests.cells import every_row
from tests.java_graphs import GraphRun
from tests.java_runs import FEW
from tests.test_java_reference import SCORES, lenet

RUNS = (
    "attention", "bidirectional_graph", "elementwise_Add", "elementwise_Average", "elementwise_Max",
    "elementwise_Product", "elementwise_Subtract", "inception_merge", "l2", "l2normalize", "last_time_step",
    "last_time_step_mask", "merge", "output_in_middle", "preprocessor", "reshape", "reverse", "reverse_mask",
    "scale", "seq2seq", "shift", "subset", "tbptt", "two_outputs",
)  # fmt: skip


@every_row("name", RUNS)
def test_graphs_that_java_ran(name, reference):
    assert java_graphs.differences(GraphRun(reference / "java-runs" / "graph" / name)) == {}


def test_every_graph_has_its_place(reference):
    folders = {path.name for path in (reference / "java-runs" / "graph").iterdir()}
    assert folders == set(RUNS)


@pytest.mark.parametrize("name", java_graphs.HERE)
@pytest.mark.quick_rows(every=3)
def test_a_handful_without_the_others(name):
    run = GraphRun(FEW / "graph" / name)
    assert run.scale < 1.0  # double precision
    assert java_graphs.differences(run) == {}


def test_a_wrong_number_would_be_seen():
    folder = FEW / "graph" / "two_outputs_penalties"
    for name, quantity in (("out1", "output"), ("act_m", "activations"), ("grad", "gradient"), ("params1", "training")):
        broken = GraphRun(folder)
        broken.arrays[name] = (1.0 + 1e-6) * broken.arrays[name]
        assert quantity in java_graphs.differences(broken)


def test_lenet_as_a_graph_is_lenet_bit_for_bit_and_has_javas_curve(reference, mnist_folder):
    folder = reference / "LenetMnist"
    networks = (
        MultiLayerNetwork(lenet()).init(),
        ComputationGraph(ComputationGraphConfiguration.of_chain(lenet())).init(),
    )
    curves = []
    for net in networks:
        scores = CollectScoresListener()
        net.set_listeners(scores)
        net.fit(EarlyTerminationDataSetIterator(MnistDataSetIterator(16, True, 12345), 60))
        curves.append(list(scores.scores))
    assert curves[0] == curves[1]
    chain, graph = networks
    for ours, same in ((chain.params(), graph.params()), (chain.updater_state(), graph.updater_state())):
        np.testing.assert_array_equal(nd.to_host(same), nd.to_host(ours))
    theirs = [float(score) for score in (folder / "trainingCurve.csv").read_text().split(",")]
    np.testing.assert_allclose(curves[1], theirs, rtol=SCORES)
