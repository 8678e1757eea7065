"""Dropout and other noise in training."""

from __future__ import annotations

from ...layers import DropoutLayer
from ...terms.dropout import AlphaDropout, Dropout, GaussianDropout, GaussianNoise, IDropout, SpatialDropout
from .piece import FORMATS, Piece, Value


def dropout(piece: Piece) -> Value:
    """Dropout; a mask that is the same at all places is a SpatialDropout."""
    shape, value = piece.get("noise_shape"), piece.value
    if shape is not None:
        spatial = [1] * (len(value.shape) - 1)
        given = list(shape)[1:]
        piece.need(len(given) == len(value.shape), f"noise_shape={shape}")
        free = [size in (None, -1, of_value) for size, of_value in zip(given, value.shape, strict=True)]
        if not all(free):
            piece.need(given[:-1] == spatial and free[-1] and spatial, f"noise_shape={shape}")
            return _spatial(piece)
    return _noised(piece, _rate(piece), Dropout)


def spatial_dropout(piece: Piece) -> Value:
    """SpatialDropout1D to 3D: whole channels."""
    return _spatial(piece)


def _spatial(piece: Piece) -> Value:
    value, rate = piece.value, _rate(piece)
    places = len(value.shape) - 1
    piece.need(places in FORMATS, f"an input of shape {value.shape}")
    tag = piece.format(places)
    return piece.unsaid(value, tag, DropoutLayer(SpatialDropout(rate=rate))) if rate else value


def alpha_dropout(piece: Piece) -> Value:
    """AlphaDropout."""
    piece.need(piece.get("noise_shape") is None, "noise_shape")
    return _noised(piece, _rate(piece), AlphaDropout)


def gaussian_dropout(piece: Piece) -> Value:
    """GaussianDropout."""
    rate = _rate(piece)
    return piece.value if not rate else _with(piece, GaussianDropout(rate))


def gaussian_noise(piece: Piece) -> Value:
    """GaussianNoise."""
    deviation = float(piece.get("stddev"))
    return piece.value if not deviation else _with(piece, GaussianNoise(deviation))


def _rate(piece: Piece) -> float:
    return float(piece.get("rate", 0.0))


def _noised(piece: Piece, rate: float, kind: type[Dropout | AlphaDropout]) -> Value:
    return piece.value if not rate else _with(piece, kind(rate=rate))


def _with(piece: Piece, noise: IDropout) -> Value:
    value = piece.value
    return value._replace(node=piece.add(DropoutLayer(noise), value.node))
