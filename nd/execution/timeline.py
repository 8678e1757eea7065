"""A timeline: every call of a primitive, and marks between them, with the times at which they began and ended."""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from backends.base import Backend
from backends.reporting import Call, Listening, StoppedClock, clock, silence

from ..state import state
from .executioner import add_listening, remove_listening
from .recording import Recording
from .seen_arrays import ArrayKeeper, SeenArray

WRITTEN = frozenset(
    {
        "W_gradient", "W_gradients", "b_gradient", "b_gradients", "c", "gradients", "grads", "inner", "inverse", "out",
        "table", "target",
    }
)  # fmt: skip
"""Parameters of primitives that are written."""
CHANGED = {"axpby": ("y",), "fill": ("x",)}
"""Primitive -> further parameters that it writes."""
READ_TOO = {"put_where": "target", "scatter_add": "table"}
"""Primitive -> a parameter that it writes of which something stays."""
UNDEFINED = frozenset({"buffers", "scratch"})
"""Parameters whose contents matter neither before nor after."""
_ON_THEMSELVES = ("assign", "fill")
"""Methods of arrays that write the array itself; others write the last one that they are given."""
DECLINED = frozenset({"lstm"})
"""Primitives that return None, and have computed nothing, where a backend leaves it to the layer."""
_parameters: dict[tuple[type, str], tuple[str, ...]] = {}
_DEEPEST = 6  # of a call in a recording: tasks of workers are calls in lists in calls


class Event(NamedTuple):
    """A call, or a mark."""

    name: str
    """Of the primitive; empty for a mark."""
    thread: int
    began: float
    ended: float
    """Seconds on the clock of the thread, which stands still while somebody looks."""
    inputs: tuple[SeenArray, ...] = ()
    outputs: tuple[SeenArray, ...] = ()
    mark: Any = None


class _Begun(NamedTuple):
    """What is known when a call begins."""

    names: tuple[str, ...]
    inputs: tuple[SeenArray, ...]


