"""Learning rates that are changed while a network learns: by hand, by a listener, and what files keep of them."""

import json
import zipfile

import numpy as np
import pytest

import nd
from nd.dataset import DataSet
from nn import DenseLayer, Dropout, FrozenLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from nn.files.exchange import read_array_file, write_array_file
from optimize import (
    AdaDelta,
    Adam,
    CosineSchedule,
    FixedSchedule,
    Listener,
    MapSchedule,
    Nesterovs,
    RampSchedule,
    ReduceLearningRateOnPlateau,
    Sgd,
    StepSchedule,
)
from tests.cells import every_row
from tests.stand_ins import as_input
from tests.step_plans import recorded_updates

RNG = np.random.default_rng(7)
X = RNG.normal(size=(10, 3)).astype(np.float32)
Y = np.eye(2, dtype=np.float32)[RNG.integers(0, 2, 10)]


def network(updater, *, first=None, **settings):
    conf = NeuralNetConfiguration(**{"seed": 3, "updater": updater, **settings}).list(
        DenseLayer(n_in=3, n_out=4, activation="tanh", updater=first),
        DenseLayer(n_out=3, activation="tanh"),
        OutputLayer(n_out=2, activation="softmax"),
    )
    return MultiLayerNetwork(conf).init()


def host(x):
    return np.array(nd.to_host(nd.copy(x)))


class At(Listener):
    """Does something after one iteration."""

    def __init__(self, iteration, action):
        self.iteration, self.action = iteration, action

    def iteration_done(self, model, iteration, epoch):
        if iteration == self.iteration:
            self.action(model)


@pytest.mark.parametrize("updater", [Sgd, Nesterovs, Adam])
def test_a_changed_rate_is_as_a_schedule_that_changes(backend, updater):
    """In the middle of fit, the state of the updater stays: against a MapSchedule with the same values."""
    x, y = as_input(backend, X), as_input(backend, Y)
    scheduled = network(updater(MapSchedule("iteration", {0: 0.1, 3: 0.02})))
    scheduled.fit(x, y, epochs=6)
    net = network(updater(learning_rate=0.1))
    net.set_listeners(At(2, lambda model: model.set_learning_rate(0.02)))
    net.fit(x, y, epochs=6)
    np.testing.assert_array_equal(host(net.params()), host(scheduled.params()))
    np.testing.assert_array_equal(host(net.updater_state()), host(scheduled.updater_state()))
    assert [net.get_learning_rate(layer) for layer in range(3)] == [0.02] * 3


@pytest.mark.parametrize("layer", [0, 1, 2])
def test_the_rate_of_one_layer(backend, layer):
    """Blocks of the state fall apart, and come together again: against schedules per layer."""
    x, y = as_input(backend, X), as_input(backend, Y)
    schedules = [MapSchedule("iteration", {0: 0.1, 2: 0.01 if layer == at else 0.1, 4: 0.1}) for at in range(3)]
    conf = NeuralNetConfiguration(seed=3, updater=Adam(0.1)).list(
        DenseLayer(n_in=3, n_out=4, activation="tanh", updater=Adam(schedules[0])),
        DenseLayer(n_out=3, activation="tanh", updater=Adam(schedules[1])),
        OutputLayer(n_out=2, activation="softmax", updater=Adam(schedules[2])),
    )
    expected = MultiLayerNetwork(conf).init()
    expected.fit(x, y, epochs=6)
    net, state = network(Adam(0.1)), []
    net.set_listeners(
        At(1, lambda model: model.set_learning_rate(layer, 0.01)),
        At(1, lambda model: state.append(model.updater_state())),
        At(3, lambda model: model.set_learning_rate(layer, 0.1)),
    )
    net.fit(x, y, epochs=6)
    np.testing.assert_array_equal(host(net.params()), host(expected.params()))
    assert net.updater_state() is state[0]  # views of it stay good


def test_the_state_lies_as_in_a_network_that_was_made_so():
    """Java's layout: [m of a block | v of a block | m of the next ...]."""
    net = network(Adam(0.1))
    net.fit(X, Y, epochs=2)
    before = host(net.updater_state())[0]
    n, first = net.num_params(), 16
    m, v = before[:n], before[n:]
    net.set_learning_rate(0, 0.05)
    expected = np.concatenate([m[:first], v[:first], m[first:], v[first:]])
    np.testing.assert_array_equal(host(net.updater_state())[0], expected)
    net.set_learning_rate(0.05)
    np.testing.assert_array_equal(host(net.updater_state())[0], before)


