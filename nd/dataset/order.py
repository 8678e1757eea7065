"""The order in which an epoch visits its examples."""

from __future__ import annotations

from typing import Any

from backends.errors import DataError
from nd.dataset.java_random import JavaRandom

_INT_MAX = (1 << 31) - 1

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
        """Begin the next epoch."""
        if self._random is not None:
            self._began = self._random.get_state()
            self._order = self._random.permutation(self.n)

    def select(self, start: int, stop: int) -> Selection:
        """Return which examples are the ones from `start` to `stop` - 1 of this epoch."""
        return slice(start, stop) if self._order is None else self._order[start:stop]

    def draw(self, count: int) -> list[int]:
        """Return numbers drawn by the generator, right after an epoch began; none without a seed."""
        return [] if self._random is None else [self._random.next_int(_INT_MAX) for _ in range(count)]

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


class FileOrder:
    """Orders of the examples of several files, one an epoch: file by file, every file in an order of its own.

    One `JavaRandom`, of the seed, shuffles the files and then draws a seed for every file, which shuffles its examples
    when it is their turn. So the generator's state when an epoch began is enough for several files too.

    Attributes
    ----------
    files : list of int
        The files' numbers, in the order of this epoch.
    """

    def __init__(self, lengths: list[int], seed: int | None) -> None:
        self.files = list(range(len(lengths)))
        self._lengths = lengths
        self._files = EpochOrder(len(lengths), seed)
        self._seeds: list[int] = []
        self._current: tuple[int, EpochOrder] | None = None  # number of a file, and its examples' order

    def begin(self) -> None:
        """Begin the next epoch."""
        self._files.begin()
        self._take()

    def select(self, number: int, start: int, stop: int) -> Selection:
        """Return which examples of file `number` are the ones from `start` to `stop` - 1 of its own order."""
        if not self._seeds:
            return slice(start, stop)
        if self._current is None or self._current[0] != number:
            order = EpochOrder(self._lengths[number], self._seeds[number])
            order.begin()
            self._current = (number, order)
        return self._current[1].select(start, stop)

    def state(self) -> int | None:
        """Return the state with which `restore` has this epoch's order again, and those after it."""
        return self._files.state()

    def restore(self, state: Any) -> None:
        """Be in the epoch whose `state` this is; raise DataError if it is none."""
        before = self._files.state()
        self._files.restore(state)
        if self._files.state() != before:
            self._take()

    def _take(self) -> None:
        selection = self._files.select(0, len(self._lengths))
        if not isinstance(selection, slice):
            self.files = [int(number) for number in selection]
            self._seeds = self._files.draw(len(self._lengths))
        self._current = None
