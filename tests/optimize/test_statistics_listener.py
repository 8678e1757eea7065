"""Statistics of parameters, gradients, updates and activations."""

import json

import numpy as np
import pytest

import nd
from optimize import ArrayStatistics, Listener, StatisticsListener
from tests.optimize.test_listener_hooks import FEATURES, LABELS, batches, network
from tests.stand_ins import TOLERANCE


def expected(array):
    a = np.asarray(array, np.float64)
    return [a.mean(), a.std(), a.min(), a.max(), np.linalg.norm(a.ravel())]


def numbers(found):
    return [found.mean, found.std, found.min, found.max, found.norm]


def test_of_an_array(dtype):
    a = np.random.default_rng(1).normal(3.0, 2.0, (5, 7)).astype(dtype)
    np.testing.assert_allclose(numbers(ArrayStatistics.of(a)), expected(a), rtol=1e-12)
    assert numbers(ArrayStatistics.of(np.zeros((2, 2)))) == [0.0] * 5
    assert ArrayStatistics.of(np.full(4, 1e200)).norm == pytest.approx(2e200)
    assert np.isnan(numbers(ArrayStatistics.of(np.array([1.0, np.inf])))).all()
    assert np.isnan(numbers(ArrayStatistics.of(np.zeros((1, 0))))).all()


class Copies(Listener):
    """Copies of what the statistics are of."""

    def on_forward_pass(self, model, activations):
        self.activations = [np.array(nd.to_host(a)) for a in activations]

    def on_gradient_calculation(self, model):
        self.before, self.gradient = self.tables(model)

    def iteration_done(self, model, iteration, epoch):
        self.after, _ = self.tables(model)

    @staticmethod
    def tables(model):
        tables = model.param_table(), model.gradient().gradient_for_variable()
        return [{key: np.array(nd.to_host(a)) for key, a in table.items()} for table in tables]


def test_a_record_is_of_the_step(backend):
    net, listener, copies = network(), StatisticsListener(1), Copies()
    net.set_listeners(listener, copies)
    net.fit(FEATURES, LABELS)
    (record,) = listener.records
    assert (record.iteration, record.epoch, record.score) == (0, 0, net.score())
    close = TOLERANCE["float32"]
    assert list(record.parameters) == ["0_W", "0_b", "1_W", "1_b"]
    for key in record.parameters:
        update = copies.before[key] - copies.after[key]
        np.testing.assert_allclose(numbers(record.parameters[key]), expected(copies.after[key]), **close)
        np.testing.assert_allclose(numbers(record.gradients[key]), expected(copies.gradient[key]), **close)
        np.testing.assert_allclose(numbers(record.updates[key]), expected(update), rtol=1e-4, atol=1e-6)
        ratio = np.linalg.norm(update) / np.linalg.norm(copies.after[key])
        np.testing.assert_allclose(record.ratios[key], ratio, rtol=1e-4)
    for layer, found in record.activations.items():
        np.testing.assert_allclose(numbers(found), expected(copies.activations[layer + 1]), **close)
    assert sorted(record.activations) == [0, 1]


def test_records_are_kept_at_their_frequency_and_as_dicts():
    net, listener = network(), StatisticsListener(4)
    net.set_listeners(listener)
    net.fit(batches(), epochs=3)
    assert [(record.iteration, record.epoch) for record in listener.records] == [(0, 0), (4, 1), (8, 2)]
    first = json.loads(json.dumps(listener.to_dicts()))[0]
    assert first["gradients"]["0_W"]["norm"] == listener.records[0].gradients["0_W"].norm > 0.0


def test_only_the_last_are_kept():
    net, listener = network(), StatisticsListener(1, most=2)
    net.set_listeners(listener)
    net.fit(batches(), epochs=3)
    assert [record.iteration for record in listener.records] == [7, 8]


def test_other_iterations_cost_nothing(monkeypatch):
    """No array comes to the host, the score is not asked for, and the step is the fast one."""
    net, listener = network(), StatisticsListener(3)
    looked = []
    monkeypatch.setattr(ArrayStatistics, "of", lambda array: looked.append(net.iteration_count) or listener)
    monkeypatch.setattr(
        "optimize.listeners.statistics._described", lambda arrays: looked.append(net.iteration_count) or {}
    )
    shown = []
    show = net._show
    monkeypatch.setattr(net, "_show", lambda *activations: shown.append(1) or show(*activations))
    net.set_listeners(listener)
    net.fit(batches(), epochs=2)
    assert len(shown) == 2
    assert set(looked) == {0, 1, 3, 4}  # iteration_done comes after the count went up
    assert not listener.wants("on_gradient_calculation", 4)
    assert not listener.wants("on_backward_pass", 3)


def test_without_activations_no_bit_changes():
    plain, watched = network(), network()
    plain.fit(batches(), epochs=2)
    watched.set_listeners(StatisticsListener(2, activations=False))
    watched.fit(batches(), epochs=2)
    np.testing.assert_array_equal(nd.to_host(watched.params()), nd.to_host(plain.params()))
    assert watched.listeners[0].records[0].activations == {}


def test_a_step_that_another_listener_looks_into_at_other_iterations():
    net, listener = network(), StatisticsListener(2)
    net.set_listeners(listener, Copies())
    net.fit(batches(), epochs=1)
    assert [record.iteration for record in listener.records] == [0, 2]


@pytest.mark.parametrize(("settings", "name"), [({"frequency": 0}, "frequency"), ({"most": 0}, "most")])
def test_settings(settings, name):
    with pytest.raises(nd.ConfigurationError, match=f"StatisticsListener: {name} must be an integer >= 1( or None)?,"):
        StatisticsListener(**settings)
