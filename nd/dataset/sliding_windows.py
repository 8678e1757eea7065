"""SlidingWindowDataSetIterator: windows of a long series, and what follows them."""

from __future__ import annotations

from typing import Literal

import numpy as np

from backends.errors import ConfigurationError, DataError, ShapeError, describe_shape
from nd.arguments import Count, Natural, checked
from nd.dataset.checks import as_array
from nd.dataset.dataset import DataSet
from nd.dataset.examples import second_axis
from nd.dataset.iterator import DataSetIterator, State
from nd.dataset.order import EpochOrder
from nd.dataset.ordered import OrderedIterator
from nd.serde import as_host


class SlidingWindowDataSetIterator(OrderedIterator[DataSet], DataSetIterator):
    """Iterate over windows of one long series, with what comes `horizon` time steps later as labels.

    Parameters
    ----------
    series : array, shape [T, C] or [T]
        Time steps in rows. Never written; a memory map is read minibatch by minibatch.
    length : int
        Time steps n of a window.
    batch : int
        Windows in a minibatch; the last one has the rest.
    stride : int
        Time steps from the beginning of a window to that of the next.
    horizon : int
        How many time steps after those of the window the labels are. 0 needs `targets`.
    targets : array, shape [T, K] or [T], optional
        What is to be predicted, of the same time steps; without it the series itself.
    labels : str
        "series": for every step of the window the target `horizon` steps later, [N, K, n]. "last": that of its last
        step alone, [N, K].
    shuffle, seed
        As of `NumpyDataSetIterator`, of the windows.

    Raises
    ------
    ArgumentError
        An argument is of another type or out of its range.
    ConfigurationError
        `horizon` is 0, and there are no `targets`.
    DataError
        The series is too short for a window and its labels.
    ShapeError
        It has not one or two axes, or the targets have another number of time steps.
    DTypeError
        They are no numbers.

    Notes
    -----
    Features [N, C, n] and labels in the dtypes of their arrays, with the batch innermost in memory (Fortran order), on
    the host. Windows overlap where `stride` is less than `length`, and are cut out minibatch by minibatch. To hold out
    the end of a series, give an iterator of its own that part. Java has no such iterator.

    Examples
    --------
    >>> iterator = SlidingWindowDataSetIterator(np.arange(7.0), length=3, batch=2, stride=2, horizon=1)
    >>> [(data_set.features.tolist(), data_set.labels.tolist()) for data_set in iterator]
    [([[[0.0, 1.0, 2.0]], [[2.0, 3.0, 4.0]]], [[[1.0, 2.0, 3.0]], [[3.0, 4.0, 5.0]]])]
    >>> SlidingWindowDataSetIterator(np.arange(7.0), 3, horizon=2, labels="last").next().labels.tolist()
    [[4.0], [5.0], [6.0]]
    """

    @checked
    def __init__(
        self,
        series: object,
        length: Count,
        batch: Count = 32,
        *,
        stride: Count = 1,
        horizon: Natural = 1,
        targets: object = None,
        labels: Literal["series", "last"] = "series",
        shuffle: bool = False,
        seed: int = 0,
    ) -> None:
        who = type(self).__name__
        if targets is None and not horizon:
            raise ConfigurationError(f"{who}: horizon must be at least 1 without targets, got 0. Give targets.")
        self._series = _columns(f"{who} series", series)
        self._targets = self._series if targets is None else _columns(f"{who} targets", targets)
        steps = len(self._series)
        if len(self._targets) != steps:
            raise ShapeError(
                f"{who}: expected as many time steps in targets as in series, {steps}, got {len(self._targets)}."
            )
        if steps < length + horizon:
            raise DataError(
                f"{who}: expected a series of at least {length + horizon} time steps, length + horizon, got {steps}."
            )
        self._length, self._stride, self._horizon = length, stride, horizon
        self._last_alone = labels == "last"
        total = (steps - length - horizon) // stride + 1
        super().__init__(total, batch, EpochOrder(total, seed if shuffle else None))

    def _examples(self, start: int, stop: int) -> DataSet:
        begins = self.order.numbers(start, stop) * self._stride
        steps = begins + np.arange(self._length)[:, None]  # [n, N]
        features, wanted = self._cut(self._series, steps), steps + self._horizon
        if self._last_alone:
            return DataSet(features, self._cut(self._targets, wanted[-1:])[:, :, 0])
        return DataSet(features, self._cut(self._targets, wanted))

    @staticmethod
    def _cut(array: np.ndarray, steps: np.ndarray) -> np.ndarray:
        """Return [N, columns, steps] of rows [steps, N]."""
        return np.ascontiguousarray(array[steps].transpose(0, 2, 1)).T

    def _signature(self) -> State:
        return {"examples": self.total, "length": self._length, "stride": self._stride}

    def column_counts(self) -> tuple[int | None, int | None]:
        return second_axis(self._series), second_axis(self._targets)


def _columns(who: str, value: object) -> np.ndarray:
    """Return an array [T, C] on the host; raise ShapeError for other shapes."""
    host: np.ndarray = as_host(as_array(who, value))
    if host.ndim not in (1, 2):
        raise ShapeError(f"{who}: expected [T, C] or [T], got {describe_shape(host.shape)}.")
    return host if host.ndim == 2 else host[:, None]
