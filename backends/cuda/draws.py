"""Random draws of a CUDA graph: the generator's state stays on the device, and the host keeps count of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from backends.errors import NotRecorded
from backends.random_bits import advanced

Array = Any

MOST_DRAWS = 64
"""Of one graph."""
_BITS = np.dtype(np.uint64)


class Draws:
    """What one graph draws from one generator, so that every launch draws fresh numbers, the host's own.

    Parameters
    ----------
    cupy : module
    generator : nd.random.Random
        Has ``get_state() -> (root, node)`` and ``set_state``.
    """

    def __init__(self, cupy: Any, generator: Any) -> None:
        self._cupy, self.generator = cupy, generator
        self._counts: list[int] = []
        self._expected: tuple[int, int] = generator.get_state()
        self._on_device: tuple[int, int] | None = None
        self.captured = False
        """Whether what runs now is captured, and draws from the device's state."""
        self.slots: Array = None
        """Root, node, and the node after each draw; ``uint64 [2 + MOST_DRAWS]``, made when something is drawn."""

    def __bool__(self) -> bool:
        return bool(self._counts)

    def begin(self) -> None:
        """Note the draws of a run from its beginning on."""
        self._counts, self._expected = [], self.generator.get_state()

    def note(self, root: int, node: int, n: int) -> int:
        """Note a draw of n numbers after which the generator moves on by as many; return the number of the draw.

        Raises
        ------
        NotRecorded
            It is of another generator, one has not moved on by as many, or there are too many.
        """
        if (root, node) != self._expected or len(self._counts) == MOST_DRAWS:
            raise NotRecorded("a graph holds draws of the global generator only, each of what it moves on by.")
        if self.slots is None:
            self.slots = self._cupy.empty(2 + MOST_DRAWS, _BITS)
        self._counts.append(n)
        self._expected = root, advanced(node, n)
        return len(self._counts) - 1

    def end(self) -> None:
        """Raise NotRecorded unless the generator is where the draws have left it."""
        if self.generator.get_state() != self._expected:
            raise NotRecorded("a graph holds no draws that are not noted.")

    @contextmanager
    def capturing(self) -> Iterator[None]:
        """Let a run draw from the device's state; the host's stays."""
        state, self.captured = self.generator.get_state(), True
        try:
            yield
        finally:
            self.captured = False
            self.generator.set_state(state)

    def wind(self) -> None:
        """Issue what leaves the state after the last draw where the next launch begins."""
        if self:
            last = 1 + len(self._counts)
            self._cupy.copyto(self.slots[1:2], self.slots[last : last + 1])

    def before_launch(self) -> None:
        """Let the device start from the host's state, which was drawn from in between, or set."""
        state = self.generator.get_state()
        if state != self._on_device:
            self.slots[:2].set(np.array(state, _BITS))

    def after_launch(self) -> None:
        """Move the host's generator on as the device's."""
        root, node = self.generator.get_state()
        for n in self._counts:
            node = advanced(node, n)
        self._on_device = root, node
        self.generator.set_state(self._on_device)