class Timeline(Listening):
    """Hears the calls of one computation; a block in which it listens.

    Parameters
    ----------
    keeper : ArrayKeeper, optional
        Keeps what the calls were given and gave. Without it only times are taken.

    Attributes
    ----------
    events : list of Event
        In the order in which they ended.
    seconds : float
        From the beginning of the block to its end, without the time that listening has taken.

    Notes
    -----
    Calls of other threads are heard once such a thread has made a mark: other threads may compute something else.
    """

    def __init__(self, keeper: ArrayKeeper | None = None) -> None:
        self.keeper, self.events, self.seconds = keeper, list[Event](), 0.0
        self.thread = threading.get_ident()
        self._entered = 0.0
        self._zeros: dict[int, float] = {}
        """Thread that is heard -> what its clock showed, or would have, when the block began."""

    def __enter__(self) -> Timeline:
        self.thread = threading.get_ident()
        add_listening(self)
        self._entered = time.perf_counter()
        self._zeros = {self.thread: clock()}
        return self

    def __exit__(self, *error: object) -> None:
        self.seconds = clock() - self._zeros[self.thread]
        remove_listening(self)

    # ---- heard

    def before(self, backend: Backend, name: str, arguments: tuple[object, ...], named: dict[str, Any]) -> Any:
        if threading.get_ident() not in self._zeros:
            return None
        return () if self.keeper is None else self._begun(self.keeper, backend, name, arguments, named)

    def hear(self, call: Call) -> None:
        thread = threading.get_ident()
        declined = call.result is None and call.name in DECLINED
        if call.before is None or thread not in self._zeros or declined:
            return
        outputs: tuple[SeenArray, ...] = ()
        inputs: tuple[SeenArray, ...] = ()
        if self.keeper is not None and call.before:
            inputs, outputs = call.before.inputs, self._outputs(self.keeper, call)
        began = call.began - self._zeros[thread]
        self.events.append(Event(call.name, thread, began, began + call.seconds, inputs, outputs))

    def mark(self, what: object, arrays: Sequence[tuple[str, Any]] = ()) -> None:
        """Take down that something begins here, with arrays by name."""
        with StoppedClock():
            now = clock() - self._zero()
            self.events.append(Event("", threading.get_ident(), now, now, self._marked(arrays), (), what))

    def _marked(self, arrays: Sequence[tuple[str, Any]]) -> tuple[SeenArray, ...]:
        """Return what is seen of a mark's arrays."""
        if self.keeper is None:
            return ()
        backend = state.backend
        with silence:
            given = [pair for name, nested in arrays for pair in labelled(backend, name, nested)]
            return tuple(self.keeper.seen(label, array, backend.to_host) for label, array in given)

    def _zero(self) -> float:
        """Return what this thread's clock showed when the block began; from now on the thread is heard."""
        told = time.perf_counter() - clock()
        return self._zeros.setdefault(threading.get_ident(), self._entered - told)

    # ---- calls of recordings

    def time(self, call: Callable[[], object], name: str) -> None:
        """Make a call that a recording holds, and hear it."""
        keeper, arrays, before = self.keeper, list[tuple[str, Any]](), tuple[SeenArray, ...]()
        with StoppedClock():
            zero = self._zero()
            if keeper is not None:
                arrays = list(arrays_of(state.backend, call))
                before = tuple(keeper.seen(label, array, state.backend.to_host) for label, array in arrays)
        began = clock() - zero
        call()
        ended = clock() - zero
        with StoppedClock():
            outputs = () if keeper is None else self._changed(keeper, name, arrays, before)
            self.events.append(Event(name, threading.get_ident(), began, ended, before, outputs))

    @staticmethod
    def _changed(
        keeper: ArrayKeeper, name: str, arrays: Sequence[tuple[str, Any]], before: Sequence[SeenArray]
    ) -> tuple[SeenArray, ...]:
        """Return what a call has written: its target, and whatever else is not what it was."""
        after = [keeper.seen(label, array, state.backend.to_host) for label, array in arrays]
        if not after:
            return ()
        target = after[0] if name in _ON_THEMSELVES else after[-1]
        target = next((now for now in after if now.name == "out"), target)
        pairs = zip(before, after, strict=True)
        return target, *(now for then, now in pairs if now.content is not then.content and now is not target)

    # ---- arguments

    def _begun(
        self, keeper: ArrayKeeper, backend: Backend, name: str, arguments: tuple[object, ...], named: dict[str, Any]
    ) -> _Begun:
        names = (*_names_of(backend, name, len(arguments)), *named)
        given = dict(zip(names, (*arguments, *named.values()), strict=True))
        read = {label: value for label, value in given.items() if _is_read(name, label, given)}
        inputs = [
            keeper.seen(label, array, backend.to_host)
            for key, value in read.items()
            for label, array in labelled(backend, key, value)
        ]
        if name.startswith("conv2d") and "x" in given:
            inputs.append(_columns(keeper, backend, given))
        return _Begun(names, tuple(inputs))

    def _outputs(self, keeper: ArrayKeeper, call: Call) -> tuple[SeenArray, ...]:
        """Return what a call has returned, and written: tuples taken apart, every array once."""
        backend, names = state.backend.plain, call.before.names
        written = [
            (name, value)
            for name, value in zip(names, call.arguments, strict=True)
            if name in WRITTEN or name in CHANGED.get(call.name, ())
        ]
        outputs, known = [], list[Any]()
        for key, value in (("result", call.result), *written):
            for label, array in labelled(backend, key, value):
                if not any(array is other for other in known):
                    known.append(array)
                    outputs.append(keeper.seen(label, array, backend.to_host))
        return tuple(outputs)


def _is_read(primitive: str, label: str, given: dict[str, Any]) -> bool:
    """Tell whether what an argument holds before the call matters."""
    if label in UNDEFINED or (primitive == "fill" and label == "x"):
        return False
    if label == "c":
        return bool(given.get("beta"))
    return label not in WRITTEN or READ_TOO.get(primitive) == label


def _columns(keeper: ArrayKeeper, backend: Any, given: dict[str, Any]) -> SeenArray:
    """Return the columns of a convolution's first example, which it may never have laid out."""
    window = given["window"] if "window" in given else given["windows"][0]
    columns = backend.im2col(given["x"][:1, ...], window, partial(_new, backend, backend.dtype_name(given["x"])))
    return keeper.seen("columns", columns, backend.to_host)


def _new(backend: Any, dtype: str, name: str, shape: tuple[int, ...], kind: str | None = None) -> Any:
    return backend.empty_activation(shape, kind or dtype)


