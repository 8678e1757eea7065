"""The history of a solver, in the order of Caffe's files."""

import numpy as np
import pytest

import nd
from nn.caffe import SavedState, parse_text, read_state, write_state
from nn.caffe.solving.history import Place, history_of, restore_history
from nn.caffe.solving.updates import UPDATES, rule_for
from optimize import NetworkUpdater, Segment
from tests.cells import every_row
from tests.updates import run_update

PLACES = [Place(0, 6, (2, 3)), (6, 8, (2,)), Place(8, 8, (0, 4)), Place(8, 9, ()), Place(9, 13, (1, 4))]
MULTIPLIERS = [1.0, 2.0, 1.0, 0.0, 1.0]
MOMENTA = {"AdaDelta": "momentum: 0.5", "Adam": "momentum: 0.5", "Nesterov": "momentum: 0.5", "SGD": "momentum: 0.5"}
GRADIENTS = np.random.default_rng(5).normal(size=(3, 13))
KINDS = sorted(UPDATES)


def updater_of(kind, dtype="float32", multipliers=tuple(MULTIPLIERS)):
    message = parse_text(f'type: "{kind}" lr_policy: "fixed" base_lr: 0.5 {MOMENTA.get(kind, "")}', "SolverParameter")
    segments = [Segment(*place[:2], *rule_for(message, mult)) for place, mult in zip(PLACES, multipliers, strict=True)]
    return NetworkUpdater(segments, nd.ones(1, 13, dtype=dtype), nd.zeros(1, 13, dtype=dtype))


def run(updater, gradients, first=0):
    for number, row in enumerate(gradients, first):
        nd.assign(updater.gradient, nd.create(row))
        run_update(updater, None, number, 0)
    return updater


def on_host(history):
    return [np.array(nd.to_host(array)) for array in history]


@every_row("kind", KINDS)
def test_the_order_is_caffes(backend, kind):
    """All first states, then all second ones, in the shapes of the parameters, and zeros where nothing is updated."""
    history = on_host(history_of(run(updater_of(kind), GRADIENTS[:1]), PLACES, kind))
    kinds = len(UPDATES[kind].state_names)
    assert kinds == (2 if kind in ("AdaDelta", "Adam") else 1)
    assert [array.shape for array in history] == [tuple(place[2]) for place in PLACES] * kinds
    g = GRADIENTS[0].astype("float32")
    first = {"AdaGrad": g**2, "RMSProp": (1 - np.float32(0.99)) * g**2, "AdaDelta": 0.5 * g**2, "Adam": 0.5 * g}
    for (start, stop, shape), mult, got in zip(PLACES, MULTIPLIERS, history, strict=False):
        wanted = first.get(kind, 0.5 * mult * g) * (mult != 0)
        np.testing.assert_allclose(got, wanted[start:stop].reshape(shape), rtol=1e-5)
    if kind == "Adam":
        np.testing.assert_allclose(history[5].ravel(), (1 - np.float32(0.999)) * g[:6] ** 2, rtol=1e-4)


@every_row("kind", KINDS)
@every_row("name", ["s.solverstate", "s.solverstate.h5"])
def test_training_goes_on_from_a_file(kind, name, tmp_path):
    whole = run(updater_of(kind), GRADIENTS)
    half = run(updater_of(kind), GRADIENTS[:2])
    write_state(SavedState(2, "w", 0, history_of(half, PLACES, kind)), tmp_path / name)
    resumed = updater_of(kind)
    nd.assign(resumed.params, half.params)
    restore_history(resumed, PLACES, kind, read_state(tmp_path / name).history, name)
    run(resumed, GRADIENTS[2:], first=2)
    np.testing.assert_array_equal(nd.to_host(resumed.params), nd.to_host(whole.params))
    np.testing.assert_array_equal(nd.to_host(resumed.state), nd.to_host(whole.state))


def test_what_is_returned_is_a_copy():
    updater = run(updater_of("SGD"), GRADIENTS[:1])
    history = on_host(history_of(updater, PLACES, "SGD"))
    kept = history_of(updater, PLACES, "SGD")
    run(updater, GRADIENTS[1:], first=1)
    for one, other in zip(on_host(kept), history, strict=True):
        np.testing.assert_array_equal(one, other)


def test_where_nothing_is_updated_at_all():
    updater = updater_of("Adam", multipliers=[0.0] * 5)
    history = history_of(updater, PLACES, "Adam")
    assert [float(array.sum()) for array in on_host(history)] == [0.0] * 10
    restore_history(updater, PLACES, "Adam", history)


def test_other_shapes_and_types_of_numbers(backend, dtype):
    """Old files have four axes; a file may have float64."""
    updater = updater_of("SGD", dtype)
    history = [np.arange(6.0).reshape(1, 1, 2, 3), np.ones((1, 1, 1, 2)), np.zeros((0,)), np.ones(1), np.ones((4, 1))]
    restore_history(updater, PLACES, "SGD", history)
    np.testing.assert_array_equal(nd.to_host(updater.states_of(0, 6)[0]), np.arange(6))
    assert nd.dtype_name(history_of(updater, PLACES, "SGD")[0]) == dtype


@every_row(
    ("kind", "history", "said"),
    [
        ("SGD", [np.zeros(1)] * 4, r"a\.solverstate: the history must be 1 x 5 = 5 arrays, .* 'SGD', got 4\. Is it"),
        ("Adam", [np.zeros(1)] * 5, r"a\.solverstate: the history must be 2 x 5 = 10 arrays, .* 'Adam', got 5\. Is"),
        (
            "SGD",
            [np.ones((2, 3)), np.zeros((3, 1)), np.zeros(0), np.zeros(1), np.zeros(4)],
            r"a\.solverstate: history\[1\] must be \[2\], as parameter 1, got \[3, 1\]\. Is it",
        ),
    ],
)
def test_a_history_of_another_net(kind, history, said):
    updater = updater_of(kind)
    with pytest.raises(nd.FormatError, match=said):
        restore_history(updater, PLACES, kind, history, "a.solverstate")
    assert float(np.abs(nd.to_host(updater.state)).sum()) == 0.0
