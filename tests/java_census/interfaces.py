"""The public interfaces of Deeplearning4j's classes, kept in ``interfaces.txt.gz``: see tests/java/README.md."""

from __future__ import annotations

import gzip
from functools import cache
from pathlib import Path
from typing import NamedTuple

KEPT = Path(__file__).with_name("interfaces.txt.gz")


class Interface(NamedTuple):
    """What a public class declares itself."""

    bases: tuple[str, ...]
    constants: frozenset[str]
    methods: frozenset[str]

    @property
    def names(self) -> frozenset[str]:
        """Constants and methods."""
        return self.constants | self.methods


def parsed(text: str) -> dict[str, Interface]:
    """Return class -> its interface, from lines ``class: >base *CONSTANT *static[1] method[0,2]``."""
    classes = {}
    for line in text.splitlines():
        name, _, words = line.partition(": ")
        given = words.split()
        bases = tuple(word[1:] for word in given if word.startswith(">"))
        rest = [word.removeprefix("*") for word in given if not word.startswith(">")]
        constants = frozenset(word for word in rest if "[" not in word)
        methods = frozenset(word.partition("[")[0] for word in rest if "[" in word)
        classes[name] = Interface(bases, constants, methods)
    return classes


@cache
def kept() -> dict[str, Interface]:
    """Return the interfaces of release 1.0.0-M2.1."""
    return parsed(gzip.decompress(KEPT.read_bytes()).decode())


def keep(text: str) -> None:
    """Keep interfaces."""
    KEPT.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


@cache
def lineage(java: str) -> tuple[str, ...]:
    """Return a class and all that it extends, as far as they are kept."""
    names = [java]
    for name in names:
        names += [base for base in (kept()[name].bases if name in kept() else ()) if base not in names]
    return tuple(name for name in names if name in kept())


@cache
def all_names(java: str) -> frozenset[str]:
    """Return the constants and methods of a class, inherited ones too."""
    return frozenset().union(*(kept()[name].names for name in lineage(java)))
