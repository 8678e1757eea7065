"""Deeplearning4j's camelCase names, derived from the snake_case ones: programs that are ported call them.

``dir`` and the documentation list none of them, and names that exist take no part in it.
"""

from __future__ import annotations

import math
import re
from abc import ABCMeta
from collections.abc import Iterable
from functools import partial
from inspect import Parameter, Signature, isroutine, signature
from operator import eq
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

from backends.errors import UnknownNameError

_BORDERS = re.compile(r"(?<=[a-z0-9])[A-Z]|(?<=[A-Z])[A-Z](?=[a-z])")
Owner = TypeVar("Owner")
_ACCESSOR = re.compile(r"(get|is|has|set)(?=[A-Z0-9]|n[A-Z])(.+)")


def snake_case(name: str) -> str:
    """Turn ``nIn`` into ``n_in``.

    Examples
    --------
    >>> snake_case("optimizationAlgo"), snake_case("l1Bias"), snake_case("evaluateEveryNEpochs"), snake_case("NIn")
    ('optimization_algo', 'l1_bias', 'evaluate_every_n_epochs', 'n_in')
    """
    return _BORDERS.sub(lambda letter: "_" + letter.group().lower(), name).lower()


def java_attribute(owner: Any, name: str, java_names: dict[str, str]) -> Any:
    """Return the callable that a Java program means by ``owner.name``.

    Parameters
    ----------
    owner : object
    name : str
        In camelCase: a method's, or an accessor's as ``getLearningRate``, ``isMinimize``, ``setSeed``.
    java_names : dict of str -> str
        Java's name -> ours, where they differ, both in snake_case, accessors without "get", "is" or "set".

    Raises
    ------
    AttributeError
        There is nothing of that name.
    """
    if name in _OF_OBJECTS:
        return partial(_OF_OBJECTS[name], owner)
    if name == name.lower() or name.startswith("_"):
        raise _unknown(owner, name)
    accessor = _ACCESSOR.fullmatch(name)
    verb, rest = accessor.groups() if accessor else ("", name)
    for candidate in _candidates(name, verb, rest, java_names):
        attribute = getattr(owner, candidate, None)
        if attribute is None and not hasattr(owner, candidate):
            continue
        if verb == "set" and not candidate.startswith("set_"):
            if isroutine(attribute):
                continue
            return partial(setattr, owner, candidate)
        return attribute if isroutine(attribute) or isinstance(attribute, type) else partial(_value, attribute)
    raise _unknown(owner, name)


_OF_OBJECTS: dict[str, Any] = {"toString": str, "equals": eq}


def _value(value: Any) -> Any:
    return value


def _candidates(name: str, verb: str, rest: str, java_names: dict[str, str]) -> Iterable[str]:
    full, short = snake_case(name), snake_case(rest)
    yield from (java_names[known] for known in (full, short) if known in java_names)
    yield full
    if verb:
        yield from (f"set_{short}", short) if verb == "set" else (short, f"is_{short}", f"has_{short}", f"get_{short}")


def _unknown(owner: Any, name: str) -> AttributeError:
    kind = owner.__name__ if isinstance(owner, type) else type(owner).__name__
    return UnknownNameError(f"{kind!r} object has no attribute {name!r}", "attribute", name, owner)


def add_overrides(owner: type) -> None:
    """Let methods that a subclass spells in camelCase override those of its bases: ``iterationDone``."""
    for name, value in list(vars(owner).items()):
        ours = snake_case(name)
        overrides = isroutine(value) and ours != name and not name.startswith("_")
        if overrides and ours not in vars(owner) and any(hasattr(base, ours) for base in owner.__bases__):
            setattr(owner, ours, value)


def overridable(owner: type[Owner]) -> type[Owner]:
    """Decorate a class whose subclasses may override methods in either spelling, see `add_overrides`."""

    def add(cls: type, **more: Any) -> None:
        super(owner, cls).__init_subclass__(**more)  # type: ignore[misc]
        add_overrides(cls)

    owner.__init_subclass__ = classmethod(add)  # type: ignore[assignment]
    return owner


