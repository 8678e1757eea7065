"""RecordReaderMultiDataSetIterator: series in comma-separated files for several inputs and outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

from backends.errors import ConfigurationError, DataError
from nd.arguments import Count, Natural, checked
from nd.classes import ExplainedType
from nd.dataset.alignment import AlignedSeries, Alignment, AlignmentMode, SeriesColumns
from nd.dataset.checks import check_count
from nd.dataset.multi_data_set import MultiDataSet
from nd.dataset.multi_iterator import MultiDataSetIterator
from nd.dataset.order import EpochOrder
from nd.dataset.ordered import OrderedIterator
from nd.dataset.sequence_reader import CSVSequenceRecordReader


class RecordReaderMultiDataSetIterator(OrderedIterator[MultiDataSet], MultiDataSetIterator):
    """Iterate over series in files, for networks of several inputs and outputs. Its `Builder` says what goes where.

    Parameters
    ----------
    batch : int
        Series in a minibatch; the last one has the rest.
    readers : mapping of str to CSVSequenceRecordReader
        Readers by name; their files i belong to example i.
    inputs, outputs : sequence of SeriesColumns
        The columns of each array, by the name of their reader.
    alignment_mode : AlignmentMode or str
        How series of different length lie beside each other.

    Raises
    ------
    ArgumentError
        An argument is of another type, or `batch` is less than 1.
    ConfigurationError
        There are no readers or no inputs, a reader has no files, an array is of a reader that there is not, or of
        several columns of classes.
    DataError
        The readers have different numbers of files, or there is no such column.

    Notes
    -----
    Arrays and masks are as those of `SequenceRecordReaderDataSetIterator`.

    Source: org.deeplearning4j.datasets.datavec.RecordReaderMultiDataSetIterator. Differs: it has readers of series
    alone, and no random offsets.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "series.csv")
    >>> with open(path, "w") as file:
    ...     _ = file.write("0.5,1.5,1\\n2.5,3.5,0\\n")
    >>> builder = RecordReaderMultiDataSetIterator.Builder(8)
    >>> builder = builder.add_sequence_reader("series", CSVSequenceRecordReader().initialize([path]))
    >>> builder = builder.add_input("series", 0, 1).add_output_one_hot("series", 2, 2)
    >>> builder.build().next()
    MultiDataSet(features[0]=[1, 2, 2] float32, labels[0]=[1, 2, 2] float32)
    """

    @checked
    def __init__(
        self,
        batch: Count,
        readers: Mapping[str, CSVSequenceRecordReader],
        inputs: Sequence[SeriesColumns],
        outputs: Sequence[SeriesColumns] = (),
        alignment_mode: Alignment = AlignmentMode.ALIGN_START,
    ) -> None:
        who = type(self).__name__
        if not readers or not inputs:
            raise ConfigurationError(
                f"{who}: expected readers and inputs, got {len(readers)} and {len(inputs)}. Add a reader and its input."
            )
        for part in (*inputs, *outputs):
            _check_part(who, part, readers)
        self._inputs, self._outputs = inputs, outputs
        self._series = AlignedSeries(who, readers, alignment_mode)
        super().__init__(self._series.total, batch, EpochOrder(self._series.total, None))

    def _examples(self, start: int, stop: int) -> MultiDataSet:
        return self._series.minibatch(range(start, stop), self._inputs, self._outputs)

    class Builder(metaclass=ExplainedType):
        """Java's fluent style: readers by name, then what of them goes where, in the order of inputs and outputs.

        Parameters
        ----------
        batch : int
            Series in a minibatch.
        """

        @checked
        def __init__(self, batch: Count) -> None:
            self._batch = batch
            self._readers: dict[str, CSVSequenceRecordReader] = {}
            self._inputs: list[SeriesColumns] = []
            self._outputs: list[SeriesColumns] = []
            self._mode: Alignment = AlignmentMode.ALIGN_START

        @checked
        def add_sequence_reader(self, name: str, reader: CSVSequenceRecordReader) -> Self:
            """Add a reader. ConfigurationError where it has no files."""
            reader.check_initialized("add_sequence_reader")
            self._readers[name] = reader
            return self

        @checked
        def sequence_alignment_mode(self, mode: Alignment) -> Self:
            """Set how series of different length lie beside each other; they begin together unless it is set."""
            self._mode = mode
            return self

        @checked
        def add_input(self, name: str, first: Natural | None = None, last: Natural | None = None) -> Self:
            """Take columns `first` to `last`, both included, of a reader as features; without them all of its columns.

            ConfigurationError, DataError: there is no such reader or column. So for all of these methods.
            """
            return self._add(self._inputs, name, first, last)

        @checked
        def add_input_one_hot(self, name: str, column: Natural, num_classes: Count) -> Self:
            """Take a column of class numbers as one-hot features."""
            return self._add(self._inputs, name, column, column, num_classes)

        @checked
        def add_output(self, name: str, first: Natural | None = None, last: Natural | None = None) -> Self:
            """Take columns as labels, as `add_input` takes them."""
            return self._add(self._outputs, name, first, last)

        @checked
        def add_output_one_hot(self, name: str, column: Natural, num_classes: Count) -> Self:
            """Take a column of class numbers as one-hot labels."""
            return self._add(self._outputs, name, column, column, num_classes)

        def build(self) -> RecordReaderMultiDataSetIterator:
            """Return the iterator."""
            return RecordReaderMultiDataSetIterator(self._batch, self._readers, self._inputs, self._outputs, self._mode)

        def _add(
            self, parts: list[SeriesColumns], name: str, first: int | None, last: int | None, classes: int | None = None
        ) -> Self:
            who = "RecordReaderMultiDataSetIterator.Builder"
            if name not in self._readers:
                raise ConfigurationError(
                    f"{who}: name must be of a reader, one of {sorted(self._readers)}, got {name!r}. Add it first."
                )
            most = self._readers[name].columns - 1
            start = check_count(who, "first", 0 if first is None else first, 0, most)
            stop = check_count(who, "last", most if last is None else last, 0, most)
            if stop < start:
                raise DataError(f"{who}: last must not be before first, got {last} and {first}.")
            parts.append(SeriesColumns(name, range(start, stop + 1), classes))
            return self


def _check_part(who: str, part: SeriesColumns, readers: Mapping[str, CSVSequenceRecordReader]) -> None:
    """Raise unless columns are there, and one where it has class numbers."""
    if part.reader not in readers:
        raise ConfigurationError(f"{who}: reader must be one of {sorted(readers)}, got {part.reader!r}.")
    columns = [check_count(who, "column", column, 0, readers[part.reader].columns - 1) for column in part.columns]
    if part.classes is not None:
        check_count(who, "classes", part.classes, 1)
    if not columns or (part.classes is not None and len(columns) > 1):
        few = "a column" if part.classes is None else "one column of classes"
        raise ConfigurationError(f"{who}: expected {few} of reader {part.reader!r}, got {columns}.")
