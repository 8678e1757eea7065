"""MultiNormalizerHybrid: another way of normalizing for every input and output."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import BinaryIO, NamedTuple, Self

from backends.errors import ConfigurationError, FormatError
from nd.arguments import Natural, checked
from nd.dataset.normalizers.any_normalizer import PARTS
from nd.dataset.normalizers.body import fit_float32, read_numbers, read_row, write_numbers, write_row
from nd.dataset.normalizers.min_max import Scaling, check_range
from nd.dataset.normalizers.multi import FittedMultiNormalizer
from nd.dataset.normalizers.standardize import Standardizing
from nd.dataset.normalizers.ways import Numbers, Way
from nd.files.serde_buffers import CORRUPT, read_number
from nd.typing import Array

_NONE, _STANDARDIZE, _MIN_MAX = range(3)  # as in a file
_GROUPS = tuple(PARTS)


class _Strategy(NamedTuple):
    """How arrays are normalized: `_STANDARDIZE`, or `_MIN_MAX` with a range."""

    kind: int
    low: float = 0.0
    high: float = 1.0

    def way(self) -> Way:
        return Standardizing() if self.kind == _STANDARDIZE else Scaling(self.low, self.high)


class MultiNormalizerHybrid(FittedMultiNormalizer):
    """Standardize some inputs and outputs, scale others to a range, and leave the rest as they are.

    Every method that says how returns this object, so that they can be chained. What is said of one input or output
    goes before what is said of all. What was fitted before is forgotten.

    Notes
    -----
    Each array as by `NormalizerStandardize` or `NormalizerMinMaxScaler`; labels are changed where a method says how,
    without `fit_label`. Source: org.nd4j.linalg.dataset.api.preprocessor.MultiNormalizerHybrid.

    Examples
    --------
    >>> from nd.dataset import MultiDataSet
    >>> data = MultiDataSet([[[1.0], [3.0]], [[2.0], [4.0]]], [[[5.0], [6.0]]])
    >>> normalizer = MultiNormalizerHybrid().standardize_all_inputs().min_max_scale_input(1, 0, 10).fit(data)
    >>> [x.ravel().tolist() for x in normalizer.transform(data).features], data.labels[0].ravel().tolist()
    ([[-1.0, 1.0], [0.0, 10.0]], [5.0, 6.0])
    """

    kind = "MULTI_HYBRID"

    def __init__(self) -> None:
        super().__init__()
        self._of_all: dict[str, _Strategy | None] = dict.fromkeys(_GROUPS)
        self._of_one: dict[str, dict[int, _Strategy]] = {group: {} for group in _GROUPS}

    def standardize_all_inputs(self) -> Self:
        """Give the columns of all inputs mean 0 and standard deviation 1."""
        return self._say("features", None, _Strategy(_STANDARDIZE))

    @checked
    def standardize_input(self, index: Natural) -> Self:
        """Give the columns of one input mean 0 and standard deviation 1."""
        return self._say("features", index, _Strategy(_STANDARDIZE))

    @checked
    def min_max_scale_all_inputs(self, target_min: float = 0.0, target_max: float = 1.0) -> Self:
        """Bring the columns of all inputs to a range; ConfigurationError if it has no extent."""
        return self._say("features", None, _Strategy(_MIN_MAX, target_min, target_max))

    @checked
    def min_max_scale_input(self, index: Natural, target_min: float = 0.0, target_max: float = 1.0) -> Self:
        """Bring the columns of one input to a range; ConfigurationError if it has no extent."""
        return self._say("features", index, _Strategy(_MIN_MAX, target_min, target_max))

    def standardize_all_outputs(self) -> Self:
        """Give the columns of all outputs' labels mean 0 and standard deviation 1."""
        return self._say("labels", None, _Strategy(_STANDARDIZE))

    @checked
    def standardize_output(self, index: Natural) -> Self:
        """Give the columns of one output's labels mean 0 and standard deviation 1."""
        return self._say("labels", index, _Strategy(_STANDARDIZE))

    @checked
    def min_max_scale_all_outputs(self, target_min: float = 0.0, target_max: float = 1.0) -> Self:
        """Bring the columns of all outputs' labels to a range; ConfigurationError if it has no extent."""
        return self._say("labels", None, _Strategy(_MIN_MAX, target_min, target_max))

    @checked
    def min_max_scale_output(self, index: Natural, target_min: float = 0.0, target_max: float = 1.0) -> Self:
        """Bring the columns of one output's labels to a range; ConfigurationError if it has no extent."""
        return self._say("labels", index, _Strategy(_MIN_MAX, target_min, target_max))

    @checked
    def fit_label(self, fit: bool = True) -> None:
        """Do nothing where it is as said already.

        Raises
        ------
        ConfigurationError
            `fit` is not what the methods for outputs have said.
        """
        if fit != self.fits_labels:
            raise ConfigurationError(
                f"{self.who('fit_label')}: labels are changed where a method for outputs says how, got {fit}. Call "
                "standardize_all_outputs(), say, or make a normalizer without."
            )

    def get_input_stats(self, index: int) -> Mapping[str, Array]:
        """Return name -> numbers [columns] of an input, "mean" and "std" or "lower" and "upper".

        Raises
        ------
        DataError
            It was not fitted.
        """
        return self.numbers_at("get_input_stats", "features", index)

    def get_output_stats(self, index: int) -> Mapping[str, Array]:
        """Return name -> numbers [columns] of an output; see `get_input_stats`."""
        return self.numbers_at("get_output_stats", "labels", index)

    def way_of(self, group: str, index: int) -> Way | None:
        strategy = self._of_one[group].get(index, self._of_all[group])
        return None if strategy is None else strategy.way()

    def write_body(self, stream: BinaryIO) -> None:
        learnt = [self.learnt("save", "features"), self.numbers.get("labels", {})]
        narrow = fit_float32([row for of in learnt for numbers in of.values() for row in numbers.values()])
        for of in learnt:
            stream.write(struct.pack(">i", len(of)))
            for index, numbers in of.items():
                kind = _STANDARDIZE if "mean" in numbers else _MIN_MAX
                stream.write(struct.pack(">2i", index, kind))
                for row in numbers.values():
                    write_row(stream, row, narrow)
        for name in _GROUPS:
            _write_strategy(stream, self._of_all[name])
        for name in _GROUPS:
            stream.write(struct.pack(">i", len(self._of_one[name])))
            for index, strategy in self._of_one[name].items():
                stream.write(struct.pack(">i", index))
                _write_strategy(stream, strategy)

    @classmethod
    def read_body(cls, stream: BinaryIO) -> Self:
        normalizer = cls()
        rows = {name: _read_rows(stream) for name in _GROUPS}
        for name in _GROUPS:
            strategy = _read_strategy(stream)
            if strategy is not None:
                normalizer._say(name, None, strategy)
        for name in _GROUPS:
            for _ in range(_read_number(stream, "a number of arrays")):
                index, strategy = _read_number(stream, "an index"), _read_strategy(stream)
                if strategy is None:
                    raise FormatError(f"expected how {name} {index} are normalized, got that they are not. {CORRUPT}")
                normalizer._say(name, index, strategy)
        for name in _GROUPS if normalizer.fits_labels or rows["labels"] else _GROUPS[:1]:
            normalizer.numbers[name] = {i: normalizer._numbers_of(name, i, *rows[name][i]) for i in rows[name]}
        return normalizer

    def _numbers_of(self, group: str, index: int, kind: int, first: Array, second: Array) -> Numbers:
        """Return rows of a file as numbers of one array."""
        way = self.way_of(group, index)
        if way is None:
            raise ConfigurationError(
                f"{self.who('read')}: {PARTS[group]} {index} must be one that is changed, got rows."
            )
        if isinstance(way, Standardizing) != (kind == _STANDARDIZE):
            raise FormatError(f"the statistics of {group} {index} must be of its strategy, got {kind}. {CORRUPT}")
        return way.checked(self.who("read", group, index), first, second)

    def _say(self, group: str, index: int | None, strategy: _Strategy) -> Self:
        check_range(type(self).__name__, strategy.low, strategy.high)
        if index is None:
            self._of_all[group] = strategy
        else:
            self._of_one[group][index] = strategy
        self.fits_labels = self.fits_labels or group == "labels"
        self.numbers = {}
        return self


