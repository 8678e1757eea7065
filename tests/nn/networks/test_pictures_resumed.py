"""Training on the pictures of a folder, one of them damaged: the same bits after kills and checkpoints."""

import os
import pathlib
import signal
import subprocess
import sys

import numpy as np
import pytest

import nd
from nd.dataset import CompositeDataSetPreProcessor, ImageFolderIterator
from nd.dataset.augmentation import RandomCrop, RandomFlip
from nn import ConvolutionLayer, InputType, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import CheckpointListener

pytest.importorskip("PIL")
ROOT = pathlib.Path(__file__).parents[3]
PICTURES = ROOT / "tests" / "cases" / "java_pictures"


def pictures(folder):
    """Return an iterator over the pictures, of which one is damaged."""
    iterator = ImageFolderIterator(folder, 3, 8, seed=3, damaged="skip")
    iterator.set_pre_processor(CompositeDataSetPreProcessor(RandomFlip(), RandomCrop(padding=1)))
    return iterator


def network():
    conf = NeuralNetConfiguration(seed=4, updater="adam").list(
        ConvolutionLayer(n_out=3, kernel_size=(3, 3), activation="relu", drop_out=0.8),
        OutputLayer(n_out=3),
        input_type=InputType.convolutional(8, 8, 3),
    )
    return MultiLayerNetwork(conf).init()


@pytest.fixture
def folder(tmp_path):
    for path in PICTURES.glob("*/*"):
        (tmp_path / "pictures" / path.parent.name).mkdir(parents=True, exist_ok=True)
        (tmp_path / "pictures" / path.parent.name / path.name).write_bytes(path.read_bytes())
    (tmp_path / "pictures" / "emu" / "cut.jpg").write_bytes((PICTURES / "cat" / "colour.jpg").read_bytes()[:400])
    return tmp_path / "pictures"


KILLED = """
import os, signal, sys
from optimize import CheckpointListener, Listener
from tests.nn.networks.test_pictures_resumed import MultiLayerNetwork, network, pictures

checkpoints, folder, kill_at = sys.argv[1], sys.argv[2], int(sys.argv[3])

class Kill(Listener):
    def iteration_done(self, model, iteration, epoch):
        if model.iteration_count == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

listener = CheckpointListener(checkpoints, save_every_n_iterations=2, log_saving=False)
net = MultiLayerNetwork.load_checkpoint(checkpoints) if listener.checkpoints else network()
net.set_listeners(listener, Kill())
net.fit(pictures(folder), epochs=3)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize("kills", [(6,), pytest.param((3, 4, 9), marks=pytest.mark.slow)], ids=["once", "often"])
def test_a_run_that_is_killed_goes_on_with_the_same_bits(kills, folder, tmp_path):
    for kill_at in kills:
        done = subprocess.run(
            [sys.executable, "-c", KILLED, str(tmp_path / "checkpoints"), str(folder), str(kill_at)],
            cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False,
        )  # fmt: skip
        assert done.returncode == -signal.SIGKILL
    whole, iterator = network(), pictures(folder)
    whole.fit(iterator, epochs=3)
    assert list(iterator.skipped) == [str(folder / "emu" / "cut.jpg")]
    assert whole.iteration_count == 12
    resumed = MultiLayerNetwork.load_checkpoint(tmp_path / "checkpoints")
    assert 0 < resumed.iteration_count < 12
    resumed.fit(pictures(folder), epochs=3)
    np.testing.assert_array_equal(nd.to_host(resumed.params()), nd.to_host(whole.params()))
    assert CheckpointListener.last_checkpoint(tmp_path / "checkpoints").iteration <= max(kills)


def test_a_checkpoint_notices_other_files(folder, tmp_path):
    net = network()
    net.set_listeners(CheckpointListener(tmp_path / "checkpoints", save_every_n_iterations=2, log_saving=False))
    net.fit(pictures(folder), epochs=2)
    (folder / "emu" / "cut.jpg").unlink()
    first = CheckpointListener.available_checkpoints(tmp_path / "checkpoints")[0]
    resumed = MultiLayerNetwork.load_checkpoint(first.path)
    with pytest.raises(nd.DataError, match=r"ImageFolderIterator\.restore: examples must be 10, got 11"):
        resumed.fit(pictures(folder), epochs=2)
