"""Parts of a network that users may write too: activations, losses, updaters, layers and so on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

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
    """

    pure: ClassVar[bool] = False
    splits: ClassVar[bool] = False

    def __init_subclass__(cls, **settings: object) -> None:
        super().__init_subclass__(**settings)
        cls.pure, cls.splits = vars(cls).get("pure", False), vars(cls).get("splits", False)


def pure(function: Function) -> Function:
    """Declare a function to be pure, as `Part.pure` does of a class."""
    function.pure = True  # type: ignore[attr-defined]
    return function
