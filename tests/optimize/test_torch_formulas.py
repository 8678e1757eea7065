"""Trajectories beside PyTorch's: which formulas agree within 1e-6, and why the others do not.

`FORMULAS` are the algorithms of the documentation of torch.optim (2.x), written down here in float64; where PyTorch is
installed they are compared with it too. `AGREE` and `DIFFER` are the list; every updater is in one of them or has no
counterpart.
"""

import importlib.util
from math import sqrt

import numpy as np
import pytest

import nd
from optimize import (
    AdaBelief,
    AdaDelta,
    AdaGrad,
    Adam,
    AdaMax,
    AMSGrad,
    MapSchedule,
    Nadam,
    Nesterovs,
    NetworkUpdater,
    RmsProp,
    Segment,
    Sgd,
    WeightDecay,
)
from optimize.step import negative_gradient_step
from optimize.updaters import UPDATERS
from tests.cases.updaters import CASES
from tests.cells import every_row
from tests.updates import run_update

LATER = 6  # the first step, from 1 on, with another rate where there is a schedule
STEPS, CLOSE = 50, 1e-6  # largest difference of any parameter in any step
START = np.array([2.0, -1.5, 0.5, 3.0])
CURVATURE = np.array([1.0, 3.0, 0.2, 10.0])


def slope(x):
    """Gradient of sum(c x^2 / 2 + cos x); far from 0 in most steps."""
    return CURVATURE * x - np.sin(x)


def adadelta(lr, rho, eps):
    v, u = np.zeros(4), np.zeros(4)
    while True:
        x, g, _ = yield
        v = v * rho + g**2 * (1 - rho)
        delta = np.sqrt(u + eps) / np.sqrt(v + eps) * g
        u = u * rho + delta**2 * (1 - rho)
        x -= lr * delta


def adagrad(lr, eps, initial_accumulator_value=0.0):
    total = np.full(4, initial_accumulator_value)
    while True:
        x, g, _ = yield
        total += g**2
        x -= lr * g / (np.sqrt(total) + eps)


def adam(lr, betas, eps, amsgrad=False, weight_decay=None):
    """With `weight_decay` it is AdamW."""
    m, v, largest = np.zeros(4), np.zeros(4), np.zeros(4)
    while True:
        x, g, t = yield
        x -= lr * (weight_decay or 0.0) * x
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        largest = np.maximum(largest, v)
        used = (largest if amsgrad else v) / (1 - betas[1] ** t)
        x -= lr * m / (1 - betas[0] ** t) / (np.sqrt(used) + eps)


def adamax(lr, betas, eps):
    m, u = np.zeros(4), np.zeros(4)
    while True:
        x, g, t = yield
        m = betas[0] * m + (1 - betas[0]) * g
        u = np.maximum(betas[1] * u, abs(g) + eps)
        x -= lr * m / ((1 - betas[0] ** t) * u)


def nadam(lr, betas, eps, momentum_decay):
    m, v, product = np.zeros(4), np.zeros(4), 1.0
    while True:
        x, g, t = yield
        mu, after = (betas[0] * (1 - 0.5 * 0.96 ** (step * momentum_decay)) for step in (t, t + 1))
        product *= mu
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        ahead = after * m / (1 - product * after) + (1 - mu) * g / (1 - product)
        x -= lr * ahead / (np.sqrt(v / (1 - betas[1] ** t)) + eps)


def rmsprop(lr, alpha, eps):
    v = np.zeros(4)
    while True:
        x, g, _ = yield
        v = alpha * v + (1 - alpha) * g**2
        x -= lr * g / (np.sqrt(v) + eps)


def sgd(lr, momentum=0.0, nesterov=False, later=None):
    """The rate `later` is that of a scheduler, from the step number `LATER` on."""
    b = np.zeros(4)
    while True:
        x, g, t = yield
        b = momentum * b + g
        x -= (later if later and t >= LATER else lr) * (g + momentum * b if nesterov else b)


def adabelief(lr, betas, eps):
    """Not in PyTorch: Zhuang et al.'s algorithm 2, as their adabelief_pytorch has it."""
    m, s = np.zeros(4), np.zeros(4)
    while True:
        x, g, t = yield
        m = betas[0] * m + (1 - betas[0]) * g
        s = betas[1] * s + (1 - betas[1]) * (g - m) ** 2 + eps
        x -= lr * m / (1 - betas[0] ** t) / (np.sqrt(s / (1 - betas[1] ** t)) + eps)


