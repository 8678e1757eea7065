"""The gradient of a network, by name."""

from __future__ import annotations

from typing import Any, Protocol

Array = Any


class Gradient(Protocol):
    """A gradient that can be read by variable or as a whole."""

    def gradient_for_variable(self) -> dict[str, Array]:
        """Return key (``"0_W"``) -> array of the parameter's shape."""

    def gradient(self) -> Array:
        """Return the flat vector ``[1, n]``."""


class DefaultGradient:
    """Views into the flat gradient vector; nothing is copied.

    Notes
    -----
    Source: DL4J ``DefaultGradient``.
    """

    def __init__(self, vector: Array, table: dict[str, Array]) -> None:
        self._vector, self._table = vector, table

    def gradient_for_variable(self) -> dict[str, Array]:
        """Return key (``"0_W"``) -> view of the parameter's shape, in the order of the vector."""
        return dict(self._table)

    def get_gradient_for(self, key: str) -> Array:
        """Return the view of one variable."""
        return self._table[key]

    def gradient(self) -> Array:
        """Return the flat vector ``[1, n]``."""
        return self._vector
