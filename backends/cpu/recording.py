"""Recordings: the NumPy calls of a computation, written down once and replayed without the Python around them.

While one is made, arrays of class `TracedArray` note every ufunc and every copy that touches them, with its result's
memory. Replaying it makes the same calls on the same memory: what is computed then depends on nothing but the contents
of the arrays. What a recording cannot hold, a decision on a value or a random draw, raises `NotRecorded`.
"""

from __future__ import annotations

import contextvars
import operator
import threading
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar

import numpy as np

from ..errors import NotRecorded

Result = TypeVar("Result")


class _Active(threading.local):
    """The recording that is made in this thread."""

    recording: Recording | None = None


_active = _Active()
UFUNC_BUFFER = 1024  # elements; with NumPy's 8192 it copies slices of images through buffers, which takes twice as long
_quiet = contextvars.Context()  # holds NumPy's settings, where recordings are replayed
_quiet.run(np.seterr, all="ignore")
_quiet.run(np.setbufsize, UFUNC_BUFFER)
SETTINGS = next(iter(_quiet), None)
"""NumPy's context variable with its settings."""


def quietly(function: Callable[..., object], *arguments: object) -> Any:
    """Call a function without NumPy's warnings of what is not finite, at a fifth of what numpy.errstate costs."""
    return _quiet.copy().run(function, *arguments)


class Recording:
    """Calls without arguments, in their order.

    Parameters
    ----------
    generator : callable
        Returns the generator that random numbers are drawn from, asked again at every replay.

    Attributes
    ----------
    size : int
        Bytes of the results that the calls have memory for.
    held : callable, optional
        Makes the calls, where they have to be made within something.
    """

    def __init__(self, generator: Callable[[], Any] | None = None) -> None:
        self.calls: list[Callable[[], object]] = []
        self.generator = generator
        self.size = 0
        self.held: Callable[[Callable[[], object]], object] | None = None

    def hear(self, run: Callable[[], Result]) -> Result:
        """Call a function, and note what traced arrays of this thread do in it; return its result.

        No context manager: Ctrl-C may come as one is about to end, and what it has set would then stay.
        """
        outer, _active.recording = _active.recording, self
        try:
            return run()
        finally:
            _active.recording = outer

    def replay(self) -> None:
        """Make all calls again, without warnings of what is not finite: whoever reads the results checks that.

        No Python stands between the calls: `deque` only takes what `map` gives, and keeps nothing of it.
        """
        if self.held is None:
            _quiet.copy().run(deque, map(operator.call, self.calls), 0)
        else:
            self.held(partial(_quiet.copy().run, deque, map(operator.call, self.calls), 0))


def unrecorded(call: Callable[[], object]) -> None:
    """Make a call whose own computations this thread's recording does not hold."""
    outer, _active.recording = _active.recording, None
    try:
        call()
    finally:
        _active.recording = outer


def note_held(call: Callable[[], object], held: Callable[[Callable[[], object]], object]) -> None:
    """Append a call that has to be made within `held`, as the whole recording will then be replayed."""
    if _active.recording is not None:
        _active.recording.calls.append(call)
        _active.recording.held = held


def note(function: Callable[..., object], *arguments: object, **options: np.ndarray) -> None:
    """Append a call to the recording that is made in this thread, if one is."""
    if _active.recording is not None:
        _active.recording.calls.append(partial(function, *arguments, **options))


def _note_ufunc(
    ufunc: Any, method: str, inputs: tuple[object, ...], target: np.ndarray, options: dict[str, Any]
) -> None:
    """Note a ufunc with its arguments by position where it takes them so: NumPy is faster with them."""
    if method == "__call__" and not options and ufunc.signature is None:
        inputs, target = _in_memory_order(inputs, target)
    if method == "__call__" and not options and ufunc not in (np.maximum, np.minimum):
        note(ufunc, *inputs, target)
    elif method == "reduce" and options.keys() <= {"axis", "keepdims"}:
        note(ufunc.reduce, *inputs, options.get("axis", 0), None, target, options.get("keepdims", False))
    else:
        note(ufunc if method == "__call__" else getattr(ufunc, method), *inputs, out=target, **options)


def _in_memory_order(inputs: tuple[Any, ...], target: np.ndarray) -> tuple[tuple[object, ...], np.ndarray]:
    """Permute the axes of all arrays so that the result is in c order: NumPy runs one long loop without searching."""
    if target.flags.c_contiguous or not all(isinstance(x, np.ndarray) and x.ndim in (0, target.ndim) for x in inputs):
        return inputs, target
    axes = sorted(range(target.ndim), key=lambda axis: -abs(target.strides[axis]))
    return tuple(x.transpose(axes) if x.ndim else x for x in inputs), target.transpose(axes)


def plain(x: object) -> Any:
    """Return a traced array as numpy.ndarray; anything else as it is, also inside of lists and tuples."""
    if isinstance(x, TracedArray):
        return x.view(np.ndarray)
    if isinstance(x, (list, tuple)):
        return type(x)(plain(item) for item in x)
    return x


def _operands(inputs: tuple[object, ...]) -> tuple[object, ...]:
    """Return a ufunc's inputs; Python's numbers as arrays of the dtype that NumPy would take them for, once for all."""
    operands = plain(inputs)
    for array in operands:
        if isinstance(array, np.ndarray) and array.dtype.kind == "f":
            return tuple(np.asarray(x, array.dtype) if type(x) in (int, float) else x for x in operands)
    return operands


