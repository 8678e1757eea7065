"""MultiNormalizer: shared by normalizers of MultiDataSets; FittedMultiNormalizer: by those that learn from data."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

from backends.errors import ConfigurationError, DataError
from nd.arguments import checked, shown
from nd.dataset.checks import as_array, check_count
from nd.dataset.iterator import check_data_set, is_features
from nd.dataset.multi_data_set import MultiDataSet
from nd.dataset.multi_iterator import MultiDataSetIterator
from nd.dataset.multi_iterators import ExistingMultiDataSetIterator
from nd.dataset.normalizers.any_normalizer import AnyNormalizer, Learner
from nd.dataset.normalizers.base import FittedNormalizer, Normalizer
from nd.dataset.normalizers.statistics import ColumnStatistics
from nd.typing import Array

if TYPE_CHECKING:
    from nd.files.reading import Source

_NAMES = {"features": "input", "labels": "output"}


class MultiNormalizer(AnyNormalizer):
    """Change the features of inputs, and labels of outputs where they are numbers, and change them back.

    A change gives a MultiDataSet new arrays: those given to it, and others that share them, stay as they are. Methods
    of arrays return new ones; ``revertFeatures`` and ``revertLabels``, in Java's spelling, write into those given.

    Notes
    -----
    Source: org.nd4j.linalg.dataset.api.preprocessor.MultiDataNormalization. Differs: Java writes into the arrays of a
    MultiDataSet. Labels that are the features of an input stay so and are changed once.
    """

    java_names: ClassVar[dict[str, str]] = {
        "revert_features": "_revert_features_in_place", "revert_labels": "_revert_labels_in_place",
    }  # fmt: skip

    @abstractmethod
    def normalizer_of(self, group: str, index: int, method: str) -> Normalizer | None:
        """Return what changes an array of "features" or "labels", None where it stays as it is.

        Raises
        ------
        DataError
            It is to be changed, but was not fitted.
        """

    @checked
    def fit(self, data: Any) -> Self:
        """Learn from data, where there is anything to learn.

        Parameters
        ----------
        data : MultiDataSet, MultiDataSetIterator or other iterable of MultiDataSet, or a list of features
        """
        return self

    def pre_process(self, data_set: MultiDataSet) -> MultiDataSet:
        """Normalize a MultiDataSet, and return it."""
        return self._change("pre_process", "transform", data_set)

    def transform(self, data: Any) -> Any:
        """Normalize a MultiDataSet, as `pre_process` does, and return it; of a list of features return new ones."""
        if is_features(data, MultiDataSet):
            return self.transform_features(data)
        return self._change("transform", "transform", data)

    def revert(self, data: Any) -> Any:
        """Undo `transform`, and return the MultiDataSet, or new features. Masked time steps stay 0."""
        if is_features(data, MultiDataSet):
            return self.revert_features(data)
        return self._change("revert", "revert", data)

    def transform_features(self, features: Any, masks: Any = None) -> list[Array]:
        """Return the features of all inputs normalized, as new arrays; where a mask is 0 they become 0.

        Parameters
        ----------
        features : list of arrays, or one array, shape [N, columns, ...] each
        masks : list of arrays and None, optional

        Raises
        ------
        ShapeError
            An array has another number of columns than the data that were fitted, or a mask does not fit.
        DataError
            Nothing was fitted, or another number of inputs; or there is another number of masks than arrays.
        """
        return self._apply("transform_features", "transform", "features", features, masks)

    def transform_labels(self, labels: Any, masks: Any = None) -> list[Array]:
        """Return labels normalized, as new arrays; those of outputs that are not changed as they are. Same errors."""
        return self._apply("transform_labels", "transform", "labels", labels, masks)

    def revert_features(self, features: Any, masks: Any = None) -> list[Array]:
        """Return the features that `transform_features` was given, as new arrays. Same errors."""
        return self._apply("revert_features", "revert", "features", features, masks)

    def revert_labels(self, labels: Any, masks: Any = None) -> list[Array]:
        """Return the argument of `transform_labels`: labels, or a network's outputs. Same errors."""
        return self._apply("revert_labels", "revert", "labels", labels, masks)

    @staticmethod
    def load(path: Source) -> MultiNormalizer:
        """Return the normalizer of a file that `save`, or Java's ``NormalizerSerializer``, wrote.

        Parameters
        ----------
        path : path or binary file object

        Raises
        ------
        FormatError
            The file is truncated or of another kind; also one that Java's serialization alone wrote.
        ConfigurationError
            Its normalizer is one for DataSets, see `Normalizer`, or a class of somebody's own.
        """
        from nd.dataset.normalizers.files import load_normalizer

        return load_normalizer("MultiNormalizer.load", path, MultiNormalizer)

    def check_number(self, method: str, group: str, count: int) -> None:
        """Raise DataError where so many arrays are not those that were fitted."""

    def _revert_features_in_place(self, features: Any, masks: Any = None) -> list[Array]:
        """Act as Java's ``revertFeatures``."""
        return self._write("revert_features", features, self.revert_features(features, masks))

    def _revert_labels_in_place(self, labels: Any, masks: Any = None) -> list[Array]:
        """Act as Java's ``revertLabels``."""
        return self._write("revert_labels", labels, self.revert_labels(labels, masks))

    def _write(self, method: str, given: Any, numbers: list[Array]) -> list[Array]:
        """Write into the arrays given; those that stay as they are are the same objects."""
        pairs = zip(_listed(given), numbers, strict=True)
        return [array if new is array else self.written(method, array, new) for array, new in pairs]

    def _change(self, method: str, direction: str, data_set: MultiDataSet) -> MultiDataSet:
        check_data_set(self.who(method), data_set, MultiDataSet)
        old = data_set.features
        features = self._apply(method, direction, "features", old, data_set.features_masks)
        shared = [next((j for j, x in enumerate(old) if x is labels), None) for labels in data_set.labels]
        labels = data_set.labels
        if not all(isinstance(j, int) for j in shared):
            labels = self._apply(method, direction, "labels", labels, data_set.labels_masks)
        data_set.labels = [y if j is None else features[j] for y, j in zip(labels, shared, strict=True)]
        data_set.features = features
        return data_set

    def _apply(self, method: str, direction: str, group: str, given: Any, masks: Any) -> list[Array]:
        who, arrays = self.who(method), _listed(given)
        their_masks = [None] * len(arrays) if masks is None else _listed(masks)
        if len(their_masks) != len(arrays):
            raise DataError(f"{who}: expected a mask or None for each of {len(arrays)} arrays, got {len(their_masks)}.")
        self.check_number(method, group, len(arrays))
        changed = []
        for i, (array, mask) in enumerate(zip(arrays, their_masks, strict=True)):
            normalizer = self.normalizer_of(group, i, method)
            if normalizer is None:
                changed.append(as_array(f"{who}: {_NAMES[group]} {i}", array))
            else:
                change = normalizer.transform_features if direction == "transform" else normalizer.revert_features
                changed.append(change(array, mask))
        return changed


