"""PyTorch's optimizers for our updaters. Importing this imports PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from networks import Network

Optimizer = Callable[..., torch.optim.Optimizer]


def optimizer_of(net: Network, model: torch.nn.Module, **options: bool) -> torch.optim.Optimizer:
    """Return PyTorch's updater, with L2 on weights alone; of the same arithmetic unless `CLOSEST` names it."""
    trained = [each for each in model.parameters() if each.requires_grad]
    weights = [each for each in trained if each.ndim > 1]
    others = [each for each in trained if each.ndim == 1]
    groups = [{"params": weights, "weight_decay": net.conf.base.l2 or 0.0}, {"params": others}]
    updater = net.conf.base.updater
    return MAKERS[type(updater).__name__](groups, updater, **options)


def _rate(updater: Any) -> float:
    return float(updater.at(updater.learning_rate, 0, 0))


def _of_moments(make: Optimizer, **fixed: bool) -> Callable[..., torch.optim.Optimizer]:
    """Return how an optimizer is made that has Adam's settings."""

    def optimizer(groups: Any, updater: Any, **options: bool) -> torch.optim.Optimizer:
        return make(groups, _rate(updater), (updater.beta1, updater.beta2), updater.epsilon, **fixed, **options)

    return optimizer


def _adagrad(groups: Any, updater: Any, **options: bool) -> torch.optim.Optimizer:
    (start,) = updater.initial_state
    return torch.optim.Adagrad(groups, _rate(updater), initial_accumulator_value=start, eps=updater.epsilon, **options)


def _nesterovs(groups: Any, updater: Any, **options: bool) -> torch.optim.Optimizer:
    return torch.optim.SGD(groups, _rate(updater), momentum=updater.momentum, nesterov=True, **options)


MAKERS: dict[str, Callable[..., torch.optim.Optimizer]] = {
    "AMSGrad": _of_moments(torch.optim.Adam, amsgrad=True),
    "AdaBelief": _of_moments(torch.optim.Adam),
    "AdaDelta": lambda groups, of, **options: torch.optim.Adadelta(groups, 1.0, of.rho, of.epsilon, **options),
    "AdaGrad": _adagrad,
    "AdaMax": _of_moments(torch.optim.Adamax),
    "Adam": _of_moments(torch.optim.Adam),
    "Nadam": _of_moments(torch.optim.NAdam),
    "Nesterovs": _nesterovs,
    "RmsProp": lambda groups, of, **options: torch.optim.RMSprop(
        groups, _rate(of), of.rms_decay, of.epsilon, **options
    ),
    "Sgd": lambda groups, of, **options: torch.optim.SGD(groups, _rate(of), **options),
}
"""Updater -> PyTorch's, sorted."""
