"""A network from a checkpoint trains on as if it had never been stopped, to the bit."""

import json
import zipfile

import numpy as np
import pytest

import nd
from nd.dataset import (
    AsyncDataSetIterator,
    DataSet,
    DataSetIterator,
    EarlyTerminationDataSetIterator,
    ListDataSetIterator,
)
from nd.dataset.image_iterator import ImageDataSetIterator
from nn import DenseLayer, MultiLayerConfiguration, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import (
    Adam,
    CollectScoresListener,
    Listener,
    Nesterovs,
    Sgd,
)
from optimize.updaters import UPDATERS
from tests.cells import every_row, wide_values

RNG = np.random.default_rng(77)
IMAGES = RNG.integers(0, 256, (22, 6)).astype(np.uint8)
DIGITS = RNG.integers(0, 3, 22).astype(np.uint8)
X = (IMAGES / 255.0).astype(np.float32)
Y = np.eye(3, dtype=np.float32)[DIGITS]
BATCHES = 5  # of 5, 5, 5, 5, 2 examples


class Saver(Listener):
    """Writes a checkpoint after every step and every epoch."""

    def __init__(self, folder):
        self.folder, self.files = folder, []

    def _save(self, model, name):
        self.files.append(self.folder / f"{name}.zip")
        model.save_checkpoint(self.files[-1])

    def iteration_done(self, model, iteration, epoch):
        self._save(model, f"step{iteration:03}")

    def on_epoch_end(self, model):
        self._save(model, f"epoch{model.epoch_count}")


class Synchronous(ImageDataSetIterator):
    def async_supported(self):
        return False


class Forgetful(DataSetIterator):
    """An iterator of a user who has defined only what must be."""

    def __init__(self):
        self.base = shuffling()

    def has_next(self):
        return self.base.has_next()

    def next(self, num=None):
        return self.base.next(num)

    def reset(self):
        self.base.reset()

    def batch(self):
        return self.base.batch()


def shuffling(kind=ImageDataSetIterator, seed=9, **settings):
    return kind(IMAGES, DIGITS, 5, classes=3, seed=seed, **settings)


ITERATORS = {
    "asynchronous": lambda: AsyncDataSetIterator(shuffling(), 2),
    "early": lambda: EarlyTerminationDataSetIterator(shuffling(), 3),
    "list": lambda: ListDataSetIterator(DataSet(X, Y), 5),
    "python list": lambda: list(ListDataSetIterator(DataSet(X, Y), 5)),
    "shuffling": shuffling,
    "shuffling a part": lambda: shuffling(num_examples=13),
    "synchronous": lambda: shuffling(Synchronous),
}


def network(updater, drop_out=0.7, **settings):
    conf = NeuralNetConfiguration(**{"seed": 5, "l2": 1e-3, "updater": updater, "activation": "tanh", **settings}).list(
        DenseLayer(n_in=6, n_out=8, drop_out=drop_out), OutputLayer(n_in=8, n_out=3, activation="softmax")
    )
    return MultiLayerNetwork(conf).init()


def host(x):
    return nd.to_host(nd.copy(x))


def assert_same(found, expected):
    np.testing.assert_array_equal(host(found.params()), host(expected.params()))
    np.testing.assert_array_equal(host(found.updater_state()), host(expected.updater_state()))
    assert (found.iteration_count, found.epoch_count) == (expected.iteration_count, expected.epoch_count)


def train(net, make, folder, epochs=3):
    """Return the checkpoints, the scores and where the generator stands."""
    saver, scores = Saver(folder), CollectScoresListener()
    net.set_listeners(saver, scores)
    net.fit(make(), epochs=epochs)
    return saver.files, scores.scores, nd.random.get_random().get_state()


def assert_goes_on(path, whole, make, scores, generator, epochs=3):
    nd.random.set_seed(1)
    again = MultiLayerNetwork.load_checkpoint(path)
    nd.rand(3)  # nobody minds who else draws in between
    listener = CollectScoresListener()
    again.set_listeners(listener)
    again.fit(make(), epochs=epochs)
    assert_same(again, whole)
    assert listener.scores == scores[len(scores) - len(listener.scores) :]
    assert nd.random.get_random().get_state() == generator


# ---- bit for bit


@pytest.mark.parametrize(
    "name", [name if name == "adam" else pytest.param(name, marks=pytest.mark.slow) for name in sorted(UPDATERS)]
)
def test_every_updater_goes_on(name, backend, tmp_path):
    whole = network(UPDATERS[name]())
    files, *known = train(whole, shuffling, tmp_path)
    assert len(files) == 3 * BATCHES + 3
    for path in (files[0], files[6], files[10]):
        assert_goes_on(path, whole, shuffling, *known)


