"""Which release of Deeplearning4j wrote a configuration: the only place that decides it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .names import Json, is_wrapper

NEWEST = "1.0.0-beta4+"
VERSIONS = ("0.5", "0.6", "0.7", "0.8", "0.9", "1.0.0-alpha", "1.0.0-beta", NEWEST)
"""Forms of the document, oldest first; "1.0.0-beta" is beta to beta3."""

_INNER = ("layer", "underlying", "fwd", "bwd")


def detect_version(document: Json) -> str:
    """Return the first release whose form a configuration has, one of `VERSIONS`.

    Parameters
    ----------
    document : dict
        Of a MultiLayerConfiguration or of a ComputationGraphConfiguration.

    Notes
    -----
    The files do not say it; the fields that each release added do. A document without layers counts as the newest.

    Examples
    --------
    >>> detect_version({"confs": [{"layer": {"dense": {"activationFunction": "relu", "updater": "SGD"}}}]})
    '0.5'
    """
    confs = list(confs_of(document))
    layers = [layer for conf in confs for layer in _layers_in(conf.get("layer"))]
    fields = {key for _, content in layers for key in content}
    if any(wrapped for wrapped, _ in layers):
        return _of_wrappers(fields, {key for conf in confs for key in conf})
    older = {"l1", "l2", "weightInit"} & fields and not {"regularization", "weightInitFn"} & fields
    return "1.0.0-beta" if older or any("pretrain" in conf for conf in confs) else NEWEST


def _of_wrappers(fields: set[str], of_confs: set[str]) -> str:
    if "iupdater" in fields:
        return "0.9" if "dropOut" in fields else "1.0.0-alpha"
    if {"idropout", "constraints"} & fields:
        return "1.0.0-alpha"
    if {"activationFn", "l1Bias", "l2Bias"} & fields:
        return "0.8"
    if "convolutionMode" in fields or "pretrain" in of_confs:
        return "0.7"
    return "0.6" if {"epsilon", "lossFn", "cudnnAlgoMode"} & fields else "0.5"


def confs_of(document: Json) -> Iterator[Json]:
    """Yield the configurations of the layers, whatever kind of network it is."""
    confs = document.get("confs")
    for conf in confs if isinstance(confs, list) else ():
        if isinstance(conf, dict):
            yield conf
    vertices = document.get("vertices")
    for vertex in vertices.values() if isinstance(vertices, dict) else ():
        content = next(iter(vertex.values())) if is_wrapper(vertex) else vertex
        if isinstance(content, dict) and isinstance(content.get("layerConf"), dict):
            yield content["layerConf"]


def _layers_in(layer: Any) -> Iterator[tuple[bool, Json]]:
    """Yield a layer and those that it wraps: whether it has the oldest form, and its fields."""
    pending = [layer]
    while pending:
        layer = pending.pop()
        content = next(iter(layer.values())) if is_wrapper(layer) else layer
        if isinstance(content, dict):
            yield is_wrapper(layer), content
            pending += [content[key] for key in _INNER if key in content]
