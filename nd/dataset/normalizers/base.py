"""Normalizer: shared by all of them, and FittedNormalizer: shared by those that learn from data."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from functools import partial
from typing import Any, BinaryIO, ClassVar, Self

import numpy as np

from backends.errors import ConfigurationError, ShapeError, describe_shape, refuse_masked
from nd.dataset.existing import ExistingDataSetIterator
from nd.dataset.iterator import DataSetIterator, is_features
from nd.dataset.normalizers.any_normalizer import AnyNormalizer, Learner, in_place
from nd.dataset.normalizers.arrays import as_numbers
from nd.dataset.normalizers.body import read_flag, read_row, write_flag, write_rows
from nd.dataset.normalizers.statistics import ColumnStatistics
from nd.typing import Array

Numbers = Mapping[str, np.ndarray]
"""Name -> numbers of columns."""


class Normalizer(AnyNormalizer):
    """Change features, and labels where they are numbers, and change them back.

    A change gives a DataSet new arrays: those given to it, and other DataSets that share them, stay as they are.
    So an iterator whose pre-processor this is hands out data that were normalized once, in every epoch. Methods of
    arrays return new ones; `transform` of an array, and ``revertFeatures``, ``revertLabels`` and ``transformLabel``, in
    Java's spelling, write into it, as programs that are ported expect.

    Notes
    -----
    Source: org.nd4j.linalg.dataset.api.preprocessor.DataNormalization. Differs: Java writes into the arrays
    of a DataSet. Labels that are the features, of an autoencoder, stay so and
    are changed once; in Java twice where labels are fitted.
    """

    iterators = DataSetIterator, ExistingDataSetIterator
    _revert_features_in_place = in_place("revert_features")
    _revert_labels_in_place = in_place("revert_labels")
    _transform_labels_in_place = in_place("transform_labels")

    def transform(self, data: Any, mask: Any = None) -> Any:
        """Normalize a DataSet, as `pre_process` does, or features [N, columns, ...], and return them.

        An array is changed in its own memory, as in Java; tables, tensors and lists stay as they are.

        Raises
        ------
        DTypeError, DataError
            Features are no array of floats, or one that cannot be written; `transform_features` makes new ones.
        """
        if not is_features(data):
            return self.pre_process(data)
        features = self.transform_features(data, mask)
        in_place = hasattr(type(data), "__array_namespace__")
        return self.written("transform", data, features) if in_place else features

    def revert(self, data: Any, mask: Any = None) -> Any:
        """Undo `transform` of a DataSet, and return it; of features return new ones. Masked time steps stay 0."""
        if not is_features(data):
            return self.change_set("revert", "revert", data)
        return self.revert_features(data, mask)

    def transform_features(self, features: Any, mask: Any = None) -> Array:
        """Return features [N, columns, ...] normalized, as a new array; where `mask` is 0 they become 0.

        Raises
        ------
        ShapeError
            They have another number of columns than the data that were fitted, or the mask does not fit.
        DataError
            Nothing was fitted.
        """
        return self._changed("transform", "features", features, mask)

    def transform_labels(self, labels: Any, mask: Any = None) -> Array:
        """Return labels normalized, as a new array; the same array unless `fit_label` was said. Same errors."""
        return self._changed("transform", "labels", labels, mask) if self.fits_labels else labels

    def revert_features(self, features: Any, mask: Any = None) -> Array:
        """Return the features that `transform_features` was given, as a new array. Same errors."""
        return self._changed("revert", "features", features, mask)

    def revert_labels(self, labels: Any, mask: Any = None) -> Array:
        """Return the argument of `transform_labels`: labels, or a network's output. Same errors."""
        return self._changed("revert", "labels", labels, mask) if self.fits_labels else labels

    def changed_arrays(self, method: str, direction: str, group: str, arrays: Any, masks: Any) -> list[Array]:
        change = getattr(self, f"{direction}_{group}")
        return [change(array, mask) for array, mask in zip(arrays, masks, strict=True)]

    def _changed(self, direction: str, part: str, x: Any, mask: Any) -> Array:
        who = self.who(f"{direction}_{part}")
        values = self._values(f"{direction}_{part}", part)
        x = as_numbers(who, x)
        self._check_array(who, part, x, values)
        return (self._forward if direction == "transform" else self._backward)(who, x, mask, values)

    def _values(self, method: str, part: str) -> Numbers:
        """Return what is known of the columns of "features" or "labels"."""
        return {}

    def _check_array(self, who: str, part: str, x: Array, values: Numbers) -> None:
        """Raise ShapeError for an array that this normalizer is not for."""

    def _forward(self, who: str, x: Array, mask: Array | None, values: Numbers) -> Array:
        """Return an array normalized."""
        raise NotImplementedError

    def _backward(self, who: str, x: Array, mask: Array | None, values: Numbers) -> Array:
        """Return what `_forward` was given."""
        raise NotImplementedError


Normalizer.family = Normalizer


