"""Random draws: dropout's, and those of a CUDA graph.

For a graph the generator's state stays on the device, and the host keeps count of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.errors import NotRecorded
from backends.generic.random_bits import advanced
from backends.typing import Array, CupyArray

from . import REALS
from .spatial import batch_innermost

if TYPE_CHECKING:
    from types import ModuleType

    from .cupy_backend import CupyBackend

MOST_MOVES = 64
"""Of the generator, in one graph."""
_BITS = np.dtype(np.uint64)


def are_real(backend: CupyBackend, root: int, node: int, p: float, out: CupyArray) -> bool:
    """Tell whether the kernel writes these factors."""
    return out.dtype.char in REALS and batch_innermost(out)


def dropout_factors(backend: CupyBackend, root: int, node: int, p: float, out: CupyArray) -> Array:
    """Write factors in one launch."""
    arguments = (out, np.uint64(root), np.uint64(node), p, out.shape[0], out.size)
    backend.kernels.launch("dropout_factors", out.dtype.char, out.size, arguments)
    return out


class Draws:
    """Draws of one graph from one generator, so that every launch draws fresh numbers, the host's own.

    Parameters
    ----------
    cupy : module
    generator : nd.random.Random
        Has ``get_state() -> (root, node)`` and ``set_state``.
    """

    def __init__(self, cupy: ModuleType, generator: Any) -> None:
        self._cupy, self.generator = cupy, generator
        self._moves: list[int] = []
        self._planned: list[int] = []
        self._expected: tuple[int, int] = generator.get_state()
        self._drawn = False
        self._on_device: tuple[int, int] | None = None
        self.captured = False
        """Whether the present run is captured, and draws from the device's state."""
        self.states: CupyArray = None
        """Root, node, and the node after every move; ``uint64 [2 + MOST_MOVES]``, None before the first draw."""

    def __bool__(self) -> bool:
        return bool(self._planned)

    def begin(self) -> None:
        """Begin to note the draws of a run."""
        self._moves, self._drawn, self._expected = [], False, self.generator.get_state()

    def note(self, root: int, node: int) -> tuple[int, int]:
        """Note a draw; return the number of moves before it, and by how much the generator moves on after it.

        The latter is known from an earlier run, 0 in the first.

        Raises
        ------
        NotRecorded
            It is of another generator, there are too many, or the earlier run has not drawn it.
        """
        before = len(self._moves)
        if (root, node) != self._expected or before == MOST_MOVES:
            raise NotRecorded("a graph holds a limited number of draws, of the network's generator only.")
        if self.captured and before >= len(self._planned):
            raise NotRecorded("a graph holds the same draws every time.")
        if self.states is None:
            self.states = self._cupy.empty(2 + MOST_MOVES, _BITS)
        self._drawn = True
        return before, self._planned[before] if self.captured else 0

    def moved(self, n: int) -> None:
        """Note that the generator has moved on by n; raise NotRecorded if nothing was drawn before."""
        if not self._drawn:
            raise NotRecorded("a graph holds no generator that moves without a draw.")
        self._moves.append(n)
        self._drawn, self._expected = False, (self._expected[0], advanced(self._expected[1], n))

    def end(self) -> None:
        """Keep the noted moves; raise NotRecorded unless the generator is where they have left it."""
        unlike = self.captured and self._moves != self._planned
        if unlike or self._drawn or self.generator.get_state() != self._expected:
            raise NotRecorded("a graph holds no draws that are not noted.")
        self._planned = self._moves

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
        """Issue the copy of the state after the last draw to where the next launch begins."""
        if self:
            last = 1 + len(self._planned)
            self._cupy.copyto(self.states[1:2], self.states[last : last + 1])

    def before_launch(self) -> None:
        """Let the device start from the host's state, which was drawn from in between, or set."""
        state = self.generator.get_state()
        if state != self._on_device:
            self.states[:2].set(np.array(state, _BITS))

    def after_launch(self) -> None:
        """Move the host's generator on as the device's."""
        root, node = self.generator.get_state()
        for n in self._planned:
            node = advanced(node, n)
        self._on_device = root, node
        self.generator.set_state(self._on_device)
