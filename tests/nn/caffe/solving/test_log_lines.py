"""Lines of Caffe's log: as Caffe prints them, and as scripts that parse its logs read them."""

import datetime
import logging
import re

from nn.caffe.solving import log_lines
from nn.caffe.solving.glog import GlogFormatter, logging_to_stderr
from nn.caffe.solving.log_lines import Output
from tests.cells import every_row

# What a script has to find in a line, in words of this test; Caffe's own parse_log.py reads the same parts.
ITERATION = re.compile(r"Iteration (\d+)")
OUTPUT = re.compile(r"(Train|Test) net output #(\d+): (\S+) = ([.\deE+-]+)")
RATE = re.compile(r"lr = ([-+]?\d*\.?\d+([eE]?[-+]?\d+)?)")
LOSS = re.compile(r"Iteration (\d+)( \(\S+ iter/s, \S+s/\d+ iters\))?, loss = (\S+)$")
PREFIX = re.compile(r"([IWEF])(\d\d)(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{6}) +(\d+) (\S+):(\d+)\] (.*)", re.DOTALL)


def record(message, created=0.0, level=logging.INFO, process=12345):
    made = logging.LogRecord("nn.caffe.solver", level, "/x/solver.py", 239, message, (), None)
    made.created, made.process = created, process
    return made


def test_lines_of_training():
    assert list(log_lines.solving("LeNet", "inv")) == ["Solving LeNet", "Learning Rate Policy: inv"]
    assert log_lines.iteration(100, 0.2115081, 100, 0.5, 100) == (
        "Iteration 100 (200 iter/s, 0.5s/100 iters), loss = 0.211508"
    )
    assert log_lines.iteration(0, 2.5, 0, 0.0, 100) == "Iteration 0 (0 iter/s, 0s/100 iters), loss = 2.5"
    assert log_lines.last_iteration(10_000, 0.0026) == "Iteration 10000, loss = 0.0026"
    assert log_lines.learning_rate(100, 0.0099256524) == "Iteration 100, lr = 0.00992565"
    assert log_lines.multistep(5000, 1) == "MultiStep Status: Iteration 5000, step = 1"
    assert log_lines.clipping(40.0, 10.0) == (
        "Gradient clipping: scaling down gradients (L2 norm 40 > 10) by scale factor 0.25"
    )


def test_lines_of_outputs():
    """Numbers of all outputs are counted on; only losses have a weight."""
    outputs = [Output("accuracy", [0.9914]), Output("loss", [0.25, 2.0], 0.5), Output("x", [])]
    assert list(log_lines.train_outputs(outputs)) == [
        "    Train net output #0: accuracy = 0.9914",
        "    Train net output #1: loss = 0.25 (* 0.5 = 0.125 loss)",
        "    Train net output #2: loss = 2 (* 0.5 = 1 loss)",
    ]
    assert list(log_lines.test_outputs(outputs[:1])) == ["    Test net output #0: accuracy = 0.9914"]
    assert log_lines.testing(500, 0) == "Iteration 500, Testing net (#0)"
    assert log_lines.test_loss(0.5) == "Test loss: 0.5"


@every_row(
    ("is_state", "is_hdf5", "said"),
    [
        (False, False, "Snapshotting to binary proto file x"),
        (False, True, "Snapshotting to HDF5 file x"),
        (True, False, "Snapshotting solver state to binary proto file x"),
        (True, True, "Snapshotting solver state to HDF5 file x"),
    ],
)
def test_lines_of_snapshots(is_state, is_hdf5, said):
    assert log_lines.snapshotting("x", is_state, is_hdf5) == said


def test_lines_of_commands():
    outputs = [Output("accuracy", [0.5, 1.0]), Output("loss", [0.25], 1.0)]
    assert list(log_lines.batch(3, outputs)) == [
        "Batch 3, accuracy = 0.5", "Batch 3, accuracy = 1", "Batch 3, loss = 0.25",
    ]  # fmt: skip
    assert list(log_lines.means(0.25, outputs)) == [
        "Loss: 0.25", "accuracy = 0.5", "accuracy = 1", "loss = 0.25 (* 1 = 0.25 loss)",
    ]  # fmt: skip
    assert list(log_lines.layer_times("conv1", 1.5, 2.5)) == [
        "     conv1\tforward: 1.5 ms.",
        "     conv1\tbackward: 2.5 ms.",
    ]
    assert list(log_lines.total_times(10.0, 20.0, 40.0, 10)) == [
        "Average Forward pass: 1 ms.", "Average Backward pass: 2 ms.", "Average Forward-Backward: 4 ms.",
        "Total Time: 40 ms.", "*** Benchmark ends ***",
    ]  # fmt: skip
    assert log_lines.timed_iteration(1, 2.5) == "Iteration: 1 forward-backward time: 2.5 ms."
    assert log_lines.running(50) == "Running for 50 iterations."


