"""Enumerations with the methods that Java's programs call on them, and base classes that hold names too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from enum import EnumType, StrEnum
from functools import partial
from inspect import isroutine
from operator import eq
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

from backends.errors import UnknownNameError, check_choice

from .classes import ExplainedType
from .java_names import snake_case


def _spelled_otherwise(members: Mapping[str, object], name: str) -> object:
    """Return the member that a Java program means by a name, ``LeakyReLU`` for ``LEAKYRELU``; None for no member."""
    plain = name.replace("_", "").lower()
    known = members.items() if not name.startswith("_") else ()
    return next((member for member_name, member in known if member_name.replace("_", "").lower() == plain), None)


_KINDS = {
    "Activation": "activation", "ConvolutionMode": "convolution mode", "LossFunction": "loss",
    "PoolingType": "pooling type", "Updater": "updater", "WeightInit": "weight initialisation",
}  # fmt: skip
"""Enum -> the kind of its names in messages."""


def _unknown_member(owner: Any, name: str) -> UnknownNameError:
    """Return the error for a name that is no member's, with the one that is meant."""
    kind, members = _KINDS.get(owner.__name__, ""), list(owner.__members__)
    return UnknownNameError(f"{owner.__name__!r} object has no attribute {name!r}", kind, name, members)


_OF_ALL: dict[str, Any] = {"toString": str, "equals": eq}


def _method_of(owner: object, name: str) -> Callable[..., object]:
    """Return the method that a Java program means by a name, of an enumeration or one of its members: ``valueOf``."""
    if name in _OF_ALL:
        return partial(_OF_ALL[name], owner)
    method = getattr(owner, snake_case(name), None) if name != name.lower() and not name.startswith("_") else None
    if not isroutine(method):
        kind = owner.__name__ if isinstance(owner, type) else type(owner).__name__
        raise AttributeError(f"{kind!r} object has no attribute {name!r}")
    return method


class JavaEnumType(EnumType):
    """Enum whose members answer to Java's spelling of their names: ``ConvolutionMode.Same``."""

    if not TYPE_CHECKING:

        def __getattr__(cls, name: str) -> Any:
            member = _spelled_otherwise(cls.__members__, name)
            if member is not None:
                return member
            if name != name.lower() and not name.startswith("_"):
                with suppress(AttributeError):
                    return _method_of(cls, name)
            raise _unknown_member(cls, name)


class JavaEnum(StrEnum, metaclass=JavaEnumType):
    """String enum with the methods that Java's programs call on enums: ``values()``, ``fromString``, ``valueOf``."""

    @classmethod
    def _missing_(cls, value: object) -> None:
        check_choice(cls.__name__, "member", value, cls)  # which says what is meant, and raises a ValueError

    @classmethod
    def values(cls) -> list[Self]:
        """Return the members."""
        return list(cls)

    @classmethod
    def from_string(cls, text: str) -> Self:
        """Return a member by its value or its name; raise ValueError if there is none."""
        return cls(text.lower())

    value_of = from_string

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            return _method_of(self, name)


class Name(str):
    """A name that is written as an attribute of a class: a text, that knows what it is called there.

    Like the member of a string enum, it equals its text, cannot be changed, and stays itself where it is copied and
    pickled.

    Attributes
    ----------
    name : str
        Of the attribute: "RELU" of ``Activation.RELU``.
    value : str
        The text: "relu".
    """

    __slots__ = ("_name", "_owner")

    def __set_name__(self, owner: type, name: str) -> None:
        self._owner, self._name = owner, name

    @property
    def name(self) -> str:
        """Name of the attribute."""
        return self._name

    @property
    def value(self) -> str:
        """The text alone."""
        return str(self)

    def __repr__(self) -> str:
        return f"<{self._owner.__name__}.{self._name}: {self.value!r}>"

    def __reduce__(self) -> tuple[object, ...]:
        return getattr, (self._owner, self._name)

    def __copy__(self) -> Name:
        return self

    def __deepcopy__(self, memo: object) -> Name:
        return self

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            return _method_of(self, name)


class NameHolder(ExplainedType):
    """Class of a base whose attributes of type `Name` are members of it, as those of an enumeration are.

    Deeplearning4j has two types of one name, an enumeration and an interface. One class is both here, ``class
    Lion(Updater)`` and ``Updater.SGD``, so that it does not matter from which package a program imports it.

    The base itself is iterated over, searched, indexed and called with a text; classes below it have no members.

    Examples
    --------
    >>> class Colour(metaclass=NameHolder):
    ...     RED = Name("red")
    ...     BLUE = Name("blue")
    >>> list(Colour), Colour("RED"), Colour.RED == "red", Colour.BLUE.name
    ([<Colour.RED: 'red'>, <Colour.BLUE: 'blue'>], <Colour.RED: 'red'>, True, 'BLUE')
    """

    @property
    def __members__(cls) -> Mapping[str, Name]:
        """Name of an attribute -> the attribute, in their order."""
        return MappingProxyType({name: value for name, value in vars(cls).items() if isinstance(value, Name)})

    def values(cls) -> list[Name]:
        """Return the members."""
        return list(cls.__members__.values())

    def from_string(cls, text: str) -> Name:
        """Return a member by its text or by what it is called, in any case; raise ChoiceError if there is none."""
        known = {name.lower(): member for name, member in cls.__members__.items()}
        known |= {str(member): member for member in cls.values()}
        return known[check_choice(cls.__name__, "name", text.lower(), known)]

    value_of = from_string

    if not TYPE_CHECKING:  # as in ExplainedType

        def __call__(cls, *arguments: object, **named: object) -> Any:
            if len(arguments) == 1 and isinstance(arguments[0], str) and not named and cls.values():
                return cls.from_string(arguments[0])
            return super().__call__(*arguments, **named)

    def __iter__(cls) -> Iterator[Name]:
        if not cls.values():  # one of the classes below the base
            raise TypeError(f"{cls.__name__!r} is a class without names, and not iterable")
        return iter(cls.values())

    def __len__(cls) -> int:
        return len(cls.values())

    def __bool__(cls) -> bool:
        return True

    def __contains__(cls, value: object) -> bool:
        return isinstance(value, str) and value in cls.values()

    def __getitem__(cls, name: str) -> Name:
        return cls.__members__[name]

    def __setattr__(cls, name: str, value: object) -> None:
        if name in cls.__members__:
            raise AttributeError(f"{cls.__name__}.{name} is a name of the library's and cannot be assigned to")
        super().__setattr__(name, value)

    def __delattr__(cls, name: str) -> None:
        if name in cls.__members__:
            raise AttributeError(f"{cls.__name__}.{name} is a name of the library's and cannot be deleted")
        super().__delattr__(name)

    if not TYPE_CHECKING:

        def __getattr__(cls, name: str) -> Any:
            member = _spelled_otherwise(cls.__members__, name)
            if member is not None:
                return member
            with suppress(AttributeError):
                return _method_of(cls, name)
            raise _unknown_member(cls, name)


def name_the_others(holder: NameHolder, kind: type[Name], texts: Iterable[str]) -> None:
    """Give a holder a name for each of the texts that has none, in upper case: what Java has no name for, has one too.

    Type checkers see the names that are written in the class.
    """
    named = set(holder.values())
    for text in texts:
        if text not in named:
            name, attribute = kind(text), text.upper()
            setattr(holder, attribute, name)
            name.__set_name__(holder, attribute)
