"""Arrays as they were at one time, on the host: their numbers within a budget, and what is known of all of them."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy

from backends.errors import DataError
from nd.typing import HostArray

BARS = 32
"""Of a histogram."""
SAMPLE = 4096
"""Elements of an array beyond the budget that stay."""


class Content(NamedTuple):
    """What is known of the numbers of an array, however little of them is kept."""

    digest: str
    """Equal for equal bytes in the order of the axes."""
    low: float
    high: float
    mean: float
    not_finite: int
    histogram: tuple[int, ...]
    """Finite elements in `BARS` equal stretches from low to high."""
    sample: HostArray
    """All, or the first along every axis: see `sample_of`."""
    values: HostArray | None
    """None beyond the budget."""


class SeenArray:
    """An array as it was at one time.

    Attributes
    ----------
    name : str
        The argument that it was, or "result".
    shape : tuple of int
    dtype : str
    content : Content
    """

    def __init__(self, name: str, shape: tuple[int, ...], dtype: str, content: Content) -> None:
        self.name, self.shape, self.dtype, self.content = name, shape, dtype, content

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return math.prod(self.shape) * numpy.dtype(self.dtype).itemsize

    @property
    def is_kept(self) -> bool:
        """Whether all its numbers are."""
        return self.content.values is not None

    @property
    def values(self) -> HostArray:
        """All its numbers, of the array's shape; read-only, as other rows may have the same array.

        Raises
        ------
        DataError
            They are not kept.
        """
        if self.content.values is None:
            raise DataError(
                f"{self.name}: {self.nbytes:,} bytes were beyond the budget of the trace, got a sample only. Give a "
                "larger budget, in bytes, or look at .content."
            )
        return self.content.values

    def __repr__(self) -> str:
        seen, shape = self.content, list(self.shape)
        if self.content.values is not None and self.nbytes <= 256:
            return f"{self.name} {shape} {self.dtype}: {self.content.values.tolist()}"
        kept = "" if self.is_kept else ", not kept"
        faults = f", {seen.not_finite:,} not finite" if seen.not_finite else ""
        return (
            f"{self.name} {shape} {self.dtype}: {seen.low:.6g} to {seen.high:.6g}, mean {seen.mean:.6g}{faults}{kept}"
        )


class ArrayKeeper:
    """Makes `SeenArray`s; what is the same in several of them is kept once.

    Parameters
    ----------
    budget : int
        Bytes of numbers that are kept. Of arrays beyond it a sample stays.
    """

    def __init__(self, budget: int) -> None:
        self.left = budget
        self._contents: dict[tuple[tuple[int, ...], str, str], Content] = {}

    def seen(self, name: str, array: Any, fetch: Callable[[Any], Any]) -> SeenArray:
        """Return what there is to see of an array, which `fetch` brings to the host."""
        host = numpy.ascontiguousarray(numpy.asarray(fetch(array))).reshape(array.shape)
        return self.of_host(name, host)

    def of_host(self, name: str, host: HostArray) -> SeenArray:
        """Return what there is to see of an array of the host's, of which a copy is kept."""
        digest = hashlib.blake2b(host.tobytes(), digest_size=8).hexdigest()
        key = host.shape, str(host.dtype), digest
        content = self._contents.get(key)
        if content is None:
            keeps = host.nbytes <= self.left
            self.left -= host.nbytes if keeps else 0
            content = self._contents[key] = content_of(read_only(host.copy()) if keeps else host, digest, keeps)
        return SeenArray(name, host.shape, str(host.dtype), content)


def read_only(host: HostArray) -> HostArray:
    """Return an array that nobody writes into any more: several `SeenArray`s have it."""
    host.setflags(write=False)
    return host


