"""LabelLastTimeStepPreProcessor: labels of series become those of their last time steps."""

from __future__ import annotations

import numpy as np

from backends.errors import DataError, ShapeError, describe_shape
from nd.classes import ExplainedType, overridable
from nd.dataset.dataset import DataSet
from nd.dataset.iterator import check_data_set
from nd.serde import as_host


@overridable
class LabelLastTimeStepPreProcessor(metaclass=ExplainedType):
    """Replace labels [N, C, T] by [N, C]: those of the last step that their mask counts, else of the last one.

    The mask of the labels is dropped. For networks that say one thing of a series, where labels have been read as
    series, with ``align_end`` for instance.

    Notes
    -----
    Source: org.nd4j.linalg.dataset.api.preprocessor.LabelLastTimeStepPreProcessor.

    Examples
    --------
    >>> labels = [[[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]]
    >>> data_set = DataSet([[[0.5, 1.5, 0.0]]], labels, [[1, 1, 0]], [[1, 1, 0]])
    >>> LabelLastTimeStepPreProcessor().pre_process(data_set).labels.tolist()
    [[1.0, 0.0]]
    """

    def __init__(self) -> None:
        super().__init__()

    def pre_process(self, data_set: DataSet) -> DataSet:
        """Change a DataSet, and return it.

        Raises
        ------
        DTypeError
            It is no DataSet.
        ShapeError
            There are no labels [N, C, T].
        DataError
            The mask leaves nothing of an example.
        """
        who = type(self).__name__
        check_data_set(who, data_set)
        labels = data_set.labels
        if labels is None or len(labels.shape) != 3:
            shape = "none" if labels is None else describe_shape(labels.shape)
            raise ShapeError(f"{who}: expected labels [N, C, T], got {shape}.")
        if data_set.labels_mask is None:
            data_set.labels = labels[:, :, -1]
            return data_set
        counts = as_host(data_set.labels_mask) > 0
        if counts.shape != (labels.shape[0], labels.shape[2]):
            raise ShapeError(f"{who}: expected a labels_mask [N, T], got {describe_shape(counts.shape)}.")
        empty = ~counts.any(axis=1)
        if empty.any():
            raise DataError(
                f"{who}: expected a step that counts in every example, got only masked ones in {int(empty.argmax())}."
            )
        last = counts.shape[1] - 1 - counts[:, ::-1].argmax(axis=1)
        data_set.labels = labels[np.arange(len(last)), :, last]
        data_set.labels_mask = None
        return data_set
