"""L2 and weight decay in configurations: one of both counts."""

import pytest

import nd
from nn import DenseLayer, NeuralNetConfiguration
from optimize import L1Regularization, L2Regularization, StepSchedule, WeightDecay

BIAS = pytest.mark.parametrize("bias", [False, True])


def of(layer, bias=False, **defaults):
    """Return the penalties of a layer in a network with those defaults."""
    layer = DenseLayer(n_in=1, n_out=1, **{name + "_bias" * bias: value for name, value in layer.items()})
    base = NeuralNetConfiguration(**{name + "_bias" * bias: value for name, value in defaults.items()})
    resolved = base.list(layer).layers[0]
    assert resolved.regularization_of(bias=not bias) == ()
    return resolved.regularization_of(bias=bias)


@BIAS
def test_a_coefficient_applies_the_learning_rate_unless_it_is_said_otherwise(bias):
    schedule = StepSchedule("epoch", 0.1, 0.5, 2)
    for given, kept in [
        (0.1, WeightDecay(0.1)), ((0.1, False), WeightDecay(0.1, apply_lr=False)), (schedule, WeightDecay(schedule)),
        (WeightDecay(0.1, False), WeightDecay(0.1, False)),
    ]:  # fmt: skip
        assert of({}, bias, weight_decay=given) == of({"weight_decay": given}, bias) == (kept,)


@BIAS
def test_a_layers_own_takes_the_place_of_the_other_from_the_defaults(bias):
    l1, l2, decay = L1Regularization(0.3), L2Regularization(0.1), WeightDecay(0.2)
    assert of({"l2": 0.1}, bias, weight_decay=0.2, l1=0.3) == (l1, l2)
    assert of({"weight_decay": 0.2}, bias, l2=0.1, l1=0.3) == (l1, decay)
    assert of({"l2": 0.0}, bias, weight_decay=0.2) == (decay,)
    assert of({"weight_decay": 0.0}, bias, l2=0.1) == (l2,)
    assert of({"weight_decay": 0.0}, bias, weight_decay=0.2) == ()


@BIAS
@pytest.mark.parametrize("make", [NeuralNetConfiguration, DenseLayer])
def test_both_at_once_are_refused(make, bias):
    l2, decay = (name + "_bias" * bias for name in ("l2", "weight_decay"))
    with pytest.raises(nd.ConfigurationError, match=rf"{make.__name__}: give {l2} or {decay}, not both, got 0\.1 and"):
        make(**{l2: 0.1, decay: 0.2})
    assert getattr(make(**{l2: 0.0, decay: 0.2}), decay) == WeightDecay(0.2)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (-0.1, r"a number >= 0 or a Schedule or a WeightDecay .* got -0\.1"),
        ("0.1", r"a number >= 0 or a Schedule or a WeightDecay .* got '0\.1'"),
        ((0.1, 0.2), r"a number >= 0 or a Schedule or a WeightDecay or a tuple of 2, .* got \(0\.1, 0\.2\)"),
    ],
)
def test_what_is_no_weight_decay(value, message):
    with pytest.raises(nd.ConfigurationError, match=f"^DenseLayer: weight_decay must be {message}"):
        DenseLayer(weight_decay=value)