def test_a_schedule_may_be_set_and_is_saved(tmp_path):
    net = network(Adam(0.1))
    net.fit(X, Y, epochs=2)
    net.set_learning_rate(StepSchedule("iteration", 0.1, 0.5, 2))
    net.set_learning_rate({1: 0.03})
    assert [net.get_learning_rate(layer) for layer in range(3)] == [0.05, 0.03, 0.05]
    net.save(tmp_path / "m.zip")
    again = MultiLayerNetwork.load(tmp_path / "m.zip")
    for each in (net, again):
        each.fit(X, Y, epochs=3)
    np.testing.assert_array_equal(host(again.params()), host(net.params()))
    text = zipfile.ZipFile(tmp_path / "m.zip").read("configuration.json")
    updaters = [conf["layer"]["iupdater"] for conf in json.loads(text)["confs"]]
    assert updaters[1]["learningRate"] == 0.03
    assert updaters[0]["learningRateSchedule"]["@class"] == "org.nd4j.linalg.schedule.StepSchedule"


def test_history_has_the_rates():
    net = network(Sgd(0.1))
    net.set_listeners(At(1, lambda model: model.set_learning_rate(0.05)))
    assert net.fit(X, Y, epochs=4).learning_rate == [0.1, 0.05, 0.05, 0.05]


def test_weight_decay_follows_the_rate():
    nets = [network(Sgd(0.1), weight_decay=0.3, dtype="float64") for _ in range(2)]
    nets[1].set_learning_rate(0.05)
    expected = network(Sgd(0.05), weight_decay=0.3, dtype="float64")
    for each in (nets[1], expected):
        each.fit(X, Y)
    np.testing.assert_array_equal(host(nets[1].params()), host(expected.params()))


def test_recorded_updates_stay_where_the_blocks_do():
    net = network(Nesterovs(learning_rate=0.1))
    net.fit(X, Y, epochs=3)
    before = [dict(recordings._known) for recordings in net.updater.recordings]
    net.set_learning_rate(0.01)
    net.fit(X, Y, epochs=2)
    assert recorded_updates(net.updater) == [1]
    assert [recordings._known for recordings in net.updater.recordings] == before


def test_rates_that_are_not():
    net = network(Sgd(0.1), first=AdaDelta())
    assert net.get_learning_rate(0) is None
    net.set_learning_rate(0.2)  # those that have one
    assert [net.get_learning_rate(layer) for layer in range(3)] == [None, 0.2, 0.2]
    for arguments, message in (
        ((0, 0.1), r"layer 0 \(DenseLayer\) must have an updater with a learning rate, got AdaDelta"),
        ((3, 0.1), r"layer must be 0\.\.2, got 3"),
        (("fast",), "learning_rate must be a number >= 0 or a Schedule, got 'fast'"),
        ((), "expected a rate, or a layer and a rate"),
    ):
        with pytest.raises(nd.ConfigurationError, match=message):
            net.set_learning_rate(*arguments)
    with pytest.raises(nd.ConfigurationError, match=r"get_learning_rate: layer must be 0\.\.2, got -1"):
        net.get_learning_rate(-1)
    with pytest.raises(nd.ConfigurationError, match="a layer must have a learning rate, got a network without"):
        network(AdaDelta()).set_learning_rate(0.1)


def test_a_frozen_layer_has_no_rate():
    conf = NeuralNetConfiguration(seed=3, updater=Sgd(0.1)).list(
        FrozenLayer(DenseLayer(n_in=3, n_out=4)), OutputLayer(n_in=4, n_out=2, activation="softmax")
    )
    net = MultiLayerNetwork(conf).init()
    net.set_learning_rate(0.3)
    assert [net.get_learning_rate(layer) for layer in range(2)] == [None, 0.3]


# ---- schedules that Java does not have


COSINE = CosineSchedule("iteration", 0.1, 20, 0.01)


def cosine_network():
    conf = NeuralNetConfiguration(seed=3, updater=Nesterovs(COSINE, momentum=CosineSchedule("epoch", 0.9, 5))).list(
        DenseLayer(n_in=3, n_out=4, activation="tanh", drop_out=Dropout(CosineSchedule("iteration", 0.9, 8, 0.5))),
        OutputLayer(n_in=4, n_out=2, activation="softmax", l2=RampSchedule(CosineSchedule("epoch", 0.2, 9), 4)),
    )
    return MultiLayerNetwork(conf).init()


