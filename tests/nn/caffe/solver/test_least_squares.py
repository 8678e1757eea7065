"""Least squares with Caffe's six solvers, against their formulas in NumPy.

Source of the cases: BVLC Caffe, test_gradient_based_solver.cpp.
"""

import numpy as np
import pytest

import nd
from nn.caffe.solver import get_solver
from tests.cases.caffe_solvers import (
    HDF5,
    LINEAR,
    SETTINGS,
    SHARED,
    Oracle,
    least_squares,
    linear_gradient,
    minibatches,
    values,
)
from tests.cells import every_row

KINDS = sorted(SETTINGS)
EXACT = {"float64": 1e-12, "float32": 1e-5}
"""Relative to the largest element."""
CASES = {
    "clip": {"clip_gradients": 0.1},
    "decay": {"weight_decay": 0.5},
    "everything": {"weight_decay": 0.5, "clip_gradients": 0.5, "iter_size": 2},
    "iter_size": {"iter_size": 2},
    "l1": {"weight_decay": 0.5, "regularization_type": "'L1'"},
    "plain": {},
}


def close(mine, theirs, dtype):
    for one, other in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=EXACT[dtype] * np.abs(other).max())


def compared(text, steps=10, dtype="float64", folder="", **mults):
    """Assert that a solver and the formulas go the same way, at every step; return the solver."""
    solver = get_solver(text, dtype=dtype, folder=folder)
    size = solver.param.iter_size
    batches = minibatches(text, steps * size, dtype, folder)
    oracle = Oracle(solver.param, values(solver.net), **mults)
    for number in range(steps):
        own = batches[number * size : (number + 1) * size]
        oracle.step([linear_gradient(oracle.params, *batch) for batch in own])
        solver.step(1)
        close(values(solver.net), oracle.params, dtype)
    assert solver.iter == steps
    return solver


@every_row("kind", KINDS)
@every_row("case", CASES)
def test_a_solver_updates_as_its_formulas_say(kind, case):
    compared(least_squares(kind, **CASES[case]))


@every_row("kind", KINDS)
def test_in_single_precision(kind):
    compared(least_squares(kind, **CASES["everything"]), dtype="float32")


@every_row("momentum", ["0", "0.5", "0.9"])
@every_row("kind", ["AdaDelta", "Adam", "Nesterov", "SGD"])
def test_momentum(kind, momentum):
    compared(least_squares(settings=f'type: "{kind}" base_lr: 0.05 momentum: {momentum} delta: 1e-3'))


@every_row("kind", KINDS)
def test_multipliers_of_parameters(kind):
    """Also those of 0: nothing becomes of a parameter whose rate is 0, whatever its decay; none decays by 0."""
    param = "param { lr_mult: 2 decay_mult: 0.5 } param { lr_mult: 3 decay_mult: 0 }"
    compared(least_squares(kind, param=param, weight_decay=0.5), lr_mults=[2.0, 3.0], decay_mults=[0.5, 0.0])
    param = "param { lr_mult: 0 } param { lr_mult: 1 }"
    text = least_squares(kind, param=param, weight_decay=0.5)
    solver = get_solver(text, dtype="float64")
    before = values(solver.net)
    solver.step(5)
    np.testing.assert_array_equal(values(solver.net)[0], before[0])
    assert (values(solver.net)[1] != before[1]).all()


@every_row("kind", KINDS)
def test_parameters_that_two_layers_share(kind):
    """Both add to one gradient; the net is that without sharing, on the halves of a minibatch."""
    text = least_squares(kind, layers=SHARED, weight_decay=0.5, clip_gradients=0.5)
    solver = compared(text)
    mine, theirs = (solver.net.params[name] for name in ("ip", "again"))
    for one, other in zip(mine, theirs, strict=True):
        np.testing.assert_array_equal(one.data, other.data)
    assert len(solver.net.learnable_params) == 2


