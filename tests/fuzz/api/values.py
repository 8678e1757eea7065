"""Arguments: good ones, by the name of the parameter, and wrong ones, by what its annotation says."""

from __future__ import annotations

import inspect
import math
import os
import types
import typing
from collections.abc import Callable, Mapping
from enum import StrEnum
from numbers import Real
from typing import Any

import numpy as np

from nd.arguments import EVEN_NAN
from nd.dataset import DataSet, ListDataSetIterator, MultiDataSet, NormalizerStandardize
from nd.evaluation import Evaluation
from nn import (
    ComputationGraph,
    DenseLayer,
    InputType,
    MergeVertex,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
)
from optimize import MaxNormConstraint, Sgd
from optimize.earlystopping import DataSetLossCalculator


def data_set() -> DataSet:
    """Return six examples of four features and three classes."""
    features = np.arange(24.0, dtype=np.float32).reshape(6, 4) / 24.0
    return DataSet(features, np.eye(3, dtype=np.float32)[[0, 1, 2, 0, 1, 2]])


def multi_data_set() -> MultiDataSet:
    """Return six examples of two inputs, four features and three, and one output of three classes."""
    return MultiDataSet([data_set().features, data_set().labels], [data_set().labels])


def configuration() -> Any:
    """Return that of a network for `data_set`."""
    layers = DenseLayer(n_out=5), OutputLayer(n_out=3, activation="softmax")
    return NeuralNetConfiguration(seed=1).list(*layers, input_type=InputType.feed_forward(4))


def network() -> MultiLayerNetwork:
    """Return a network for `data_set`."""
    return MultiLayerNetwork(configuration()).init()


def graph_configuration() -> Any:
    """Return that of a graph for `data_set`."""
    nodes = {
        "dense": (DenseLayer(n_out=5), "x"),
        "both": (MergeVertex(), "dense", "x"),
        "out": (OutputLayer(n_out=3), "both"),
    }
    return NeuralNetConfiguration(seed=1).graph(inputs={"x": InputType.feed_forward(4)}, nodes=nodes, outputs=["out"])


def graph() -> ComputationGraph:
    """Return a graph for `data_set`."""
    return ComputationGraph(graph_configuration()).init()


class Mystery:
    """Something that no parameter is for."""

    def __repr__(self) -> str:
        return "Mystery()"


class Lying:
    """Something that has an array's attributes, and they are something else."""

    shape = dtype = ndim = size = len

    def __repr__(self) -> str:
        return "Lying()"


WRONG: tuple[Any, ...] = (
    None, True, False, np.True_, -1, 0, 2.5, -0.5, math.nan, math.inf, -math.inf, 10**30, 1j, "", "abc", "1", b"abc",
    [], [1, "a"], (), (1, None), {}, {"a": 1}, set(), Mystery(), Mystery, print, np.float32("nan"), np.zeros((2, 3)),
    np.zeros((0, 4)), np.array(["a", "b"]), np.array([None, 1], dtype=object), np.ma.masked_array([1.0], [True]),
    np, len, Lying(), np.array(3), "\ud800", "\0", "x" * 100_000, ["x" * 100] * 1000,
)  # fmt: skip
HUGE = 10**30


def wrong_values(huge: bool) -> tuple[Any, ...]:
    """Return all of them; 10**30 only where it is not how often something long is done."""
    return tuple(value for value in WRONG if huge or value is not HUGE)


def annotation_of(function: Any, parameter: inspect.Parameter) -> Any:
    """Return what the annotation of a parameter means; Any where that cannot be told."""
    annotation = parameter.annotation
    if not isinstance(annotation, str):
        return Any if annotation is inspect.Parameter.empty else annotation
    plain = inspect.unwrap(function)
    owner = plain if isinstance(plain, type) else None
    for module in _modules_of(plain, owner, parameter.name):
        try:
            return eval(annotation, {**vars(typing), **vars(module)})
        except (NameError, TypeError, AttributeError):
            continue
    return Any


def _modules_of(plain: Any, owner: type | None, name: str) -> list[Any]:
    bases = owner.__mro__ if owner is not None else ()
    names = [base.__module__ for base in bases if name in vars(base).get("__annotations__", ())]
    names += [base.__module__ for base in bases]
    names.append(getattr(plain, "__module__", "builtins"))
    return [__import__(each, fromlist=["_"]) for each in dict.fromkeys(names) if each]


