"""Functions of values with their derivatives: elements, products, sums along axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import nd
from nd.activations.base import sigmoid as sigmoid_of
from nd.arrays import standard
from nd.typing import Array

from .values import Value, plain, summed, zeros

MOST = 1 << 31
"""Numbers that a result may have."""
Elements = Callable[[Array], Array]
Slope = Callable[[Array, Array], Array]


def standard_function(name: str) -> Elements:
    """Return a function of elements of the array API standard."""
    return standard.function(name)


def of_elements(value: Elements, slope: Slope | None = None) -> Callable[[Value], Value]:
    """Return a function of values from one of arrays and its derivative ``slope(x, y)``; without that it has none."""

    def call(x: Value) -> Value:
        array = x.array
        result = value(array)
        if slope is None:
            return Value(result)
        return Value(result, [(x, lambda e: nd.multiply(e, slope(array, result)))])

    return call


def _square_of_cosine(x: Array, y: Array) -> Array:
    return nd.add(nd.square(y), 1.0)


def _one_over_root(sign: float, shift: float, scale: float = 1.0) -> Slope:
    """Return the slope ``scale / sqrt(shift + sign x^2)``."""
    return lambda x, y: nd.divide(scale, nd.sqrt(nd.add(nd.multiply(nd.square(x), sign), shift)))


absolute = of_elements(nd.absolute, lambda x, y: nd.sign(x))
acos = of_elements(standard_function("acos"), _one_over_root(-1.0, 1.0, -1.0))
acosh = of_elements(standard_function("acosh"), _one_over_root(1.0, -1.0))
asin = of_elements(standard_function("asin"), _one_over_root(-1.0, 1.0))
asinh = of_elements(standard_function("asinh"), _one_over_root(1.0, 1.0))
atan = of_elements(standard_function("atan"), lambda x, y: nd.divide(1.0, nd.add(nd.square(x), 1.0)))
atanh = of_elements(standard_function("atanh"), lambda x, y: nd.divide(1.0, nd.subtract(1.0, nd.square(x))))
ceil = of_elements(standard.ceil)
cos = of_elements(standard_function("cos"), lambda x, y: nd.multiply(standard_function("sin")(x), -1.0))
cosh = of_elements(standard_function("cosh"), lambda x, y: standard_function("sinh")(x))
exp = of_elements(nd.exp, lambda x, y: y)
expm1 = of_elements(standard.expm1, lambda x, y: nd.add(y, 1.0))
floor = of_elements(standard.floor)
log = of_elements(nd.log, lambda x, y: nd.divide(1.0, x))
log1p = of_elements(standard.log1p, lambda x, y: nd.divide(1.0, nd.add(x, 1.0)))
rounded = of_elements(standard_function("round"))
sigmoid = of_elements(sigmoid_of, lambda x, y: nd.multiply(y, nd.subtract(1.0, y)))
sign = of_elements(nd.sign)
sin = of_elements(standard_function("sin"), lambda x, y: standard_function("cos")(x))
sinh = of_elements(standard_function("sinh"), lambda x, y: standard_function("cosh")(x))
sqrt = of_elements(nd.sqrt, lambda x, y: nd.divide(0.5, y))
square = of_elements(nd.square, lambda x, y: nd.multiply(x, 2.0))
tan = of_elements(standard_function("tan"), _square_of_cosine)
tanh = of_elements(nd.tanh, lambda x, y: nd.subtract(1.0, nd.square(y)))
trunc = of_elements(standard.trunc)


def truth(condition: Array, dtype: str) -> Value:
    """Return truths as 0 and 1."""
    return Value(nd.astype(condition, dtype))


def relu(x: Value) -> Value:
    """Return max(0, x)."""
    return maximum(x, 0.0)


def maximum(x: Value, y: Value | float) -> Value:
    """Return the larger of two; of equal ones x gets the gradient."""
    return _chosen(x, y, nd.maximum, nd.greater_equal)


def minimum(x: Value, y: Value | float) -> Value:
    """Return the smaller of two; of equal ones x gets the gradient."""
    return _chosen(x, y, nd.minimum, lambda a, b: nd.greater_equal(nd.multiply(a, -1.0), nd.multiply(b, -1.0)))


def _chosen(x: Value, y: Value | float, choose: Callable[..., Array], first: Callable[..., Array]) -> Value:
    a, b = x.array, plain(y)
    result = choose(a, b)
    if not x.wanted and not (isinstance(y, Value) and y.wanted):
        return Value(result)
    own = nd.astype(first(a, b if isinstance(y, Value) else nd.add(nd.multiply(a, 0.0), b)), x.dtype)
    sources = [(x, summed(lambda e: nd.multiply(e, own), x.shape))]
    if isinstance(y, Value):
        sources.append((y, summed(lambda e: nd.multiply(e, nd.subtract(1.0, own)), y.shape)))
    return Value(result, sources)


def where(condition: Array, x: Value | float, y: Value | float) -> Value:
    """Return elements of x where the condition holds, else of y; the gradient goes where the element came from."""
    result = nd.where(condition, plain(x), plain(y))
    sources = []
    if isinstance(x, Value):
        sources.append((x, summed(lambda e: nd.where(condition, e, 0.0), x.shape)))
    if isinstance(y, Value):
        sources.append((y, summed(lambda e: nd.where(condition, 0.0, e), y.shape)))
    return Value(result, sources)


def power(x: Value, y: Value) -> Value:
    """Return x ** y; the derivative by the exponent is 0 where x is not positive."""
    a, b = x.array, y.array
    result = nd.power(a, b)

    def base(e: Array) -> Array:
        return nd.multiply(nd.multiply(e, b), nd.power(a, nd.subtract(b, 1.0)))

    def exponent(e: Array) -> Array:
        positive = nd.greater(a, 0.0)
        return nd.multiply(e, nd.multiply(result, nd.log(nd.where(positive, a, 1.0))))

    return Value(result, [(x, summed(base, x.shape)), (y, summed(exponent, y.shape))])


# ---- along axes


def axes_of(axes: Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """Return the axes, of None all."""
    return tuple(range(ndim)) if axes is None else tuple(axis % ndim for axis in axes)


def _kept(shape: Sequence[int], axes: Sequence[int]) -> tuple[int, ...]:
    return tuple(1 if axis in axes else size for axis, size in enumerate(shape))


def repeated(x: Array, shape: Sequence[int]) -> Array:
    """Return a new array of that shape, along whose axes x is repeated."""
    return nd.assign(nd.create_uninitialized(tuple(shape), dtype=nd.dtype_name(x)), x)


def total(x: Value, axes: Sequence[int] | None = None, keepdims: bool = False) -> Value:
    """Return the sum along axes, by default over everything."""
    along = axes_of(axes, x.ndim)
    if not along:
        return x
    kept, shape = _kept(x.shape, along), x.shape
    array = nd.reshape(nd.sum(x.array, along, True), kept)
    result = Value(array, [(x, lambda e: repeated(e, shape))])
    return result if keepdims else reshape(result, [size for axis, size in enumerate(shape) if axis not in along])


def average(x: Value, axes: Sequence[int] | None = None, keepdims: bool = False) -> Value:
    """Return the mean along axes."""
    count = math.prod(x.shape[axis] for axis in axes_of(axes, x.ndim))
    return total(x, axes, keepdims) * (1.0 / count if count else math.nan)


def largest(x: Value, axes: Sequence[int] | None = None, keepdims: bool = False) -> Value:
    """Return the maximum along axes; equal ones share the gradient."""
    along = axes_of(axes, x.ndim)
    if not along:
        return x
    kept, array = _kept(x.shape, along), x.array
    if not math.prod(x.shape):
        result = Value(nd.fill(nd.create_uninitialized(kept, dtype=x.dtype), -math.inf))
    else:
        top = nd.reshape(nd.max(array, along, True), kept)

        def pull(e: Array) -> Array:
            hit = nd.astype(nd.equal(array, top), nd.dtype_name(array))
            return nd.multiply(hit, nd.divide(e, nd.sum(hit, along, True)))

        result = Value(top, [(x, pull)])
    return result if keepdims else reshape(result, [size for axis, size in enumerate(x.shape) if axis not in along])


def reshape(x: Value, shape: Sequence[int]) -> Value:
    """Return x in another shape."""
    before = x.shape
    return Value(nd.reshape(x.array, tuple(shape)), [(x, lambda e: nd.reshape(e, before))])


def permute(x: Value, axes: Sequence[int]) -> Value:
    """Return x with its axes in another order."""
    back = [list(axes).index(axis) for axis in range(len(axes))]
    return Value(nd.permute(x.array, tuple(axes)), [(x, lambda e: nd.permute(e, back))])


def check_size(shape: Sequence[int]) -> None:
    """Raise SizeError where a result would have more numbers than any operator makes: a file may say so."""
    if math.prod(shape) > MOST:
        raise nd.SizeError(
            f"OnnxVertex: an operator must make at most {MOST} numbers, got the shape {list(shape)}. Mend the file."
        )


def expand(x: Value, shape: Sequence[int]) -> Value:
    """Return x repeated along axes of length 1, and new ones before the first."""
    check_size(shape)
    return Value(repeated(x.array, shape), [(x, summed(lambda e: e, x.shape))])


def matmul(x: Value, y: Value) -> Value:
    """Return the product of matrices, or of stacks of them that are repeated along axes of length 1."""
    if x.ndim == 1:
        return _without(matmul(reshape(x, (1, *x.shape)), y), -2 if y.ndim > 1 else -1)
    if y.ndim == 1:
        return _without(matmul(x, reshape(y, (*y.shape, 1))), -1)
    a, b = x.array, y.array
    return Value(
        standard.matmul(a, b),
        [
            (x, summed(lambda e: standard.matmul(e, turned(b)), x.shape)),
            (y, summed(lambda e: standard.matmul(turned(a), e), y.shape)),
        ],
    )


def turned(x: Array) -> Array:
    """Return an array with its last two axes exchanged."""
    return nd.permute(x, (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


def _without(x: Value, axis: int) -> Value:
    axis %= x.ndim
    return reshape(x, (*x.shape[:axis], *x.shape[axis + 1 :]))


def concat(values: Sequence[Value], axis: int) -> Value:
    """Return values side by side."""
    sources, start = [], 0
    for value in values:
        stop = start + value.shape[axis]
        sources.append((value, lambda e, start=start, stop=stop: part(e, axis, start, stop)))
        start = stop
    return Value(nd.concat([value.array for value in values], axis), sources)


def part(x: Array, axis: int, start: int, stop: int) -> Array:
    """View a stretch of an axis."""
    return x[(*(slice(None),) * axis, slice(start, stop), ...)]


def stretch(x: Value, axis: int, start: int, stop: int) -> Value:
    """Return a stretch of an axis."""
    shape = x.shape

    def pull(e: Array) -> Array:
        below = zeros(shape, nd.dtype_name(e))
        nd.assign(part(below, axis, start, stop), e)
        return below

    return Value(part(x.array, axis, start, stop), [(x, pull)])


def constant_like(value: float, x: Value, shape: Sequence[int]) -> Value:
    """Return an array of one number."""
    return Value(nd.fill(nd.create_uninitialized(tuple(shape), dtype=x.dtype), value))


def softmax(x: Value, axes: Sequence[int]) -> Value:
    """Return e^x over its sum along axes."""
    shifted = exp(x - Value(largest(x, axes, True).array))
    return shifted / total(shifted, axes, True)


def log_softmax(x: Value, axes: Sequence[int]) -> Value:
    """Return the logarithm of `softmax`, which loses no digits."""
    shifted = x - Value(largest(x, axes, True).array)
    return shifted - log(total(exp(shifted), axes, True))
