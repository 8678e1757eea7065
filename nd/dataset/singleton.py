"""SingletonDataSetIterator: one DataSet, once per epoch."""

from __future__ import annotations

from nd.arguments import checked
from nd.dataset.dataset import DataSet
from nd.dataset.iterator import as_minibatch
from nd.dataset.list_iterator import ListDataSetIterator, SingletonIterator


class SingletonDataSetIterator(SingletonIterator[DataSet], ListDataSetIterator):
    """Hand out one DataSet as it is, once per epoch.

    Parameters
    ----------
    data_set : DataSet, or (features, labels)

    Notes
    -----
    Source: org.deeplearning4j.datasets.iterator.impl.SingletonDataSetIterator. Differs: Java applies a pre-processor
    to the DataSet itself, once; ours hands out a new one in every epoch.

    Examples
    --------
    >>> from nd.dataset import DataSet
    >>> [data_set.num_examples() for data_set in SingletonDataSetIterator(DataSet([[1.0], [2.0]]))]
    [2]
    """

    @checked
    def __init__(self, data_set: object) -> None:
        if isinstance(data_set, list):  # which ListDataSetIterator takes for several
            data_set = tuple(data_set)
        super().__init__([as_minibatch("SingletonDataSetIterator: data_set", data_set)])