class FittedMultiNormalizer(Learner, MultiNormalizer):
    """A normalizer of MultiDataSets with statistics, for each array those of a `FittedNormalizer` of its own.

    Notes
    -----
    Statistics, masks and files are as those of the normalizers of DataSets: see `NormalizerStandardize` and
    `NormalizerMinMaxScaler`.
    """

    def __init__(self) -> None:
        self.fitted: dict[str, dict[int, FittedNormalizer]] = {}
        """"features" and "labels" -> index -> normalizer of that array's own."""

    @abstractmethod
    def new_normalizer(self, group: str, index: int) -> FittedNormalizer | None:
        """Return a normalizer that has learnt nothing, for an array of "features" or "labels"; None if it stays."""

    def fit(self, data: Any) -> Self:
        """Learn the statistics of data, in one pass; earlier statistics are forgotten.

        Parameters
        ----------
        data : MultiDataSet, MultiDataSetIterator or other iterable of MultiDataSet, or a list of features
            An iterator that can be reset is, before and after.

        Returns
        -------
        FittedMultiNormalizer
            This one.

        Raises
        ------
        DataError
            There are no data, a number is not finite, labels are missing that are to be fitted, MultiDataSets differ in
            their number of arrays, or this normalizer is already at work in the iterator.
        ShapeError
            Two MultiDataSets differ in a number of columns, or a mask does not fit.
        """
        learners: dict[str, dict[int, tuple[FittedNormalizer, ColumnStatistics]]] | None = None
        counts: tuple[int, int] | None = None
        for data_set in self.passing(data, MultiDataSetIterator, ExistingMultiDataSetIterator):
            sizes = len(data_set.features), len(data_set.labels)
            if learners is None or counts is None:
                counts, learners = sizes, self._learners(*sizes)
            if sizes != counts:
                raise DataError(
                    f"{self.who('fit')}: expected {counts[0]} inputs and {counts[1]} outputs, as in the data before, "
                    f"got {sizes[0]} and {sizes[1]}."
                )
            for group, of_group in learners.items():
                arrays, masks = getattr(data_set, group), getattr(data_set, f"{group}_masks")
                for i, (_, statistics) in of_group.items():
                    statistics.add(arrays[i], masks[i])
        if learners is None:
            raise DataError(f"{self.who('fit')}: expected examples, got none.")
        for of_group in learners.values():
            for normalizer, statistics in of_group.values():
                normalizer.learn(statistics)
        self.fitted = {
            group: {i: normalizer for i, (normalizer, _) in of_group.items()} for group, of_group in learners.items()
        }
        return self

    def normalizer_of(self, group: str, index: int, method: str) -> Normalizer | None:
        self.check_not_learning()
        if self.new_normalizer(group, index) is None:
            return None
        known = self.fitted.get(group, {})
        if index not in known:
            before = "" if group == "features" or self.fits_labels else "fit_label(True) and then "
            raise DataError(
                f"{self.who(method)}: expected an {_NAMES[group]} {index} that was fitted, got "
                f"{sorted(known) or 'none'}. Call {before}fit first."
            )
        return known[index]

    def check_number(self, method: str, group: str, count: int) -> None:
        known = [i for i in self.fitted.get(group, {}) if self.new_normalizer(group, i) is not None]
        if known and max(known) >= count:
            raise DataError(
                f"{self.who(method)}: expected at least {max(known) + 1} arrays, as the {_NAMES[group]}s that were "
                f"fitted, got {count}."
            )

    def num_inputs(self) -> int:
        """Return the number of inputs that were fitted; DataError before `fit`."""
        return len(self.fitted_group("features", "num_inputs"))

    def num_outputs(self) -> int:
        """Return the number of outputs that were fitted; DataError if they were not."""
        return len(self.fitted_group("labels", "num_outputs"))

    def fitted_group(self, group: str, method: str) -> dict[int, FittedNormalizer]:
        """Return the normalizers of "features" or "labels" by their indices; DataError if they were not fitted."""
        if group not in self.fitted:
            before = "" if group == "features" else "fit_label(True) and then "
            raise DataError(f"{self.who(method)}: expected {group} that were fitted, got none. Call {before}fit first.")
        return self.fitted[group]

    def rows_of(self, method: str, group: str, index: int) -> Mapping[str, Array]:
        """Return name -> numbers [columns] of one array, float64; DataError if it was not fitted."""
        known = self.fitted_group(group, method)
        at = check_count(self.who(method), "index", index, 0)
        if at not in known:
            raise DataError(f"{self.who(method)}: index must be one of {sorted(known)}, got {at}.")
        return known[at].fitted("features", method)

    def set_rows(self, method: str, group: str, rows: Any) -> None:
        """Set pairs of rows, one for each array of a group.

        Raises
        ------
        ConfigurationError
            It is no sequence of pairs, or they are not rows of so many finite numbers.
        """
        learnt: dict[int, FittedNormalizer] = {}
        if not isinstance(rows, Sequence) or isinstance(rows, (str, bytes)) or not rows:
            raise ConfigurationError(f"{self.who(method)}: expected a pair of rows for each array, got {shown(rows)}.")
        for i, pair in enumerate(rows):
            if not isinstance(pair, (list, tuple)) or len(pair) != 2:
                raise ConfigurationError(f"{self.who(method)}: element {i} must be a pair of rows, got {shown(pair)}.")
            learnt[i] = self.with_rows(group, i, *pair)
        self.fitted[group] = learnt

    def with_rows(self, group: str, index: int, first: Any, second: Any) -> FittedNormalizer:
        """Return the normalizer of one array, which knows these rows; ConfigurationError if it is to stay as it is."""
        normalizer = self._named(group, index)
        if normalizer is None:
            raise ConfigurationError(
                f"{self.who('read')}: {_NAMES[group]} {index} must be one that is changed, got rows."
            )
        normalizer.set_feature_stats(first, second)
        return normalizer

    def _named(self, group: str, index: int) -> FittedNormalizer | None:
        normalizer = self.new_normalizer(group, index)
        if normalizer is not None:
            normalizer.called = f"{type(self).__name__} ({_NAMES[group]} {index})"
        return normalizer

    def _learners(self, inputs: int, outputs: int) -> dict[str, dict[int, tuple[FittedNormalizer, ColumnStatistics]]]:
        learners: dict[str, dict[int, tuple[FittedNormalizer, ColumnStatistics]]] = {}
        for group, count in (("features", inputs), ("labels", outputs)):
            if group == "labels" and not self.is_fit_label():
                continue
            if not count:
                raise DataError(f"{self.who('fit')}: expected labels, which are to be fitted, got none.")
            normalizers = {i: self._named(group, i) for i in range(count)}
            learners[group] = {
                i: (each, each.statistics(each.who("fit"))) for i, each in normalizers.items() if each is not None
            }
        return learners


def _listed(given: Any) -> list[Any]:
    return list(given) if isinstance(given, (list, tuple)) else [given]
