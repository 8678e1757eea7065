"""Caffe's messages by name, ``proto.NetParameter()``, as pycaffe has them in ``caffe.proto.caffe_pb2``.

They are ordinary messages of the protobuf library. The phases are there too: ``proto.TRAIN``, ``proto.TEST``.
"""

from __future__ import annotations

from typing import Any

from nd.on_demand import unknown_name

from .schema import public_names


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    names = public_names()
    if name not in names:
        raise unknown_name(__name__, name, sorted(names))
    return names[name]


def __dir__() -> list[str]:
    return sorted(public_names())
