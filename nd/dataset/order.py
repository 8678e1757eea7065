"""The order in which an epoch visits its examples."""

from __future__ import annotations

from typing import Any

import numpy as np

from backends.errors import DataError
from nd.dataset.java_random import JavaRandom

_INT_MAX = (1 << 31) - 1
_MOST_SHUFFLED = 1 << 31  # examples, over all epochs: more take hours

Selection = Any
"""Examples picked: a slice where they lie side by side, else their numbers, an array [n]."""


class EpochOrder:
    """Orders of `n` examples, one for every epoch, shuffled where there is a seed.

    An epoch's order is that of 0 to n - 1 after ``Collections.shuffle``, with one `JavaRandom` for all epochs. So the
    generator's state when an epoch began is all that it takes to have its order again.
    """

    def __init__(self, n: int, seed: int | None) -> None:
        self.n = n
        self._random = None if seed is None else JavaRandom(seed)
        self._began: int | None = None
        self._order: Any = None

    def begin(self) -> None:
        """Begin the next epoch; where Ctrl-C comes meanwhile, stay in this one."""
        if self._random is None:
            return
        began = self._random.get_state()
        try:
            drawn = self._drawn(self._random)
        except BaseException:
            self._random.set_state(began)
            raise
        vars(self).update(drawn, _began=began)  # in one operation

    def _drawn(self, random: JavaRandom) -> dict[str, Any]:
        """Return what another epoch has in other attributes, drawn by the generator."""
        return {"_order": random.permutation(self.n)}

    def select(self, start: int, stop: int) -> Selection:
        """Return which examples are the ones from `start` to `stop` - 1 of this epoch."""
        return slice(start, stop) if self._order is None else self._order[start:stop]

    def numbers(self, start: int, stop: int) -> np.ndarray:
        """Return the same as numbers [n] in any case."""
        return np.arange(start, stop) if self._order is None else self._order[start:stop]

    def state(self) -> int | None:
        """Return the state with which `restore` has this epoch's order again, and those after it."""
        return self._random.get_state() if self._random is not None and self._began is None else self._began

    def begun(self) -> bool:
        """Tell whether this epoch's order is a shuffled one."""
        return self._began is not None

    def restore(self, state: Any, begun: bool = True) -> None:
        """Be in the epoch of a `state`, or, where none had `begun`, before the first one; DataError if it is none."""
        if self._random is None and state is not None:
            raise DataError(f"EpochOrder.restore: expected no shuffle, got the state {state!r}. Pass shuffle=True.")
        if self._random is not None and not (begun and isinstance(state, int) and state == self._began):
            self._random.set_state(state)
            self._began = self._order = None
            if begun:
                self.begin()


class FileOrder(EpochOrder):
    """Orders of the examples of several files, one an epoch: file by file, every file in an order of its own.

    One `JavaRandom`, of the seed, shuffles the files and then draws a seed for every file, which shuffles its examples
    when it is their turn. So the generator's state when an epoch began is enough for several files too.

    Attributes
    ----------
    files : list of int
        The files' numbers, in the order of this epoch.
    """

    def __init__(self, lengths: list[int], seed: int | None) -> None:
        super().__init__(len(lengths), seed)
        self.files = list(range(len(lengths)))
        self._lengths = lengths
        self._seeds: list[int] = []
        self._current: tuple[int, EpochOrder] | None = None  # number of a file, and its examples' order

    def _drawn(self, random: JavaRandom) -> dict[str, Any]:
        drawn = super()._drawn(random)
        files = drawn["_order"].tolist()
        return {**drawn, "files": files, "_seeds": [random.next_int(_INT_MAX) for _ in files], "_current": None}

    def of_file(self, number: int, start: int, stop: int) -> Selection:
        """Return which examples of file `number` are the ones from `start` to `stop` - 1 of its own order."""
        if not self._seeds:
            return slice(start, stop)
        if self._current is None or self._current[0] != number:
            order = EpochOrder(self._lengths[number], self._seeds[number])
            order.begin()
            self._current = (number, order)
        return self._current[1].select(start, stop)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the state of a pickle; in those of older releases the files have an order in an object of its own."""
        files = state.pop("_files", None)
        vars(self).update({} if files is None else vars(files), **state)


class FurtherOrder(EpochOrder):
    """Orders of which every one is that before it, shuffled once more, as DataVec's ``FileSplit`` has them.

    Parameters
    ----------
    n : int
    random : JavaRandom
        Others may draw from it too: the state of an order has the generator's states at which shuffles began.
    """

    def __init__(self, n: int, random: JavaRandom) -> None:
        super().__init__(n, None)
        self._random: JavaRandom = random
        self._order = np.arange(n)
        self._shuffles: list[list[int]] = []  # a state of the generator, and how many shuffles followed on it
        self._after: int | None = None  # the state after the last one

    def _drawn(self, random: JavaRandom) -> dict[str, Any]:
        state, shuffles = random.get_state(), self._shuffles
        if shuffles and state == self._after:
            state, count = shuffles[-1]
            shuffles = [*shuffles[:-1], [state, count + 1]]
        else:
            shuffles = [*shuffles, [state, 1]]
        order = self._order[random.permutation(self.n)]
        return {"_order": order, "_shuffles": shuffles, "_after": random.get_state()}

    def copy(self) -> FurtherOrder:
        """Return one that goes on alone, with the same generator."""
        other = FurtherOrder(self.n, self._random)
        other._order, other._after = self._order.copy(), self._after
        other._shuffles = [list(run) for run in self._shuffles]
        return other

    def state(self) -> Any:
        """Return the generator's states at which shuffles began, each with how many followed."""
        return [list(run) for run in self._shuffles]

    def restore(self, state: Any, begun: bool = True) -> None:
        """Shuffle as often as the order of that `state` was; DataError if it is none."""
        runs: list[Any] = state if isinstance(state, list) else [None]
        if not all(isinstance(run, list) and len(run) == 2 and _is_count(run[1]) for run in runs):
            raise DataError(f"FurtherOrder.restore: expected pairs of a generator's state and a count, got {state!r}.")
        if sum(run[1] for run in runs) * self.n > _MOST_SHUFFLED:
            raise DataError(f"FurtherOrder.restore: expected fewer shuffles of {self.n} examples, got {state!r}.")
        fresh, was = FurtherOrder(self.n, self._random), self._random.get_state()
        try:
            for start, count in runs:
                self._random.set_state(start)
                for _ in range(count):
                    fresh.begin()
        except DataError:
            self._random.set_state(was)
            raise
        vars(self).update(vars(fresh))


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
