"""Caffe's six update rules, through the updater of a network, against loops over single numbers in float64."""

import pickle

import numpy as np
import pytest

import nd
from nn.caffe import parse_text, read_solver
from nn.caffe.solving.updates import (
    PENALTIES,
    UPDATES,
    NoUpdate,
    regularizations_for,
    rule_for,
    update_of_type,
    updater_for,
)
from nn.caffe.upgrade import SOLVER_TYPES
from optimize import L1Regularization, L2Regularization, NetworkUpdater, Segment
from optimize.updaters import UPDATERS
from tests.cells import every_row
from tests.stand_ins import TOLERANCE
from tests.step_plans import replanned
from tests.updates import run_update

RATE = 'lr_policy: "step" base_lr: 0.5 gamma: 0.25 stepsize: 6'
SETTINGS = {
    "AdaDelta": "momentum: 0.75 delta: 0.0009765625",
    "AdaGrad": "delta: 0.0009765625",
    "Adam": "momentum: 0.75 momentum2: 0.875 delta: 0.0009765625",
    "Nesterov": "momentum: 0.75",
    "RMSProp": "rms_decay: 0.875 delta: 0.0009765625",
    "SGD": "momentum: 0.75",
}
DECAYS = ["", 'weight_decay: 0.125 regularization_type: "L1"', 'weight_decay: 0.125 regularization_type: "L2"']
DELTA = 2.0**-10
STEPS = 20
PARTS = [(0, 5, 1.0, 1.0), (5, 8, 2.0, 0.0), (8, 12, 0.0, 1.0), (12, 17, 1.0, 2.0), (17, 20, 1.0, 1.0)]
"""Start, stop, lr_mult, decay_mult."""
RNG = np.random.default_rng(11)
START, GRADIENTS = RNG.normal(size=20), RNG.normal(size=(STEPS, 20))


def solver(kind, more=""):
    return parse_text(f'type: "{kind}" {RATE} {SETTINGS[kind]} {more}', "SolverParameter")


# ---- what one number becomes: Caffe's formulas, with the numbers of SETTINGS


def adadelta(g, r, t, h, d, e=DELTA):
    h = 0.75 * h + 0.25 * g * g
    v = g * ((d + e) / (h + e)) ** 0.5
    return r * v, h, 0.75 * d + 0.25 * v * v


def adagrad(g, r, t, h, d, e=DELTA):
    return r * g / ((h + g * g) ** 0.5 + e), h + g * g, d


def adam(g, r, t, h, d, e=DELTA):
    h, d = h + 0.25 * (g - h), d + 0.125 * (g * g - d)
    return r * (1 - 0.875**t) ** 0.5 / (1 - 0.75**t) * h / (d**0.5 + e), h, d


def nesterov(g, r, t, h, d):
    after = 0.75 * h + r * g
    return 1.75 * after - 0.75 * h, after, d


def rmsprop(g, r, t, h, d, e=DELTA):
    h = 0.875 * h + 0.125 * g * g
    return r * g / (h**0.5 + e), h, d


def sgd(g, r, t, h, d):
    h = 0.75 * h + r * g
    return h, h, d


RULES = {
    "AdaDelta": adadelta, "AdaGrad": adagrad, "Adam": adam, "Nesterov": nesterov, "RMSProp": rmsprop, "SGD": sgd,
}  # fmt: skip


