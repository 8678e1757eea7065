"""Every network of benchmarks/suite.py: rows that sum to the wall time, every layer, the numbers of fit."""

import pathlib
import sys

import numpy as np
import pytest

import nd
from nn.trace import stepping

FOLDER = pathlib.Path(__file__).parents[3] / "benchmarks"
sys.path.insert(0, str(FOLDER))
from networks import NETWORKS, make  # noqa: E402

sys.path.remove(str(FOLDER))


@pytest.mark.slow
@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("name", NETWORKS)
def test_every_network(name, recorded, monkeypatch):
    monkeypatch.setattr(stepping, "TIMED", (1, 1))
    net, data = make(name, 4)
    trace = net.trace(data, recorded=recorded, budget=1 << 22)
    assert sum(row.seconds for row in trace.rows if row.thread == 0) == pytest.approx(trace.seconds, rel=1e-9)
    assert list(trace.nodes) == [node.name for node in net.conf.nodes]
    shown = {name for row in trace.ops for name in row.node.split(" + ") if row.phase == "forward"}
    assert shown >= {node.name for node in net.conf.nodes if node.conf.param_specs()}
    if not recorded:
        assert all(row.seen_outputs for row in trace.ops)
    net.fit_batch(data)
    assert trace.about["score"] == repr(float(net.score()))
    updated = {f"{node}_{key}": seen for node, of in trace.nodes.items() for key, seen in of.updated.items()}
    for key, array in net.param_table().items():
        host = nd.to_host(array)
        assert updated[key].shape == host.shape
        if updated[key].is_kept:
            np.testing.assert_array_equal(updated[key].values, host)
