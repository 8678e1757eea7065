"""What a solver keeps of each parameter, in the order of Caffe's files: out of a network's updater and back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import nd
from nd import FormatError
from nd.checks import describe_shape
from nd.typing import Array
from optimize.network_updater import NetworkUpdater

from .updates import update_of_type


class Place(NamedTuple):
    """Where a learnable parameter lies in the flat vector."""

    start: int
    stop: int
    shape: tuple[int, ...]


def history_of(updater: NetworkUpdater, places: Sequence[Place], solver_type: str) -> list[Array]:
    """Return copies of all states, as `SavedState.history` has them.

    Parameters
    ----------
    updater : NetworkUpdater
        With updaters of `updater_for`.
    places : sequence of Place, or of (start, stop, shape)
        Of the learnable parameters, in their order.
    solver_type : str
        ``"SGD"``: decides how many states a parameter has.

    Returns
    -------
    list of array
        In the shapes of the parameters: the first state of each, then, of Adam and AdaDelta, the second of each. Zeros
        for a parameter that no update changes.
    """
    kinds = len(update_of_type(solver_type).state_names)
    history: list[Array] = []
    for kind in range(kinds):
        for start, stop, shape in places:
            states = _states(updater, start, stop)
            state = nd.copy(states[kind]) if states else nd.zeros(stop - start, dtype=nd.dtype_name(updater.params))
            history.append(nd.reshape_view(state, tuple(shape)))
    return history


def restore_history(
    updater: NetworkUpdater,
    places: Sequence[Place],
    solver_type: str,
    history: Sequence[Array],
    who: str = "restore",
) -> None:
    """Put a history back where `history_of` has it from; `who` begins errors: the name of a file.

    Shapes need not be equal where they have as many elements, as those with four axes of old files.

    Raises
    ------
    FormatError
        There is not one array for each state of each parameter, or one has another number of elements. Nothing has
        changed then.
    """
    names = update_of_type(solver_type).state_names
    if len(history) != len(names) * len(places):
        raise FormatError(
            f"{who}: the history must be {len(names)} x {len(places)} = {len(names) * len(places)} arrays, for the "
            f"parameters of this net and type {solver_type!r}, got {len(history)}. Is it another solver's state?"
        )
    pairs = list(zip(history, [*places] * len(names), strict=True))
    for number, (array, (start, stop, shape)) in enumerate(pairs):
        if math.prod(array.shape) != stop - start:
            raise FormatError(
                f"{who}: history[{number}] must be {describe_shape(tuple(shape))}, as parameter "
                f"{number % len(places)}, got {describe_shape(array.shape)}. Is it the state of another net?"
            )
    for number, (array, (start, stop, _)) in enumerate(pairs):
        states = _states(updater, start, stop)
        if states:
            state = states[number // len(places)]
            nd.assign(state, nd.reshape(nd.create(array, nd.dtype_name(state)), (stop - start,)))


def _states(updater: NetworkUpdater, start: int, stop: int) -> list[Array]:
    """Return views of the states of a parameter; none of one that has no elements, or no states."""
    return updater.states_of(start, stop) if stop > start else []
