"""What a file is that is no model of this library: told by its first bytes, or the entries of an archive."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence

_MODELS = "Such models are not read: build the network here and copy the weights with net.set_param(key, array)."
_HDF5 = f"an HDF5 file without a model of Keras, which nn.load reads. {_MODELS}"
CAFFE = {
    "caffemodel": (
        "weights of Caffe. With the net's prototxt, nn.caffe.Net(prototxt, weights=...).to_computation_graph() reads "
        "them, and so does python -m nn convert WEIGHTS OUT --prototxt NET."
    ),
    "prototxt": (
        "a net of Caffe. With its weights, nn.caffe.Net(prototxt, weights=...).to_computation_graph() reads it, and so "
        "does python -m nn convert WEIGHTS OUT --prototxt NET."
    ),
}
"""Kind of a file of Caffe's -> what it is."""
_PICTURE = "a picture. Give the model's file."
_PICKLE = f"a pickle, as PyTorch, scikit-learn and joblib save models. {_MODELS}"
_JSON = "JSON. A configuration is read by MultiLayerConfiguration.from_json, or that of ComputationGraphConfiguration."

_BEGINNINGS: dict[bytes, str] = {
    b"%PDF": "a PDF document. Give the model's file.",
    b"<": "HTML or XML, perhaps of a download that failed. Download the model again.",
    b"BZh": "an archive packed with bzip2. Unpack it first.",
    b"GIF8": _PICTURE,
    b"\x1f\x8b": "an archive packed with gzip. Unpack it first.",
    b"\x89HDF\r\n\x1a\n": _HDF5,
    b"\x89PNG": _PICTURE,
    b"\x93NUMPY": "an array of NumPy. Read it with numpy.load, and copy it with net.set_param(key, array).",
    b"\xff\xd8\xff": _PICTURE,
    b"version https://git-lfs": "a pointer of Git LFS, not the file itself. Fetch it with git lfs pull.",
    b"{": _JSON,
}
"""First bytes -> what such a file is."""
_ENDINGS = {
    ".caffemodel": CAFFE["caffemodel"],
    ".pb": f"a model of TensorFlow. {_MODELS}",
    ".prototxt": CAFFE["prototxt"],
    ".tflite": f"a model of TensorFlow Lite. {_MODELS}",
}
"""Ending of the name -> what such a file is, where the bytes do not tell."""
_ENTRIES = {
    "model.weights.h5": "It is a model of Keras, which nn.load reads.",
    "data.pkl": f"It is a file of PyTorch. {_MODELS}",
    "[Content_Types].xml": "It is an Office document. Give the model's file.",
    "MANIFEST.MF": "It is a Java archive. Give the model's file.",
}
"""Name of an entry, in any folder -> what such an archive is."""


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
        return "a file of safetensors. nn.load reads those of this library, by their path."
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
        return "It holds arrays of NumPy: nn.load reads those of this library, by their path, others numpy.load."
    return "Is it a Deeplearning4j model?"
