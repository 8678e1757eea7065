"""SequenceRecordReaderDataSetIterator: minibatches of series in comma-separated files."""

from __future__ import annotations

from backends.errors import ConfigurationError
from nd.arguments import Count, checked
from nd.dataset.alignment import AlignedSeries, Alignment, AlignmentMode, SeriesColumns
from nd.dataset.checks import check_count
from nd.dataset.csv_numbers import split_columns
from nd.dataset.dataset import DataSet
from nd.dataset.iterator import DataSetIterator
from nd.dataset.order import EpochOrder
from nd.dataset.ordered import OrderedIterator
from nd.dataset.sequence_reader import CSVSequenceRecordReader

_FEATURES, _LABELS = "features", "labels"  # names of readers


class SequenceRecordReaderDataSetIterator(OrderedIterator[DataSet], DataSetIterator):
    """Iterate over series in files, a file for each: features and labels in files of their own, or side by side.

    Parameters
    ----------
    reader : CSVSequenceRecordReader
        Of the features; of the labels too where they have no reader.
    labels_reader : CSVSequenceRecordReader, optional
        Its file i has the labels of the series in file i of `reader`.
    batch : int
        Series in a minibatch; the last one has the rest.
    num_classes : int, optional
        Labels are class numbers below that, in one column (the first of `labels_reader`), and become one-hot.
    regression : bool
        Labels are numbers, and stay so.
    alignment_mode : AlignmentMode or str, optional
        How features and labels of different length lie beside each other. Without it those of two readers must be
        equally long in every minibatch, those of one begin at the first time step.
    label_index : int, optional
        The column of the label in files with both, from 0; a negative one counts from the end. Without it, and without
        `labels_reader`, there are no labels.
    label_index_to : int, optional
        Last of several label columns (inclusive), with `regression`; `label_index` is the first.
    shuffle, seed
        As of `NumpyDataSetIterator`.

    Raises
    ------
    ArgumentError
        An argument is of another type, or `batch` or `num_classes` is less than 1.
    ConfigurationError
        The settings of labels contradict each other, or a reader has no files yet.
    DataError
        Features and labels have different numbers of files, or there is no such column.

    Notes
    -----
    Features [N, C, T], labels [N, classes or label columns, T] and masks [N, T], in the default dtype, with the batch
    innermost in memory (Fortran order). A mask is None where all series of the minibatch are as long as its arrays.
    Files are read minibatch by minibatch. With ``align_end`` the labels of an example end where its features do (the
    longer of the two begins at the first time step), so one label at the end of a series is a file of one row.

    Source: org.deeplearning4j.datasets.datavec.SequenceRecordReaderDataSetIterator. Differs: Java stops at the shorter
    of two lists of files, masks all of a series without rows, takes class -1 for the last one, and does not shuffle.

    Examples
    --------
    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> texts = {"x_0": "0.5\\n1.5\\n2.5\\n", "y_0": "1\\n", "x_1": "3.5\\n4.5\\n", "y_1": "0\\n"}
    >>> for name, text in texts.items():
    ...     with open(os.path.join(folder, f"{name}.csv"), "w") as file:
    ...         _ = file.write(text)
    >>> files = ([os.path.join(folder, f"{name}_{number}.csv") for number in range(2)] for name in "xy")
    >>> x, y = (CSVSequenceRecordReader().initialize(each) for each in files)
    >>> data_set = SequenceRecordReaderDataSetIterator(x, y, 2, 2, alignment_mode="align_end").next()
    >>> data_set
    DataSet(features=[2, 1, 3] float32, labels=[2, 2, 3] float32, features_mask=[2, 3] float32,
            labels_mask=[2, 3] float32)
    >>> data_set.labels_mask.tolist()
    [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    """

    @checked
    def __init__(
        self,
        reader: CSVSequenceRecordReader,
        labels_reader: CSVSequenceRecordReader | None = None,
        batch: Count = 32,
        num_classes: Count | None = None,
        regression: bool = False,
        alignment_mode: Alignment | None = None,
        *,
        label_index: int | None = None,
        label_index_to: int | None = None,
        shuffle: bool = False,
        seed: int = 0,
    ) -> None:
        who = type(self).__name__
        reader.check_initialized(who)
        if labels_reader is not None:
            labels_reader.check_initialized(who)
            if label_index is not None:
                raise ConfigurationError(f"{who}: label_index must go without labels_reader, got {label_index}.")
        labelled = labels_reader is not None or label_index is not None
        _check_labels(who, labelled, num_classes, regression, label_index_to)

        def place(name: str, index: int) -> int:
            return check_count(who, name, index, -reader.columns, reader.columns - 1) % reader.columns

        features, columns = split_columns(who, reader.columns, label_index, label_index_to, place)
        if labels_reader is not None:
            columns = list(range(labels_reader.columns)) if regression else [0]
        of_labels = SeriesColumns(_FEATURES if labels_reader is None else _LABELS, columns, num_classes)
        self._parts = [SeriesColumns(_FEATURES, features), *([of_labels] if labelled else [])]
        readers = {_FEATURES: reader, **({} if labels_reader is None else {_LABELS: labels_reader})}
        default = AlignmentMode.ALIGN_START if labels_reader is None else AlignmentMode.EQUAL_LENGTH
        self._series = AlignedSeries(who, readers, alignment_mode or default)
        total = self._series.total
        super().__init__(total, batch, EpochOrder(total, seed if shuffle else None), num_classes)

    def _examples(self, start: int, stop: int) -> DataSet:
        numbers = self.order.numbers(start, stop).tolist()
        return self._series.minibatch(numbers, self._parts[:1], self._parts[1:]).to_data_set()

    def column_counts(self) -> tuple[int | None, int | None]:
        widths: list[int | None] = [part.width() for part in self._parts]
        return widths[0], [*widths, None][1]


def _check_labels(who: str, labelled: bool, num_classes: int | None, regression: bool, last: int | None) -> None:
    if not labelled and (regression or num_classes is not None or last is not None):
        raise ConfigurationError(
            f"{who}: num_classes, regression and label_index_to need labels, got neither labels_reader nor "
            "label_index. Say where they are."
        )
    if labelled and regression == (num_classes is not None):
        raise ConfigurationError(
            f"{who}: labels need either num_classes or regression=True, got num_classes {num_classes} and "
            f"regression {regression}. Set one of them."
        )
    if last is not None and not regression:
        raise ConfigurationError(f"{who}: label_index_to needs regression=True, got {last} without.")
