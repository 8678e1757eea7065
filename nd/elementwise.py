"""Formulas that treat every element for itself: run as they are written, or compiled, as the backend can."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .arguments import checked
from .state import state, use_backend


class Elementwise:
    """A computation on arrays of one shape, or that broadcast to it, element by element and in place.

    Parameters
    ----------
    formula : callable
        Takes what the object is called with: arrays, numbers, and arrays ``[]`` that hold a number. Writes some of the
        arrays with this package's functions, and depends on nothing else that changes. An array ``[]`` that it writes
        may be seen before or after that by other elements.
    scratch : tuple of int
        Places of arguments whose contents matter neither before nor after.

    Notes
    -----
    CuPy makes one kernel of it; what it cannot make a kernel of, a reduction or a random draw, runs as it is written.

    Examples
    --------
    >>> import nd
    >>> half_sum = Elementwise(lambda x, y: nd.muli(nd.addi(x, y), 0.5))
    >>> x = nd.create([1.0, 3.0])
    >>> half_sum(x, nd.create([3.0, 5.0]))
    >>> x.tolist()
    [2.0, 4.0]
    """

    @checked
    def __init__(self, formula: Callable[..., object], scratch: tuple[int, ...] = ()) -> None:
        self.formula, self.scratch = formula, scratch
        self.compiled: dict[object, Any] = {}

    def __call__(self, *arguments: Any) -> None:
        state.backend.run_formula(self, arguments, use_backend)


class Summed:
    """A sum over all elements of what a formula makes of each.

    Parameters
    ----------
    formula : callable
        As for `Elementwise`, but returns an array ``[]``, or several: sums and products by `nd.sum` and `nd.dot`,
        which may be multiplied by numbers and added up. It may also write arrays.

    Examples
    --------
    >>> import nd
    >>> penalty = Summed(lambda w, l2: 0.5 * l2 * nd.dot(w, w))
    >>> float(penalty(nd.create([3.0, 4.0]), 0.1))
    1.25
    """

    @checked
    def __init__(self, formula: Callable[..., Any]) -> None:
        self.formula = formula
        self.compiled: dict[object, Any] = {}

    def __call__(self, *arguments: Any, out: Any = None) -> Any:
        """Return the sums, in the elements of the vector `out` when it is given."""
        return state.backend.sum_formula(self, arguments, use_backend, out)
