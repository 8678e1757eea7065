"""Remedies for arrays whose axes are in another order than the network's, or that lack one."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .data_formats import Sizes, fits

_TURNS = {
    3: ((0, 2, 1),),
    4: ((0, 3, 1, 2), (0, 2, 3, 1), (0, 1, 3, 2)),
    5: ((0, 4, 1, 2, 3), (0, 2, 3, 4, 1)),
}
"""Number of axes -> orders to try: channels that come last go to the front, and back."""


def turned(shape: Sequence[int], expected: Sizes) -> str:
    """Return the call that puts the axes of an array of that shape in order: ``.transpose(0, 2, 1)``; else nothing."""
    for axes in _TURNS.get(len(shape), ()):
        if fits([shape[axis] for axis in axes[1:]], expected):
            return f".transpose{axes}"
    return ""


def remedy(name: str, shape: Sequence[int], expected: Sizes) -> str:
    """Return a sentence that says how to make an array fit; nothing where its numbers are others.

    Parameters
    ----------
    name : str
        Of the array, as a user may have called it: "x".
    shape : sequence of int
        Of the array, ``N`` before the sizes of an example.
    expected : sequence of (int or None)
        The sizes of an example.
    """
    call = turned(shape, expected)
    if call:
        return f"Put its axes in order, {name}{call}."
    if fits(shape, expected):
        return f"One example alone is {name}[None]."
    known = [size for size in expected if size is not None]
    example = [size for size in shape[1:] if size != 1]
    alike = example == [size for size in known if size != 1] or len(known) == 1 or len(example) == 1
    if len(known) == len(expected) and alike and math.prod(shape[1:]) == math.prod(known) != 0 and len(shape) > 1:
        return f"Reshape it, {name}.reshape({', '.join(map(str, (-1, *known)))})."
    return ""


def remedy_of_rows(shape: tuple[int, ...], n_in: int) -> str:
    """Return what to do where a layer of rows gets something else."""
    if len(shape) == 2:
        return f"Give {n_in} columns, or a layer with n_in={shape[1]}."
    if len(shape) == 3:
        return (
            "Put LastTimeStep(...) around the recurrent layer below for the last of each series, or set the input "
            f"type, InputType.recurrent({shape[1]})."
        )
    return "Reshape it, or set the input type that describes it, such as InputType.convolutional(h, w, c)."
