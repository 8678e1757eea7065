"""Arrays that are filled again once nobody holds them."""

from __future__ import annotations

import sys

import numpy as np

MOST_KEPT = 8


class ArrayPool:
    """Hands out float32 arrays, and hands one out again when whoever had it, or a view of it, has let it go.

    What is handed out belongs to whom it was handed; a reader that keeps minibatches gets new memory for each.
    """

    def __init__(self) -> None:
        self._arrays: list[np.ndarray] = []

    def take(self, shape: tuple[int, ...]) -> np.ndarray:
        """Return an array of that shape, contents undefined."""
        for index in range(len(self._arrays)):
            if self._arrays[index].shape == shape and _references(self._arrays, index) == _UNHELD:
                return self._arrays[index]
        self._arrays = [np.empty(shape, np.float32), *self._arrays[: MOST_KEPT - 1]]
        return self._arrays[0]


def _references(arrays: list[np.ndarray], index: int) -> int:
    return sys.getrefcount(arrays[index])


_UNHELD = _references([np.empty(0, np.float32)], 0)
"""What this Python counts for an array that only the list holds."""
