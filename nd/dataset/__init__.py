"""Data sets and the iterators that feed them to a network, minibatch by minibatch.

The imports for type checkers are written from the table of names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nd.on_demand import names_on_demand

if TYPE_CHECKING:
    from .alignment import AlignmentMode as AlignmentMode
    from .alignment import SeriesColumns as SeriesColumns
    from .async_iterator import AsyncDataSetIterator as AsyncDataSetIterator
    from .boxes import box_labels as box_labels
    from .characters import CharacterIterator as CharacterIterator
    from .cifar10 import Cifar10DataSetIterator as Cifar10DataSetIterator
    from .class_labels import one_hot as one_hot
    from .composite import CompositeDataSetPreProcessor as CompositeDataSetPreProcessor
    from .composite import CompositeMultiDataSetPreProcessor as CompositeMultiDataSetPreProcessor
    from .csv_iterator import CsvDataSetIterator as CsvDataSetIterator
    from .dataframe_iterator import DataFrameDataSetIterator as DataFrameDataSetIterator
    from .dataset import DataSet as DataSet
    from .digits import DigitsDataSetIterator as DigitsDataSetIterator
    from .early_termination import EarlyTerminationDataSetIterator as EarlyTerminationDataSetIterator
    from .emnist import EmnistDataSetIterator as EmnistDataSetIterator
    from .existing import ExistingDataSetIterator as ExistingDataSetIterator
    from .fashion_mnist import FashionMnistDataSetIterator as FashionMnistDataSetIterator
    from .generator_iterator import GeneratorDataSetIterator as GeneratorDataSetIterator
    from .images.folder import ImageFolderIterator as ImageFolderIterator
    from .iris import IrisDataSetIterator as IrisDataSetIterator
    from .iterator import DataSetIterator as DataSetIterator
    from .kfold import KFoldIterator as KFoldIterator
    from .last_time_step import LabelLastTimeStepPreProcessor as LabelLastTimeStepPreProcessor
    from .list_iterator import ListDataSetIterator as ListDataSetIterator
    from .mnist import MnistDataSetIterator as MnistDataSetIterator
    from .multi_data_set import MultiDataSet as MultiDataSet
    from .multi_iterator import MultiDataSetIterator as MultiDataSetIterator
    from .multi_iterator import MultiDataSetIteratorAdapter as MultiDataSetIteratorAdapter
    from .multi_iterator import MultiDataSetWrapperIterator as MultiDataSetWrapperIterator
    from .multi_iterators import AsyncMultiDataSetIterator as AsyncMultiDataSetIterator
    from .multi_iterators import EarlyTerminationMultiDataSetIterator as EarlyTerminationMultiDataSetIterator
    from .multi_iterators import ExistingMultiDataSetIterator as ExistingMultiDataSetIterator
    from .multi_iterators import GeneratorMultiDataSetIterator as GeneratorMultiDataSetIterator
    from .multi_iterators import ListMultiDataSetIterator as ListMultiDataSetIterator
    from .multi_iterators import SingletonMultiDataSetIterator as SingletonMultiDataSetIterator
    from .multi_numpy import NumpyMultiDataSetIterator as NumpyMultiDataSetIterator
    from .multiple_epochs import MultipleEpochsIterator as MultipleEpochsIterator
    from .normalizers import ImageMultiPreProcessingScaler as ImageMultiPreProcessingScaler
    from .normalizers import ImagePreProcessingScaler as ImagePreProcessingScaler
    from .normalizers import MultiNormalizer as MultiNormalizer
    from .normalizers import MultiNormalizerHybrid as MultiNormalizerHybrid
    from .normalizers import MultiNormalizerMinMaxScaler as MultiNormalizerMinMaxScaler
    from .normalizers import MultiNormalizerStandardize as MultiNormalizerStandardize
    from .normalizers import Normalizer as Normalizer
    from .normalizers import NormalizerMinMaxScaler as NormalizerMinMaxScaler
    from .normalizers import NormalizerStandardize as NormalizerStandardize
    from .normalizers import VGG16ImagePreProcessor as VGG16ImagePreProcessor
    from .npz_iterator import NpzDataSetIterator as NpzDataSetIterator
    from .numpy_iterator import NumpyDataSetIterator as NumpyDataSetIterator
    from .pre_processor import DataSetPreProcessor as DataSetPreProcessor
    from .pre_processor import MultiDataSetPreProcessor as MultiDataSetPreProcessor
    from .sampling import SamplingDataSetIterator as SamplingDataSetIterator
    from .sequence_iterator import SequenceRecordReaderDataSetIterator as SequenceRecordReaderDataSetIterator
    from .sequence_multi_iterator import RecordReaderMultiDataSetIterator as RecordReaderMultiDataSetIterator
    from .sequence_reader import CSVSequenceRecordReader as CSVSequenceRecordReader
    from .sequence_reader import NumberedFileInputSplit as NumberedFileInputSplit
    from .singleton import SingletonDataSetIterator as SingletonDataSetIterator
    from .sliding_windows import SlidingWindowDataSetIterator as SlidingWindowDataSetIterator
    from .sonnets import shakespeare_sonnets as shakespeare_sonnets

if not TYPE_CHECKING:
    _NAMES = {
        "alignment": "AlignmentMode SeriesColumns",
        "async_iterator": "AsyncDataSetIterator",
        "boxes": "box_labels",
        "characters": "CharacterIterator",
        "cifar10": "Cifar10DataSetIterator",
        "class_labels": "one_hot",
        "composite": "CompositeDataSetPreProcessor CompositeMultiDataSetPreProcessor",
        "csv_iterator": "CsvDataSetIterator",
        "dataframe_iterator": "DataFrameDataSetIterator",
        "dataset": "DataSet",
        "digits": "DigitsDataSetIterator",
        "early_termination": "EarlyTerminationDataSetIterator",
        "emnist": "EmnistDataSetIterator",
        "existing": "ExistingDataSetIterator",
        "fashion_mnist": "FashionMnistDataSetIterator",
        "generator_iterator": "GeneratorDataSetIterator",
        "images.folder": "ImageFolderIterator",
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
    }
    __getattr__, __dir__ = names_on_demand(__name__, _NAMES)
    __all__ = sorted(" ".join(_NAMES.values()).split())