FORMULAS = {  # of torch.optim, with their class
    "Adadelta": adadelta, "Adagrad": adagrad, "Adam": adam, "AdamW": adam, "Adamax": adamax, "NAdam": nadam,
    "RMSprop": rmsprop, "SGD": sgd,
}  # fmt: skip
BETAS = {"betas": (0.9, 0.999)}
AGREE = {  # ours, PyTorch's class, its arguments
    "adadelta": (AdaDelta(0.9, 1e-6), "Adadelta", {"lr": 1.0, "rho": 0.9, "eps": 1e-6}),
    "adagrad": (AdaGrad(0.1, 1e-6), "Adagrad", {"lr": 0.1, "eps": 1e-6, "initial_accumulator_value": 1e-6}),
    "adam": (Adam(0.05, epsilon=1e-8), "Adam", {"lr": 0.05, "eps": 1e-8, **BETAS}),
    "adam, weight decay": (
        Adam(0.05, epsilon=1e-8), "AdamW", {"lr": 0.05, "eps": 1e-8, "weight_decay": 0.1, **BETAS},
    ),
    "adamax": (AdaMax(0.05), "Adamax", {"lr": 0.05, "eps": 1e-8, **BETAS}),
    "amsgrad": (AMSGrad(0.05, epsilon=1e-8), "Adam", {"lr": 0.05, "eps": 1e-8, "amsgrad": True, **BETAS}),
    "nesterovs": (Nesterovs(0.05, 0.9), "SGD", {"lr": 0.05, "momentum": 0.9, "nesterov": True}),
    "rmsprop": (RmsProp(0.01, 0.9, 1e-8), "RMSprop", {"lr": 0.01, "alpha": 0.9, "eps": 1e-8}),
    "sgd": (Sgd(0.05), "SGD", {"lr": 0.05}),
}  # fmt: skip
DIFFER = {  # the same arguments, and why that is not enough
    "adam, epsilon not small": (
        Adam(0.05, epsilon=0.1), "Adam", {"lr": 0.05, "eps": 0.1, **BETAS},
        "epsilon is added before the correction of v: PyTorch's would be epsilon / sqrt(1 - beta2^t)",
    ),
    "adagrad, started at 0": (
        AdaGrad(1.0, 1e-6), "Adagrad", {"lr": 1.0, "eps": 1e-6},
        "H starts at 1e-6; PyTorch's accumulator starts at 0 unless it is told",
    ),
    "adamax, epsilon not small": (
        AdaMax(0.05, epsilon=0.1), "Adamax", {"lr": 0.05, "eps": 0.1, **BETAS},
        "PyTorch adds epsilon to |g|, ND4J 1e-32 to u",
    ),
    "nadam": (
        Nadam(0.05), "NAdam", {"lr": 0.05, "eps": 1e-8, "momentum_decay": 0.004, **BETAS},
        "v is not corrected and momentum has no schedule of its own; even momentum_decay = 0 halves beta1",
    ),
    "nesterovs, scheduled rate": (
        Nesterovs(MapSchedule("iteration", {0: 0.05, LATER - 1: 0.01}), 0.9), "SGD",
        {"lr": 0.05, "momentum": 0.9, "nesterov": True, "later": 0.01},
        "the rate is inside of V, so that a new rate leaves the momentum that there is; PyTorch's scales all of it",
    ),
    "rmsprop, epsilon not small": (
        RmsProp(0.01, 0.9, 0.1), "RMSprop", {"lr": 0.01, "alpha": 0.9, "eps": 0.1},
        "G starts at epsilon; PyTorch's square_avg starts at 0",
    ),
}  # fmt: skip


def ours(updater, penalties=()):
    """Return the parameters after each step, ``[STEPS, 4]``."""
    params, gradient = nd.create(START[None], "float64"), nd.zeros(1, 4, dtype="float64")
    network_updater = NetworkUpdater([Segment(0, 4, updater, penalties)], params, gradient)
    rows = []
    for t in range(STEPS):
        nd.assign(gradient, nd.create(slope(nd.to_host(params))))
        run_update(network_updater, None, t, 0, negative_gradient_step)
        rows.append(np.array(nd.to_host(params))[0])
    return np.stack(rows)


def theirs(formula, arguments):
    """The same of a formula."""
    x, rows = START.copy(), []
    run = formula(**arguments)
    next(run)
    for t in range(1, STEPS + 1):
        run.send((x, slope(x), t))
        rows.append(x.copy())
    return np.stack(rows)


def penalties_of(arguments):
    return (WeightDecay(arguments["weight_decay"]),) if "weight_decay" in arguments else ()


def test_every_updater_is_in_the_list():
    """Those that PyTorch has not say so in their rows."""
    assert {name.split(",")[0] for name in (*AGREE, *DIFFER)} == {name for name in UPDATERS if CASES[name].in_pytorch}


@every_row("name", AGREE)
def test_formulas_that_agree(name):
    updater, theirs_name, arguments = AGREE[name]
    found, expected = ours(updater, penalties_of(arguments)), theirs(FORMULAS[theirs_name], arguments)
    assert np.max(abs(found - expected)) < CLOSE
    assert np.max(abs(expected[-1] - START)) > 0.1


@pytest.mark.parametrize("name", DIFFER)
def test_formulas_that_do_not(name):
    updater, theirs_name, arguments, why = DIFFER[name]
    assert np.max(abs(ours(updater) - theirs(FORMULAS[theirs_name], arguments))) > CLOSE
    assert why


def test_adabelief_agrees_with_its_authors():
    found = ours(AdaBelief(0.05))
    expected = theirs(adabelief, {"lr": 0.05, "eps": 1e-14, "betas": (0.9, 0.999)})
    assert np.max(abs(found - expected)) < CLOSE


def test_a_larger_epsilon_of_adams_is_pytorchs_times_the_correction():
    """In the first step: update = lr / (1 + epsilon / (|g| sqrt(1 - beta2)))."""
    g = abs(slope(START))
    found = abs(ours(Adam(0.05, epsilon=0.1))[0] - START)
    np.testing.assert_allclose(found, 0.05 / (1 + 0.1 / (g * sqrt(0.001))), rtol=1e-12)


if importlib.util.find_spec("torch") is not None:

    @pytest.mark.parametrize("name", [*AGREE, *DIFFER])
    def test_the_formulas_are_those_of_pytorch(name):
        import torch

        _, theirs_name, arguments = (AGREE.get(name) or DIFFER[name])[:3]
        x = torch.tensor(START, requires_grad=True)
        given = {key: value for key, value in arguments.items() if key != "later"}
        optimizer = getattr(torch.optim, theirs_name)([x], **given)
        for t, expected in enumerate(theirs(FORMULAS[theirs_name], arguments), 1):
            if "later" in arguments and t == LATER:
                optimizer.param_groups[0]["lr"] = arguments["later"]
            x.grad = torch.tensor(slope(x.detach().numpy()))
            optimizer.step()
            np.testing.assert_allclose(x.detach().numpy(), expected, rtol=1e-7, atol=1e-12)
