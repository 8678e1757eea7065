"""NumpyMultiDataSetIterator: arrays of several inputs and outputs."""

from __future__ import annotations

from backends.errors import DataError
from nd.arguments import Count, checked
from nd.dataset.multi_data_set import MultiDataSet
from nd.dataset.multi_iterator import MultiDataSetIterator
from nd.dataset.numpy_iterator import pick
from nd.dataset.order import EpochOrder
from nd.dataset.ordered import OrderedIterator


class NumpyMultiDataSetIterator(OrderedIterator[MultiDataSet], MultiDataSetIterator):
    """Iterate over arrays of several inputs and outputs, as `NumpyDataSetIterator` does over one of each.

    Parameters
    ----------
    features, labels, features_masks, labels_masks
        As of `MultiDataSet`.
    batch, shuffle, seed
        As of `NumpyDataSetIterator`, with the same orders. Java has no such iterator.

    Examples
    --------
    >>> import numpy as np
    >>> iterator = NumpyMultiDataSetIterator([np.arange(3.0)[:, None], np.ones((3, 2))], np.eye(3), batch=2)
    >>> [minibatch.features[0].ravel().tolist() for minibatch in iterator]
    [[0.0, 1.0], [2.0]]
    """

    @checked
    def __init__(
        self,
        features: object,
        labels: object = None,
        batch: Count = 32,
        *,
        features_masks: object = None,
        labels_masks: object = None,
        shuffle: bool = False,
        seed: int = 0,
    ) -> None:
        self._data = MultiDataSet(features, labels, features_masks, labels_masks)
        total = self._data.aligned_examples()
        if not total:
            raise DataError(f"{type(self).__name__}: expected examples, got {self._data!r}.")
        super().__init__(total, batch, EpochOrder(total, seed if shuffle else None))

    def _examples(self, start: int, stop: int) -> MultiDataSet:
        return pick(self._data, self.order.select(start, stop))
