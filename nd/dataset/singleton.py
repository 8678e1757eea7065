"""SingletonDataSetIterator: one DataSet, once per epoch."""

from __future__ import annotations

from nd.arguments import checked
from nd.dataset.dataset import DataSet
from nd.dataset.list_iterator import ListDataSetIterator


class SingletonDataSetIterator(ListDataSetIterator):
    """Hand out one DataSet as it is, once per epoch.

    Parameters
    ----------
    data_set : DataSet

    Notes
    -----
    Source: org.deeplearning4j.datasets.iterator.impl.SingletonDataSetIterator. Differs: Java applies a pre-processor
    to the DataSet itself, once; ours hands out a new one in every epoch.

    Examples
    --------
    >>> [data_set.num_examples() for data_set in SingletonDataSetIterator(DataSet([[1.0], [2.0]]))]
    [2]
    """

    @checked
    def __init__(self, data_set: DataSet) -> None:
        super().__init__(data_set)

    def async_supported(self) -> bool:
        """Return False: there is nothing to read ahead."""
        return False
