"""Formulas of a step in time, each in one launch where the backend compiles formulas."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..execution.workers import elementwise
from ..state import state


class Apart(tuple[Any, ...]):
    """A stack of arrays, each of which is an argument of a formula; it is indexed as ``[K, N, H]`` is."""

    __slots__ = ()

    def __getitem__(self, place: Any) -> Any:
        number, _ = place
        found = super().__getitem__(number)
        return Apart(found) if isinstance(number, slice) else found


def on_stacks(function: Callable[..., object], *stacks: object) -> None:
    """Call a function of arrays with stacks: at once, or array by array where these are apart."""
    if isinstance(stacks[0], Apart):
        for arrays in zip(*stacks, strict=True):
            function(*arrays)
    else:
        function(*stacks)


class StepFormula:
    """A formula of arrays ``[N, H]``, stacks ``[K, N, H]``, tuples of arrays, None, True and False.

    Parameters
    ----------
    formula : callable
        As for `nd.Elementwise`; stacks come as `Apart`.
    scratch : sequence of int
        Places of arrays whose contents matter neither before nor after.
    """

    def __init__(self, formula: Callable[..., object], scratch: Sequence[int]) -> None:
        self._formula, self._scratch = formula, scratch
        self._of_arrays: dict[tuple[object, ...], Callable[..., object]] = {}

    def __call__(self, *arguments: object) -> None:
        groups = [_arrays_of(argument) for argument in arguments]
        key = tuple(_kind_of(argument) for argument in arguments)
        if key not in self._of_arrays:
            first = [sum(map(len, groups[:place])) for place in self._scratch if groups[place]]
            self._of_arrays[key] = elementwise(lambda *arrays: self._formula(*_as_given(key, iter(arrays))), (*first,))
        self._of_arrays[key](*(array for group in groups for array in group))


def _arrays_of(argument: Any) -> Sequence[object]:
    if argument is None or isinstance(argument, bool):
        return ()
    if isinstance(argument, tuple):
        return argument
    return [argument[k, ...] for k in range(argument.shape[0])] if argument.ndim == 3 else (argument,)


def _kind_of(argument: Any) -> object:
    """Return None or a bool itself, otherwise what makes it of its arrays, and their number."""
    if argument is None or isinstance(argument, bool):
        return argument
    if isinstance(argument, tuple):
        return tuple, len(argument)
    return (Apart, argument.shape[0]) if argument.ndim == 3 else (next, 1)


def _as_given(kinds: Sequence[object], arrays: Iterator[object]) -> list[object]:
    found = []
    for kind in kinds:
        if not isinstance(kind, tuple):
            found.append(kind)
        else:
            made, count = kind
            found.append(made(iter([next(arrays) for _ in range(count)])))
    return found


def one_launch(formula: Callable[..., object], scratch: Sequence[int] = ()) -> Callable[..., Any]:
    """Return a formula as the current backend runs it best: itself, or a `StepFormula`; parameters as there."""
    return StepFormula(formula, scratch) if state.backend.compiles else formula
