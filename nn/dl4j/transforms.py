"""Transforms: functions of every element, and distances, by Java's names."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import nd
from nd.activations import LeakyReLU, get_activation
from nd.arguments import Natural, checked
from nd.arrays import standard
from nd.typing import Array

from .constants import DataType
from .random_arrays import is_integer

_EPSILON = 1e-5  # ND4J's EPS_THRESHOLD


def _kept(x: Array, result: Array, copy: Sequence[bool]) -> Array:
    """Return the result; where a program says that x need not be copied, in x itself."""
    if not copy or copy[0] is not False or not nd.is_array(x):
        return result
    given, computed = nd.dtype_name(x), nd.dtype_name(result)
    if computed.startswith("float") and not given.startswith("float"):
        raise nd.DTypeError(
            f"Transforms: x must be of floats to hold the result, which is of {computed}, got {given}. Leave out the "
            "False, or convert x with nd.astype."
        )
    return nd.assign(x, result)


def _function(function: Callable[[Array], Array]) -> staticmethod[..., Array]:
    def transform(x: Array, *copy: bool) -> Array:
        return _kept(x, function(nd.as_array(x)), copy)

    return staticmethod(transform)


def _activation(name: str) -> staticmethod[..., Array]:
    return _function(lambda x: get_activation(name).value(x))


def _slope(name: str) -> staticmethod[..., Array]:
    return _function(lambda x: get_activation(name).slope(x, get_activation(name).value(x)))


def _op(name: str) -> staticmethod[..., Array]:
    return _function(lambda x: nd.exec(name, x))


def _of_backend(name: str) -> staticmethod[..., Array]:
    return _function(lambda x: standard.function(name)(x))


def _of_two(function: Callable[[Array, Any], Array]) -> staticmethod[..., Array]:
    def transform(x: Array, other: object, *copy: bool) -> Array:
        return _kept(x, function(nd.as_array(x), other), copy)

    return staticmethod(transform)


def _compared(function: Callable[[Array, Any], Array]) -> staticmethod[..., Array]:
    def transform(x: Array, other: object, *copy: bool) -> Array:
        return function(nd.as_array(x), other)

    return staticmethod(transform)


def _logical(name: str) -> staticmethod[..., Array]:
    def transform(*arrays: Array) -> Array:
        return standard.function(name)(*(nd.astype(nd.as_array(array), "bool") for array in arrays))

    return staticmethod(transform)


def _flat(who: str, x: Array, y: Array) -> tuple[Array, Array]:
    """Return two arrays of as many elements as vectors ``[n]``."""
    n = math.prod(x.shape)
    if n != math.prod(y.shape):
        raise nd.ShapeError(
            f"Transforms.{who}: expected arrays of one length, got {list(x.shape)} and {list(y.shape)}."
        )
    return nd.reshape(x, (n,)), nd.reshape(y, (n,))


def _distance(who: str, function: Callable[[Array, Array], Array]) -> staticmethod[..., float]:
    def distance(x: Array, y: Array) -> float:
        return nd.item(function(*_flat(who, nd.as_array(x), nd.as_array(y))))

    return staticmethod(distance)


def _vectors(x: Array, axes: Sequence[int]) -> Array:
    """Return the vectors of an array that lie along axes, ``[count, length]``."""
    if not axes or not all(is_integer(axis) and -x.ndim <= axis < x.ndim for axis in axes):
        raise nd.ConfigurationError(
            f"Transforms: distances need the axes along which the vectors lie, of {list(x.shape)}, got {list(axes)}. "
            "Give 1 for the rows of matrices."
        )
    inner = [axis % x.ndim for axis in axes]
    outer = [axis for axis in range(x.ndim) if axis not in inner]
    return nd.reshape(nd.permute(x, (*outer, *inner)), (math.prod(x.shape[axis] for axis in outer), -1))


def _distances(function: Callable[[Array, Array], Array]) -> staticmethod[..., Array]:
    def distances(x: Array, y: Array, *axes: int) -> Array:
        """Return the distances of all vectors along the axes of x from all of y, ``[vectors of x, vectors of y]``."""
        first, second = (_vectors(nd.as_array(array), axes) for array in (x, y))
        if first.shape[1] != second.shape[1]:
            raise nd.ShapeError(
                f"Transforms: expected vectors of one length along the axes {list(axes)}, got {first.shape[1]} and "
                f"{second.shape[1]}."
            )
        return function(first[:, None, :], second[None, :, :])

    return staticmethod(distances)


def _cosine(x: Array, y: Array) -> Array:
    lengths = nd.multiply(nd.sqrt(nd.sum(nd.square(x), -1)), nd.sqrt(nd.sum(nd.square(y), -1)))
    return nd.divide(nd.sum(nd.multiply(x, y), -1), lengths)


def _euclidean(x: Array, y: Array) -> Array:
    return nd.sqrt(nd.sum(nd.square(nd.subtract(x, y)), -1))


def _manhattan(x: Array, y: Array) -> Array:
    return nd.sum(nd.absolute(nd.subtract(x, y)), -1)


class Transforms:
    """New arrays from others, element by element, and distances as numbers. Source: ND4J ``Transforms``.

    Notes
    -----
    A last argument False has the result written into x, as in Java. `isMax`, `unitVec` and
    `normalizeZeroMeanAndUnitVariance` always write into x. Names that are Python's keywords end in `_`: `not_`.
    """

    abs = _function(nd.absolute)
    acos = _of_backend("acos")
    asin = _of_backend("asin")
    atan = _of_backend("atan")
    atanh = _of_backend("atanh")
    ceil = ceiling = _op("ceil")
    cos = _op("cos")
    cosh = _of_backend("cosh")
    elu = _activation("elu")
    exp = _function(nd.exp)
    expm1 = _op("expm1")
    floor = _op("floor")
    hardSigmoid = _activation("hardsigmoid")
    hardTanh = _activation("hardtanh")
    hardTanhDerivative = _slope("hardtanh")
    identity = _function(nd.copy)
    log1p = _op("log1p")
    neg = _op("neg")
    relu = _activation("relu")
    relu6 = _activation("relu6")
    reverse = _function(lambda x: nd.copy(standard.flip(x)))
    round = _op("round")
    sigmoid = _activation("sigmoid")
    sigmoidDerivative = _slope("sigmoid")
    sign = _function(nd.sign)
    sin = _op("sin")
    sinh = _of_backend("sinh")
    softPlus = _activation("softplus")
    softmax = _activation("softmax")
    softsign = _activation("softsign")
    softsignDerivative = _slope("softsign")
    sqrt = _function(nd.sqrt)
    step = _op("step")
    tan = _of_backend("tan")
    tanh = _activation("tanh")
    timesOneMinus = _op("timesoneminus")

    atan2 = _of_two(lambda x, y: standard.atan2(y, x))  # Java's first argument is the abscissa
    max = _of_two(nd.maximum)
    min = _of_two(nd.minimum)
    pow = _of_two(nd.power)

    greaterThanOrEqual = _compared(nd.greater_equal)
    lessThanOrEqual = _compared(lambda x, y: nd.greater_equal(y, x))

    and_ = _logical("logical_and")
    not_ = _logical("logical_not")
    or_ = _logical("logical_or")
    xor = _logical("logical_xor")

    cosineDistance = _distance("cosineDistance", lambda x, y: nd.subtract(1.0, _cosine(x, y)))
    cosineSim = _distance("cosineSim", _cosine)
    euclideanDistance = _distance("euclideanDistance", _euclidean)
    hammingDistance = _distance("hammingDistance", lambda x, y: nd.mean(nd.astype(x != y, "float64")))
    jaccardDistance = _distance(
        "jaccardDistance",
        lambda x, y: nd.subtract(1.0, nd.divide(nd.sum(nd.minimum(x, y)), nd.sum(nd.maximum(x, y)))),
    )
    manhattanDistance = _distance("manhattanDistance", _manhattan)

    allCosineDistances = _distances(lambda x, y: nd.subtract(1.0, _cosine(x, y)))
    allCosineSimilarities = _distances(_cosine)
    allEuclideanDistances = _distances(_euclidean)
    allManhattanDistances = _distances(_manhattan)

    @staticmethod
    def log(x: Array, *base_and_copy: Any) -> Array:
        """Return the natural logarithm, or that of a base: ``log(x)``, ``log(x, 2.0)``."""
        base = [argument for argument in base_and_copy if not isinstance(argument, bool)]
        logarithm = nd.log(nd.as_array(x))
        logarithm = nd.divide(logarithm, math.log(base[0])) if base else logarithm
        return _kept(x, logarithm, base_and_copy[len(base) :])

    @staticmethod
    def leakyRelu(x: Array, *slope_and_copy: Any) -> Array:
        """Return x where it is positive, else 0.01 x, or that of another slope: ``leakyRelu(x, 0.3)``."""
        slope = [argument for argument in slope_and_copy if not isinstance(argument, bool)]
        return _kept(x, LeakyReLU(*slope).value(nd.as_array(x)), slope_and_copy[len(slope) :])

    @staticmethod
    def leakyReluDerivative(x: Array, slope: float, *copy: bool) -> Array:
        """Return 1 where x is not negative, else the slope."""
        x_ = nd.as_array(x)
        return _kept(
            x, nd.add(nd.multiply(nd.astype(nd.greater_equal(x_, 0.0), nd.dtype_name(x_)), 1 - slope), slope), copy
        )

    @staticmethod
    def eluDerivative(x: Array, gradient: Array, *copy: bool) -> Array:
        """Return the gradient times the slope of elu at x."""
        elu, x_ = get_activation("elu"), nd.as_array(x)
        return _kept(x, elu.backprop(x_, elu.value(x_), gradient), copy)

    @staticmethod
    def isMax(x: Array, kind_or_target: Any = None) -> Array:
        """Return 1 at the first largest element and 0 elsewhere: in x, in another array, or new, of a DataType."""
        marks = nd.exec("ismax", x)
        if isinstance(kind_or_target, DataType):
            return nd.astype(marks, str(kind_or_target))
        return nd.assign(x if kind_or_target is None else kind_or_target, marks)

    @staticmethod
    def dot(x: Array, y: Array) -> Array:
        """Return the sum of the products, a scalar array ``[]``."""
        return nd.sum(nd.multiply(*_flat("dot", nd.as_array(x), nd.as_array(y))))

    @staticmethod
    def cross(x: Array, y: Array) -> Array:
        """Return the products of vectors ``[3]``, or of rows ``[n, 3]``, that stand upright on both."""
        return standard.cross(x, y)

    @staticmethod
    @checked
    def mpow(x: Array, exponent: Natural, *copy: bool) -> Array:
        """Return a matrix ``[n, n]`` times itself, `exponent` - 1 times; the identity for 0."""
        if len(x.shape) != 2 or x.shape[0] != x.shape[1]:
            raise nd.ShapeError(f"Transforms.mpow: expected a square matrix [n, n], got {list(x.shape)}.")
        power = nd.eye(x.shape[0], nd.dtype_name(x))
        for _ in range(exponent):
            power = nd.gemm(power, x)
        return _kept(x, power, copy)

    @staticmethod
    def unitVec(x: Array) -> Array:
        """Divide a vector by its length, in place; one of zeros stays."""
        if x.ndim > 1 and 1 not in x.shape:
            raise nd.ShapeError(f"Transforms.unitVec: expected a vector, got {list(x.shape)}.")
        length = nd.item(nd.sqrt(nd.sum(nd.square(x))))
        return nd.divi(x, length) if length else x

    @staticmethod
    def normalizeZeroMeanAndUnitVariance(x: Array) -> Array:
        """Give every column ``[n, m]`` the mean 0 and the deviation 1, in place; 1e-5 is added to deviations."""
        deviations = nd.exec("std", x, 0)
        return nd.divi(nd.subi(x, nd.mean(x, 0)), nd.add(deviations, _EPSILON))


for _keyword in ("and", "not", "or"):
    setattr(Transforms, _keyword, vars(Transforms)[f"{_keyword}_"])