@pytest.mark.parametrize("kind", wide_values(ITERATORS, 3))
@pytest.mark.quick_rows("asynchronous")
def test_every_step_and_epoch_can_be_gone_on_from(kind, tmp_path):
    whole = network(Adam(0.02))
    files, *known = train(whole, ITERATORS[kind], tmp_path)
    for path in files:
        assert_goes_on(path, whole, ITERATORS[kind], *known)


@pytest.mark.parametrize("updater", [Nesterovs(learning_rate=0.05), Sgd(0.1)])
def test_without_dropout(updater, tmp_path):
    whole = network(updater, drop_out=None)
    files, *known = train(whole, shuffling, tmp_path)
    for path in files[1::3]:
        assert_goes_on(path, whole, shuffling, *known)


@pytest.mark.slow
def test_several_steps_on_a_minibatch(tmp_path):
    whole = network(Adam(0.02), iterations=3, step_function="negative_gradient")
    files, *known = train(whole, shuffling, tmp_path, epochs=2)
    assert len(files) == 2 * 3 * BATCHES + 2
    for path in files:
        assert_goes_on(path, whole, shuffling, *known, epochs=2)
    conf = MultiLayerNetwork.load_checkpoint(files[0]).conf
    assert (conf.iterations, conf.step_function) == (3, "negative_gradient")


def test_one_minibatch_many_times(tmp_path):
    whole, saver = network(Adam(0.02), iterations=2), Saver(tmp_path)
    whole.set_listeners(saver)
    whole.fit(X, Y, epochs=3)
    assert len(saver.files) == 6
    for path in saver.files:
        again = MultiLayerNetwork.load_checkpoint(path)
        again.fit(X, Y, epochs=3)
        assert_same(again, whole)


def test_a_continued_run_can_be_continued(tmp_path):
    whole = network(Adam(0.02))
    files, *known = train(whole, shuffling, tmp_path)
    (tmp_path / "second").mkdir()
    again = MultiLayerNetwork.load_checkpoint(files[3])
    later, *_ = train(again, shuffling, tmp_path / "second")
    assert [path.name for path in later] == [path.name for path in files[4:]]
    for path in later:
        assert_goes_on(path, whole, shuffling, *known)


def test_saved_again_before_it_trains(tmp_path):
    whole = network(Adam(0.02))
    files, *known = train(whole, shuffling, tmp_path)
    MultiLayerNetwork.load_checkpoint(files[7]).save_checkpoint(tmp_path / "copy.zip")
    assert_goes_on(tmp_path / "copy.zip", whole, shuffling, *known)


def test_a_minibatch_that_was_cut_short_comes_again(tmp_path):
    """Ctrl-C before the step: nothing of the minibatch was learnt."""

    class CtrlC(Listener):
        def on_gradient_calculation(self, model):
            if model.iteration_count == 7:
                raise KeyboardInterrupt("ctrl-c")

    whole, part = (
        network(Nesterovs(learning_rate=0.05), drop_out=None),
        network(Nesterovs(learning_rate=0.05), drop_out=None),
    )
    whole.fit(shuffling(), epochs=3)
    part.set_listeners(CtrlC())
    with pytest.raises(KeyboardInterrupt, match="ctrl-c"):
        part.fit(shuffling(), epochs=3)
    part.save_checkpoint(tmp_path / "cut.zip")
    again = MultiLayerNetwork.load_checkpoint(tmp_path / "cut.zip")
    again.fit(shuffling(), epochs=3)
    assert_same(again, whole)


# ---- how epochs are counted


def test_between_two_calls_the_next_one_trains_all_its_epochs(tmp_path):
    whole = network(Adam(0.02))
    iterator = shuffling()
    whole.fit(iterator, epochs=1)
    whole.save_checkpoint(tmp_path / "net.zip")
    whole.fit(iterator, epochs=2)
    again = MultiLayerNetwork.load_checkpoint(tmp_path / "net.zip")
    again.fit(shuffling(), epochs=2)
    assert_same(again, whole)


@pytest.mark.parametrize(("epochs", "steps"), [(1, 4), (2, 9), (0, 0)])
def test_complete_epochs_of_the_call_count(epochs, steps, tmp_path):
    files, *_ = train(network(Sgd(0.1)), shuffling, tmp_path)
    again = MultiLayerNetwork.load_checkpoint(files[0])
    again.fit(shuffling(), epochs=epochs)
    assert again.iteration_count == 1 + steps