def content_of(host: HostArray, digest: str, keeps: bool) -> Content:
    """Return what is known of an array; with `keeps` itself is in it."""
    numbers = host.astype(numpy.float64, copy=False).reshape(-1)
    finite = numbers[numpy.isfinite(numbers)]
    sample = host if keeps and host.size <= SAMPLE else sample_of(host, SAMPLE).copy()
    values = host if keeps else None
    if not finite.size:
        return Content(digest, 0.0, 0.0, 0.0, numbers.size, (0,) * BARS, sample, values)
    low, high = float(finite.min()), float(finite.max())
    width = high - low
    if not math.isfinite(width) or width <= 0.0:
        bars = numpy.zeros(BARS, int)
        bars[0] = finite.size
    else:
        places = numpy.minimum(((finite - low) * (BARS / width)).astype(int), BARS - 1)
        bars = numpy.bincount(places, minlength=BARS)[:BARS]
    mean = float(finite.mean()) if math.isfinite(width) else math.nan
    histogram = tuple(map(int, bars))
    return Content(digest, low, high, mean, numbers.size - finite.size, histogram, sample, values)


def sample_of(host: HostArray, most: int) -> HostArray:
    """Return the first elements along every axis, `most` in all at most: whole images while they fit, then fewer."""
    shape = list(host.shape)
    if len(shape) == 2 and host.size > most:  # of a matrix a square
        shape[1] = min(shape[1], max(math.isqrt(most), most // max(shape[0], 1)))
    for axis in range(len(shape)):
        if math.prod(shape) <= most:
            break
        others = math.prod(shape) // max(shape[axis], 1)
        shape[axis] = max(1, min(shape[axis], most // max(others, 1)))
    return host[tuple(slice(0, stop) for stop in shape)]


def scaled(host: HostArray) -> tuple[bytes, float, float]:
    """Return numbers as little-endian 16-bit integers between the lowest and the highest, 65535 for what is not finite.

    A number is ``low + (high - low) * integer / 65534``.
    """
    numbers = host.astype(numpy.float64).reshape(-1)
    is_finite = numpy.isfinite(numbers)
    finite = numbers[is_finite]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    parts = numpy.full(numbers.shape, 65535, "<u2")
    width = high - low
    if width > 0.0 and math.isfinite(width):
        parts[is_finite] = numpy.rint((finite - low) * (65534.0 / width)).astype("<u2")
    else:
        parts[is_finite] = 0
    return parts.tobytes(), low, high


class Parting(NamedTuple):
    """The place where two arrays differ."""

    place: tuple[int, ...]
    """Index of the first element that differs."""
    first: float
    second: float
    largest: float
    """Largest difference anywhere."""
    elements: int
    """Elements that differ by more than the tolerance."""


def parting(first: HostArray, second: HostArray, tolerance: float) -> Parting | None:
    """Return the first place where two arrays of a shape differ by more than the tolerance times the largest number.

    What is not finite has to be the same. None where nothing differs.
    """
    one, other = first.astype(numpy.float64).reshape(-1), second.astype(numpy.float64).reshape(-1)
    both = numpy.isfinite(one) & numpy.isfinite(other)
    same = (one == other) | (numpy.isnan(one) & numpy.isnan(other))
    with numpy.errstate(all="ignore"):
        apart = numpy.where(both, numpy.abs(one - other), numpy.inf)
    largest_number = max((float(numpy.abs(x[both]).max()) for x in (one, other) if both.any()), default=0.0)
    differs = ~same & (apart > tolerance * largest_number)
    if not differs.any():
        return None
    place = int(numpy.argmax(differs))
    index = tuple(int(number) for number in numpy.unravel_index(place, first.shape))
    largest = float(apart[~same].max())
    return Parting(index, float(one[place]), float(other[place]), largest, int(differs.sum()))


def joined_rows(parts: list[HostArray]) -> HostArray:
    """Return parts of a minibatch as one array."""
    return parts[0] if len(parts) == 1 else numpy.concatenate(parts)


def stored(host: HostArray) -> Any:
    """Return an array as files of arrays hold it: no bools."""
    return host.astype(numpy.uint8) if host.dtype == numpy.bool_ else host


def array_of_text(text: str) -> HostArray:
    """Return a text as an array of its bytes, for files of arrays, whose metadata are bounded."""
    return numpy.frombuffer(text.encode(), numpy.uint8)


def text_of_array(host: HostArray) -> str:
    """Return the text of `array_of_text`."""
    return host.tobytes().decode()
