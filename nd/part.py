"""Parts of a network that users may write too: activations, losses, updaters, layers and so on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NoReturn, TypeVar

from backends.errors import DTypeError, NdError, ShapeError, describe_shape

from .arguments import shown
from .state import state
from .typing import Array

Function = TypeVar("Function", bound=Callable[..., Any])


class Part:
    """Declares whether it may be recorded and split. A class declares it for itself alone, its subclasses do so again.

    Attributes
    ----------
    pure : bool
        Whether it uses functions of `nd` only and takes no decision on the values of arrays, so that a step with it
        may be recorded and replayed. Without that it is run as it is written, every time.
    splits : bool
        Whether examples do not meet in it, so that a minibatch may be computed in parts.
    meets : bool
        Of a layer that splits: whether workers that train on one part each exchange numbers in it, by the `meeting` of
        its context. Inherited.
    """

    pure: ClassVar[bool] = False
    splits: ClassVar[bool] = False
    meets: ClassVar[bool] = False

    def has_to_meet(self, training: bool) -> bool:
        """Tell whether workers with a part of a minibatch each need numbers of one another."""
        return training and self.meets

    def __init_subclass__(cls, **settings: object) -> None:
        super().__init_subclass__(**settings)
        cls.pure, cls.splits = vars(cls).get("pure", False), vars(cls).get("splits", False)


def pure(function: Function) -> Function:
    """Declare a function to be pure, as `Part.pure` does of a class."""
    function.pure = True  # type: ignore[attr-defined]
    return function


# ---- what functions of parts return


def into(part: object, method: str, result: object, out: Array) -> Array:
    """Return `out`, with the result of a part's method in it that lies elsewhere.

    Raises
    ------
    DTypeError, ShapeError
        The result is no array of the dtype and the shape of `out`.
    """
    if not state.backend.fits(result, out):
        refuse_returned(f"{type(part).__name__}: {method}", result, out)
    return state.backend.assign(out, result)


def refuse_returned(who: str, result: Any, like: Array, shape: str = "") -> NoReturn:
    """Raise the error of a result that is no array as another one; `shape` says it where others are allowed too."""
    backend = state.backend
    dtype, shape = backend.dtype_name(like), shape or describe_shape(like.shape)
    if not backend.is_array(result):
        alike = isinstance(result, (int, float))
        remedy = "Return a number for every place, also where all are the same." if alike else "Return the result."
        raise DTypeError(f"{who} must return an array {shape} of {dtype}, got {shown(result)}. {remedy}")
    given = backend.dtype_name(result)
    if given != dtype:
        raise DTypeError(f"{who} must return {dtype}, got {given}. Convert it with nd.astype, or make it so at first.")
    raise ShapeError(f"{who} must return {shape}, got {describe_shape(result.shape)}. Return a number for every place.")


def undefined(part: object, method: str, meaning: str, remedy: str = "Write it in the class.") -> NoReturn:
    """Raise the NotImplementedError of a part that leaves a method out, written as ``slope(z, a)``."""
    label = getattr(part, "label", "")
    who = f"{label}: {type(part).__name__}" if label else type(part).__name__
    raise NotImplementedError(f"{who}: {method} must be defined, {meaning}. {remedy}")


def named(label: str, error: NdError) -> NdError:
    """Return an error of what a layer has called as one that says which layer it was."""
    text = str(error)
    return error if text.startswith((label, "layer ")) else type(error)(f"{label}: {text}")