def test_a_call_that_was_over_has_nothing_left_and_the_one_after_it_trains(tmp_path):
    train(network(Sgd(0.1)), shuffling, tmp_path)
    again = MultiLayerNetwork.load_checkpoint(tmp_path / "epoch2.zip")
    assert (again.iteration_count, again.epoch_count) == (15, 3)
    again.fit(shuffling(), epochs=3)
    assert (again.iteration_count, again.epoch_count) == (15, 3)
    again.fit(shuffling(), epochs=1)
    assert (again.iteration_count, again.epoch_count) == (20, 4)


def test_the_epoch_in_the_file_is_complete(tmp_path):
    train(network(Sgd(0.1)), shuffling, tmp_path, epochs=1)
    assert MultiLayerNetwork.load(tmp_path / "epoch0.zip").epoch_count == 1
    assert MultiLayerNetwork.load(tmp_path / "step004.zip").epoch_count == 0


# ---- what cannot be continued


def test_an_iterator_that_cannot_say_where_it_stands(tmp_path):
    with pytest.warns(UserWarning, match=r"cannot be continued within the epoch\. Forgetful\.state: "):
        files, *_ = train(network(Sgd(0.1)), Forgetful, tmp_path)
    again = MultiLayerNetwork.load_checkpoint(files[1])
    with pytest.raises(nd.DataError, match=r"within an epoch.*Forgetful\.state: .*Define state.*nn\.load"):
        again.fit(Forgetful(), epochs=3)
    with pytest.raises(nd.DataError, match=r"within an epoch"):  # still
        again.fit(shuffling(), epochs=3)
    again = MultiLayerNetwork.load_checkpoint(tmp_path / "epoch0.zip")
    again.fit(Forgetful(), epochs=3)
    assert again.epoch_count == 3


def test_an_iterator_that_cannot_go_on(tmp_path):
    files, *_ = train(network(Sgd(0.1)), shuffling, tmp_path)
    with pytest.raises(nd.DataError, match=r"Forgetful\.restore: .*Define state\(\) and restore\(state\)"):
        MultiLayerNetwork.load_checkpoint(files[1]).fit(Forgetful(), epochs=3)


def test_a_generator_cannot_be_gone_on_from(tmp_path):
    with pytest.warns(UserWarning, match="ExistingDataSetIterator"):
        files, *_ = train(network(Sgd(0.1)), lambda: iter(list(shuffling())), tmp_path, epochs=1)
    with pytest.raises(nd.DataError, match=r"expected a list or tuple of DataSets.*got list_iterator"):
        MultiLayerNetwork.load_checkpoint(files[1]).fit(shuffling(), epochs=1)


def test_other_data(tmp_path):
    files, *_ = train(network(Sgd(0.1)), shuffling, tmp_path)
    again = MultiLayerNetwork.load_checkpoint(files[1])
    with pytest.raises(nd.DataError, match=r"ImageDataSetIterator\.restore: examples must be 10, got 22"):
        again.fit(ImageDataSetIterator(IMAGES[:10], DIGITS[:10], 5, classes=3, seed=9), epochs=3)
    with pytest.raises(nd.ConfigurationError, match=r"trained on one iterator, got one minibatch\. .*load\(path\)"):
        again.fit(X, Y)
    again.fit(shuffling(), epochs=3)


def test_a_state_that_json_cannot_hold(tmp_path):
    class Odd(ListDataSetIterator):
        def state(self):
            return {"arrays": X}

    net = network(Sgd(0.1))
    net.set_listeners(Saver(tmp_path))
    with pytest.raises(nd.DataError, match=r"save_checkpoint: the iterator's state must be numbers.*ndarray"):
        net.fit(Odd(DataSet(X, Y), 5))
    assert list(tmp_path.iterdir()) == []


# ---- the file


def test_the_file_is_java_s_and_one_entry_more(tmp_path):
    net = network(Adam(0.02), iterations=2)
    train(net, shuffling, tmp_path, epochs=1)
    with zipfile.ZipFile(tmp_path / "step003.zip") as archive:
        assert archive.namelist() == ["configuration.json", "coefficients.bin", "updaterState.bin", "ndwright.json"]
        assert {info.compress_type for info in archive.infolist()} == {zipfile.ZIP_STORED}
        document = json.loads(archive.read("ndwright.json"))
    assert (document["version"], document["iterations"], document["step_function"]) == (1, 2, None)
    assert document["progress"]["iterator"]["cursor"] == 10
    assert MultiLayerNetwork.load(tmp_path / "step003.zip").iteration_count == 4


