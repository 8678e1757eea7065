"""AnyNormalizer: what all normalizers do, of DataSets and of MultiDataSets, to lists of arrays."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Self

from backends.errors import ConfigurationError, DataError, DTypeError
from nd.arguments import checked, shown
from nd.classes import ExplainedABC, NamesSuggested, overridable
from nd.dataset.checks import as_array
from nd.dataset.iterator import Batch, MinibatchIterator, check_data_set
from nd.dataset.normalizers.arrays import as_numbers
from nd.dataset.normalizers.ways import Numbers, Way
from nd.typing import Array

if TYPE_CHECKING:
    from nd.files.reading import Source
    from nd.files.writing import Target

PARTS = {"features": "input", "labels": "output"}


@overridable
class AnyNormalizer(NamesSuggested, metaclass=ExplainedABC):
    """Base of all normalizers: the change of a data set's arrays, whether labels are changed too, and files.

    A DataSet is changed as the MultiDataSet of one input and one output that it is.
    """

    family: ClassVar[Any]
    """`Normalizer` or `MultiNormalizer`."""

    iterators: ClassVar[tuple[Any, Callable[[Any], MinibatchIterator[Any]]]]
    """The class of iterators over its data sets, and that of those over an iterable."""

    several: ClassVar[bool]
    """Whether there are several inputs and outputs, so that messages say which one."""

    kind: ClassVar[str]
    """ND4J's NormalizerType, in a file."""

    fits_labels = False
    """Whether labels are changed too."""

    @checked
    def fit_label(self, fit: bool = True) -> None:
        """Say whether labels are changed too; before `fit`.

        Raises
        ------
        ArgumentError
            `fit` is not True or False.
        """
        self.fits_labels = fit

    def is_fit_label(self) -> bool:
        """Tell whether labels are changed too."""
        return self.fits_labels

    @checked
    def fit(self, data: Any) -> Self:
        """Learn from data, where there is anything to learn, see `NormalizerStandardize.fit`; return this one."""
        return self

    def way(self) -> Way:
        """Return how this normalizer changes arrays."""
        raise NotImplementedError(f"{type(self).__name__}: expected a method way, which says how arrays are changed.")

    def way_of(self, group: str, index: int) -> Way | None:
        """Return how an array of "features" or "labels" is changed, None where it stays as it is."""
        return self.way() if group == "features" or self.fits_labels else None

    def values_of(self, method: str, group: str, index: int) -> Numbers:
        """Return what is known of an array's columns; DataError if nothing was fitted."""
        return {}

    def check_number(self, method: str, group: str, count: int) -> None:
        """Raise DataError where so many arrays are not those that were fitted."""

    def pre_process(self, data_set: Batch) -> Batch:
        """Normalize a data set, and return it."""
        return self.change_set("pre_process", "transform", data_set)

    def change_set(self, method: str, direction: str, data_set: Batch) -> Batch:
        """Give a data set new arrays, and return it; `direction` is "transform" or "revert"."""
        check_data_set(self.who(method), data_set, self.iterators[0].kind)
        multi = data_set.multi
        old, labels = multi.features, multi.labels
        features = self._by_method(direction, "features", old, multi.features_masks)
        shared = [next((j for j, x in enumerate(old) if x is y), None) for y in labels]
        if None in shared:
            labels = self._by_method(direction, "labels", labels, multi.labels_masks)
        multi.features = features
        multi.labels = [y if j is None else features[j] for y, j in zip(labels, shared, strict=True)]
        return data_set

    def _by_method(self, direction: str, group: str, arrays: list[object], masks: list[object]) -> list[Array]:
        """Return arrays as `transform_features` and the like return them, which a subclass may override."""
        method = getattr(self, f"{direction}_{group}")
        changed: list[Array] = method(arrays, masks) if self.several else [method(arrays[0], masks[0])]
        return changed

    def changed(self, direction: str, group: str, arrays: Any, masks: Any = None) -> list[Array]:
        """Return all "features" or "labels" changed, as new arrays; those that are not changed as they are."""
        method, given = f"{direction}_{group}", listed(arrays)
        their_masks = [None] * len(given) if masks is None else listed(masks)
        if len(their_masks) != len(given):
            raise DataError(
                f"{self.who(method)}: expected a mask or None for each of {len(given)} arrays, got {len(their_masks)}."
            )
        self.check_number(method, group, len(given))
        return [
            self._changed(direction, group, i, array, mask)
            for i, (array, mask) in enumerate(zip(given, their_masks, strict=True))
        ]

    def _changed(self, direction: str, group: str, index: int, array: object, mask: object) -> Array:
        method, way = f"{direction}_{group}", self.way_of(group, index)
        if way is None:
            return as_array(f"{self.who(method)}: {PARTS[group]} {index}", array)
        who, values = self.who(method, group, index), self.values_of(method, group, index)
        x = as_numbers(who, array)
        way.check_array(who, group, x, values)
        return way.changed(who, direction, x, mask, values)

    def save(self, path: Target) -> None:
        """Write the file that Java's ``NormalizerSerializer.getDefault().restore`` reads; it is there whole or not.

        Parameters
        ----------
        path : path or binary file object

        Raises
        ------
        DataError
            Nothing was fitted.
        OSError
            The file cannot be written.
        """
        from nd.dataset.normalizers.files import save_normalizer

        save_normalizer(self, path)

    @classmethod
    def load(cls, path: Source) -> Any:
        """Return the normalizer of a file that `save`, or Java's ``NormalizerSerializer``, wrote.

        Parameters
        ----------
        path : path or binary file object

        Raises
        ------
        FormatError
            The file is truncated or of another kind; also one that Java's serialization alone wrote.
        ConfigurationError
            Its normalizer is one for the other kind of data sets, see `Normalizer` and `MultiNormalizer`, or a class of
            somebody's own.
        """
        from nd.dataset.normalizers.files import load_normalizer

        return load_normalizer(f"{cls.family.__name__}.load", path, cls.family)

    @abstractmethod
    def write_body(self, stream: BinaryIO) -> None:
        """Write the body, after the header, in ND4J's form."""

    @classmethod
    @abstractmethod
    def read_body(cls, stream: BinaryIO) -> AnyNormalizer:
        """Read a body that `write_body` wrote."""

    def written(self, method: str, array: Any, numbers: Array) -> Array:
        """Write numbers into the array that they were computed from; return it."""
        if not hasattr(array, "dtype") or array.dtype.kind != "f":
            raise DTypeError(
                f"{self.who(method)}: expected a DataSet or an array of floats to write into, got {shown(array)}. "
                "transform_features and the like return new arrays."
            )
        if not getattr(getattr(array, "flags", None), "writeable", True):
            raise DataError(f"{self.who(method)}: expected an array that can be written, got one for reading. Copy it.")
        array[...] = numbers
        return array

    def who(self, method: str, group: str | None = None, index: int = 0) -> str:
        """Return the name of a method for messages, where there are several arrays with the one that it is at."""
        at = f" ({PARTS[group]} {index})" if self.several and group is not None else ""
        return f"{type(self).__name__}{at}.{method}"


class FeaturesAlone(AnyNormalizer):
    """A normalizer that never changes labels."""

    @checked
    def fit_label(self, fit: bool = True) -> None:
        """Do nothing for False.

        Raises
        ------
        ConfigurationError
            For True: labels stay as they are.
        """
        if fit:
            raise ConfigurationError(f"{self.who('fit_label')}: labels are left as they are, got True.")


def in_place(method: str) -> Callable[..., Any]:
    """Return Java's form of a method of arrays, which writes into those given."""

    def write(self: AnyNormalizer, given: object, masks: object = None) -> Any:
        return self.written(method, given, getattr(self, method)(given, masks))

    return write


def listed(given: Any) -> list[Any]:
    """Return several arrays as they are, one as a list of one."""
    return list(given) if isinstance(given, (list, tuple)) else [given]
