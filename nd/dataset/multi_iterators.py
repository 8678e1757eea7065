"""Iterators over MultiDataSets in memory, in any iterable, from a generator, read ahead; see those over DataSets."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from nd.arguments import Count, checked
from nd.dataset.async_iterator import Prefetching
from nd.dataset.early_termination import EarlyTermination
from nd.dataset.existing import ExistingIterator
from nd.dataset.generator_iterator import GeneratorIterator
from nd.dataset.list_iterator import ListIterator
from nd.dataset.multi_data_set import MultiDataSet
from nd.dataset.multi_iterator import MultiDataSetIterator

Item = MultiDataSet | tuple[Any, ...]


class ListMultiDataSetIterator(ListIterator[MultiDataSet], MultiDataSetIterator):
    """Iterate over MultiDataSets in memory.

    Parameters
    ----------
    data_sets : MultiDataSet or iterable of MultiDataSet
    batch : int, optional
        Regroup the examples into minibatches of that many, the last one smaller if need be. Without it every
        MultiDataSet is one minibatch.

    Raises
    ------
    DataError
        There are no examples.

    Notes
    -----
    Attributes are those of `ListDataSetIterator`. Java has no such iterator.

    Examples
    --------
    >>> data = MultiDataSet([[[1.0], [2.0], [3.0]], [[4.0], [5.0], [6.0]]])
    >>> [minibatch.features[1].tolist() for minibatch in ListMultiDataSetIterator(data, batch=2)]
    [[[4.0], [5.0]], [[6.0]]]
    """

    @checked
    def __init__(self, data_sets: MultiDataSet | Iterable[MultiDataSet], batch: Count | None = None) -> None:
        super().__init__(data_sets, batch)


class SingletonMultiDataSetIterator(ListMultiDataSetIterator):
    """Hand out one MultiDataSet as it is, once per epoch.

    Parameters
    ----------
    data_set : MultiDataSet

    Notes
    -----
    Source: org.nd4j.linalg.dataset.adapter.SingletonMultiDataSetIterator. Differs: Java applies a pre-processor to the
    MultiDataSet itself, once; ours hands out a new one in every epoch.
    """

    @checked
    def __init__(self, data_set: MultiDataSet) -> None:
        super().__init__(data_set)

    def async_supported(self) -> bool:
        """Return False: there is nothing to read ahead."""
        return False


class ExistingMultiDataSetIterator(ExistingIterator[MultiDataSet], MultiDataSetIterator):
    """Iterate over any Python iterable of MultiDataSets, one minibatch a MultiDataSet.

    Parameters
    ----------
    iterable : iterable of MultiDataSet
        Reading starts at the first `has_next`. One that can be read only once (a generator, an open reader) cannot be
        reset, so it lasts for one epoch.

    Raises
    ------
    DTypeError
        It is no iterable.
    """


class GeneratorMultiDataSetIterator(GeneratorIterator[MultiDataSet], MultiDataSetIterator):
    """Iterate over the minibatches that a generator yields.

    Parameters
    ----------
    source : callable or iterable
        As of `GeneratorDataSetIterator`. It yields minibatches: a MultiDataSet, or a tuple ``(features, labels)``,
        which may go on with the masks of features and of labels, lists of arrays all.
    repeatable : bool
        Whether `source` yields the same minibatches at every call, which `state` needs.

    Raises
    ------
    DTypeError
        `source` is neither.

    Examples
    --------
    >>> def minibatches():
    ...     yield [[[1.0]], [[2.0]]], [[[0]]]
    >>> next(GeneratorMultiDataSetIterator(minibatches))
    MultiDataSet(features[0]=[1, 1] float32, features[1]=[1, 1] float32, labels[0]=[1, 1] float32)
    """

    @checked
    def __init__(self, source: Callable[[], Iterable[Item]] | Iterable[Item], *, repeatable: bool = True) -> None:
        super().__init__(source, repeatable)


class EarlyTerminationMultiDataSetIterator(EarlyTermination[MultiDataSet], MultiDataSetIterator):
    """Iterate over the first minibatches of another iterator, again from its beginning after each `reset`.

    Parameters
    ----------
    base : MultiDataSetIterator
    n : int
        Number of minibatches handed out until the next reset.

    Raises
    ------
    ArgumentError
        `base` is no MultiDataSetIterator, or `n` is less than 1.

    Notes
    -----
    Source: org.deeplearning4j.datasets.iterator.EarlyTerminationMultiDataSetIterator. Differs: in Java a pre-processor
    of this iterator takes the place of the base's.
    """

    @checked
    def __init__(self, base: MultiDataSetIterator, n: Count) -> None:
        super().__init__(base, n)


class AsyncMultiDataSetIterator(Prefetching[MultiDataSet], MultiDataSetIterator):
    """Prefetch the minibatches of another iterator in a daemon thread; their order stays the same.

    Parameters
    ----------
    base : MultiDataSetIterator
    queue_size : int
        Number of minibatches held ready.

    Raises
    ------
    ArgumentError
        `base` is no MultiDataSetIterator, or `queue_size` is less than 1.

    Notes
    -----
    All that `AsyncDataSetIterator` says of errors, of stopping and of threads holds. Source:
    org.nd4j.linalg.dataset.AsyncMultiDataSetIterator.
    """

    @checked
    def __init__(self, base: MultiDataSetIterator, queue_size: Count = 4) -> None:
        super().__init__(base, queue_size)
