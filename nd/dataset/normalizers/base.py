"""Normalizer: shared by all of them, and FittedNormalizer: shared by those that learn from data."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from backends.errors import ConfigurationError, DataError, ShapeError, describe_shape, refuse_masked
from nd.arguments import checked
from nd.dataset.dataset import DataSet
from nd.dataset.existing import ExistingDataSetIterator
from nd.dataset.iterator import DataSetIterator, check_data_set, is_features
from nd.dataset.normalizers.any_normalizer import AnyNormalizer, Learner
from nd.dataset.normalizers.arrays import as_numbers
from nd.dataset.normalizers.statistics import ColumnStatistics
from nd.typing import Array

if TYPE_CHECKING:
    from nd.files.reading import Source


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

    java_names: ClassVar[dict[str, str]] = {
        "revert_features": "_revert_features_in_place", "revert_labels": "_revert_labels_in_place",
        "transform_label": "_transform_labels_in_place",
    }  # fmt: skip

    @checked
    def fit(self, data: Any) -> Self:
        """Learn from data, where there is anything to learn.

        Parameters
        ----------
        data : DataSet, DataSetIterator or iterable of DataSet, or features
        """
        return self

    def pre_process(self, data_set: DataSet) -> DataSet:
        """Normalize a DataSet, and return it."""
        return self._change("pre_process", data_set, self.transform_features, self.transform_labels)

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
            return self._change("revert", data, self.revert_features, self.revert_labels)
        return self.revert_features(data, mask)

    @abstractmethod
    def transform_features(self, features: Any, mask: Any = None) -> Array:
        """Return features [N, columns, ...] normalized, as a new array; where `mask` is 0 they become 0.

        Raises
        ------
        ShapeError
            They have another number of columns than the data that were fitted, or the mask does not fit.
        DataError
            Nothing was fitted.
        """

    @abstractmethod
    def transform_labels(self, labels: Any, mask: Any = None) -> Array:
        """Return labels normalized, as a new array; the same array unless `fit_label` was said. Same errors."""

    @abstractmethod
    def revert_features(self, features: Any, mask: Any = None) -> Array:
        """Return the features that `transform_features` was given, as a new array. Same errors."""

    @abstractmethod
    def revert_labels(self, labels: Any, mask: Any = None) -> Array:
        """Return the argument of `transform_labels`: labels, or a network's output. Same errors."""

    @staticmethod
    def load(path: Source) -> Normalizer:
        """Return the normalizer of a file that `save`, or Java's ``NormalizerSerializer``, wrote.

        Parameters
        ----------
        path : path or binary file object

        Raises
        ------
        FormatError
            The file is truncated or of another kind; also one that Java's serialization alone wrote.
        ConfigurationError
            Its normalizer is one for several inputs, see `MultiNormalizer`, or a class of somebody's own.
        """
        from nd.dataset.normalizers.files import load_normalizer

        return load_normalizer("Normalizer.load", path, Normalizer)

    def _transform_labels_in_place(self, labels: Any, mask: Any = None) -> Array:
        """Act as Java's ``transformLabel``."""
        return self.written("transform_labels", labels, self.transform_labels(labels, mask))

    def _revert_features_in_place(self, features: Any, mask: Any = None) -> Array:
        """Act as Java's ``revertFeatures``."""
        return self.written("revert_features", features, self.revert_features(features, mask))

    def _revert_labels_in_place(self, labels: Any, mask: Any = None) -> Array:
        """Act as Java's ``revertLabels``."""
        return self.written("revert_labels", labels, self.revert_labels(labels, mask))

    def _change(
        self, method: str, data_set: DataSet, on_features: Callable[..., Array], on_labels: Callable[..., Array]
    ) -> DataSet:
        check_data_set(self.who(method), data_set)
        features = on_features(data_set.features, data_set.features_mask)
        if data_set.labels is data_set.features:
            data_set.labels = features
        elif data_set.labels is not None:
            data_set.labels = on_labels(data_set.labels, data_set.labels_mask)
        data_set.features = features
        return data_set


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

    def __init__(self) -> None:
        self.numbers: dict[str, Mapping[str, np.ndarray]] = {}  # "features" and "labels" -> name -> [columns]

    def fit(self, data: Any) -> Self:
        """Learn the statistics of data, in one pass; earlier statistics are forgotten.

        Parameters
        ----------
        data : DataSet, (features, labels), DataSetIterator or other iterable of those, or features
            Features are an array or a table ``[N, columns, ...]``, or nested lists. An iterator that can be reset is,
            before and after, as in Java: the epochs of one that shuffles go on from there.

        Returns
        -------
        FittedNormalizer
            This one.

        Raises
        ------
        DataError
            There are no data, a number is not finite, labels are missing that are to be fitted, or this normalizer is
            already at work in the iterator.
        ShapeError
            Two DataSets differ in their number of columns, or a mask does not fit.
        """
        wanted = ("features", "labels") if self.fits_labels else ("features",)
        gathered = {part: self.statistics(f"{self.who('fit')}: {part}") for part in wanted}
        for data_set in self.passing(data, DataSetIterator, ExistingDataSetIterator):
            self._add(gathered, data_set)
        self.numbers = {part: self._finished(statistics) for part, statistics in gathered.items()}
        return self

    def transform_features(self, features: Any, mask: Any = None) -> Array:
        return self._apply("transform_features", "features", self._forward, features, mask)

    def transform_labels(self, labels: Any, mask: Any = None) -> Array:
        return self._apply("transform_labels", "labels", self._forward, labels, mask) if self.fits_labels else labels

    def revert_features(self, features: Any, mask: Any = None) -> Array:
        return self._apply("revert_features", "features", self._backward, features, mask)

    def revert_labels(self, labels: Any, mask: Any = None) -> Array:
        return self._apply("revert_labels", "labels", self._backward, labels, mask) if self.fits_labels else labels

    @abstractmethod
    def set_feature_stats(self, first: Any, second: Any) -> None:
        """Set the features' numbers [columns], in the order of `rows`.

        Raises
        ------
        ConfigurationError
            They are not both rows of so many finite numbers.
        """

    def learn(self, statistics: ColumnStatistics) -> None:
        """Take over statistics of the features; DataError where a column had no number."""
        self.numbers["features"] = self._finished(statistics)

    @abstractmethod
    def _finished(self, statistics: Any) -> Mapping[str, np.ndarray]:
        """Return name -> numbers [columns] of the statistics gathered."""

    @abstractmethod
    def _forward(self, who: str, x: Array, mask: Array | None, values: Mapping[str, np.ndarray]) -> Array: ...

    @abstractmethod
    def _backward(self, who: str, x: Array, mask: Array | None, values: Mapping[str, np.ndarray]) -> Array: ...

    def fitted(self, part: str, method: str = "fitted") -> Mapping[str, np.ndarray]:
        """Return name -> numbers [columns] of "features" or "labels".

        Raises
        ------
        DataError
            They were not fitted.
        """
        if part not in self.numbers:
            before = "" if part == "features" else "fit_label(True) and then "
            raise DataError(f"{self.who(method)}: expected {part} that were fitted, got none. Call {before}fit first.")
        return self.numbers[part]

    def _apply(self, method: str, part: str, function: Callable[..., Array], x: Any, mask: Any) -> Array:
        self.check_not_learning()
        values, who = self.fitted(part, method), self.who(method)
        x = as_numbers(who, x)
        columns = len(next(iter(values.values())))
        if x.shape[1] != columns:
            raise ShapeError(
                f"{who}: expected {describe_shape(['N', columns, *x.shape[2:]])}, as the data were that were fitted, "
                f"got {describe_shape(x.shape)}."
            )
        return function(who, x, mask, values)

    def _add(self, gathered: Mapping[str, ColumnStatistics], data_set: DataSet) -> None:
        gathered["features"].add(data_set.features, data_set.features_mask)
        if "labels" not in gathered:
            return
        if data_set.labels is None:
            raise DataError(f"{self.who('fit')}: expected labels, which fit_label asks for, got none.")
        gathered["labels"].add(data_set.labels, data_set.labels_mask)


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