class FittedNormalizer(Learner, Normalizer):
    """A normalizer with statistics of columns: of features, images by channel, and of labels where `fit_label` is said.

    Notes
    -----
    Statistics are float64 in memory, computed in one pass. A file has them in float32 where that loses nothing, as
    with files that came from Java, else in float64, so that a normalizer and one read from its file are equal.
    """

    statistics: ClassVar[type[ColumnStatistics]]
    """The statistics that `fit` gathers."""
    rows: ClassVar[tuple[str, str]]
    """Names of the two rows of numbers that a file has, in its order."""

    subject = "fit: features"

    def __init__(self) -> None:
        self.numbers: dict[str, Numbers] = {}  # of "features" and "labels"

    def set_numbers(self, part: str, first: Any, second: Any, who: str | None = None) -> None:
        """Set the numbers of "features" or "labels", in the order of `rows`; `who` in messages is their setter."""
        self.numbers[part] = self._checked(who or self.who(f"set_{part[:-1]}_stats"), first, second)
        self.fits_labels = self.fits_labels or part == "labels"

    def new_statistics(self, group: str, index: int) -> ColumnStatistics:
        return self.statistics(f"{self.who('fit')}: {group}")

    def take_over(self, gathered: Mapping[str, Mapping[int, ColumnStatistics]]) -> None:
        self.numbers = {part: self._finished(of_part[0]) for part, of_part in gathered.items()}

    def fitted(self, part: str, method: str = "fitted") -> Numbers:
        """Return name -> numbers [columns] of "features" or "labels".

        Raises
        ------
        DataError
            They were not fitted.
        """
        return self.part_of(self.numbers, part, method)

    def write_body(self, stream: BinaryIO) -> None:
        parts = ["features", "labels"] if self.fits_labels else ["features"]
        write_flag(stream, self.fits_labels)
        self.write_settings(stream)
        write_rows(stream, [self.fitted(part, "save")[name] for part in parts for name in self.rows])

    @classmethod
    def read_body(cls, stream: BinaryIO) -> Self:
        fits_labels = read_flag(stream)
        normalizer = cls.read_settings(stream)
        normalizer.read_rows(read_row(stream), read_row(stream))
        if fits_labels:
            normalizer.set_numbers("labels", read_row(stream), read_row(stream))
        return normalizer

    def read_rows(self, first: np.ndarray, second: np.ndarray) -> None:
        """Set the features' numbers, as of a file."""
        self.set_numbers("features", first, second)

    @staticmethod
    @abstractmethod
    def _checked(who: str, first: Any, second: Any) -> Numbers:
        """Return numbers of columns by name; raise ConfigurationError for such as cannot be."""

    @abstractmethod
    def _finished(self, statistics: Any) -> Numbers:
        """Return the numbers of the statistics gathered."""

    def _values(self, method: str, part: str) -> Numbers:
        self.check_not_learning()
        return self.fitted(part, method)

    def _check_array(self, who: str, part: str, x: Array, values: Numbers) -> None:
        columns = len(next(iter(values.values())))
        if x.shape[1] != columns:
            raise ShapeError(
                f"{who}: expected {describe_shape(['N', columns, *x.shape[2:]])}, as the data were that were fitted, "
                f"got {describe_shape(x.shape)}."
            )


def numbers_of(row: str, called: str, noun: str) -> tuple[Any, Any]:
    """Return two properties: a row of numbers of the features, `called` so, and of the labels."""
    texts = {
        called: f"{noun} of the features [columns], float64; raise DataError before `fit`.",
        f"label_{called}": f"{noun} of the labels [columns], float64; raise DataError if they were not fitted.",
    }
    of_features, of_labels = (
        property(partial(_row_of, part, row, name), doc=text)
        for part, (name, text) in zip(("features", "labels"), texts.items(), strict=True)
    )
    return of_features, of_labels


def _row_of(part: str, row: str, called: str, normalizer: FittedNormalizer) -> np.ndarray:
    return normalizer.fitted(part, called)[row]


def check_statistics(who: str, **given: Any) -> dict[str, np.ndarray]:
    """Return numbers of columns as float64 [columns].

    Raises
    ------
    ConfigurationError
        They are no row of finite numbers, or one is longer than another.
    """
    statistics = {name: _row(f"{who}: {name}", values) for name, values in given.items()}
    lengths = {name: len(values) for name, values in statistics.items()}
    if len(set(lengths.values())) > 1 or 0 in lengths.values():
        raise ConfigurationError(f"{who}: expected as many numbers each, at least one, got {lengths}.")
    for name, values in statistics.items():
        if not np.isfinite(values).all():
            raise ConfigurationError(f"{who}: {name} must be finite, got {values[~np.isfinite(values)][0]}.")
    return statistics


def _row(who: str, values: Any) -> np.ndarray:
    refuse_masked(who, values)
    try:
        row = np.array(values)
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"{who} must be a row of numbers, got: {error}. Give one number a column.") from error
    if row.dtype.kind not in "biuf":
        raise ConfigurationError(f"{who} must be a row of numbers, got elements of dtype {row.dtype}. Convert them.")
    return row.astype(np.float64).reshape(-1)
