"""MultiDataSet: several inputs and outputs of the same examples."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from backends.errors import DataError, ShapeError, describe_shape
from nd.arguments import checked
from nd.dataset.checks import AnyArray, as_array, check_count
from nd.dataset.examples import Examples

if TYPE_CHECKING:
    from nd.dataset.dataset import DataSet

GROUPS = ("features", "labels", "features_masks", "labels_masks")
_UNSET: object = object()


class MultiDataSet(Examples):
    """Examples of a network with several inputs or outputs: an array for each of them, and masks.

    Parameters
    ----------
    features : list of arrays, or one array, shape [N, ...] each
        N examples along the first axis, an array for every input. Arrays are kept as they are, nested lists in the list
        become NumPy float32 arrays.
    labels : list of arrays, or one array, shape [N, ...] each, optional
        An array for every output.
    features_masks, labels_masks : list of arrays and None, or one array, shape [N, ...] each, optional
        As many as there are features, labels: 1 where a time step (or output) counts, 0 where it does not, None where
        everything does.

    Attributes
    ----------
    features, labels : list of arrays
    features_masks, labels_masks : list of arrays and None
        As long as `features` and `labels`.

    Raises
    ------
    ShapeError
        A mask holds another number of examples than its array. The arrays may: vertices of a network can stack
        examples and take them apart; such a set cannot be cut.
    DataError
        There are no features, or another number of masks than arrays.
    DTypeError
        An array does not hold numbers.

    Notes
    -----
    Source: org.nd4j.linalg.dataset.MultiDataSet. Differs: where there are no masks, Java has null in the place of the
    list; its metadata of examples are left out.

    Examples
    --------
    >>> MultiDataSet([[[0, 1], [2, 3]], [[4], [5]]], [[[1, 0], [0, 1]]])
    MultiDataSet(features[0]=[2, 2] float32, features[1]=[2, 1] float32, labels[0]=[2, 2] float32)
    """

    def __init__(
        self, features: Any, labels: object = None, features_masks: object = None, labels_masks: object = None
    ) -> None:
        if features is None:
            raise DataError("MultiDataSet: features must be arrays, got None.")
        arrays: dict[int, AnyArray] = {}  # labels that are features stay so, also where both are one list
        self.features: list[AnyArray] = _as_arrays("features", features, arrays)
        self.labels: list[AnyArray] = [] if labels is None else _as_arrays("labels", labels, arrays)
        self.features_masks: list[AnyArray | None] = _as_masks("features", features_masks, len(self.features))
        self.labels_masks: list[AnyArray | None] = _as_masks("labels", labels_masks, len(self.labels))
        if not self.features:
            raise DataError("MultiDataSet: features must be at least one array, got an empty list.")
        self._check_masks("features", self.features, self.features_masks)
        self._check_masks("labels", self.labels, self.labels_masks)

    @staticmethod
    def holding(*groups: list[Any]) -> MultiDataSet:
        """Return one of lists that are known to fit each other: features, labels, and the masks of both."""
        same = MultiDataSet.__new__(MultiDataSet)
        same.features, same.labels, same.features_masks, same.labels_masks = groups
        return same

    @staticmethod
    def _check_masks(group: str, arrays: list[AnyArray], masks: list[AnyArray | None]) -> None:
        for number, (array, mask) in enumerate(zip(arrays, masks, strict=True)):
            if mask is not None and mask.shape[0] != array.shape[0]:
                raise ShapeError(
                    f"MultiDataSet: expected as many {group}_masks[{number}] as {group}[{number}], got "
                    f"{describe_shape(mask.shape)} and {describe_shape(array.shape)}."
                )

    @property
    def multi(self) -> MultiDataSet:
        """This one; where somebody has assigned None, or no masks, it has the lists that it would be made with."""
        if self.labels is None:
            self.labels, self.labels_masks = [], []
        if not self.features_masks:
            self.features_masks = [None] * len(self.features)
        if not self.labels_masks:
            self.labels_masks = [None] * len(self.labels)
        return self

    def num_feature_arrays(self) -> int:
        """Return the number of inputs."""
        return len(self.features)

    def num_labels_arrays(self) -> int:
        """Return the number of outputs, 0 where there are no labels."""
        return len(self.labels)

    def get_features(self, index: int | None = None) -> Any:
        """Return the features of one input, or the list. DataError if there is no such input."""
        return self._get("features", index)

    def get_labels(self, index: int | None = None) -> Any:
        """Return the labels of one output, or the list. DataError if there is no such output."""
        return self._get("labels", index)

    def get_features_masks(self, index: int | None = None) -> Any:
        """Return the mask of one input, None where it has none, or the list. DataError if there is no such input."""
        return self._get("features_masks", index)

    def get_labels_masks(self, index: int | None = None) -> Any:
        """Return the mask of one output, None where it has none, or the list. DataError if there is no such output."""
        return self._get("labels_masks", index)

    def set_features(self, index: object, array: object = _UNSET) -> None:
        """Set the features of one input, ``set_features(index, array)``, or all, ``set_features(arrays)``.

        The number of examples is not compared, so that all arrays can be changed one after the other.

        Raises
        ------
        DataError
            There is no such input; or another number of arrays would leave masks without theirs.
        ShapeError, DTypeError
            It is no array of numbers.
        """
        self._set("features", index, array)

    def set_labels(self, index: object, array: object = _UNSET) -> None:
        """Set the labels of one output, or all; see `set_features`."""
        self._set("labels", index, array)

    def set_features_masks(self, index: object, array: object = _UNSET) -> None:
        """Set the mask of one input, or all, where None is for none; see `set_features`."""
        self._set_masks("features", index, array)

    def set_labels_masks(self, index: object, array: object = _UNSET) -> None:
        """Set the mask of one output, or all, where None is for none; see `set_features`."""
        self._set_masks("labels", index, array)

    def to_data_set(self) -> DataSet:
        """Return a DataSet with these arrays; see `DataSet.to_multi_data_set`.

        Raises
        ------
        DataError
            There are several inputs or outputs.
        """
        from nd.dataset.dataset import DataSet

        if len(self.features) > 1 or len(self.labels) > 1:
            raise DataError(
                f"MultiDataSet.to_data_set: expected one input and at most one output, got {len(self.features)} and "
                f"{len(self.labels)}. A DataSet has no place for more."
            )
        same = DataSet(*(next(iter(getattr(self.multi, group)), None) for group in GROUPS))
        same.class_names = self.class_names
        return same

    @staticmethod
    @checked
    def merge(data_sets: Iterable[MultiDataSet]) -> MultiDataSet:
        """Join MultiDataSets along the first axis, input by input, output by output; see `DataSet.merge`.

        Raises
        ------
        DataError
            There is no MultiDataSet, or they have different numbers of inputs or outputs.
        ShapeError, DTypeError, BackendError
            The arrays differ in the other axes, in their dtype or in their backend.
        """
        from nd.dataset.merging import merged_sets

        return merged_sets(MultiDataSet, data_sets)

    def _get(self, group: str, index: int | None) -> object:
        arrays = getattr(self, group)
        return arrays if index is None else arrays[_checked_index(f"get_{group}", index, len(arrays))]

    def _set(self, group: str, index: object, array: object) -> None:
        arrays, masks = getattr(self, group), getattr(self, f"{group}_masks")
        if array is not _UNSET:
            at = _checked_index(f"set_{group}", index, len(arrays))
            arrays[at] = as_array(f"MultiDataSet.set_{group}", array)
            return
        given = _as_arrays(group, index, {})
        if group == "features" and not given:
            raise DataError("MultiDataSet.set_features: expected at least one array, got an empty list.")
        if len(given) != len(arrays) and any(mask is not None for mask in masks):
            raise DataError(
                f"MultiDataSet.set_{group}: expected {len(arrays)} arrays, as there are masks of them, got "
                f"{len(given)}. Take the masks away first."
            )
        if len(given) != len(arrays):
            setattr(self, f"{group}_masks", [None] * len(given))
        setattr(self, group, given)

    def _set_masks(self, group: str, index: object, mask: object) -> None:
        masks = getattr(self, f"{group}_masks")
        if mask is _UNSET:
            setattr(self, f"{group}_masks", _as_masks(group, index, len(masks)))
            return
        at = _checked_index(f"set_{group}_masks", index, len(masks))
        masks[at] = None if mask is None else as_array(f"MultiDataSet.set_{group}_masks", mask)

    def named_arrays(self) -> list[tuple[str, AnyArray | None]]:
        whole = self.multi
        return [(f"{group}[{i}]", array) for group in GROUPS for i, array in enumerate(getattr(whole, group))]

    @staticmethod
    def _viewing(multi: MultiDataSet) -> MultiDataSet:
        return multi

    def with_arrays(self, arrays: list[AnyArray | None]) -> MultiDataSet:
        groups, left = [], arrays
        for group in GROUPS:
            count = len(getattr(self, group))
            groups.append(left[:count])
            left = left[count:]
        return MultiDataSet.holding(*groups)


def _as_arrays(group: str, given: object, arrays: dict[int, AnyArray]) -> list[AnyArray]:
    """Return a list of arrays, or one array as a list of one; `arrays` remembers what each object became."""
    parts = given if isinstance(given, (list, tuple)) else [given]
    for i, part in enumerate(parts):
        if id(part) not in arrays:
            arrays[id(part)] = as_array(f"MultiDataSet {group}[{i}]", part)
    return [arrays[id(part)] for part in parts]


def _as_masks(group: str, given: object, count: int) -> list[AnyArray | None]:
    if given is None:
        return [None] * count
    masks = given if isinstance(given, (list, tuple)) else [given]
    if len(masks) != count:
        raise DataError(
            f"MultiDataSet: expected as many {group}_masks as {group}, {count}, got {len(masks)}. Give None for an "
            "array without a mask."
        )
    return [
        None if mask is None else as_array(f"MultiDataSet {group}_masks[{i}]", mask) for i, mask in enumerate(masks)
    ]


def _checked_index(method: str, index: object, count: int) -> int:
    if not count:
        raise DataError(f"MultiDataSet.{method}: index must be of an array that is there, got {index!r} of none.")
    return check_count(f"MultiDataSet.{method}", "index", index, 0, count - 1)
