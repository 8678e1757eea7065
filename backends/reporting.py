"""A backend that reports every call that computes, and passes it on to another one."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .base import Backend
from .dispatch import implementation

REPORTED = (
    "absolute", "add", "affine_gradients", "all_finite", "arange", "argmax", "assign", "astype", "avg_pool",
    "avg_pool3d", "avg_pool3d_backward", "avg_pool_backward", "axpby", "batched_matmul", "channel_error_sums",
    "channel_moments", "channel_sums", "col2im", "concat", "conv2d", "conv2d_backward", "conv2d_max_pool",
    "conv2d_max_pool_backward", "conv3d", "conv3d_backward", "copy", "cos", "deconv", "deconv_backward", "depthwise",
    "depthwise_backward", "divide", "dot", "dropout_factors", "equal", "exp", "fill", "for_channels", "full", "gemm",
    "gradients_of_products", "greater", "greater_equal", "grouped", "grouped_backward", "grouped_deconv",
    "grouped_deconv_backward", "im2col", "item", "largest", "locally_connected", "locally_connected_backward", "log",
    "lrn", "lrn_back", "lstm", "lstm_back", "matmul", "max", "max_places", "max_pool", "max_pool3d",
    "max_pool3d_backward", "max_pool_backward", "maximum", "mean", "minimum", "multiply", "normalize_channels",
    "normalize_channels_back", "normalize_rows", "normalize_rows_back", "pnorm_pool", "pnorm_pool_backward", "power",
    "products_with", "pull_rows", "put_where", "random_raw", "random_uniform", "relu", "relu_back", "row_products",
    "run_formula", "scatter_add", "sign", "sin", "softmax", "sqrt", "square", "stochastic_pool", "subtract", "sum",
    "sum_formula", "sum_into", "sum_of_products", "svd", "tanh", "where",
)  # fmt: skip
"""Primitives that compute or copy; views and the making of memory are none. Sorted."""
COMPOSED = (
    "affine_gradients", "conv2d", "conv2d_backward", "conv2d_max_pool", "conv2d_max_pool_backward",
    "gradients_of_products", "products_with", "sum_of_products",
)  # fmt: skip
"""Primitives whose generic implementation calls others, which a listening may hear in their place."""
COMPUTATIONS = ("activation", "activation_gradient", "draw")
"""What the facade computes with primitives, and a listening may hear as one, see `Powers.computed`."""
_FORMULAS = ("run_formula", "sum_formula")


class Call(NamedTuple):
    """One call of a primitive."""

    name: str
    arguments: tuple[Any, ...]
    result: Any
    began: float
    """On this thread's `clock`."""
    seconds: float
    before: Any = None
    """From `Listening.before`."""


class Listening:
    """Hears every call of a primitive."""

    def hears_parts(self, name: str, arguments: tuple[object, ...]) -> bool:
        """Tell whether of a call that consists of others those are heard; else it is heard as one.

        Asked of `COMPUTATIONS`, and of `COMPOSED` where their generic implementation runs.
        """
        return name in COMPUTATIONS

    def before(self, backend: Backend, name: str, arguments: tuple[object, ...], named: dict[str, Any]) -> Any:
        """Hear that a call begins; what is returned comes back with it in `run` and `hear`."""

    def run(self, begun: Any, run: Callable[[], Any]) -> Any:
        """Run the call, or do the same in another way, to the bit; `begun` is from `before`."""
        return run()

    def hear(self, call: Call) -> object:
        """Hear that a call has ended."""


class _Depth(threading.local):
    """The number of reported calls that this thread is in, of those that it has reported, and who hears nothing."""

    calls = 0
    reported = 0
    told = 0.0
    """Seconds for which this thread has told of calls, and not computed."""
    stopped = 0.0
    """When its clock was stopped; 0 while it runs."""
    deaf: tuple[Listening, ...] = ()
    """Listenings that hear the call as one of whose parts this thread runs one."""


_depth = _Depth()


class _Silence:
    """A block in which this thread reports nothing: the listener may compute too."""

    def __enter__(self) -> None:
        _depth.calls += 1

    def __exit__(self, *error: object) -> None:
        _depth.calls -= 1


