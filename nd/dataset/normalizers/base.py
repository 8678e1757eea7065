"""Normalizer: shared by normalizers of DataSets; FittedNormalizer: by those that learn from data."""

from __future__ import annotations

from functools import partial
from typing import Any

from nd.dataset.existing import ExistingDataSetIterator
from nd.dataset.iterator import DataSetIterator, is_features
from nd.dataset.normalizers.any_normalizer import AnyNormalizer, in_place
from nd.dataset.normalizers.learner import Learner
from nd.dataset.normalizers.ways import Numbers
from nd.typing import Array


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
    several = False
    _revert_features_in_place = in_place("revert_features")
    _revert_labels_in_place = in_place("revert_labels")
    _transform_labels_in_place = in_place("transform_labels")

    def transform(self, data: Any, mask: object = None) -> Any:
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

    def revert(self, data: Any, mask: object = None) -> Any:
        """Undo `transform` of a DataSet, and return it; of features return new ones. Masked time steps stay 0."""
        if not is_features(data):
            return self.change_set("revert", "revert", data)
        return self.revert_features(data, mask)

    def transform_features(self, features: object, mask: object = None) -> Array:
        """Return features [N, columns, ...] normalized, as a new array; where `mask` is 0 they become 0.

        Raises
        ------
        ShapeError
            They have another number of columns than the data that were fitted, or the mask does not fit.
        DataError
            Nothing was fitted.
        """
        return self.changed("transform", "features", [features], [mask])[0]

    def transform_labels(self, labels: Any, mask: object = None) -> Array:
        """Return labels normalized, as a new array; the same array unless `fit_label` was said. Same errors."""
        return self.changed("transform", "labels", [labels], [mask])[0] if self.fits_labels else labels

    def revert_features(self, features: object, mask: object = None) -> Array:
        """Return the features that `transform_features` was given, as a new array. Same errors."""
        return self.changed("revert", "features", [features], [mask])[0]

    def revert_labels(self, labels: Any, mask: object = None) -> Array:
        """Return the argument of `transform_labels`: labels, or a network's output. Same errors."""
        return self.changed("revert", "labels", [labels], [mask])[0] if self.fits_labels else labels


Normalizer.family = Normalizer


class FittedNormalizer(Learner, Normalizer):
    """A normalizer of DataSets that learns from them."""

    def fitted(self, part: str, method: str = "fitted") -> Numbers:
        """Return name -> numbers [columns] of "features" or "labels".

        Raises
        ------
        DataError
            They were not fitted.
        """
        return self.learnt(method, part)[0]

    def set_pair(self, part: str, *pair: object) -> None:
        """Set the two rows of "features" or "labels"; see `set_rows`."""
        self.set_rows(f"set_{part[:-1]}_stats", part, [pair])


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


def _row_of(part: str, row: str, called: str, normalizer: FittedNormalizer) -> Array:
    return normalizer.fitted(part, called)[row]
