"""Initial values of Caffe's parameters."""

from __future__ import annotations

import math
from collections.abc import Callable

import nd
from nd import ConfigurationError
from nd.checks import describe_shape, suggestion
from nd.random import Random
from nd.typing import Array

from .schema import Message, new

_DENSE = -1  # the value of `sparse` with which nothing is left out
_KERNEL_AXES = 4  # channels, channels, height, width


def fill_blob(blob: Array, filler: Message | None, rng: Random, who: str) -> None:
    """Write initial values into a blob as a FillerParameter says; without one zeros.

    Parameters
    ----------
    blob : array
        With one element or more; read and written in c order.
    filler : FillerParameter, optional
    rng : Random
        What the values are drawn from: the same on every backend.
    who : str
        For messages.

    Raises
    ------
    ConfigurationError
        The type is unknown, a setting of it is out of its range, or the blob has no elements or not its axes.

    Notes
    -----
    With fan_in = count / shape[0], fan_out = count / shape[1] (count where there is no such axis), and n one of them
    or their mean, as `variance_norm` says:

    =================  ===========================================================================
    constant           value
    uniform            uniform in min..max
    gaussian           normal of mean and std; with `sparse` >= 0 only with probability sparse / shape[0], else 0
    xavier             uniform in -s..s, s = sqrt(3 / n)
    msra               normal of mean 0 and std sqrt(2 / n)
    positive_unitball  uniform in 0..1, divided by the sum of its shape[0] row
    bilinear           (1 - abs(x / f - c)) (1 - abs(y / f - c)), f = ceil(K / 2), c = (K - 1) / (2 f)
    =================  ===========================================================================

    Source: BVLC Caffe, filler.hpp. Differs: the generator is nd's, so that the values equal Caffe's in distribution
    only.
    """
    filler = new("FillerParameter") if filler is None else filler
    check_filler(filler, who)
    if not math.prod(blob.shape):
        raise ConfigurationError(
            f"{who}: a blob that is filled must have elements, got {describe_shape(blob.shape)}. Give it axes >= 1."
        )
    FILLERS[filler.type](blob, filler, rng, who)


def check_filler(filler: Message, who: str) -> None:
    """Raise ConfigurationError where a filler cannot fill any blob: its type is unknown, or `sparse` is not for it."""
    if filler.type not in FILLERS:
        raise ConfigurationError(
            f"{who}: the type of a filler must be one of {', '.join(FILLERS)}, got {filler.type!r}."
            f"{suggestion('type', filler.type, FILLERS)}"
        )
    if filler.sparse != _DENSE and filler.type != "gaussian":
        raise ConfigurationError(
            f"{who}: sparse is for gaussian fillers, got {filler.sparse} for one of type {filler.type!r}. Leave it out."
        )


def _constant(blob: Array, filler: Message, rng: Random, who: str) -> None:
    nd.fill(blob, filler.value)


def _uniform(blob: Array, filler: Message, rng: Random, who: str) -> None:
    if not filler.min <= filler.max:
        raise ConfigurationError(
            f"{who}: min of a uniform filler must be <= max, got {filler.min} and {filler.max}. Exchange them."
        )
    _draw_uniform(blob, rng, filler.min, filler.max)


def _gaussian(blob: Array, filler: Message, rng: Random, who: str) -> None:
    if not filler.std > 0:
        raise ConfigurationError(
            f"{who}: std of a gaussian filler must be > 0, got {filler.std}. Take a constant filler for 0."
        )
    rows = 0 if filler.sparse == _DENSE else _first_axis(blob, who)
    if filler.sparse != _DENSE and not 0 <= filler.sparse <= rows:
        raise ConfigurationError(
            f"{who}: sparse must be 0 to {rows}, the first axis of the blob {describe_shape(blob.shape)}, got "
            f"{filler.sparse}."
        )
    _draw_gaussian(blob, rng, filler.mean, filler.std)
    if filler.sparse != _DENSE:
        kept = rng.bernoulli(math.prod(blob.shape), nd.dtype_name(blob), filler.sparse / rows)
        nd.muli(blob, nd.reshape(kept, blob.shape))


def _xavier(blob: Array, filler: Message, rng: Random, who: str) -> None:
    bound = math.sqrt(3.0 / _fan(blob, filler, who))
    _draw_uniform(blob, rng, -bound, bound)


def _msra(blob: Array, filler: Message, rng: Random, who: str) -> None:
    _draw_gaussian(blob, rng, 0.0, math.sqrt(2.0 / _fan(blob, filler, who)))


def _positive_unitball(blob: Array, filler: Message, rng: Random, who: str) -> None:
    rows = _first_axis(blob, who)
    u = nd.reshape(rng.uniform(math.prod(blob.shape), nd.dtype_name(blob)), (rows, -1))
    nd.assign(blob, nd.reshape(nd.divi(u, nd.reshape(nd.sum(u, 1), (rows, 1))), blob.shape))


def _bilinear(blob: Array, filler: Message, rng: Random, who: str) -> None:
    shape = tuple(blob.shape)
    if len(shape) != _KERNEL_AXES or shape[2] != shape[3]:
        raise ConfigurationError(
            f"{who}: a bilinear filler is for blobs [N, C, K, K], got {describe_shape(shape)}. Make the kernel square."
        )
    half = math.ceil(shape[3] / 2)
    centre = (shape[3] - 1) / (2 * half)
    tent = [1 - abs(x / half - centre) for x in range(shape[3])]
    nd.assign(blob, nd.create([[y * x for x in tent] for y in tent], nd.dtype_name(blob)))


FILLERS: dict[str, Callable[[Array, Message, Random, str], None]] = {
    "bilinear": _bilinear,
    "constant": _constant,
    "gaussian": _gaussian,
    "msra": _msra,
    "positive_unitball": _positive_unitball,
    "uniform": _uniform,
    "xavier": _xavier,
}
"""Type -> what fills a blob, sorted."""


def _draw_uniform(blob: Array, rng: Random, low: float, high: float) -> None:
    numbers = rng.uniform(math.prod(blob.shape), nd.dtype_name(blob), low, high)
    nd.assign(blob, nd.reshape(numbers, blob.shape))


def _draw_gaussian(blob: Array, rng: Random, mean: float, std: float) -> None:
    numbers = rng.gaussian(math.prod(blob.shape), nd.dtype_name(blob), mean, std)
    nd.assign(blob, nd.reshape(numbers, blob.shape))


def _fan(blob: Array, filler: Message, who: str) -> float:
    """Return the number of connections that `variance_norm` selects."""
    count = math.prod(blob.shape)
    fan_in = count / _first_axis(blob, who)
    fan_out = count / blob.shape[1] if len(blob.shape) > 1 else count
    return {filler.FAN_IN: fan_in, filler.FAN_OUT: fan_out}.get(filler.variance_norm, (fan_in + fan_out) / 2)


def _first_axis(blob: Array, who: str) -> int:
    if not blob.shape:
        raise ConfigurationError(f"{who}: a filler that counts rows needs a blob with axes, got []. Give it a shape.")
    return int(blob.shape[0])
