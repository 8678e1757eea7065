"""A layer of somebody's own in a file: the lines of Python that make it known."""

from __future__ import annotations

import keyword
import re
from collections.abc import Collection, Mapping

from nd import NdError
from nd.java_names import snake_case

from .json_values import camel_case, own_codec

_BASES: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"gateActivationFn", "nin"}), "LSTM"),
    (frozenset({"lossFn", "nin"}), "OutputLayer"),
    (frozenset({"kernelSize", "nin"}), "ConvolutionLayer"),
    (frozenset({"kernelSize"}), "SubsamplingLayer"),
    (frozenset({"nin"}), "DenseLayer"),
    (frozenset({"activationFn"}), "ActivationLayer"),
    (frozenset(), "DropoutLayer"),
)
"""Fields in a file -> the library's layer that has them; the first whose fields are all there."""
_OF_ALL = {"@class", "type", "regularization", "regularizationBias", "l1", "l2", "l1Bias", "l2Bias"}


def base_of(data: Mapping[str, object]) -> str:
    """Return the name of the library's layer whose fields a layer of somebody's own has."""
    there = {"nin" if key == "nIn" else key for key in data}
    return next(name for fields, name in _BASES if fields <= there)


def lines_for(data: Mapping[str, object], known: Collection[str]) -> str:
    """Return the lines that make a layer known: a class from `base_of`, with its own fields, and its registration.

    Parameters
    ----------
    data : dict
        The layer's JSON.
    known : collection of str
        Keys of the layer that it comes from.
    """
    java, base = str(data["@class"]), base_of(data)
    name = re.sub(r"\W", "", re.split(r"[.$]", java)[-1]) or "Own"
    name = name if name.isidentifier() and not keyword.iskeyword(name) else f"Own{name}"
    own = [snake_case(key) for key, value in data.items() if key not in {*known, *_OF_ALL} and _may_be(key, value)]
    fields = [f"    {field}: object = None" for field in sorted(own)] or ["    pass"]
    return "\n".join((
        "    from dataclasses import dataclass",
        f"    from nn import {', '.join(sorted((base, 'register')))}",
        "    @dataclass(frozen=True, kw_only=True)",
        f"    class {name}({base}):",
        *(f"    {line}" for line in fields),
        f"    register({name}, {java!r})",
    ))  # fmt: skip


def _may_be(key: str, value: object) -> bool:
    """Tell whether a field of a file can be one of a dataclass; all others are kept unread."""
    name = snake_case(key)
    if not name.isidentifier() or keyword.iskeyword(name) or camel_case(name) != key:
        return False
    try:
        own_codec(key).decode(value)
    except NdError:
        return False
    return True
