"""Caffe's commands: their options and their log, with a solver and a net that only note what is called."""

import re
import sys
import types

import numpy as np
import pytest

import nd
from nn.caffe.command_line import main
from nn.caffe.solving import commands
from tests.cells import every_row

SOLVER = 'net: "n.prototxt" base_lr: 0.5 lr_policy: "fixed" train_state { stage: "own" }'


class Net:
    """Two layers; the outputs are an accuracy, and a loss of two numbers with weight 0.5."""

    outputs, layer_names = ["accuracy", "loss"], ["data", "ip"]
    layers = (None, None)
    blob_loss_weights = {"data": 0.0, "accuracy": 0.0, "loss": 0.5}

    def __init__(self, *files, **named):
        self.calls, self.passes, self.blobs = [(files, named)], 0, {}
        MADE.append(self)

    def forward_from_to(self, start, end):
        self.calls.append(("forward", start, end))
        self.passes += 1
        values = {"accuracy": np.array(0.25 * self.passes, "float32"), "loss": np.array([[1.0], [self.passes]])}
        self.blobs = {name: types.SimpleNamespace(data=nd.create(value)) for name, value in values.items()}
        return 0.5 * (1.0 + self.passes)

    def backward_from_to(self, start, end):
        self.calls.append(("backward", start, end))

    def backward(self):
        self.calls.append(("backward",))

    def copy_from(self, path):
        self.calls.append(("copy_from", path))


class Solver:
    def __init__(self, message):
        self.message, self.net, self.test_nets = message, Net("train"), [Net("test")]
        self.calls = []
        MADE.append(self)

    def set_action_function(self, function):
        self.calls.append(("actions", function()))

    def restore(self, path):
        self.calls.append(("restore", path))

    def solve(self):
        self.calls.append(("solve",))


MADE = []


@pytest.fixture(autouse=True)
def _stand_ins(monkeypatch):
    MADE.clear()
    for name, thing in (("net.Net", Net), ("solver.get_solver", Solver)):
        module, _, attribute = name.partition(".")
        stand_in = types.ModuleType(f"nn.caffe.{module}")
        setattr(stand_in, attribute, thing)
        monkeypatch.setitem(sys.modules, f"nn.caffe.{module}", stand_in)


@pytest.fixture
def solver_file(tmp_path):
    path = tmp_path / "s.prototxt"
    path.write_text(SOLVER)
    return str(path)


def messages(capsys):
    """The log's lines, without what glog puts before them."""
    lines = capsys.readouterr().err.splitlines()
    assert all(re.match(r"I\d{4} [\d:.]{15} +\d+ \w+\.py:\d+\] ", line) for line in lines)
    return [line.partition("] ")[2] for line in lines]


def test_train(solver_file, capsys):
    assert main(["train", "--solver", solver_file]) == 0
    assert MADE[-1].calls == [("actions", "none"), ("solve",)]
    assert (MADE[-1].message.train_state.level, list(MADE[-1].message.train_state.stage)) == (0, ["own"])
    assert MADE[-1].message.base_lr == 0.5
    said = messages(capsys)
    assert said == [f"Use backend {nd.backend().name}.", "Starting Optimization", "Optimization Done."]


def test_train_goes_on(solver_file, capsys):
    """Caffe's scripts write options with one dash as well."""
    state = ["-snapshot", "x.solverstate", "-gpu=0,1", "-stage", "a,b", "-level", "2"]
    assert main(["train", f"-solver={solver_file}", *state]) == 0
    assert MADE[-1].calls == [("actions", "none"), ("restore", "x.solverstate"), ("solve",)]
    assert (MADE[-1].message.train_state.level, list(MADE[-1].message.train_state.stage)) == (2, ["own", "a", "b"])
    said = messages(capsys)
    assert "Option --gpu 0,1 has no effect: ND_BACKEND and ND_DEVICE select where arrays are." in said
    assert "Resuming from x.solverstate" in said


def test_train_begins_with_weights(solver_file, capsys):
    assert main(["train", "--solver", solver_file, "--weights", "a.caffemodel,b.caffemodel"]) == 0
    for net in (MADE[-1].net, *MADE[-1].test_nets):
        assert net.calls[1:] == [("copy_from", "a.caffemodel"), ("copy_from", "b.caffemodel")]
    assert [line for line in messages(capsys) if "Fine" in line] == [
        "Finetuning from a.caffemodel", "Finetuning from b.caffemodel",
    ]  # fmt: skip


