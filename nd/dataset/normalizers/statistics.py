"""Statistics of columns, of data that pass by in pieces. Host arithmetic in float64."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np

from backends.errors import DataError, ShapeError, check_mask, describe_shape
from backends.memory import check_memory
from nd.dataset.checks import aligned
from nd.dataset.normalizers.arrays import as_numbers
from nd.serde import as_host

_PIECE = 1 << 17  # numbers that are looked at together


class ColumnStatistics(ABC):
    """Statistics of the columns, the second axis, of all arrays that were added.

    Attributes
    ----------
    count : numpy.ndarray, shape [columns], or None
        Number of numbers seen, without those that were masked; None before the first array.
    """

    def __init__(self, who: str) -> None:
        self.who = who
        self.count: Any = None

    def add(self, x: Any, mask: Any = None) -> None:
        """Take an array [N, columns, ...] into account, where a mask is not 0: [N, T] for series, [N], or of its rank.

        Raises
        ------
        ShapeError
            The array has another number of columns than the first one, or the mask does not fit.
        DataError
            A number that counts is NaN or infinite, or one of the mask is, or is negative.
        """
        host = as_host(as_numbers(self.who, x))
        counts = None
        if mask is not None:
            check_mask(self.who, as_host(mask))
            counts = aligned(self.who, as_host(mask), host.shape) != 0
        if 0 in host.shape[1:]:
            raise ShapeError(f"{self.who}: expected columns of numbers, got {describe_shape(host.shape)}. Give some.")
        if self.count is None:
            columns = host.shape[1]
            check_memory(self.who, 24 * columns, f"statistics of {columns:,} columns", "Give fewer columns.")
            self.count = np.zeros(host.shape[1], np.int64)
            self._start(host.shape[1])
        if host.shape[1] != len(self.count):
            raise ShapeError(
                f"{self.who}: expected {describe_shape(['N', len(self.count), *host.shape[2:]])}, as in the data "
                f"before, got {describe_shape(host.shape)}."
            )
        for values, counting in _pieces(host, counts):
            wrong = ~np.isfinite(values) & counting
            if wrong.any():
                column, place = np.argwhere(wrong)[0]
                raise DataError(
                    f"{self.who}: expected finite numbers, got {values[column, place]} in column {column}. Remove such "
                    "examples, or mask them."
                )
            number = np.broadcast_to(counting, values.shape).sum(axis=1)
            self._merge(values, counting, number)
            self.count += number

    def check_complete(self) -> None:
        """Raise DataError unless every column had a number that counts."""
        if self.count is None:
            raise DataError(f"{self.who}: expected examples, got none.")
        if not self.count.all():
            column = int(np.argmin(self.count))
            raise DataError(f"{self.who}: expected numbers in every column, got only masked ones in column {column}.")

    @abstractmethod
    def _start(self, columns: int) -> None: ...

    @abstractmethod
    def _merge(self, values: np.ndarray, counting: np.ndarray, number: np.ndarray) -> None:
        """Take values [columns, n] into account, those where `counting` (which broadcasts) is True."""


class Moments(ColumnStatistics):
    """Mean and population variance.

    Attributes
    ----------
    near : numpy.ndarray, shape [columns]
        A number that the column had, in its first piece.
    off : numpy.ndarray, shape [columns]
        mean - near
    squares : numpy.ndarray, shape [columns]
        Σ (x - mean)²

    Notes
    -----
    Pieces a and b are merged as Chan, Golub, LeVeque 1979 do, with n = n_a + n_b and δ = off_b - off_a:
    ``off = off_a + δ n_b / n``, ``squares = squares_a + squares_b + δ² n_a n_b / n``. All this is of x - near, so that
    neither large offsets nor constant columns cost digits.
    """

    def mean(self) -> np.ndarray:
        """Return the mean [columns]; raise DataError unless every column had a number."""
        self.check_complete()
        return self.near + self.off

    def variance(self) -> np.ndarray:
        """Return the population variance [columns]; raise DataError unless every column had a number."""
        self.check_complete()
        return self.squares / self.count

    def _start(self, columns: int) -> None:
        self.near, self.off, self.squares = np.zeros(columns), np.zeros(columns), np.zeros(columns)

    def _merge(self, values: np.ndarray, counting: np.ndarray, number: np.ndarray) -> None:
        before, total = self.count, np.maximum(self.count + number, 1)
        first = (before == 0) & (number > 0)
        self.near[first] = values.min(axis=1, initial=np.inf, where=counting)[first]
        differences = np.where(counting, values - self.near[:, None], 0)
        off = differences.sum(axis=1) / np.maximum(number, 1)
        squares = (np.where(counting, differences - off[:, None], 0) ** 2).sum(axis=1)
        delta = off - self.off
        self.off += delta * number / total
        self.squares += squares + delta**2 * before * number / total


class Bounds(ColumnStatistics):
    """Smallest and largest number: `lower` and `upper` [columns]."""

    def _start(self, columns: int) -> None:
        self.lower, self.upper = np.full(columns, np.inf), np.full(columns, -np.inf)

    def _merge(self, values: np.ndarray, counting: np.ndarray, number: np.ndarray) -> None:
        self.lower = np.minimum(self.lower, values.min(axis=1, initial=np.inf, where=counting))
        self.upper = np.maximum(self.upper, values.max(axis=1, initial=-np.inf, where=counting))


def _pieces(x: np.ndarray, counts: np.ndarray | None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Cut [N, columns, ...] into arrays [columns, n] of float64, with those of its numbers that count."""
    columns = x.shape[1]
    step = max(1, _PIECE // max(1, x[:1].size))
    for start in range(0, len(x), step):
        part = x[start : start + step]
        values = np.moveaxis(part, 1, 0).reshape(columns, -1).astype(np.float64)
        if counts is None:
            yield values, np.ones((1, 1), np.bool_)
        else:
            full = np.broadcast_to(counts[start : start + step], part.shape)
            yield values, np.moveaxis(full, 1, 0).reshape(columns, -1)
