"""What an optimizer has learned from its steps, as a checkpoint keeps it."""

from __future__ import annotations

from typing import Any, NamedTuple

from nd import FormatError

Array = Any


class OptimizerState(NamedTuple):
    """Numbers and vectors, in an order that the optimizer knows.

    Attributes
    ----------
    numbers : tuple of float
    vectors : tuple of array ``[n]``
        Of the parameters' length; not to be written.
    """

    numbers: tuple[float, ...] = ()
    vectors: tuple[Array, ...] = ()

    def check(self, who: str, numbers: int, vectors: int) -> None:
        """Raise FormatError unless there are so many."""
        found = len(self.numbers), len(self.vectors)
        if found != (numbers, vectors):
            raise FormatError(
                f"{who}: its state must be {numbers} numbers and {vectors} vectors, got {found[0]} and {found[1]}. "
                "Was the checkpoint written with another optimization_algo?"
            )