def test_train_from_a_snapshot_and_weights(solver_file, capsys):
    assert main(["train", "--solver", solver_file, "--weights", "a", "--snapshot", "b"]) == 1
    assert "expected --snapshot to go on from or --weights to begin with, got 'b' and 'a'" in capsys.readouterr().err
    assert MADE == []


def test_test(capsys):
    assert main(["test", "--model", "n.prototxt", "--weights", "w", "--iterations", "2", "--stage", "deploy"]) == 0
    assert MADE[0].calls == [
        (("n.prototxt", "w"), {"phase": "TEST", "level": 0, "stages": ["deploy"]}),
        ("forward", 0, 1), ("forward", 0, 1),
    ]  # fmt: skip
    assert messages(capsys)[1:] == [
        "Running for 2 iterations.",
        "Batch 0, accuracy = 0.25", "Batch 0, loss = 1", "Batch 0, loss = 1",
        "Batch 1, accuracy = 0.5", "Batch 1, loss = 1", "Batch 1, loss = 2",
        "Loss: 1.25", "accuracy = 0.375", "loss = 1 (* 0.5 = 0.5 loss)", "loss = 1.5 (* 0.5 = 0.75 loss)",
    ]  # fmt: skip


def test_time(capsys, monkeypatch):
    """A clock that goes on by one second with every look."""
    ticks = iter(range(1000))
    monkeypatch.setattr(commands.time, "perf_counter", lambda: next(ticks))
    assert main(["time", "--model", "n.prototxt", "--iterations", "2", "--phase", "TEST"]) == 0
    passes = [("forward", 0, 0), ("forward", 1, 1), ("backward", 1, 1), ("backward", 0, 0)]
    assert MADE[0].calls == [
        (("n.prototxt",), {"phase": "TEST", "level": 0, "stages": []}),
        ("forward", 0, 1), ("backward",), *passes, *passes,
    ]  # fmt: skip
    assert messages(capsys)[1:] == [
        "Performing Forward", "Initial loss: 1", "Performing Backward",
        "*** Benchmark begins ***", "Testing for 2 iterations.",
        "Iteration: 1 forward-backward time: 9000 ms.", "Iteration: 2 forward-backward time: 9000 ms.",
        "Average time per layer: ",
        "      data\tforward: 1000 ms.", "      data\tbackward: 1000 ms.",
        "        ip\tforward: 1000 ms.", "        ip\tbackward: 1000 ms.",
        "Average Forward pass: 2000 ms.", "Average Backward pass: 2000 ms.",
        "Average Forward-Backward: 10500 ms.", "Total Time: 21000 ms.", "*** Benchmark ends ***",
    ]  # fmt: skip


@every_row("gpu", [[], ["--gpu", "all"]])
def test_device_query(backend, gpu, capsys):
    assert main(["device_query", *gpu]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == f"backend {backend.name}"
    facts = list(backend.describe())
    of_facts = zip(said[1 : 1 + len(facts)], facts, strict=True)
    assert all(line.split()[: fact.count(" ") + 1] == fact.split() for line, fact in of_facts)
    assert [line for line in said if "--gpu all has no effect" in line] == said[len(said) - bool(gpu) :]


@every_row(
    ("arguments", "said"),
    [
        ("train", "the following arguments are required: --solver"),
        ("test --model x", "the following arguments are required: --weights"),
        ("time", "the following arguments are required: --model"),
        ("time --model x --phase BOTH", "argument --phase/-phase: invalid choice: 'BOTH'"),
        ("time --model x --iterations 0", "argument --iterations/-iterations: expected an integer >= 1, got '0'"),
        ("time --model x --iterations a", "argument --iterations/-iterations: expected an integer >= 1, got 'a'"),
        ("train --solver x --sigint_effect wait", "argument --sigint_effect/-sigint_effect: invalid choice: 'wait'"),
    ],
)
def test_wrong_usage(arguments, said, capsys):
    assert main(arguments.split()) == 2
    assert said in capsys.readouterr().err


def test_a_solver_that_is_not_there(capsys):
    assert main(["train", "--solver", "none.prototxt"]) == 1
    assert capsys.readouterr().err == "error: none.prototxt: No such file or directory\n"