def is_nonsense(annotation: Any, value: Any) -> bool:
    """Tell whether an annotation asks for an array, which to `fits` is anything, and a value can never be one."""
    if annotation not in ("Array", "Array | None", "Array | float") or (value is None and "None" in annotation):
        return False
    return value is None or callable(value) or isinstance(value, (str, bytes, dict, set, Mystery, types.ModuleType))


def fits(annotation: Any, value: Any) -> bool | None:  # noqa: C901  one line for each kind
    """Tell whether a value is what an annotation says, None where that says too little; it is the fuzzer's own."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    value = value.item() if isinstance(value, np.ndarray) and value.shape == () else value
    if annotation is Any or isinstance(annotation, (str, typing.TypeVar)):
        return None
    if origin is typing.Annotated:
        kind = fits(arguments[0], value) or (EVEN_NAN in arguments and isinstance(value, Real) and math.isnan(value))
        return kind and all(each.holds(value) for each in arguments[1:] if hasattr(each, "holds"))
    if origin in (typing.Union, types.UnionType):
        answers = [fits(each, value) for each in arguments]
        return True if True in answers else None if None in answers else False
    if origin is typing.Literal:
        return isinstance(value, (str, int, type(None))) and value in arguments
    if annotation in (None, type(None)):
        return value is None
    is_bool = isinstance(value, (bool, np.bool_))
    simple: dict[Any, Callable[[], bool]] = {
        bool: lambda: is_bool,
        int: lambda: isinstance(value, (int, np.integer)) and not is_bool,
        float: lambda: isinstance(value, Real) and not is_bool and not math.isnan(value),
        str: lambda: isinstance(value, str),
    }
    if annotation in simple:
        return simple[annotation]()
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return isinstance(value, str) and value.lower() in list(annotation)
    base = origin or annotation
    if base in (tuple, list) or (isinstance(base, type) and issubclass(base, (Mapping, os.PathLike))):
        return None if isinstance(value, base) or hasattr(value, "__len__") else False
    if base is Callable or not isinstance(base, type) or base.__module__ in ("collections.abc", "typing"):
        return None if hasattr(value, "__iter__") or callable(value) else False
    try:
        return isinstance(value, base)
    except TypeError:  # a protocol that is not for run time
        return None


def good_values(folder: Any) -> dict[str, Callable[[], Any]]:
    """Return name of a parameter -> what makes a good argument, for all functions that do not need another."""
    rows = lambda: np.arange(12.0, dtype=np.float32).reshape(3, 4) / 12.0  # noqa: E731
    probabilities = lambda: np.full((6, 3), 1.0 / 3.0, np.float32)  # noqa: E731
    one_hot = lambda: data_set().labels  # noqa: E731
    return {
        "x": rows, "y": rows, "z": rows, "a": rows, "b": rows, "array": rows, "t": rows, "epsilon": rows,
        "features": lambda: data_set().features, "labels": one_hot, "predictions": probabilities, "p": probabilities,
        "data": data_set, "data_set": data_set, "batch": lambda: 2, "batch_size": lambda: 2, "seed": lambda: 1,
        "iterator": lambda: ListDataSetIterator(data_set(), 2), "source": lambda: ListDataSetIterator(data_set(), 2),
        "train_iterator": lambda: ListDataSetIterator(data_set(), 2),
        "epochs": lambda: 1, "iteration": lambda: 0, "epoch": lambda: 0, "n": lambda: 3, "shape": lambda: (3, 4),
        "dtype": lambda: "float32", "network": network, "model": network, "net": network, "conf": configuration,
        "layers": lambda: DenseLayer(n_in=4, n_out=3), "layer": lambda: DenseLayer(n_in=4, n_out=3),
        "updater": lambda: Sgd(0.1), "constraint": lambda: MaxNormConstraint(1.0), "evaluation": Evaluation,
        "path": lambda: folder / "file.bin", "folder": lambda: folder, "directory": lambda: folder,
        "normalizer": lambda: NormalizerStandardize().fit(data_set()), "name": lambda: "a", "text": lambda: "{}",
        "cls": lambda: 0, "output": lambda: 0, "column": lambda: 0, "i": lambda: 0, "beta": lambda: 1.0,
        "params": rows, "pre_processor": lambda: NormalizerStandardize().fit(data_set()),
        "value": lambda: 0.5, "rate": lambda: 0.5, "axis": lambda: 1, "count": lambda: 3, "threshold": lambda: 0.5,
        "schedule_type": lambda: "iteration", "initial_value": lambda: 0.1, "values": lambda: {0: 0.1},
        "score_calculator": lambda: DataSetLossCalculator(ListDataSetIterator(data_set(), 2)), "score": lambda: 0.5,
    }  # fmt: skip
