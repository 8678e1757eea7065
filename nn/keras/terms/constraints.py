"""Constraints of Keras and ours."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from optimize import LayerConstraint
from optimize.constraints import MaxNormConstraint, MinMaxNormConstraint, NonNegativeConstraint, UnitNormConstraint

from .malformed import or_none

_ALIASES = {"maxnorm": "max_norm", "minmaxnorm": "min_max_norm", "nonneg": "non_neg", "unitnorm": "unit_norm"}
_OLDER = {"m": "max_value", "p": "rate"}
"""Settings of Keras 1 -> their names since."""


@or_none
def constraint_of(given: Any, param: str, axes: Sequence[int]) -> LayerConstraint | None:
    """Return the constraint of a parameter that a configuration of Keras means; None where ours cannot say it.

    Parameters
    ----------
    given : str or mapping
        ``{"class_name": "MaxNorm", "config": {"max_value": 2, "axis": 0}}``.
    param : str
        Our parameter: ``"W"``.
    axes : sequence of int
        For every axis of Keras' array its place in ours: (2, 3, 1, 0) of the kernel of a convolution of images.

    Notes
    -----
    Keras adds 1e-7 to norms before it divides, ours add 1e-6, and UnitNormConstraint nothing. Source: Keras,
    keras.constraints; KerasConstraintUtils. Differs: Java takes Keras' axes for those of its own arrays.
    """
    name = str(given.get("class_name") if isinstance(given, Mapping) else given)
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    name = _ALIASES.get(name, name)
    config = (given.get("config") or {}) if isinstance(given, Mapping) else {}
    config = {_OLDER.get(key, key): value for key, value in config.items()}
    if name == "non_neg":
        return NonNegativeConstraint(params=(param,))
    axis = config.get("axis", 0)
    along = [axis] if isinstance(axis, int) else list(axis)
    if any(not -len(axes) <= place < len(axes) for place in along):
        return None
    where: Any = {"dimensions": tuple(sorted(axes[place] for place in along)), "params": (param,)}
    if name == "max_norm":
        return MaxNormConstraint(float(config.get("max_value", 2.0)), **where)
    if name == "unit_norm":
        return UnitNormConstraint(**where)
    if name == "min_max_norm":
        bounds = float(config.get("min_value", 0.0)), float(config.get("max_value", 1.0))
        return MinMaxNormConstraint(*bounds, float(config.get("rate", 1.0)), **where)
    return None


def keras_of(constraint: LayerConstraint, axes: Sequence[int]) -> dict[str, Any] | None:
    """Return Keras' constraint for one of ours on a parameter, whose axes lie as for `constraint_of`; None for none."""
    if isinstance(constraint, NonNegativeConstraint):
        return _object("NonNeg")
    ours = getattr(constraint, "dimensions", None) or tuple(range(1, len(axes))) or (0,)
    places = sorted(list(axes).index(place) for place in ours)
    axis = places[0] if len(places) == 1 else places
    if isinstance(constraint, MaxNormConstraint):
        return _object("MaxNorm", max_value=constraint.max_norm, axis=axis)
    if isinstance(constraint, UnitNormConstraint):
        return _object("UnitNorm", axis=axis)
    if isinstance(constraint, MinMaxNormConstraint):
        bounds = {"min_value": constraint.min, "max_value": constraint.max, "rate": constraint.rate}
        return _object("MinMaxNorm", **bounds, axis=axis)
    return None


def _object(class_name: str, **config: Any) -> dict[str, Any]:
    return {"module": "keras.constraints", "class_name": class_name, "config": config, "registered_name": None}
