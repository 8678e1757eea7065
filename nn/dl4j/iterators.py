"""Iterators with the arguments of Java's constructors, where those differ from ours."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from nd import dataset
from nd.arguments import Count
from nd.dataset import DataSet


class ListDataSetIterator(dataset.ListDataSetIterator):
    """DataSets in memory, merged by fives unless a batch is given. Source: DL4J ``ListDataSetIterator``."""

    def __init__(self, data_sets: Iterable[DataSet], batch: Count = 5) -> None:
        several = list(data_sets)
        merged = [DataSet.merge(several[start : start + batch]) for start in range(0, len(several), batch)]
        super().__init__(merged)


class MnistDataSetIterator(dataset.MnistDataSetIterator):
    """MNIST: ``(batch, train, seed)`` or ``(batch, num_examples[, binarize[, train, shuffle, seed]])``.

    Source: DL4J ``MnistDataSetIterator``.
    """

    def __init__(self, batch: Count, *more: Any) -> None:
        if len(more) == 2 and isinstance(more[0], bool):
            super().__init__(batch, more[0], more[1])
            return
        given: dict[str, Any] = {"train": True, "shuffle": False, "seed": 0}
        given |= dict(zip(("num_examples", "binarize", "train", "shuffle", "seed"), more, strict=False))
        super().__init__(batch, **given)


class INDArrayDataSetIterator(dataset.NumpyDataSetIterator):
    """Pairs of features and labels, one for each example. Source: DL4J ``INDArrayDataSetIterator``."""

    def __init__(self, pairs: Iterable[Any], batch: Count) -> None:
        whole = DataSet.merge([DataSet(features, labels) for features, labels in pairs])
        super().__init__(whole.features, whole.labels, batch)
