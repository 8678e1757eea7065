"""How far two answers are from each other, and what the comparison of one network says."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from nn import MultiLayerConfiguration

TINY = 1e-300
STAGES = {
    "build": "builds", "open": "opens", "output": "runs", "score": "runs", "gradient": "trains", "train": "trains",
    "save": "saves", "step": "runs",
}  # fmt: skip
"""What Java was doing when it failed -> what it could not do."""


@dataclass
class Result:
    """What was compared of one network: quantity -> relative distance, infinite where something is missing or fails.

    Parameters
    ----------
    name : str
        Of the case, and of its folder.
    conf : MultiLayerConfiguration
        None where it cannot be read.
    derivatives_prove : bool
        Java's gradient is not the derivative of Java's own score, and ours is.
    """

    name: str
    conf: MultiLayerConfiguration | None = None
    distances: dict[str, float] = field(default_factory=dict)
    messages: dict[str, str] = field(default_factory=dict)
    derivatives_prove: bool = False

    def compare(self, quantity: str, ours: Any, javas: Any) -> None:
        """Note the distance of two arrays, None for one that is missing."""
        self.distances[quantity], self.messages[quantity] = distance(ours, javas)

    def fails(self, quantity: str, message: str) -> None:
        """Note what could not be had at all."""
        self.distances[quantity], self.messages[quantity] = math.inf, message

    def attempt(self, quantity: str, ours: Callable[[], Any], javas: Any) -> None:
        """Compare what a function returns; whatever it raises is a failure of this quantity."""
        try:
            self.compare(quantity, ours(), javas)
        except Exception as error:
            self.fails(quantity, f"{type(error).__name__}: {error}")


def distance(ours: Any, javas: Any) -> tuple[float, str]:
    """Return the largest difference relative to Java's largest number, and the two numbers."""
    if ours is None or javas is None:
        return math.inf, f"{'Java' if javas is None else 'this library'} has none"
    ours, javas = (np.asarray(array, np.float64).ravel() for array in (ours, javas))
    if ours.size != javas.size:
        return math.inf, f"{ours.size} numbers for Java's {javas.size}"
    finite = np.isfinite(javas)
    if (np.isfinite(ours) != finite).any():
        return math.inf, "not finite on one side only"
    if not finite.any():
        return 0.0, ""
    off = np.abs(ours - javas)[finite]
    worst = off.argmax()
    size = max(np.abs(javas[finite]).max(), TINY)
    return float(off.max() / size), f"{ours[finite][worst]:.9g} for Java's {javas[finite][worst]:.9g}"


def read(folder: Path, name: str) -> np.ndarray | None:
    """Return an array of a case, None where there is none."""
    path = folder / f"{name}.npy"
    return np.load(path) if path.exists() else None


def java_error(folder: Path) -> tuple[str, str] | None:
    """Return what Java could not do, and the root of its error; None where it did not fail."""
    path = folder / "error.txt"
    if not path.exists():
        return None
    doing, first, *lines = path.read_text().splitlines()
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    return STAGES[doing], [first, *causes][-1]
