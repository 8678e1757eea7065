"""Records of comma-separated files, with the names of DataVec: readers, and the iterator over them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from nd import ConfigurationError, DataError, dataset
from nd.arguments import Count, Natural, checked
from nd.classes import ExplainedType
from nd.dataset import AlignmentMode, CsvDataSetIterator, CSVSequenceRecordReader


class FileSplit(metaclass=ExplainedType):
    """File to read. Source: DataVec ``FileSplit``, which takes folders too."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if self.path.is_dir():
            raise DataError(f"FileSplit: expected a file, got the folder '{path}'. Name one file.")


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
        """Set the file to read."""
        self.split = split


class RecordReaderDataSetIterator(CsvDataSetIterator):
    """Minibatches of records: ``(reader, batch)`` without labels, ``(reader, batch, label_index, num_classes)``, or
    ``(reader, batch, first_label, last_label, True)`` where labels are numbers.

    Raises
    ------
    ConfigurationError
        The reader has no file yet.

    Notes
    -----
    Errors otherwise, and the contents of lines, are those of `CsvDataSetIterator`. Source: DL4J
    ``RecordReaderDataSetIterator``.
    """

    @checked
    def __init__(
        self,
        reader: CSVRecordReader,
        batch: Count,
        label_index: int = -1,
        num_classes: int = -1,
        regression: bool = False,
    ) -> None:
        if reader.split is None:
            raise ConfigurationError(
                "RecordReaderDataSetIterator: the reader must have a file. Call initialize(split)."
            )
        labels: dict[str, Any] = {}
        if label_index >= 0 and regression:
            labels = {"label_index": label_index, "label_index_to": num_classes, "regression": True}
        elif label_index >= 0:
            labels = {"label_index": label_index, "num_classes": num_classes}
        super().__init__(reader.split.path, batch, **labels, delimiter=reader.delimiter, skip_lines=reader.skip_lines)

    class Builder(metaclass=ExplainedType):
        """Java's fluent style."""

        @checked
        def __init__(self, reader: CSVRecordReader, batch: Count) -> None:
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
