"""Folders of checkpoints: when they are written, which are kept, and that the newest can always be read."""

import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import nd
from nd.dataset import DataSet, ListDataSetIterator
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import Adam, CheckpointListener, Listener
from optimize.listeners import checkpoint as module

ROOT = pathlib.Path(__file__).parent.parent.parent
RNG = np.random.default_rng(30)
X = RNG.normal(size=(10, 4)).astype(np.float32)
Y = np.eye(2, dtype=np.float32)[RNG.integers(0, 2, 10)]
BATCHES = 5
HEADER = "checkpointNum,timestamp,iteration,epoch,modelType,filename"


def network():
    conf = NeuralNetConfiguration(seed=8, updater=Adam(0.01)).list(
        DenseLayer(n_in=4, n_out=3, activation="tanh", drop_out=0.8), OutputLayer(n_in=3, n_out=2, activation="softmax")
    )
    return MultiLayerNetwork(conf).init()


def batches():
    return ListDataSetIterator(DataSet(X, Y), 2)


def trained(folder, epochs=3, net=None, **settings):
    net = net or network()
    net.set_listeners(CheckpointListener(folder, **settings))
    net.fit(batches(), epochs=epochs)
    return net


def numbers(folder):
    names = {path.name for path in folder.iterdir()} - {"checkpointInfo.txt"}
    found = sorted(int(name.split("_")[1]) for name in names)
    assert names == {f"checkpoint_{number}_MultiLayerNetwork.zip" for number in found}
    return found


def counts(folder):
    return [(each.number, each.iteration, each.epoch) for each in CheckpointListener.available_checkpoints(folder)]


# ---- when


def test_every_n_iterations(tmp_path):
    trained(tmp_path, save_every_n_iterations=4)
    assert counts(tmp_path) == [(0, 4, 0), (1, 8, 1), (2, 12, 2)]


def test_every_n_epochs(tmp_path):
    trained(tmp_path, epochs=5, save_every_n_epochs=2)
    assert counts(tmp_path) == [(0, 10, 2), (1, 20, 4)]
    assert [MultiLayerNetwork.load_checkpoint(tmp_path, n).epoch_count for n in (0, 1)] == [2, 4]


def test_every_n_minutes(tmp_path, monkeypatch):
    clock = [1000.0]

    class Tick(Listener):
        def iteration_done(self, model, iteration, epoch):
            clock[0] += 30.0

    monkeypatch.setattr(module.time, "monotonic", lambda: clock[0])
    net = network()
    net.set_listeners(Tick(), CheckpointListener(tmp_path, save_every_minutes=2))
    net.fit(batches(), epochs=2)
    assert [iteration for _, iteration, _ in counts(tmp_path)] == [4, 8]


def test_what_java_calls_them_and_writes_of_them(tmp_path):
    before = int(time.time() * 1000)
    trained(tmp_path, epochs=1, save_every_n_iterations=2, save_every_n_epochs=1)
    assert numbers(tmp_path) == [0, 1, 2]
    header, *lines = (tmp_path / "checkpointInfo.txt").read_text().splitlines()
    assert header == HEADER
    fields = [line.split(",") for line in lines]
    assert [(f[0], *f[2:]) for f in fields] == [
        ("0", "2", "0", "MultiLayerNetwork", "checkpoint_0_MultiLayerNetwork.zip"),
        ("1", "4", "0", "MultiLayerNetwork", "checkpoint_1_MultiLayerNetwork.zip"),
        ("2", "5", "1", "MultiLayerNetwork", "checkpoint_2_MultiLayerNetwork.zip"),
    ]
    assert before <= int(fields[0][1]) <= int(fields[2][1]) <= time.time() * 1000


def test_a_subclass_has_the_name_of_its_base(tmp_path):
    class _Mine(MultiLayerNetwork):
        pass

    trained(tmp_path, net=_Mine(network().conf).init(), save_every_n_epochs=1)
    assert numbers(tmp_path) == [0, 1, 2]


def test_a_line_for_each_on_request(tmp_path, capsys):
    trained(tmp_path, epochs=1, save_every_n_epochs=1, log_saving=True)
    path = tmp_path / "checkpoint_0_MultiLayerNetwork.zip"
    assert capsys.readouterr().out == f"Checkpoint saved: epoch 1, iteration 5, path: {path}\n"


