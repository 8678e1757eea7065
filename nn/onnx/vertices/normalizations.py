"""Operators that normalise: by mean and variance, by length, by neighbours."""

from __future__ import annotations

from collections.abc import Sequence

import nd

from . import functions as f
from .call import Call
from .picking import indices
from .reductions import root
from .shapes import padded
from .values import Value


def _standard(x: Value, axes: Sequence[int], epsilon: float) -> tuple[Value, Value, Value]:
    """Return x less its mean over its deviation along axes, the mean, and one over the deviation."""
    mean = f.average(x, axes, True)
    away = x - mean
    inverse = 1.0 / f.sqrt(f.average(f.square(away), axes, True) + epsilon)
    return away * inverse, mean, inverse


def _of_channels(x: Value, ndim: int) -> Value:
    """Return numbers of channels ``[C]`` so that they meet axis 1."""
    return f.reshape(x, (*x.shape, *(1,) * (ndim - 2)))


def batch_normalization(call: Call) -> Value:
    """(x - mean) / sqrt(variance + epsilon) scale + bias, with the statistics of the file."""
    if call.whole("training_mode", 0):
        raise call.refuse("training_mode = 1, whose statistics are those of the minibatch. Export it for inference")
    x = call[0]
    scale, bias, mean, variance = (_of_channels(call[position], x.ndim) for position in range(1, 5))
    factor = scale / f.sqrt(variance + call.number("epsilon", 1e-5))
    return (x - mean) * factor + bias


def layer_normalization(call: Call) -> list[Value]:
    """x less its mean over its deviation along the axes from one on, times scale, plus bias; mean and 1/deviation."""
    x = call[0]
    axes = range(call.axis(call.whole("axis", -1), x.ndim), x.ndim)
    normal, mean, inverse = _standard(x, list(axes), call.number("epsilon", 1e-5))
    scaled, bias = normal * call[1], call.get(2)
    return [scaled if bias is None else scaled + bias, mean, inverse]


def rms_normalization(call: Call) -> Value:
    """x over the root of its mean square along the axes from one on, times scale."""
    x = call[0]
    axes = list(range(call.axis(call.whole("axis", -1), x.ndim), x.ndim))
    return x / f.sqrt(f.average(f.square(x), axes, True) + call.number("epsilon", 1e-5)) * call[1]


def instance_normalization(call: Call) -> Value:
    """Every channel of every example less its mean over its deviation, times scale, plus bias."""
    x = call[0]
    normal, _, _ = _standard(x, list(range(2, x.ndim)), call.number("epsilon", 1e-5))
    return normal * _of_channels(call[1], x.ndim) + _of_channels(call[2], x.ndim)


def group_normalization(call: Call) -> Value:
    """Groups of channels less their mean over their deviation, times scale, plus bias: of channels, before opset 21 of
    groups."""
    x, groups = call[0], call.whole("num_groups", 1)
    each = x.shape[1] // groups
    apart = f.reshape(x, (x.shape[0], groups, each, *x.shape[2:]))
    normal, _, _ = _standard(apart, list(range(2, apart.ndim)), call.number("epsilon", 1e-5))
    scale, bias = call[1], call[2]
    if scale.shape[0] == groups and call.opset < 21:
        normal = normal * _of_channels(scale, apart.ndim) + _of_channels(bias, apart.ndim)
        return f.reshape(normal, x.shape)
    return f.reshape(normal, x.shape) * _of_channels(scale, x.ndim) + _of_channels(bias, x.ndim)


def mean_variance_normalization(call: Call) -> Value:
    """x less its mean over its deviation along axes."""
    x = call[0]
    axes = call.wholes("axes") or [0, 2, 3]
    away = x - f.average(x, axes, True)
    return away / (f.sqrt(f.average(f.square(away), axes, True)) + 1e-9)


def lp_normalization(call: Call) -> Value:
    """x over its length along an axis, by magnitudes or by squares; 0 where that is 0."""
    x, axis = call[0], call.whole("axis", -1)
    length = (
        f.total(f.absolute(x), [axis], True) if call.whole("p", 2) == 1 else root(f.total(f.square(x), [axis], True))
    )
    missing = nd.equal(length.array, 0.0)
    return f.where(missing, 0.0, x / f.where(missing, 1.0, length))


def lrn(call: Call) -> Value:
    """x over a power of the sum of squares of neighbouring channels."""
    x, size = call[0], call.whole("size", 1)
    before = (size - 1) // 2
    squares = padded(f.square(x), 1, (before, size - 1 - before))
    near = [f.stretch(squares, 1, start, start + x.shape[1]) for start in range(size)]
    total = near[0]
    for other in near[1:]:
        total = total + other
    inner = total * (call.number("alpha", 1e-4) / size) + call.number("bias", 1.0)
    return x * f.exp(f.log(inner) * -call.number("beta", 0.75))


# ---- losses


def negative_log_likelihood(call: Call) -> Value:
    """Less the value of the class that a label names, weighed; the mean or sum over all labels, or each."""
    return _weighed_loss(call, call[0])


def softmax_cross_entropy(call: Call) -> list[Value]:
    """`negative_log_likelihood` of the logarithm of the softmax along the classes; and that logarithm."""
    logarithm = f.log_softmax(call[0], [1])
    return [_weighed_loss(call, logarithm), logarithm]


def _weighed_loss(call: Call, logarithm: Value) -> Value:
    labels, classes = indices(call, 1), logarithm.shape[1]
    place = nd.reshape(nd.arange(0, classes, "int64"), (classes, *(1,) * (logarithm.ndim - 2)))
    hit = nd.astype(nd.equal(nd.reshape(labels, (labels.shape[0], 1, *labels.shape[1:])), place), call.dtype)
    ignored = call.attributes.get("ignore_index")
    if ignored is not None:
        kept = nd.subtract(1.0, nd.astype(nd.equal(labels, int(ignored)), call.dtype))
        hit = nd.multiply(hit, nd.reshape(kept, (labels.shape[0], 1, *labels.shape[1:])))
    weights = Value(hit)
    given = call.get(2)
    if given is not None:
        weights = weights * f.reshape(given, (classes, *(1,) * (logarithm.ndim - 2)))
    each = -f.total(logarithm * weights, [1])
    how = call.text("reduction", "mean")
    if how == "none":
        return each
    return f.total(each) if how == "sum" else f.total(each) / f.total(weights)
