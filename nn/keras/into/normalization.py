"""Normalisations: BatchNormalization, LayerNormalization, UnitNormalization, and Deeplearning4j's LRN."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import nd
from nd.typing import HostArray

from ...layers import BatchNormalization, LocalResponseNormalization
from ...onnx.vertices import OnnxVertex
from ...terms.data_formats import IMAGES
from ...vertices import L2NormalizeVertex
from .piece import FORMATS, Arrays, Piece, Value
from .places import Reader, row
from .shapes import permuted


def batch_normalization(piece: Piece) -> Value:
    """BatchNormalization along one axis, which has the channels then."""
    value, axis = piece.value, _axis(piece)
    channels, rank = value.shape[axis - 1], len(value.shape) + 1
    piece.need(channels is not None, f"an open number of channels in {value.shape}")
    conf, arrays = _of_channels(piece, channels)
    if rank == 2:
        return value._replace(node=piece.add(conf, value.node, arrays))
    piece.need(rank - 2 in FORMATS, f"an input of {rank} axes")
    if 1 < axis < rank - 1:  # between others: it goes to the front, and back
        value = permuted(piece, value, (axis, *(at for at in range(1, rank) if at != axis)), part="front")
        value = value._replace(node=piece.add(conf, value.node, arrays))
        return permuted(piece, value, (*range(2, axis + 1), 1, *range(axis + 1, rank)), part="back")
    tag = FORMATS[rank - 2][axis == rank - 1]
    if tag not in IMAGES:
        return piece.unsaid(value, tag, conf, arrays)
    value = piece.formatted(value, tag)
    return value._replace(node=piece.add(replace(conf, data_format=tag), value.node, arrays))


def _of_channels(piece: Piece, channels: Any) -> tuple[BatchNormalization, Arrays]:
    """Return the layer and its parameters."""
    more = {name: piece.get(name) for name in ("renorm", "virtual_batch_size", "adjustment", "mode")}
    piece.need(not any(more.values()), f"settings {more}")
    for name in ("fused", "renorm_clipping", "renorm_momentum", "synchronized"):
        piece.get(name)
    scale, center = bool(piece.get("scale", True)), bool(piece.get("center", True))
    settings: dict[str, Any] = {
        "n_in": channels, "n_out": channels, "decay": float(piece.get("momentum", 0.99)), "use_log_std": False,
        "eps": float(piece.get("epsilon", 0.001)), "lock_gamma_beta": not (scale or center),
    }  # fmt: skip
    kept = {
        "gamma": piece.weight("gamma") if scale else _filled(channels, 1.0, center),
        "beta": piece.weight("beta") if center else _filled(channels, 0.0, scale),
        "mean": piece.weight("moving_mean"),
        "var": piece.weight("moving_variance"),
    }
    arrays = piece.arrays(**{name: row(read) for name, read in kept.items()})
    return BatchNormalization(**settings, **piece.trained_scale()), arrays


def layer_normalization(piece: Piece) -> Value:
    """LayerNormalization along the last axes, as a vertex."""
    value = piece.opened(piece.value)
    rank = len(value.shape) + 1
    given = piece.get("axis", -1)
    axes = sorted(axis % rank for axis in ([given] if isinstance(given, int) else given))
    first = axes[0]
    piece.need(axes == list(range(first, rank)) and first > 0, f"axis={given!r}: not the last ones")
    piece.need(not piece.get("rms_scaling"), "rms_scaling=True")
    shape = value.shape[first - 1 :]
    piece.need(None not in shape, f"an open size in {value.shape}")
    piece.trained_scale()
    gamma = piece.weight("gamma") if piece.get("scale", True) else None
    beta = piece.weight("beta") if piece.get("center", True) else None
    constants: dict[int, Any] = {1: gamma() if gamma else _numbers(shape, 1.0)}
    if piece.get("center", True):
        constants[2] = beta() if beta else _numbers(shape, 0.0)
    trained = [at for at, name in ((1, "scale"), (2, "center")) if piece.get(name, True)]
    settings = {"axis": first, "epsilon": float(piece.get("epsilon", 0.001))}
    conf = OnnxVertex("LayerNormalization", settings, constants, trained=trained)
    return value._replace(node=piece.add(conf, value.node))


def unit_normalization(piece: Piece) -> Value:
    """UnitNormalization: every vector along an axis divided by its length."""
    value = piece.opened(piece.value)
    given = piece.get("axis", -1)
    axes = [given] if isinstance(given, int) else list(given)
    axes = [axis % (len(value.shape) + 1) for axis in axes]
    conf: Any = OnnxVertex("LpNormalization", {"axis": axes[0], "p": 2})
    if len(axes) > 1:
        conf = L2NormalizeVertex(dimension=sorted(axes), eps=1e-12)
    return value._replace(node=piece.add(conf, value.node))


def lrn(piece: Piece) -> Value:
    """LRN, the class of Deeplearning4j's own models: across the channels of images."""
    value = piece.value
    piece.need(len(value.shape) == 3, f"an input of shape {value.shape}")
    tag = piece.format(2)
    value = piece.formatted(value, tag)
    conf = LocalResponseNormalization(
        n=int(piece.get("n", 5)), k=float(piece.get("k", 2.0)), alpha=float(piece.get("alpha", 1e-4)),
        beta=float(piece.get("beta", 0.75)), data_format=tag,
    )  # fmt: skip
    return value._replace(node=piece.add(conf, value.node))


def _axis(piece: Piece) -> int:
    given = piece.get("axis", -1)
    axes = [given] if isinstance(given, int) else list(given)
    piece.need(len(axes) == 1, f"axis={given!r}: several axes")
    return int(axes[0]) % (len(piece.value.shape) + 1)


def _filled(count: Any, number: float, needed: bool) -> Reader | None:
    """Return what reads as many equal numbers, where they are needed."""
    return (lambda: _numbers((count,), number)) if needed else None


def _numbers(shape: Any, number: float) -> HostArray:
    with nd.use_backend("numpy"):
        return nd.to_host(nd.fill(nd.create_uninitialized(*shape), number))
