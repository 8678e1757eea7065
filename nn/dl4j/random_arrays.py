"""Arrays of random numbers, by ND4J's names and with its numbers."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Sequence
from typing import Any

import nd
from nd.arrays import standard
from nd.dataset.java_random import JavaRandom
from nd.random import Random as Generator
from nd.typing import Array

from ..terms import distributions
from .constants import DataType

ORDERS = ("c", "f")


def is_integer(value: Any) -> bool:
    """Tell whether it is a whole number, as an axis has."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


class _Request:
    """Arguments of a call of ``rand`` or ``randn``. Java has overloads; ours are told apart by their types."""

    def __init__(self, who: str, arguments: Sequence[Any]) -> None:
        self.who, self.dtype, self.order = who, nd.default_dtype(), "c"
        self.generator = nd.random.get_random()
        self.distribution: distributions.Distribution | None = None
        self.target: Array | None = None
        self.limits: tuple[Any, ...] = ()
        shape = None
        plain: list[object] = []
        before: int | None = None  # numbers that stand before a generator
        for argument in arguments:
            if isinstance(argument, DataType):
                self.dtype = str(argument)
            elif isinstance(argument, Generator):
                self.generator, before = argument, len(plain)
            elif isinstance(argument, distributions.Distribution):
                self.distribution = argument
            elif isinstance(argument, str) and argument in ORDERS:
                self.order = argument
            elif isinstance(argument, (list, tuple)):
                shape = argument
            elif nd.is_array(argument):
                self._into(argument)
            else:
                plain.append(argument)
        self._read_numbers(shape, plain, before)

    def _into(self, target: Array) -> None:
        self.target, self.dtype = target, nd.dtype_name(target)
        flags = getattr(target, "flags", None)
        self.order = "f" if flags is not None and flags.f_contiguous and not flags.c_contiguous else "c"

    def _read_numbers(self, shape: Any, plain: list[Any], before: int | None) -> None:
        if self.target is not None:
            shape = self.target.shape
        if shape is None:
            split = before if before is not None and before < len(plain) else 0  # rand(low, high, generator, 2, 3)
            plain, shape = plain[:split], plain[split:]
        if len(plain) not in (0, 1, 2) or not all(isinstance(number, numbers.Real) for number in plain):
            raise nd.ArgumentError(
                f"Nd4j.{self.who}: beside the shape there may be a seed or two numbers, got {plain}."
            )
        if not all(map(is_integer, shape)):
            raise nd.ShapeError(f"Nd4j.{self.who}: a shape must be of whole numbers, got {list(shape)}.")
        self.shape = tuple(int(axis) for axis in shape)
        if len(plain) == 1:
            self.generator.set_seed(plain[0])
        self.limits = tuple(plain) if len(plain) == 2 else ()

    def filled(self, draw: Callable[..., Array]) -> Array:
        """Return the array, its elements drawn in the order of its memory."""
        if self.distribution is not None:
            flat = self.distribution.draw(self.generator, self.shape, self.dtype)
        else:
            flat = draw(self.generator, math.prod(self.shape), self.dtype, *self.limits)
        array = nd.reshape(flat, self.shape if self.order == "c" else self.shape[::-1])
        array = array if self.order == "c" else nd.transpose(array)
        return array if self.target is None else nd.assign(self.target, array)


class Distributions:
    """ND4J's DistributionFactory: distributions that `Nd4j.rand` may draw from."""

    createBinomial = distributions.BinomialDistribution
    createConstant = distributions.ConstantDistribution
    createLogNormal = distributions.LogNormalDistribution
    createNormal = distributions.NormalDistribution
    createOrthogonal = distributions.OrthogonalDistribution
    createTruncatedNormal = distributions.TruncatedNormalDistribution
    createUniform = distributions.UniformDistribution


