"""Examples: shared by DataSet and MultiDataSet, whose arrays hold the same examples along their first axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Self, TypeVar

import numpy as np

from backends.errors import DataError, ShapeError, describe_shape
from nd.arguments import Count, checked
from nd.classes import ExplainedType, NamesSuggested, overridable
from nd.dataset.checks import AnyArray, check_count, from_list
from nd.dataset.java_random import JavaRandom

if TYPE_CHECKING:
    from nd.files.reading import Source
    from nd.files.writing import Target

Part = TypeVar("Part")


@overridable
class Examples(NamesSuggested, metaclass=ExplainedType):
    """Choosing, reordering, copying and comparing examples. A subclass says where its arrays are."""

    class_names: Sequence[str] | None = None
    """Names of the classes, in the order of the labels' columns; of a MultiDataSet those of the first output.

    A network maps labels to its own order of the classes by them. Parts, copies and merged sets have them too.
    """

    def named_arrays(self) -> list[tuple[str, AnyArray | None]]:
        """Return the name of every place for an array, and what stands there; features first."""
        raise NotImplementedError

    def with_arrays(self, arrays: list[AnyArray | None]) -> Self:
        """Return another one with arrays in the order of `named_arrays`."""
        raise NotImplementedError

    multi: Any
    """A MultiDataSet with these arrays; a MultiDataSet itself."""

    def as_multi(self) -> Any:
        """Return the MultiDataSet of one input and at most one output that a DataSet is a view of, or itself."""
        return self.multi

    @staticmethod
    def _viewing(multi: Any) -> Any:
        """Return one of this kind with the arrays of a MultiDataSet."""
        raise NotImplementedError

    def with_groups(self, **groups: list[Any]) -> Self:
        """Return another one, without names of classes, with other lists in the place of its `MultiDataSet`'s."""
        multi = self.multi
        same = multi.holding([*multi.features], [*multi.labels], [*multi.features_masks], [*multi.labels_masks])
        vars(same).update(groups)
        return self._viewing(same)

    def __repr__(self) -> str:
        shown = [f"{name}={describe_shape(a.shape)} {a.dtype}" for name, a in self._present()]
        return f"{type(self).__name__}({', '.join(shown)})"

    def __eq__(self, other: object) -> bool:
        """Whether the other has the same arrays, of the same dtypes, to 1e-5, as Java compares them."""
        if not isinstance(other, type(self)):
            return NotImplemented
        pairs = self.named_arrays(), other.named_arrays()
        names = [[name for name, _ in fields] for fields in pairs]
        return names[0] == names[1] and all(_are_equal(a, b) for (_, a), (_, b) in zip(*pairs, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def num_examples(self) -> int:
        """Return N, the length of the first axis."""
        return int(self.multi.features[0].shape[0])

    def column_counts(self) -> tuple[int, int | None]:
        """Return the second axis of the first features and labels, None for labels that are not there."""
        multi = self.multi
        return second_axis(multi.features[0]), second_axis(multi.labels[0]) if multi.labels else None

    def aligned_examples(self) -> int:
        """Return N; raise ShapeError where arrays hold different numbers of examples, so that no row is one example."""
        multi = self.multi
        n = int(multi.features[0].shape[0])
        for arrays in (multi.features, multi.labels, multi.features_masks, multi.labels_masks):
            for array in arrays:
                if array is not None and array.shape[0] != n:
                    raise self._not_aligned(n)
        return n

    def _not_aligned(self, n: int) -> ShapeError:
        (first, features), *others = self._present()
        name, array = next(other for other in others if other[1].shape[0] != n)
        return ShapeError(
            f"{type(self).__name__}: expected as many {name} as {first} to take examples out, got {name} "
            f"{describe_shape(array.shape)} and {first} {describe_shape(features.shape)}."
        )

    def has_mask_arrays(self) -> bool:
        """Tell whether there is a mask of features or labels."""
        return any("mask" in name for name, _ in self._present())

    def memory_footprint(self) -> int:
        """Return the bytes of all arrays; one that stands in two places counts once."""
        arrays = {id(array): array for _, array in self._present()}
        return sum(math.prod(array.shape) * int(array.dtype.itemsize) for array in arrays.values())

    def copy(self) -> Self:
        """Return one with arrays of its own; labels that are the features stay so."""
        return self.map_arrays(lambda array: array.copy())

    def describe(self) -> str:
        """Return a line for every array: its shape, its dtype, and the smallest, mean and largest number in it.

        Examples
        --------
        >>> from nd.dataset import DataSet
        >>> print(DataSet([[0.0, 2.0], [4.0, 2.0]], [[1, 0], [0, 1]]).describe())
        DataSet of 2 examples
        features [2, 2] float32: 0 to 4, mean 2
        labels [2, 2] float32: 0 to 1, mean 0.5
        """
        from nd.serde import as_host

        lines = [f"{type(self).__name__} of {self.num_examples()} examples"]
        for name, array in self._present():
            host, spread = as_host(array), "empty"
            if host.size:
                spread = f"{host.min():.6g} to {host.max():.6g}, mean {host.mean(dtype='float64'):.6g}"
            lines.append(f"{name} {describe_shape(array.shape)} {array.dtype}: {spread}")
        return "\n".join(lines)

    def get_range(self, start: int, stop: int) -> Self:
        """Return the examples `start` to `stop` - 1; the arrays are views.

        Raises
        ------
        DataError
            Unless 0 <= start < stop <= N.
        """
        who, n = f"{type(self).__name__}.get_range", self.aligned_examples()
        check_count(who, "start", start, 0)
        check_count(who, "stop", stop, 0)
        if not start < stop <= n:
            raise DataError(f"{who}: expected 0 <= start < stop <= {n}, got start {start}, stop {stop}.")
        return self.map_arrays(lambda array: array[start:stop, ...])

    @checked
    def batch_by(self, n: Count) -> list[Self]:
        """Cut into minibatches of `n` examples, the last one smaller if need be; the arrays are views.

        Raises
        ------
        ArgumentError
            `n` is less than 1.
        """
        total = self.num_examples()
        return [self.get_range(start, min(start + n, total)) for start in range(0, total, n)]

    def get(self, index: int | Sequence[int] | np.ndarray) -> Self:
        """Return one example, or those of a list of indices in its order; negative ones count from the end.

        Raises
        ------
        DataError
            There is no such example, or the list is empty.
        """
        who = f"{type(self).__name__}.get"
        wanted = np.atleast_1d(from_list(who, index))
        n = self.aligned_examples()
        if wanted.dtype.kind not in "iu" or wanted.ndim != 1 or not wanted.size:
            raise DataError(f"{who}: expected an index or a list of indices, got {index!r}.")
        if not (-n <= int(wanted.min()) and int(wanted.max()) < n):
            raise DataError(f"{who}: expected indices from {-n} to {n - 1}, got {index!r}.")
        return self._rows(wanted)

    def as_list(self) -> list[Self]:
        """Return every example by itself; the arrays are views."""
        return self.batch_by(1)

    @checked
    def split_test_and_train(self, n: int | float, random: JavaRandom | None = None) -> SplitTestAndTrain[Self]:
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
        check_count(f"{type(self).__name__}.split_test_and_train", "n", n, 1, total - 1)
        if random is not None:
            self.shuffle(random.next_long())
        return SplitTestAndTrain(self.get_range(0, int(n)), self.get_range(int(n), total))

    @checked
    def shuffle(self, seed: int = 0) -> None:
        """Reorder the examples, as ND4J does on a CPU: an example changes places with one other.

        This object then holds new arrays; the arrays given to it keep their order.
        """
        shuffled = self._rows(JavaRandom(seed).swapped_pairs(self.num_examples()))
        vars(self).update(vars(shuffled))

    @checked
    def sample(self, n: Count, seed: int = 0, with_replacement: bool = False) -> Self:
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
        check_count(f"{type(self).__name__}.sample", "n", n, 1, total)
        return self._rows(random.permutation(total)[:n])

    def map_arrays(self, function: Callable[[AnyArray], AnyArray]) -> Self:
        """Return one with what `function` returns for every array; an array that stands in two places does so then."""
        mapped: dict[int, AnyArray | None] = {id(None): None}
        multi = self.multi
        groups = multi.features, multi.labels, multi.features_masks, multi.labels_masks
        for arrays in groups:
            for array in arrays:
                if id(array) not in mapped:
                    mapped[id(array)] = function(array)
        same = multi.holding(*([mapped[id(array)] for array in arrays] for arrays in groups))
        if multi.class_names is not None:
            same.class_names = multi.class_names
        return self._viewing(same)

    def save(self, path: Target) -> None:
        """Write the file that Java's ``load(File)`` of the class reads. A failure leaves an existing file as it was.

        Parameters
        ----------
        path : path or binary file object

        Raises
        ------
        OSError
            The file cannot be written.

        Notes
        -----
        Source: org.nd4j.linalg.dataset.DataSet.save, MultiDataSet.save. Differs: Java replaces nothing atomically, and
        also writes the examples' metadata, which ndwright has not. A mask that is not there among masks of a
        MultiDataSet that are stands as the array [-1], which Java reads as a mask unless the same thread has written
        one before; so give a mask of ones where Java is to read the file.
        """
        from nd.dataset.storage import save_data_set

        save_data_set(self, path)

    @classmethod
    def load(cls, path: Source) -> Self:
        """Read a file that `save`, or Java's, wrote. Java's example metadata is not read.

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

        return load_data_set(cls, path)

    def _present(self) -> list[tuple[str, AnyArray]]:
        return [(name, array) for name, array in self.named_arrays() if array is not None]

    def _rows(self, order: np.ndarray) -> Self:
        return self.map_arrays(lambda array: _gather(array, order))


class SplitTestAndTrain(NamedTuple, Generic[Part]):
    """The two parts of split examples."""

    train: Part
    test: Part


def second_axis(array: AnyArray) -> int:
    """Return the length of the second axis, 1 where there is none."""
    return int(array.shape[1]) if len(array.shape) > 1 else 1


def _gather(array: AnyArray, order: np.ndarray) -> AnyArray:
    """Return the rows of `array` in that order; Fortran order stays Fortran order."""
    if len(array.shape) > 1 and array.flags.f_contiguous and not array.flags.c_contiguous:
        return np.take(array.T, order, axis=-1).T  # np.take's result is in C order; CuPy has its own
    return array[order]


def _are_equal(one: AnyArray | None, other: AnyArray | None) -> bool:
    if one is None or other is None:
        return one is other
    return (
        one.shape == other.shape
        and one.dtype == other.dtype
        and bool(np.allclose(one, other, rtol=0.0, atol=1e-5, equal_nan=True))
    )
