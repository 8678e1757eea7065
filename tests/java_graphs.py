"""Graphs that Deeplearning4j 1.0.0-M1.1 ran, repeated with its parameters, as tests/java_runs.py does it.

Beside what stands there, arrays.npz has x0, x1, ..., y0, ..., xm0, ..., ym0, ...; out0, ... of inference with the
masks; act_NAME, every activation where there are no masks; score_examples and score_examples_reg, without penalties
and with them. scores.txt begins with the topological order.
"""

from functools import partial

import numpy as np

import nd
from nd.dataset import MultiDataSet
from nn import ComputationGraph, ComputationGraphConfiguration
from tests import java_runs
from tests.java_runs import DRAWN, FEW, OUTPUT, Run, distance, drawn_as_by

HERE = sorted(path.parent.name for path in FEW.glob("graph/*/conf.json"))


class GraphRun(Run):
    """One graph of Java's."""

    def several(self, name):
        """Return the arrays of every input or output."""
        count = len([key for key in self.arrays if key.rstrip("0123456789") == name])
        return [self.arrays[f"{name}{number}"] for number in range(count)]

    def masks(self, name, count):
        """Return a mask or None for every input or output; None where there are none."""
        found = [self.arrays.get(f"{name}{number}") for number in range(count)]
        return found if any(mask is not None for mask in found) else None

    def conf(self):
        return ComputationGraphConfiguration.from_json(self.text)

    def network(self):
        net = ComputationGraph(self.conf()).init()
        net.set_params(self.params0.reshape(-1))
        return net

    def loaded(self):
        return ComputationGraph.load(self.folder / "model.zip")

    def data(self):
        x, y = self.several("x"), self.several("y")
        return MultiDataSet(x, y, self.masks("xm", len(x)), self.masks("ym", len(y)))

    def output_of(self, net):
        data = self.data()
        masks = {"features_masks": data.features_masks, "labels_masks": data.labels_masks}
        return in_a_row(net.output(*data.features, **masks))

    def set_minibatch(self, net):
        data = self.data()
        net.set_inputs(*data.features)
        net.set_labels(*data.labels)
        net.set_masks(data.features_masks, data.labels_masks)

    @property
    def out(self):
        return in_a_row(self.several("out"))

    @property
    def out1(self):
        """What a trained network answers: Java's is not kept, so the one made from params1."""
        net = self.network()
        net.set_params(self.params1.reshape(-1))
        return self.output_of(net)


def in_a_row(arrays):
    return np.concatenate([nd.to_host(array).ravel() for array in arrays])


# ---- what is compared, beside what is of any network


def order(run):
    """The order in which vertices run: that of Java's scores.txt, and that which the configuration has by itself."""
    words = (run.folder / "scores.txt").read_text().split("\n")[0].split()
    same = words[0] == "order" and run.conf().topological_order() == words[1:]
    return (0.0 if same else float("inf")), 0.0


def initial(run):
    with drawn_as_by("1.0.0-M1.1"):
        net = ComputationGraph(run.conf()).init()
    return distance(net.params(), run.params0), DRAWN


def activations(run):
    named = run.network().feed_forward(*run.several("x"))
    stored = {key.removeprefix("act_"): array for key, array in run.arrays.items() if key.startswith("act_")}
    apart = [distance(named[name], array) for name, array in stored.items()]
    return max(apart, default=0.0), OUTPUT * run.scale


def _examples(run, name, penalties):
    scores = run.network().score_examples(run.data(), add_regularization_terms=penalties)
    return distance(scores, run.arrays[name]), OUTPUT * run.scale


examples, examples_with_penalties = (
    partial(_examples, name=name, penalties=penalties)
    for name, penalties in (("score_examples", False), ("score_examples_reg", True))
)
examples.__name__, examples_with_penalties.__name__ = "examples", "examples_with_penalties"

NEEDS = {
    order: "params0",
    initial: "params0",
    java_runs.output: "out0",
    activations: "params0",
    java_runs.score: "eval_score",
    java_runs.gradient: "grad",
    java_runs.training: "params1",
    java_runs.saved: "params1",
    examples: "score_examples",
    examples_with_penalties: "score_examples_reg",
}
differences = partial(java_runs.differences, needs=NEEDS)
