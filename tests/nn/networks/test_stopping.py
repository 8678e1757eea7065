"""stop_training in every hook: what is heard, what is counted, and how later calls go on."""

import numpy as np
import pytest

import nd
from nd.dataset import DataSet, ListDataSetIterator, NumpyDataSetIterator
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import Adam, Listener
from tests.cells import every_row

RNG = np.random.default_rng(6)
X = RNG.normal(size=(12, 3)).astype(np.float32)
Y = np.eye(2, dtype=np.float32)[RNG.integers(0, 2, 12)]


def network():
    conf = NeuralNetConfiguration(seed=3, updater=Adam(0.05)).list(
        DenseLayer(n_in=3, n_out=4, activation="tanh", drop_out=0.8), OutputLayer(n_out=2, activation="softmax")
    )
    return MultiLayerNetwork(conf).init()


def host(x):
    return np.array(nd.to_host(nd.copy(x)))


class Stopper(Listener):
    """Stops in one hook, at one iteration or epoch; writes down what it hears."""

    def __init__(self, hook, at=0):
        self.hook, self.at, self.heard = hook, at, []

    def _hear(self, hook, model, at):
        self.heard.append(hook)
        if (hook, at) == (self.hook, self.at):
            model.stop_training(reason="enough")

    def on_epoch_start(self, model):
        self._hear("start", model, model.epoch_count)

    def on_epoch_end(self, model):
        self._hear("end", model, model.epoch_count)

    def on_gradient_calculation(self, model):
        self._hear("gradient", model, model.iteration_count)

    def on_forward_pass(self, model, activations):
        self._hear("forward", model, model.iteration_count)

    def on_backward_pass(self, model):
        self._hear("backward", model, model.iteration_count)

    def iteration_done(self, model, iteration, epoch):
        self._hear("done", model, iteration)

    def on_fit_end(self, model):
        self._hear("fit end", model, None)

    def close(self):
        self.heard.append("close")


@every_row(
    ("hook", "at", "steps", "epochs"),
    [
        ("start", 0, 0, 0),
        ("start", 1, 3, 1),
        ("forward", 1, 2, 0),
        ("backward", 3, 4, 1),
        ("gradient", 0, 1, 0),
        ("done", 1, 2, 0),
        ("done", 2, 3, 1),  # the epoch's last minibatch: it is complete
        ("done", 8, 9, 3),
        ("end", 0, 3, 1),
    ],
)
def test_fit_ends_after_the_minibatch(hook, at, steps, epochs):
    net, stopper = network(), Stopper(hook, at)
    net.set_listeners(stopper)
    history = net.fit(X, Y, epochs=3, batch_size=4)
    assert (net.iteration_count, net.epoch_count) == (steps, epochs)
    assert (stopper.heard.count("done"), stopper.heard.count("end")) == (steps, epochs)
    assert stopper.heard[-2:] == ["fit end", "close"]
    assert (history.stopped, len(history)) == ("enough", epochs)
    assert "stopped: enough" in repr(history)


def test_one_minibatch_stops_too():
    net = network()
    net.set_listeners(Stopper("done", 2))
    assert net.fit(X, Y, epochs=10).stopped == "enough"
    assert net.iteration_count == 3


def test_a_later_fit_is_a_new_call():
    net = network()
    net.set_listeners(Stopper("done", 1))
    net.fit(X, Y, epochs=3, batch_size=4)
    history = net.fit(X, Y, epochs=2, batch_size=4)
    assert (history.stopped, history.epochs) == (None, [0, 1])
    assert (net.iteration_count, net.epoch_count) == (2 + 6, 2)


@pytest.mark.parametrize("shuffle", [True, False])
def test_an_iterator_stands_behind_the_last_minibatch_also_where_it_was_read_ahead(shuffle):
    def columns(iterator):
        return [batch.features[:, 0].tolist() for batch in iterator]

    iterator = NumpyDataSetIterator(X, Y, 2, shuffle=shuffle, seed=4)
    expected = columns(NumpyDataSetIterator(X, Y, 2, shuffle=shuffle, seed=4))
    net = network()
    net.set_listeners(Stopper("done", 1))
    net.fit(iterator, epochs=3)
    assert columns(iterator) == expected[2:]


def test_a_stopped_network_goes_on_from_its_checkpoint_as_it_would_itself(tmp_path):
    def data():
        return ListDataSetIterator(DataSet(X, Y), batch=4)

    net, iterator = network(), data()
    net.set_listeners(Stopper("done", 1))
    net.fit(iterator, epochs=3)
    net.save_checkpoint(tmp_path / "c.zip")
    again = MultiLayerNetwork.load_checkpoint(tmp_path / "c.zip")
    net.set_listeners()
    random = nd.random.get_random().get_state()
    net.fit(iterator, epochs=2)
    nd.random.get_random().set_state(random)
    again.fit(data(), epochs=2)
    assert net.iteration_count == again.iteration_count == 2 + 1 + 3
    np.testing.assert_array_equal(host(again.params()), host(net.params()))


@pytest.mark.parametrize("every", [1, 2, 3, 4])
def test_the_history_of_an_epoch_that_was_continued_is_that_of_all_its_minibatches(tmp_path, every):
    class Keep(Listener):
        def iteration_done(self, model, iteration, epoch):
            if (iteration + 1) % every == 0:
                model.save_checkpoint(tmp_path / f"{iteration}.zip")

    expected = network().fit(X, Y, epochs=3, batch_size=4).score
    net = network()
    net.set_listeners(Keep())
    assert net.fit(X, Y, epochs=3, batch_size=4).score == expected
    for path in tmp_path.iterdir():
        again = MultiLayerNetwork.load_checkpoint(path)
        again.save_checkpoint(path)  # before it goes on
        again = MultiLayerNetwork.load_checkpoint(path)
        history = again.fit(X, Y, epochs=3, batch_size=4)
        assert history.epochs == [0, 1, 2]
        assert history.score == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("at", ["validation", "on_epoch_end"])
def test_an_epoch_that_was_cut_short_at_its_end_has_its_score_when_it_is_continued(tmp_path, at):
    class CutShort(Listener):
        def on_epoch_end(self, model):
            if model.epoch_count == 1:
                raise KeyboardInterrupt

    def validation():
        yield DataSet(X, Y)
        if at == "validation":
            raise KeyboardInterrupt

    expected = network().fit(X, Y, epochs=3, batch_size=4).score
    net = network()
    net.set_listeners(CutShort())
    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        net.fit(X, Y, epochs=3, batch_size=4, validation_data=validation() if at == "validation" else None)
    net.save_checkpoint(tmp_path / "c.zip")
    again = MultiLayerNetwork.load_checkpoint(tmp_path / "c.zip")
    history = again.fit(X, Y, epochs=3, batch_size=4)
    assert history.score == pytest.approx(expected[history.epochs[0] :], rel=1e-6)


def test_outside_of_fit_there_is_nothing_to_stop():
    with pytest.raises(nd.ConfigurationError, match="stop_training: must be called while fit runs"):
        network().stop_training("now")
