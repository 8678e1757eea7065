"""What the arguments of a net mean: pycaffe's ways to call it, and what a net is read from."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import nd

from .files import read_net
from .filter import PHASES
from .schema import Message, check_kind
from .text import parse_text
from .upgrade import upgrade_net


def arguments_of(positional: Sequence[Any], named: dict[str, Any]) -> dict[str, Any]:
    """Return weights, phase, level and stages by name; behind the net they come as in pycaffe, or weights first.

    Parameters
    ----------
    positional : sequence
        Phase, level, stages and weights; or weights, phase, level and stages.
    named : dict
        All four, None where they are not given.

    Raises
    ------
    ConfigurationError
        There are more, or one is there twice.
    """
    order = ("phase", "level", "stages", "weights")
    if positional and not _is_phase(positional[0]):
        order = ("weights", "phase", "level", "stages")
    if len(positional) > len(order):
        raise nd.ConfigurationError(
            f"Net: behind the net there must be at most {len(order)} arguments, {', '.join(order)}, got "
            f"{len(positional)}. Write the others with their names."
        )
    given = {name: value for name, value in zip(order, positional, strict=False) if value is not None}
    for name in given:
        if named[name] is not None:
            raise nd.ConfigurationError(
                f"Net: {name} must be given once, got it by position and by name. Leave one of them out."
            )
    return named | given


def _is_phase(given: object) -> bool:
    return given in PHASES if isinstance(given, str) else type(given) is int and given in PHASES.values()


def message_of(source: Any) -> Message:
    """Return the net that a path, a text or a message is, of the newest schema."""
    if isinstance(source, str) and "{" in source:
        return upgrade_net(parse_text(source, "NetParameter"))
    if isinstance(source, (str, os.PathLike)) or hasattr(source, "read"):
        return read_net(source)
    check_kind("Net", source, "NetParameter")
    return upgrade_net(source)
