"""Caffe's layers: one class for a type, a file for a family."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nd import ConfigurationError
from nd.checks import suggestion

if TYPE_CHECKING:
    from .base import CaffeLayer

LAYERS = {
    "Axpy": "scale:Axpy",
    "BatchNorm": "normalization:BatchNorm",
    "Bias": "scale:Bias",
    "InnerProduct": "inner_product:InnerProduct",
    "LRN": "normalization:LRN",
    "MVN": "normalization:MVN",
    "Normalize": "normalization:Normalize",
    "Scale": "scale:Scale",
}
"""Type -> module and class, sorted."""


def layer_class(kind: str) -> type[CaffeLayer]:
    """Return the class of a type, ``layer_class("InnerProduct")``.

    Raises
    ------
    ConfigurationError
        There is no such type.
    """
    if kind not in LAYERS:
        raise ConfigurationError(
            f"nn.caffe: unknown layer type {kind!r}.{suggestion('type', kind, LAYERS)} Known are {', '.join(LAYERS)}."
        )
    module, name = LAYERS[kind].split(":")
    found: Any = getattr(import_module(f".{module}", __name__), name)
    return found  # type: ignore[no-any-return]
