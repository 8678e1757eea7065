"""NpzDataSetIterator: examples in NumPy's ``.npz`` files."""

from __future__ import annotations

import os
from collections.abc import Sequence

from backends.errors import DataError, DTypeError, ShapeError, describe_shape
from nd.arguments import Count, checked
from nd.dataset.dataset import DataSet, check_lengths
from nd.dataset.examples import second_axis
from nd.dataset.iterator import DataSetIterator, State
from nd.dataset.npz_files import Member, read_arrays, read_headers
from nd.dataset.numpy_iterator import check_classes, check_examples, pick
from nd.dataset.order import FileOrder
from nd.dataset.ordered import OrderedIterator

PathLike = str | os.PathLike[str]


class NpzDataSetIterator(OrderedIterator[DataSet], DataSetIterator):
    """Iterate over the examples of one or several ``.npz`` files, one of which is in memory.

    Parameters
    ----------
    paths : path or sequence of paths
        Files that ``numpy.savez`` or ``savez_compressed`` wrote.
    batch : int
        Examples in a minibatch; the last one has the rest. One may end in the next file.
    features, labels, features_mask, labels_mask : str or None
        Keys in the files; None for arrays that they do not have.
    num_classes : int, optional
        Make one-hot labels [N, num_classes] of class numbers [N], minibatch by minibatch.
    shuffle : bool
        Take the files in another order in every epoch, and the examples of a file too. Examples of
        different files meet only where a minibatch spans two.
    seed : int
        Of the orders.

    Raises
    ------
    ArgumentError
        An argument is of another type, or `batch` or `num_classes` is less than 1.
    DataError
        There is no file, a key is missing, or a file has no examples.
    FormatError
        A file is damaged, or has Python objects in it, which are never loaded.
    ShapeError, DTypeError
        Arrays do not fit each other, those of another file, or `num_classes`; or they do not hold numbers.
    OSError
        A file cannot be read.

    Notes
    -----
    The headers of all files are read at once. Minibatches may be views of the arrays of their file, which stay in
    memory as long as they do. For a single uncompressed array, larger than memory, map it:
    ``NumpyDataSetIterator(numpy.load("x.npy", mmap_mode="r"), ...)``.
    """

    order: FileOrder
    _opened: tuple[int, DataSet] | None = None
    """Number of a file, and its arrays."""

    @checked
    def __init__(
        self,
        paths: PathLike | Sequence[PathLike],
        batch: Count = 32,
        *,
        features: str = "features",
        labels: str | None = "labels",
        features_mask: str | None = None,
        labels_mask: str | None = None,
        num_classes: Count | None = None,
        shuffle: bool = False,
        seed: int = 0,
    ) -> None:
        self._paths = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
        named = {"features": features, "labels": labels, "features_mask": features_mask, "labels_mask": labels_mask}
        self._keys = {field: key for field, key in named.items() if key is not None}
        if not self._paths:
            raise DTypeError(f"{_WHO}: expected a path or a list of paths, got []. Name a file.")
        self._headers = [read_headers(_WHO, path, self._keys) for path in self._paths]
        for path, headers in zip(self._paths, self._headers, strict=True):
            _check_alike(path, headers, self._headers[0])
        for headers in self._headers:
            check_lengths(_WHO, headers)
        self._lengths = [check_examples(_WHO, headers["features"]) for headers in self._headers]
        classes = check_classes(_WHO, num_classes, self._headers[0].get("labels"))
        order = FileOrder(self._lengths, seed if shuffle else None)
        super().__init__(sum(self._lengths), batch, order, classes)

    def _examples(self, start: int, stop: int) -> DataSet:
        parts, begin = [], 0  # begin: examples of the files before
        for number in self.order.files:
            first, last = max(start - begin, 0), min(stop - begin, self._lengths[number])
            if first < last:
                parts.append(pick(self._file(number), self.order.of_file(number, first, last), self.classes))
            begin += self._lengths[number]
        if stop == self.total:
            self._opened = None
        return parts[0] if len(parts) == 1 else DataSet.merge(parts)

    def _signature(self) -> State:
        return {"lengths": self._lengths}

    def column_counts(self) -> tuple[int | None, int | None]:
        labels = self._headers[0].get("labels")
        outcomes = None if labels is None else self.classes or second_axis(labels)
        return second_axis(self._headers[0]["features"]), outcomes

    def _file(self, number: int) -> DataSet:
        if self._opened is None or self._opened[0] != number:
            self._opened = None  # before the next one is read: one at a time
            arrays = read_arrays(_WHO, self._paths[number], self._keys)
            for name, array in arrays.items():
                if array.shape != self._headers[number][name].shape:
                    raise DataError(
                        f"{_WHO}: '{os.fspath(self._paths[number])}': {name} must be as they were, "
                        f"{describe_shape(self._headers[number][name].shape)}, got {describe_shape(array.shape)}."
                    )
            self._opened = (number, DataSet(**arrays))
        return self._opened[1]


_WHO = NpzDataSetIterator.__name__


def _check_alike(path: PathLike, headers: dict[str, Member], first: dict[str, Member]) -> None:
    for name, header in headers.items():
        want = first[name]
        if header.shape[1:] != want.shape[1:]:
            raise ShapeError(
                f"{_WHO}: '{os.fspath(path)}': expected {name} {describe_shape(['N', *want.shape[1:]])}, as in the "
                f"first file, got {describe_shape(header.shape)}."
            )
        if header.dtype != want.dtype:
            raise DTypeError(
                f"{_WHO}: '{os.fspath(path)}': expected {name} of {want.dtype}, as in the first file, got "
                f"{header.dtype}."
            )