@every_row("kind", KINDS)
def test_two_minibatches_are_as_one_of_both(kind):
    """A net of iter_size 2 and one of twice the batch: MemoryData has the same numbers for both."""
    rng = np.random.default_rng(3)
    data, targets = rng.normal(size=(24, 3, 4, 5)), rng.normal(size=24)
    memory = """layer { name: "data" type: "MemoryData" top: "data" top: "targets" memory_data_param {
      batch_size: %d channels: 3 height: 4 width: 5 } }
    layer { name: "column" type: "Reshape" bottom: "targets" top: "column"
      reshape_param { shape { dim: 0 dim: 1 } } }"""
    layers = LINEAR.replace('"targets"', '"column"')
    found = []
    for batch, size in ((8, 1), (4, 2)):
        text = least_squares(kind, batch, memory, layers, outputs=1, iter_size=size, weight_decay=0.5)
        solver = get_solver(text, dtype="float64")
        solver.net.data_layers[0].reset(data, targets)
        solver.step(7)
        found.append(values(solver.net))
    close(*found, "float64")


def test_the_norm_that_is_clipped_is_that_of_the_sum():
    """Caffe clips before it divides by iter_size: the first update is clip / iter_size long."""
    settings = 'type: "SGD" base_lr: 1'
    for size in (1, 2, 4):
        text = least_squares(settings=settings, clip_gradients=0.25, iter_size=size, lr_policy="'fixed'")
        solver = get_solver(text, dtype="float64")
        before = values(solver.net)
        solver.step(1)
        length = np.sqrt(sum(((a - b) ** 2).sum() for a, b in zip(before, values(solver.net), strict=True)))
        np.testing.assert_allclose(length, 0.25 / size, rtol=1e-12)


def test_force_backward_lets_parameters_that_stay_into_the_norm():
    text = least_squares(settings='type: "SGD" base_lr: 1', param="param { lr_mult: 0 }", clip_gradients=0.25)
    moved = {}
    for force in ("false", "true"):
        solver = get_solver(text.replace('name: "small"', f'name: "small" force_backward: {force}'), dtype="float64")
        before = values(solver.net)
        data, targets = (np.array(array) for array in minibatches(text, 1)[0])
        weights, bias = linear_gradient(before, data, targets)
        solver.step(1)
        moved[force] = before[1] - values(solver.net)[1]
        norm = np.sqrt((bias**2).sum() + (weights**2).sum() * (force == "true"))
        np.testing.assert_allclose(moved[force], bias * 0.25 / norm, rtol=1e-6)
        np.testing.assert_array_equal(values(solver.net)[0], before[0])
    assert (np.abs(moved["true"]) < np.abs(moved["false"])).all()


def test_a_gradient_within_the_bound_stays():
    plain, clipped = (get_solver(least_squares("SGD", clip_gradients=clip), dtype="float64") for clip in ("-1", "1e6"))
    for solver in (plain, clipped):
        solver.step(3)
    for one, other in zip(values(plain.net), values(clipped.net), strict=True):
        np.testing.assert_array_equal(one, other)


@every_row("kind", KINDS)
@every_row("case", CASES)
def test_caffes_own_data(kind, case, caffe_reference, tmp_path):
    """solver_data.h5, which Caffe's tests train on, with its tolerance of 1 % and far below it."""
    (tmp_path / "list.txt").write_text(str(caffe_reference / "test_data" / "solver_data.h5"))
    text = least_squares(kind, 4, HDF5, outputs=1, **CASES[case])
    compared(text, steps=5, folder=str(tmp_path))


def test_settings_that_cannot_be():
    for text, match in (
        (least_squares("AdaGrad", momentum=0.9), "momentum must be 0 with type 'AdaGrad'"),
        (least_squares("SGD", iter_size=0), "iter_size must be >= 1, got 0"),
        (least_squares("SGD", weight_decay=0.5, regularization_type="'L3'"), "unknown regularization_type 'L3'"),
        (least_squares(settings='type: "Sgd" base_lr: 1'), "unknown type 'Sgd'"),
        (least_squares("SGD", lr_policy="'often'"), "unknown learning rate policy 'often'"),
    ):
        with pytest.raises((nd.ConfigurationError, nd.ChoiceError), match=match):
            get_solver(text)
