"""Constructors with Java's arguments, where those differ from ours."""

from __future__ import annotations

import dataclasses
from typing import Any

import optimize
from nd import evaluation
from nd.java_names import JavaNamedABC
from optimize import LayerConstraint, updaters


class _JavasArguments(JavaNamedABC):
    """Class of ours that is called with Java's arguments, ``made(...)``, and is the same in everything else."""

    def __call__(cls, *arguments: Any, **settings: Any) -> Any:
        return cls.made(*arguments, **settings)  # type: ignore[attr-defined]

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls.__mro__[1])


class Nesterovs(updaters.Nesterovs, metaclass=_JavasArguments):
    """The updater: ``Nesterovs(momentum)``, ``Nesterovs(rate, momentum)``; a schedule alone is the rate."""

    @staticmethod
    def made(*arguments: Any) -> updaters.Nesterovs:
        """Return the updater."""
        return updaters.Nesterovs.Builder(*arguments).build()

    Builder = builder = updaters.Nesterovs.Builder


class RegressionEvaluation(evaluation.RegressionEvaluation, metaclass=_JavasArguments):
    """The evaluation: names of columns one by one, a list of them, or how many there are."""

    @staticmethod
    def made(*columns: Any) -> evaluation.RegressionEvaluation:
        """Return the evaluation."""
        if columns and all(isinstance(each, str) for each in columns):
            return evaluation.RegressionEvaluation(columns)
        return evaluation.RegressionEvaluation(*columns)


def _with_dimensions(kind: type[LayerConstraint]) -> Any:
    fields = [field for field in dataclasses.fields(kind) if not field.kw_only]
    required = sum(field.default is dataclasses.MISSING for field in fields)

    def made(*arguments: Any, **settings: Any) -> LayerConstraint:
        count = required
        while count < len(arguments) and isinstance(arguments[count], float):
            count += 1
        numbers, rest = arguments[:count], arguments[count:]
        if rest and isinstance(rest[0], (set, frozenset, list, tuple)):
            settings["params"], rest = tuple(sorted(rest[0])), rest[1:]
        if rest:
            settings["dimensions"] = rest
        return kind(*numbers, **settings)

    text = "The constraint: its numbers, perhaps a set of parameters, the dimensions of the norm."
    return _JavasArguments(kind.__name__, (kind,), {"made": staticmethod(made), "__doc__": text})


MaxNormConstraint = _with_dimensions(optimize.MaxNormConstraint)
MinMaxNormConstraint = _with_dimensions(optimize.MinMaxNormConstraint)
UnitNormConstraint = _with_dimensions(optimize.UnitNormConstraint)
