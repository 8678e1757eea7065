"""ONNX files that are read: the model, and its tensors as arrays, within the bounds of the file."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any, BinaryIO

from nd import ConfigurationError, FormatError, NdError
from nd.extras import optional
from nd.files.raw import read_raw
from nd.files.reading import Source, name_of, opening, read_at_most, regular_file
from nd.typing import HostArray

from .slimming import IN_PLACE, slim_content

_MOST = (2 << 30) - 1  # bytes of one message of protobuf
_MOST_AXES = 32
_EXTERNAL = 1  # TensorProto.EXTERNAL
_BITS = {1: 32, 2: 8, 3: 8, 4: 16, 5: 16, 6: 32, 7: 64, 9: 8, 10: 16, 11: 64, 12: 32, 13: 64, 14: 64, 15: 128, 16: 16}
_BITS |= {17: 8, 18: 8, 19: 8, 20: 8, 21: 4, 22: 4, 23: 4, 24: 8, 25: 2, 26: 2}
"""TensorProto's number of a data type -> bits of an element."""
_PLAIN = {1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 10: "float16"}
_PLAIN |= {11: "float64", 12: "uint32", 13: "uint64"}
"""Those that arrays have as they lie in files -> their name."""


class OnnxFile:
    """An ONNX model that has been read; its tensors become arrays when they are asked for.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    model : ModelProto
    source : path or binary file object
        Where the bytes of large tensors are, and, beside a path, external data.

    Attributes
    ----------
    graph : GraphProto
    opset : int
        Of the operators of ONNX's own domain.
    opsets : mapping of str -> int
        Domain -> version, "" for ONNX's own.
    """

    def __init__(self, name: str, model: Any, source: Source | None = None) -> None:
        self.name, self.model, self._source = name, model, source
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
        shape, length = tuple(tensor.dims), self._length(tensor)
        try:
            if tensor.data_location == _EXTERNAL:
                made = self._from_file(tensor, shape, length)
            else:
                made = self._inside(tensor, shape, length)
        except (ValueError, TypeError, OverflowError, MemoryError, NotImplementedError) as error:
            if isinstance(error, NdError):
                raise
            raise self._bad(tensor, f"data that fit shape {shape}, got: {error}") from error
        if tuple(made.shape) != shape:
            raise self._bad(tensor, f"data that fit shape {shape}, got {tuple(made.shape)}")
        return made

    def check_place(self, tensor: Any) -> None:
        """Raise FormatError, as `array` does, where a tensor in a file has other sizes than its bytes."""
        with self._opened(tensor, self._length(tensor)):
            pass

    def _length(self, tensor: Any) -> int:
        """Return the bytes that a tensor's shape and type ask for."""
        shape = tuple(tensor.dims)
        if any(size < 0 for size in shape) or len(shape) > _MOST_AXES or tensor.data_type not in _BITS:
            raise self._bad(tensor, f"a shape and a type of numbers, got {shape} of data type {tensor.data_type}")
        return -(-math.prod(shape) * _BITS[tensor.data_type] // 8)

    def _inside(self, tensor: Any, shape: tuple[int, ...], length: int) -> HostArray:
        """Return what stands in the message."""
        if tensor.HasField("raw_data") and len(tensor.raw_data) != length:
            raise self._bad(tensor, f"{length:,} bytes for shape {shape}, got {len(tensor.raw_data):,}")
        made: HostArray = optional("load", "onnx.numpy_helper", "onnx", "onnx").to_array(tensor)
        return made

    def _from_file(self, tensor: Any, shape: tuple[int, ...], length: int) -> HostArray:
        """Return what lies in a file: behind the message's end, in the place that was left out, or beside the model."""
        with self._opened(tensor, length) as file:
            if tensor.data_type in _PLAIN:
                plain: HostArray = read_raw(file, _PLAIN[tensor.data_type], shape)
                return plain
            content = read_at_most(file, length)
        made = type(tensor)(data_type=tensor.data_type, name=tensor.name, raw_data=content)
        made.dims.extend(tensor.dims)
        return self._inside(made, shape, length)

    @contextmanager
    def _opened(self, tensor: Any, length: int) -> Iterator[BinaryIO]:
        """Open the file of a tensor's bytes, where they begin."""
        entries = {entry.key: entry.value for entry in tensor.external_data}
        location = entries.get("location", "")
        own = location.startswith(IN_PLACE) and self._source is not None
        offset = self._size(tensor, location.removeprefix(IN_PLACE) if own else entries.get("offset", "0"))
        given = self._size(tensor, entries.get("length", str(length)))
        with opening("load", self._source if own else self._beside(tensor, location)) as file:  # type: ignore[arg-type]
            size = file.seek(0, os.SEEK_END)
            if offset + length > size or given != length:
                raise self._bad(
                    tensor, f"{length:,} bytes from {offset:,} on, got a file of {size:,} and length {given:,}"
                )
            file.seek(offset)
            yield file

    def _beside(self, tensor: Any, location: str) -> str:
        """Return the path of external data; they lie in the model's folder or below, and no link leads to them."""
        parts = location.replace("\\", "/").split("/")
        source = self._source
        if not isinstance(source, (str, os.PathLike)):
            raise self._bad(tensor, "its data in the model, got external data of a file object", "Give the path.")
        if not location or os.path.isabs(location) or ".." in parts or ":" in parts[0] or "\0" in location:
            raise self._bad(tensor, f"external data beside the model, got location {location!r}")
        path = os.path.join(os.path.realpath(os.path.dirname(os.path.abspath(source))), *parts)
        if os.path.realpath(path) != os.path.normpath(path):
            raise self._bad(tensor, f"external data in a file of its own, got a link at {location!r}")
        if not os.path.exists(path):
            told = f"external data in {location!r} beside the model, got no such file"
            raise self._bad(tensor, told, "Put that file there.")
        return regular_file("load", path)

    def _size(self, tensor: Any, text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 20):
            raise self._bad(tensor, f"a number of bytes for external data, got {text!r}")
        return int(text)

    def _bad(self, tensor: Any, what: str, remedy: str = "Is the file damaged?") -> FormatError:
        return FormatError(f"{self.name}: tensor {tensor.name!r} must have {what}. {remedy}")


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
        seekable = getattr(file, "seekable", None)
        if seekable is None or not seekable():
            source = file = io.BytesIO(read_at_most(file, _MOST))
        content = slim_content(name, file, _MOST)
    model = onnx.ModelProto()
    try:
        model.ParseFromString(content)
    except (message.DecodeError, ValueError) as error:
        raise FormatError(f"{name}: expected an ONNX model, got {error}. Is it truncated, or another kind?") from error
    if not model.HasField("graph") or not model.graph.output:
        raise FormatError(
            f"{name}: an ONNX model must have a graph with outputs, got none. Is it another kind of file?"
        )
    made = OnnxFile(name, model, source)
    newest = onnx.defs.onnx_opset_version()
    if not 0 < made.opset <= newest:
        raise ConfigurationError(
            f"{name}: the operators must be of opset 1 to {newest}, got {made.opset}. Install a newer onnx."
        )
    _check(onnx, made)
    return made


def _check(onnx: ModuleType, file: OnnxFile) -> None:
    """Raise FormatError where a model breaks ONNX's own rules: operators, attributes, names that are written once."""
    checked = onnx.ModelProto()
    checked.CopyFrom(file.model)
    graph = checked.graph
    outside = [tensor for tensor in graph.initializer if tensor.data_location == _EXTERNAL]
    for tensor in outside:
        file.check_place(tensor)
    inside = [tensor for tensor in graph.initializer if tensor.data_location != _EXTERNAL]
    named = {value.name for value in graph.input}
    values = [
        onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims)
        for tensor in outside
        if tensor.name not in named
    ]
    del graph.initializer[:]
    graph.initializer.extend(inside)
    graph.input.extend(values)
    for value in (*graph.input, *graph.output, *graph.value_info):
        if value.type.HasField("tensor_type"):
            value.type.tensor_type.shape.SetInParent()  # which exporters leave out where they do not know the rank
    try:
        onnx.checker.check_model(checked)
    except (onnx.checker.ValidationError, RuntimeError, ValueError) as error:
        told = " ".join(str(error).split()).rstrip(".")
        raise FormatError(
            f"{file.name}: an ONNX model must keep ONNX's own rules, got: {told}. Is it damaged?"
        ) from error
