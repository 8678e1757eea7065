"""Iterators over EMNIST and CIFAR-10 with Java's arguments. Source: org.deeplearning4j.datasets.iterator.impl."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nd import ConfigurationError, dataset
from nd.arguments import Count, Long, checked
from nd.checks import check_choice
from nd.dataset import DataSet
from nd.java_enums import JavaEnum

from .image_transforms import ImageTransform, ResizeImageTransform


class DataSetType(JavaEnum):
    """Parts of a set."""

    TEST = "test"
    TRAIN = "train"
    VALIDATION = "validation"


class EmnistDataSetIterator(dataset.EmnistDataSetIterator):
    """EMNIST: ``(set, batch, train[, seed])``, ``(set, batch, binarize, train, shuffle, seed)``, or with the arguments
    of `nd.dataset.EmnistDataSetIterator` by name.

    Differs: without a seed Java shuffles by the time, here by 0. Source: DL4J ``EmnistDataSetIterator``.
    """

    def __init__(self, data_set: str, batch: Count, *more: Any, **named: Any) -> None:
        names = ("binarize", "train", "shuffle", "seed") if len(more) == 4 else ("train", "seed")
        given = dict(zip(names, more, strict=False))
        if len(more) > len(names) or given.keys() & named.keys():
            raise ConfigurationError(
                "EmnistDataSetIterator: expected set, batch and train and seed, or binarize, train, shuffle and seed, "
                f"each once, got {2 + len(more)} arguments by position and {sorted(named)} by name."
            )
        super().__init__(data_set, batch, **given, **named)


class Cifar10DataSetIterator(dataset.Cifar10DataSetIterator):
    """CIFAR-10: ``(batch)``, ``(batch, set)`` or ``(batch, [height, width], set[, transform[, seed]])``.

    Pixels are blue, green and red, 0 to 255, as in Java; 123 is its seed. Differs: Java's order is that of its own
    files. Source: DL4J ``Cifar10DataSetIterator``.

    Raises
    ------
    ConfigurationError
        The set is that to validate, which CIFAR-10 has not, or sizes are no two.
    """

    @checked
    def __init__(
        self,
        batch: Count,
        size: str | Sequence[Count] | None = None,
        data_set: str = "train",
        transform: ImageTransform | None = None,
        seed: Long = 123,
    ) -> None:
        who = type(self).__name__
        name, sides = (size, None) if isinstance(size, str) else (data_set, size)
        part = check_choice(who, "data_set", str(name).lower(), [*DataSetType])
        if part == DataSetType.VALIDATION or (sides is not None and len(sides) != 2):
            raise ConfigurationError(
                f"{who}: expected the set to train or to test, and a height and a width, got {part!r} and {sides}."
            )
        super().__init__(batch, part == DataSetType.TRAIN, seed, scale=False, channel_order="bgr")
        self._transforms = [] if transform is None else [transform]
        if sides is not None:
            self._transforms.append(ResizeImageTransform(sides[1], sides[0]))

    def draws(self) -> bool:
        """Tell whether its transform, or a pre-processor, draws random numbers."""
        return super().draws() or any(transform.draws for transform in self._transforms)

    def pre_processed(self, minibatch: DataSet) -> DataSet:
        """Return a minibatch as it is handed out, transformed and pre-processed."""
        for transform in self._transforms:
            minibatch.features = transform.transform(minibatch.features)
        return super().pre_processed(minibatch)