# ---- which are kept


@pytest.mark.parametrize(
    ("policy", "kept"),
    [
        ({}, list(range(10))),
        ({"keep_last": 1}, [9]),
        ({"keep_last": 3}, [7, 8, 9]),
        ({"keep_last": 20}, list(range(10))),
        ({"keep_last": 2, "keep_every": 3}, [2, 5, 8, 9]),
        ({"keep_last": 1, "keep_every": 4}, [3, 7, 9]),
        ({"keep_last": 1, "keep_every": 1}, list(range(10))),
    ],
)
def test_policies(policy, kept, tmp_path):
    trained(tmp_path, epochs=2, save_every_n_iterations=1, **policy)
    assert numbers(tmp_path) == kept
    assert [number for number, *_ in counts(tmp_path)] == kept
    assert len((tmp_path / "checkpointInfo.txt").read_text().splitlines()) == 1 + len(kept)


def test_a_folder_is_gone_on_with(tmp_path):
    trained(tmp_path / "a" / "b", save_every_n_epochs=1, keep_last=2)
    net = trained(tmp_path / "a" / "b", epochs=4, save_every_n_epochs=1, keep_last=2,
                  net=MultiLayerNetwork.load_checkpoint(tmp_path / "a" / "b"))  # fmt: skip
    assert numbers(tmp_path / "a" / "b") == [2, 3]
    assert net.epoch_count == 4


def test_or_emptied(tmp_path):
    trained(tmp_path, save_every_n_epochs=1)
    (tmp_path / "other.zip").touch()
    CheckpointListener(tmp_path, save_every_n_epochs=1, delete_existing=True)
    assert [path.name for path in tmp_path.iterdir()] == ["other.zip"]


def test_without_the_updater(tmp_path):
    trained(tmp_path, save_every_n_epochs=3, save_updater=False)
    assert not nd.to_host(MultiLayerNetwork.load_checkpoint(tmp_path).updater_state()).any()


# ---- which is read


INFOS = {
    "gone": lambda text: None,
    "empty": lambda text: "",
    "of before": lambda text: "\n".join(text.splitlines()[:2]) + "\n",
    "torn": lambda text: text[:-25],
    "torn within a number": lambda text: text[: text.rindex("2,") + 1],
    "of others": lambda text: text.replace("checkpoint_", "../checkpoint_") + "9,1,2,3,M,checkpoint_9_M.zip\n",
    "no text": lambda text: "\x00\xff,,,,,\n",
}


@pytest.mark.parametrize("info", INFOS)
def test_whatever_checkpoint_info_says(info, tmp_path):
    whole = trained(tmp_path, save_every_n_epochs=1)
    path = tmp_path / "checkpointInfo.txt"
    text = INFOS[info](path.read_text())
    path.unlink() if text is None else path.write_text(text)
    assert counts(tmp_path) == [(0, 5, 1), (1, 10, 2), (2, 15, 3)]
    assert CheckpointListener.last_checkpoint(tmp_path).number == 2
    again = MultiLayerNetwork.load_checkpoint(tmp_path)
    np.testing.assert_array_equal(nd.to_host(again.params()), nd.to_host(whole.params()))
    listener = CheckpointListener(tmp_path, save_every_n_epochs=1)
    assert [each.number for each in listener.checkpoints] == [0, 1, 2]


