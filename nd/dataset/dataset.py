"""DataSet: features with their labels and masks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from backends.errors import DataError, ShapeError, describe_shape
from nd.arguments import Count, Natural, checked
from nd.dataset.by_class import ByClass
from nd.dataset.by_value import ByValue
from nd.dataset.checks import AnyArray, as_array, check_count, from_list
from nd.dataset.java_random import JavaRandom
from nd.java_names import JavaNames, java_attribute

if TYPE_CHECKING:
    from nd.files.reading import Source
    from nd.files.writing import Target


_MOST_CLASSES = 2**31 - 1  # Java's int
_FIELDS = ("features", "labels", "features_mask", "labels_mask")


class DataSet(ByClass, ByValue, JavaNames):
    """Examples: features, and where there are any, their labels and masks.

    Parameters
    ----------
    features : array or nested list, shape [N, ...]
        N examples along the first axis. Arrays are kept as they are, lists become NumPy float32 arrays.
    labels : array or nested list, shape [N, ...], optional
    features_mask, labels_mask : array or nested list, shape [N, ...], optional
        1 where a time step (or output) counts, 0 where it does not.

    Raises
    ------
    ShapeError
        The arrays hold different numbers of examples.
    DTypeError
        An array does not hold numbers.

    Notes
    -----
    Source: org.nd4j.linalg.dataset.DataSet.

    Examples
    --------
    >>> DataSet([[0, 1], [2, 3], [4, 5]], [[1, 0], [0, 1], [1, 0]])
    DataSet(features=[3, 2] float32, labels=[3, 2] float32)
    """

    def __init__(
        self,
        features: Any,
        labels: Any = None,
        features_mask: Any = None,
        labels_mask: Any = None,
    ) -> None:
        if features is None:
            raise DataError("DataSet: features must be an array or a list, got None.")
        given = (features, labels, features_mask, labels_mask)
        arrays: list[Any] = [
            None if value is None else as_array(f"DataSet {name}", value)
            for name, value in zip(_FIELDS, given, strict=True)
        ]
        if labels is features:  # of an autoencoder, also where both are one list
            arrays[1] = arrays[0]
        for name, array in zip(_FIELDS, arrays, strict=True):
            if array is not None and array.shape[0] != arrays[0].shape[0]:
                raise ShapeError(
                    f"DataSet: expected as many {name} as features, got {name} {describe_shape(array.shape)} "
                    f"and features {describe_shape(arrays[0].shape)}."
                )
        self.features: AnyArray = arrays[0]
        self.labels: AnyArray | None = arrays[1]
        self.features_mask: AnyArray | None = arrays[2]
        self.labels_mask: AnyArray | None = arrays[3]

    def __repr__(self) -> str:
        shown = [f"{name}={describe_shape(a.shape)} {a.dtype}" for name, a in self._present()]
        return f"DataSet({', '.join(shown)})"

    class_names: Sequence[str] | None = None
    """Names of the classes, in the order of the labels' columns."""
    java_names: ClassVar[dict[str, str]] = {
        "features_mask_array": "features_mask", "label_names": "class_names", "label_names_list": "class_names",
        "labels_mask_array": "labels_mask",
    }  # fmt: skip

    @checked
    def get_label_name(self, number: Natural) -> str:
        """Return the name of a class; its number where the names are not known. DataError if there is no such class."""
        if self.class_names is None:
            return str(number)
        if number >= len(self.class_names):
            raise DataError(f"get_label_name: number must be 0..{len(self.class_names) - 1}, got {number}.")
        return self.class_names[number]

    def normalize_zero_mean_zero_unit_variance(self) -> None:
        """Take the mean of every feature away and divide by its standard deviation (of N - 1) and 1e-9, as Java."""
        x = as_array("features", self.features)
        deviation = np.std(x, 0, ddof=1, keepdims=True) + 1e-9
        self.features = ((x - x.mean(0, keepdims=True)) / deviation).astype(x.dtype)

    def num_examples(self) -> int:
        """Return N, the length of the first axis."""
        return int(self.features.shape[0])

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

    def get_range(self, start: int, stop: int) -> DataSet:
        """Return the examples `start` to `stop` - 1; the arrays are views of this DataSet's.

        Raises
        ------
        DataError
            Unless 0 <= start < stop <= N.
        """
        n = self.num_examples()
        check_count("DataSet.get_range", "start", start, 0)
        check_count("DataSet.get_range", "stop", stop, 0)
        if not start < stop <= n:
            raise DataError(f"DataSet.get_range: expected 0 <= start < stop <= {n}, got start {start}, stop {stop}.")
        return self._map(lambda array: array[start:stop, ...])

    @checked
    def batch_by(self, n: Count) -> list[DataSet]:
        """Cut into DataSets of `n` examples, the last one smaller if need be; the arrays are views.

        Raises
        ------
        ArgumentError
            `n` is less than 1.
        """
        total = self.num_examples()
        return [self.get_range(start, min(start + n, total)) for start in range(0, total, n)]

    def get(self, index: int | Sequence[int] | np.ndarray) -> DataSet:
        """Return one example, or those of a list of indices in its order; negative ones count from the end.

        Raises
        ------
        DataError
            There is no such example, or the list is empty.
        """
        wanted = np.atleast_1d(from_list("DataSet.get", index))
        n = self.num_examples()
        if wanted.dtype.kind not in "iu" or wanted.ndim != 1 or not wanted.size:
            raise DataError(f"DataSet.get: expected an index or a list of indices, got {index!r}.")
        if not (-n <= int(wanted.min()) and int(wanted.max()) < n):
            raise DataError(f"DataSet.get: expected indices from {-n} to {n - 1}, got {index!r}.")
        return self._rows(wanted)

    def as_list(self) -> list[DataSet]:
        """Return every example as a DataSet of its own; the arrays are views."""
        return self.batch_by(1)

    @checked
    def split_test_and_train(self, n: int | float, random: JavaRandom | None = None) -> SplitTestAndTrain:
        """Return ``(train, test)``: the first `n` examples, and the rest; the arrays are views.

        Parameters
        ----------
        n : int or float
            Number of examples, or between 0 and 1 a share of them (rounded down).
        random : JavaRandom, optional
            Shuffle first, as ND4J does, with the next long of this generator.

        Raises
        ------
        DataError
            `n` leaves nothing for one of the two.
        """
        total = self.num_examples()
        if isinstance(n, float) and 0 < n < 1:
            n = int(n * total)
        check_count("DataSet.split_test_and_train", "n", n, 1, total - 1)
        if random is not None:
            self.shuffle(random.next_long())
        return SplitTestAndTrain(self.get_range(0, int(n)), self.get_range(int(n), total))

    @checked
    def shuffle(self, seed: int = 0) -> None:
        """Reorder the examples, as ND4J does on a CPU: an example changes places with one other.

        This DataSet then holds new arrays; the arrays given to it keep their order.
        """
        shuffled = self._rows(JavaRandom(seed).swapped_pairs(self.num_examples()))
        for name in _FIELDS:
            setattr(self, name, getattr(shuffled, name))

    @checked
    def sample(self, n: Count, seed: int = 0, with_replacement: bool = False) -> DataSet:
        """Return `n` examples, drawn at random: the first `n` of Java's ``Collections.shuffle`` of all.

        With replacement every example is drawn from all, by Java's ``new Random(seed).nextInt(N)``, and may come again.

        Raises
        ------
        ArgumentError
            `n` is less than 1.
        DataError
            Without replacement `n` is more than N.
        """
        total, random = self.num_examples(), JavaRandom(seed)
        if with_replacement:
            return self._rows(np.array([random.next_int(total) for _ in range(n)]))
        check_count("DataSet.sample", "n", n, 1, total)
        return self._rows(random.permutation(total)[:n])

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
        from nd.dataset.merging import checked_sets, merged

        sets = checked_sets(data_sets, DataSet)
        features, features_mask = merged(sets, "features")
        labels, labels_mask = merged(sets, "labels")
        joined = DataSet(features, labels, features_mask, labels_mask)
        if all(data_set.labels is data_set.features for data_set in sets):
            joined.labels = joined.features
        return joined

    def save(self, path: Target) -> None:
        """Write the file that Java's ``DataSet.load(File)`` reads. A failure leaves an existing file as it was.

        Parameters
        ----------
        path : path or binary file object

        Raises
        ------
        OSError
            The file cannot be written.

        Notes
        -----
        Source: org.nd4j.linalg.dataset.DataSet.save. Differs: Java replaces nothing atomically, and also writes the
        examples' metadata, which ndwright has not.
        """
        from nd.dataset.storage import save_data_set

        save_data_set(self, path)

    @staticmethod
    def load(path: Source) -> DataSet:
        """Read a file that `save`, or Java's ``DataSet.save``, wrote. Java's example metadata is not read.

        Parameters
        ----------
        path : path or binary file object
            A file object is read from its position to its end.

        Raises
        ------
        FormatError
            The file is truncated, holds no features, contradicts itself, or is of another kind.
        """
        from nd.dataset.storage import load_data_set

        return load_data_set(path)

    def _present(self) -> list[tuple[str, AnyArray]]:
        fields = ((name, getattr(self, name)) for name in _FIELDS)
        return [(name, array) for name, array in fields if array is not None]

    def _map(self, function: Callable[[AnyArray], AnyArray]) -> DataSet:
        mapped = {name: function(array) for name, array in self._present()}
        if self.labels is self.features:
            mapped["labels"] = mapped["features"]
        return DataSet(**mapped)

    def _rows(self, order: np.ndarray) -> DataSet:
        return self._map(lambda array: _gather(array, order))


