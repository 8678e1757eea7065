"""The gradient of a network, by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import nd
from nd.arguments import shown
from nd.classes import ExplainedType
from nd.typing import Array

from ..terms.params import joined


class Gradient(Protocol):
    """A gradient that can be read by variable or as one flat vector."""

    def gradient_for_variable(self) -> dict[str, Array]:
        """Return key (``"0_W"``) -> array of the parameter's shape."""

    def gradient(self) -> Array:
        """Return the flat vector ``[1, n]``."""


def _names(order: Sequence[str]) -> list[str]:
    if isinstance(order, str) or not isinstance(order, Sequence) or not all(isinstance(key, str) for key in order):
        raise nd.ArgumentError(f"gradient: order must be a list of names of variables, got {shown(order)}.")
    return list(order)


class DefaultGradient(metaclass=ExplainedType):
    """Gradients by variable; those of a network are views into its flat vector, and nothing is copied.

    Parameters
    ----------
    vector : array ``[1, n]``, optional
        Without it `gradient` joins the variables.
    table : dict of str -> array, optional
        Key (``"0_W"``) -> gradient of the parameter's shape, in the order of the vector.
    orders : dict of str -> {"c", "f"}, optional
        Key -> order of the gradient's elements in the vector; "f" where there is none.

    Notes
    -----
    Source: DL4J ``DefaultGradient``.

    Examples
    --------
    >>> import nd
    >>> gradient = DefaultGradient()
    >>> _ = gradient.set_gradient_for("0_W", nd.create([[1.0, 2.0], [3.0, 4.0]]))
    >>> gradient.gradient()[0].tolist()
    [1.0, 3.0, 2.0, 4.0]
    """

    DEFAULT_FLATTENING_ORDER = "f"
    """Order of a variable's elements in the vector where nobody has said another."""

    def __init__(
        self,
        vector: Array | None = None,
        table: dict[str, Array] | None = None,
        orders: dict[str, str] | None = None,
    ) -> None:
        self._vector, self._table, self._orders = vector, dict(table or {}), dict(orders or {})

    def gradient_for_variable(self) -> dict[str, Array]:
        """Return key (``"0_W"``) -> view of the parameter's shape, in the order of the vector."""
        return dict(self._table)

    def get_gradient_for(self, key: str) -> Array:
        """Return the view of one variable; raise ChoiceError if there is none."""
        return self._table[nd.checks.check_choice("get_gradient_for", "variable", key, self._table)]

    def set_gradient_for(self, key: str, gradient: Array, flattening_order: str | None = None) -> Array | None:
        """Put another array in the place of one variable's, or add it; the flat vector stays what it is, as in Java.

        Parameters
        ----------
        key : str
        gradient : array
        flattening_order : {"c", "f"}, optional
            Order of its elements where there is no flat vector; without it "f".

        Returns
        -------
        array or None
            The one that was there before.
        """
        if not isinstance(key, str) or not nd.is_array(gradient):
            wrong = f"variable {shown(key)} and a gradient {shown(gradient)}"
            raise nd.ArgumentError(f"set_gradient_for: expected a name and an array, got {wrong}. Use nd.create.")
        former = self._table.get(key)
        self._table[key] = gradient
        if flattening_order is not None:
            self._orders[key] = nd.checks.check_choice("set_gradient_for", "order", flattening_order, ("c", "f"))
        return former

    def flattening_order_for_variable(self, key: str) -> str | None:
        """Return the order of one variable's elements in the vector; None for "f" where nobody has said it."""
        return self._orders.get(key)

    def gradient(self, order: Sequence[str] | None = None) -> Array:
        """Return the flat vector ``[1, n]``; with the names of variables, these joined in that order."""
        if order is None and self._vector is not None:
            return self._vector
        keys = list(self._table) if order is None else _names(order)
        if not keys:
            raise nd.ConfigurationError("gradient: expected gradients of variables, got none. Call set_gradient_for.")
        return joined((self.get_gradient_for(key), self._orders.get(key)) for key in keys)

    def clear(self) -> None:
        """Forget the variables; a flat vector stays."""
        self._table, self._orders = {}, {}

    def __repr__(self) -> str:
        return f"DefaultGradient({self._table})"