def test_a_file_that_a_copy_has_cut_is_passed_over(tmp_path):
    trained(tmp_path, save_every_n_epochs=1)
    newest = tmp_path / "checkpoint_2_MultiLayerNetwork.zip"
    newest.write_bytes(newest.read_bytes()[:-40])
    (tmp_path / "checkpoint_3_MultiLayerNetwork.zip").write_bytes(b"")
    whole = bytearray((tmp_path / "checkpoint_1_MultiLayerNetwork.zip").read_bytes())
    whole[len(whole) // 2] ^= 0xFF
    (tmp_path / "checkpoint_4_MultiLayerNetwork.zip").write_bytes(whole)
    assert CheckpointListener.last_checkpoint(tmp_path).number == 1
    assert MultiLayerNetwork.load_checkpoint(tmp_path).epoch_count == 2


def test_nothing_to_read(tmp_path):
    assert CheckpointListener.last_checkpoint(tmp_path / "nowhere") is None
    assert CheckpointListener.last_checkpoint(tmp_path) is None
    assert CheckpointListener.available_checkpoints(tmp_path) == []
    (tmp_path / "a file").write_text("")
    assert CheckpointListener.available_checkpoints(tmp_path / "a file") == []
    with pytest.raises(FileNotFoundError, match=r"must hold a complete checkpoint, got the numbers: none"):
        MultiLayerNetwork.load_checkpoint(tmp_path)
    trained(tmp_path, epochs=2, save_every_n_epochs=1)
    with pytest.raises(FileNotFoundError, match=r"must hold checkpoint 7, got the numbers: 0, 1"):
        MultiLayerNetwork.load_checkpoint(tmp_path, 7)
    with pytest.raises(nd.ConfigurationError, match=r"a number needs a folder, got 0 and the file"):
        MultiLayerNetwork.load_checkpoint(tmp_path / "checkpoint_0_MultiLayerNetwork.zip", 0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, r"expected when to write, got nothing\. Give save_every_n_iterations"),
        ({"save_every_n_iterations": 0}, "save_every_n_iterations must be an integer >= 1 or None, got 0"),
        ({"save_every_n_epochs": -1}, "save_every_n_epochs must be an integer >= 1 or None, got -1"),
        ({"save_every_minutes": 0.0}, "save_every_minutes must be a number > 0 or None, got 0.0"),
        ({"save_every_n_epochs": 1, "keep_last": 0}, "keep_last must be an integer >= 1 or None, got 0"),
        ({"save_every_n_epochs": 1, "keep_every": 2}, "keep_every needs keep_last, got 2 alone"),
    ],
)
def test_settings(settings, message, tmp_path):
    with pytest.raises(nd.ConfigurationError, match=message):
        CheckpointListener(tmp_path / "new", **settings)
    assert not (tmp_path / "new").exists()


# ---- processes that end

LARGE = """
import sys
import numpy as np
from nd.dataset.image_iterator import ImageDataSetIterator
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import Adam, CheckpointListener

def batches():
    rng = np.random.default_rng(1)
    images = rng.integers(0, 256, (12, 300)).astype(np.uint8)
    return ImageDataSetIterator(images, np.arange(12) % 3, 4, classes=3, seed=2)

def fresh():
    conf = NeuralNetConfiguration(seed=4, updater=Adam(0.001)).list(
        DenseLayer(n_in=300, n_out=150, activation="tanh", drop_out=0.8),
        OutputLayer(n_in=150, n_out=3, activation="softmax"),
    )
    return MultiLayerNetwork(conf).init()
"""
KILLED = f"""{LARGE}
folder = sys.argv[1]
listener = CheckpointListener(folder, save_every_n_iterations=1, keep_last=2, keep_every=40, log_saving=False)
net = MultiLayerNetwork.load_checkpoint(folder) if listener.checkpoints else fresh()
net.set_listeners(listener)
print("ready", flush=True)
net.fit(batches(), epochs=1_000_000)
"""


class Trajectory(Listener):
    """The parameters after every step of a run that nobody stops."""

    def __init__(self, names):
        self.net, self.names, self.params = names["fresh"](), names, {}
        self.net.set_listeners(self)
        self.batches, self.generator = names["batches"](), nd.random.get_random().get_state()

    def iteration_done(self, model, iteration, epoch):
        self.params[model.iteration_count] = np.array(nd.to_host(model.params()))

    def after(self, steps):
        while steps not in self.params:
            nd.random.get_random().set_state(self.generator)
            self.net.fit(self.batches, epochs=10)
            self.generator = nd.random.get_random().get_state()
        return self.params[steps]


def kill_once(folder, delay, first=False):
    """Train in a process of its own, and kill it so many seconds after it began, or after its `first` checkpoint."""
    child = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(folder)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    )
    try:
        ready = child.stdout.readline()
        while first and child.poll() is None and not CheckpointListener.last_checkpoint(folder):
            time.sleep(0.01)
        time.sleep(delay)
    finally:
        child.send_signal(signal.SIGKILL)
        _, errors = child.communicate()
    assert (ready, errors, child.returncode) == ("ready\n", "", -signal.SIGKILL)


