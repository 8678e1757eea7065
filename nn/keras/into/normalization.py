"""Normalisations: BatchNormalization, LayerNormalization, UnitNormalization, and Deeplearning4j's LRN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import nd
from nd.typing import HostArray

from ...layers import BatchNormalization, LocalResponseNormalization
from ...onnx.vertices import OnnxVertex
from ...terms.data_formats import IMAGES
from .piece import FORMATS, Piece, Value
from .shapes import permuted

Reader = Callable[[], HostArray]


def batch_normalization(piece: Piece) -> Value:
    """BatchNormalization along one axis, which has the channels then."""
    axis = _axis(piece)
    channels, rank = piece.value.shape[axis - 1], len(piece.value.shape) + 1
    if axis in (1, rank - 1):
        value = channels_at(piece, piece.value, axis)
    else:  # between others: it goes to the front, and back
        value = permuted(piece, piece.value, (axis, *(at for at in range(1, rank) if at != axis)), part="front")
    piece.need(channels is not None, f"an open number of channels in {value.shape}")
    scale, center = bool(piece.get("scale", True)), bool(piece.get("center", True))
    more = {name: piece.get(name) for name in ("renorm", "virtual_batch_size", "adjustment", "mode")}
    piece.need(not any(more.values()), f"settings {more}")
    for name in ("fused", "renorm_clipping", "renorm_momentum", "synchronized"):
        piece.get(name)
    settings: dict[str, Any] = {
        "n_in": channels, "n_out": channels, "decay": float(piece.get("momentum", 0.99)), "use_log_std": False,
        "eps": float(piece.get("epsilon", 0.001)), "lock_gamma_beta": not (scale or center),
    }  # fmt: skip
    if len(value.shape) == 3:
        settings["data_format"] = value.data_format or IMAGES[0]
    kept = {
        "gamma": piece.weight("gamma") if scale else _filled(channels, 1.0, center),
        "beta": piece.weight("beta") if center else _filled(channels, 0.0, scale),
        "mean": piece.weight("moving_mean"),
        "var": piece.weight("moving_variance"),
    }
    settings |= piece.trained_scale()
    arrays = piece.arrays(**{name: as_row(read) for name, read in kept.items()})
    value = value._replace(node=piece.add(BatchNormalization(**settings), value.node, arrays))
    if axis in (1, rank - 1):
        return value
    return permuted(piece, value, (*range(2, axis + 1), 1, *range(axis + 1, rank)), part="back")


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
    piece.need(len(axes) == 1, f"axis={given!r}: several axes")
    conf = OnnxVertex("LpNormalization", {"axis": axes[0] % (len(value.shape) + 1), "p": 2})
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


def channels_at(piece: Piece, value: Value, axis: int) -> Value:
    """Return a value that computes with an axis, counted from 1, as that of the channels."""
    places = len(value.shape) - 1
    if not places:
        piece.need(axis == 1, f"axis={axis} of rows")
        return value
    piece.need(places in FORMATS, f"an input of {places + 2} axes")
    return piece.formatted(value, FORMATS[places][axis == places + 1])


def _axis(piece: Piece) -> int:
    given = piece.get("axis", -1)
    axes = [given] if isinstance(given, int) else list(given)
    piece.need(len(axes) == 1, f"axis={given!r}: several axes")
    return int(axes[0]) % (len(piece.value.shape) + 1)


def as_row(read: Reader | None) -> Reader | None:
    """Return what reads ``[n]`` as ``[1, n]``."""
    return None if read is None else lambda: read().reshape(1, -1)


def _filled(count: Any, number: float, needed: bool) -> Reader | None:
    """Return what reads as many equal numbers, where they are needed."""
    return (lambda: _numbers((count,), number)) if needed else None


def _numbers(shape: Any, number: float) -> HostArray:
    with nd.use_backend("numpy"):
        return nd.to_host(nd.fill(nd.create_uninitialized(*shape), number))