def writable(target: np.ndarray) -> np.ndarray:
    """Return the memory that a recorded call writes; refuse an array that is not traced: reads of it are not noted."""
    if _active.recording is not None and not isinstance(target, TracedArray):
        raise NotRecorded("a recording cannot hold a result in an array that is not traceable.")
    return plain(target)


def _traced(x: np.ndarray) -> TracedArray:
    return x.view(TracedArray)


def own_memory(x: np.ndarray) -> TracedArray:
    """Return a new array as a traced one, and count its bytes as the recording's."""
    if _active.recording is not None:
        _active.recording.size += x.nbytes
    return _traced(x)


def active_recording() -> Recording:
    """Return the recording that is made in this thread; raise NotRecorded where there is none."""
    if _active.recording is None:
        raise NotRecorded("this thread records nothing.")
    return _active.recording


def _is_slice(key: object, value: object, memory: np.ndarray) -> bool:
    """Tell whether the value that an index gave lies in the memory; a slice of nothing lies nowhere."""
    if not isinstance(value, np.ndarray) or value.size:
        return isinstance(value, np.ndarray) and np.may_share_memory(value, memory)
    return not any(isinstance(index, (np.ndarray, list)) for index in (key if isinstance(key, tuple) else (key,)))


def _refused(method: str) -> Callable[..., object]:
    def refuse(self: TracedArray, *arguments: object, **options: object) -> Any:
        if _active.recording is not None:
            raise NotRecorded(f"a recording cannot hold {method} of an array.")
        return getattr(np.ndarray, method)(self, *arguments, **options)

    return refuse


class TracedArray(np.ndarray):
    """An array whose operations are noted by the active recording; without one it is like any other."""

    def __array_finalize__(self, source: object) -> None:
        if _active.recording is not None and isinstance(source, TracedArray) and self.flags.owndata:
            raise NotRecorded("a method of an array copied it behind the recording's back.")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: object, out: Any = None, **options: object) -> Any:
        if _active.recording is None:
            given = {} if out is None else {"out": plain(out)}
            result = getattr(ufunc, method)(*plain(inputs), **given, **options)
            return result if out is None else out[0] if ufunc.nout == 1 else out
        if method not in ("__call__", "reduce") or ufunc.nout != 1:
            raise NotRecorded(f"a recording cannot hold numpy.{ufunc.__name__}.{method}.")
        function = ufunc if method == "__call__" else getattr(ufunc, method)
        inputs, options = _operands(inputs), {name: plain(value) for name, value in options.items()}
        if out is None:
            target = np.asarray(function(*inputs, **options))
            _note_ufunc(ufunc, method, inputs, target, options)
            return own_memory(target)
        target = writable(out[0])
        function(*inputs, out=target, **options)
        _note_ufunc(ufunc, method, inputs, target, options)
        return out[0]

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        if _active.recording is None:
            return super().__array_function__(function, types, arguments, options)
        if function is np.copyto:
            writable(arguments[0])
        if function is np.dot and len(arguments) == 3:
            x, y = plain(arguments[:2])
            note(x.dot, y, writable(arguments[2]))
            function(*plain(arguments))
            return arguments[2]
        arguments, options = plain(arguments), {name: plain(value) for name, value in options.items()}
        result = function(*arguments, **options)
        if function is np.copyto:
            if options.keys() <= {"casting"}:
                note(arguments[0].__setitem__, ..., arguments[1])
            else:
                note(function, *arguments, **options)
            return None
        if not isinstance(result, (np.ndarray, np.generic)):
            raise NotRecorded(f"a recording cannot hold numpy.{function.__name__}.")
        target = np.asarray(result)
        if target.size and any(
            isinstance(argument, np.ndarray) and np.may_share_memory(argument, target) for argument in arguments
        ):
            return _traced(target)  # a view: nothing was computed
        if function is np.dot:
            note(arguments[0].dot, arguments[1], target)
        elif function is np.astype:
            note(target.__setitem__, ..., arguments[0])
        else:
            note(_rerun, target, function, *arguments, **options)
        return own_memory(target)

    def __setitem__(self, key: object, value: object) -> None:
        memory = plain(self)
        if _active.recording is None:
            memory[plain(key)] = plain(value)
            return
        target = memory[key]
        if not _is_slice(key, target, memory):
            raise NotRecorded("a recording holds assignments to slices only.")
        np.copyto(target, plain(value), casting="unsafe")
        note(target.__setitem__, ..., plain(value))

    def fill(self, value: object) -> None:
        """Set every element."""
        target = plain(self)
        target.fill(value)
        note(target.fill, value)

    def __getitem__(self, key: Any) -> Any:
        value = super().__getitem__(key)
        if _active.recording is None:
            return value
        if not _is_slice(key, plain(value), plain(self)):
            raise NotRecorded("a recording holds slices of arrays only, not elements that are copied out of them.")
        return value

    for _name in (
        "__bool__", "__contains__", "__float__", "__index__", "__int__", "argmax", "argmin", "item", "partition",
         "put", "setfield", "sort", "tobytes", "tolist", "trace",
    ):  # fmt: skip
        locals()[_name] = _refused(_name)
    del _name

    def __iter__(self) -> Iterator[Any]:
        return iter([self[index] for index in range(len(self))])

    @property
    def flat(self) -> Any:
        """An iterator over the elements, which no recording holds."""
        if _active.recording is not None:
            raise NotRecorded("a recording cannot hold an iterator over an array.")
        return plain(self).flat


def _rerun(target: np.ndarray, function: Callable[..., Any], *arguments: object, **options: object) -> None:
    np.copyto(target, function(*arguments, **options))
