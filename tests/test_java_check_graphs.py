"""What judges graphs against Java: it sees what differs and what is missing, in numbers, order and sizes."""

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from nn import ComputationGraph
from tests.java_check import graphs
from tests.java_check.verdict import judge


@pytest.fixture(scope="module")
def drawn():
    """A graph with two outputs, masks, and an updater with state."""
    return next(
        each for each in graphs.random_graphs(60)
        if each.graph.inferred and len(each.graph.data.labels) == 2 and any(masks(each.graph.data))
        and ComputationGraph(each.graph.conf).init().updater_state().size
    )  # fmt: skip


def copied(folder, source, target, change=0.0):
    np.save(folder / f"{target}.npy", np.load(folder / f"{source}.npy") + change)


def masks(data):
    return [mask is not None for mask in (*data.features_masks, *data.labels_masks)]


@pytest.fixture
def ran(drawn, tmp_path):
    """That graph, and Java's answers, which are ours."""
    folder = tmp_path / drawn.name
    graphs.save(drawn, folder)
    for path in folder.glob("our_*.npy"):
        for prefix in ("java_", "java_opened_"):
            copied(folder, path.stem, prefix + path.stem.removeprefix("our_"))
    (folder / "order.txt").write_text((folder / "our_order.txt").read_text())
    for name in ("read", "inferred"):
        (folder / f"{name}.json").write_text((folder / "conf.json").read_text())
    graph = ComputationGraph.load(folder / "model.zip")
    graphs.fit(graph, drawn.graph.data)
    graph.save(folder / "java_model.zip")
    return folder


def test_a_graph_that_is_ours_agrees(drawn, ran):
    result = graphs.compare(drawn, ran)
    assert set(result.distances) == {*graphs.TOLERANCES, "inferred", "order"}
    assert max(result.distances.values()) == 0.0
    assert judge([result], graphs.TOLERANCES, []).failures == []


@pytest.mark.parametrize(
    ("name", "quantities"),
    [
        ("init", {"init"}), ("output1", {"output"}), ("score", {"score"}), ("gradient", {"gradient"}),
        ("scores", {"scores"}), ("params", {"params", "zip"}), ("state", {"state", "zip"}),
        ("outputs1", {"outputs", "zip outputs"}), ("opened_params", {"opened params"}),
        ("opened_outputs0", {"opened outputs"}),
    ],
)  # fmt: skip
@pytest.mark.quick_rows(3)
def test_a_wrong_number_of_a_graph_is_seen(drawn, ran, name, quantities):
    copied(ran, f"java_{name}", f"java_{name}", change=1e-2)
    off = {quantity for quantity, far in graphs.compare(drawn, ran).distances.items() if far > 1e-4}
    assert off == quantities


def test_what_a_graph_lacks_is_seen(drawn, ran):
    for name in ("score", "outputs1", "opened_state"):
        (ran / f"java_{name}.npy").unlink()
    lacking = {quantity for quantity, far in graphs.compare(drawn, ran).distances.items() if math.isinf(far)}
    assert lacking == {"score", "outputs", "opened state", "zip outputs"}


def test_another_order_and_other_sizes_are_seen(drawn, ran):
    order = (ran / "order.txt").read_text().split("\n")
    (ran / "order.txt").write_text("\n".join([*order[:-2], order[-1], order[-2]]))
    (ran / "inferred.json").write_text((ran / "inferred.json").read_text().replace('"nout" : 3', '"nout" : 4', 1))
    failed = judge([graphs.compare(drawn, ran)], graphs.TOLERANCES, []).failures[0]
    assert 'inferred: "nout": 3, for Java\'s "nout": 4' in failed
    assert f"order: {order[-2]} for Java's {order[-1]}" in failed


def test_a_graph_that_java_does_not_build_is_seen(drawn, ran):
    (ran / "error.txt").write_text("build\na.b.Outer: none\n")
    for path in (*ran.glob("java_*"), ran / "order.txt", ran / "inferred.json"):
        path.unlink()
    (failed,) = judge([graphs.compare(drawn, ran)], graphs.TOLERANCES, []).failures
    assert failed.startswith(f"{drawn.name}: builds: a.b.Outer: none")


@pytest.mark.slow
def test_graphs_are_drawn_alike_whatever_the_hash_seed():
    script = "from tests.java_check.graphs import random_graphs\nfor each in random_graphs(8): print(each.graph.conf)"
    for_another = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, "PYTHONHASHSEED": "1234"}, capture_output=True, check=True,
        cwd=Path(__file__).parent.parent, text=True,
    ).stdout  # fmt: skip
    assert for_another == "".join(f"{each.graph.conf}\n" for each in graphs.random_graphs(8))
