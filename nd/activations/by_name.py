"""Activations by their names."""

from __future__ import annotations

from backends.errors import check_choice

from . import ACTIVATIONS
from .base import Activation


def get_activation(value: str | Activation) -> Activation:
    """Return `value` if it is an activation, else the activation of that name, in any case.

    Raises
    ------
    ChoiceError
        No activation has that name.

    Examples
    --------
    >>> get_activation("RELU")
    ReLU(max=None, threshold=None, negative_slope=None)
    """
    if isinstance(value, Activation):
        return value
    name = value.lower() if isinstance(value, str) else value
    return ACTIVATIONS[check_choice("get_activation", "activation", name, ACTIVATIONS)]()
