"""Files to read, by the names of DataVec: splits, filters of paths, and labels that paths tell."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Protocol

from nd import ConfigurationError, DataError
from nd.arguments import Path
from nd.classes import ExplainedType
from nd.dataset.images.files import files_under
from nd.dataset.java_random import JavaRandom
from nd.dataset.order import EpochOrder, FurtherOrder
from nd.files.reading import checked_path


class PathLabelGenerator(Protocol):
    """Interface of what tells the label of a path. Source: DataVec ``PathLabelGenerator``."""

    def getLabelForPath(self, path: str | os.PathLike[str]) -> str:
        """Return the label."""


class ParentPathLabelGenerator(metaclass=ExplainedType):
    """The label is the name of the folder that a file lies in. Source: DataVec ``ParentPathLabelGenerator``."""

    def getLabelForPath(self, path: Path) -> str:
        """Return the label."""
        return os.path.basename(os.path.dirname(os.fspath(path)))

    def inferLabelClasses(self) -> bool:
        """Return True: the labels are names of classes."""
        return True


class PatternPathLabelGenerator(metaclass=ExplainedType):
    """The label is a part of the file's name, without its ending: that at a position after it is split by a pattern.

    Parameters
    ----------
    pattern : str
        A regular expression.
    position : int

    Notes
    -----
    Source: DataVec ``PatternPathLabelGenerator``. Differs: the pattern is one of Python's.
    """

    def __init__(self, pattern: str, position: int = 0) -> None:
        self.pattern, self.position = pattern, position

    def getLabelForPath(self, path: Path) -> str:
        """Return the label; raise DataError where the name has not so many parts."""
        name = os.path.splitext(os.path.basename(os.fspath(path)))[0]
        parts = re.split(self.pattern, name)
        while len(parts) > 1 and not parts[-1]:  # Java's split leaves out the empty ones at the end
            parts.pop()
        if not 0 <= self.position < len(parts):
            raise DataError(
                f"PatternPathLabelGenerator: position must be below {len(parts)}, the parts of '{name}' by "
                f"{self.pattern!r}, got {self.position}."
            )
        return parts[self.position]

    inferLabelClasses = ParentPathLabelGenerator.inferLabelClasses


class PathFilter(Protocol):
    """Interface of what chooses and orders paths. Source: DataVec ``PathFilter``."""

    def filter(self, paths: Sequence[str]) -> list[str]:
        """Return some of the paths."""


class RandomPathFilter(metaclass=ExplainedType):
    """Shuffles paths: ``RandomPathFilter(random, *extensions)``, or ``(random, extensions, max_paths)``.

    After the shuffle the first `max_paths` with one of the extensions are taken, all where it is 0. Source: DataVec
    ``RandomPathFilter``.
    """

    def __init__(self, random: JavaRandom, *extensions: Any) -> None:
        names = list(extensions)
        self.max_paths = names.pop() if names and isinstance(names[-1], int) else 0
        first = names[0] if names else None
        self.extensions = tuple(first) if isinstance(first, (list, tuple)) else tuple(filter(None, names))
        self.random = random

    def filter(self, paths: Sequence[str]) -> list[str]:
        """Return some of the paths, shuffled."""
        endings = tuple("." + extension for extension in self.extensions)
        shuffled = list(paths)
        self.random.shuffle(shuffled)
        kept = [path for path in shuffled if not endings or path.endswith(endings)]
        return kept[: self.max_paths] if self.max_paths > 0 else kept


class BalancedPathFilter(RandomPathFilter):
    """Shuffles paths and takes as many of every label, by turns.

    ``BalancedPathFilter(random[, extensions], label_generator, ...)`` with nothing more, ``max_paths_per_label``,
    ``max_labels, max_paths_per_label``, or ``max_paths, max_labels, min_paths_per_label, max_paths_per_label,
    *labels``; without extensions three numbers are ``max_paths, max_labels, max_paths_per_label``. 0 is no bound.

    Notes
    -----
    Source: DataVec ``BalancedPathFilter``.
    """

    def __init__(self, random: JavaRandom, *arguments: Any) -> None:
        has_extensions = bool(arguments) and (arguments[0] is None or isinstance(arguments[0], (list, tuple)))
        extensions, rest = (arguments[0] or (), arguments[1:]) if has_extensions else ((), arguments)
        numbers = [argument for argument in rest[1:] if isinstance(argument, int)]
        labels = rest[1 + len(numbers) :]
        ways: dict[int, tuple[int, ...]] = {0: (), 1: (3,), 2: (1, 3), 3: (0, 1, 3), 4: (0, 1, 2, 3)}
        if not rest or len(numbers) not in ways or not all(isinstance(label, str) for label in labels):
            raise ConfigurationError(
                "BalancedPathFilter: expected (random, extensions, label_generator) and at most four numbers behind "
                f"them, got {arguments!r}."
            )
        bounds = [0, 0, 0, 0]
        for place, number in zip(ways[len(numbers)], numbers, strict=True):
            bounds[place] = number
        super().__init__(random, list(extensions), bounds[0])
        self.label_generator = ParentPathLabelGenerator() if rest[0] is None else rest[0]
        _, self.max_labels, self.min_paths_per_label, self.max_paths_per_label = bounds
        self.labels = labels

    def filter(self, paths: Sequence[str]) -> list[str]:
        """Return some of the paths, shuffled, label by label by turns."""
        by_label: dict[str, list[str]] = {}
        for path in super().filter(paths):
            label = self.label_generator.getLabelForPath(path)
            is_new = label not in by_label
            if (self.labels and label not in self.labels) or (is_new and 0 < self.max_labels <= len(by_label)):
                continue
            by_label.setdefault(label, []).append(path)
        counts = [len(some) for some in by_label.values()]
        if self.max_paths_per_label > 0:
            counts.append(self.max_paths_per_label)
        most = max(min(counts, default=0), self.min_paths_per_label)
        return [some[turn] for turn in range(most) for some in by_label.values() if turn < len(some)]


class InputSplit(metaclass=ExplainedType):
    """Files to read, in an order. Source: DataVec ``BaseInputSplit``."""

    root = ""
    """The folder that they are in, with a separator at its end, where it is known."""

    def __init__(self, paths: Iterable[str], order: FurtherOrder | None = None) -> None:
        self.paths = list(paths)
        self._order = order

    def locations(self) -> list[str]:
        """Return the paths, not shuffled."""
        return list(self.paths)

    def length(self) -> int:
        """Return the number of paths."""
        return len(self.paths)

    def order(self) -> EpochOrder:
        """Return the order in which an iterator goes through them: it shuffles them further for every epoch."""
        return EpochOrder(len(self.paths), None) if self._order is None else self._order.copy()

    def sample(self, path_filter: PathFilter | None, *weights: float) -> list[CollectionInputSplit]:
        """Return the paths that a filter leaves, in parts whose sizes are as the weights.

        As in Java one part is returned where the first weight is 1.
        """
        paths = list(self.paths) if path_filter is None else list(path_filter.filter(self.paths))
        total = sum(weights)
        if not weights or weights[0] == 1:
            return [CollectionInputSplit(paths, self.root)]
        if not total > 0 or min(weights) < 0:
            raise ConfigurationError(f"InputSplit.sample: weights must be positive, got {list(weights)}.")
        ends = [math.floor(sum(weights[:count]) * len(paths) / total + 0.5) for count in range(len(weights))]
        ranges = pairwise([*ends, len(paths)])
        return [CollectionInputSplit(paths[first:end], self.root) for first, end in ranges]


class CollectionInputSplit(InputSplit):
    """Files of a list, in its order. Source: DataVec ``CollectionInputSplit``."""

    def __init__(self, paths: Iterable[Path], root: str = "") -> None:
        super().__init__(os.fspath(path) for path in paths)
        self.root = root


class FileSplit(InputSplit):
    """File to read, or the files in a folder and in those in it.

    ``FileSplit(path[, allow_format][, recursive][, random])``: the endings that files must have, whether folders in the
    folder are looked into, and the generator that shuffles the files, once more for every epoch.

    Raises
    ------
    ConfigurationError
        The arguments behind the path are others.
    OSError
        The folder cannot be read.

    Notes
    -----
    Source: DataVec ``FileSplit``. Differs: files of a folder are sorted, which Java leaves to the system, and names
    that begin with a point are left out.
    """

    def __init__(self, path: Path, *arguments: Any) -> None:
        formats = [each for each in arguments if each is None or isinstance(each, (list, tuple))]
        deep = [each for each in arguments if isinstance(each, bool)]
        randoms = [each for each in arguments if isinstance(each, JavaRandom)]
        if len(arguments) != len(formats[:1]) + len(deep[:1]) + len(randoms[:1]):
            raise ConfigurationError(
                f"FileSplit: expected (path, allow_format, recursive, random), got {arguments!r} behind the path."
            )
        self.path = checked_path("FileSplit", path)
        paths = [self.path]
        if os.path.isdir(self.path):
            self.root = os.path.join(self.path, "")
            endings = tuple((formats or [None])[0] or ("",))
            inside = files_under(self.path, recursive=(deep or [True])[0])
            paths = sorted(self.root + name for name in inside if name.endswith(endings))
        order = FurtherOrder(len(paths), randoms[0]) if randoms else None
        super().__init__(paths, order)
        if order is not None:
            order.begin()

    def getRootDir(self) -> str:
        """Return the path of the folder, or of the file."""
        return self.path
