"""Files and instances that are ready to be called with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import nd
from nd.dataset import (
    DataSet,
    ListDataSetIterator,
    ListMultiDataSetIterator,
    MultiDataSet,
    MultiNormalizerHybrid,
    MultiNormalizerStandardize,
    NormalizerStandardize,
)
from nn import MultiLayerNetwork, TransferLearning

from .graph_cases import PREPARED_GRAPHS
from .series_cases import PREPARED_READERS
from .values import data_set, multi_data_set, network


def iterator() -> ListDataSetIterator:
    return ListDataSetIterator(data_set(), 2)


def multi_iterator() -> ListMultiDataSetIterator:
    return ListMultiDataSetIterator(multi_data_set(), 2)


def rows() -> Any:
    return nd.create(np.arange(12.0).reshape(3, 4) / 12.0, dtype="float32")


def probabilities(*columns: int) -> Any:
    shape = (6, *columns)
    found = (np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape) % 5 + 1) / 10
    return (found / found.sum(1, keepdims=True)).astype(np.float32) if columns != (1,) else found.astype(np.float32)


def binary() -> Any:
    return np.array([[0.0], [1.0], [1.0], [0.0], [1.0], [0.0]], np.float32)


def saved_network(folder: Any) -> Any:
    """Return the path of a model zip."""
    path = folder / "network.zip"
    if not path.exists():
        network().save(path, normalizer=NormalizerStandardize().fit(data_set()))
    return path


def saved_checkpoint(folder: Any) -> Any:
    """Return the path of a checkpoint."""
    path = folder / "checkpoint.zip"
    if not path.exists():
        network().save_checkpoint(path)
    return path


def saved_array(folder: Any) -> Any:
    """Return the path of an array."""
    path = folder / "array.bin"
    if not path.exists():
        nd.serde.save(path, rows())
    return path


def saved_text(folder: Any) -> Any:
    """Return the path of a CSV file."""
    path = folder / "rows.csv"
    path.write_text("".join(f"{i},{i + 1},{i % 3}\n" for i in range(6)))
    return path


def saved_arrays(folder: Any) -> Any:
    """Return the path of an .npz file."""
    path = folder / "arrays.npz"
    if not path.exists():
        np.savez(path, features=data_set().features, labels=data_set().labels)
    return path


def saved_data_set(folder: Any) -> Any:
    """Return the path of a DataSet."""
    path = folder / "data.bin"
    if not path.exists():
        data_set().save(path)
    return path


def saved_multi_data_set(folder: Any) -> Any:
    """Return the path of a MultiDataSet."""
    path = folder / "multi.bin"
    if not path.exists():
        multi_data_set().save(path)
    return path


def saved_multi_normalizer(folder: Any) -> Any:
    """Return the path of a normalizer of MultiDataSets."""
    path = folder / "multi_normalizer.bin"
    if not path.exists():
        MultiNormalizerStandardize().fit(multi_data_set()).save(path)
    return path


def saved_normalizer(folder: Any) -> Any:
    """Return the path of a normalizer."""
    path = folder / "normalizer.bin"
    if not path.exists():
        NormalizerStandardize().fit(data_set()).save(path)
    return path


def trained() -> MultiLayerNetwork:
    """Return a network with a minibatch set, so that everything of it can be called."""
    net = network()
    net.keep(0)
    net.fit_batch(data_set())
    net.class_names = ("a", "b", "c")
    return net


def _evaluated(name: str, labels: Any, predictions: Any) -> Callable[..., Any]:
    """Return what makes an evaluation that has seen something."""

    def make(**arguments: Any) -> Any:
        import nd.evaluation

        made = getattr(nd.evaluation, name)(**arguments)
        made.eval(labels, predictions)
        return made

    return make


def _fitted(name: str) -> Callable[..., Any]:
    def make(**arguments: Any) -> Any:
        import nd.dataset

        made = getattr(nd.dataset, name)(**arguments)
        made.fit_label(True)
        return made.fit(data_set())

    return make


def _fitted_multi(name: str) -> Callable[..., Any]:
    def make(**arguments: Any) -> Any:
        import nd.dataset

        made = getattr(nd.dataset, name)(**arguments)
        made.fit_label(True)
        return made.fit(multi_data_set())

    return make


def _multi_arrays() -> dict[str, Any]:
    return {"features": multi_data_set().features, "labels": multi_data_set().labels}


def _hybrid(**arguments: Any) -> Any:
    made = MultiNormalizerHybrid(**arguments).standardize_all_inputs().min_max_scale_all_outputs()
    return made.fit(multi_data_set())


def featurized() -> DataSet:
    return DataSet(np.ones((6, 5), np.float32), data_set().labels)


def frozen() -> MultiLayerNetwork:
    return TransferLearning(network(), feature_extractor=0).build()


PREPARED: dict[str, Callable[..., Any]] = {
    "nd.dataset.DataSet": lambda **arguments: DataSet(**{"labels": data_set().labels, **arguments}),
    "nd.dataset.MultiDataSet": lambda **arguments: MultiDataSet(**{**_multi_arrays(), **arguments}),
    "nd.dataset.MultiNormalizerHybrid": _hybrid,
    "nd.dataset.MultiNormalizerMinMaxScaler": _fitted_multi("MultiNormalizerMinMaxScaler"),
    "nd.dataset.MultiNormalizerStandardize": _fitted_multi("MultiNormalizerStandardize"),
    "nd.dataset.NormalizerMinMaxScaler": _fitted("NormalizerMinMaxScaler"),
    "nd.dataset.NormalizerStandardize": _fitted("NormalizerStandardize"),
    "nd.evaluation.Evaluation": _evaluated("Evaluation", data_set().labels, probabilities(3)),
    "nd.evaluation.EvaluationBinary": _evaluated("EvaluationBinary", data_set().labels, probabilities(3)),
    "nd.evaluation.EvaluationCalibration": _evaluated("EvaluationCalibration", data_set().labels, probabilities(3)),
    "nd.evaluation.ROC": _evaluated("ROC", binary(), probabilities(1)),
    "nd.evaluation.ROCBinary": _evaluated("ROCBinary", data_set().labels, probabilities(3)),
    "nd.evaluation.ROCMultiClass": _evaluated("ROCMultiClass", data_set().labels, probabilities(3)),
    "nd.evaluation.RegressionEvaluation": _evaluated("RegressionEvaluation", data_set().labels, probabilities(3)),
    "nn.MultiLayerNetwork": lambda **arguments: trained(),
    **PREPARED_GRAPHS,
    **PREPARED_READERS,
}
"""Class -> what makes an instance whose methods can be called, in the place of the constructor."""
