"""AnyNormalizer: shared by normalizers of DataSets and of MultiDataSets; Learner: by those that learn from data."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Self, TypeVar

from backends.errors import DataError, DTypeError
from nd.arguments import checked, shown
from nd.classes import ExplainedABC, NamesSuggested, overridable
from nd.dataset.iterator import Batch, MinibatchIterator, check_data_set, is_features, is_pair
from nd.typing import Array

if TYPE_CHECKING:
    from nd.dataset.normalizers.statistics import ColumnStatistics
    from nd.files.reading import Source
    from nd.files.writing import Target

Learnt = TypeVar("Learnt")


@overridable
class AnyNormalizer(NamesSuggested, metaclass=ExplainedABC):
    """What is said of every normalizer: its kind, whether it changes labels, its file; and its way through a data set.

    A DataSet is changed as the MultiDataSet of one input and one output that it is.
    """

    family: ClassVar[Any]
    """`Normalizer` or `MultiNormalizer`."""

    iterators: ClassVar[tuple[Any, Callable[[Any], MinibatchIterator[Any]]]]
    """The class of iterators over its data sets, and that of those over an iterable."""

    kind: ClassVar[str]
    """ND4J's NormalizerType, in a file."""

    fits_labels = False
    """Whether labels are changed too."""

    called: str | None = None
    """Name in messages, where it is another than the class's."""

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
        """Learn from data, where there is anything to learn.

        Parameters
        ----------
        data : DataSet (MultiDataSet), an iterator or other iterable of those, or features (a list of features)
        """
        return self

    def pre_process(self, data_set: Batch) -> Batch:
        """Normalize a data set, and return it."""
        return self.change_set("pre_process", "transform", data_set)

    def change_set(self, method: str, direction: str, data_set: Batch) -> Batch:
        """Give a data set new arrays, and return it; `direction` is "transform" or "revert"."""
        check_data_set(self.who(method), data_set, self.iterators[0].kind)
        multi = data_set.as_multi()
        old, labels = multi.features, multi.labels
        features = self.changed_arrays(method, direction, "features", old, multi.features_masks)
        shared = [next((j for j, x in enumerate(old) if x is y), None) for y in labels]
        if None in shared:
            labels = self.changed_arrays(method, direction, "labels", labels, multi.labels_masks)
        labels = [y if j is None else features[j] for y, j in zip(labels, shared, strict=True)]
        data_set.set_arrays(features, labels)
        return data_set

    @abstractmethod
    def changed_arrays(self, method: str, direction: str, group: str, arrays: Any, masks: Any) -> list[Array]:
        """Return all "features" or "labels" changed; `method` is the one that was called."""

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

    def who(self, method: str) -> str:
        """Return the name of a method for messages."""
        return f"{self.called or type(self).__name__}.{method}"


class Learner(AnyNormalizer):
    """A normalizer that learns from data in one pass."""

    subject: ClassVar[str]
    """Where examples are missing, in messages."""

    _learning = False

    def fit(self, data: Any) -> Self:
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
        gathered: dict[str, dict[int, ColumnStatistics]] | None = None
        first = (0, 0)
        for data_set in self._passing(data):
            multi = data_set.as_multi()
            sizes = len(multi.features), len(multi.labels)
            first = sizes if gathered is None else first
            self.check_sizes(first, sizes)
            gathered = self._begun(*sizes) if gathered is None else gathered
            for group, of_group in gathered.items():
                arrays, masks = getattr(multi, group), getattr(multi, f"{group}_masks")
                if not arrays:
                    raise DataError(f"{self.who('fit')}: expected labels, which fit_label asks for, got none.")
                for i, statistics in of_group.items():
                    statistics.add(arrays[i], masks[i])
        if gathered is None:
            raise DataError(f"{self.who(self.subject)}: expected examples, got none.")
        self.take_over(gathered)
        return self

    def check_sizes(self, first: tuple[int, int], sizes: tuple[int, int]) -> None:
        """Raise DataError where a data set has not the numbers of inputs and outputs that the first one had."""

    @abstractmethod
    def new_statistics(self, group: str, index: int) -> ColumnStatistics | None:
        """Return statistics of an array of "features" or "labels", of nothing yet; None where it stays as it is."""

    @abstractmethod
    def take_over(self, gathered: Mapping[str, Mapping[int, ColumnStatistics]]) -> None:
        """Take over the statistics of "features" and "labels", by their places."""

    def write_settings(self, stream: BinaryIO) -> None:
        """Write what a file has in front of the rows."""

    @classmethod
    def read_settings(cls, stream: BinaryIO) -> Self:
        """Return a normalizer that has learnt nothing, with what `write_settings` wrote."""
        return cls()

    def _begun(self, inputs: int, outputs: int) -> dict[str, dict[int, ColumnStatistics]]:
        numbers = {"features": inputs, **({"labels": outputs} if self.fits_labels else {})}
        every = {group: {i: self.new_statistics(group, i) for i in range(count)} for group, count in numbers.items()}
        return {group: {i: each for i, each in of.items() if each is not None} for group, of in every.items()}

    def _passing(self, data: Any) -> Iterator[Any]:
        """Yield all data sets of data: features, a data set, an iterator, or an iterable.

        An iterator that can be reset is, before and after. Meanwhile `check_not_learning` raises.
        """
        kind, existing = self.iterators
        if is_pair(data):
            data = kind.kind(*data)
        elif is_features(data, kind.kind):
            data = kind.kind(data)
        if isinstance(data, kind.kind):
            yield data
            return
        iterator: MinibatchIterator[Any] = data if isinstance(data, kind) else existing(data)
        current: Any = iterator.pre_processor
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

    def check_not_learning(self) -> None:
        """Raise DataError while data pass by: this normalizer is in an iterator under the one that is read."""
        if self._learning:
            raise self._at_work()

    def _at_work(self) -> DataError:
        return DataError(
            f"{self.who('fit')}: expected data as they are, got an iterator that this normalizer changes already. "
            "Fit first, then set_pre_processor."
        )

    def part_of(self, learnt: Mapping[str, Learnt], part: str, method: str) -> Learnt:
        """Return what was learnt of "features" or "labels"; DataError if they were not fitted."""
        if part not in learnt:
            before = "" if part == "features" else "fit_label(True) and then "
            raise DataError(f"{self.who(method)}: expected {part} that were fitted, got none. Call {before}fit first.")
        return learnt[part]


def in_place(method: str) -> Callable[..., Any]:
    """Return Java's form of a method of arrays, which writes into those given."""

    def write(self: AnyNormalizer, given: Any, masks: Any = None) -> Any:
        return self.written(method, given, getattr(self, method)(given, masks))

    return write
