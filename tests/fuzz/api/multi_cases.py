"""How to call what is for MultiDataSets."""

from __future__ import annotations

from typing import Any

import numpy as np

from nd.dataset import ListMultiDataSetIterator

from .prepared import iterator, multi_iterator, saved_multi_data_set, saved_multi_normalizer
from .values import data_set, multi_data_set

_NORMALIZERS = (
    "ImageMultiPreProcessingScaler",
    "MultiNormalizerHybrid",
    "MultiNormalizerMinMaxScaler",
    "MultiNormalizerStandardize",
)

MULTI: dict[str, Any] = {
    "nd.dataset.AsyncMultiDataSetIterator": lambda folder: {"base": multi_iterator()},
    "nd.dataset.EarlyTerminationMultiDataSetIterator": lambda folder: {"base": multi_iterator(), "n": 2},
    "nd.dataset.ExistingMultiDataSetIterator": lambda folder: {"iterable": [multi_data_set()]},
    "nd.dataset.GeneratorMultiDataSetIterator": lambda folder: {"source": lambda: iter([multi_data_set()])},
    "nd.dataset.ImageMultiPreProcessingScaler": {"indices": [0]},
    "nd.dataset.ListMultiDataSetIterator": lambda folder: {"data_sets": multi_data_set()},
    "nd.dataset.MultiDataSet.load": lambda folder: {"path": saved_multi_data_set(folder)},
    "nd.dataset.MultiDataSet.merge": lambda folder: {"data_sets": [multi_data_set(), multi_data_set()]},
    "nd.dataset.MultiDataSet.to_data_set": {},
    **{f"nd.dataset.MultiDataSet.{name}": lambda folder: {"index": 0, "array": np.ones((6, 2), np.float32)}
       for name in ("set_features", "set_labels", "set_features_masks", "set_labels_masks")},
    "nd.dataset.MultiDataSetIteratorAdapter": lambda folder: {"base": iterator()},
    "nd.dataset.MultiDataSetWrapperIterator": lambda folder: {
        "base": ListMultiDataSetIterator(data_set().to_multi_data_set(), 2),
    },
    "nd.dataset.NumpyMultiDataSetIterator": lambda folder: {
        "features": multi_data_set().features, "labels": multi_data_set().labels, "batch": 2,
    },
    "nd.dataset.SingletonMultiDataSetIterator": lambda folder: {"data_set": multi_data_set()},
    **{
        f"nd.dataset.{name}.{method}": lambda folder: {"data": multi_data_set()}
        for name in _NORMALIZERS
        for method in ("pre_process", "transform", "revert")
    },
    **{
        f"nd.dataset.{name}.{method}": lambda folder, part=part: {part: getattr(multi_data_set(), part)}
        for name in _NORMALIZERS
        for part in ("features", "labels") for method in (f"transform_{part}", f"revert_{part}")
    },
    **{
        f"nd.dataset.{name}.fit": lambda folder: {"data": multi_data_set()}
        for name in _NORMALIZERS
    },
    **{
        f"nd.dataset.{name}.load": lambda folder: {"path": saved_multi_normalizer(folder)}
        for name in _NORMALIZERS
    },
    **{f"nd.dataset.MultiNormalizerHybrid.{name}": {"index": 0}
       for name in ("get_input_stats", "get_output_stats", "min_max_scale_input", "min_max_scale_output",
                    "standardize_input", "standardize_output")},
    **{f"nd.dataset.MultiNormalizerMinMaxScaler.{name}": {"index": 0}
       for name in ("get_label_max", "get_label_min", "get_max", "get_min")},
    **{f"nd.dataset.MultiNormalizerStandardize.{name}": {"index": 0}
       for name in ("get_feature_mean", "get_feature_std", "get_label_mean", "get_label_std")},
    **{
        f"nd.dataset.{name}.{method}": {"rows": [(np.zeros(4), np.ones(4)), (np.zeros(3), np.ones(3))][:count]}
        for name in ("MultiNormalizerMinMaxScaler", "MultiNormalizerStandardize")
        for method, count in (("set_feature_stats", 2), ("set_label_stats", 1))
    },
}  # fmt: skip
"""Name of a target -> good arguments, or a function of the folder that makes them."""
