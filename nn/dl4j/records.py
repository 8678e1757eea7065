"""Records of comma-separated files, with the names of DataVec: readers, and the iterator over them."""

from __future__ import annotations

from typing import Any, ClassVar

from nd import ConfigurationError, DataError, dataset
from nd.arguments import Count, Natural, checked
from nd.classes import ExplainedType
from nd.dataset import AlignmentMode, CsvDataSetIterator, CSVSequenceRecordReader, DataSet, DataSetIterator
from nd.dataset.iterator import WrappingIterator

from .image_records import ImageRecordIterator, ImageRecordReader
from .splits import FileSplit


class CSVRecordReader(metaclass=ExplainedType):
    """Reads lines of numbers: ``CSVRecordReader(skip_lines, delimiter)``, or with either alone.

    Notes
    -----
    Source: DataVec ``CSVRecordReader``. It is for `RecordReaderDataSetIterator`, and hands out no records by itself.
    """

    def __init__(self, *arguments: Any) -> None:
        numbers = [argument for argument in arguments if isinstance(argument, int)]
        texts = [argument for argument in arguments if isinstance(argument, str)]
        if len(arguments) != len(numbers[:1]) + len(texts[:1]):
            raise ConfigurationError(f"CSVRecordReader: expected (skip_lines, delimiter), got {arguments!r}.")
        self.skip_lines, self.delimiter = (numbers or [0])[0], (texts or [","])[0]
        self.split: FileSplit | None = None

    @checked
    def initialize(self, split: FileSplit) -> None:
        """Set the file to read; raise DataError for a folder."""
        if split.root:
            raise DataError(
                f"CSVRecordReader.initialize: expected a file, got the folder '{split.path}'. Name one file."
            )
        self.split = split


class RecordReaderDataSetIterator(WrappingIterator[DataSet], DataSetIterator):
    """Minibatches of records: ``(reader, batch)`` without labels, ``(reader, batch, label_index, num_classes)``, or
    ``(reader, batch, first_label, last_label, True)`` where labels are numbers.

    Parameters
    ----------
    reader : CSVRecordReader or ImageRecordReader
        Labels of pictures come from the reader: label_index is 1, and num_classes the reader's number, or both are
        left out.
    batch, label_index, num_classes : int
    regression : bool

    Raises
    ------
    ConfigurationError
        The reader has no file yet, or pictures have no such labels.

    Notes
    -----
    Errors otherwise, and the contents of lines, are those of `CsvDataSetIterator`. Features of pictures are
    ``[N, C, H, W]`` of 0 to 255, see `NativeImageLoader`. Source: DL4J ``RecordReaderDataSetIterator``.
    """

    @checked
    def __init__(
        self,
        reader: CSVRecordReader | ImageRecordReader,
        batch: Count,
        label_index: int = -1,
        num_classes: int = -1,
        regression: bool = False,
    ) -> None:
        if isinstance(reader, ImageRecordReader):
            _check_labels(reader, label_index, num_classes, regression)
            self.base = ImageRecordIterator(reader, batch)
        else:
            self.base = _rows(reader, batch, label_index, num_classes, regression)

    class Builder(metaclass=ExplainedType):
        """Java's fluent style."""

        @checked
        def __init__(self, reader: CSVRecordReader | ImageRecordReader, batch: Count) -> None:
            self._arguments: tuple[Any, ...] = (reader, batch)

        @checked
        def classification(self, label_index: Natural, num_classes: Count) -> RecordReaderDataSetIterator.Builder:
            """Take one column as the class."""
            self._arguments = (*self._arguments[:2], label_index, num_classes)
            return self

        @checked
        def regression(self, first: Natural, last: Natural | None = None) -> RecordReaderDataSetIterator.Builder:
            """Take columns as numbers, both ends included."""
            self._arguments = (*self._arguments[:2], first, first if last is None else last, True)
            return self

        def build(self) -> RecordReaderDataSetIterator:
            """Return the iterator."""
            return RecordReaderDataSetIterator(*self._arguments)


def _rows(
    reader: CSVRecordReader, batch: int, label_index: int, num_classes: int, regression: bool
) -> CsvDataSetIterator:
    if reader.split is None:
        raise ConfigurationError("RecordReaderDataSetIterator: the reader must have a file. Call initialize(split).")
    labels: dict[str, Any] = {}
    if label_index >= 0 and regression:
        labels = {"label_index": label_index, "label_index_to": num_classes, "regression": True}
    elif label_index >= 0:
        labels = {"label_index": label_index, "num_classes": num_classes}
    path = reader.split.path
    return CsvDataSetIterator(path, batch, **labels, delimiter=reader.delimiter, skip_lines=reader.skip_lines)


def _check_labels(reader: ImageRecordReader, label_index: int, num_classes: int, regression: bool) -> None:
    have = reader.numLabels()
    if (label_index, num_classes) not in ((-1, -1), (1, have)) or (label_index == 1 and not have) or regression:
        raise ConfigurationError(
            f"RecordReaderDataSetIterator: labels of pictures are at label_index 1, of {have} classes, got label_index "
            f"{label_index}, num_classes {num_classes}, regression {regression}. Pass 1 and reader.numLabels(), or "
            "leave them out."
        )


class SequenceRecordReaderDataSetIterator(dataset.SequenceRecordReaderDataSetIterator):
    """Minibatches of series: ``(features, labels, batch, num_classes[, regression[, mode]])``, or of files with both
    ``(reader, batch, num_classes, label_index[, regression])``.

    Raises
    ------
    ConfigurationError
        The arguments are neither, or contradict each other.

    Notes
    -----
    Errors otherwise are those of `nd.dataset.SequenceRecordReaderDataSetIterator`. A negative `label_index` stands for
    no labels. Source: DL4J ``SequenceRecordReaderDataSetIterator``.
    """

    AlignmentMode: ClassVar = AlignmentMode

    def __init__(self, reader: CSVSequenceRecordReader, *arguments: Any) -> None:
        one = ("batch", "num_classes", "label_index", "regression")
        two = ("labels_reader", "batch", "num_classes", "regression", "alignment_mode")
        names = two if isinstance(next(iter(arguments), None), CSVSequenceRecordReader) else one
        if not 3 <= len(arguments) <= len(names):
            raise ConfigurationError(
                f"SequenceRecordReaderDataSetIterator: expected {', '.join(names)} behind the reader, got "
                f"{len(arguments)} arguments."
            )
        given = dict(zip(names, arguments, strict=False))
        if names is one and isinstance(given["label_index"], int) and given["label_index"] < 0:
            given = {"batch": given["batch"]}  # the rest of which Java does not read
        elif given.get("regression"):
            given["num_classes"] = None
        super().__init__(reader, **given)


class RecordReaderMultiDataSetIterator(dataset.RecordReaderMultiDataSetIterator):
    """The same with Java's enum in its place. Source: DL4J ``RecordReaderMultiDataSetIterator``."""

    AlignmentMode: ClassVar = AlignmentMode
