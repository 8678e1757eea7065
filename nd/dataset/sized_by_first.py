"""SizedByFirst: what iterators share that learn their sizes from the first minibatch that comes."""

from __future__ import annotations

from nd.dataset.dataset import DataSet
from nd.dataset.iterator import DataSetIterator


class SizedByFirst(DataSetIterator):
    """Tell sizes of the first minibatch, which is read ahead where nobody has asked for it yet."""

    _sizes: tuple[int, int, int | None] | None = None
    """Examples, features' and labels' second axis."""

    def _note_sizes(self, found: DataSet) -> None:
        """Remember the sizes of a minibatch, if it is the first."""
        if self._sizes is None:
            outcomes = None if found.labels is None else found.num_outcomes()
            self._sizes = (found.num_examples(), found.num_inputs(), outcomes)

    def _known_sizes(self) -> tuple[int, int, int | None]:
        if self._sizes is None:
            self.has_next()
        return self._sizes or (0, 0, None)

    def batch(self) -> int:
        """Return the size of the first DataSet, which is read ahead if need be (0 if there is none)."""
        return self._known_sizes()[0]

    def total_outcomes(self) -> int:
        """Return the length of the first labels' second axis.

        Raises
        ------
        DataError
            There are no data or no labels.
        """
        outcomes = self._known_sizes()[2]
        return super().total_outcomes() if outcomes is None else outcomes

    def input_columns(self) -> int:
        """Return the length of the first features' second axis (0 if there are no data)."""
        return self._known_sizes()[1]
