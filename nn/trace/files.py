"""Traces in files: .npz, with the arrays that are kept, and the rows as JSON."""

from __future__ import annotations

import json
import math
import os
from typing import Any

import nd
from nd import FormatError
from nd.execution.seen_arrays import Content, SeenArray, stored
from nd.files.archives import ArrayFile, reading_arrays, write_arrays
from nd.typing import HostArray

from .rows import Row, number_all
from .trace import NodeArrays, Trace

VERSION = 1
_ROW = ("kind", "phase", "node", "op", "part", "thread", "began", "seconds")
_CONTENT = ("digest", "low", "high", "mean", "not_finite", "histogram")


def save(trace: Trace, path: str | os.PathLike[str]) -> None:
    """Write a trace; see `Trace.save`.

    Raises
    ------
    ConfigurationError
        The path does not end in ``.npz``.
    OSError
        The file cannot be written.
    """
    if os.path.splitext(os.fspath(path))[1].lower() != ".npz":
        raise nd.ConfigurationError(f"save: a trace needs a name that ends in .npz, got {os.fspath(path)!r}.")
    written = _Written()
    document = {
        "version": VERSION,
        "seconds": trace.seconds,
        "about": trace.about,
        "rows": [written.row(row) for row in trace.rows],
        "nodes": [written.node(node) for node in trace.nodes.values()],
        "contents": written.contents,
    }
    with nd.use_backend("numpy"):
        write_arrays(path, written.arrays, {"trace": json.dumps(document)})


class _Written:
    """What goes into a file: contents of arrays once each."""

    def __init__(self) -> None:
        self.arrays: dict[str, HostArray] = {}
        self.contents: list[dict[str, Any]] = []
        self._places: dict[int, int] = {}

    def row(self, row: Row) -> dict[str, Any]:
        fields = {name: getattr(row, name) for name in _ROW}
        seen = {"inputs": self._seen(row.seen_inputs), "outputs": self._seen(row.seen_outputs)}
        return {**fields, **seen, "values": row.values, "rows": [self.row(inner) for inner in row.rows]}

    def node(self, node: NodeArrays) -> dict[str, Any]:
        tables = {name: self._seen(getattr(node, name).values()) for name in ("params", "gradients", "updated")}
        epsilon = () if node.epsilon is None else (node.epsilon,)
        own = {"activation": self._seen((node.activation,)), "epsilon": self._seen(epsilon)}
        return {"name": node.name, "type": node.type, **own, **tables}

    def _seen(self, arrays: Any) -> list[list[Any]]:
        return [[seen.name, list(seen.shape), seen.dtype, self._place(seen.content)] for seen in arrays]

    def _place(self, content: Content) -> int:
        place = self._places.setdefault(id(content), len(self.contents))
        if place == len(self.contents):
            host = content.sample if content.values is None else content.values
            array = self.arrays[f"array{place}"] = stored(host).reshape(-1)
            known = {name: getattr(content, name) for name in _CONTENT}
            kept = content.values is not None
            self.contents.append({**known, "kept": kept, "shape": host.shape, "dtype": str(array.dtype)})
        return place


def load(path: str | os.PathLike[str]) -> Trace:
    """Read a trace that `Trace.save` has written.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    FormatError
        It is damaged, or holds no trace.
    """
    with reading_arrays(path) as file, nd.use_backend("numpy"):
        if "trace" not in file.metadata:
            raise FormatError(f"{os.fspath(path)}: expected a trace, got a file without one.")
        document = json.loads(file.metadata["trace"])
        read = _Read(file, document["contents"])
        rows = [read.row(row) for row in document["rows"]]
        nodes = [read.node(node) for node in document["nodes"]]
    number_all(rows)
    return Trace(rows, document["seconds"], nodes, document["about"])


class _Read:
    """What comes out of a file."""

    def __init__(self, file: ArrayFile, contents: list[dict[str, Any]]) -> None:
        self._contents = []
        for place, known in enumerate(contents):
            shape = tuple(known["shape"])
            host = nd.to_host(file.read(f"array{place}", (math.prod(shape),), known["dtype"])).reshape(shape)
            known["histogram"] = tuple(known["histogram"])
            about = {name: known[name] for name in _CONTENT}
            self._contents.append(Content(**about, sample=host, values=host if known["kept"] else None))

    def row(self, document: dict[str, Any]) -> Row:
        row = Row(**{name: document[name] for name in _ROW})
        row.seen_inputs, row.seen_outputs = self._seen(document["inputs"]), self._seen(document["outputs"])
        row.values, row.rows = document["values"], [self.row(inner) for inner in document["rows"]]
        return row

    def node(self, document: dict[str, Any]) -> NodeArrays:
        (activation,), epsilon = self._seen(document["activation"]), self._seen(document["epsilon"])
        kinds = ("params", "gradients", "updated")
        tables = [{seen.name: seen for seen in self._seen(document[kind])} for kind in kinds]
        return NodeArrays(document["name"], document["type"], activation, epsilon[0] if epsilon else None, *tables)

    def _seen(self, lists: list[list[Any]]) -> tuple[SeenArray, ...]:
        return tuple(SeenArray(name, tuple(shape), dtype, self._contents[place]) for name, shape, dtype, place in lists)