def test_without_the_updater(tmp_path):
    net = network(Adam(0.02))
    net.fit(X, Y)
    net.save_checkpoint(tmp_path / "net.zip", save_updater=False)
    again = MultiLayerNetwork.load_checkpoint(tmp_path / "net.zip")
    assert not host(again.updater_state()).any()
    np.testing.assert_array_equal(host(again.params()), host(net.params()))


def test_a_model_without_the_entry_is_read_too(tmp_path):
    net = network(Adam(0.02))
    net.fit(X, Y)
    net.save(tmp_path / "net.zip")
    assert_same(MultiLayerNetwork.load_checkpoint(tmp_path / "net.zip"), net)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, r"must have version 1, got 2"),
        ({"progress": 3}, "progress must be an object, got 3"),
        ({"progress": {}}, "epochs must be an integer"),
        ({"random": [1]}, r"random must be two integers, .*, got \[1\]"),
        ({"random": [-1, -1]}, r"random must be two integers, 0 to 2\*\*64 - 1, got \[-1, -1\]"),
        ({"random": [1, 1 << 64]}, r"random must be two integers, .*, got \[1, 18446744073709551616\]"),
        ({"random": [1, True]}, r"random must be two integers, .*, got \[1, True\]"),
        ({"random": None}, r"random must be two integers, .*, got None"),
        ({"epochs": "many"}, "epochs must be an integer, 0 to 2147483647, got 'many'"),
        ({"epochs": -5}, "epochs must be an integer, 0 to 2147483647, got -5"),
        ({"epochs": 1e18}, "epochs must be an integer, 0 to 2147483647, got 1e\\+18"),
        ({"epochs": True}, "epochs must be an integer, 0 to 2147483647, got True"),
        ({"iteration": -1}, "iteration must be an integer, 0 to 2147483647, got -1"),
        ({"steps": -1}, "steps must be an integer, 0 to 2147483647, got -1"),
        ({"steps": 1}, "steps must be fewer than the 1 of a minibatch, got 1"),
        ({"within": 1}, "within must be true or false, got 1"),
        ({"scored": 1.0}, "scored must be null, or a finite number and a count, got 1.0"),
        ({"scored": [1.0, -1]}, r"scored must be null, or a finite number and a count, got \[1.0, -1\]"),
        ({"scored": ["1", 1]}, r"scored must be null, or a finite number and a count, got \['1', 1\]"),
        ({"fitting": "all"}, "fitting must be '', 'iterator' or 'minibatch', got 'all'"),
        ({"iterator": 5}, "iterator must be an object or null, got 5"),
        ({"iterations": 10**18}, "iterations must be an integer in 1..2147483647, got 1000000000000000000"),
        ({"iterations": 1e18}, "iterations must be an integer in 1..2147483647, got 1e\\+18"),
        ({"iterations": 0}, "iterations must be an integer in 1..2147483647, got 0"),
        ({"lbfgs_memory": True}, "lbfgs_memory must be an integer in 1..2147483647, got True"),
        ({"step_function": 5}, "step_function must be text or None, got 5"),
        ({"optimizer": "ab"}, "the optimizer's numbers must be hexadecimal, got 'ab'"),
        ({"optimizer": [1]}, r"the optimizer's numbers must be hexadecimal, got \[1\]"),
    ],
)
def test_damaged_entries(change, message, tmp_path):
    net = network(Sgd(0.1))
    net.save_checkpoint(tmp_path / "net.zip")
    with zipfile.ZipFile(tmp_path / "net.zip") as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    document = json.loads(entries["ndwright.json"])
    (document if set(change) <= set(document) else document["progress"]).update(change)
    entries["ndwright.json"] = json.dumps(document)
    with zipfile.ZipFile(tmp_path / "net.zip", "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    with pytest.raises(nd.FormatError, match=message):
        MultiLayerNetwork.load_checkpoint(tmp_path / "net.zip")


@every_row("count", [-1, 1 << 31, 1e18, 1.5, "3", None, True])
@every_row("name", ["iterationCount", "epochCount"])
def test_counts_that_are_none(name, count):
    document = json.loads(network(Sgd(0.1)).conf.to_json())
    document[name] = count
    with pytest.raises(nd.FormatError, match=r"iterationCount and epochCount must be 0 to 2147483647, got \["):
        MultiLayerConfiguration.from_json(json.dumps(document))
