"""PictureIterator: minibatches of pictures in files, decoded ahead in threads."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from contextlib import nullcontext
from types import TracebackType
from typing import Any, Self

import numpy as np

from backends.errors import DataError, FormatError
from nd.dataset.class_labels import one_hot
from nd.dataset.dataset import DataSet
from nd.dataset.image_iterator import ArrayPool
from nd.dataset.images.ahead import Reading, Threads
from nd.dataset.images.decoding import Decoder, Unreadable, need_pillow
from nd.dataset.images.files import Pictures, digest_of
from nd.dataset.iterator import DataSetIterator, State
from nd.dataset.order import EpochOrder
from nd.dataset.ordered import OrderedIterator
from nd.interrupts import Held, tell_of_forks

_AHEAD = 3  # minibatches
_LOG = logging.getLogger(__name__)
_OF_THE_FILE = (Unreadable, FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError)
"""Errors that are a file's own: others, too many open files say, are the system's."""


class PictureIterator(OrderedIterator[DataSet], DataSetIterator):
    """Iterate over pictures in files, decoding those to come in threads.

    Parameters
    ----------
    pictures : Pictures
    folder : str
        That their names are within; it ends in the separator of paths, or is empty.
    batch : int
    order : EpochOrder
    decoder : Decoder
    white : float
        The number that becomes 1.0.
    damaged : {"raise", "skip"}
    workers : int
        Threads; 0 decodes when a minibatch is asked for.

    Attributes
    ----------
    skipped : dict of str to str
        Path of a file that was skipped, and why.
    batch_paths : list of str
        The files of the minibatch handed out last, in the order of its rows.

    Notes
    -----
    Places in an epoch count damaged files too. So a minibatch that has one is smaller, and all others are the same.
    """

    remedy = "Delete the file or repair it, or pass damaged='skip'."

    def __init__(
        self,
        pictures: Pictures,
        folder: str,
        batch: int,
        order: EpochOrder,
        decoder: Decoder,
        *,
        white: float,
        damaged: str,
        workers: int,
    ) -> None:
        need_pillow(type(self).__name__)
        classes = None if pictures.class_names is None else len(pictures.class_names)
        super().__init__(len(pictures.names), batch, order, classes)
        self.class_names = pictures.class_names
        self._names, self._folder = pictures.names, folder
        self._numbers = None if pictures.classes is None else np.array(pictures.classes, np.int32)
        self._digest = digest_of(pictures)
        self._decoder, self._white, self._damaged = decoder, np.float32(white), damaged
        self.skipped: dict[str, str] = {}
        self.batch_paths: list[str] = []
        self._be_idle(workers)

    def _be_idle(self, workers: int) -> None:
        """Have nothing decoded yet, and no thread."""
        self._floats = ArrayPool()
        self._readings: deque[Reading] = deque()
        self._threads = Threads(workers, self, type(self).__name__)
        tell_of_forks(self)

    @property
    def paths(self) -> list[str]:
        """Paths of all pictures, in the order that they have without `shuffle`."""
        return [self._folder + name for name in self._names]

    def column_counts(self) -> tuple[int, int | None]:
        return self._decoder.shape[0], self.classes

    # ---- minibatches

    def has_next(self) -> bool:
        """Tell whether a picture is left; where damaged ones are skipped, wait until one is decoded."""
        while self.cursor < self.total:
            if self._damaged == "raise":
                return True
            stop = min(self.cursor + self.per_batch, self.total)
            if self._rows_of(self._ready(self.cursor, stop)):
                return True
            self._pass_over(stop)
        if len(self.skipped) == self.total:
            path, why = next(iter(self.skipped.items()))
            raise DataError(
                f"{type(self).__name__}: some of the {self.total} pictures must be readable, got '{path}' ({why}) and "
                "the like. Look at the files."
            )
        return False

    def next(self, num: int | None = None) -> DataSet:
        """Return the next minibatch, of `num` pictures if given, less the damaged ones that are skipped.

        Raises
        ------
        DataError
            None are left, `num` is out of range, or all files are damaged.
        FormatError
            A file is no picture, or a damaged one, and `damaged` is "raise".
        OSError
            A file cannot be read.
        """
        size = self.size_of_next(num)
        while True:
            self.check_has_next()
            stop = min(self.cursor + size, self.total)
            reading = self._ready(self.cursor, stop)
            rows = self._rows_of(reading)
            minibatch = self._data_set(reading, rows) if rows else None
            self._pass_over(stop)
            if minibatch is not None:
                return self.pre_processed(minibatch)

    def _ready(self, start: int, stop: int) -> Reading:
        """Return the minibatch of some places of the epoch, decoded, and have those behind it decoded."""
        first = self._readings[0] if self._readings else None
        if first is None or (first.start, first.stop) != (start, stop):
            self._forget()
            self._begin(start, stop)
        while len(self._readings) <= _AHEAD * bool(self._threads.count):
            at = self._readings[-1].stop
            if at >= self.total:
                break
            self._begin(at, min(at + self.per_batch, self.total))
        self._readings[0].wait()
        return self._readings[0]

    def _pass_over(self, stop: int) -> None:
        """Stand behind the minibatch that is decoded; those behind it stay."""
        with Held():
            self.cursor = stop
            self._readings.popleft()

    def _begin(self, start: int, stop: int) -> None:
        numbers = self.order.numbers(start, stop)
        paths = [self._folder + self._names[number] for number in numbers.tolist()]
        reading = Reading(start, stop, paths)
        with Held() if self._threads.count else nullcontext():
            self._threads.begin(reading, self._decoder)
            self._readings.append(reading)

    def _forget(self) -> None:
        """Let go what is decoded ahead; it is decoded again where it is wanted."""
        for reading in tuple(self._readings):
            reading.wanted = False
        self._readings.clear()

    def _rows_of(self, reading: Reading) -> list[int]:
        """Return the rows that could be decoded; raise the error of another one where it is not skipped."""
        for row, error in sorted(reading.faults.items()):
            path = reading.paths[row]
            if self._damaged == "raise" or not isinstance(error, _OF_THE_FILE):
                self._forget()  # so that a file that was repaired is read again
                raise self._fault(path, error)
            if path not in self.skipped:
                self.skipped[path] = str(error) or type(error).__name__
                _LOG.warning("%s skips '%s': %s", type(self).__name__, path, error)
        return [row for row in range(len(reading.paths)) if row not in reading.faults]

    def _fault(self, path: str, error: BaseException) -> BaseException:
        if isinstance(error, Unreadable):
            who = type(self).__name__
            return FormatError(f"{who}: '{path}' must be a picture that can be decoded, got {error}. {self.remedy}")
        return error

    def _data_set(self, reading: Reading, rows: list[int]) -> DataSet:
        pixels = np.stack([reading.pictures[row] for row in rows])
        features = self._floats.take((len(rows), *self._decoder.shape))
        features[...] = pixels.transpose(0, 3, 1, 2)  # as numbers first: operations on two types are slower
        if self._white != 1:
            np.divide(features, self._white, out=features)
        numbers = self.order.numbers(reading.start, reading.stop)[rows]
        labels = None
        if self._numbers is not None and self.classes is not None:
            labels = one_hot(self._numbers[numbers], self.classes)
        minibatch = DataSet(features, labels)
        minibatch.class_names = self.class_names
        self.batch_paths = [reading.paths[row] for row in rows]
        return minibatch

    # ---- positions

    def reset(self) -> None:
        """Begin the next epoch, in another order if this iterator shuffles."""
        self._forget()  # first: these are places in the order that ends
        super().reset()

    def _signature(self) -> State:
        return {"examples": self.total, "files": self._digest}

    def restore(self, state: State) -> None:
        self._forget()
        super().restore(state)

    # ---- threads

    def close(self) -> None:
        """End the threads, after the pictures that they decode. Using this iterator again starts new ones."""
        self._forget()
        self._threads.close(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def before_fork(self, deadline: float) -> Callable[[], object] | None:
        """Wait for nothing: the child decodes anew, and what decodes has no locks that it would inherit.

        Whoever waits for the threads, an AsyncDataSetIterator say, must come to its own end first.
        """
        return lambda: None

    def in_child(self, stood_still: bool) -> None:
        """In a forked child there are no threads; what they were decoding is decoded anew."""
        self._readings.clear()
        self._threads.connect(self)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state of a copy, which stands where this one does and has threads of its own."""
        own = ("_floats", "_readings", "_threads")
        state = {name: value for name, value in vars(self).items() if name not in own}
        return {**state, "workers": self._threads.count}

    def __setstate__(self, state: dict[str, Any]) -> None:
        workers = state.pop("workers")
        vars(self).update(state)
        self._be_idle(workers)
