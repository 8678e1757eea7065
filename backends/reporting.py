"""A backend that reports every call that computes, and passes it on to another one."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from .base import Backend

REPORTED = (
    "absolute", "add", "affine_gradients", "all_finite", "arange", "argmax", "assign", "astype", "avg_pool",
    "avg_pool3d", "avg_pool3d_backward", "avg_pool_backward", "axpby", "batched_matmul", "channel_error_sums",
    "channel_moments", "channel_sums", "col2im", "concat", "conv2d", "conv2d_backward", "conv2d_max_pool",
    "conv2d_max_pool_backward", "conv3d", "conv3d_backward", "copy", "cos", "deconv", "deconv_backward",
    "depthwise", "depthwise_backward", "divide", "dot", "dropout_factors", "equal", "exp", "fill", "for_channels",
    "full", "gemm", "gradients_of_products", "greater", "greater_equal", "im2col", "item", "locally_connected",
    "locally_connected_backward", "log", "lrn", "lrn_back", "lstm", "lstm_back", "matmul", "max", "max_pool",
    "max_pool3d", "max_pool3d_backward", "max_pool_backward", "maximum", "mean", "minimum", "multiply",
    "normalize_channels", "normalize_channels_back", "normalize_rows", "normalize_rows_back", "pnorm_pool",
    "pnorm_pool_backward", "power", "products_with", "pull_rows", "put_where", "random_raw", "random_uniform",
    "relu", "relu_back", "row_products", "run_formula", "scatter_add", "sign", "sin", "softmax", "sqrt", "square",
    "subtract", "sum", "sum_formula", "sum_into", "sum_of_products", "svd", "tanh", "where",
)  # fmt: skip
"""Primitives that compute or copy; views and the making of memory are none. Sorted."""
_FORMULAS = ("run_formula", "sum_formula")


class Call(NamedTuple):
    """One call of a primitive."""

    name: str
    arguments: tuple[Any, ...]
    result: Any
    seconds: float
    before: Any = None
    """From `Listening.before`."""


class Listening:
    """Hears every call of a primitive."""

    def before(self, backend: Backend, name: str, arguments: tuple[object, ...], named: dict[str, Any]) -> Any:
        """Hear that a call begins; what is returned comes back with it in `hear`."""

    def hear(self, call: Call) -> object:
        """Hear that a call has ended."""


class _Depth(threading.local):
    """The number of reported calls that this thread is in, and of those that it has reported."""

    calls = 0
    reported = 0


_depth = _Depth()


class _Silence:
    """A block in which this thread reports nothing: the listener may compute too."""

    def __enter__(self) -> None:
        _depth.calls += 1

    def __exit__(self, *error: object) -> None:
        _depth.calls -= 1


silence = _Silence()


def reporting(backend: Backend, listening: Callable[[], Listening | None]) -> Backend:
    """Return a backend that computes as that one does, with its memory and threads, and tells who listens of each call.

    Calls that a primitive makes itself are not reported, but for those of a formula that runs as it is written.
    """
    kind: type[Backend] = type(backend)
    methods = {name: _reported(name, getattr(kind, name), listening) for name in REPORTED if hasattr(kind, name)}
    of_instance = {
        name: _reported(name, staticmethod(vars(backend)[name]), listening).__get__(backend)
        for name in REPORTED
        if name in vars(backend)
    }
    reporter: Any = object.__new__(
        type(f"Reporting{kind.__name__}", (kind,), {**methods, "plain": property(lambda self: backend)})
    )
    vars(reporter).update({**vars(backend), **of_instance})
    return reporter


def _reported(name: str, function: Any, listening: Callable[[], Listening | None]) -> Any:
    """Return a method that calls a primitive and reports it."""
    unwrapped = function.__func__ if isinstance(function, staticmethod) else function
    takes_self = unwrapped is function and hasattr(function, "__get__")  # a ufunc of NumPy's or CuPy's does not

    def call(self: Any, *arguments: Any, **named: object) -> Any:
        run = functools.partial(function, self) if takes_self else unwrapped
        if _depth.calls:
            return run(*arguments, **named)
        before, listener, begun = _depth.reported, listening(), None
        if listener is not None:
            with silence:
                begun = listener.before(self.plain, name, arguments, named)
        _depth.calls = name not in _FORMULAS
        started = time.perf_counter()
        try:
            result = run(*arguments, **named)
        finally:
            _depth.calls = 0
        if listener is not None and (_depth.reported == before or name not in _FORMULAS):
            _depth.reported += 1
            seconds = time.perf_counter() - started
            with silence:
                listener.hear(Call(name, (*arguments, *named.values()), result, seconds, begun))
        return result

    return call