def test_java_reads_the_initial_value_and_we_the_schedule(tmp_path):
    net = cosine_network()
    net.save(tmp_path / "m.zip")
    archive = zipfile.ZipFile(tmp_path / "m.zip")
    text = archive.read("configuration.json").decode()
    assert "Cosine" not in text
    first, last = (conf["layer"] for conf in json.loads(text)["confs"])
    assert first["iupdater"]["learningRate"] == 0.1
    assert first["iupdater"]["momentum"] == 0.9
    assert "learningRateSchedule" not in first["iupdater"]
    assert "momentumISchedule" not in first["iupdater"]
    assert first["idropout"]["pschedule"] == {"@class": "org.nd4j.linalg.schedule.FixedSchedule", "value": 0.9}
    assert last["regularization"][0]["l2"]["value"] == 0.2  # what the ramp leads to
    assert set(json.loads(archive.read("ndwright.json"))["schedules"]) >= {
        "/confs/0/layer/iupdater/learningRateSchedule", "/confs/0/layer/iupdater/momentumISchedule",
    }  # fmt: skip
    assert MultiLayerNetwork.load(tmp_path / "m.zip").conf.layers == net.conf.layers


@pytest.mark.parametrize("kind", ["zip", "checkpoint", "npz"])
def test_every_kind_of_file_goes_on_with_it(tmp_path, kind):
    net = cosine_network()
    net.fit(X, Y, epochs=3)
    if kind == "zip":
        net.save(tmp_path / "m.zip")
        again = MultiLayerNetwork.load(tmp_path / "m.zip")
    elif kind == "checkpoint":
        net.save_checkpoint(tmp_path / "m.zip")
        again = MultiLayerNetwork.load_checkpoint(tmp_path / "m.zip")
    else:
        write_array_file(net, tmp_path / "m.npz")
        again = read_array_file(tmp_path / "m.npz")
    random = nd.random.get_random().get_state()
    again.fit(X, Y, epochs=3)
    nd.random.get_random().set_state(random)
    net.fit(X, Y, epochs=3)
    np.testing.assert_array_equal(host(again.params()), host(net.params()))


def test_json_alone_has_no_place_for_it():
    with pytest.raises(nd.ConfigurationError, match=r"to_json: DL4J 1\.0 has no place for .*CosineSchedule"):
        cosine_network().conf.to_json()


@pytest.mark.parametrize(
    ("schedules", "message"),
    [
        ([], "expected path -> schedule"),
        ({"/confs/7/layer": {}}, "expected a place for a schedule at '/confs/7/layer', got none"),
        ({"": {}}, "expected a place for a schedule"),
        ({"/confs/0/layer/iupdater/learningRateSchedule": {"@class": "x.Rocket"}}, "unknown class 'Rocket'"),
        ({"/confs/0/layer/iupdater/learningRateSchedule": 5}, "expected an object with '@class', got 5"),
    ],
)
def test_a_damaged_entry_is_a_typed_error(tmp_path, schedules, message):
    cosine_network().save(tmp_path / "m.zip")
    with zipfile.ZipFile(tmp_path / "m.zip") as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    own = json.loads(entries["ndwright.json"])
    entries["ndwright.json"] = json.dumps({**own, "schedules": schedules}).encode()
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    with pytest.raises(nd.NdError, match=message):
        MultiLayerNetwork.load(tmp_path / "bad.zip")


# ---- plateaus


def keras_rates(scores, rate, *, factor, patience, min_delta, min_rate, cooldown):
    """Keras' ReduceLROnPlateau, mode "min", written down from its documentation and source."""
    best, wait, cooling, rates = float("inf"), 0, 0, []
    for current in scores:
        if cooling > 0:
            cooling -= 1
            wait = 0
        if current < best - min_delta:
            best, wait = current, 0
        elif cooling <= 0:
            wait += 1
            if wait >= patience and rate > min_rate:
                rate, cooling, wait = max(rate * factor, min_rate), cooldown, 0
        rates.append(rate)
    return rates


class Told:
    """A network that is told its scores."""

    def __init__(self, scores, *updaters):
        self.scores = scores
        self.net = network(*updaters)

    def rates(self, listener, monitor="score"):
        found = []
        for at in range(1, len(self.scores) + 1):
            self.net.history = type("Scores", (), {monitor: self.scores[:at]})()
            listener.on_epoch_end(self.net)
            found.append(self.net.get_learning_rate(2))
        return found


SCORES = [5.0, 4.0, 4.0, 3.95, 4.2, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0]


@every_row("patience", [1, 2, 3])
@every_row("cooldown", [0, 1, 3])
@every_row("min_delta", [0.0, 0.1])
def test_plateaus_as_keras_sees_them(patience, cooldown, min_delta):
    settings = {"factor": 0.5, "patience": patience, "min_delta": min_delta, "cooldown": cooldown}
    listener = ReduceLearningRateOnPlateau(**settings, min_learning_rate=0.004)
    expected = keras_rates(SCORES, 0.1, **settings, min_rate=0.004)
    assert Told(SCORES, Sgd(0.1)).rates(listener) == pytest.approx(expected, rel=1e-12)
    assert len(set(expected)) > 2


