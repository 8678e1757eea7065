"""Networks that Deeplearning4j ran, as models of ONNX: onnxruntime computes what Java did."""

import numpy as np
import pytest

from tests import java_graphs, java_runs
from tests.cells import every_row
from tests.java_graphs import GraphRun
from tests.java_runs import FEW, OUTPUT, Run, distance
from tests.onnx_at_work import Written


def answered(folder):
    """Tell whether a folder has outputs that no mask of labels has gone over, which a model does not take."""
    with np.load(folder / "arrays.npz") as arrays:
        return {"out", "out0"} & {*arrays.files} and not [name for name in arrays.files if name.startswith("ym")]


CHAINS = [name for name in java_runs.HERE if answered(FEW / name)]
GRAPHS = [name for name in java_graphs.HERE if answered(FEW / "graph" / name)]


def test_most_of_javas_networks_are_here():
    assert len(CHAINS) >= 32
    assert len(GRAPHS) >= 13


def outputs(net, features, masks):
    """Return the outputs of the model, with a mask for every input that is a series where Java had one."""
    given = any(mask is not None for mask in masks)
    written = Written(net, masks=True) if given else Written(net)
    series = [number for number, x in enumerate(features) if x.ndim == 3] if given else []
    full = [
        masks[at] if masks[at] is not None else np.ones((len(features[at]), features[at].shape[2])) for at in series
    ]
    return written.outputs(*features, *full)


@every_row("name", [pytest.param(name, id=name) for name in CHAINS])
def test_chain(name):
    run = Run(FEW / name)
    (found,) = outputs(run.network(), [run.x], [run.xm])
    assert distance(found, run.out) <= OUTPUT * run.scale


@every_row("name", [pytest.param(name, id=name) for name in GRAPHS])
def test_graph(name):
    run = GraphRun(FEW / "graph" / name)
    x = run.several("x")
    found = outputs(run.network(), x, run.masks("xm", len(x)) or [None] * len(x))
    expected = run.several("out")
    assert len(found) == len(expected) > 0
    for ours, theirs in zip(found, expected, strict=True):
        assert distance(ours, theirs) <= OUTPUT * run.scale
