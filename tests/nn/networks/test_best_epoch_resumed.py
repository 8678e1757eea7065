"""A checkpoint of a call with patience and restore_best goes on to the same bits, decision and history."""

import json
import pickle
import zipfile

import numpy as np
import pytest

import nd
from nn import ComputationGraph, MultiLayerNetwork
from nn.files.archive import with_entry
from nn.files.own_settings import ENTRY
from optimize import Adam, CheckpointListener, Listener
from tests.nn.networks.test_fit_until_best import Watch, X, Y, host, network

SETTINGS = {
    "epochs": 40, "batch_size": 12, "validation_split": 0.3, "patience": 2, "restore_best": True, "metrics": ("f1",)
}  # fmt: skip


class Keep(Listener):
    """Writes a checkpoint, or a pickle, after every step and every epoch."""

    def __init__(self, folder, pickles=False):
        self.folder, self.count, self.pickles = folder, 0, pickles

    def _write(self, model):
        path = self.folder / f"{self.count:03d}"
        path.write_bytes(pickle.dumps(model)) if self.pickles else model.save_checkpoint(path)
        self.count += 1

    def iteration_done(self, model, iteration, epoch):
        self._write(model)

    def on_epoch_end(self, model):
        if not self.pickles:  # which do not know that the epoch is over
            self._write(model)


def read(kind, path, pickles):
    if pickles:
        pickle.loads(path.read_bytes()).save_checkpoint(path)
    return {"layers": MultiLayerNetwork, "graph": ComputationGraph}[kind].load_checkpoint(path)


@pytest.mark.parametrize("kind", ["layers", "graph"])
@pytest.mark.parametrize("way", ["minibatches", "one minibatch", "pickles"])
@pytest.mark.quick_rows(2)
def test_every_checkpoint_goes_on_to_the_same_end(tmp_path, kind, way):
    """After every step and every epoch, the one that ends training included: bits, decision and history."""
    settings = {**SETTINGS, "batch_size": None} if way == "one minibatch" else SETTINGS
    net = network(kind, Adam(0.4))
    net.set_listeners(Keep(tmp_path, way == "pickles"))
    history = net.fit(X, Y, **settings)
    assert history.stopped.startswith("patience: ")
    for path in sorted(tmp_path.iterdir())[:: 1 if kind == "layers" and way == "minibatches" else 4]:
        again = read(kind, path, way == "pickles")
        continued = again.fit(X, Y, **settings)
        np.testing.assert_array_equal(host(again.params()), host(net.params()))
        np.testing.assert_array_equal(host(again.updater_state()), host(net.updater_state()))
        assert continued.to_dict() == history.to_dict(), path.name
        assert (continued.stopped, continued.best_epoch) == (history.stopped, history.best_epoch)
        assert (again.iteration_count, again.epoch_count) == (net.iteration_count, net.epoch_count)


@pytest.mark.parametrize("at", [1, 2])
def test_a_call_that_was_cut_short_goes_on_to_the_same_end(tmp_path, at):
    expected = network(updater=Adam(0.4))
    history = expected.fit(X, Y, **SETTINGS)
    net = network(updater=Adam(0.4))
    net.set_listeners(Watch(error=at))
    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        net.fit(X, Y, **SETTINGS)
    net.save_checkpoint(tmp_path / "c.zip")
    again = MultiLayerNetwork.load_checkpoint(tmp_path / "c.zip")
    assert again.fit(X, Y, **SETTINGS).to_dict() == history.to_dict()
    np.testing.assert_array_equal(host(again.params()), host(expected.params()))


def test_a_checkpoint_after_the_call_has_nothing_of_it(tmp_path):
    net = network(updater=Adam(0.4))
    net.fit(X, Y, **SETTINGS)
    net.save_checkpoint(tmp_path / "c.zip")
    again = MultiLayerNetwork.load_checkpoint(tmp_path / "c.zip")
    histories = [each.fit(X, Y, **SETTINGS).to_dict() for each in (net, again)]
    assert histories[0] == histories[1]
    assert histories[0]["epochs"][0] == 0


LACKING = {
    "no parameters": ({"restore_best": False}, {}, "does not hold the parameters of the best of them"),
    "other monitor": ({}, {"monitor": "rank_score"}, "does not hold the parameters"),
    "no such column": ({}, {"metrics": "mcc", "monitor": "mcc"}, "has no 'mcc' of the epochs before"),
}


def rank_score(y_true, y_pred, calls=[]):  # noqa: B006
    """Be worse in every epoch."""
    calls.append(0)
    return -float(len(calls))


@pytest.mark.parametrize("name", LACKING)
def test_what_a_checkpoint_does_not_say_is_not_guessed(tmp_path, name):
    before, after, message = LACKING[name]
    settings = {**SETTINGS, "epochs": 4, "metrics": rank_score}
    net = network(updater=Adam(0.01))
    net.set_listeners(CheckpointListener(tmp_path, save_every_n_epochs=1))
    net.fit(X, Y, **{**settings, **before})
    again = MultiLayerNetwork.load_checkpoint(tmp_path)
    with pytest.raises(nd.ConfigurationError, match=message):
        again.fit(X, Y, **{**settings, **after})


def test_a_checkpoint_of_an_earlier_release_has_no_history(tmp_path):
    net, path = network(), tmp_path / "c.zip"
    net.set_listeners(Keep(tmp_path))
    net.fit(X, Y, epochs=3, batch_size=15)
    (tmp_path / "003").rename(path)  # in the second of three epochs
    document = json.loads(zipfile.ZipFile(path).read(ENTRY))
    for name in ("history", "best_epoch"):
        del document["progress"][name]
    with_entry("test", path, ENTRY, json.dumps(document).encode())
    again = MultiLayerNetwork.load_checkpoint(path)
    with pytest.raises(nd.ConfigurationError, match="has no 'score' of the epochs before"):
        again.fit(X, Y, epochs=3, batch_size=15, patience=2)
    again = MultiLayerNetwork.load_checkpoint(path)
    history = again.fit(X, Y, epochs=3, batch_size=15)
    np.testing.assert_array_equal(host(again.params()), host(net.params()))
    assert (history.epochs, history.score) == ([1, 2], net.history.score[1:])


DAMAGES = {
    "history": ([{"first": 0}, {"first": -1}, [], "x"], "history must be null, or lists of numbers"),
    "best_epoch": ([-1, 1.5, "0"], "best_epoch must be null or an integer"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damaged_progress_is_refused(tmp_path, name):
    net, path = network(), tmp_path / "000"
    net.set_listeners(Keep(tmp_path))
    net.fit(X, Y, epochs=1, batch_size=15, restore_best=True)
    values, message = DAMAGES[name]
    for value in values:
        document = json.loads(zipfile.ZipFile(path).read(ENTRY))
        document["progress"][name] = value
        with_entry("test", path, ENTRY, json.dumps(document).encode())
        with pytest.raises(nd.FormatError, match=message):
            MultiLayerNetwork.load_checkpoint(path)
