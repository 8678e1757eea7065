"""Data sets and the iterators that feed them to a network, minibatch by minibatch."""

from nd.dataset.async_iterator import AsyncDataSetIterator
from nd.dataset.dataset import DataSet
from nd.dataset.digits import DigitsDataSetIterator
from nd.dataset.existing import ExistingDataSetIterator
from nd.dataset.iris import IrisDataSetIterator
from nd.dataset.iterator import (
    DataSetIterator,
    EarlyTerminationDataSetIterator,
    ListDataSetIterator,
)
from nd.dataset.mnist import MnistDataSetIterator

__all__ = [
    "AsyncDataSetIterator",
    "DataSet",
    "DataSetIterator",
    "DigitsDataSetIterator",
    "EarlyTerminationDataSetIterator",
    "ExistingDataSetIterator",
    "IrisDataSetIterator",
    "ListDataSetIterator",
    "MnistDataSetIterator",
]
