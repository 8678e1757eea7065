"""DataSet: features with their labels and masks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from backends.errors import ConfigurationError, DataError, ShapeError, describe_shape
from nd.arguments import Natural, checked
from nd.dataset.checks import AnyArray, as_array, check_count
from nd.dataset.class_labels import ColumnNames, named_labels, one_hot
from nd.dataset.examples import Examples, second_axis
from nd.dataset.multi_data_set import MultiDataSet
from nd.serde import as_host

_FIELDS = ("features", "labels", "features_mask", "labels_mask")


def _single(group: str) -> Any:
    """Return a property: the one array of a group of the MultiDataSet, None where there is none."""

    def get(data_set: DataSet) -> AnyArray | None:
        arrays = getattr(data_set.multi, group)
        return arrays[0] if arrays else None

    def put(data_set: DataSet, array: AnyArray | None) -> None:
        if "multi" not in vars(data_set):  # in a subclass that sets arrays before it calls, or in place of, __init__
            data_set.multi = MultiDataSet.holding([], [], [None], [])
        multi = data_set.multi
        setattr(multi, group, [array])
        multi.labels = [labels for labels in multi.labels if labels is not None]
        mask = data_set.labels_mask
        multi.labels_masks = [mask] if multi.labels or mask is not None else []

    return property(get, put)


class DataSet(Examples):
    """A set of examples: features, with optional labels and masks. It is a MultiDataSet of one input and one output.

    Parameters
    ----------
    features : array or nested list, shape [N, ...]
        N examples along the first axis. Arrays are kept as they are, lists become NumPy float32 arrays.
    labels : array or nested list, shape [N, ...], optional
        Classes ``[N]`` as texts or categories are also accepted: they become one-hot, with `class_names`. For a table
        with one column for each class, `class_names` are the names of the columns.
    features_mask, labels_mask : array or nested list, shape [N, ...], optional
        1 for time steps (or outputs) that count, 0 for the others.

    Attributes
    ----------
    multi : MultiDataSet
        Of one input and at most one output, of which this is a view.
    class_names : sequence of str or None
        Names of the columns of `labels`, if known. Networks reorder labels by these names.

    Raises
    ------
    ShapeError
        The arrays hold different numbers of examples.
    DTypeError
        An array does not hold numbers.

    Notes
    -----
    Source: org.nd4j.linalg.dataset.DataSet. Differs: in Java class names are set separately, and labels are numbers.

    Examples
    --------
    >>> DataSet([[0, 1], [2, 3], [4, 5]], [[1, 0], [0, 1], [1, 0]])
    DataSet(features=[3, 2] float32, labels=[3, 2] float32)
    """

    def __init__(
        self,
        features: Any,
        labels: object = None,
        features_mask: object = None,
        labels_mask: object = None,
    ) -> None:
        self.multi: MultiDataSet
        self.multi, classes = gathered("DataSet", (features, labels, features_mask, labels_mask))
        if classes is not None:
            self.multi.labels = [one_hot(self.multi.labels[0], classes)]

    def __init_subclass__(cls, **more: object) -> None:
        super().__init_subclass__(**more)
        for name in (*_FIELDS, "multi"):
            if getattr(cls, name, None) is not getattr(DataSet, name, None):
                raise ConfigurationError(
                    f"{cls.__name__}: {name} must be DataSet's own, since networks read its arrays, got another in the "
                    f"class. Assign self.{name} in __init__, or make DataSets in an iterator's next."
                )

    features, features_mask = _single("features"), _single("features_masks")
    labels, labels_mask = _single("labels"), _single("labels_masks")

    @property
    def class_names(self) -> Sequence[str] | None:
        """Names of the classes, in the order of the labels' columns; None where they are not known."""
        return self.multi.class_names

    @class_names.setter
    def class_names(self, names: Sequence[str] | None) -> None:
        self.multi.class_names = names

    def to_multi_data_set(self) -> MultiDataSet:
        """Return a MultiDataSet of its own with these arrays; see `MultiDataSet.to_data_set`."""
        same = self.multi.with_groups()
        same.labels_masks = same.labels_masks[: len(same.labels)]
        same.class_names = self.class_names
        return same

    def __getstate__(self) -> dict[str, Any]:
        fields = {**dict(self.named_arrays()), "class_names": self.class_names}
        return {**fields, **{name: value for name, value in vars(self).items() if name != "multi"}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)

    @checked
    def get_label_name(self, number: Natural) -> str:
        """Return the name of a class, or its number without names; raise DataError if there is no such class."""
        if self.class_names is None:
            return str(number)
        if number >= len(self.class_names):
            raise DataError(f"get_label_name: number must be 0..{len(self.class_names) - 1}, got {number}.")
        return self.class_names[number]

    def normalize_zero_mean_zero_unit_variance(self) -> None:
        """Subtract each feature's mean, and divide by its standard deviation (of N - 1) plus 1e-9, as in Java."""
        x = as_array("features", self.features)
        deviation = np.std(x, 0, ddof=1, keepdims=True) + 1e-9
        self.features = ((x - x.mean(0, keepdims=True)) / deviation).astype(x.dtype)

    @checked
    def multiply_by(self, factor: float) -> None:
        """Multiply the features."""
        self._change(self.features * factor)

    @checked
    def divide_by(self, divisor: float) -> None:
        """Divide the features.

        Raises
        ------
        DataError
            `divisor` is 0.
        """
        if divisor == 0:
            raise DataError("DataSet.divide_by: divisor must not be 0, got 0.")
        self._change(self.features / divisor)

    def scale(self) -> None:
        """Divide every example's features by the largest of them.

        Raises
        ------
        DataError
            It is not positive in some example.

        Notes
        -----
        Statistics of columns are the normalizers' matter, see `nd.dataset.normalizers`. Source:
        org.nd4j.linalg.dataset.DataSet.scale. Differs: Java divides by zero, and turns signs round.
        """
        largest = self.features.max(axis=tuple(range(1, self.features.ndim)), keepdims=True)
        if not bool((largest > 0).all()):
            i = int((largest.reshape(-1) <= 0).argmax())
            raise DataError(f"DataSet.scale: every example must have a positive number, got none in example {i}.")
        self._change(self.features / largest)

    @checked
    def binarize(self, cutoff: float = 0.0) -> None:
        """Make the features 1 where they are above `cutoff`, else 0, in their dtype."""
        self._change((self.features > cutoff).astype(self.features.dtype))

    def _change(self, features: AnyArray) -> None:
        if self.labels is self.features:
            self.labels = features
        self.features = features

    def num_inputs(self) -> int:
        """Return the length of the features' second axis (1 if there is none)."""
        return second_axis(self.features)

    def num_outcomes(self) -> int:
        """Return the length of the labels' second axis (1 if there is none).

        Raises
        ------
        DataError
            There are no labels.
        """
        if self.labels is None:
            raise DataError(f"DataSet.num_outcomes: expected labels, got none in {self!r}.")
        return second_axis(self.labels)

    def label_counts(self) -> dict[int, int]:
        """Return class -> number of its examples, for the classes that have some.

        An example's class is the place of its row's largest number.

        Raises
        ------
        DataError
            There are no labels.
        ShapeError
            The labels are not [N, classes].
        """
        classes, counts = np.unique(self._classes("label_counts"), return_counts=True)
        return dict(zip(classes.tolist(), counts.tolist(), strict=True))

    @checked
    def filter_by(self, classes: Sequence[int]) -> DataSet:
        """Return the examples of those classes, in the order of this DataSet.

        Raises
        ------
        DataError
            There are no labels, or no example of these classes.
        ShapeError
            The labels are not [N, classes].
        """
        return self.get(self._of("filter_by", classes))

    @checked
    def filter_and_strip(self, classes: Sequence[int]) -> DataSet:
        """Return the examples of those classes with one label column a class, in the order of `classes`.

        Raises
        ------
        DataError
            There are no labels, no example of these classes, no such class, or one is given twice.
        ArgumentError
            It is no list of whole numbers.
        ShapeError
            The labels are not [N, classes].

        Notes
        -----
        Source: org.nd4j.linalg.dataset.DataSet.filterAndStrip. Differs: Java changes the DataSet.
        """
        last = self._class_count("filter_and_strip") - 1
        columns = [check_count("DataSet.filter_and_strip", "a class", number, 0, last) for number in classes]
        if len(set(columns)) < len(columns):
            raise DataError(f"DataSet.filter_and_strip: expected each class once, got {columns}.")
        chosen = self.get(self._of("filter_and_strip", columns))
        chosen.labels = chosen.labels[:, np.array(columns)]
        if self.class_names is not None:
            chosen.class_names = [self.class_names[column] for column in columns]
        if chosen.labels_mask is not None and chosen.labels_mask.shape[1:] == self.labels.shape[1:]:
            chosen.labels_mask = chosen.labels_mask[:, np.array(columns)]
        return chosen

    def sort_by_label(self) -> None:
        """Reorder the examples: one of each class in turn as long as all have one, then the rest class by class.

        So minibatches hold all classes alike. The order within a class stays; this DataSet then holds new arrays.

        Raises
        ------
        DataError
            There are no labels.
        ShapeError
            The labels are not [N, classes].

        Notes
        -----
        Source: org.nd4j.linalg.dataset.DataSet.sortByLabel. Differs: Java leaves rows out when it goes from one turn
        to the next, and takes turns only where every label column has an example.
        """
        of_class = self._classes("sort_by_label")
        members = [np.flatnonzero(of_class == number) for number in np.unique(of_class)]
        turns = min(len(places) for places in members)
        in_turn = np.stack([places[:turns] for places in members], axis=1).ravel()
        reordered = self.get(np.concatenate([in_turn, *(places[turns:] for places in members)]))
        vars(self).update(vars(reordered))

    @staticmethod
    @checked
    def merge(data_sets: Iterable[DataSet]) -> DataSet:
        """Join DataSets along the first axis. Where only some have a mask, that of the rest counts everything.

        Series ``[N, C, T]`` of different lengths end with zeros, which masks ``[N, T]`` leave out. Labels that are the
        features in all of them, as of autoencoders, are so in the result.

        Raises
        ------
        DataError
            There is no DataSet, or only some have labels.
        ShapeError, DTypeError, BackendError
            The arrays differ in the other axes, in their dtype or in their backend.
        """
        from nd.dataset.merging import merged_sets

        return merged_sets(DataSet, data_sets)

    def named_arrays(self) -> list[tuple[str, AnyArray | None]]:
        return [(name, getattr(self, name)) for name in _FIELDS]

    @staticmethod
    def _viewing(multi: MultiDataSet) -> DataSet:
        same = DataSet.__new__(DataSet)
        same.multi = multi
        return same

    def with_arrays(self, arrays: list[AnyArray | None]) -> DataSet:
        return DataSet(*arrays)

    def _of(self, who: str, classes: Sequence[int]) -> np.ndarray:
        of_class = self._classes(who)
        places = np.flatnonzero(np.isin(of_class, np.asarray(classes)))
        if not places.size:
            raise DataError(
                f"DataSet.{who}: expected examples of classes {list(classes)}, got none; there are "
                f"{np.unique(of_class).tolist()}."
            )
        return places

    def _classes(self, who: str) -> np.ndarray:
        """Class numbers [N], on the host."""
        self._class_count(who)
        return np.argmax(as_host(self.labels), axis=1)

    def _class_count(self, who: str) -> int:
        if self.labels is None:
            raise DataError(f"DataSet.{who}: expected labels, got none in {self!r}.")
        if len(self.labels.shape) != 2:
            raise ShapeError(f"DataSet.{who}: expected labels [N, classes], got {describe_shape(self.labels.shape)}.")
        return int(self.labels.shape[1])


