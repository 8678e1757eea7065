"""Data sets and the iterators that feed them to a network, minibatch by minibatch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nd.on_demand import names_on_demand

if TYPE_CHECKING:
    from .async_iterator import AsyncDataSetIterator
    from .csv_iterator import CsvDataSetIterator
    from .dataframe_iterator import DataFrameDataSetIterator
    from .dataset import DataSet, one_hot
    from .digits import DigitsDataSetIterator
    from .existing import ExistingDataSetIterator
    from .generator_iterator import GeneratorDataSetIterator
    from .iris import IrisDataSetIterator
    from .iterator import DataSetIterator, EarlyTerminationDataSetIterator, ListDataSetIterator
    from .kfold import KFoldIterator
    from .mnist import MnistDataSetIterator
    from .multiple_epochs import MultipleEpochsIterator
    from .normalizers import (
        ImagePreProcessingScaler,
        Normalizer,
        NormalizerMinMaxScaler,
        NormalizerStandardize,
        VGG16ImagePreProcessor,
    )
    from .npz_iterator import NpzDataSetIterator
    from .numpy_iterator import NumpyDataSetIterator
    from .pre_processor import DataSetPreProcessor
    from .sampling import SamplingDataSetIterator
    from .singleton import SingletonDataSetIterator
else:
    __getattr__, __dir__ = names_on_demand(
        __name__,
        {
            "async_iterator": "AsyncDataSetIterator",
            "csv_iterator": "CsvDataSetIterator",
            "dataframe_iterator": "DataFrameDataSetIterator",
            "dataset": "DataSet one_hot",
            "digits": "DigitsDataSetIterator",
            "existing": "ExistingDataSetIterator",
            "generator_iterator": "GeneratorDataSetIterator",
            "iris": "IrisDataSetIterator",
            "iterator": "DataSetIterator EarlyTerminationDataSetIterator ListDataSetIterator",
            "kfold": "KFoldIterator",
            "mnist": "MnistDataSetIterator",
            "multiple_epochs": "MultipleEpochsIterator",
            "normalizers": (
                "ImagePreProcessingScaler Normalizer NormalizerMinMaxScaler NormalizerStandardize "
                "VGG16ImagePreProcessor"
            ),
            "npz_iterator": "NpzDataSetIterator",
            "numpy_iterator": "NumpyDataSetIterator",
            "pre_processor": "DataSetPreProcessor",
            "sampling": "SamplingDataSetIterator",
            "singleton": "SingletonDataSetIterator",
        },
    )

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
    "one_hot",
]
