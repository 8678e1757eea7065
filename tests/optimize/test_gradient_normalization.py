"""Gradient normalisation: by hand, and its place between the division and the penalties."""

import numpy as np
import pytest

import nd
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import L2Regularization, NetworkUpdater, NoOp, Segment, Sgd
from optimize.gradient_normalization import GRADIENT_NORMALIZATIONS, NormalizedLayer, check_gradient_normalization
from optimize.step import negative_gradient_step
from tests.cells import every_row
from tests.stand_ins import TOLERANCE
from tests.updates import run_update

# Norms of the parameters 0..2 and 2..4: 5 and 12; of the layer: 13. The last two elements are not the layer's.
GRADIENT = [3.0, -4.0, 0.0, 12.0, 100.0, -100.0]
BY_HAND = {  # name -> threshold -> the layer's gradient
    "none": {0.5: [3.0, -4.0, 0.0, 12.0]},
    "renormalize_l2_per_layer": {0.5: [3 / 13, -4 / 13, 0.0, 12 / 13]},
    "renormalize_l2_per_param_type": {0.5: [0.6, -0.8, 0.0, 1.0]},
    "clip_element_wise_absolute_value": {3.5: [3.0, -3.5, 0.0, 3.5], 12.0: [3.0, -4.0, 0.0, 12.0]},
    "clip_l2_per_layer": {6.5: [1.5, -2.0, 0.0, 6.0], 13.0: [3.0, -4.0, 0.0, 12.0], 14.0: [3.0, -4.0, 0.0, 12.0]},
    "clip_l2_per_param_type": {6.0: [3.0, -4.0, 0.0, 6.0], 2.5: [1.5, -2.0, 0.0, 2.5], 12.0: [3.0, -4.0, 0.0, 12.0]},
}
ROWS = [(name, threshold, expected) for name, rows in BY_HAND.items() for threshold, expected in rows.items()]


def test_every_normalization_has_a_case():
    assert BY_HAND.keys() == GRADIENT_NORMALIZATIONS.keys()
    assert list(GRADIENT_NORMALIZATIONS) == sorted(GRADIENT_NORMALIZATIONS)


@every_row(("name", "threshold", "expected"), ROWS)
def test_by_hand(backend, dtype, name, threshold, expected):
    gradient = nd.create(GRADIENT, dtype)
    NormalizedLayer(name, threshold, (0, 2, 4)).apply(gradient)
    np.testing.assert_allclose(nd.to_host(gradient), [*expected, 100.0, -100.0], **TOLERANCE[dtype])
    assert nd.dtype_name(gradient) == dtype


@pytest.mark.parametrize("name", BY_HAND)
def test_nothing_becomes_of_nothing(backend, dtype, name):
    gradient = nd.zeros(4, dtype=dtype)
    NormalizedLayer(name, 1.0, (0, 2, 4)).apply(gradient)
    np.testing.assert_array_equal(nd.to_host(gradient), np.zeros(4))


@pytest.mark.parametrize("name", ["clip_l2_per_layer", "clip_l2_per_param_type", "clip_element_wise_absolute_value"])
def test_what_is_within_the_threshold_stays_to_the_bit(backend, dtype, name):
    gradient = nd.create(np.random.default_rng(3).normal(size=40), dtype)
    before = np.array(nd.to_host(gradient))
    NormalizedLayer(name, 100.0, (0, 13, 40)).apply(gradient)
    np.testing.assert_array_equal(nd.to_host(gradient), before)


LAYERS = (
    NormalizedLayer("clip_l2_per_layer", 6.5, (0, 2, 4)),
    NormalizedLayer("renormalize_l2_per_layer", 1.0, (4, 6)),
)
BOUNDED = np.array([1.5, -2.0, 0.0, 6.0, np.sqrt(0.5), -np.sqrt(0.5)])
WEIGHTS = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])


def after(normalized, batch_size, gradient, others=(), dtype="float64"):
    """Return the update of NoOp with L2."""
    params, vector = nd.create(WEIGHTS[None], dtype), nd.create(np.array([gradient]), dtype)
    updater = NetworkUpdater([Segment(0, 6, NoOp(), (L2Regularization(0.5),))], params, vector, normalized)
    more = [nd.create(np.array(other), dtype) for other in others]
    run_update(updater, batch_size, 0, 0, negative_gradient_step, more)
    np.testing.assert_allclose(nd.to_host(params)[0], WEIGHTS - nd.to_host(vector)[0], **TOLERANCE[dtype])
    return nd.to_host(vector)[0]


def test_after_the_division_and_before_the_penalties(backend, dtype):
    found = after(LAYERS, 2, 2 * np.array(GRADIENT), dtype=dtype)
    np.testing.assert_allclose(found, BOUNDED + 0.5 * WEIGHTS, **TOLERANCE[dtype])


