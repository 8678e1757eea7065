"""Constructors with Java's arguments, where those differ from ours."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import optimize
from nd import evaluation
from optimize import LayerConstraint, updaters


def Nesterovs(*arguments: Any) -> updaters.Nesterovs:
    """Return the updater: ``Nesterovs(momentum)``, ``Nesterovs(rate, momentum)``; a schedule alone is the rate."""
    return updaters.Nesterovs.Builder(*arguments).build()


Nesterovs.Builder = Nesterovs.builder = updaters.Nesterovs.Builder  # type: ignore[attr-defined]


def RegressionEvaluation(*columns: Any) -> evaluation.RegressionEvaluation:
    """Return the evaluation: names of columns one by one, a list of them, or how many there are."""
    if columns and all(isinstance(each, str) for each in columns):
        return evaluation.RegressionEvaluation(columns)
    return evaluation.RegressionEvaluation(*columns)


RegressionEvaluation.Metric = evaluation.RegressionEvaluation.Metric  # type: ignore[attr-defined]


def _with_dimensions(kind: type[LayerConstraint]) -> Callable[..., LayerConstraint]:
    fields = [field for field in dataclasses.fields(kind) if not field.kw_only]
    required = sum(field.default is dataclasses.MISSING for field in fields)

    def constraint(*arguments: Any, **settings: Any) -> LayerConstraint:
        count = required
        while count < len(arguments) and isinstance(arguments[count], float):
            count += 1
        numbers, rest = arguments[:count], arguments[count:]
        if rest and isinstance(rest[0], (set, frozenset, list, tuple)):
            settings["params"], rest = tuple(sorted(rest[0])), rest[1:]
        if rest:
            settings["dimensions"] = rest
        return kind(*numbers, **settings)

    constraint.__name__ = constraint.__qualname__ = kind.__name__
    constraint.__doc__ = "Return the constraint: its numbers, perhaps a set of parameters, the dimensions of the norm."
    return constraint


MaxNormConstraint = _with_dimensions(optimize.MaxNormConstraint)
MinMaxNormConstraint = _with_dimensions(optimize.MinMaxNormConstraint)
UnitNormConstraint = _with_dimensions(optimize.UnitNormConstraint)
