"""Activations as layers of their own."""

from __future__ import annotations

from .piece import Piece, Value


def activation(piece: Piece) -> Value:
    """Activation: a function by its name."""
    return piece.activated(piece.value, piece.activation())
