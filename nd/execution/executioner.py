"""Running ops: the only dispatcher of Op objects."""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Callable
from typing import Any

from backends.base import Backend
from backends.errors import ArgumentError, DTypeError, check_choice
from backends.reporting import COMPUTATIONS, Call, Listening, silence
from nd.typing import Array

from ..arguments import argument_names, checked, refusal
from ..ops import OPS, Op, RandomOp
from ..ops.base import leaves_of
from ..random import Random, get_random
from ..state import backend as current_backend
from ..state import hear_calls
from . import network_ops

Hook = Callable[[Op], object]

_hooks: list[Hook] = []
_listening: list[Listening] = []


class _Hooks(Listening):
    """Lets the hooks hear: a call that has an op is made as that op, by `exec` or `execRandom`."""

    def hears_parts(self, name: str, arguments: tuple[object, ...]) -> bool:
        return name not in COMPUTATIONS or network_ops.op_of(name, arguments, {}) is None

    def before(self, backend: Backend, name: str, arguments: tuple[object, ...], named: dict[str, Any]) -> Op | None:
        if _op.runs or current_backend() is not backend:  # where an op would run
            return None
        return network_ops.op_of(name, arguments, named)

    def run(self, begun: Op | None, run: Callable[[], Any]) -> Any:
        if begun is None:
            return run()
        if isinstance(begun, RandomOp):
            execRandom(begun, begun.rng)
        else:
            exec(begun)
        return begun.result

    def hear(self, call: Call) -> None:
        if not _op.runs and call.before is None:  # else it is heard as an op, not also as the calls that it consists of
            _tell(HeardCall(call))


class _RunningOp(threading.local):
    """Whether this thread runs an op of `exec`."""

    runs = False


_op = _RunningOp()
_of_hooks = _Hooks()


def add_listening(one: Listening) -> None:
    """Let somebody hear of every call, and of its beginning."""
    if one not in _listening:
        _listening.append(one)
    hear_calls(tuple(_listening))


def remove_listening(one: Listening) -> None:
    """Let somebody hear no longer."""
    if one in _listening:
        _listening.remove(one)
    hear_calls(tuple(_listening))


def exec(op: Op | type[Op] | str, *args: object, **kwargs: object) -> Array:
    """Compute ``op.z`` from ``op.x`` and ``op.y`` and return it; in place when z is x.

    Parameters
    ----------
    op : Op, class of ops, or str
        A class, or a name from `nd.ops.OPS` in any case, is called with the other arguments.

    Raises
    ------
    ChoiceError
        No op has that name.
    DTypeError
        The op draws random numbers, or is no op.
    BackendError
        An array belongs to another backend.

    Examples
    --------
    >>> import nd
    >>> exec("relu", nd.create([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    >>> exec(nd.ops.Sum(nd.ones(2, 3), dimension=1)).tolist()
    [3.0, 3.0]
    """
    if not isinstance(op, Op):
        op = _make(op, args, kwargs)
    elif args or kwargs:
        raise DTypeError(f"exec: {op.who} must come without arguments, got {[*args, *kwargs]}. Give them to {op.who}.")
    if op.random:
        raise DTypeError(f"exec: expected an op that draws nothing, got {op.who}. Use nd.execRandom.")
    return _run(op)


def execRandom(op: RandomOp, rng: Random | None = None) -> Array:
    """Compute ``op.z`` of an op that draws random numbers, and return it; in place when z is x.

    Parameters
    ----------
    op : RandomOp
    rng : nd.random.Random, optional
        By default the generator that this thread draws from, see `nd.random.get_random`.

    Raises
    ------
    DTypeError
        The op draws nothing, or is no op.
    ArgumentError
        The generator is none.
    BackendError
        An array belongs to another backend.
    """
    if not isinstance(op, RandomOp):
        who = op.who if isinstance(op, Op) else repr(op)
        raise DTypeError(f"execRandom: expected an op that draws random numbers, got {who}. Use nd.exec for others.")
    if rng is not None and not isinstance(rng, Random):
        raise refusal("execRandom", "rng", "a Random", rng, default=None)
    op.rng = get_random() if rng is None else rng
    return _run(op)


