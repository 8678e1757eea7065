"""Parameters that are not trained but follow the minibatches: their way is subtracted, come what may."""

import numpy as np
import pytest

import nd
from optimize import Adam, L2Regularization, NetworkUpdater, NoOp, Segment, Sgd
from optimize.gradient_normalization import NormalizedLayer
from optimize.step import STEP_FUNCTIONS
from tests.stand_ins import TOLERANCE
from tests.updates import run_update

PARAMS = np.array([1.0, -2.0, 3.0, -4.0, 5.0, -6.0])
GRADIENT = np.array([8.0, 4.0, 2.0, -4.0, -8.0, 16.0])
MIXED = [
    Segment(0, 1, Sgd(0.5), (L2Regularization(2.0),)),
    Segment(1, 3, NoOp(), running=True, divided=False),
    Segment(3, 4, NoOp(), running=True),
    Segment(4, 5, NoOp()),
    Segment(5, 6, Sgd(0.25)),
]


def make(segments, dtype="float64", normalized=()):
    params, gradient = nd.create(PARAMS[None], dtype), nd.create(GRADIENT[None], dtype)
    return NetworkUpdater(segments, params, gradient, normalized), params, gradient


@pytest.mark.parametrize(("step", "sign"), [("negative_gradient", -1), ("gradient", 1), ("default", 1)])
def test_the_way_is_subtracted_whatever_the_step_function_and_divided_where_it_says_so(step, sign, backend, dtype):
    updater, params, gradient = make(MIXED, dtype)
    expected = PARAMS.copy()
    for _ in range(3):  # recorded the first time, replayed later
        nd.assign(gradient, nd.create(GRADIENT[None], dtype))
        run_update(updater, 4, 0, 0, STEP_FUNCTIONS[step])
        ways = np.array([0.5 * (2.0 + 2.0 * expected[0]), 4.0, 2.0, -1.0, -2.0, 1.0])
        expected += ways * np.array([sign, -1, -1, -1, sign, sign])
        np.testing.assert_allclose(nd.to_host(params)[0], expected, **TOLERANCE[dtype])


def test_what_other_workers_add_belongs_to_the_way(backend):
    updater, params, _ = make(MIXED)
    other = nd.create(np.ones(6), "float64")
    run_update(updater, 2, 0, 0, STEP_FUNCTIONS["negative_gradient"], [other])
    np.testing.assert_allclose(nd.to_host(params)[0][1:4], PARAMS[1:4] - [5.0, 3.0, -1.5], **TOLERANCE["float64"])


def test_gradient_normalisation_includes_the_way_after_the_division(backend):
    layer = NormalizedLayer("clip_l2_per_layer", 1.0, (0, 1, 3, 4))
    updater, params, _ = make(MIXED, normalized=[layer])
    run_update(updater, 4, 0, 0, STEP_FUNCTIONS["negative_gradient"])
    norm = np.sqrt(2.0**2 + 4.0**2 + 2.0**2 + 1.0)
    ways = np.array([0.5 * (2.0 / norm + 2.0 * 1.0), 4.0 / norm, 2.0 / norm, -1.0 / norm, -2.0, 1.0])
    np.testing.assert_allclose(nd.to_host(params)[0], PARAMS - ways, **TOLERANCE["float64"])


def test_the_state_has_no_place_for_them():
    segments = [Segment(0, 2, Adam()), Segment(2, 4, NoOp(), running=True, divided=False), Segment(4, 6, Adam())]
    updater, _, gradient = make(segments)
    assert tuple(updater.state.shape) == (1, 8)  # m m v v of the first block, and of the last
    run_update(updater, None, 0, 0, STEP_FUNCTIONS["negative_gradient"])
    state = nd.to_host(updater.state)[0]
    np.testing.assert_allclose(state[:4], [0.8, 0.4, 0.064, 0.016], rtol=1e-12)
    np.testing.assert_allclose(state[4:], [-0.8, 1.6, 0.064, 0.256], rtol=1e-12)
    np.testing.assert_array_equal(nd.to_host(gradient)[0][2:4], GRADIENT[2:4])


def test_they_are_no_part_of_the_objective_and_move_once(backend):
    updater, params, _ = make(MIXED)
    found = nd.to_host(updater.objective_gradient(4, 0, 0))
    np.testing.assert_allclose(found, [2.0 + 2.0, 0.0, 0.0, 0.0, -2.0, 4.0], **TOLERANCE["float64"])
    assert updater.running.is_finite()
    for _ in range(2):
        updater.running.move()
        np.testing.assert_allclose(
            nd.to_host(params)[0], PARAMS - [0.0, 4.0, 2.0, -1.0, 0.0, 0.0], **TOLERANCE["float64"]
        )


def test_a_way_that_is_not_finite_is_found():
    updater, _, gradient = make(MIXED)
    gradient[0, 2] = float("inf")
    updater.objective_gradient(1, 0, 0)
    assert not updater.running.is_finite()
