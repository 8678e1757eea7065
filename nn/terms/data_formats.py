"""Order of the axes of images, series and volumes, as data come in and go out: channels first or channels last.

Layers compute with the channels first, whatever their network's format. A format says how features, labels, masks and
activations look from outside, in which order an example becomes a row, and how the few parameters lie whose order
follows it in Java.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import nd

if TYPE_CHECKING:
    pass

IMAGES = ("NCHW", "NHWC")
SERIES = ("NCW", "NWC")
VOLUMES = ("NCDHW", "NDHWC")

ROWS = ("rows", "rows of NWC")
"""Rows have one order of axes; behind series it is remembered where those had the channels, as in Java."""
_KINDS = {name: formats for formats in (IMAGES, SERIES, VOLUMES, ROWS) for name in formats}


def channels_last(data_format: str | None) -> bool:
    """Tell whether a format, None where it is not known, has the channels behind the places."""
    return data_format in (IMAGES[1], SERIES[1], VOLUMES[1])


def same_kind(data_format: str | None, other: str | None) -> bool:
    """Tell whether two formats are both of images, of series, of volumes or of rows."""
    return data_format is not None and other in _KINDS.get(data_format, ())


def rows_of(data_format: str | None) -> str:
    """Return the format of the rows that activations of a format become."""
    return ROWS[data_format == SERIES[1]]


def check_format(who: str, data_format: str | None, formats: tuple[str, ...]) -> str | None:
    """Return a format by its name in capitals, None for None; raise ConfigurationError if it is none of `formats`."""
    if data_format is None:
        return None
    name = str(getattr(data_format, "value", data_format)).upper()
    if name not in formats:
        known, words = " or ".join(formats), ("CHANNELS_FIRST", "CHANNELS_LAST")
        remedy = f"Say {formats[words.index(name)]!r}." if name in words else "Leave it out."
        raise nd.ConfigurationError(f"{who}: data_format must be {known}, got {data_format!r}. {remedy}")
    return name


def agreed_format(label: str, own: str | None, formats: tuple[str, ...], incoming: str | None) -> str | None:
    """Return the format in which a layer of these formats takes its input.

    Parameters
    ----------
    label : str
        Of the layer, for messages.
    own : str, optional
        The format that it says.
    formats : tuple of str
        Those that it can have, the default first; none where it takes any.
    incoming : str, optional
        Of the activations that come in, None where nothing says it.

    Raises
    ------
    ConfigurationError
        The layer says another one than what comes in has.
    """
    if not formats or not (incoming is None or same_kind(incoming, formats[0])):
        return incoming  # rows, say: the format of images is of no account there
    chosen = own or incoming or formats[0]
    if chosen not in formats or incoming not in (None, chosen):
        remedy = "Leave data_format out there" if len(formats) > 1 else "Java has no other: put the channels first"
        only = chosen if chosen in formats else formats[0]
        raise nd.ConfigurationError(
            f"{label}: its input must be {only}, as the layer takes it, got {incoming}. {remedy}, or give all layers "
            "and the input type one format."
        )
    return chosen


def arranged(sizes: tuple[object, ...], data_format: str | None) -> tuple[Any, ...]:
    """Return the shape ``(C, ...)`` of an example as it is in that format."""
    return (*sizes[1:], sizes[0]) if channels_last(data_format) and len(sizes) > 1 else sizes


def computed(sizes: tuple[Any, ...], data_format: str | None) -> tuple[Any, ...]:
    """Return the shape of an example of that format with the channels first."""
    return (sizes[-1], *sizes[:-1]) if channels_last(data_format) and len(sizes) > 1 else sizes


def axes_inward(data_format: str | None, ndim: int) -> tuple[int, ...]:
    """Return the axes of arrays of that format in the order with the channels first; of other ranks as they are."""
    turned = channels_last(data_format) and ndim == len(data_format or "")
    return (0, ndim - 1, *range(1, ndim - 1)) if turned else tuple(range(ndim))


def axes_outward(data_format: str | None, ndim: int) -> tuple[int, ...]:
    """Return the axes of arrays with the channels first in the order of that format; of other ranks as they are."""
    turned = channels_last(data_format) and ndim == len(data_format or "")
    return (0, *range(2, ndim), 1) if turned else tuple(range(ndim))


def inward(x: Any, data_format: str | None) -> Any:
    """View an array ``[N, ...]`` of that format, the host's too, with the channels first; others come back."""
    if not channels_last(data_format) or x is None or x.ndim != len(data_format or ""):
        return x
    return _permuted(x, axes_inward(data_format, x.ndim))


def outward(x: Any, data_format: str | None) -> Any:
    """View an array ``[N, C, ...]``, the host's too, in that format; one of another rank comes back."""
    if not channels_last(data_format) or x is None or x.ndim != len(data_format or ""):
        return x
    return _permuted(x, axes_outward(data_format, x.ndim))


def _permuted(x: Any, axes: tuple[int, ...]) -> object:
    """View an array of the backend, or of the host, with its axes in another order."""
    return nd.permute(x, axes) if nd.is_array(x) else x.transpose(axes)


def format_of_axes(ndim: int, *likely: str | None) -> str | None:
    """Return the first of the formats that is one of arrays with so many axes; None where none is."""
    formats = {3: SERIES, 4: IMAGES, 5: VOLUMES}.get(ndim, ())
    return next((name for name in likely if name in formats), None)


Sizes = Sequence[int | None]
"""Of an example, None where any is right."""


def fits(sizes: Sequence[int], expected: Sizes) -> bool:
    """Tell whether the sizes of an example are the expected ones, of which None may be any."""
    return len(sizes) == len(expected) and all(b in (None, a) for a, b in zip(sizes, expected, strict=True))
