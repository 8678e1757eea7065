"""Rows of a trace: ops, what passes between nodes, Python between the ops, chunks of the update."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from optimize.chunks import ChunkTerms

if TYPE_CHECKING:
    from nd.execution.seen_arrays import SeenArray
    from nd.execution.timeline import Event
    from nd.typing import HostArray

OP, PASSING, PYTHON, CHUNK, UPDATE = "op", "passing", "python", "chunk", "update"
"""Kinds of rows."""


@dataclass
class Row:
    """A row of a trace.

    Attributes
    ----------
    kind : str
        "op"; "passing" of what a node is given by others; "python" between the ops of a node; "update", all chunks of
        it, and "chunk".
    phase : {"step", "forward", "loss", "backward", "update"}
        "step" is what is done for all nodes at once: copies of data, penalties' scores, the check of a gradient.
    node : str
        Name of the layer or vertex, ``"a + b"`` of two that run as one; empty between them; of a chunk and its ops the
        parameters in it.
    op : str
        The primitive; of an update the updater.
    part : int
        Number of the pass through the nodes: a part of the minibatch, or a segment of a series.
    thread : int
        0 is the thread that has called. Its rows sum to the wall time; others compute beside it.
    began, seconds : float
        Seconds since the step began, and how long; of Python the sum of all that is between the ops of one node.
    seen_inputs, seen_outputs : tuple of SeenArray
        With what is known of arrays whose numbers are not kept.
    values : dict of str -> float
        The numbers that an update computes with, by name.
    rows : list of Row
        Of an update its chunks, of a chunk its ops.
    number : int
        Among all rows, in their order.
    """

    kind: str
    phase: str
    node: str
    op: str
    part: int
    thread: int
    began: float
    seconds: float
    seen_inputs: tuple[SeenArray, ...] = ()
    seen_outputs: tuple[SeenArray, ...] = ()
    values: dict[str, float] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    number: int = -1

    @property
    def inputs(self) -> dict[str, HostArray]:
        """The arrays that it was given, by the names of its arguments; DataError where one is beyond the budget."""
        return {seen.name: seen.values for seen in self.seen_inputs}

    @property
    def outputs(self) -> dict[str, HostArray]:
        """The arrays that it has returned and written, by name; DataError where one is beyond the budget."""
        return {seen.name: seen.values for seen in self.seen_outputs}

    @property
    def output(self) -> HostArray | None:
        """The first of its outputs; None where it has none. DataError where it is beyond the budget."""
        return self.seen_outputs[0].values if self.seen_outputs else None

    @property
    def nbytes(self) -> int:
        """Bytes of its inputs and outputs."""
        return sum(seen.nbytes for seen in (*self.seen_inputs, *self.seen_outputs))

    def leaves(self) -> Iterator[Row]:
        """Yield itself, or the rows inside of it that have none."""
        if not self.rows:
            yield self
        for row in self.rows:
            yield from row.leaves()

    def every(self) -> Iterator[Row]:
        """Yield itself and all rows inside of it."""
        yield self
        for row in self.rows:
            yield from row.every()

    def __repr__(self) -> str:
        return f"Row({self.phase}, {self.node or '-'}, {self.op or self.kind}, {1e6 * self.seconds:.1f} us)"


class Place(NamedTuple):
    """Where a step is: what a mark says."""

    phase: str
    node: str = ""
    """Empty between nodes."""
    first: bool = False
    """Whether a pass through the nodes begins."""


class _Thread:
    """Makes the rows of one thread from its events."""

    def __init__(self, number: int, began: float, parts: Iterator[int], names: ParamNames) -> None:
        self.rows: list[Row] = []
        self._number, self._now, self._parts, self._names = number, began, parts, names
        self._place, self._part = Place("step"), 0
        self._python: Row | None = None
        self._begin = 0  # of the rows between two nodes, or of those of a chunk

    def take(self, event: Event) -> None:
        """Go on to an event: the time since the last one is Python's."""
        self._pass_time(event.began)
        self._now = event.ended
        if event.name:
            seconds = event.ended - event.began
            self.rows.append(self._row(OP, event.name, event.began, seconds, event.inputs, event.outputs))
        elif isinstance(event.mark, ChunkTerms):
            self._end_chunk(event)
        elif event.mark is None:
            self._close()
            self._begin = len(self.rows)
        elif event.mark.node:
            self._enter(event)
        else:
            self._close()
            self._place, self._begin = event.mark, len(self.rows)

    def closed(self, until: float | None = None) -> list[Row]:
        """Return the rows; the rest of the time is Python's."""
        if until is not None:
            self._pass_time(until)
        self._close()
        return _with_update(self.rows)

    def _row(self, kind: str, op: str, began: float, seconds: float, *seen: Any) -> Row:
        return Row(kind, self._place.phase, self._place.node, op, self._part, self._number, began, seconds, *seen)

    def _pass_time(self, until: float) -> None:
        """Add to the row of Python in this place, which comes behind the ops."""
        if self._python is None:
            self._python = self._row(PYTHON, "", self._now, 0.0)
        self._python.seconds += until - self._now

    def _close(self) -> None:
        if self._python is not None:
            self.rows.append(self._python)
        self._python = None

    def _enter(self, event: Event) -> None:
        """Go to a node: Python since the last one, of the same pass, is spent on what passes between them."""
        began, seconds = event.began, 0.0
        if event.mark.first:
            self._close()
            self._part = next(self._parts)
        else:
            for row in self.rows[self._begin :]:
                row.phase = event.mark.phase
            if self._python is not None:
                began, seconds = self._python.began, self._python.seconds
            self._python = None
        self._place = event.mark
        self.rows.append(self._row(PASSING, "", began, seconds, (), event.inputs))

    def _end_chunk(self, event: Event) -> None:
        """Put the rows since its beginning into one."""
        self._close()
        terms: ChunkTerms = event.mark
        rows = self.rows[self._begin :]
        began, seconds = (rows[0].began if rows else event.began), sum(row.seconds for row in rows)
        chunk = self._row(CHUNK, type(terms.updater).__name__, began, seconds, (), event.inputs)
        chunk.node, chunk.rows, chunk.values = self._names.of(terms.start, terms.stop), rows, values_of(terms)
        for row in rows:
            row.node = chunk.node
        self.rows[self._begin :] = [chunk]
        self._begin = len(self.rows)


