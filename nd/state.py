"""The current backend and the default dtype.

The backend is chosen at first use: by `set_backend`, by a `use_backend` block, or by the environment
variable ``ND_BACKEND``; `backends.get_backend` has the names.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, ContextDecorator, nullcontext
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from backends import get_backend
from backends import selector_of as selector_of
from backends.base import Backend
from backends.errors import BackendError, ChoiceError, check_choice
from backends.reporting import Listening, reporting
from backends.settings import switch

from .arguments import called, refusal

if TYPE_CHECKING:
    from .random import Random


Function = TypeVar("Function", bound=Callable[..., Any])

FLOAT_DTYPES = ("float32", "float64")


class _FirstUse:
    """Takes the place of the backend until one is needed, so that importing nd detects nothing."""

    def __getattr__(self, name: str) -> Any:
        _State.backend = heard(get_backend())
        return getattr(_State.backend, name)


class _State(threading.local):
    """Class attributes hold for every thread; a `use_backend` block shadows them in its own thread."""

    backend: Any = _FirstUse()
    dtype: str = "float32"
    hears: tuple[Listening, ...] = ()
    """Hear of every call of a primitive, in every thread."""
    reporting: ClassVar[dict[Backend, Backend]] = {}
    """Backend -> one that computes the same and reports its calls."""
    eager: bool = switch("ND_EAGER", False)
    """Whether every computation is run as it is written, nothing recorded, one part after the other."""

    def __init__(self) -> None:
        self.generator: Any = None
        """The generator in force in a block of this thread; None outside, see `nd.random.get_random`."""
        self.outer: list[tuple[InForce, Any, Any, Any]] = []
        """Values that the blocks of this thread shadow; not kept in a block, which may be entered several times."""


state = _State()


def backend() -> Backend:
    """Return the backend that the facade dispatches to now."""
    if isinstance(state.backend, _FirstUse):
        _State.backend = heard(get_backend())
    return state.backend.plain


def heard(chosen: Backend) -> Backend:
    """Return a backend that computes as the one that was chosen, and is heard if somebody listens."""
    if not _State.hears or chosen.silent:
        return chosen
    plain = chosen.plain
    reporter = _State.reporting.get(plain)
    if reporter is None:
        reporter = _State.reporting[plain] = reporting(plain, lambda: _State.hears)
    return reporter


def hear_calls(hears: tuple[Listening, ...]) -> None:
    """Have every call of a primitive told to those from now on, in every thread; without any: no longer.

    In a `use_backend` block that another thread is in already, it holds from the next one on.
    """
    _State.hears = hears
    if not isinstance(_State.backend, _FirstUse):
        _State.backend = heard(_State.backend.plain)
    of_thread = state.__dict__
    if "backend" in of_thread:
        of_thread["backend"] = _heard_or_not(of_thread["backend"])
    of_thread["outer"] = [(block, outer and _heard_or_not(outer), *rest) for block, outer, *rest in of_thread["outer"]]


def _heard_or_not(chosen: Backend) -> Backend:
    return chosen if chosen.silent else heard(chosen.plain)


@called
def set_backend(name: str | Backend) -> Backend:
    """Select a backend for good, in every thread.

    Parameters
    ----------
    name : str or Backend
        ``"numpy"``, ``"cupy"``, ``"auto"``, ``"array_api:torch"``, ``"module:Class"``, or an instance.

    Raises
    ------
    ChoiceError
        The name is unknown.
    ArgumentError
        It is neither a name nor a backend.
    BackendError
        The backend cannot run on this machine.
    """
    chosen = _chosen("set_backend", name)
    _State.backend = heard(chosen)
    return chosen


class InForce(ContextDecorator):
    """Puts a backend, a generator or both in force for a block. A class, because every training step enters one.

    Parameters
    ----------
    chosen : Backend, optional
    generator : Random, optional
    gives_back : bool
        Whether the generator is, after a block that raises, where it was before it.
    """

    __slots__ = ("_chosen", "_gives_back", "generator")

    def __init__(self, chosen: Backend | None, generator: Any = None, gives_back: bool = False) -> None:
        self._chosen, self.generator, self._gives_back = chosen, generator, gives_back

    def _recreate_cm(self) -> InForce:  # a decorated function may run in several threads at once
        return InForce(self._chosen, self.generator, self._gives_back)

    def __enter__(self) -> Any:
        attributes, generator = state.__dict__, self.generator
        drawn = generator.get_state() if self._gives_back else None
        attributes["outer"].append((self, attributes.get("backend"), attributes["generator"], drawn))
        if generator is not None:
            attributes["generator"] = generator
        chosen = self._chosen
        if chosen is None:
            return generator
        plain = chosen.plain if generator is None else None
        attributes["backend"] = chosen  # last, without a call behind it: there Ctrl-C would leave it in force
        return plain

    def __exit__(self, kind: object = None, *error: object) -> None:
        attributes = state.__dict__
        blocks = attributes["outer"]
        place = len(blocks) - 1
        while place >= 0 and blocks[place][0] is not self:  # behind it are blocks whose end Ctrl-C has cut short
            place -= 1
        if place < 0:  # a `Restoring` has put back already what this one would
            return
        _, outer, attributes["generator"], drawn = blocks[place]
        del blocks[place:]
        if outer is not None:
            attributes["backend"] = outer
        elif "backend" in attributes:
            del attributes["backend"]
        if kind is not None and drawn is not None:
            self.generator.set_state(drawn)


class Restoring:
    """Puts back, after a block that raises, what was in force before: backend, generator, the backend's settings.

    Stands around blocks that put something in force and take it back at their end, which Ctrl-C may cut short. The end
    of this one then does it; where that is cut short itself, nothing is left to be put back.
    """

    __slots__ = ("_backend", "_context", "_depth", "_generator")

    def __enter__(self) -> None:
        attributes = state.__dict__
        self._backend, self._generator = attributes.get("backend"), attributes["generator"]
        self._depth, self._context = len(attributes["outer"]), copy_context()

    def __exit__(self, kind: object = None, *error: object) -> None:
        if kind is None:
            return
        attributes, settings = state.__dict__, backend().settings
        if settings is not None:
            before = self._context.run(settings.get)
            if settings.get() is not before:
                settings.set(before)
        while len(attributes["outer"]) > self._depth:
            block, *_, drawn = attributes["outer"].pop()
            if drawn is not None:
                block.generator.set_state(drawn)
        attributes["generator"] = self._generator
        if self._backend is not None:
            attributes["backend"] = self._backend
        else:
            attributes.pop("backend", None)


@called
def use_backend(name: str | Backend) -> InForce:
    """Select a backend for the block, or the decorated function, in this thread only. As `set_backend` otherwise."""
    return InForce(heard(_chosen("use_backend", name)))


def _chosen(who: str, name: str | Backend) -> Backend:
    if isinstance(name, Backend):
        return name
    if not isinstance(name, str):
        raise refusal(who, "name", "text or a Backend", name)
    return get_backend(name, who)


class eager(ContextDecorator):
    """Run every computation of a block, or of the decorated function, as it is written, in this thread.

    Nothing is recorded or replayed, and parts of a minibatch are computed one after the other, so that a debugger steps
    through the layers' own code and a hook hears every op. The numbers are the same, to the bit. Threads that exchange
    sums, in batch normalisation, still run side by side. ``ND_EAGER=1`` does it for all of a process.
    """

    def __enter__(self) -> None:
        self._outer = [*getattr(self, "_outer", ()), state.eager]
        state.eager = True

    def __exit__(self, *error: object) -> None:
        state.eager = self._outer.pop()

    def _recreate_cm(self) -> eager:
        return eager()


def is_eager() -> bool:
    """Return whether nothing is recorded now: in a block of `eager`, or with ``ND_EAGER=1``."""
    return state.eager


class computing:
    """Selects a backend for a block whose results are checked for finiteness, so that the backend need not warn.

    A class: what a Ctrl-C leaves of a generator would put things back when it is dropped, perhaps in another block.
    """

    __slots__ = ("_backend", "_quiet")

    def __init__(self, chosen: Backend) -> None:
        self._backend, self._quiet = within(chosen), chosen.quiet()

    def __enter__(self) -> None:
        self._backend.__enter__()
        self._quiet.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._quiet.__exit__(*error)
        self._backend.__exit__(*error)


def within(chosen: Backend) -> AbstractContextManager[object]:
    """Select a backend as `use_backend` does, for a block that is entered at once: free where it is the current one."""
    if _State.hears:
        chosen = heard(chosen)
    return NOTHING if state.__dict__.get("backend") is chosen else InForce(chosen)


def in_force(chosen: Backend, generator: Random) -> InForce:
    """Put a backend and a generator in force for a block that is entered at once: what a network computes with."""
    return InForce(heard(chosen) if _State.hears else chosen, generator)


NOTHING: AbstractContextManager[object] = nullcontext()
"""A block without effect, which costs nothing to enter."""


def kept_backend(who: str, name: str | None) -> AbstractContextManager[object]:
    """Return a block on the backend on which something was when it was written down.

    In a block of `use_backend` that one stays, and where nothing was written the current one.

    Raises
    ------
    BackendError
        That backend cannot be had here.
    """
    chosen = state.backend  # which may not be settled, and need not be
    same = not isinstance(chosen, _FirstUse) and selector_of(chosen) == name
    if name is None or same or "backend" in state.__dict__:
        return NOTHING
    try:
        return InForce(heard(get_backend(name)))
    except (BackendError, ChoiceError) as error:
        raise BackendError(
            f"{who}: the network was on the backend {name!r}, which must be usable here too, got: {error} Or read it "
            "in a block of another one, with nd.use_backend('numpy')."
        ) from error


def default_dtype() -> str:
    """Return the name of the dtype that creation functions use when none is given."""
    return state.dtype


@called
def set_default_dtype(dtype: str) -> None:
    """Make `dtype` (``"float32"`` or ``"float64"``) the default of creation functions and new networks.

    Raises
    ------
    ChoiceError
        Any other name.
    """
    _State.dtype = check_choice("set_default_dtype", "dtype", str(dtype), FLOAT_DTYPES)


# ---- functions of the facade

_FROM_INSIDE = (
    ArithmeticError, AssertionError, AttributeError, BufferError, LookupError, MemoryError, RuntimeError, TypeError,
    ValueError,
)  # fmt: skip
"""Errors that NumPy, CuPy and PyTorch raise for arguments that they cannot take."""
TAKES_OTHERS = ("as_array", "create", "to_host")
"""Functions whose argument may be an array of another library: they are the way from one to another."""


def explained(function: Function, check: Callable[..., None] | None = None, of_part: bool = False) -> Function:
    """Have a facade function raise the library's errors for wrong arguments.

    Nothing is checked before a call fails, but that there are no arrays of two libraries: arguments that NumPy accepts
    (lists for arrays, say) are computed with. Where there is a `check`, it is called with the arguments too. A method
    `of_part` speaks for the functions that it calls: what is wrong is its argument, ``Tanh.value: z``, not theirs.

    Raises
    ------
    BackendError
        From the decorated function: an argument is an array of another library, where the function is none of
        `TAKES_OTHERS`.
    DTypeError
        From the decorated function: an argument must be an array and is none, or elements have the wrong type.
    ArgumentError
        Another argument is refused by its annotation.
    ShapeError
        The arrays do not fit one another, or the other arguments.
    """
    who = "" if function.__name__ in TAKES_OTHERS else function.__name__

    @functools.wraps(function)
    def call(*arguments: Any, **named: object) -> Any:
        try:
            usual = state.backend.usual
            for value in (*arguments, *named.values()) if named else arguments:
                kind = type(value)
                if kind not in usual and who and (kind is not tuple or _holds_unusual(value, usual)):
                    from .explaining import looked_at  # which usual arguments do not need

                    arguments, named = looked_at(who, arguments, named)
                    break
            if check is not None:
                check(*arguments, **named)
            return function(*arguments, **named)
        except _FROM_INSIDE as caught:
            from .explaining import told_instead  # which calls that succeed do not need

            told, cause = told_instead(function, arguments, named, caught, of_part)
            if told is caught:
                raise
            raise told from cause

    return call  # type: ignore[return-value]


def _holds_unusual(value: tuple[Any, ...], usual: set[type]) -> bool:
    """Tell whether a tuple begins with something else than a number: a shape does not."""
    return bool(value) and type(value[0]) not in usual
