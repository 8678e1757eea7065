"""Data sets and the iterators that feed them to a network, minibatch by minibatch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nd.on_demand import names_on_demand

if TYPE_CHECKING:
    from .alignment import AlignmentMode, SeriesColumns
    from .async_iterator import AsyncDataSetIterator
    from .characters import CharacterIterator
    from .csv_iterator import CsvDataSetIterator
    from .dataframe_iterator import DataFrameDataSetIterator
    from .dataset import DataSet, one_hot
    from .digits import DigitsDataSetIterator
    from .early_termination import EarlyTerminationDataSetIterator
    from .existing import ExistingDataSetIterator
    from .generator_iterator import GeneratorDataSetIterator
    from .iris import IrisDataSetIterator
    from .iterator import DataSetIterator
    from .kfold import KFoldIterator
    from .last_time_step import LabelLastTimeStepPreProcessor
    from .list_iterator import ListDataSetIterator
    from .mnist import MnistDataSetIterator
    from .multi_data_set import MultiDataSet
    from .multi_iterator import MultiDataSetIterator, MultiDataSetIteratorAdapter, MultiDataSetWrapperIterator
    from .multi_iterators import (
        AsyncMultiDataSetIterator,
        EarlyTerminationMultiDataSetIterator,
        ExistingMultiDataSetIterator,
        GeneratorMultiDataSetIterator,
        ListMultiDataSetIterator,
        SingletonMultiDataSetIterator,
    )
    from .multi_numpy import NumpyMultiDataSetIterator
    from .multiple_epochs import MultipleEpochsIterator
    from .normalizers import (
        ImageMultiPreProcessingScaler,
        ImagePreProcessingScaler,
        MultiNormalizer,
        MultiNormalizerHybrid,
        MultiNormalizerMinMaxScaler,
        MultiNormalizerStandardize,
        Normalizer,
        NormalizerMinMaxScaler,
        NormalizerStandardize,
        VGG16ImagePreProcessor,
    )
    from .npz_iterator import NpzDataSetIterator
    from .numpy_iterator import NumpyDataSetIterator
    from .pre_processor import DataSetPreProcessor, MultiDataSetPreProcessor
    from .sampling import SamplingDataSetIterator
    from .sequence_iterator import SequenceRecordReaderDataSetIterator
    from .sequence_multi_iterator import RecordReaderMultiDataSetIterator
    from .sequence_reader import CSVSequenceRecordReader, NumberedFileInputSplit
    from .singleton import SingletonDataSetIterator
    from .sliding_windows import SlidingWindowDataSetIterator
    from .sonnets import shakespeare_sonnets
else:
    __getattr__, __dir__ = names_on_demand(
        __name__,
        {
            "alignment": "AlignmentMode SeriesColumns",
            "async_iterator": "AsyncDataSetIterator",
            "characters": "CharacterIterator",
            "csv_iterator": "CsvDataSetIterator",
            "dataframe_iterator": "DataFrameDataSetIterator",
            "dataset": "DataSet one_hot",
            "digits": "DigitsDataSetIterator",
            "early_termination": "EarlyTerminationDataSetIterator",
            "existing": "ExistingDataSetIterator",
            "generator_iterator": "GeneratorDataSetIterator",
            "iris": "IrisDataSetIterator",
            "iterator": "DataSetIterator",
            "kfold": "KFoldIterator",
            "last_time_step": "LabelLastTimeStepPreProcessor",
            "list_iterator": "ListDataSetIterator",
            "mnist": "MnistDataSetIterator",
            "multi_data_set": "MultiDataSet",
            "multi_iterator": "MultiDataSetIterator MultiDataSetIteratorAdapter MultiDataSetWrapperIterator",
            "multi_iterators": (
                "AsyncMultiDataSetIterator EarlyTerminationMultiDataSetIterator ExistingMultiDataSetIterator "
                "GeneratorMultiDataSetIterator ListMultiDataSetIterator SingletonMultiDataSetIterator"
            ),
            "multi_numpy": "NumpyMultiDataSetIterator",
            "multiple_epochs": "MultipleEpochsIterator",
            "normalizers": (
                "ImageMultiPreProcessingScaler ImagePreProcessingScaler MultiNormalizer MultiNormalizerHybrid "
                "MultiNormalizerMinMaxScaler MultiNormalizerStandardize Normalizer NormalizerMinMaxScaler "
                "NormalizerStandardize VGG16ImagePreProcessor"
            ),
            "npz_iterator": "NpzDataSetIterator",
            "numpy_iterator": "NumpyDataSetIterator",
            "pre_processor": "DataSetPreProcessor MultiDataSetPreProcessor",
            "sampling": "SamplingDataSetIterator",
            "sequence_iterator": "SequenceRecordReaderDataSetIterator",
            "sequence_multi_iterator": "RecordReaderMultiDataSetIterator",
            "sequence_reader": "CSVSequenceRecordReader NumberedFileInputSplit",
            "singleton": "SingletonDataSetIterator",
            "sliding_windows": "SlidingWindowDataSetIterator",
            "sonnets": "shakespeare_sonnets",
        },
    )

__all__ = [
    "AlignmentMode",
    "AsyncDataSetIterator",
    "AsyncMultiDataSetIterator",
    "CSVSequenceRecordReader",
    "CharacterIterator",
    "CsvDataSetIterator",
    "DataFrameDataSetIterator",
    "DataSet",
    "DataSetIterator",
    "DataSetPreProcessor",
    "DigitsDataSetIterator",
    "EarlyTerminationDataSetIterator",
    "EarlyTerminationMultiDataSetIterator",
    "ExistingDataSetIterator",
    "ExistingMultiDataSetIterator",
    "GeneratorDataSetIterator",
    "GeneratorMultiDataSetIterator",
    "ImageMultiPreProcessingScaler",
    "ImagePreProcessingScaler",
    "IrisDataSetIterator",
    "KFoldIterator",
    "LabelLastTimeStepPreProcessor",
    "ListDataSetIterator",
    "ListMultiDataSetIterator",
    "MnistDataSetIterator",
    "MultiDataSet",
    "MultiDataSetIterator",
    "MultiDataSetIteratorAdapter",
    "MultiDataSetPreProcessor",
    "MultiDataSetWrapperIterator",
    "MultiNormalizer",
    "MultiNormalizerHybrid",
    "MultiNormalizerMinMaxScaler",
    "MultiNormalizerStandardize",
    "MultipleEpochsIterator",
    "Normalizer",
    "NormalizerMinMaxScaler",
    "NormalizerStandardize",
    "NpzDataSetIterator",
    "NumberedFileInputSplit",
    "NumpyDataSetIterator",
    "NumpyMultiDataSetIterator",
    "RecordReaderMultiDataSetIterator",
    "SamplingDataSetIterator",
    "SequenceRecordReaderDataSetIterator",
    "SeriesColumns",
    "SingletonDataSetIterator",
    "SingletonMultiDataSetIterator",
    "SlidingWindowDataSetIterator",
    "VGG16ImagePreProcessor",
    "one_hot",
    "shakespeare_sonnets",
]