silence = _Silence()


def clock() -> float:
    """Return the time on a clock of this thread's, in seconds, which stands still while calls are told of."""
    return (_depth.stopped or time.perf_counter()) - _depth.told


class StoppedClock:
    """A block in which this thread's clock stands still, also where it is in another one."""

    def __enter__(self) -> None:
        self._before = _depth.stopped
        _depth.stopped = self._before or time.perf_counter()

    def __exit__(self, *error: object) -> None:
        if not self._before:
            _depth.told += time.perf_counter() - _depth.stopped
        _depth.stopped = self._before


def reporting(backend: Backend, listening: Callable[[], Sequence[Listening]]) -> Backend:
    """Return a backend that computes as that one does, with its memory and threads, and tells who listens of each call.

    Calls that a primitive makes itself are not reported, but for those of a formula that runs as it is written, and
    of what `Listening.hears_parts`.
    """
    kind: type[Backend] = type(backend)
    methods = {name: _reported(name, getattr(kind, name), listening) for name in REPORTED if hasattr(kind, name)}
    of_instance = {
        name: _reported(name, staticmethod(vars(backend)[name]), listening).__get__(backend)
        for name in REPORTED
        if name in vars(backend)
    }

    def computed(self: Any, name: str, run: Callable[..., Any], *arguments: Any) -> Any:
        entered = time.perf_counter()
        return _told(self, name, functools.partial(run, *arguments), arguments, {}, listening(), True, entered)

    own = {"plain": property(lambda self: backend), "reports": True, "computed": computed}
    reporter: Any = object.__new__(type(f"Reporting{kind.__name__}", (kind,), {**methods, **own}))
    vars(reporter).update({**vars(backend), **of_instance})
    return reporter


def _reported(name: str, function: Any, listening: Callable[[], Sequence[Listening]]) -> Any:
    """Return a method that calls a primitive and reports it."""
    unwrapped = function.__func__ if isinstance(function, staticmethod) else function
    takes_self = unwrapped is function and hasattr(function, "__get__")  # a ufunc of NumPy's or CuPy's does not
    generic = getattr(Backend, name, None)
    generic = getattr(generic, "generic", generic)

    def call(self: Any, *arguments: Any, **named: object) -> Any:
        entered = time.perf_counter()
        first = (self,) if takes_self else ()
        run = functools.partial(unwrapped, *first, *arguments, **named)
        if _depth.calls:
            return run()
        composed = name in COMPOSED and implementation(function, self, arguments, named) is generic
        return _told(self, name, run, arguments, named, listening(), composed, entered)

    return call


def _told(
    backend: Any,
    name: str,
    run: Callable[[], Any],
    arguments: tuple[Any, ...],
    named: dict[str, Any],
    listening: Sequence[Listening],
    composed: bool,
    entered: float,
) -> Any:
    """Run a call and tell who listens of it; those who hear its parts hear them as they run."""
    if _depth.calls:
        return run()
    hearing = [one for one in listening if one not in _depth.deaf]
    with silence:
        whole = [one for one in hearing if not (composed and one.hears_parts(name, arguments))]
        begun = [(one, one.before(backend.plain, name, arguments, named)) for one in whole]
    for one, kept in begun:
        run = functools.partial(one.run, kept, run)
    formula, before, deaf = name in _FORMULAS, _depth.reported, _depth.deaf
    in_parts = formula or len(whole) < len(hearing)
    _depth.calls, _depth.deaf = not in_parts, deaf if formula else (*deaf, *whole)
    if not _depth.stopped:
        _depth.told += time.perf_counter() - entered
    began = clock()
    try:
        result = run()
    finally:
        _depth.calls, _depth.deaf = 0, deaf
    ended = clock()
    is_told = bool(whole) and (_depth.reported == before or not formula)
    _depth.reported += is_told
    with StoppedClock(), silence:
        for one, kept in begun if is_told else ():
            one.hear(Call(name, (*arguments, *named.values()), result, began, ended - began, kept))
    return result
