"""What layers of Keras say of their parameters' training: initialisers, regularisers, constraints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from optimize import L1Regularization, L2Regularization
from optimize.schedules import Schedule

from ..terms import constraints, initialisers, regularisers
from .draft import Config
from .node import Node

MATRIX = (0, 1)
"""Axes of a kernel ``[n_in, n_out]`` in ours."""


def of_params(
    node: Node, kernel: str = "kernel", bias: str = "bias", axes: Sequence[int] = MATRIX, W: str = "W"
) -> Config:
    """Return the settings of a kernel, and of a bias where there is one.

    Parameters
    ----------
    node : Node
    kernel, bias : str
        Keras' names; ``""`` where the class has none.
    axes : sequence of int
        For every axis of Keras' kernel its place in our parameter.
    W : str
        Our name of the kernel.
    """
    conf = node.conf
    config: Config = {}
    if getattr(conf, "weight_noise", None) is not None:
        node.lose(f"its weight noise, a {type(conf.weight_noise).__name__}")
    if kernel:
        init = getattr(conf, "weight_init", None)
        config[f"{kernel}_initializer"] = initialisers.keras_of("xavier" if init is None else init)
        config[f"{kernel}_regularizer"] = _regularizer(node, False)
        config[f"{kernel}_constraint"] = _constraint(node, W, axes)
    if bias and "b" in node.params:
        start = float(getattr(conf, "bias_init", None) or 0.0)
        config[f"{bias}_initializer"] = initialisers.keras_of("zero") if not start else _constant(start)
        config[f"{bias}_regularizer"] = _regularizer(node, True)
        config[f"{bias}_constraint"] = _constraint(node, "b", (1,))
    return config


def _constant(value: float) -> Config:
    return {
        "module": "keras.initializers", "class_name": "Constant", "config": {"value": value}, "registered_name": None,
    }  # fmt: skip


def _regularizer(node: Node, of_bias: bool) -> Config | None:
    """Return Keras' regulariser of weights or of biases; penalties that it has not are noted as lost."""
    regularization_of = getattr(node.conf, "regularization_of", None)
    numbers = {"l1": 0.0, "l2": 0.0}
    for one in () if regularization_of is None else regularization_of(of_bias):
        name = {L1Regularization: "l1", L2Regularization: "l2"}.get(type(one))
        coefficient: Any = one.coefficient
        if name is None or isinstance(coefficient, Schedule):
            node.lose(f"{one!r}")
        else:
            numbers[name] += float(coefficient)
    return regularisers.keras_of(numbers["l1"], numbers["l2"])


def _constraint(node: Node, param: str, axes: Sequence[int]) -> Config | None:
    """Return Keras' constraint of a parameter; what it cannot say is noted as lost."""
    own = [one for one in getattr(node.conf, "constraints", None) or () if param in (one.params or ())]
    said = None
    for one in own:
        dimensions = getattr(one, "dimensions", None) or ()
        fits = said is None and all(place in axes for place in dimensions)
        found = constraints.keras_of(one, axes) if fits else None
        if found is None:
            node.lose(f"{one!r}")
        said = said or found
    return said