def gathered(who: str, given: Sequence[object]) -> tuple[MultiDataSet, int | None]:
    """Return what a DataSet is given as a MultiDataSet, and how many classes there are where labels were texts.

    Labels that are the features, of an autoencoder, stay so, also where both are one list; texts become numbers.
    """
    features, labels, *masks = given
    names = classes = None
    if labels is not features:
        labels, names, classes = _named(labels)
    arrays = {
        name: as_array(f"{who} {name}", value)
        for name, value in zip(_FIELDS, (features, labels, *masks), strict=True)
        if value is not None
    }
    if "features" not in arrays:
        raise DataError(f"{who}: features must be an array or a list, got None.")
    if labels is features:
        arrays["labels"] = arrays["features"]
    check_lengths(who, arrays)
    y, mask = arrays.get("labels"), arrays.get("labels_mask")
    multi = MultiDataSet.holding(
        [arrays["features"]],
        [] if y is None else [y],
        [arrays.get("features_mask")],
        [] if y is None is mask else [mask],
    )
    multi.class_names = names
    return multi, classes


def check_lengths(who: str, arrays: Mapping[str, Any]) -> None:
    """Raise ShapeError unless named arrays hold as many examples each."""
    features = arrays["features"]
    for name, array in arrays.items():
        if array.shape[0] != features.shape[0]:
            raise ShapeError(
                f"{who}: expected as many {name} as features, got {name} {describe_shape(array.shape)} and features "
                f"{describe_shape(features.shape)}."
            )


def _may_have_names(labels: object) -> bool:
    """Tell whether labels may be texts, categories or a table, by a look that costs next to nothing."""
    kind = getattr(getattr(labels, "dtype", None), "kind", None)
    if isinstance(kind, str) and kind in "biuf":  # an array or a column of numbers
        return False
    return isinstance(labels[0], str) if isinstance(labels, list) and labels else hasattr(labels, "__getitem__")


def _named(labels: Any) -> tuple[Any, Sequence[str] | None, int | None]:
    """Return labels, the names of their classes, and how many there are where labels were texts: then they are numbers.

    DataError, DTypeError: a label is missing, or is no text where other labels are.
    """
    if not _may_have_names(labels):
        return labels, None, None
    labels, names = named_labels(labels)
    return labels, names, None if names is None or isinstance(names, ColumnNames) else len(names)
