"""Shared by the library's classes: errors that name what is meant, and overrides in Java's spelling."""

from __future__ import annotations

from abc import ABCMeta
from inspect import Signature, isroutine, signature
from typing import TYPE_CHECKING, Any, TypeVar

from backends.errors import UnknownNameError

from .java_names import snake_case

Owner = TypeVar("Owner")


class SignatureOfInit:
    """Signature of the classes of a metaclass that calls them, where Python looks for none; a class may set its own."""

    def __get__(self, owner: Any, kind: type) -> Signature:
        of_init = signature(owner.__init__)
        return of_init.replace(parameters=list(of_init.parameters.values())[1:])


class ExplainedType(type):
    """Metaclass: what a constructor does not take is refused with the argument that is meant."""

    if not TYPE_CHECKING:  # Pyright would take every object for an Any that takes all arguments

        def __call__(cls, *arguments: object, **named: object) -> Any:
            try:
                return super().__call__(*arguments, **named)
            except TypeError as error:
                from .calls import call_error  # which calls that fit do not need

                refused = call_error(error, cls, arguments, named)
                if refused is None:
                    raise
                raise refused from None

    __signature__ = SignatureOfInit()


class ExplainedABC(ExplainedType, ABCMeta):
    """The same of an abstract class."""


class SuggestingType(ExplainedType):
    """The same, and a name that the class has not is an error with the one that is meant: ``InputType.image``."""

    if not TYPE_CHECKING:  # type checkers would take every name for an attribute

        def __getattr__(cls, name: str) -> Any:
            raise unknown_name(cls, name)


class NamesSuggested:
    """Base of classes whose users know other libraries' words: a name that is not there is an error with ours.

    Examples
    --------
    >>> from nd.dataset import DataSet
    >>> DataSet([[1.0]]).targets
    Traceback (most recent call last):
    backends.errors.UnknownNameError: 'DataSet' object has no attribute 'targets'. Did you mean 'labels'?
    """

    if not TYPE_CHECKING:  # type checkers would take every name for an attribute

        def __getattr__(self, name: str) -> Any:
            raise unknown_name(self, name)


def unknown_name(owner: object, name: str) -> UnknownNameError:
    """Return the error for an attribute that an object, or a class, has not."""
    kind = owner.__name__ if isinstance(owner, type) else type(owner).__name__
    return UnknownNameError(f"{kind!r} object has no attribute {name!r}", "attribute", name, owner)


def overridable(owner: type[Owner]) -> type[Owner]:
    """Decorate a class whose subclasses may override its methods in either spelling: ``iterationDone``."""

    own = vars(owner).get("__init_subclass__")

    def hear(cls: type, **more: object) -> None:
        if own is None:
            super(owner, cls).__init_subclass__(**more)  # type: ignore[misc]
        else:
            own.__func__(cls, **more)
        _add_overrides(cls)

    owner.__init_subclass__ = classmethod(hear)  # type: ignore[assignment]
    return owner


def _add_overrides(owner: type) -> None:
    """Give methods that a subclass spells in camelCase our names too, where its bases have them."""
    for name, value in list(vars(owner).items()):
        ours = snake_case(name)
        overrides = isroutine(value) and ours != name and not name.startswith("_")
        if overrides and ours not in vars(owner) and any(hasattr(base, ours) for base in owner.__bases__):
            setattr(owner, ours, value)
