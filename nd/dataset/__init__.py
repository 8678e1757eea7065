"""Data sets and the iterators that feed them to a network, minibatch by minibatch."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from nd.dataset.async_iterator import AsyncDataSetIterator
from nd.dataset.dataset import DataSet
from nd.dataset.digits import DigitsDataSetIterator
from nd.dataset.existing import ExistingDataSetIterator
from nd.dataset.iris import IrisDataSetIterator
from nd.dataset.iterator import (
    DataSetIterator,
    DataSetPreProcessor,
    EarlyTerminationDataSetIterator,
    ListDataSetIterator,
)
from nd.dataset.mnist import MnistDataSetIterator

if TYPE_CHECKING:
    from nd.dataset.csv_iterator import CsvDataSetIterator
    from nd.dataset.dataframe_iterator import DataFrameDataSetIterator
    from nd.dataset.generator_iterator import GeneratorDataSetIterator
    from nd.dataset.kfold import KFoldIterator
    from nd.dataset.multiple_epochs import MultipleEpochsIterator
    from nd.dataset.normalizers import (
        ImagePreProcessingScaler,
        Normalizer,
        NormalizerMinMaxScaler,
        NormalizerStandardize,
        VGG16ImagePreProcessor,
    )
    from nd.dataset.npz_iterator import NpzDataSetIterator
    from nd.dataset.numpy_iterator import NumpyDataSetIterator
    from nd.dataset.sampling import SamplingDataSetIterator
    from nd.dataset.singleton import SingletonDataSetIterator

__all__ = [
    "AsyncDataSetIterator",
    "CsvDataSetIterator",
    "DataFrameDataSetIterator",
    "DataSet",
    "DataSetIterator",
    "DataSetPreProcessor",
    "DigitsDataSetIterator",
    "EarlyTerminationDataSetIterator",
    "ExistingDataSetIterator",
    "GeneratorDataSetIterator",
    "ImagePreProcessingScaler",
    "IrisDataSetIterator",
    "KFoldIterator",
    "ListDataSetIterator",
    "MnistDataSetIterator",
    "MultipleEpochsIterator",
    "Normalizer",
    "NormalizerMinMaxScaler",
    "NormalizerStandardize",
    "NpzDataSetIterator",
    "NumpyDataSetIterator",
    "SamplingDataSetIterator",
    "SingletonDataSetIterator",
    "VGG16ImagePreProcessor",
]

ON_DEMAND = {
    "CsvDataSetIterator": "csv_iterator",
    "DataFrameDataSetIterator": "dataframe_iterator",
    "GeneratorDataSetIterator": "generator_iterator",
    "ImagePreProcessingScaler": "normalizers",
    "KFoldIterator": "kfold",
    "MultipleEpochsIterator": "multiple_epochs",
    "Normalizer": "normalizers",
    "NormalizerMinMaxScaler": "normalizers",
    "NormalizerStandardize": "normalizers",
    "NpzDataSetIterator": "npz_iterator",
    "NumpyDataSetIterator": "numpy_iterator",
    "SamplingDataSetIterator": "sampling",
    "SingletonDataSetIterator": "singleton",
    "VGG16ImagePreProcessor": "normalizers",
}
"""Name -> module that is imported when the name is first asked for: a program needs few of these, and all of them
would be a tenth of what importing the library takes."""


def __getattr__(name: str) -> Any:
    if name not in ON_DEMAND:
        raise AttributeError(f"module 'nd.dataset' has no attribute {name!r}")
    found = getattr(importlib.import_module(f"nd.dataset.{ON_DEMAND[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
