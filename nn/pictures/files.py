"""Pictures of networks in files."""

from __future__ import annotations

import os
import pathlib
from typing import TYPE_CHECKING

import nd
from nd.files.writing import FileKind, Target, replacing

from .diagram import diagram_of
from .dot import dot_of
from .svg import svg_of

if TYPE_CHECKING:
    from ..conf.nodes import NetworkConfiguration

WRITERS = {"dot": dot_of, "gv": dot_of, "svg": svg_of}
"""Ending of a file's name -> its text, of a Diagram."""


def write_picture(conf: NetworkConfiguration, target: Target, kind: str | None = None) -> None:
    """Write the picture of a network; see `Network.picture`."""
    if kind is None and isinstance(target, (str, os.PathLike)):
        kind = pathlib.Path(target).suffix.lower().removeprefix(".")
    writer = WRITERS[nd.checks.check_choice("picture", "kind of file", "svg" if kind is None else kind, WRITERS)]
    text = writer(diagram_of(conf))
    endings = sorted(f".{name}" for name, its_writer in WRITERS.items() if its_writer is writer)
    with replacing("picture", target, FileKind("a picture of that kind", tuple(endings))) as file:
        file.write(text.encode())