def assert_the_newest_goes_on(folder, copy, trajectory):
    """Return how many steps it had come."""
    shutil.copytree(folder, copy)
    net = MultiLayerNetwork.load_checkpoint(copy)
    steps = net.iteration_count
    assert steps >= max(each.iteration for each in CheckpointListener.available_checkpoints(folder))
    np.testing.assert_array_equal(nd.to_host(net.params()), trajectory.after(steps))
    net.fit(trajectory.names["batches"](), epochs=steps // 3 + 2)
    np.testing.assert_array_equal(nd.to_host(net.params()), trajectory.after(net.iteration_count))
    assert net.iteration_count > steps
    shutil.rmtree(copy)
    return steps


def kill_many(tmp_path, times):
    names = {}
    exec(LARGE, names)
    trajectory, rng = Trajectory(names), random.Random(times)
    folder, steps, torn = tmp_path / "run", 0, 0
    kill_once(folder, 0.3, first=True)
    for number in range(times):
        kill_once(folder, rng.uniform(0.0, 0.08))
        torn += any(path.name.endswith(".partial") for path in folder.iterdir())
        now = assert_the_newest_goes_on(folder, tmp_path / f"copy{number}", trajectory)
        assert now >= steps
        steps = now
    return steps, torn


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_the_newest_checkpoint_survives_fifty_kills(tmp_path):
    steps, torn = kill_many(tmp_path, 50)
    assert steps > 0  # how many there are is the clock's
    assert torn > 0  # files were being written when the end came


FULL = f"""{LARGE}
import resource
net = fresh()
net.set_listeners(CheckpointListener(sys.argv[1], save_every_n_epochs=1))
net.fit(batches(), epochs=2)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    net.fit(batches(), epochs=1)
except OSError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process are POSIX's")
def test_a_file_that_cannot_grow_leaves_the_checkpoints_before(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert "CheckpointListener: the file must be written whole, got File too large; the one before is" in done.stdout
    assert done.stderr == ""
    assert numbers(tmp_path) == [0, 1]
    assert MultiLayerNetwork.load_checkpoint(tmp_path).epoch_count == 2


# ---- several processes, one folder


TOGETHER = f"""{LARGE}
import os
barrier, count = sys.argv[2], int(sys.argv[3])
net = fresh()
net.set_listeners(CheckpointListener(sys.argv[1], save_every_n_iterations=1, keep_last=count, log_saving=False))
open(f"{{barrier}}/{{os.getpid()}}", "w").close()
while len(os.listdir(barrier)) < 2:
    pass
for _ in range(count):
    net.fit_batch(next(iter(batches())))
print(*(checkpoint.number for checkpoint in net.listeners[0].checkpoints))
"""


@pytest.mark.slow
def test_processes_that_share_a_folder(tmp_path):
    """None replaces or removes a checkpoint of the other, whatever both count from."""
    folder, barrier, count = tmp_path / "run", tmp_path / "barrier", 8
    barrier.mkdir()
    command = [sys.executable, "-c", TOGETHER, str(folder), str(barrier), str(count)]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) for _ in range(2)]
    written = [[int(number) for number in process.communicate()[0].split()] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert [len(own) for own in written] == [count, count]
    assert sorted(written[0] + written[1]) == list(range(2 * count))
    assert numbers(folder) == list(range(2 * count))
    steps = [MultiLayerNetwork.load_checkpoint(folder, number).iteration_count for own in written for number in own]
    assert steps == [*range(1, count + 1)] * 2


def test_what_another_has_written_meanwhile_stays(tmp_path):
    first, second = (CheckpointListener(tmp_path, save_every_n_iterations=1, keep_last=1) for _ in range(2))
    net = network()
    for listener in (first, second, first):
        net.set_listeners(listener)
        net.fit_batch(next(iter(batches())))
    assert [[each.number for each in listener.checkpoints] for listener in (first, second)] == [[2], [1]]
    assert numbers(tmp_path) == [1, 2]
    assert counts(tmp_path) == [(1, 2, 0), (2, 3, 0)]
