"""Penalties of Keras and ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .malformed import or_none

_NAMES = {"l1": ("l1",), "l2": ("l2",), "l1l2": ("l1", "l2"), "l1_l2": ("l1", "l2"), "weightregularizer": ("l1", "l2")}
"""Name in small letters -> the coefficients that it has; the last is that of Keras 1."""


@or_none
def penalties_of(given: Any, suffix: str = "") -> dict[str, float] | None:
    """Return the settings of a layer that say a regulariser of Keras; None where none do.

    Parameters
    ----------
    given : str, mapping or None
        ``{"class_name": "L2", "config": {"l2": 0.01}}``; none gives no settings.
    suffix : str
        ``"_bias"`` for that of biases.

    Returns
    -------
    dict of str -> float, or None
        ``{"l1": 0.01, "l2": 0.02}``, without those that are 0. None where it is another one, such as the orthogonal
        one of matrices.

    Notes
    -----
    Keras' L2 is l2 Σ w², ours 0.5 l2 Σ w²: the number here is twice Keras'. Source: Keras, keras.regularizers;
    KerasRegularizerUtils. Differs: Java takes Keras' number as it is.

    Examples
    --------
    >>> penalties_of({"class_name": "L1L2", "config": {"l1": 0.5, "l2": 0.25}})
    {'l1': 0.5, 'l2': 0.5}
    """
    if given is None:
        return {}
    name = str(given.get("class_name") if isinstance(given, Mapping) else given).lower()
    if name not in _NAMES:
        return None
    config = (given.get("config") or {}) if isinstance(given, Mapping) else {}
    default = 0.0 if config else 0.01
    numbers = {key: float(config.get(key, default) or 0.0) for key in _NAMES[name]}
    settings = {"l1": numbers.get("l1", 0.0), "l2": 2.0 * numbers.get("l2", 0.0)}
    return {f"{key}{suffix}": value for key, value in settings.items() if value}


def keras_of(l1: float | None, l2: float | None) -> dict[str, Any] | None:
    """Return Keras' regulariser for our l1 and l2, which is halved; None where both are 0.

    Examples
    --------
    >>> keras_of(None, 0.5)["config"]
    {'l2': 0.25}
    """
    numbers = {"l1": l1 or 0.0, "l2": 0.5 * (l2 or 0.0)}
    config = {key: float(value) for key, value in numbers.items() if value}
    if not config:
        return None
    class_name = "L1L2" if len(config) == 2 else next(iter(config)).upper()
    return {"module": "keras.regularizers", "class_name": class_name, "config": config, "registered_name": None}
