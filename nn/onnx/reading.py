"""ONNX files that are read: the model, and its tensors as arrays, within the bounds of the file."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any

from nd import ConfigurationError, FormatError
from nd.extras import optional
from nd.files.reading import Source, name_of, opening, read_at_most, regular_file
from nd.typing import HostArray

HEAD = 16
"""Bytes that tell an ONNX file from others."""

_MOST = (2 << 30) - 1  # bytes of one message of protobuf
_FIELDS = frozenset({2, 3, 4, 5, 6, 7, 8, 14, 20, 25, 26})  # of ModelProto, beside the first
_EXTERNAL = 1  # TensorProto.EXTERNAL
_BITS = {1: 32, 2: 8, 3: 8, 4: 16, 5: 16, 6: 32, 7: 64, 9: 8, 10: 16, 11: 64, 12: 32, 13: 64, 14: 64, 15: 128, 16: 16}
_BITS |= {17: 8, 18: 8, 19: 8, 20: 8, 21: 4, 22: 4, 23: 4, 24: 8, 25: 2, 26: 2}
"""TensorProto's number of a data type -> bits of an element."""


def begins_as_onnx(head: bytes) -> bool:
    """Tell whether a file that begins with these bytes (`HEAD` of them are enough) is an ONNX model.

    Notes
    -----
    A ModelProto begins with its ir_version, a small number, and goes on with another of its fields. All writers keep
    the order of fields.
    """
    return len(head) > 2 and head[0] == 0x08 and 0 < head[1] < 0x80 and head[2] >> 3 in _FIELDS


class OnnxFile:
    """An ONNX model that has been read; its tensors become arrays when they are asked for.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    model : ModelProto
    folder : str, optional
        Of the file, where its external data lie; None for a model that came from no path.

    Attributes
    ----------
    graph : GraphProto
    opset : int
        Of the operators of ONNX's own domain.
    opsets : mapping of str -> int
        Domain -> version, "" for ONNX's own.
    """

    def __init__(self, name: str, model: Any, folder: str | None = None) -> None:
        self.name, self.model, self.folder = name, model, folder
        self.graph = model.graph
        self.opsets: Mapping[str, int] = {
            "" if entry.domain == "ai.onnx" else entry.domain: entry.version for entry in model.opset_import
        }
        self.opset = self.opsets.get("", 1)

    def array(self, tensor: Any) -> HostArray:
        """Return a TensorProto's values as a host array of its own dtype and shape.

        Raises
        ------
        FormatError
            Its sizes do not fit its data, its type is none of numbers, or its external data are not where they may be:
            in a file beside the model.
        """
        shape = tuple(tensor.dims)
        if any(size < 0 for size in shape) or tensor.data_type not in _BITS:
            raise self._bad(tensor, f"a shape and a type of numbers, got {shape} of data type {tensor.data_type}")
        count = math.prod(shape)
        length = -(-count * _BITS[tensor.data_type] // 8)
        if tensor.data_location == _EXTERNAL:
            tensor = self._with_data(tensor, length)
        if tensor.HasField("raw_data") and len(tensor.raw_data) != length:
            raise self._bad(tensor, f"{length:,} bytes for shape {shape}, got {len(tensor.raw_data):,}")
        try:
            made: HostArray = optional("load", "onnx.numpy_helper", "onnx", "onnx").to_array(tensor)
        except (ValueError, TypeError, OverflowError, MemoryError, NotImplementedError) as error:
            raise self._bad(tensor, f"data that fit shape {shape}, got: {error}") from error
        if tuple(made.shape) != shape:
            raise self._bad(tensor, f"data that fit shape {shape}, got {tuple(made.shape)}")
        return made

    def _with_data(self, tensor: Any, length: int) -> Any:
        """Return a tensor with the data that lie in another file."""
        entries = {entry.key: entry.value for entry in tensor.external_data}
        path = self._beside(tensor, entries.get("location", ""))
        size = os.path.getsize(path)
        offset, given = (self._size(tensor, entries.get(key, default)) for key, default in _PLACES)
        if offset + length > size or given not in (0, length):
            raise self._bad(tensor, f"{length:,} bytes from {offset:,} on, got a file of {size:,} and length {given:,}")
        with opening("load", path) as file:
            file.seek(offset)
            content = read_at_most(file, length)
        made = type(tensor)(data_type=tensor.data_type, name=tensor.name, raw_data=content)
        made.dims.extend(tensor.dims)
        return made

    def _beside(self, tensor: Any, location: str) -> str:
        """Return the path of external data; they lie in the model's folder or below, and no link leads to them."""
        parts = location.replace("\\", "/").split("/")
        if self.folder is None:
            raise self._bad(tensor, "its data in the model, got external data of a file object. Give the path")
        if not location or os.path.isabs(location) or ".." in parts or ":" in parts[0] or "\0" in location:
            raise self._bad(tensor, f"external data beside the model, got location {location!r}")
        path = os.path.join(os.path.realpath(self.folder), *parts)
        if os.path.realpath(path) != os.path.normpath(path):
            raise self._bad(tensor, f"external data in a file of its own, got a link at {location!r}")
        if not os.path.exists(path):
            raise self._bad(tensor, f"external data in {location!r} beside the model, got no such file")
        return regular_file("load", path)

    def _size(self, tensor: Any, text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 20):
            raise self._bad(tensor, f"a number of bytes for external data, got {text!r}")
        return int(text)

    def _bad(self, tensor: Any, what: str) -> FormatError:
        return FormatError(f"{self.name}: tensor {tensor.name!r} must have {what}. Is the file damaged?")


_PLACES = (("offset", "0"), ("length", "0"))


def read_onnx(source: Source) -> OnnxFile:
    """Read an ONNX file; no tensor becomes an array yet.

    Parameters
    ----------
    source : path or binary file object

    Raises
    ------
    FileNotFoundError
        There is no such file.
    FormatError
        It is no ONNX model, or a damaged one.
    ConfigurationError
        The package onnx is not installed; the model is of a newer kind than it knows.
    """
    onnx, message = (
        optional("load", "onnx", "onnx", "onnx"),
        optional("load", "google.protobuf.message", "onnx", "onnx"),
    )
    name = name_of(source)
    with opening("load", source) as file:
        content = read_at_most(file, _MOST + 1)
    if len(content) > _MOST:
        raise FormatError(f"{name}: an ONNX file must have at most {_MOST:,} bytes, others lie beside it. Save it so.")
    model = onnx.ModelProto()
    try:
        model.ParseFromString(content)
    except (message.DecodeError, ValueError) as error:
        raise FormatError(f"{name}: expected an ONNX model, got {error}. Is it truncated, or another kind?") from error
    if not model.HasField("graph") or not model.graph.output:
        raise FormatError(
            f"{name}: an ONNX model must have a graph with outputs, got none. Is it another kind of file?"
        )
    folder = None if hasattr(source, "read") else os.path.dirname(os.path.abspath(os.fsdecode(source)))  # type: ignore[arg-type]
    made = OnnxFile(name, model, folder)
    newest = onnx.defs.onnx_opset_version()
    if not 0 < made.opset <= newest:
        raise ConfigurationError(
            f"{name}: the operators must be of opset 1 to {newest}, got {made.opset}. Install a newer onnx."
        )
    return made