def _names_of(backend: Backend, primitive: str, count: int) -> tuple[str, ...]:
    """Return the names of so many arguments by position."""
    key = type(backend), primitive
    names = _parameters.get(key)
    if names is None:
        try:
            names = tuple(inspect.signature(getattr(backend, primitive)).parameters)
        except (TypeError, ValueError):  # of a function in C
            names = ()
        _parameters[key] = names
    return (*names[:count], *(f"argument {number}" for number in range(len(names), count)))


def labelled(backend: Any, name: str, nested: object) -> Iterator[tuple[str, Any]]:
    """Yield the arrays in tuples, lists, dicts and objects of the backends' own, with names that say where they lie.

    Of objects those with public names: others are memory, which may hold anything.
    """
    if backend.is_array(nested):
        yield name, nested
        return
    items: list[tuple[Any, Any]]
    if isinstance(nested, dict):
        items = list(nested.items())
    elif hasattr(nested, "_asdict"):  # a named tuple
        items = list(nested._asdict().items())
    elif isinstance(nested, (tuple, list)):
        items = list(enumerate(nested))
    elif type(nested).__module__.startswith("backends.") and not isinstance(nested, Backend):
        items = [pair for pair in getattr(nested, "__dict__", {}).items() if not pair[0].startswith("_")]
    else:
        return
    for key, item in items:
        yield from labelled(backend, f"{name}[{key}]" if isinstance(key, int) else f"{name}.{key}", item)


# ---- calls that a recording holds


def let_hear(recording: Recording, listening: Callable[[], Timeline | None]) -> bool:
    """Have who listens hear every call of a recording, in every replay from now on; False where there are no calls."""
    calls = getattr(recording.of_backend, "calls", None)
    if calls is None:
        return False
    calls[:] = [call if _is_note(call) else partial(_heard, listening, call, name_of(call)) for call in calls]
    return True


def _heard(listening: Callable[[], Timeline | None], call: Callable[[], object], name: str) -> None:
    timeline = listening()
    if timeline is None:
        call()
    else:
        timeline.time(call, name)


def _is_note(call: Any) -> bool:
    """Tell whether a call is the host's, from `noted`: it computes nothing of the step."""
    return getattr(_function(call), "__qualname__", "").startswith("noted.")


def _function(call: Any) -> Any:
    while isinstance(call, partial):
        call = call.func
    return call


def name_of(call: Any) -> str:
    """Return what a call of a recording is called: "multiply", "dot", "assign"."""
    function = _function(call)
    name = getattr(function, "__name__", type(function).__name__)
    owner = getattr(function, "__self__", None)
    if name == "reduce" and owner is not None:
        return f"{owner.__name__}.reduce"
    qualified = getattr(function, "__qualname__", name).split(".<locals>")[0].rpartition(".")[2]
    return {"__setitem__": "assign", "<lambda>": qualified, "run": qualified}.get(name, name)


def arrays_of(backend: Any, call: Any) -> Iterator[tuple[str, Any]]:
    """Yield the arrays of a call: its arguments', those that a bound method or a function of its own holds."""
    known: set[int] = set()
    for label, array in _inside(backend, "", call, 0):
        if id(array) not in known:
            known.add(id(array))
            yield label or "result", array


def _inside(backend: Any, name: str, nested: Any, depth: int) -> Iterator[tuple[str, Any]]:
    if depth > _DEEPEST:
        return
    if backend.is_array(nested):
        yield name, nested
        return
    items: Sequence[tuple[object, Any]] = ()
    if isinstance(nested, partial):
        items = [("", nested.func), *enumerate(nested.args), *nested.keywords.items()]
    elif isinstance(nested, (tuple, list)):
        items = list(enumerate(nested))
    elif inspect.isfunction(nested):
        cells = zip(nested.__code__.co_freevars, nested.__closure__ or (), strict=True)
        items = [(key, cell.cell_contents) for key, cell in cells]
    elif backend.is_array(getattr(nested, "__self__", None)):  # a method of an array
        items = [("array", nested.__self__)]
    for key, item in items:
        label = name if key == "" else f"argument {key}" if isinstance(key, int) else str(key)
        yield from _inside(backend, label, item, depth + 1)
