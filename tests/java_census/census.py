"""What of Deeplearning4j's interface is here, what is declined, and what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from typing import NamedTuple

from .declined_classes import DECLINED_CLASSES
from .declined_methods import DECLINED_METHODS
from .interfaces import all_names, kept
from .twins import has, twin

PACKAGES = {
    "org.deeplearning4j.earlystopping": "early stopping",
    "org.deeplearning4j.nn.conf": "configurations: layers, vertices, Builders",
    "org.deeplearning4j.nn.graph": "graphs at work",
    "org.deeplearning4j.nn.layers": "layers at work",
    "org.deeplearning4j.nn.multilayer": "MultiLayerNetwork",
    "org.deeplearning4j.nn.transferlearning": "transfer learning",
    "org.deeplearning4j.nn": "the rest of `nn`",
    "org.nd4j.evaluation": "evaluations",
    "org.nd4j.linalg.activations": "activations",
    "org.nd4j.linalg.dataset": "data sets, iterators, normalizers",
    "org.nd4j.linalg.learning": "updaters, penalties",
    "org.nd4j.linalg.lossfunctions": "losses",
    "org.nd4j.linalg.schedule": "schedules",
}
"""Package -> what is in it, for the page. What lies in one and in one below it belongs to that below."""
OF_ALL = {"clone", "equals", "hashCode", "toString"}
"""Java's methods of every object: copy.copy, ==, hash and str are Python's."""


class Method(NamedTuple):
    """A method or constant of a public class, its own or inherited."""

    owner: str
    name: str

    def __str__(self) -> str:
        return f"{self.owner.removeprefix('org.')}.{self.name}"


def package_of(java: str) -> str | None:
    """Return the counted package of a class, None for one that is not counted."""
    found = [package for package in PACKAGES if java.startswith(f"{package}.")]
    return max(found, key=len) if found else None


@cache
def counted() -> tuple[str, ...]:
    """Return the classes that are counted."""
    return tuple(java for java in kept() if package_of(java))


@cache
def absent() -> tuple[Method, ...]:
    """Return the methods that our twins of Java's classes have not."""
    return tuple(
        Method(java, name)
        for java in counted() if (ours := twin(java)) is not None
        for name in sorted(all_names(java) - OF_ALL) if not has(ours, name)
    )  # fmt: skip


@cache
def declined_classes() -> Mapping[str, str]:
    """Return class -> the pattern by which it is declined, of those that have no twin."""
    return {java: pattern for java in counted() if twin(java) is None for pattern in _matching(java, DECLINED_CLASSES)}


@cache
def declined_methods() -> Mapping[Method, str]:
    """Return method -> the pattern by which it is declined, of those that a twin has not."""
    plain = {pattern for pattern in DECLINED_METHODS if pattern.startswith("*.")}
    others = [pattern for pattern in DECLINED_METHODS if pattern not in plain]
    found = {}
    for method in absent():
        everywhere = f"*.{method.name}"
        matching = [everywhere] if everywhere in plain else [one for one in others if fnmatchcase(str(method), one)]
        if matching:
            found[method] = matching[0]
    return found


def _matching(java: str, patterns: Mapping[str, str]) -> Iterator[str]:
    return (pattern for pattern in patterns if fnmatchcase(java.removeprefix("org."), pattern))


def missing() -> list[str]:
    """Return the classes and methods that are neither here nor declined."""
    classes = [java for java in counted() if twin(java) is None and java not in declined_classes()]
    return classes + [str(method) for method in absent() if method not in declined_methods()]


class Counts(NamedTuple):
    """Methods and constants of classes, inherited ones too."""

    present: int
    declined: int
    missing: int


def counts() -> dict[str, Counts]:
    """Return package -> how many methods of its classes are here, declined, missing."""
    present: Counter[str] = Counter()
    declined: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    for java in counted():
        package, size = str(package_of(java)), len(all_names(java) - OF_ALL)
        if twin(java) is None:
            (declined if java in declined_classes() else lost)[package] += size
        else:
            present[package] += size
    for method in absent():
        package = str(package_of(method.owner))
        present[package] -= 1
        (declined if method in declined_methods() else lost)[package] += 1
    return {package: Counts(present[package], declined[package], lost[package]) for package in sorted(PACKAGES)}


def table() -> str:
    """Return the counts as docs/java.md has them."""
    rows = ["| package | | present | declined | missing |", "|---|---|---:|---:|---:|"]
    for package, (present, declined, lost) in counts().items():
        short = package.removeprefix("org.")
        rows.append(f"| `{short}` | {PACKAGES[package]} | {present:,} | {declined:,} | {lost:,} |")
    total = Counts(*map(sum, zip(*counts().values(), strict=True)))
    rows.append(f"| all | | {total.present:,} | {total.declined:,} | {total.missing:,} |")
    return "\n".join(rows)
