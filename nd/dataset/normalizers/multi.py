"""MultiNormalizer: shared by normalizers of MultiDataSets; FittedMultiNormalizer: by those that learn from data."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from backends.errors import ConfigurationError, DataError
from nd.arguments import shown
from nd.dataset.checks import as_array, check_count
from nd.dataset.iterator import is_features
from nd.dataset.multi_data_set import MultiDataSet
from nd.dataset.multi_iterator import MultiDataSetIterator
from nd.dataset.multi_iterators import ExistingMultiDataSetIterator
from nd.dataset.normalizers.any_normalizer import AnyNormalizer, Learner, in_place
from nd.dataset.normalizers.base import FittedNormalizer, Normalizer
from nd.dataset.normalizers.statistics import ColumnStatistics
from nd.typing import Array

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

    iterators = MultiDataSetIterator, ExistingMultiDataSetIterator
    _revert_features_in_place = in_place("revert_features")
    _revert_labels_in_place = in_place("revert_labels")

    @abstractmethod
    def normalizer_of(self, group: str, index: int, method: str) -> Normalizer | None:
        """Return what changes an array of "features" or "labels", None where it stays as it is.

        Raises
        ------
        DataError
            It is to be changed, but was not fitted.
        """

    def transform(self, data: Any) -> Any:
        """Normalize a MultiDataSet, as `pre_process` does, and return it; of a list of features return new ones."""
        if is_features(data, MultiDataSet):
            return self.transform_features(data)
        return self.change_set("transform", "transform", data)

    def revert(self, data: Any) -> Any:
        """Undo `transform`, and return the MultiDataSet, or new features. Masked time steps stay 0."""
        if is_features(data, MultiDataSet):
            return self.revert_features(data)
        return self.change_set("revert", "revert", data)

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
        return self.changed_arrays("transform_features", "transform", "features", features, masks)

    def transform_labels(self, labels: Any, masks: Any = None) -> list[Array]:
        """Return labels normalized, as new arrays; those of outputs that are not changed as they are. Same errors."""
        return self.changed_arrays("transform_labels", "transform", "labels", labels, masks)

    def revert_features(self, features: Any, masks: Any = None) -> list[Array]:
        """Return the features that `transform_features` was given, as new arrays. Same errors."""
        return self.changed_arrays("revert_features", "revert", "features", features, masks)

    def revert_labels(self, labels: Any, masks: Any = None) -> list[Array]:
        """Return the argument of `transform_labels`: labels, or a network's outputs. Same errors."""
        return self.changed_arrays("revert_labels", "revert", "labels", labels, masks)

    def check_number(self, method: str, group: str, count: int) -> None:
        """Raise DataError where so many arrays are not those that were fitted."""

    def written(self, method: str, array: Any, numbers: Any) -> Any:
        # those that stay as they are are the same objects
        pairs = zip(_listed(array), numbers, strict=True)
        return [
            given if new is given else super(MultiNormalizer, self).written(method, given, new) for given, new in pairs
        ]

    def changed_arrays(self, method: str, direction: str, group: str, arrays: Any, masks: Any) -> list[Array]:
        who, given = self.who(method), _listed(arrays)
        their_masks = [None] * len(given) if masks is None else _listed(masks)
        if len(their_masks) != len(given):
            raise DataError(f"{who}: expected a mask or None for each of {len(given)} arrays, got {len(their_masks)}.")
        self.check_number(method, group, len(given))
        changed = []
        for i, (array, mask) in enumerate(zip(given, their_masks, strict=True)):
            normalizer = self.normalizer_of(group, i, method)
            if normalizer is None:
                changed.append(as_array(f"{who}: {_NAMES[group]} {i}", array))
            else:
                changed += normalizer.changed_arrays(method, direction, "features", [array], [mask])
        return changed


MultiNormalizer.family = MultiNormalizer


class FittedMultiNormalizer(Learner, MultiNormalizer):
    """A normalizer of MultiDataSets with statistics, for each array those of a `FittedNormalizer` of its own.

    Notes
    -----
    Statistics, masks and files are as those of the normalizers of DataSets: see `NormalizerStandardize` and
    `NormalizerMinMaxScaler`.
    """

    subject = "fit"

    def __init__(self) -> None:
        self.fitted: dict[str, dict[int, FittedNormalizer]] = {}
        """"features" and "labels" -> index -> normalizer of that array's own."""

    @abstractmethod
    def new_normalizer(self, group: str, index: int) -> FittedNormalizer | None:
        """Return a normalizer that has learnt nothing, for an array of "features" or "labels"; None if it stays."""

    def check_sizes(self, first: tuple[int, int], sizes: tuple[int, int]) -> None:
        if self.fits_labels and not first[1]:
            raise DataError(f"{self.who('fit')}: expected labels, which are to be fitted, got none.")
        if sizes != first:
            raise DataError(
                f"{self.who('fit')}: expected {first[0]} inputs and {first[1]} outputs, as in the data before, "
                f"got {sizes[0]} and {sizes[1]}."
            )

    def new_statistics(self, group: str, index: int) -> ColumnStatistics | None:
        normalizer = self._named(group, index)
        return None if normalizer is None else normalizer.statistics(normalizer.who("fit"))

    def take_over(self, gathered: Mapping[str, Mapping[int, ColumnStatistics]]) -> None:
        fitted: dict[str, dict[int, FittedNormalizer]] = {group: {} for group in gathered}
        for group, of_group in gathered.items():
            for i, statistics in of_group.items():
                normalizer = self._named(group, i)
                if normalizer is not None:
                    normalizer.take_over({"features": {0: statistics}})
                    fitted[group][i] = normalizer
        self.fitted = fitted

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
        return self.part_of(self.fitted, group, method)

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
        normalizer.set_numbers("features", first, second)
        return normalizer

    def _named(self, group: str, index: int) -> FittedNormalizer | None:
        normalizer = self.new_normalizer(group, index)
        if normalizer is not None:
            normalizer.called = f"{type(self).__name__} ({_NAMES[group]} {index})"
        return normalizer


def _listed(given: Any) -> list[Any]:
    return list(given) if isinstance(given, (list, tuple)) else [given]


def rows_by_index(row: str, of_input: str, of_output: str, nouns: str) -> tuple[Any, Any]:
    """Return two methods of these names: a row of numbers of an input, by its index, and of an output."""

    def of_features(self: FittedMultiNormalizer, index: int) -> Array:
        return self.rows_of(of_input, "features", index)[row]

    def of_labels(self: FittedMultiNormalizer, index: int) -> Array:
        return self.rows_of(of_output, "labels", index)[row]

    for method, name, of in ((of_features, of_input, "an input"), (of_labels, of_output, "an output")):
        method.__name__ = method.__qualname__ = name
        method.__doc__ = f"Return the {nouns} of {of} [columns], float64; DataError if it was not fitted."
    return of_features, of_labels
