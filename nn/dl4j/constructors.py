"""Constructors with Java's arguments, where those differ from ours."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar

import nn
import optimize
from nd import evaluation, losses
from nd.classes import ExplainedABC, SuggestingType
from nd.java_enums import NameHolder
from optimize import LayerConstraint, updaters
from optimize.builder import Builder

from . import confs


class _JavasArguments(ExplainedABC):
    """Class of ours that is called with Java's arguments, ``construct(...)``, and is the same in everything else."""

    def __call__(cls, *arguments: object, **settings: object) -> Any:
        if "construct" in vars(cls):
            return cls.construct(*arguments, **settings)  # type: ignore[attr-defined]
        return super().__call__(*arguments, **settings)  # a class of a program's own, below one of these

    def __instancecheck__(cls, instance: object) -> bool:
        ours = "construct" in vars(cls)
        return isinstance(instance, cls.__mro__[1]) if ours else super().__instancecheck__(instance)


class _NamesOfOurs(ExplainedABC, SuggestingType):
    """Class of ours with other static methods, never instantiated."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls.__mro__[1])


class _JavasArgumentsOfUpdaters(_JavasArguments, NameHolder):
    """The same of updaters, whose base holds names."""


class Nesterovs(updaters.Nesterovs, metaclass=_JavasArgumentsOfUpdaters):
    """The updater: ``Nesterovs(momentum)``, ``Nesterovs(rate, momentum)``; a schedule alone is the rate."""

    @staticmethod
    def construct(*arguments: Any, **settings: Any) -> updaters.Nesterovs:
        """Return the updater."""
        return updaters.Nesterovs(**settings) if settings else updaters.Nesterovs.Builder(*arguments).build()

    Builder = builder = updaters.Nesterovs.Builder


class Evaluation(evaluation.Evaluation, metaclass=_JavasArguments):
    """The evaluation: names of classes one by one, or how many there are and which is positive, a threshold for two
    classes (a number with a point), a cost array; or the arguments of ours."""

    @staticmethod
    def construct(*arguments: Any, **settings: Any) -> evaluation.Evaluation:
        """Return the evaluation."""
        if arguments and all(isinstance(argument, str) for argument in arguments):
            return evaluation.Evaluation(arguments, **settings)
        rest = list(arguments)
        if rest and isinstance(rest[0], float):
            settings["binary_decision_threshold"] = rest.pop(0)
        if rest and hasattr(rest[-1], "shape"):
            settings["cost_array"] = rest.pop()
        if len(rest) == 2 and all(isinstance(argument, int) for argument in rest):
            settings["binary_positive_class"] = rest.pop()
        return evaluation.Evaluation(*rest, **settings)


class EvaluationBinary(evaluation.EvaluationBinary, metaclass=_JavasArguments):
    """The evaluation: ``(size)``, ``(size, roc_binary_steps)`` where the steps may be None, or a threshold array."""

    @staticmethod
    def construct(*arguments: Any, **settings: Any) -> evaluation.EvaluationBinary:
        """Return the evaluation."""
        if arguments and isinstance(arguments[0], int):
            settings.update(zip(("size", "roc_binary_steps"), arguments, strict=False))
            arguments = ()
        return evaluation.EvaluationBinary(*arguments, **settings)


class ROC(evaluation.ROC, metaclass=_JavasArguments):
    """The evaluation: ``(threshold_steps, remove_redundant_points, block_size)``; the last is of memory."""

    @staticmethod
    def construct(*arguments: Any, **settings: Any) -> evaluation.ROC:
        """Return the evaluation."""
        return evaluation.ROC(*arguments[:2], **settings)


class RegressionEvaluation(evaluation.RegressionEvaluation, metaclass=_JavasArguments):
    """The evaluation: names of columns one by one, a list of them, or how many there are."""

    @staticmethod
    def construct(*columns: Any, **settings: Any) -> evaluation.RegressionEvaluation:
        """Return the evaluation."""
        if columns and all(isinstance(name, str) for name in columns):
            return evaluation.RegressionEvaluation(columns, **settings)
        return evaluation.RegressionEvaluation(*columns, **settings)


class Bidirectional(nn.Bidirectional, metaclass=_JavasArguments):
    """The layer: ``Bidirectional(layer)``, ``Bidirectional(Bidirectional.Mode.ADD, layer)``; or arguments of ours."""

    @staticmethod
    def construct(*arguments: Any, **settings: Any) -> nn.Bidirectional:
        """Return the layer."""
        if len(arguments) == 2 and not isinstance(arguments[0], nn.LayerConf):
            arguments = arguments[::-1]
        return nn.Bidirectional(*arguments, **settings)

    Builder = nn.Bidirectional.Builder


class LossMixtureDensity(losses.LossMixtureDensity, metaclass=_JavasArguments):
    """The loss, with Java's builder: ``LossMixtureDensity.builder().gaussians(2).labelWidth(3).build()``."""

    builder_names: ClassVar[dict[str, str]] = {"gaussians": "mixtures", "label_width": "labels_width"}

    @staticmethod
    def construct(*arguments: Any, **settings: Any) -> losses.LossMixtureDensity:
        """Return the loss."""
        return losses.LossMixtureDensity(*arguments, **settings)

    @classmethod
    def Builder(cls) -> Builder:
        """Start Java's fluent style."""
        return Builder(cls)


def _with_dimensions(kind: type[LayerConstraint]) -> Callable[..., LayerConstraint]:
    fields = [field for field in dataclasses.fields(kind) if not field.kw_only]
    required = sum(field.default is dataclasses.MISSING for field in fields)

    def construct(*arguments: Any, **settings: Any) -> LayerConstraint:
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
    return _JavasArguments(
        kind.__name__, (kind,), {"construct": staticmethod(construct), "__doc__": text, "__module__": __name__}
    )


MaxNormConstraint = _with_dimensions(optimize.MaxNormConstraint)
MinMaxNormConstraint = _with_dimensions(optimize.MinMaxNormConstraint)
UnitNormConstraint = _with_dimensions(optimize.UnitNormConstraint)


class InputType(nn.InputType, metaclass=_NamesOfOurs):
    """Type of a network's input, with Java's formats of the axes: ``recurrent(size, RNNFormat.NWC)``."""

    Type: ClassVar = confs.Type
