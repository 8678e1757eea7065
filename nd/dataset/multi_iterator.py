"""MultiDataSetIterator, and the iterators that turn DataSets into MultiDataSets and back."""

from __future__ import annotations

from nd.arguments import checked
from nd.dataset.dataset import DataSet
from nd.dataset.iterator import DataSetIterator, MinibatchIterator, WrappingIterator
from nd.dataset.multi_data_set import MultiDataSet


class MultiDataSetIterator(MinibatchIterator[MultiDataSet]):
    """Hand out minibatches, MultiDataSets. A subclass defines `has_next`, `next` and `reset`.

    Attributes
    ----------
    pre_processor : MultiDataSetPreProcessor, callable or None
        See `MinibatchIterator`, as for everything else that is not said here.

    Notes
    -----
    Source: org.nd4j.linalg.dataset.api.iterator.MultiDataSetIterator.

    Examples
    --------
    >>> class Counting(MultiDataSetIterator):
    ...     def __init__(self):
    ...         self.count = 0
    ...     def has_next(self):
    ...         return self.count < 2
    ...     def next(self, num=None):
    ...         self.check_has_next()
    ...         self.count += 1
    ...         return self.pre_processed(MultiDataSet([[[self.count]], [[0, 1]]], [[[1]]]))
    ...     def reset(self):
    ...         self.count = 0
    >>> [minibatch.features[0].tolist() for minibatch in Counting()]
    [[[1.0]], [[2.0]]]
    """

    kind = MultiDataSet


class MultiDataSetIteratorAdapter(WrappingIterator[MultiDataSet], MultiDataSetIterator):
    """Hand out the DataSets of an iterator as MultiDataSets of one input and one output.

    Parameters
    ----------
    base : DataSetIterator

    Raises
    ------
    ArgumentError
        It is no DataSetIterator.

    Notes
    -----
    Source: org.nd4j.linalg.dataset.adapter.MultiDataSetIteratorAdapter.

    Examples
    --------
    >>> from nd.dataset import ListDataSetIterator
    >>> next(MultiDataSetIteratorAdapter(ListDataSetIterator(DataSet([[1.0], [2.0]], [[0], [1]]))))
    MultiDataSet(features[0]=[2, 1] float32, labels[0]=[2, 1] float32)
    """

    @checked
    def __init__(self, base: DataSetIterator) -> None:
        self.base = base

    def handed_on(self, minibatch: DataSet) -> MultiDataSet:
        return minibatch.to_multi_data_set()


class MultiDataSetWrapperIterator(WrappingIterator[DataSet], DataSetIterator):
    """Hand out MultiDataSets of one input and at most one output as DataSets.

    Parameters
    ----------
    base : MultiDataSetIterator

    Raises
    ------
    ArgumentError
        It is no MultiDataSetIterator.

    Notes
    -----
    Source: org.deeplearning4j.datasets.iterator.MultiDataSetWrapperIterator. Differs: Java fails where there are no
    labels, and says neither `batch` nor takes `num`.

    Examples
    --------
    >>> from nd.dataset import ListMultiDataSetIterator
    >>> next(MultiDataSetWrapperIterator(ListMultiDataSetIterator(MultiDataSet([[[1.0], [2.0]]], [[[0], [1]]]))))
    DataSet(features=[2, 1] float32, labels=[2, 1] float32)
    """

    @checked
    def __init__(self, base: MultiDataSetIterator) -> None:
        self.base = base

    def handed_on(self, minibatch: MultiDataSet) -> DataSet:
        return minibatch.to_data_set()
