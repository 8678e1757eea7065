"""A record of every call of a primitive, with all that it needs to be made again."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any

from backends.base import Backend
from backends.reporting import Call, Listening

from ..arguments import called
from ..state import within
from .executioner import add_listening, remove_listening
from .workers import Buffers

MEMORY = ("buffer", "buffers")
"""Parameters of primitives that hand out memory: a call that is made again has other memory."""


class RecordedCall:
    """One call of a primitive.

    Attributes
    ----------
    primitive : str
        Name of the backend's method.
    inputs : tuple
        Its arguments as they were before: copies of arrays, also of those that it has written.
    outputs : tuple
        The value that it returned, and the arrays among its arguments as they were after it: copies.
    """

    def __init__(self, backend: Backend, primitive: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
        self._backend, self.primitive, self._names = backend, primitive, tuple(named)
        self.inputs: tuple[Any, ...] = _copied(backend, (*arguments, *named.values()))
        self.outputs: tuple[Any, ...] = ()

    def replay(self) -> tuple[Any, ...]:
        """Make the call again, on copies of the inputs; return its outputs, which are the same to the bit."""
        backend, method = self._backend, getattr(self._backend, self.primitive)
        dtype = next((backend.dtype_name(array) for array in _arrays(backend, self.inputs)), "float32")
        memory, places = Buffers(dtype), _places_of_memory(method, self._names, len(self.inputs))
        given = _copied(backend, self.inputs, memory)
        given = tuple(memory if place in places and callable(x) else x for place, x in enumerate(given))
        positional = len(given) - len(self._names)
        with within(backend), backend.quiet():
            result = method(*given[:positional], **dict(zip(self._names, given[positional:], strict=True)))
        return self.outputs_of(result, given)

    def outputs_of(self, result: object, given: tuple[object, ...]) -> tuple[Any, ...]:
        """Return what a call has returned, and its arrays, as copies."""
        return _copied(self._backend, (result, *_arrays(self._backend, given)))

    def __repr__(self) -> str:
        return f"RecordedCall({self.primitive})"


class _Recording(Listening):
    def __init__(self, calls: list[RecordedCall]) -> None:
        self._calls = calls

    def before(self, backend: Backend, name: str, arguments: tuple[object, ...], named: dict[str, Any]) -> RecordedCall:
        return RecordedCall(backend, name, arguments, named)

    def hear(self, call: Call) -> None:
        recorded: RecordedCall = call.before
        recorded.outputs = recorded.outputs_of(call.result, call.arguments)
        self._calls.append(recorded)


@contextmanager
@called
def record_calls() -> Iterator[list[RecordedCall]]:
    """Record every call of a primitive in the block, of all threads; yield the list that they come into.

    Of a step of a network all calls are heard in eager mode alone: ``with nd.eager(), nd.record_calls() as calls``. The
    record copies all arrays that a call is given and gives. Arithmetic by Python's operators on arrays is not heard.

    Examples
    --------
    >>> import nd
    >>> with nd.record_calls() as calls:
    ...     y = nd.exp(nd.create([0.0, 1.0]))
    >>> calls
    [RecordedCall(exp)]
    >>> bool((calls[0].replay()[0] == y).all())
    True
    """
    calls: list[RecordedCall] = []
    recording = _Recording(calls)
    add_listening(recording)
    try:
        yield calls
    finally:
        remove_listening(recording)


def _places_of_memory(method: Callable[..., object], names: tuple[str, ...], count: int) -> set[int]:
    """Return which of the arguments of a call, the named ones last, hand out memory."""
    try:
        parameters = list(inspect.signature(method).parameters)
    except (TypeError, ValueError):  # of a function in C
        return set()
    called_by = [*parameters[: count - len(names)], *names]
    return {place for place, name in enumerate(called_by) if name in MEMORY}


def _copied(backend: Backend, nested: object, memory: object = None) -> Any:
    """Return the same with copies of all arrays, which lie to one another as these do.

    With `memory`, a backend's own objects take theirs from there.
    """
    arrays = {id(array): array for array in _arrays(backend, nested)}
    copies = dict(zip(arrays, backend.snapshot(list(arrays.values())), strict=True))
    return _with_arrays(backend, nested, copies, memory)


def _arrays(backend: Backend, nested: object) -> Iterator[Any]:
    """Yield arrays in tuples, lists, dicts and objects of the backends' own."""
    if backend.is_array(nested):
        yield nested
    for item in _items(nested):
        yield from _arrays(backend, item)


def _items(nested: object) -> Iterable[object]:
    if isinstance(nested, (tuple, list)):
        return nested
    if isinstance(nested, dict):
        return nested.values()
    return vars(nested).values() if _is_of_a_backend(nested) else ()


def _is_of_a_backend(x: object) -> bool:
    """Tell whether it is what one primitive has kept for another one."""
    return type(x).__module__.startswith("backends.") and hasattr(x, "__dict__") and not isinstance(x, Backend)


def _with_arrays(backend: Backend, nested: object, copies: dict[int, Any], memory: object) -> Any:
    if id(nested) in copies:
        return copies[id(nested)]
    if not any(True for _ in _arrays(backend, nested)):
        return nested
    items = [_with_arrays(backend, item, copies, memory) for item in _items(nested)]
    if isinstance(nested, list):
        return items
    if isinstance(nested, tuple):
        return tuple(items) if type(nested) is tuple else type(nested)(*items)
    if isinstance(nested, dict):
        return dict(zip(nested, items, strict=True))
    twin = copy(nested)
    vars(twin).update(zip(vars(nested), items, strict=True))
    vars(twin).update({name: memory for name in vars(twin) if memory is not None and name.strip("_") in MEMORY})
    return twin