@pytest.mark.parametrize("monitor", ["score", "validation_score"])
def test_a_plateau_in_fit(monitor, capsys):
    net = network(Sgd(1e-9))
    net.set_listeners(ReduceLearningRateOnPlateau(0.5, patience=2, monitor=monitor, verbose=True))
    history = net.fit(X, Y, epochs=6, batch_size=5, validation_data=(X, Y))
    assert history.learning_rate == pytest.approx([1e-9, 1e-9, 1e-9, 5e-10, 5e-10, 2.5e-10])
    assert f"{monitor} has not improved: learning rate 5e-10" in capsys.readouterr().out


def test_layers_keep_their_ratio():
    told = Told([1.0, 1.0], Sgd(0.1))
    told.net.set_learning_rate(0, 0.02)
    told.rates(ReduceLearningRateOnPlateau(0.1, patience=1))
    assert [told.net.get_learning_rate(at) for at in range(3)] == pytest.approx([0.002, 0.01, 0.01])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"factor": 1.0}, "factor must be a number > 0 and < 1, got 1.0"),
        ({"patience": 0}, "patience must be an integer >= 1, got 0"),
        ({"min_delta": -1.0}, "min_delta must be a number >= 0, got -1.0"),
        ({"monitor": "loss"}, "unknown monitor 'loss', expected one of score, validation_score"),
    ],
)
def test_settings_of_plateaus(settings, message):
    with pytest.raises(nd.NdError, match=message):
        ReduceLearningRateOnPlateau(**settings)


def test_what_a_plateau_cannot_work_on():
    listener = ReduceLearningRateOnPlateau(patience=1)
    with pytest.raises(nd.ConfigurationError, match="learning rates must be numbers, got a schedule"):
        Told([1.0, 1.0], Sgd(FixedSchedule(0.1))).rates(listener)
    net = network(Sgd(0.1))
    net.set_listeners(ReduceLearningRateOnPlateau(monitor="validation_score"))
    with pytest.raises(
        nd.ConfigurationError, match=r"validation_score must be known, got none\. Give fit validation_d"
    ):
        net.fit(X, Y, batch_size=5)


@pytest.mark.parametrize("monitor", ["score", "validation_score"])
def test_a_plateau_takes_no_score_of_another_training(monitor):
    """Early stopping and own loops have no History: what fit has left in the network is not the epoch's score."""
    net = network(Sgd(0.1))
    net.fit(X, Y, epochs=3, batch_size=5, validation_data=(X, Y))
    net.set_listeners(ReduceLearningRateOnPlateau(0.5, patience=1, monitor=monitor))
    for _ in range(2):  # the second time it knows this history
        net.fit_batch(DataSet(X, Y))
        with pytest.raises(nd.ConfigurationError, match=rf"{monitor} must be known, got none"):
            net.end_epoch()
    assert net.get_learning_rate(0) == 0.1
    net.fit(X, Y, epochs=1, batch_size=5, validation_data=(X, Y))


def test_a_layers_number_may_be_of_numpy():
    net = network(Sgd(0.1))
    net.set_learning_rate(np.int64(1), np.float32(0.5))
    net.set_learning_rate({np.int32(2): 0.25})
    assert [net.get_learning_rate(np.uint8(at)) for at in range(3)] == [0.1, 0.5, 0.25]
    for wrong in (True, np.True_, 1.0, "1", [1], None, -1, 3, np.int64(3)):
        with pytest.raises(nd.ConfigurationError, match=r"set_learning_rate: layer must be 0\.\.2, got "):
            net.set_learning_rate(wrong, 0.3)
    with pytest.raises(
        nd.ConfigurationError, match="set_learning_rate: expected a rate for a layer, got an empty dict"
    ):
        net.set_learning_rate({})


def test_rates_on_a_device(device):
    """A captured update reads the rate that is in force; another block structure is captured anew."""
    expected = network(Adam(0.1))
    with nd.use_backend(device):
        net = network(Adam(0.1))
    for each, here in ((expected, nd.backend()), (net, device)):
        with nd.use_backend(here):
            each.fit(X, Y, epochs=4)
            each.set_learning_rate(0.01)
            each.fit(X, Y, epochs=4)
            each.set_learning_rate(1, 0.05)
            each.fit(X, Y, epochs=4)
    np.testing.assert_allclose(device.to_host(net.params()), host(expected.params()), rtol=1e-4, atol=1e-6)