class SplitTestAndTrain(NamedTuple):
    """The two parts of a split DataSet."""

    train: DataSet
    test: DataSet

    def __getattr__(self, name: str) -> Any:
        return java_attribute(self, name, {})


def one_hot(labels: Any, n: int) -> np.ndarray:
    """Encode class numbers as rows with a single 1.

    Parameters
    ----------
    labels : array or list of whole numbers, shape [N]
        Numbers from 0 to `n` - 1.
    n : int
        Number of classes.

    Returns
    -------
    numpy.ndarray, shape [N, n]
        float32, Fortran order (the batch innermost in memory, as the CPU likes it).

    Raises
    ------
    ShapeError
        `labels` has more than one axis.
    DataError
        A label is not a whole number from 0 to `n` - 1.

    Examples
    --------
    >>> one_hot([2, 0], 3).tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    check_count("one_hot", "n", n, 1, _MOST_CLASSES)
    classes = as_array("one_hot labels", labels)
    if len(classes.shape) != 1:
        raise ShapeError(f"one_hot: expected labels [N], got {describe_shape(classes.shape)}.")
    wrong = (classes < 0) | (classes >= n) | (classes != np.floor(classes))
    if wrong.any():
        i = int(np.argmax(wrong))
        raise DataError(
            f"one_hot: labels must be whole numbers from 0 to {n - 1}, got {classes[i]} at index {i}. "
            "Raise n, or correct the labels."
        )
    encoded = np.zeros((n, len(classes)), dtype=np.float32).T
    encoded[np.arange(len(classes)), classes.astype(np.int64)] = 1
    return encoded


def second_axis(array: AnyArray) -> int:
    """Return the length of the second axis, 1 where there is none."""
    return int(array.shape[1]) if len(array.shape) > 1 else 1


def _gather(array: AnyArray, order: np.ndarray) -> AnyArray:
    """Return the rows of `array` in that order; Fortran order stays Fortran order."""
    if len(array.shape) > 1 and array.flags.f_contiguous and not array.flags.c_contiguous:
        return np.take(array.T, order, axis=-1).T  # np.take's result is in C order; CuPy has its own
    return array[order]