def test_the_prefix_of_glog():
    created = datetime.datetime(2026, 11, 28, 15, 0, 7).timestamp() + 0.25
    assert GlogFormatter().format(record("Hello.", created)) == "I1128 15:00:07.250000 12345 solver.py:239] Hello."
    for level, letter in ((logging.DEBUG, "I"), (logging.WARNING, "W"), (logging.ERROR, "E"), (50, "F")):
        assert GlogFormatter().format(record("x", created, level))[0] == letter
    assert GlogFormatter().format(record("x", created, process=7)).startswith("I1128 15:00:07.250000     7 solver.py")


def log_of_a_run():
    """Two displays and two tests, as a solver logs them, a second apart from each other."""
    loss = [Output("loss", [2.30259], 1.0)]
    lines = [*log_lines.solving("LeNet", "inv"), log_lines.testing(0, 0)]
    lines += log_lines.test_outputs([Output("accuracy", [0.0978]), Output("loss", [2.37], 1.0)])
    lines += [log_lines.iteration(0, 2.30259, 0, 0.1, 100), *log_lines.train_outputs(loss)]
    lines += [log_lines.learning_rate(0, 0.01), log_lines.iteration(100, 1e-7, 100, 2.0, 100)]
    lines += [*log_lines.train_outputs([Output("loss", [1e-7], 1.0)]), log_lines.learning_rate(100, 9.9e-6)]
    lines += [
        log_lines.testing(200, 0),
        *log_lines.test_outputs([Output("accuracy", [1.0]), Output("loss", [0.5], 1.0)]),
    ]
    start = datetime.datetime(2026, 11, 28, 15, 0, 0).timestamp()
    return [GlogFormatter().format(record(line, start + number)) for number, line in enumerate(lines)]


def test_a_log_is_read_as_scripts_read_it():
    number, rate, rows, losses, seconds = -1, None, [], [], []
    for line in log_of_a_run():
        parts = PREFIX.fullmatch(line).groups()
        seconds.append(int(parts[4]) * 60 + int(parts[5]))
        assert (parts[0], parts[1], parts[2]) == ("I", "11", "28")
        if found := ITERATION.search(line):
            number = int(found[1])
        if found := RATE.search(line):
            rate = float(found[1])
        if found := OUTPUT.search(line):
            rows.append((number, rate, found[1], found[3], float(found[4])))
        if found := LOSS.search(parts[-1]):
            losses.append((int(found[1]), float(found[3])))
    assert seconds == list(range(len(seconds)))
    assert losses == [(0, 2.30259), (100, 1e-7)]
    assert rows == [
        (0, None, "Test", "accuracy", 0.0978), (0, None, "Test", "loss", 2.37), (0, None, "Train", "loss", 2.30259),
        (100, 0.01, "Train", "loss", 1e-7), (200, 9.9e-6, "Test", "accuracy", 1.0), (200, 9.9e-6, "Test", "loss", 0.5),
    ]  # fmt: skip


def test_logging_to_standard_error(capsys):
    logger = logging.getLogger("nn.caffe")
    before = (logger.level, logger.propagate, list(logger.handlers))
    with logging_to_stderr():
        logging.getLogger("nn.caffe.solver").info(log_lines.learning_rate(3, 0.5))
        logging.getLogger("nn.caffe.solver").debug("unheard")
    logging.getLogger("nn.caffe.solver").info("unheard")
    (line,) = capsys.readouterr().err.splitlines()
    assert PREFIX.fullmatch(line)[11] == "Iteration 3, lr = 0.5"
    assert PREFIX.fullmatch(line)[9] == "test_log_lines.py"
    assert (logger.level, logger.propagate, list(logger.handlers)) == before