def by_hand(kind, decay, w, lr_mult, decay_mult, gradients, divisor):
    """Return a number, and its two histories, after one gradient after the other."""
    h = d = 0.0
    wd = 0.125 * decay_mult if decay else 0.0
    for i, g in enumerate(gradients):
        g = g / divisor + wd * (np.sign(w) if "L1" in decay else w)
        rate = (0.5, 0.125, 0.03125, 0.0078125)[i // 6] * lr_mult
        update, h, d = RULES[kind](g, rate, i + 1, h, d)
        w -= update
    return w, h, d


def expected(kind, decay, divisor=1):
    """Return parameters ``[20]`` and states of the parts, by hand; a part that stays has none."""
    params, states = [], []
    for start, stop, lr_mult, decay_mult in PARTS:
        rows = [
            by_hand(kind, decay, START[at], lr_mult, decay_mult, GRADIENTS[:, at], divisor) for at in range(start, stop)
        ]
        params += [row[0] for row in rows]
        states.append([[row[1 + number] for row in rows] for number in range(2)])
    return np.array(params), states


def trained(message, dtype, divisor=None):
    params, gradient = nd.create(START[None], dtype), nd.zeros(1, 20, dtype=dtype)
    updater = NetworkUpdater([Segment(*part[:2], *rule_for(message, *part[2:])) for part in PARTS], params, gradient)
    for iteration, row in enumerate(GRADIENTS):
        nd.assign(gradient, nd.create(row[None], dtype))
        assert run_update(updater, divisor, iteration, 0).taken
    return np.array(nd.to_host(params))[0], updater


def test_the_tables_are_sorted_and_complete():
    assert list(UPDATES) == sorted(UPDATES, key=str.lower) == sorted(SOLVER_TYPES, key=str.lower)
    assert sorted(SETTINGS) == sorted(RULES) == sorted(SOLVER_TYPES)
    assert list(PENALTIES) == ["L1", "L2"]
    for kind in UPDATES.values():
        assert kind not in UPDATERS.values()


@pytest.mark.parametrize("decay", DECAYS)
@pytest.mark.parametrize("kind", sorted(SETTINGS))
@pytest.mark.numpy_first
def test_twenty_steps(backend, dtype, kind, decay):
    params, updater = trained(solver(kind, decay), dtype)
    wanted, states = expected(kind, decay)
    loose = {name: 20 * value for name, value in TOLERANCE[dtype].items()}  # of twenty steps
    np.testing.assert_allclose(params, wanted, **loose)
    np.testing.assert_array_equal(params[8:12], START[8:12].astype(dtype))
    for (start, stop, lr_mult, _), state in zip(PARTS, states, strict=True):
        got = updater.states_of(start, stop)
        assert len(got) == (0 if lr_mult == 0.0 else len(UPDATES[kind].state_names))
        for one, numbers in zip(got, state, strict=False):
            np.testing.assert_allclose(nd.to_host(one), numbers, **loose)


@pytest.mark.parametrize("kind", sorted(SETTINGS))
def test_recorded_eager_and_in_chunks(kind, monkeypatch):
    """Updates run from recordings, and give the same bits as written out, and in chunks."""
    backend, message = nd.backend(), solver(kind, DECAYS[2])
    recorded, updater = trained(message, "float32", divisor=4)
    assert sum(map(len, updater.recordings)) == 1
    np.testing.assert_allclose(recorded, expected(kind, DECAYS[2], 4)[0], rtol=4e-4, atol=4e-5)
    with nd.eager():
        written, updater = trained(message, "float32", divisor=4)
    assert sum(map(len, updater.recordings)) == 0
    np.testing.assert_array_equal(written, recorded)
    monkeypatch.setattr(backend, "plan_update", replanned(backend, chunk=3))
    np.testing.assert_array_equal(trained(message, "float32", divisor=4)[0], recorded)


def test_parameters_alike_share_a_block():
    _, updater = trained(solver("SGD", DECAYS[2]), "float32")
    assert [type(one).__name__ for one in updater.updaters] == ["SgdUpdate", "SgdUpdate", "NoUpdate", "SgdUpdate"]
    assert [one.learning_rate.lr_mult for one in (updater.updaters[number] for number in (0, 1, 3))] == [1.0, 2.0, 1.0]
    assert updater.learning_rate_at(7, 0) == 0.125


def test_a_lower_rate_takes_effect_slowly_in_sgd():
    """The rate is within the velocity: with a rate of 0 from now on, half of the last step is still taken."""
    message = parse_text(
        'type: "SGD" momentum: 0.5 base_lr: 1 lr_policy: "multistep" gamma: 0 stepvalue: 1', "SolverParameter"
    )
    params, gradient = nd.zeros(1, 1), nd.ones(1, 1)
    updater = NetworkUpdater([Segment(0, 1, *rule_for(message))], params, gradient)
    seen = []
    for iteration in range(3):
        nd.fill(gradient, 1.0)
        run_update(updater, None, iteration, 0)
        seen.append(nd.item(params))
    assert seen == [-1.0, -1.5, -1.75]


def test_adam_without_a_momentum():
    """Beta1 is 0 then: the first step has the length of the rate."""
    message = parse_text('type: "Adam" base_lr: 0.25 lr_policy: "fixed" delta: 0', "SolverParameter")
    params, gradient = nd.zeros(1, 2), nd.create([[3.0, -0.001]])
    run_update(NetworkUpdater([Segment(0, 2, *rule_for(message))], params, gradient), None, 0, 0)
    np.testing.assert_allclose(nd.to_host(params), [[-0.25, 0.25]], rtol=1e-6)


def test_a_rate_of_0_changes_nothing_in_adam():
    """Where optimize's Adam, like ND4J's, would take epsilon in its place."""
    message = parse_text('type: "Adam" base_lr: 0 lr_policy: "fixed"', "SolverParameter")
    assert updater_for(message).coefficients(3, 0) == (0.0,)


def test_updaters_are_values():
    for kind in SETTINGS:
        one, same = updater_for(solver(kind), 2.0), updater_for(solver(kind), 2.0)
        assert one == same == pickle.loads(pickle.dumps(one))
        assert hash(one) == hash(same)
        assert one != updater_for(solver(kind), 1.0)
        assert type(one) is update_of_type(kind)
        assert updater_for(solver(kind), 0.0) == NoUpdate()
        assert one.gain(one.coefficients(0, 0)) >= 1.0


def test_penalties():
    assert regularizations_for(solver("SGD")) == ()
    assert regularizations_for(solver("SGD", DECAYS[1])) == (L1Regularization(0.125),)
    assert regularizations_for(solver("SGD", "weight_decay: 0.5"), 0.5) == (L2Regularization(0.25),)
    assert regularizations_for(solver("SGD", DECAYS[2]), 0.0) == ()
    unknown = solver("SGD", 'weight_decay: 1 regularization_type: "l2"')
    assert regularizations_for(unknown, 0.0) == ()
    with pytest.raises(nd.ChoiceError, match=r"unknown regularization_type 'l2', expected one of L1, L2"):
        regularizations_for(unknown)
    with pytest.raises(nd.ArgumentError, match=r"coefficient must be a number >= 0 or a Schedule, got -1"):
        regularizations_for(solver("SGD", "weight_decay: 1"), -1.0)


@every_row(
    ("text", "said"),
    [
        ('type: "AdaGrad" momentum: 0.9', r"momentum must be 0 with type 'AdaGrad', which has none, got 0\.9"),
        ('type: "RMSProp" momentum: 0.9', r"momentum must be 0 with type 'RMSProp', which has none, got 0\.9"),
        ('type: "RMSProp" rms_decay: 1', r"rms_decay must be in \[0, 1\) with type 'RMSProp', got 1"),
        ('type: "RMSProp" rms_decay: -0.5', r"rms_decay must be in \[0, 1\) with type 'RMSProp', got -0\.5"),
        ('type: "AdaDelta" momentum: 1', r"momentum must be in \[0, 1\) with type 'AdaDelta', got 1"),
        ('type: "Adam" momentum: 1', r"momentum must be in \[0, 1\) with type 'Adam', got 1"),
        ('type: "Adam" momentum2: 1.5', r"momentum2 must be in \[0, 1\) with type 'Adam', got 1\.5"),
        ('type: "Adam" delta: -1', r"epsilon must be a number >= 0, got -1"),
        ('type: "Adams"', r"unknown type 'Adams', expected one of AdaDelta, .*Did you mean 'Adam'\?"),
    ],
)
def test_settings_that_a_rule_refuses(text, said):
    for lr_mult in (0.0, 1.0):
        with pytest.raises((nd.ConfigurationError, nd.ChoiceError), match=said):
            updater_for(parse_text(f'{text} lr_policy: "fixed" base_lr: 1', "SolverParameter"), lr_mult)


def test_messages_of_another_kind():
    net = parse_text("name: 'x'", "NetParameter")
    with pytest.raises(nd.DTypeError, match=r"updater_for: expected a message nn\.caffe\.proto\.SolverParameter"):
        updater_for(net)
    with pytest.raises(nd.DTypeError, match=r"regularizations_for: expected a message nn\.caffe\.proto\.Solver"):
        regularizations_for(net)


def test_the_solvers_of_caffes_examples(caffe_reference):
    """All of them make an updater, with their own momentum and rate; decays are those of their files."""
    paths = sorted(caffe_reference.rglob("*solver*.prototxt"))
    assert len(paths) >= 15
    kinds = set()
    for path in paths:
        message = read_solver(path)
        updater = updater_for(message)
        kinds.add(type(updater))
        assert type(updater) is UPDATES[message.type]
        assert updater.learning_rate_at(0, 0) == message.base_lr
        assert [penalty.coefficient for penalty in regularizations_for(message)] == [message.weight_decay] * (
            message.weight_decay != 0
        )
    assert len(kinds) >= 4
