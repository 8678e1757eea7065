"""Formulas and whole series without a compiler: a formula runs as it is written, and no series in one go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backends.typing import Array

from ..signatures import Series

if TYPE_CHECKING:
    from ..base import Backend


def run_formula(backend: Backend, formula: Any, arguments: tuple[object, ...], current: object) -> None:
    """Run an `nd.Elementwise`; `current` makes a backend the facade's current one for a block."""
    formula.formula(*arguments)


def sum_formula(
    backend: Backend, formula: Any, arguments: tuple[object, ...], current: object, out: Array | None = None
) -> Array | tuple[Array, ...]:
    """Return the sums of an `nd.Summed`, arrays ``[]``, in the elements of `out`; `current` as in `run_formula`."""
    sums = formula.formula(*arguments)
    if out is None:
        return sums
    cells = backend.cells(out)
    for cell, total in zip(cells, sums if isinstance(sums, tuple) else (sums,), strict=True):
        backend.assign(cell, total)
    return cells if isinstance(sums, tuple) else cells[0]


def lstm(backend: Backend, given: Series[Array]) -> Any:
    """Return a pass of ``x [T, N, C]`` through LSTM units in one go, its outputs and state; None where none can."""
    return None


def lstm_back(backend: Backend, ran: Any, epsilon: Array, grads: object) -> Array:
    """Write the gradients of the weights from ``epsilon [N, H, T]`` and what `lstm` returned; return dL/dx."""
    return ran.backward(epsilon, grads)