def _with_update(rows: list[Row]) -> list[Row]:
    """Put the chunks of every update into one row, with what is between them."""
    after: list[Row] = []
    update: list[Row] = []
    for row in [*rows, None]:
        if row is not None and (row.kind == CHUNK or (update and row.kind == PYTHON and row.phase == "update")):
            update.append(row)
            continue
        if update:
            after.append(_update(update))
            update = []
        if row is not None:
            after.append(row)
    return after


def _update(rows: list[Row]) -> Row:
    chunks = [row for row in rows if row.kind == CHUNK]
    first, names = chunks[0], dict.fromkeys(chunk.op for chunk in chunks)
    values = {name: value for chunk in reversed(chunks) for name, value in chunk.values.items()}
    seconds = sum(row.seconds for row in rows)
    op = ", ".join(names)
    return Row(UPDATE, first.phase, "", op, first.part, first.thread, first.began, seconds, (), (), values, rows)


class ParamNames:
    """Names of what lies in a stretch of the flat vector.

    Parameters
    ----------
    places : sequence of (str, int, int)
        Key of every parameter, its first element and the one behind its last.
    """

    def __init__(self, places: Sequence[tuple[str, int, int]]) -> None:
        self._places = places

    def of(self, start: int, stop: int) -> str:
        """Return the parameters in a stretch: ``"0_b, 0_W"``, ``"4_W[65536:131072]"`` of a part of one."""
        inside = [place for place in self._places if place[1] < stop and place[2] > start]
        if len(inside) == 1 and (inside[0][1], inside[0][2]) != (start, stop):
            key, first, _ = inside[0]
            return f"{key}[{start - first}:{stop - first}]"
        names = [key for key, _, _ in inside]
        return ", ".join(names if len(names) <= 3 else [names[0], "...", names[-1]])


def values_of(terms: ChunkTerms) -> dict[str, float]:
    """Return the numbers that the update of a chunk computes with, by name: for Adam "corrected rate", "l2"."""
    count = len(terms.coefficients)
    names = terms.updater.coefficient_names
    names = names if len(names) == count else tuple(f"coefficient {number}" for number in range(count))
    values = {name: float(number) for name, number in zip(names, terms.coefficients, strict=True)}
    for penalty, coefficient in terms.penalties:
        values[type(penalty).__name__] = float(coefficient)
    return values


def rows_of(events: Sequence[Event], thread: int, seconds: float, names: ParamNames) -> list[Row]:
    """Return the rows of a step: of the thread that called first, then of each of the others."""
    parts = iter(range(1, len(events) + 2))
    threads = {thread: _Thread(0, 0.0, parts, names)}
    for event in sorted(events, key=lambda event: (event.ended, event.began)):
        if event.thread not in threads:
            threads[event.thread] = _Thread(len(threads), event.began, parts, names)
        threads[event.thread].take(event)
    rows = [row for one in threads.values() for row in one.closed(seconds if one is threads[thread] else None)]
    number_all(rows)
    return rows


def number_all(rows: Sequence[Row]) -> None:
    """Give every row its number."""
    for number, row in enumerate(inner for outer in rows for inner in outer.every()):
        row.number = number
