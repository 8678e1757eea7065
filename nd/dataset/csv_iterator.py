"""CsvDataSetIterator: examples in a comma-separated file, one minibatch of which is in memory."""

from __future__ import annotations

from collections.abc import Sequence

from backends.errors import ConfigurationError, DataError, FormatError
from nd.arguments import Count, Natural, Path, checked
from nd.dataset.checks import check_count
from nd.dataset.class_labels import name_list, one_hot
from nd.dataset.csv_numbers import CsvNumbers, delimiter_hint, split_columns
from nd.dataset.csv_rows import CsvRows, Mark, Row
from nd.dataset.dataset import DataSet
from nd.dataset.iterator import DataSetIterator, State, check_same, restored_count
from nd.files.reading import checked_path

_WHO = "CsvDataSetIterator"
_ROWS_AT_ONCE = 1024


class CsvDataSetIterator(DataSetIterator):
    """Iterate over the rows of a comma-separated file, which may be larger than memory.

    Parameters
    ----------
    path : path
        Text in UTF-8 whose cells are numbers; they may be quoted. Empty lines are skipped.
    batch : int
        Rows in a minibatch; the last one has the rest.
    label_index : int or str, optional
        The column of the label, from 0; a negative one counts from the end. A name is looked up in the first line
        behind `skip_lines`, which then is no row. Without it there are no labels.
    num_classes : int, optional
        The label is a class number below that, and becomes one-hot. Labels that are text need none: see `classes`.
    regression : bool
        The label is a number, and stays one.
    label_index_to : int or str, optional
        Last of several label columns (inclusive), with `regression`; `label_index` is the first.
    delimiter : str
        One character.
    skip_lines : int
        Lines to leave out at the beginning, a header for instance.
    classes : sequence of str, optional
        The label is one of these texts, and becomes one-hot in their order. Where the first label is text, and they are
        not given, the file is read through for them once, and they are sorted.

    Attributes
    ----------
    class_names : tuple of str or None
        Those of labels that are text.

    Raises
    ------
    ArgumentError
        An argument is of another type, `batch` or `num_classes` is less than 1, or `skip_lines` less than 0.
    ConfigurationError
        The label's settings contradict each other.
    DataError
        There are no rows, or no such column.
    FormatError
        The file is no text in UTF-8, its quotes do not fit, or its header has not as many names as a row has cells.
    OSError
        The file cannot be read.

    Notes
    -----
    Features [N, columns that are no label] and labels [N, classes or label columns] in the default dtype, with the
    batch innermost in memory (Fortran order). NaN and infinite numbers are refused, as text is.

    Source: org.deeplearning4j.datasets.datavec.RecordReaderDataSetIterator over a CSVRecordReader. Differs: Java's
    label index -1 means none; quotes are the csv module's, so a quoted cell may hold a line end.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "moon.csv")
    >>> with open(path, "w") as file:
    ...     _ = file.write("label,x,y\\n1,0.5,2.5\\n0,1.5,3.5\\n")
    >>> data_set = CsvDataSetIterator(path, 10, "label", 2).next()
    >>> data_set.features.tolist(), data_set.labels.tolist()
    ([[0.5, 2.5], [1.5, 3.5]], [[0.0, 1.0], [1.0, 0.0]])
    """

    @checked
    def __init__(
        self,
        path: Path,
        batch: Count,
        label_index: int | str | None = None,
        num_classes: Count | None = None,
        *,
        regression: bool = False,
        label_index_to: int | str | None = None,
        delimiter: str = ",",
        skip_lines: Natural = 0,
        classes: Sequence[str] | None = None,
    ) -> None:
        self._subject = f"{_WHO}: '{checked_path(_WHO, path)}'"
        _check_label(label_index, num_classes, regression, label_index_to, classes)
        self._batch = batch
        self._classes = num_classes
        self._source = CsvRows(_WHO, path, delimiter)
        self._start = self._source.skip(skip_lines)
        self._names: list[str] = []
        header: list[Row] = []
        if isinstance(label_index, str) or isinstance(label_index_to, str):
            header, self._start = self._source.read(self._start, 1)
            self._names = [name.strip() for row in header for name in row.cells]
        first, _ = self._source.read(self._start, 1)
        if not first:
            raise DataError(f"{self._subject}: expected rows, got none behind line {self._start.line}.")
        self._columns = len(first[0].cells)
        if header and len(self._names) != self._columns:
            raise FormatError(
                f"{self._subject}: line {header[0].line}: expected as many names as the first row has cells, "
                f"{self._columns}, got {len(self._names)}."
            )
        self._features, self._labels = split_columns(
            self._subject, self._columns, label_index, label_index_to, self._column
        )
        self._cells = CsvNumbers(self._subject, self._columns, self._names, self._start.line, self._labels)
        self._find_classes(first[0], classes, regression)
        self._count = 0  # rows handed out
        self._mark = self._start
        self._ahead: tuple[list[Row], Mark] | None = None

    def has_next(self) -> bool:
        """Tell whether a row is left, reading a minibatch ahead; raise FormatError as the constructor does."""
        return bool(self._rows_ahead()[0])

    def next(self, num: int | None = None) -> DataSet:
        """Return the next rows, `num` of them if given.

        Raises
        ------
        DataError
            No rows are left, `num` is less than 1, or a cell is no number, or no class number; the message has the
            line and the column.
        FormatError
            A row has another number of cells than the first one.
        """
        self.check_has_next()
        if num is None:
            rows, mark = self._rows_ahead()
        else:
            rows, mark = self._source.read(self._mark, check_count(f"{_WHO}.next", "num", num, 1))
        minibatch = self._data_set(rows)
        self._count += len(rows)
        self._mark, self._ahead = mark, None
        return self.pre_processed(minibatch)

    def reset(self) -> None:
        self._mark, self._ahead, self._count = self._start, None, 0

    def state(self) -> State:
        return {"count": self._count, "line": self._mark.line, "offset": self._mark.offset, "size": self._source.size()}

    def restore(self, state: State) -> None:
        size = self._source.size()
        check_same(self, state, size=size)
        offset, line, count = (restored_count(self, state, name, size) for name in ("offset", "line", "count"))
        self._mark, self._ahead, self._count = Mark(offset, line), None, count

    def batch(self) -> int:
        return self._batch

    def column_counts(self) -> tuple[int, int | None]:
        return len(self._features), self._classes or len(self._labels) or None

    def _rows_ahead(self) -> tuple[list[Row], Mark]:
        if self._ahead is None:
            self._ahead = self._source.read(self._mark, self._batch)
        return self._ahead

    # ---- columns

    def _find_classes(self, first: Row, classes: Sequence[str] | None, regression: bool) -> None:
        """Learn the names of the classes where labels are text; `first` is the first row."""
        if not self._labels or regression:
            return
        label = self._labels[0]
        if classes is None and self._cells.is_number(first.cells[label]):
            if self._classes is None:
                raise ConfigurationError(
                    f"{_WHO}: a label needs num_classes or regression=True, got neither. Say how many classes there "
                    "are."
                )
            return
        broken = next((column for column in self._features if not self._cells.is_number(first.cells[column])), None)
        if broken is not None:  # a header, most likely, and no label of that name
            raise self._cells.fault(first, broken, "a number")
        names = sorted(self._labels_in_file(label)) if classes is None else [str(name) for name in classes]
        if self._classes not in (None, len(names)) or len(set(names)) != len(names):
            raise DataError(
                f"{self._subject}: {self._cells.column_name(label)}: expected {self._classes} different classes, got "
                f"{len(names)}: {name_list(names)}. Give the texts of all with classes=[...]."
            )
        self.class_names, self._classes = tuple(names), len(names)
        self._cells.texts = {label: {name: float(number) for number, name in enumerate(names)}}

    def _labels_in_file(self, label: int) -> set[str]:
        """Read all labels once."""
        labels: set[str] = set()
        rows, mark = self._source.read(self._start, _ROWS_AT_ONCE)
        while rows:
            labels.update(row.cells[label].strip() for row in rows if label < len(row.cells))
            rows, mark = self._source.read(mark, _ROWS_AT_ONCE)
        return labels - {""}

    def _column(self, argument: str, index: int | str) -> int:
        if isinstance(index, str):
            if self._names.count(index) != 1:
                raise DataError(
                    f"{self._subject}: {argument} must be a name that line {self._start.line} has once, one of "
                    f"{self._names}, got {index!r}.{delimiter_hint(self._names)}"
                )
            return self._names.index(index)
        check_count(_WHO, argument, index, -self._columns, self._columns - 1)
        return index % self._columns

    def _data_set(self, rows: list[Row]) -> DataSet:
        exact, numbers = self._cells.table(rows)
        features = numbers[self._features].T
        if not self._labels:
            return DataSet(features)
        if self._classes is None:
            return DataSet(features, numbers[self._labels].T)
        class_numbers = exact[self._labels[0]]
        self._cells.check_classes(rows, self._labels[0], class_numbers, self._classes)
        minibatch = DataSet(features, one_hot(class_numbers, self._classes).astype(self._cells.dtype, copy=False))
        minibatch.class_names = self.class_names
        return minibatch


def _check_label(
    label_index: int | str | None,
    num_classes: int | None,
    regression: bool,
    label_index_to: int | str | None,
    classes: object,
) -> None:
    if classes is not None and not classes:
        raise ConfigurationError(f"{_WHO}: classes must be a list of texts, got {classes!r}.")
    given = (num_classes, label_index_to, classes)
    if label_index is None and (regression or any(setting is not None for setting in given)):
        raise ConfigurationError(
            f"{_WHO}: num_classes, regression, label_index_to and classes need label_index, got none. Say which column "
            "it is."
        )
    if regression and (num_classes is not None or classes is not None):
        given_classes = num_classes if num_classes is not None else classes
        raise ConfigurationError(f"{_WHO}: regression must go without num_classes, got {given_classes!r}. Drop one.")
    if label_index_to is not None and not regression:
        raise ConfigurationError(f"{_WHO}: label_index_to needs regression=True, got {label_index_to!r} without.")
