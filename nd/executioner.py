"""Running ops: the only dispatcher of Op objects."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from backends.errors import ArgumentError, DTypeError, check_choice

from .arguments import argument_names, checked, refusal
from .ops import OPS, Op, RandomOp
from .random import Random, get_random

Array = Any
Hook = Callable[[Op], object]

_hooks: list[Hook] = []


def exec(op: Op | type[Op] | str, *args: Any, **kwargs: Any) -> Array:
    """Compute ``op.z`` from ``op.x`` and ``op.y`` and return it; in place when z is x.

    Parameters
    ----------
    op : Op, class of ops, or str
        With a class, or a name from `nd.ops.OPS` in any case, the op is made from the other arguments.

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
        By default the one that this thread draws from, see `nd.random.get_random`.

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
    """Call ``hook(op)`` after every op that `nd.exec` or `nd.execRandom` runs, for tracing.

    Parameters
    ----------
    hook : callable
        op.who, op.x, op.y and op.z tell it what was done. Called in the thread that runs the op; added twice, twice.

    Raises
    ------
    ArgumentError
        It cannot be called.

    Notes
    -----
    It hears nothing of functions such as `nd.addi` or `nd.gemm`, and so nothing while a network trains or predicts:
    layers, losses and updaters call these functions, which make no op objects.
    """
    _hooks.append(hook)


@checked
def remove_hook(hook: Hook) -> None:
    """Stop calling a hook that `add_hook` added; a hook that is not there is ignored."""
    if hook in _hooks:
        _hooks.remove(hook)


def _make(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Op:
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
    z = op.run()
    for hook in tuple(_hooks):
        hook(op)
    return z