class RandomArrays:
    """The part of `Nd4j` that draws, from this thread's generator where none is given.

    Notes
    -----
    A shape is a list, or numbers. Before or after it may stand a DataType, an order 'c' or 'f', a generator; a seed
    beside a list, which starts the generator anew; an array in place of the shape is filled.
    """

    @staticmethod
    def rand(*arguments: object) -> Array:
        """Return numbers uniform in 0..1, or in low..high: ``rand(2, 3)``, ``rand([2, 3], seed)``, ``rand([2, 3], low,
        high, generator)``, ``rand(low, high, generator, 2, 3)``; of a distribution, ``rand(distribution, 2, 3)``."""
        return _Request("rand", arguments).filled(Generator.uniform)

    @staticmethod
    def randn(*arguments: object) -> Array:
        """Return standard normal numbers, as `rand`; ``randn(mean, std, [2, 3], generator)``."""
        return _Request("randn", arguments).filled(Generator.gaussian)

    @staticmethod
    def randomBernoulli(p: float, *shape: object) -> Array:
        """Return ones with probability p, else zeros: of a shape, or in an array."""
        return _Request("randomBernoulli", shape).filled(lambda rng, n, dtype: rng.bernoulli(n, dtype, p))

    @staticmethod
    def randomBinomial(trials: int, p: float, *shape: object) -> Array:
        """Return successes among trials, of a shape or in an array."""
        return _Request("randomBinomial", shape).filled(lambda rng, n, dtype: rng.binomial(n, dtype, trials, p))

    @staticmethod
    def randomExponential(rate: float, *shape: object) -> Array:
        """Return exponentially distributed numbers, -log(u) / rate; as in Java the generator then stands where it was,
        and draws these u again."""

        def draw(rng: Generator, n: int, dtype: str) -> Array:
            before = rng.get_state()
            u = rng.uniform(n, dtype)
            rng.set_state(before)
            return nd.multiply(nd.log(u), -1.0 / rate)

        return _Request("randomExponential", shape).filled(draw)

    @staticmethod
    def shuffle(x: Any, *arguments: object) -> None:
        """Reorder an array, or every one of a list alike, in place: ``shuffle(x, random, 1)`` the rows of a matrix.

        A row is swapped with one other, see `JavaRandom.swapped_pairs`. The dimensions are those that stay as they
        are: 1 for rows, 0 for columns, 1 and 2 for the examples ``[n, .., ..]``; a vector ``[n]`` has 0.
        """
        several = x if isinstance(x, (list, tuple)) else [x]
        random = arguments[0] if arguments and isinstance(arguments[0], JavaRandom) else None
        dimensions = arguments[random is not None :]
        if not several:
            raise nd.ArgumentError("Nd4j.shuffle: expected an array or a list of arrays, got an empty list.")
        for array in several:
            if not all(is_integer(axis) and -array.ndim <= axis < array.ndim for axis in dimensions):
                raise nd.ShapeError(
                    f"Nd4j.shuffle: the dimensions must be axes of {list(array.shape)}, got {list(dimensions)}."
                )
        kept = {axis % array.ndim for array in several for axis in dimensions}
        free = [0] if several[0].ndim == 1 else [axis for axis in range(several[0].ndim) if axis not in kept]
        if len(free) != 1 or any(array.shape[free[0]] != several[0].shape[free[0]] for array in several):
            raise nd.ShapeError(
                f"Nd4j.shuffle: the dimensions must leave one axis, of one length, got {sorted(kept)} of "
                f"{[list(array.shape) for array in several]}."
            )
        order = nd.create((random or JavaRandom()).swapped_pairs(several[0].shape[free[0]]), "int64")
        for array in several:
            nd.assign(array, standard.take(array, order, axis=free[0]))

    @staticmethod
    def getRandom() -> Generator:
        """Return this thread's generator; ``setSeed(seed)`` starts it anew."""
        return nd.random.get_random()

    @staticmethod
    def getDistributions() -> type[Distributions]:
        """Return the factory of distributions: ``createNormal(mean, std)``, ``createUniform(lower, upper)``."""
        return Distributions