def test_without_division_on_the_sum(backend):
    np.testing.assert_allclose(after(LAYERS, None, GRADIENT), BOUNDED + 0.5 * WEIGHTS, **TOLERANCE["float64"])


def test_a_gradient_in_parts_is_added_up_first(backend):
    parts = [np.full(6, 7.0), np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])]
    found = after(LAYERS, 2, 2 * np.array(GRADIENT) - sum(parts), parts)
    np.testing.assert_allclose(found, BOUNDED + 0.5 * WEIGHTS, **TOLERANCE["float64"])


def test_no_value_goes_to_the_host(monkeypatch):
    def refuse(*_):
        raise RuntimeError("a value was asked for")

    for name in ("item", "to_host"):
        monkeypatch.setattr(nd.backend(), name, refuse)
    for name, rows in BY_HAND.items():
        NormalizedLayer(name, next(iter(rows)), (0, 2, 4)).apply(nd.create(GRADIENT, "float64"))


def test_without_it_there_is_one_pass_only(monkeypatch):
    """Names that say none make no pass either."""
    monkeypatch.delattr(NetworkUpdater, "_normalize")
    for name in ("none", None):
        layer = DenseLayer(n_in=2, n_out=3, gradient_normalization=name)
        net = MultiLayerNetwork(NeuralNetConfiguration(seed=1).list(layer, OutputLayer(n_out=2))).init()
        net.fit(np.ones((4, 2)), np.eye(2)[[0, 1, 1, 0]])
    assert net.updater._normalized == ()


def test_a_layer_takes_the_networks_and_its_own_wins():
    """Dense: W [2, 3] and b [3] are 0..6..9; output: W [3, 2] and b [2] are 9..15..17."""
    conf = NeuralNetConfiguration(
        seed=1, gradient_normalization="clip_l2_per_layer", gradient_normalization_threshold=0.5
    ).list(
        DenseLayer(n_in=2, n_out=3),
        OutputLayer(n_out=2, gradient_normalization="renormalize_l2_per_param_type"),
    )
    assert MultiLayerNetwork(conf).init().updater._normalized == (
        NormalizedLayer("clip_l2_per_layer", 0.5, (0, 6, 9)),
        NormalizedLayer("renormalize_l2_per_param_type", 0.5, (9, 15, 17)),
    )


@pytest.mark.parametrize("name", sorted(set(BY_HAND) - {"none"}))
def test_a_step_of_a_network(backend, name):
    """The mean gradient of a step, normalised by NumPy, is what Sgd(1) subtracts."""
    data = np.random.default_rng(5).normal(size=(6, 2)), np.eye(2)[[0, 1, 1, 0, 0, 1]]
    settings = {"gradient_normalization": name, "gradient_normalization_threshold": 0.05}
    conf = NeuralNetConfiguration(seed=1, dtype="float64", updater=Sgd(1.0), **settings).list(
        DenseLayer(n_in=2, n_out=3), OutputLayer(n_out=2, activation="softmax")
    )
    net = MultiLayerNetwork(conf).init()
    before = np.array(nd.to_host(net.params()))[0]
    net.set_input(data[0])
    net.set_labels(data[1])
    net.compute_gradient_and_score()
    expected = np.array(nd.to_host(net.flattened_gradients()))[0] / 6
    per_layer = "per_layer" in name
    for part in np.split(expected, [9] if per_layer else [6, 9, 15]):
        norm = np.linalg.norm(part)
        if name.startswith("renormalize"):
            part /= norm
        elif "l2" in name:
            part *= min(1.0, 0.05 / norm)
        else:
            part[:] = part.clip(-0.05, 0.05)
    net.fit(*data)
    np.testing.assert_allclose(before - nd.to_host(net.params())[0], expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("make", [NeuralNetConfiguration, DenseLayer])
def test_what_is_refused(make):
    who = make.__name__
    with pytest.raises(nd.ChoiceError, match=rf"{who}: unknown gradient normalisation 'clip'.*clip_l2_per_layer"):
        make(gradient_normalization="clip")
    with pytest.raises(nd.ConfigurationError, match=rf"{who}: gradient_normalization_threshold must be .* got '1'"):
        make(gradient_normalization_threshold="1")
    for name in ("clip_l2_per_layer", "clip_l2_per_param_type", "clip_element_wise_absolute_value"):
        for threshold in (0.0, -1.0):
            with pytest.raises(
                nd.ConfigurationError, match=rf"{who}: .*'{name}' needs .*threshold > 0, got {threshold}"
            ):
                make(gradient_normalization=name, gradient_normalization_threshold=threshold)
    assert check_gradient_normalization("who", "renormalize_l2_per_layer", 0.0) == "renormalize_l2_per_layer"
