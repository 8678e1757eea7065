"""Which constraints hold for which parameters of a layer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from optimize.constraints import LayerConstraint, as_constraints

FIELDS = ("constrain_all_parameters", "constrain_weights", "constrain_bias")
UNSET: dict[str, Any] = dict.fromkeys(FIELDS)
"""Of layers and of networks, in the order in which DL4J applies them."""


def normalise_constraints(conf: object, *names: str) -> None:
    """Turn fields of a frozen configuration into checked tuples."""
    for name in names:
        object.__setattr__(conf, name, as_constraints(type(conf).__name__, name, getattr(conf, name)))


def placed_constraints(label: str, layer: Any, defaults: object) -> tuple[LayerConstraint, ...] | None:
    """Return a layer's constraints, with the names of their parameters; without any, the network's.

    Raises
    ------
    ConfigurationError
        One of them does not fit on the layer's parameters.
    """
    specs = [spec for spec in layer.param_specs() if not spec.running]
    shapes = {spec.name: spec.shape for spec in specs}
    names = {
        "constrain_all_parameters": tuple(shapes),
        "constrain_weights": tuple(spec.name for spec in specs if spec._is_weight),
        "constrain_bias": tuple(spec.name for spec in specs if spec.bias),
    }
    own = layer.constraints is not None or any(getattr(layer, field) is not None for field in FIELDS)
    source = layer if own else defaults
    named = [
        constraint if constraint.params is not None else replace(constraint, params=names["constrain_weights"])
        for constraint in layer.constraints or ()
    ]
    for field in FIELDS:
        named += [replace(constraint, params=names[field]) for constraint in getattr(source, field) or ()]
    return tuple(placed for constraint in named if constraint.params for placed in constraint.on(shapes, label)) or None