@checked
def add_hook(hook: Hook) -> None:
    """Call ``hook(op)`` after every op: of `nd.exec` and `nd.execRandom`, and every call of a function that computes.

    Parameters
    ----------
    hook : callable
        op.who, op.x, op.y, op.z, op.inputs, op.outputs and op.seconds describe the op. Arrays are the ones that are
        computed with, which later ops overwrite. It runs in the thread that runs the op; added twice, it runs twice. It
        hears nothing of its own computations; a trace that it takes has no ops.

    Raises
    ------
    ArgumentError
        It cannot be called.

    Notes
    -----
    A function that computes, called by a network or by you, is run as the op that it is, by `nd.exec` or
    `nd.execRandom`, to the bit; one that has no op is reported as a `HeardCall`. Of a step of a network that is
    recorded and replayed only the copies of its data are heard, and it costs what it costs without a hook: in a block
    ``with nd.eager():``, or with ``ND_EAGER=1``, nothing is recorded and every op of every step is heard. Arithmetic by
    Python's operators on arrays (``a + b``) is the array library's own and is not heard.
    """
    _hooks.append(hook)
    add_listening(_of_hooks)


@checked
def remove_hook(hook: Hook) -> None:
    """Stop calling a hook that `add_hook` added; a hook that is not there is ignored."""
    if hook in _hooks:
        _hooks.remove(hook)
    if not _hooks:
        remove_listening(_of_hooks)


class HeardCall(Op):
    """Report to a hook of a call that has no op.

    Attributes
    ----------
    who : str
        The backend's primitive.
    inputs : tuple
        Arrays and numbers that it was given, the array that it wrote included; tuples are taken apart.
    outputs : tuple of array
        Arrays in the value that it returned; where there are none, those that it was given, which it may have written.
    x, y : object
        The first two of the inputs, None where there are none.
    z : object
        The first of the outputs, or the number that it returned.
    seconds : float
    """

    def __init__(self, call: Call) -> None:
        self._name, self.seconds = call.name, call.seconds
        self.given = leaves_of(call.arguments)
        returned, backend = leaves_of((call.result,)), current_backend()
        self.made = tuple(filter(backend.is_array, returned)) or tuple(filter(backend.is_array, self.given))
        self.x, self.y = (*self.given, None, None)[:2]
        self.z = (*returned, *self.made, None)[0]

    @property
    def inputs(self) -> tuple[Any, ...]:
        return self.given

    @property
    def outputs(self) -> tuple[Array, ...]:
        return self.made

    @property
    def who(self) -> str:
        return self._name

    def run(self) -> Any:
        return self.z


def _make(op: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Op:
    if isinstance(op, str):
        op = OPS[check_choice("exec", "op", op.lower(), OPS)]
    if not (isinstance(op, type) and issubclass(op, Op)):
        raise DTypeError(f"exec: expected an op, a class of ops or a name, got {op!r}. See nd.ops.")
    try:
        return op(*args, **kwargs)
    except TypeError as error:
        if argument_names(op, args, kwargs) is not None:
            raise
        expected = ", ".join(inspect.signature(op).parameters)
        raise ArgumentError(f"exec: arguments of {op.__name__} must be {expected}, got others ({error}).") from None


def _run(op: Op) -> Array:
    if not _hooks:
        return op.run()
    outer, _op.runs = _op.runs, True
    started = time.perf_counter()
    try:
        z = op.run()
    finally:
        _op.runs = outer
    op.seconds = time.perf_counter() - started
    if op.outputs:  # else the backend has not this way of computing
        _tell(op)
    return z


def _tell(op: Op) -> None:
    """Let the hooks hear of an op, and not of what they compute."""
    with silence:
        for hook in tuple(_hooks):
            hook(op)
