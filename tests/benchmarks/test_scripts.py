"""The benchmarks run, and count correctly; what they measure is not tested."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

from backends.onednn.library import library as onednn_library

NUMPY = {"ND_ONEDNN": "0"}
FOLDER = pathlib.Path(__file__).parent.parent.parent / "benchmarks"


def run(script, *arguments, **environment):
    return subprocess.run(
        [sys.executable, str(FOLDER / script), *arguments],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "ND_BACKEND": "numpy", **environment},
    ).stdout


pytestmark = pytest.mark.slow  # they are programs, which take their time


@pytest.mark.parametrize(
    "script",
    [
        *sorted(path.name for path in FOLDER.glob("*_cpu.py")),
        "image_loading.py",
        "import_time.py",
        "lenet_gpu.py",
        "suite.py",
    ],
)
def test_help_says_what_is_measured(script):
    shown = " ".join(run(script, "--help").split())
    assert "against PyTorch" in shown or "this library" in shown or "PyTorch's" in shown or "bare steps" in shown
    assert "--json" in shown


def test_the_suite_without_a_peer_needs_no_pytorch():
    quick = ["--who", "ndwright", "products-alone", "--rounds", "1", "--seconds", "0.001", "--batch", "1", "3"]
    names = ["residual", "lstm-32-64-5", "mlp-adadelta"]
    found = json.loads(run("suite.py", "--json", *quick, "--network", *names))
    assert found["failures"] == []
    modes = {name: [each["mode"] for each in found["results"] if each["network"] == name] for name in names}
    assert modes == {
        "residual": ["training", "inference"] * 2,
        "lstm-32-64-5": ["training", "inference", "one step of a series", "training", "inference"],
        "mlp-adadelta": ["training"] * 2,
    }
    for each in found["results"]:
        beside = each["network"].startswith("lstm") and each["mode"] == "training"
        assert list(each["who"]) == ["ndwright", *(["products-alone"] if beside else [])]
        assert all(0 < who["best_ms"] <= who["median_ms"] for who in each["who"].values())


def test_the_suite_prints_figures_and_a_table_of_every_mode():
    quick = ["--rounds", "1", "--seconds", "0.001", "--batch", "2"]
    lines = run("suite.py", "--who", "ndwright", "ndwright-numpy", "--network", "2-20-2", "lenet", *quick).splitlines()
    heads = [line.split(" | ")[:4] for line in lines if "batch | ndwright, ms" in line]
    assert [head[0] for head in heads] == ["| training", "| inference"]
    assert all(head[2:] == ["ndwright, ms", "ndwright-numpy, ms"] for head in heads)
    rows = [line.split(" | ")[:2] for line in lines if line.startswith(("| 2-20-2", "| lenet"))]
    assert rows == [["| 2-20-2", "2"], ["| lenet", "2"], ["| lenet", "2"]]


def test_a_graph_beside_its_chain():
    quick = ["--rounds", "3", "--seconds", "0.001", "--batch", "2", "3"]
    found = json.loads(run("graph_chain_cpu.py", "--json", *quick))
    assert [each["batch"] for each in found] == [2, 3]
    for each in found:
        least, most = each["range"]
        assert 0 < least <= each["ratio"] <= most
    assert len(run("graph_chain_cpu.py", *quick).splitlines()) == 1 + 2 + len(found)


def test_memory_and_growth_are_in_megabytes():
    ours, *others = json.loads(run("memory_cpu.py", "--json", "--peer", "--batch", "8", "--steps", "3"))
    assert others == []
    assert 20 < ours["peak_mb"] < 1000
    assert 0 <= ours["grew_mb"] < 20


def test_a_steps_calls_add_up_to_less_than_the_step():
    small, large = json.loads(run("where_cpu.py", "--json", "--network", "784-64-10", "--batch", "8", "700", **NUMPY))
    assert (small["batch"], large["batch"]) == (8, 700)
    for found in (small, large):
        products, *others = (each["ms"] for each in found["calls"].values())
        assert 0 < products + sum(others) < found["compute"] + found["update"]
        assert found["products_alone"] > 0
        assert found["calls"]["matrix products"]["count"] == 5
    assert small["calls"]["matrix products"]["ms"] < large["calls"]["matrix products"]["ms"]


def test_a_recurrent_step_has_a_call_for_every_step_of_its_series():
    (found,) = json.loads(run("where_cpu.py", "--json", "--network", "lstm-32-64-5", "--batch", "2", **NUMPY))
    calls = found["calls"]
    assert calls["matrix products"]["count"] > 2 * 100
    assert calls["gates"]["count"] >= 2 * 100
    ways = {name.split(", ")[1] for name in found["nodes"] if name.startswith("Lstm")}
    assert ways == {"forward", "backward"}


def test_a_graphs_time_is_told_by_its_nodes():
    (found,) = json.loads(run("where_cpu.py", "--json", "--network", "residual", "--batch", "2", **NUMPY))
    nodes = found["nodes"]
    assert sum(each["count"] for each in nodes.values()) == sum(each["count"] for each in found["calls"].values())
    assert 0 < sum(each["ms"] for each in nodes.values()) < found["compute"] + found["update"]
    assert nodes["ElementWise, forward"]["count"] == 9
    assert nodes["gradients that meet, added"]["count"] == 9
    ways = {name.split(", ")[1] for name in nodes if name.startswith("BatchNormalization")}
    assert ways == {"forward", "backward"}
    assert nodes.get("others", {"count": 0})["count"] < 10
    assert "| - Convolution, backward (calls) |" in run(
        "where_cpu.py", "--network", "residual", "--batch", "2", **NUMPY
    )


def test_calls_of_onednn_are_named():
    if onednn_library() is None:
        pytest.skip("oneDNN is not installed")
    (found,) = json.loads(run("where_cpu.py", "--json", "--network", "vgg", "--batch", "2", ND_ONEDNN="1"))
    assert found["calls"]["oneDNN's convolution_forward"]["count"] == 4


def test_turns_within_a_process(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    import interleaved

    order = []
    times = interleaved.interleave({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, 2, 1e-9)
    assert order == ["a", "a", "b", "b"] * 3
    assert [len(times[name]) for name in "ab"] == [2, 2]