def _write_strategy(stream: BinaryIO, strategy: _Strategy | None) -> None:
    stream.write(struct.pack(">i", _NONE if strategy is None else strategy.kind))
    if strategy is not None and strategy.kind == _MIN_MAX:
        write_numbers(stream, strategy.low, strategy.high)


def _read_strategy(stream: BinaryIO) -> _Strategy | None:
    kind = _read_number(stream, "a strategy", _NONE, _MIN_MAX)
    if kind == _NONE:
        return None
    return _Strategy(kind, *read_numbers(stream, 2)) if kind == _MIN_MAX else _Strategy(kind)


def _read_rows(stream: BinaryIO) -> dict[int, tuple[int, Array, Array]]:
    """Read index -> kind and two rows of numbers, in the order of the file."""
    rows: dict[int, tuple[int, Array, Array]] = {}
    for _ in range(_read_number(stream, "a number of arrays")):
        index = _read_number(stream, "an index")
        rows[index] = (_read_number(stream, "a strategy", _STANDARDIZE, _MIN_MAX), read_row(stream), read_row(stream))
    return rows


def _read_number(stream: BinaryIO, name: str, least: int = 0, most: int | None = None) -> int:
    number = read_number(stream, ">i", name)
    if number < least or (most is not None and number > most):
        bounds = f"at least {least}" if most is None else f"{least} to {most}"
        raise FormatError(f"{name} must be {bounds}, got {number}. {CORRUPT}")
    return number
