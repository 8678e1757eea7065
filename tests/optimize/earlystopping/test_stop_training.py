"""A listener that calls stop_training ends early stopping, and loops of one's own."""

import pytest

import nd
from nd.dataset import DataSet, ListDataSetIterator
from optimize import Listener, ReduceLearningRateOnPlateau
from optimize.earlystopping import EarlyStoppingTrainer, TerminationReason
from tests.optimize.earlystopping.test_with_networks import X, Y, conf_of, network


class Stops(Listener):
    """Calls stop_training in one hook, at one step."""

    def __init__(self, hook, steps):
        self.steps, self.heard = steps, []
        setattr(self, hook, self._stop)

    def _stop(self, model, *numbers):
        if model.iteration_count == self.steps:
            model.stop_training("enough")

    def on_fit_end(self, model):
        self.heard.append("fit end")


@pytest.mark.parametrize(
    ("hook", "steps", "epochs", "trained", "evaluated"),
    [
        ("iteration_done", 4, 1, 4, 1),  # within the second epoch of three steps
        ("iteration_done", 3, 1, 3, 0),  # with the last step of the first one
        ("on_epoch_end", 3, 1, 3, 1),
        ("on_epoch_start", 3, 1, 3, 1),
    ],
)
def test_stop_training_of_a_listener_ends_early_stopping(hook, steps, epochs, trained, evaluated):
    net, listener = network(), Stops(hook, steps)
    net.set_listeners(listener)
    result = EarlyStoppingTrainer(conf_of(), net, ListDataSetIterator(DataSet(X, Y), 4)).fit()
    assert result.error is None
    assert result.termination_reason is TerminationReason.ITERATION_TERMINATION
    assert result.termination_details == "stop_training('enough')"
    assert (net.iteration_count, net.epoch_count, len(result.score_vs_epoch)) == (trained, epochs, evaluated)
    assert listener.heard == ["fit end"]
    with pytest.raises(nd.ConfigurationError, match="stop_training: must be called while fit runs"):
        net.stop_training("later")


def test_a_loop_of_ones_own_can_be_stopped():
    net = network()
    net.set_listeners(Stops("iteration_done", 2))
    with net.stoppable() as stop_reason:
        while stop_reason() is None:
            net.fit_batch(DataSet(X, Y))
    assert (stop_reason(), net.iteration_count) == ("enough", 2)
    result = EarlyStoppingTrainer(conf_of(), net, ListDataSetIterator(DataSet(X, Y), 4)).fit()
    assert result.termination_reason is TerminationReason.EPOCH_TERMINATION


def stop_early(net):
    EarlyStoppingTrainer(conf_of(), net, ListDataSetIterator(DataSet(X, Y), 4)).fit()


def loop(net):
    for _ in range(2):
        net.fit_batch(DataSet(X, Y))
        net.end_epoch()


def test_scores_of_an_earlier_fit_are_no_plateau():
    """The score gets better in each of these epochs; the history that is there is of other ones."""
    net = network()
    net.fit(X, Y, epochs=2, batch_size=5)
    net.set_listeners(ReduceLearningRateOnPlateau(patience=1))
    rate = net.get_learning_rate(0)
    with pytest.raises(nd.ConfigurationError, match=r"score must be known, got none\. Train with fit"):
        loop(net)
    assert net.get_learning_rate(0) == rate
