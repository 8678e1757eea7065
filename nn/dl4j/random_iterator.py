"""RandomDataSetIterator, with Java's numbers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import nd
from nd import ShapeError
from nd.arguments import Count, checked
from nd.checks import check_choice
from nd.dataset import DataSet, DataSetIterator
from nd.dataset.iterator import refuse_num
from nd.dataset.java_random import JavaRandom
from nd.java_enums import JavaEnum
from nd.random import Random
from nd.typing import Array

_MOST_LONG = (1 << 63) - 1


class Values(JavaEnum):
    """Numbers that arrays are filled with."""

    RANDOM_UNIFORM = "random_uniform"
    RANDOM_NORMAL = "random_normal"
    ONE_HOT = "one_hot"
    ZEROS = "zeros"
    ONES = "ones"
    BINARY = "binary"
    INTEGER_0_10 = "integer_0_10"
    INTEGER_0_100 = "integer_0_100"
    INTEGER_0_1000 = "integer_0_1000"
    INTEGER_0_10000 = "integer_0_10000"
    INTEGER_0_100000 = "integer_0_100000"


class RandomDataSetIterator(DataSetIterator):
    """Minibatches of random numbers, drawn from this thread's generator: new ones after every `reset`.

    Parameters
    ----------
    num_minibatches : int
    features_shape, labels_shape : sequence of int
        With the number of examples, ``[N, ...]``.
    feature_values, label_values : RandomDataSetIterator.Values
        ONE_HOT has its ones along axis 1; of at most five axes.
    feature_order, label_order : {"c", "f"}
        Order in which elements are drawn.

    Notes
    -----
    After ``Nd4j.getRandom().setSeed(seed)`` the numbers are Java's. Source: DL4J ``RandomDataSetIterator``.
    """

    Values = Values

    @checked
    def __init__(
        self,
        num_minibatches: Count,
        features_shape: Sequence[Count],
        labels_shape: Sequence[Count],
        feature_values: str,
        label_values: str,
        feature_order: str = "c",
        label_order: str = "c",
    ) -> None:
        self._total, self._position = num_minibatches, 0
        self._features = _outline("features", features_shape, feature_values, feature_order)
        self._labels = _outline("labels", labels_shape, label_values, label_order)

    def has_next(self) -> bool:
        """Tell whether a minibatch is left."""
        return self._position < self._total

    def next(self, num: int | None = None) -> DataSet:
        """Return newly drawn features and labels. DataError if none is left, or `num` is given."""
        refuse_num(self, num)
        self.check_has_next()
        self._position += 1
        return self.pre_processed(DataSet(_drawn(*self._features), _drawn(*self._labels)))

    def reset(self) -> None:
        """Count from 0; the draws go on."""
        self._position = 0

    def async_supported(self) -> bool:
        """Return False: another thread has another generator, which no seed of this one reaches."""
        return False

    def batch(self) -> int:
        """Return N of the features' shape."""
        return self._features[0][0]

    def column_counts(self) -> tuple[int, int]:
        features, labels = (axes[1] if len(axes) > 1 else 1 for axes in (self._features[0], self._labels[0]))
        return features, labels

    def __len__(self) -> int:
        return self._total


def _outline(name: str, shape: Sequence[int], values: str, order: str) -> tuple[tuple[int, ...], str, str]:
    who = f"RandomDataSetIterator: {name}"
    kind = str(check_choice(who, "values", values, set(Values)))
    check_choice(who, "order", order, ("c", "f"))
    if not shape or (kind == Values.ONE_HOT and len(shape) > 5):
        raise ShapeError(f"{who}: expected a shape [N, ...], of at most 5 axes for ONE_HOT, got {list(shape)}.")
    return tuple(shape), kind, order


def _drawn(shape: tuple[int, ...], kind: str, order: str) -> Array:
    if kind == Values.ZEROS:
        return nd.zeros(*shape)
    if kind == Values.ONES:
        return nd.ones(*shape)
    if kind == Values.ONE_HOT:
        return _one_hot(shape)
    if kind.startswith("integer"):
        return nd.rand(*shape) * float(kind.rpartition("_")[2]) // 1
    axes, dtype = shape if order == "c" else shape[::-1], nd.default_dtype()
    draws = {Values.RANDOM_NORMAL: "gaussian", Values.RANDOM_UNIFORM: "uniform", Values.BINARY: "bernoulli"}
    numbers = getattr(nd.random.get_random(), draws[Values(kind)])(math.prod(shape), dtype)
    array = nd.reshape(numbers, axes)
    return array if order == "c" else nd.transpose(array)


def _one_hot(shape: tuple[int, ...]) -> Array:
    """Return zeros with a one along axis 1 (0 of a vector), at places that ``new Random(nextLong())`` draws."""
    random, array = JavaRandom(_next_long(nd.random.get_random())), nd.zeros(*shape)
    if len(shape) == 1:
        array[random.next_int(shape[0])] = 1.0
        return array
    for example, *place in itertools.product(*(range(axis) for axis in (shape[0], *shape[2:]))):
        array[(example, random.next_int(shape[1]), *place)] = 1.0
    return array


def _next_long(generator: Random) -> int:
    """Return a draw of ND4J's ``Random.nextLong()``, never negative; source: libnd4j ``graph/RandomGenerator.h``."""
    root, node = generator.get_state()
    low, high = (int(bits) for bits in nd.to_host(nd.backend().random_raw(root, node, 2)))
    drawn = (high << 32) + low
    generator.uniform(1)  # moves the node on by 1; Java's call by 0xDEADBEEF
    root, node = generator.get_state()
    generator.set_state((root, node ^ 1 ^ 0xDEADBEEF))
    return drawn if drawn <= _MOST_LONG else drawn % _MOST_LONG
