"""Series of different length side by side: where they lie in a minibatch, and masks of where they do."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from backends.errors import DataError, describe_shape
from nd.checks import check_memory
from nd.dataset.multi_data_set import MultiDataSet
from nd.dataset.sequence_reader import CSVSequenceRecordReader, SequenceRecord
from nd.java_enums import JavaEnum
from nd.state import default_dtype


class AlignmentMode(JavaEnum):
    """How series of different length are made equally long."""

    ALIGN_END = "align_end"
    """All series of an example end with the longest of them; zeros before, and up to the longest example."""
    ALIGN_START = "align_start"
    """All begin at the first time step, and zeros follow."""
    EQUAL_LENGTH = "equal_length"
    """They are equally long already, in every minibatch."""


if TYPE_CHECKING:
    Alignment = AlignmentMode | Literal["align_end", "align_start", "equal_length"]
    """What an argument takes; `nd.arguments.checked` makes an AlignmentMode of it."""
else:
    Alignment = AlignmentMode


class SeriesColumns(NamedTuple):
    """What becomes one array of a minibatch."""

    reader: str
    columns: Sequence[int]
    classes: int | None = None
    """Of the single column, where it has class numbers that become one-hot."""

    def width(self) -> int:
        """Return the length of the array's second axis."""
        return self.classes or len(self.columns)


class AlignedSeries:
    """Minibatches of several readers, where file i of each of them belongs to example i; `total` examples.

    ConfigurationError where a reader has no files yet, DataError where one has another number of files than the first.
    Source: org.deeplearning4j.datasets.datavec.RecordReaderMultiDataSetIterator.
    """

    def __init__(self, who: str, readers: Mapping[str, CSVSequenceRecordReader], mode: Alignment) -> None:
        self._who, self._readers, self._mode = who, readers, AlignmentMode(mode)
        self._dtype = np.dtype(default_dtype())
        for reader in readers.values():
            reader.check_initialized(who)
        counts = {name: len(reader.files) for name, reader in readers.items()}
        if len(set(counts.values())) > 1:
            raise DataError(f"{who}: expected as many files of each reader, got {counts}. Name one for each example.")
        self.total = next(iter(counts.values()))

    def arrays(
        self, numbers: Sequence[int], wanted: Sequence[SeriesColumns]
    ) -> list[tuple[np.ndarray, np.ndarray | None]]:
        """Return arrays [N, C, T] of some examples, and masks [N, T], None where every series is as long as its array.

        DataError where series that should be equally long are not, or a number is no class number.
        """
        series = {name: [reader.sequence_record(n) for n in numbers] for name, reader in self._readers.items()}
        lengths = {name: [len(record.rows) for record in records] for name, records in series.items()}
        longest = [max(of_example) for of_example in zip(*lengths.values(), strict=True)]
        filled = []
        for part in wanted:
            own = lengths[part.reader]
            steps, starts = max(longest), [0] * len(own)
            if self._mode is AlignmentMode.EQUAL_LENGTH:
                self._check_equal(numbers, part.reader, own)
                steps = own[0]
            elif self._mode is AlignmentMode.ALIGN_END:
                starts = [most - length for most, length in zip(longest, own, strict=True)]
            shape = (len(own), part.width(), steps)
            remedy = "Check the number of classes, or take a smaller minibatch."
            check_memory(self._who, math.prod(shape) * self._dtype.itemsize, f"series {describe_shape(shape)}", remedy)
            array = np.zeros(shape, self._dtype, order="F")
            mask = np.zeros((len(own), steps), self._dtype, order="F")
            for row, (record, start) in enumerate(zip(series[part.reader], starts, strict=True)):
                array[row, :, start : start + own[row]] = _values(record, part)
                mask[row, start : start + own[row]] = 1
            filled.append((array, None if min(own) == steps else mask))
        return filled

    def minibatch(
        self, numbers: Sequence[int], inputs: Sequence[SeriesColumns], outputs: Sequence[SeriesColumns]
    ) -> MultiDataSet:
        """Return some examples; see `arrays`."""
        arrays = self.arrays(numbers, [*inputs, *outputs])
        features, labels = arrays[: len(inputs)], arrays[len(inputs) :]
        return MultiDataSet(*([each[n] for each in group] for n in range(2) for group in (features, labels)))

    def _check_equal(self, numbers: Sequence[int], name: str, lengths: Sequence[int]) -> None:
        for number, length in zip(numbers, lengths, strict=True):
            if length != lengths[0]:
                files = self._readers[name].files
                raise DataError(
                    f"{self._who}: expected series of equal length, got {lengths[0]} steps in '{files[numbers[0]]}' "
                    f"and {length} in '{files[number]}'. Set alignment_mode to align_start or align_end."
                )


def _values(record: SequenceRecord, part: SeriesColumns) -> np.ndarray:
    """Return numbers [C, T], or one-hot rows of class numbers."""
    if part.classes is None:
        return record.numbers[part.columns]
    record.check_classes(part.columns[0], part.classes)
    return record.numbers[part.columns[0]] == np.arange(part.classes)[:, None]
