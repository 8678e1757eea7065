"""What a file is that is no model of this library: told by its first bytes, or the entries of an archive."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Sequence
from typing import Any

from nd.files.reading import regular_file

_MODELS = "Such models are not read: build the network here and copy the weights with net.set_param(key, array)."
_KERAS = f"an HDF5 file, as Keras saves models and weights. {_MODELS}"
_ONNX = "an ONNX model by its name alone. Is it damaged?"
_PICTURE = "a picture. Give the model's file."
_PICKLE = f"a pickle, as PyTorch, scikit-learn and joblib save models. {_MODELS}"
_JSON = "JSON. A configuration is read by MultiLayerConfiguration.from_json, or that of ComputationGraphConfiguration."

_BEGINNINGS: dict[bytes, str] = {
    b"%PDF": "a PDF document. Give the model's file.",
    b"<": "HTML or XML, perhaps of a download that failed. Download the model again.",
    b"BZh": "an archive packed with bzip2. Unpack it first.",
    b"GIF8": _PICTURE,
    b"\x1f\x8b": "an archive packed with gzip. Unpack it first.",
    b"\x89HDF\r\n\x1a\n": _KERAS,
    b"\x89PNG": _PICTURE,
    b"\x93NUMPY": "an array of NumPy. Read it with numpy.load, and copy it with net.set_param(key, array).",
    b"\xff\xd8\xff": _PICTURE,
    b"version https://git-lfs": "a pointer of Git LFS, not the file itself. Fetch it with git lfs pull.",
    b"{": _JSON,
}
"""First bytes -> what such a file is."""
_ENDINGS = {
    ".caffemodel": f"weights of Caffe. {_MODELS}",
    ".onnx": _ONNX,
    ".pb": f"a model of TensorFlow. {_MODELS}",
    ".prototxt": f"a network of Caffe. {_MODELS}",
    ".tflite": f"a model of TensorFlow Lite. {_MODELS}",
}
"""Ending of the name -> what such a file is, where the bytes do not tell."""
_ENTRIES = {
    "model.weights.h5": f"It is a model of Keras. {_MODELS}",
    "data.pkl": f"It is a file of PyTorch. {_MODELS}",
    "[Content_Types].xml": "It is an Office document. Give the model's file.",
    "MANIFEST.MF": "It is a Java archive. Give the model's file.",
}
"""Name of an entry, in any folder -> what such an archive is."""


_FIELDS_OF_ONNX = frozenset({2, 3, 4, 5, 6, 7, 8, 14, 20, 25, 26})  # of ModelProto, beside the first
_HEAD_OF_ONNX = 3  # bytes


def begins_as_onnx(head: bytes) -> bool:
    """Tell whether a file that begins with these bytes is an ONNX model.

    Notes
    -----
    A ModelProto begins with its ir_version, a small number, and goes on with another of its fields: all writers keep
    the order of fields.
    """
    return len(head) >= _HEAD_OF_ONNX and head[0] == 0x08 and 0 < head[1] < 0x80 and head[2] >> 3 in _FIELDS_OF_ONNX


def is_onnx(source: Any) -> bool:
    """Tell whether a path, or a file object that can go back, is that of an ONNX model; nothing else is read."""
    if isinstance(source, (str, os.PathLike)):
        with open(regular_file("load", source), "rb") as file:
            return begins_as_onnx(file.read(_HEAD_OF_ONNX))
    seekable = getattr(source, "seekable", None)
    if not callable(seekable) or not seekable() or not hasattr(source, "read"):
        return False
    place = source.tell()
    source.seek(0)
    head = source.read(_HEAD_OF_ONNX)
    source.seek(place)
    return isinstance(head, bytes) and begins_as_onnx(head)


def kind_of_bytes(name: str, head: bytes) -> str:
    """Return what a file is that begins with these bytes, and what to do; nothing where nobody knows."""
    if not head:
        return "an empty file. Save the model again."
    if head[:2] == b"PK":  # a zip
        return ""
    for beginning, kind in _BEGINNINGS.items():
        if head.startswith(beginning):
            return kind
    if head[:1] == b"\x80" and head[1:2] in b"\x02\x03\x04\x05":
        return _PICKLE
    if head[8:9] == b"{" and not any(head[5:8]):  # the length of the header comes first
        return "a file of safetensors. Those of this library are read by nn.load under the name .safetensors."
    if head[4:8] == b"TFL3":
        return _ENDINGS[".tflite"]
    return _ENDINGS.get(pathlib.PurePath(name).suffix.lower(), "")


def kind_of_entries(names: Sequence[str]) -> str:
    """Return what an archive of these entries is, and what to do."""
    bare = {name.rpartition("/")[2] for name in names}
    for entry, kind in _ENTRIES.items():
        if entry in bare:
            return kind
    if names and all(name.endswith(".npy") for name in names):
        return (
            "It holds arrays of NumPy: those of this library are read by nn.load under the name .npz, others by "
            "numpy.load."
        )
    return (
        "Is it a Deeplearning4j model? Files of named arrays are read by nn.load under the names .npz and .safetensors."
    )
