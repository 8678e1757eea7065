"""Training on pictures that are augmented: the same bits after any interruption, whatever is looked at meanwhile."""

import copy
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import nd
from nd.dataset import AsyncDataSetIterator, CompositeDataSetPreProcessor, NumpyDataSetIterator
from nd.dataset.augmentation import Cutout, Mixup, RandomCrop, RandomFlip
from nn import (
    ConvolutionLayer,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
)
from optimize import Adam, CheckpointListener, Listener
from optimize.earlystopping import (
    DataSetLossCalculator,
    EarlyStoppingConfiguration,
    EarlyStoppingTrainer,
    InMemoryModelSaver,
    MaxEpochsTerminationCondition,
)

ROOT = Path(__file__).parents[3]
RNG = np.random.default_rng(2)
PICTURES = RNG.random((20, 1, 6, 6)).astype(np.float32)
LABELS = np.eye(3, dtype=np.float32)[np.arange(20) % 3]


def augment():
    return CompositeDataSetPreProcessor(RandomFlip(), RandomCrop(padding=1), Cutout(2), Mixup(0.4))


def batches(ahead=False, drawing=True):
    iterator = NumpyDataSetIterator(PICTURES, LABELS, 8, seed=2, shuffle=True)
    if ahead:
        iterator = AsyncDataSetIterator(iterator)
    iterator.set_pre_processor(augment() if drawing else None)
    return iterator


def network(iterations=1):
    conf = NeuralNetConfiguration(seed=4, updater=Adam(0.01), iterations=iterations).list(
        ConvolutionLayer(n_out=3, kernel_size=(3, 3), activation="relu", drop_out=0.8),
        OutputLayer(n_out=3),
        input_type=InputType.convolutional(6, 6, 1),
    )
    return MultiLayerNetwork(conf).init()


def params(net):
    return np.array(nd.to_host(net.params()))


class Stop(RuntimeError):
    """Ends a call of fit after a step, as a kill does: nothing of the process is used afterwards but the checkpoint."""


class StopAt(Listener):
    def __init__(self, steps, path):
        self.steps, self.path = steps, path

    def iteration_done(self, model, iteration, epoch):
        if model.iteration_count == self.steps:
            model.save_checkpoint(self.path)
            raise Stop("here")


@pytest.mark.parametrize("ahead", [False, True], ids=["in this thread", "read ahead"])
@pytest.mark.parametrize("iterations", [1, 3])
@pytest.mark.quick_rows(1)
def test_a_run_that_goes_on_from_a_checkpoint_has_the_same_bits(tmp_path, iterations, ahead):
    whole = network(iterations)
    whole.fit(batches(), epochs=3)
    assert whole.iteration_count == 9 * iterations
    for steps in (1, 3, 5) if iterations == 1 else (7, 9, 11):
        cut = network(iterations)
        cut.set_listeners(StopAt(steps, tmp_path / "checkpoint.zip"))
        with pytest.raises(Stop, match="here"):
            cut.fit(batches(ahead), epochs=3)
        resumed = MultiLayerNetwork.load_checkpoint(tmp_path / "checkpoint.zip")
        resumed.fit(batches(ahead), epochs=3)
        np.testing.assert_array_equal(params(resumed), params(whole))
        assert resumed.random.get_state() == whole.random.get_state()


def test_they_change_what_is_trained_on():
    plain, augmented, other = network(), network(), network()
    plain.fit(batches(drawing=False), epochs=1)
    augmented.fit(batches(), epochs=1)
    other.random.set_seed(77)
    other.fit(batches(), epochs=1)
    assert not np.array_equal(params(plain), params(augmented))
    assert not np.array_equal(params(other), params(augmented))


def test_looking_changes_nothing():
    """Evaluation, scores and predictions on data that are augmented draw nothing from the network's generator."""
    whole, looked = network(), network()
    whole.fit(batches(), epochs=2)
    looked.fit(batches(), epochs=1, validation_data=batches())
    state = looked.random.get_state()
    scores = [looked.score(batches()) for _ in range(2)]
    assert scores[0] == scores[1]
    looked.evaluate(batches())
    looked.output(batches())
    DataSetLossCalculator(batches()).calculate_score(looked)
    assert looked.random.get_state() == state
    again = network()
    iterator = batches()
    again.fit(iterator, epochs=1, validation_data=batches())
    again.evaluate(batches())
    again.fit(iterator, epochs=1)
    np.testing.assert_array_equal(params(again), params(whole))


def test_early_stopping_draws_from_the_networks_generator():
    whole = network()
    whole.fit(batches(), epochs=2)
    net = network()
    network()  # was initialised last in this thread
    conf = EarlyStoppingConfiguration(
        epoch_termination_conditions=[MaxEpochsTerminationCondition(2)],
        score_calculator=DataSetLossCalculator(batches(drawing=False)),
        model_saver=InMemoryModelSaver(),
    )
    iterator = batches()
    iterator.reset()  # the trainer resets before its first epoch, fit does not
    trained = EarlyStoppingTrainer(conf, net, batches()).fit()
    expected = network()
    expected.fit(iterator, epochs=2)
    assert trained.total_epochs == 2
    np.testing.assert_array_equal(params(net), params(expected))


def test_a_copy_goes_on_alike():
    net, iterator = network(), batches()
    net.fit(iterator, epochs=1)
    twin, position = copy.deepcopy(net), pickle.loads(pickle.dumps(iterator))
    net.fit(iterator, epochs=1)
    twin.fit(position, epochs=1)
    np.testing.assert_array_equal(params(twin), params(net))


KILLED = """
import os, signal, sys
from optimize import CheckpointListener, Listener
from tests.nn.networks.test_augmented import MultiLayerNetwork, batches, network

folder, kill_at = sys.argv[1], int(sys.argv[2])

class Kill(Listener):
    def iteration_done(self, model, iteration, epoch):
        if model.iteration_count == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

listener = CheckpointListener(folder, save_every_n_iterations=3, log_saving=False)
net = MultiLayerNetwork.load_checkpoint(folder) if listener.checkpoints else network(2)
net.set_listeners(listener, Kill())
net.fit(batches(), epochs=3)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize("kills", [(5,), pytest.param((3, 6, 11), marks=pytest.mark.slow)], ids=["once", "often"])
@pytest.mark.slow
def test_a_run_that_is_killed_goes_on_with_the_same_bits(tmp_path, kills):
    """Killed within a minibatch of two steps, and between epochs of six steps."""
    for kill_at in kills:
        done = subprocess.run(
            [sys.executable, "-c", KILLED, str(tmp_path), str(kill_at)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            check=False,
        )
        assert done.returncode == -signal.SIGKILL
        assert CheckpointListener.last_checkpoint(tmp_path).iteration <= kill_at
    whole = network(2)
    whole.fit(batches(), epochs=3)
    resumed = MultiLayerNetwork.load_checkpoint(tmp_path)
    assert 0 < resumed.iteration_count < 18
    resumed.fit(batches(), epochs=3)
    np.testing.assert_array_equal(params(resumed), params(whole))
