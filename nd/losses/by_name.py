"""Losses by their names."""

from __future__ import annotations

from dataclasses import MISSING, fields

from backends.errors import ConfigurationError, check_choice

from . import LOSSES
from .base import Loss


def get_loss(value: str | Loss) -> Loss:
    """Return `value` if it is a loss, else the loss of that name, in any case.

    Raises
    ------
    ChoiceError
        No loss has that name.
    ConfigurationError
        The loss has parameters without defaults, so that its name is not enough.

    Examples
    --------
    >>> get_loss("MCXENT")
    LossMCXENT(weights=None, softmax_clip_eps=1e-10)
    """
    if isinstance(value, Loss):
        return value
    name = value.lower() if isinstance(value, str) else value
    chosen = LOSSES[check_choice("get_loss", "loss", name, LOSSES)]
    if needed := [field.name for field in fields(chosen) if field.init and field.default is MISSING]:
        raise ConfigurationError(
            f"get_loss: the loss must be given with its parameters, got {value!r}. "
            f"Pass {chosen.__name__}({', '.join(f'{name}=...' for name in needed)})."
        )
    return chosen()
