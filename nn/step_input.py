"""What a network computes in one step from: arrays on its backend, which decide how it is computed by their shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

Array = Any


class StepInput(NamedTuple):
    """Features ``[N, ...]``, labels and masks of one minibatch, or of a segment of its series."""

    features: Array
    labels: Array | None = None
    features_mask: Array | None = None
    labels_mask: Array | None = None
    own: tuple[bool, ...] = (False, False, False, False)
    """Which of them lie in memory that nobody else writes, in every step of the same shapes."""

    @property
    def examples(self) -> int:
        """N."""
        return self.features.shape[0]

    @property
    def arrays(self) -> tuple[Array | None, ...]:
        """Everything whose numbers change from step to step."""
        return self[:4]

    @property
    def key(self) -> tuple[object, ...]:
        """Shapes of everything: steps of one key take the same operations."""
        labels, features_mask, labels_mask = self.labels, self.features_mask, self.labels_mask
        return (
            self.features.shape,
            None if labels is None else labels.shape,
            None if features_mask is None else features_mask.shape,
            None if labels_mask is None else labels_mask.shape,
        )

    def with_arrays(self, arrays: Sequence[Array | None]) -> Self:
        """Return the same with others in the place of `arrays`."""
        return self._replace(**dict(zip(self._fields[:4], arrays, strict=True)))

    def part(self, rows: slice) -> StepInput:
        """Return views of some of the examples."""
        if rows.start == 0 and rows.stop == self.features.shape[0]:
            return self
        return StepInput(*(None if array is None else array[rows, ...] for array in self.arrays))
