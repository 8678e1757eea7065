"""Learner: shared by normalizers that learn from data, in one pass, what they know of the columns of arrays."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from numbers import Number
from typing import Any, BinaryIO, Self

from backends.errors import ConfigurationError, DataError
from nd.arguments import shown
from nd.dataset.checks import check_count
from nd.dataset.iterator import is_features, is_pair
from nd.dataset.normalizers.any_normalizer import PARTS, AnyNormalizer
from nd.dataset.normalizers.body import read_flag, read_row, write_flag, write_rows
from nd.dataset.normalizers.statistics import ColumnStatistics
from nd.dataset.normalizers.ways import Numbers, Way
from nd.files.serde_buffers import read_number

_NOT_FITTED = -1


class Learner(AnyNormalizer):
    """A normalizer with statistics of columns: of features, images by channel, and of labels where `fit_label` is said.

    Attributes
    ----------
    numbers : dict
        "features" and "labels" -> index of the array -> name -> numbers of its columns.

    Notes
    -----
    Statistics are float64 in memory, computed in one pass. A file has them in float32 where that loses nothing, as
    with files that came from Java, else in float64, so that a normalizer and one read from its file are equal.
    """

    _learning = False

    def __init__(self) -> None:
        self.numbers: dict[str, dict[int, Numbers]] = {}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the state of a pickle; those of older releases have numbers of one array, or a normalizer for each."""
        of_each = state.pop("fitted", {})
        for group, numbers in state.get("numbers", {}).items():
            of_each[group] = {0: numbers} if isinstance(next(iter(numbers), 0), str) else numbers
        vars(self).update(state)
        self.numbers = {
            group: {i: each.numbers["features"][0] if isinstance(each, Learner) else each for i, each in of.items()}
            for group, of in of_each.items()
        }

    # ---- learning

    def fit(self, data: object) -> Self:
        """Learn the statistics of data, in one pass; earlier statistics are forgotten.

        Parameters
        ----------
        data : DataSet (MultiDataSet), (features, labels), an iterator or other iterable of those, or features
            Features are an array or a table ``[N, columns, ...]``, or nested lists; of a MultiDataSet a list of them.
            An iterator that can be reset is, before and after, as in Java: the epochs of one that shuffles go on from
            there.

        Returns
        -------
        Learner
            This one.

        Raises
        ------
        DataError
            There are no data, a number is not finite, labels are missing that are to be fitted, MultiDataSets differ in
            their number of arrays, or this normalizer is already at work in the iterator.
        ShapeError
            Two data sets differ in a number of columns, or a mask does not fit.
        """
        sizes: tuple[int, int] | None = None
        gathered: dict[str, dict[int, tuple[Way, ColumnStatistics]]] = {}
        for data_set in self._passing(data):
            multi = data_set.multi
            counts = len(multi.features), len(multi.labels)
            self._check_sizes(sizes or counts, counts)
            if sizes is None:
                sizes, gathered = counts, self._begun(*counts)
            for group, of_group in gathered.items():
                arrays, masks = getattr(multi, group), getattr(multi, f"{group}_masks")
                for i, (_, statistics) in of_group.items():
                    statistics.add(arrays[i], masks[i])
        if sizes is None:
            raise DataError(f"{self.who('fit' if self.several else 'fit: features')}: expected examples, got none.")
        self.numbers = {
            group: {i: way.finished(statistics) for i, (way, statistics) in of_group.items()}
            for group, of_group in gathered.items()
        }
        return self

    def _check_sizes(self, first: tuple[int, int], sizes: tuple[int, int]) -> None:
        """Raise DataError where labels are missing, or there are not as many arrays as the first data set had."""
        if self.fits_labels and not sizes[1]:
            why = "are to be fitted" if self.several else "fit_label asks for"
            raise DataError(f"{self.who('fit')}: expected labels, which {why}, got none.")
        if self.several and sizes != first:
            raise DataError(
                f"{self.who('fit')}: expected {first[0]} inputs and {first[1]} outputs, as in the data before, "
                f"got {sizes[0]} and {sizes[1]}."
            )

    def _begun(self, *counts: int) -> dict[str, dict[int, tuple[Way, ColumnStatistics]]]:
        """Return the way of every array that is to be changed, and statistics of nothing yet."""
        begun: dict[str, dict[int, tuple[Way, ColumnStatistics]]] = {}
        for group, count in [*zip(PARTS, counts, strict=True)][: 1 + self.fits_labels]:
            who = "fit" if self.several else f"fit: {group}"
            ways = {i: self.way_of(group, i) for i in range(count)}
            begun[group] = {i: (way, way.statistics(self.who(who, group, i))) for i, way in ways.items() if way}
        return begun

    def _passing(self, data: Any) -> Iterator[Any]:
        """Yield all data sets of data: features, a data set, an iterator, or an iterable.

        An iterator that can be reset is, before and after. Meanwhile this normalizer changes nothing.
        """
        kind, existing = self.iterators
        if is_pair(data, unless=(Number, tuple)):
            data = kind.kind(*data)
        elif is_features(data, kind.kind):
            data = kind.kind(data)
        if isinstance(data, kind.kind):
            yield data
            return
        iterator = data if isinstance(data, kind) else existing(data)
        current = iterator.pre_processor
        if current is self:
            raise self._at_work()
        if iterator.reset_supported():
            iterator.reset()
        self._learning = True
        try:
            while iterator.has_next():
                yield iterator.next()
        finally:
            self._learning = False
        if iterator.reset_supported():
            iterator.reset()

    def _at_work(self) -> DataError:
        return DataError(
            f"{self.who('fit')}: expected data as they are, got an iterator that this normalizer changes already. "
            "Fit first, then set_pre_processor."
        )

    # ---- what was learnt

    def learnt(self, method: str, group: str) -> dict[int, Numbers]:
        """Return index -> numbers of "features" or "labels"; DataError if they were not fitted."""
        if group not in self.numbers:
            before = "" if group == "features" else "fit_label(True) and then "
            raise DataError(f"{self.who(method)}: expected {group} that were fitted, got none. Call {before}fit first.")
        return self.numbers[group]

    def numbers_at(self, method: str, group: str, index: int) -> Numbers:
        """Return name -> numbers [columns] of one array, float64; DataError if it was not fitted."""
        known = self.learnt(method, group)
        at = check_count(self.who(method), "index", index, 0)
        if at not in known:
            raise DataError(f"{self.who(method)}: index must be one of {sorted(known)}, got {at}.")
        return known[at]

    def values_of(self, method: str, group: str, index: int) -> Numbers:
        if self._learning:
            raise self._at_work()
        known = self.numbers.get(group, {}) if self.several else self.learnt(method, group)
        if index not in known:
            raise DataError(
                f"{self.who(method)}: expected an {PARTS[group]} {index} that was fitted, got "
                f"{sorted(known) or 'none'}. Call fit first."
            )
        return known[index]

    def check_number(self, method: str, group: str, count: int) -> None:
        known = [i for i in self.numbers.get(group, {}) if self.way_of(group, i) is not None]
        if known and max(known) >= count:
            raise DataError(
                f"{self.who(method)}: expected at least {max(known) + 1} arrays, as the {PARTS[group]}s that were "
                f"fitted, got {count}."
            )

    def set_rows(self, method: str, group: str, rows: object) -> None:
        """Set pairs of rows, one for each array of a group; that of labels says that they are to be changed.

        Raises
        ------
        ConfigurationError
            It is no sequence of pairs, or they are not rows of so many finite numbers.
        """
        learnt: dict[int, Numbers] = {}
        if not isinstance(rows, Sequence) or isinstance(rows, (str, bytes)) or not rows:
            raise ConfigurationError(f"{self.who(method)}: expected a pair of rows for each array, got {shown(rows)}.")
        for i, pair in enumerate(rows):
            if not isinstance(pair, (list, tuple)) or len(pair) != 2:
                raise ConfigurationError(f"{self.who(method)}: element {i} must be a pair of rows, got {shown(pair)}.")
            learnt[i] = self.way().checked(self.who(method, group, i), *pair)
        self.numbers[group] = learnt
        self.fits_labels = self.fits_labels or group == "labels"

    # ---- files

    def write_body(self, stream: BinaryIO) -> None:
        groups = [*PARTS][: 1 + self.fits_labels]
        learnt = [self.learnt("save", group) for group in groups]
        write_flag(stream, self.fits_labels)
        if self.several:
            stream.write(struct.pack(">2i", *[*map(len, learnt), _NOT_FITTED][:2]))
        self.write_settings(stream)
        rows = self.way().rows
        write_rows(stream, [numbers[name] for of_group in learnt for numbers in of_group.values() for name in rows])

    @classmethod
    def read_body(cls, stream: BinaryIO) -> Self:
        groups = [*PARTS][: 1 + read_flag(stream)]
        counts = [1, 1]
        if cls.several:
            counts = [read_number(stream, ">i", f"the number of {name}") for name in ("inputs", "outputs")]
        normalizer = cls.read_settings(stream)
        for group, count in zip(groups, counts, strict=False):
            normalizer.set_rows("read", group, [(read_row(stream), read_row(stream)) for _ in range(count)])
        return normalizer

    def write_settings(self, stream: BinaryIO) -> None:
        """Write what a file has in front of the rows."""

    @classmethod
    def read_settings(cls, stream: BinaryIO) -> Self:
        """Return a normalizer that has learnt nothing, with what `write_settings` wrote."""
        return cls()
