"""MultiNormalizer: shared by normalizers of MultiDataSets; FittedMultiNormalizer: by those that learn from data."""

from __future__ import annotations

from typing import Any

from nd.dataset.iterator import is_features
from nd.dataset.multi_data_set import MultiDataSet
from nd.dataset.multi_iterator import MultiDataSetIterator
from nd.dataset.multi_iterators import ExistingMultiDataSetIterator
from nd.dataset.normalizers.any_normalizer import AnyNormalizer, in_place, listed
from nd.dataset.normalizers.learner import Learner
from nd.typing import Array


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
    several = True
    _revert_features_in_place = in_place("revert_features")
    _revert_labels_in_place = in_place("revert_labels")

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

    def transform_features(self, features: object, masks: object = None) -> list[Array]:
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
        return self.changed("transform", "features", features, masks)

    def transform_labels(self, labels: object, masks: object = None) -> list[Array]:
        """Return labels normalized, as new arrays; those of outputs that are not changed as they are. Same errors."""
        return self.changed("transform", "labels", labels, masks)

    def revert_features(self, features: object, masks: object = None) -> list[Array]:
        """Return the features that `transform_features` was given, as new arrays. Same errors."""
        return self.changed("revert", "features", features, masks)

    def revert_labels(self, labels: object, masks: object = None) -> list[Array]:
        """Return the argument of `transform_labels`: labels, or a network's outputs. Same errors."""
        return self.changed("revert", "labels", labels, masks)

    def written(self, method: str, array: object, numbers: Any) -> Any:
        # those that stay as they are are the same objects
        pairs = zip(listed(array), numbers, strict=True)
        return [
            given if new is given else super(MultiNormalizer, self).written(method, given, new) for given, new in pairs
        ]


MultiNormalizer.family = MultiNormalizer


class FittedMultiNormalizer(Learner, MultiNormalizer):
    """A normalizer of MultiDataSets that learns from them, for each array what it would learn of it alone."""

    def num_inputs(self) -> int:
        """Return the number of inputs that were fitted; DataError before `fit`."""
        return len(self.learnt("num_inputs", "features"))

    def num_outputs(self) -> int:
        """Return the number of outputs that were fitted; DataError if they were not."""
        return len(self.learnt("num_outputs", "labels"))


class UniformMultiNormalizer(FittedMultiNormalizer):
    """One that changes all inputs, and all outputs or none, in one way."""

    def set_feature_stats(self, rows: object) -> None:
        """Set the numbers of all inputs: for each a pair of rows [columns], as ``(mean, std)`` or ``(lower, upper)``.

        Raises
        ------
        ConfigurationError
            They are no pairs of rows of so many finite numbers.
        """
        self.set_rows("set_feature_stats", "features", rows)

    def set_label_stats(self, rows: object) -> None:
        """Set the numbers of all outputs, and that labels are to be changed. Same errors."""
        self.set_rows("set_label_stats", "labels", rows)


def rows_by_index(row: str, of_input: str, of_output: str, nouns: str) -> tuple[Any, Any]:
    """Return two methods of these names: a row of numbers of an input, by its index, and of an output."""

    def of_features(self: Learner, index: int) -> Array:
        return self.numbers_at(of_input, "features", index)[row]

    def of_labels(self: Learner, index: int) -> Array:
        return self.numbers_at(of_output, "labels", index)[row]

    for method, name, of in ((of_features, of_input, "an input"), (of_labels, of_output, "an output")):
        method.__name__ = method.__qualname__ = name
        method.__doc__ = f"Return the {nouns} of {of} [columns], float64; DataError if it was not fitted."
    return of_features, of_labels
