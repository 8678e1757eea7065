"""Traces in files: .npz, with the arrays that are kept, and the rows as JSON, the bytes of an array."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from typing import Any

import nd
from nd import FormatError
from nd.execution.seen_arrays import (
    SAMPLE,
    Content,
    SeenArray,
    array_of_text,
    read_only,
    sample_of,
    stored,
    text_of_array,
)
from nd.files.archives import ArrayFile, reading_arrays, write_arrays
from nd.typing import HostArray

from .rows import Row, number_all
from .trace import NodeArrays, Trace

VERSION = 1
_DOCUMENT = "document"


def _finite(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{number} in the place of a finite number")
    return number


_ROW: dict[str, Callable[[Any], Any]] = {
    "kind": str, "phase": str, "node": str, "op": str, "part": int, "thread": int, "began": _finite, "seconds": _finite,
}  # fmt: skip
_CONTENT: dict[str, Callable[[Any], Any]] = {
    "digest": str, "low": _finite, "high": _finite, "mean": float, "not_finite": int,
    "histogram": lambda bars: tuple(map(int, bars)),
}  # fmt: skip
"""Field -> what makes its value of what is read."""


def save(trace: Trace, path: str | os.PathLike[str]) -> None:
    """Write a trace; see `Trace.save`."""
    if os.path.splitext(os.fspath(path))[1].lower() != ".npz":
        raise nd.ConfigurationError(f"save: a trace needs a name that ends in .npz, got {os.fspath(path)!r}.")
    written = _Written()
    document = {
        "seconds": trace.seconds,
        "about": trace.about,
        "rows": [written.row(row) for row in trace.rows],
        "nodes": [written.node(node) for node in trace.nodes.values()],
        "contents": written.contents,
    }
    with nd.use_backend("numpy"):
        text = array_of_text(json.dumps(document))
        write_arrays(path, {**written.arrays, _DOCUMENT: text}, {"trace": json.dumps([VERSION, text.size])})


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
            raise FormatError("expected a trace, got a file without one.")
        try:
            return _trace(file, *json.loads(file.metadata["trace"]))
        except FormatError:
            raise
        except (AttributeError, LookupError, nd.NdError, OverflowError, RecursionError, TypeError, ValueError) as error:
            raise FormatError(f"expected a trace, got a damaged one ({error}). Save it again.") from error


def _trace(file: ArrayFile, version: int, size: int) -> Trace:
    if version != VERSION:
        raise FormatError(f"expected a trace of version {VERSION}, got {version!r}. Save it again.")
    document = json.loads(text_of_array(nd.to_host(file.read(_DOCUMENT, (size,), "uint8"))))
    seconds, read = _finite(document["seconds"]), _Read(file, document["contents"])
    if seconds <= 0.0:
        raise ValueError(f"a step of {seconds} s")
    rows = [read.row(row) for row in document["rows"]]
    nodes = [read.node(node) for node in document["nodes"]]
    number_all(rows)
    return Trace(rows, seconds, nodes, {str(key): str(x) for key, x in document["about"].items()})


class _Read:
    """What comes out of a file."""

    def __init__(self, file: ArrayFile, contents: list[dict[str, Any]]) -> None:
        self._contents = []
        for place, known in enumerate(contents):
            shape = tuple(known["shape"])
            host = read_only(nd.to_host(file.read(f"array{place}", (math.prod(shape),), known["dtype"])).reshape(shape))
            about = {name: kind(known[name]) for name, kind in _CONTENT.items()}
            values = host if known["kept"] else None
            self._contents.append(Content(**about, sample=sample_of(host, SAMPLE), values=values))

    def row(self, document: dict[str, Any]) -> Row:
        row = Row(**{name: kind(document[name]) for name, kind in _ROW.items()})
        row.seen_inputs, row.seen_outputs = self._seen(document["inputs"]), self._seen(document["outputs"])
        row.values = {str(name): float(value) for name, value in document["values"].items()}
        row.rows = [self.row(inner) for inner in document["rows"]]
        return row

    def node(self, document: dict[str, Any]) -> NodeArrays:
        (activation,), epsilon = self._seen(document["activation"]), self._seen(document["epsilon"])
        kinds = ("params", "gradients", "updated")
        tables = [{seen.name: seen for seen in self._seen(document[kind])} for kind in kinds]
        return NodeArrays(
            str(document["name"]), str(document["type"]), activation, epsilon[0] if epsilon else None, *tables
        )

    def _seen(self, lists: list[list[Any]]) -> tuple[SeenArray, ...]:
        return tuple(self._array(*fields) for fields in lists)

    def _array(self, name: str, shape: list[int], dtype: str, place: int) -> SeenArray:
        content, lengths = self._contents[place], tuple(map(int, shape))
        seen = SeenArray(str(name), lengths, str(dtype), content)
        if seen.nbytes < 0 or (
            seen.is_kept and seen.values.shape != lengths
        ):  # an unknown dtype is an error of NumPy's
            raise FormatError(f"{name!r} must have the shape {list(lengths)}, got another one.")
        return seen
