"""Iterators over MultiDataSets in memory, in any iterable, from a generator, read ahead: as those over DataSets."""

from __future__ import annotations

from collections.abc import Iterable

from nd.arguments import Count, checked
from nd.dataset.async_iterator import Prefetching
from nd.dataset.early_termination import EarlyTermination
from nd.dataset.existing import ExistingIterator
from nd.dataset.generator_iterator import GeneratorIterator
from nd.dataset.list_iterator import ListIterator, SingletonIterator
from nd.dataset.multi_data_set import MultiDataSet
from nd.dataset.multi_iterator import MultiDataSetIterator


class ListMultiDataSetIterator(ListIterator[MultiDataSet], MultiDataSetIterator):
    """Iterate over MultiDataSets in memory, as `ListDataSetIterator` does over DataSets. Java has no such iterator.

    Examples
    --------
    >>> data = MultiDataSet([[[1.0], [2.0], [3.0]], [[4.0], [5.0], [6.0]]])
    >>> [minibatch.features[1].tolist() for minibatch in ListMultiDataSetIterator(data, batch=2)]
    [[[4.0], [5.0]], [[6.0]]]
    """

    @checked
    def __init__(self, data_sets: MultiDataSet | Iterable[MultiDataSet], batch: Count | None = None) -> None:
        super().__init__(data_sets, batch)


class SingletonMultiDataSetIterator(SingletonIterator[MultiDataSet], ListMultiDataSetIterator):
    """Hand out one MultiDataSet as it is, once per epoch, as `SingletonDataSetIterator` does a DataSet.

    Source: org.nd4j.linalg.dataset.adapter.SingletonMultiDataSetIterator.
    """

    @checked
    def __init__(self, data_set: MultiDataSet) -> None:
        super().__init__(data_set)


class ExistingMultiDataSetIterator(ExistingIterator[MultiDataSet], MultiDataSetIterator):
    """Iterate over any Python iterable of MultiDataSets, as `ExistingDataSetIterator` does over DataSets."""


class GeneratorMultiDataSetIterator(GeneratorIterator[MultiDataSet], MultiDataSetIterator):
    """Iterate over what a generator yields, as `GeneratorDataSetIterator` does: MultiDataSets, or tuples of lists.

    Examples
    --------
    >>> def minibatches():
    ...     yield [[[1.0]], [[2.0]]], [[[0]]]
    >>> next(GeneratorMultiDataSetIterator(minibatches))
    MultiDataSet(features[0]=[1, 1] float32, features[1]=[1, 1] float32, labels[0]=[1, 1] float32)
    """


class EarlyTerminationMultiDataSetIterator(EarlyTermination[MultiDataSet], MultiDataSetIterator):
    """Iterate over the first minibatches of another iterator, as `EarlyTerminationDataSetIterator` does.

    Source: org.deeplearning4j.datasets.iterator.EarlyTerminationMultiDataSetIterator. Differs: in Java a pre-processor
    of this iterator takes the place of the base's.
    """

    @checked
    def __init__(self, base: MultiDataSetIterator, n: Count) -> None:
        super().__init__(base, n)


class AsyncMultiDataSetIterator(Prefetching[MultiDataSet], MultiDataSetIterator):
    """Prefetch the minibatches of another iterator in a daemon thread, as `AsyncDataSetIterator` does.

    Source: org.nd4j.linalg.dataset.AsyncMultiDataSetIterator.
    """

    @checked
    def __init__(self, base: MultiDataSetIterator, queue_size: Count = 4) -> None:
        super().__init__(base, queue_size)