_DEFAULTS = {"lr": "learning_rate", "rmsdecay": "rms_decay", "l": "lower", "u": "upper", "clipping_epsilon": "clip_eps"}


def _default(owner: type, constant: str) -> Any:
    """Return the default of a field by Java's name for it: ``Adam.DEFAULT_ADAM_BETA1_MEAN_DECAY``."""
    field = constant.removeprefix("DEFAULT_").lower().removesuffix("_mean_decay").removesuffix("_var_decay")
    class_name = owner.__name__.lower()
    field = field.removeprefix(f"{class_name.removesuffix('s')}_").removeprefix(f"{class_name}_")
    constructor = next(vars(base)["__init__"] for base in owner.__mro__ if "__init__" in vars(base))
    for name, parameter in signature(constructor).parameters.items():
        if name in (field, _DEFAULTS.get(field)) and parameter.default is not Parameter.empty:
            return parameter.default
    raise _unknown(owner, constant)


class Constructed:
    """Signature of the classes of a metaclass that calls them, where Python looks for none; a class may set its own."""

    def __get__(self, owner: Any, kind: type) -> Signature:
        of_init = signature(owner.__init__)
        return of_init.replace(parameters=list(of_init.parameters.values())[1:])


class JavaNamed(type):
    """Class whose static methods answer to camelCase: ``InputType.feedForward(3)``, and whose fields' defaults to
    Java's constants: ``Adam.DEFAULT_ADAM_EPSILON``. What its constructor does not take is refused with what is meant.
    """

    def __call__(cls, *arguments: Any, **named: Any) -> Any:
        try:
            return super().__call__(*arguments, **named)
        except TypeError as error:
            from .calls import call_error  # which calls that fit do not need

            refused = call_error(error, cls, arguments, named)
            if refused is None:
                raise
            raise refused from None

    __signature__ = Constructed()

    if not TYPE_CHECKING:  # type checkers would take every name for an attribute

        def __getattr__(cls, name: str) -> Any:
            if name == "builder" and any("Builder" in vars(base) for base in cls.__mro__):  # Lombok's
                return cls.Builder
            if name.startswith("DEFAULT_"):
                return _default(cls, name)
            return java_attribute(cls, name, _names_of(cls))


class JavaNamedABC(JavaNamed, ABCMeta):
    """The same of an abstract class."""


@overridable
class JavaNames(metaclass=JavaNamed):
    """Base of classes whose methods and attributes answer to Deeplearning4j's camelCase names.

    A subclass may list in `java_names` names that differ, ``{"i_updater": "updater"}``, and override methods in either
    spelling.

    Examples
    --------
    >>> class Counter(JavaNames):
    ...     def __init__(self):
    ...         self.epoch_count = 3
    ...     def num_params(self, backwards=False):
    ...         return 7
    >>> Counter().numParams(), Counter().getEpochCount()
    (7, 3)
    """

    java_names: ClassVar[dict[str, str]] = {}

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            return java_attribute(self, name, _names_of(type(self)))


def _names_of(owner: type) -> dict[str, str]:
    names: dict[str, str] = {}
    for base in reversed(owner.__mro__):
        names |= vars(base).get("java_names", {})
    return names


class Pair(NamedTuple):
    """Two values, as Java's methods return them: ``getFirst()``, ``getSecond()``.

    Examples
    --------
    >>> Pair.of(1, "a").getSecond()
    'a'
    """

    first: Any
    second: Any = None

    @classmethod
    def of(cls, first: Any, second: Any) -> Pair:
        """Return a pair of these."""
        return cls(first, second)

    def __getattr__(self, name: str) -> Any:
        return java_attribute(self, name, {"left": "first", "right": "second"})


def non_finite(value: float) -> str:
    """Return Java's word for a number that is not finite: "NaN", "Infinity" or "-Infinity"."""
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"
