"""python -m nn.caffe train, test and time on small nets in files, and their logs as programs that plot them read."""

import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

from nn.caffe import array_to_datum, read_state, write_database
from nn.caffe.command_line import main
from nn.caffe.net import Net
from nn.caffe.solver import get_solver
from tests.cells import every_row

NET = """
name: "bright"
layer { name: "pictures" type: "Data" top: "data" top: "label" include { phase: TRAIN }
  transform_param { scale: 0.00390625 } data_param { source: "train_lmdb" batch_size: 16 backend: LMDB } }
layer { name: "pictures" type: "Data" top: "data" top: "label" include { phase: TEST }
  transform_param { scale: 0.00390625 } data_param { source: "train_lmdb" batch_size: 10 backend: LMDB } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv" convolution_param {
  num_output: 4 kernel_size: 3 weight_filler { type: "xavier" } } }
layer { name: "pool" type: "Pooling" bottom: "conv" top: "pool" pooling_param { pool: AVE global_pooling: true } }
layer { name: "ip" type: "InnerProduct" bottom: "pool" top: "ip" inner_product_param {
  num_output: 2 weight_filler { type: "xavier" } } }
layer { name: "accuracy" type: "Accuracy" bottom: "ip" bottom: "label" top: "accuracy" include { phase: TEST } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" }
"""
SOLVER = """
net: "net.prototxt"
test_iter: 4 test_interval: 50
base_lr: 0.5 momentum: 0.9 weight_decay: 0.0001
lr_policy: "step" gamma: 0.5 stepsize: 80
display: 20 max_iter: 120 snapshot: 60 snapshot_prefix: "bright" random_seed: 3
"""
GLOG = r"^I\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ \S+:\d+\] "
NUMBER = r"([\d.eE+-]+)"
READ_BY_PLOTS = {
    "iteration": rf"Iteration (\d+)[, ].*loss = {NUMBER}",
    "rate": rf"Iteration (\d+), lr = {NUMBER}$",
    "test": rf"Test net output #(\d+): (\S+) = {NUMBER}",
    "testing": r"Iteration (\d+), Testing net \(#(\d+)\)",
    "train": rf"Train net output #(\d+): (\S+) = {NUMBER}",
}
"""What of lines goes into plots; made after the formats that BVLC's tools/extra/parse_log.py and its like expect."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, 50)
    pictures = rng.integers(0, 128, (50, 1, 8, 8)) + 100 * labels[:, None, None, None]
    records = [
        (b"%08d" % number, array_to_datum(picture.astype(np.uint8), int(label)))
        for number, (picture, label) in enumerate(zip(pictures, labels, strict=True))
    ]
    write_database(tmp_path / "train_lmdb", records)
    (tmp_path / "net.prototxt").write_text(NET)
    (tmp_path / "solver.prototxt").write_text(SOLVER)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys, *arguments):
    """Return the lines of the log of a command that succeeds."""
    assert main(arguments) == 0
    lines = capsys.readouterr().err.splitlines()
    assert all(re.match(GLOG, line) for line in lines)
    return lines


def read(lines):
    """Return the rows of each kind that a log has."""
    return {
        kind: [found.groups() for line in lines if (found := re.search(pattern, line))]
        for kind, pattern in READ_BY_PLOTS.items()
    }


def test_train(folder, capsys):
    lines = run(capsys, "train", "--solver", "solver.prototxt")
    rows = read(lines)
    assert [int(number) for number, _ in rows["iteration"]] == [0, 20, 40, 60, 80, 100, 120]
    assert [(int(number), float(rate)) for number, rate in rows["rate"]] == [
        (0, 0.5), (20, 0.5), (40, 0.5), (60, 0.5), (80, 0.25), (100, 0.25),
    ]  # fmt: skip
    assert [name for _, name, _ in rows["train"]] == ["loss"] * 6
    assert rows["testing"] == [("0", "0"), ("50", "0"), ("100", "0")]
    accuracies = [float(value) for _, name, value in rows["test"] if name == "accuracy"]
    assert len(accuracies) == 3
    assert accuracies[-1] == 1.0
    losses = [float(loss) for _, loss in rows["iteration"]]
    assert losses[-1] < 0.2 * losses[0]
    assert any("Solving bright" in line for line in lines)
    assert [line.partition("] ")[2] for line in lines][-1] == "Optimization Done."
    assert sorted(path.name for path in folder.glob("bright*")) == [
        f"bright_iter_{n}.{kind}" for n in (120, 60) for kind in ("caffemodel", "solverstate")
    ]
    assert read_state("bright_iter_120.solverstate").current_step == 1


def test_train_goes_on_to_the_same_bits(folder, capsys):
    run(capsys, "train", "--solver", "solver.prototxt")
    expected = (folder / "bright_iter_120.caffemodel").read_bytes()
    (folder / "bright_iter_120.caffemodel").unlink()
    lines = run(capsys, "train", "--solver=solver.prototxt", "-snapshot", "bright_iter_60.solverstate")
    assert [number for number, _ in read(lines)["iteration"]] == ["60", "80", "100", "120"]
    assert (folder / "bright_iter_120.caffemodel").read_bytes() == expected


def test_finetune_and_test(folder, capsys):
    run(capsys, "train", "--solver", "solver.prototxt")
    lines = run(
        capsys, "test", "--model", "net.prototxt", "--weights", "bright_iter_120.caffemodel", "--iterations", "3"
    )
    batches = [re.search(rf"Batch (\d), (\S+) = {NUMBER}$", line) for line in lines]
    assert [found.groups()[:2] for found in batches if found] == [
        (str(number), name) for number in range(3) for name in ("accuracy", "loss")
    ]
    net = Net("net.prototxt", "bright_iter_120.caffemodel", "TEST")
    losses = [float(net.forward()["loss"]) for _ in range(3)]
    (said,) = [found.group(1) for line in lines if (found := re.search(rf"\] Loss: {NUMBER}$", line))]
    np.testing.assert_allclose(float(said), np.mean(losses), rtol=1e-4)
    lines = run(capsys, "train", "--solver", "solver.prototxt", "--weights", "bright_iter_120.caffemodel")
    assert float(read(lines)["test"][0][2]) == 1.0


def test_time(folder, capsys):
    lines = [line.partition("] ")[2] for line in run(capsys, "time", "-model", "net.prototxt", "-iterations", "2")]
    for layer in ("pictures", "conv", "pool", "ip", "loss"):
        for way in ("forward", "backward"):
            assert sum(bool(re.match(rf" *{layer}\t{way}: {NUMBER} ms\.$", line)) for line in lines) == 1
    assert sum("forward-backward time" in line for line in lines) == 2
    assert lines[-1] == "*** Benchmark ends ***"


@every_row(
    ("arguments", "match"),
    [
        (("train", "--solver", "none.prototxt"), "none.prototxt"),
        (("train", "--solver", "net.prototxt"), "net.prototxt"),
        (("train", "--solver", "solver.prototxt", "--snapshot", "none.solverstate"), "none.solverstate"),
        (("train", "--solver", "solver.prototxt", "--weights", "solver.prototxt"), "solver.prototxt"),
        (("test", "--model", "net.prototxt", "--weights", "none.caffemodel"), "none.caffemodel"),
        (("time", "--model", "solver.prototxt"), "solver.prototxt"),
    ],
)
def test_errors_are_one_line(arguments, match, folder, capsys):
    assert main(arguments) == 1
    said = [line for line in capsys.readouterr().err.splitlines() if not re.match(GLOG, line)]
    assert len(said) == 1
    assert match in said[0]


def test_ctrl_c_writes_a_snapshot_where_it_is_to(folder):
    """In a process of its own: SIGINT comes while it trains, and with `snapshot` as its effect training goes on."""
    (folder / "solver.prototxt").write_text(SOLVER.replace("max_iter: 120 snapshot: 60", "max_iter: 1000000"))
    command = [
        sys.executable,
        "-u",
        "-m",
        "nn.caffe",
        "train",
        "--solver",
        "solver.prototxt",
        "--sighup_effect",
        "stop",
    ]
    command += ["--sigint_effect", "snapshot"]
    lines = []
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ, cwd=folder) as process:
        for line in process.stderr:
            lines.append(line)
            if "Iteration 20 " in line:
                process.send_signal(signal.SIGINT)
            if "Snapshotting solver state" in line:
                process.send_signal(signal.SIGHUP)
    assert process.returncode == 0
    assert any("Optimization stopped early." in line for line in lines)
    states = list(folder.glob("*.solverstate"))
    assert len(states) == 2
    solver = get_solver("solver.prototxt")
    solver.restore(states[0])
    solver.step(1)
