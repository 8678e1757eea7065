"""The op of a call: which op of `nd.ops` a primitive of the backend is, made from the arguments of a call.

`nd.execution.executioner` asks where a hook listens. An op computes what the call would have, to the bit.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

from .. import ops
from ..activations import Activation
from ..ops import Op
from ..state import backend
from .fused_ops import FUSED

Make = Callable[..., Op | None]

WITHOUT_OP = {
    "all_finite": "gives a truth, no array",
    "arange": "makes numbers of none",
    "for_channels": "changes how numbers lie in memory, and nothing else",
    "full": "makes numbers of none",
    "item": "gives a number, no array",
    "random_raw": "the bits of `Random`, whose draws are ops",
    "random_uniform": "the numbers of `Random`, whose draws are ops",
    "dropout_factors": "the factors of `Random`, whose draws are ops",
    "run_formula": "a formula of any kind, one kernel",
    "sum_formula": "a formula of any kind, one kernel",
    "svd": "gives three arrays, which no op does",
}
"""Primitive -> why its calls are reported as `HeardCall`."""


def op_of(name: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Op | None:
    """Return the op of a call; None where there is none."""
    make = OF_CALLS.get(name)
    if make is not None:
        return make(*arguments, **named)
    fused = FUSED.get(name)
    return None if fused is None else fused.of_primitive(arguments, named)


# ---- of two operands


def _shape(value: Any) -> tuple[int, ...]:
    return tuple(getattr(value, "shape", ()))


def _axes_along(x: Any, y: Any) -> tuple[int, ...] | None:
    """Return the axes of x along which y lies; None where its other axes are not of length 1."""
    shape, lengths = _shape(x), _shape(y)
    lengths = (1,) * (len(shape) - len(lengths)) + lengths
    if len(lengths) != len(shape) or any(n not in (1, m) for n, m in zip(lengths, shape, strict=True)):
        return None
    return tuple(axis for axis, n in enumerate(lengths) if n == shape[axis])


def _two(
    kind: str, turned: str | None, along: tuple[str, str] | None, x: Any, y: Any, out: Any = None, **fields: object
) -> Op | None:
    """Return the op of x and y.

    Parameters
    ----------
    kind, turned : str
        Its class, and that of y and x; None where there is none.
    along : two str, optional
        Classes where y lies along axes of x, and x along axes of y.
    """
    get = partial(getattr, ops)
    if not _shape(x) and _shape(y):
        return None if turned is None else get(turned).of_call(y, x, out, **fields)
    if along is not None and _shape(y) and _shape(x) != _shape(y):
        for name, one, other in ((along[0], x, y), (along[1], y, x)):
            axes = _axes_along(one, other)
            if axes is not None:
                return get(name).of_call(one, other, out, axes=axes)
    return get(kind).of_call(x, y, out, **fields)


def _power(x: Any, y: Any, out: Any = None) -> Op | None:
    if _shape(y) or not _shape(x):
        return None if not _shape(x) else ops.PowPairwise.of_call(x, y, out)
    return ops.Pow.of_call(x, None, out, exponent=y)


# ---- of one operand


def _one(kind: str, x: Any, out: Any = None) -> Op:
    return getattr(ops, kind).of_call(x, None, out)


def _activated(kind: str, x: Any, out: Any = None) -> Op:
    op: type[ops.ActivationOp] = getattr(ops, kind)
    return op.of_call(x, None, out, activation=op.function())


def _softmax(x: Any, axis: int, out: Any = None, bias: Any = None) -> Op:
    def way(x: Any, z: Any) -> Any:
        return backend().softmax(x, axis, z, bias)

    return ops.SoftMax.of_call(x, bias, out, way=way)


def _relu_back(a: Any, epsilon: Any, out: Any = None) -> Op:
    return ops.RectifiedLinearBp.of_call(a, epsilon, out, way=lambda y, z: backend().relu_back(a, y, z))


# ---- sums


def _reduced(kind: str, x: Any, axis: Any = None, keepdims: bool = False) -> Op:
    return getattr(ops, kind).of_call(x, axes=axis, keep_dims=keepdims)


def _sum_into(x: Any, axis: int, out: Any) -> Op:
    return ops.Sum.of_call(x, None, out, axes=axis, keep_dims=False)


def _argmax(x: Any, axis: int) -> Op:
    shape = tuple(n for place, n in enumerate(x.shape) if place != axis % x.ndim)
    return ops.IMax.of_call(x, axes=(axis,), keep_dims=False, shape=shape, flattens=False)


# ---- products


def _gemm(a: Any, b: Any, c: Any, alpha: float, beta: float) -> Op:
    return ops.Gemm.of_call(a, b, c, alpha=alpha, beta=beta)


def _axpby(alpha: Any, x: Any, beta: Any, y: Any, scratch: Any) -> Op:
    kind = ops.Axpy if isinstance(beta, float) and beta == 1.0 else ops.Axpby
    return kind.of_call(x, y, y, alpha=alpha, beta=beta, scratch=scratch)


# ---- values


def _assign(target: Any, source: Any) -> Op | None:
    if isinstance(source, (int, float)):
        return ops.ScalarSet.of_call(target, None, target, value=source)
    return ops.Assign.of_call(source, None, target) if hasattr(source, "shape") else None  # a list is no array yet


def _fill(x: Any, value: float) -> Op:
    return ops.ScalarSet.of_call(x, None, x, value=value)


def _astype(x: Any, dtype: str) -> Op:
    return ops.Cast.of_call(x, dtype=dtype)


def _where(condition: Any, x: Any, y: Any) -> Op:
    return ops.Select.of_call(x, y, condition=condition)


def _concat(arrays: Any, axis: int) -> Op:
    x, y = (*arrays, None)[:2]
    return ops.Concat.of_call(x, y, arrays=list(arrays), axis=axis)


# ---- windows


def _windows(kind: str, x: Any, window: Any, buffers: Any) -> Op:
    return getattr(ops, kind).of_call(x, window=window, buffers=buffers)


def _largest(x: Any, window: Any, buffers: Any) -> Op:
    return ops.MaxPooling2D.of_call(x, window=window, buffers=buffers, keeps=False)


def _avg_pool(x: Any, window: Any, count_padding: bool, buffers: Any) -> Op:
    return ops.AvgPooling2D.of_call(x, window=window, buffers=buffers, count_padding=count_padding)


def _pnorm_pool(x: Any, window: Any, p: int, buffers: Any) -> Op:
    return ops.PnormPooling2D.of_call(x, window=window, buffers=buffers, p=p)


def _pooling_back(kind: str, epsilon: Any, saved: Any, window: Any, buffers: Any) -> Op:
    return getattr(ops, kind).of_call(None, epsilon, saved=saved, window=window, buffers=buffers)


def _pnorm_back(epsilon: Any, saved: Any, window: Any, p: int, buffers: Any) -> Op:
    return ops.PnormPooling2DDerivative.of_call(None, epsilon, saved=saved, window=window, buffers=buffers, p=p)


# ---- activations and draws, see `Powers.computed`


@cache
def _ops_of_activations() -> dict[type[Activation], tuple[type[Op], type[Op]]]:
    kinds = list(ops.OPS.values())
    values = {kind.function: kind for kind in kinds if issubclass(kind, ops.ActivationOp)}
    back = {kind.function: kind for kind in kinds if issubclass(kind, ops.ActivationBp)}
    return {function: (kind, back[function]) for function, kind in values.items()}


def _activation(z: Any, a: Any, activation: Activation, training: bool, b: Any, way: Callable[..., Any]) -> Op | None:
    """Return the op of an activation; None of one of a user's own, and of one that draws."""
    kinds = _ops_of_activations().get(type(activation))
    if kinds is None or (training and activation.draws):
        return None
    return kinds[0].of_call(z, b, a, activation=activation, way=way)


def _activation_gradient(
    z: Any, a: Any, epsilon: Any, out: Any, activation: Activation, way: Callable[..., Any]
) -> Op | None:
    kinds = _ops_of_activations().get(type(activation))
    return None if kinds is None else kinds[1].of_call(z, epsilon, out, activation=activation, way=way)


def _draw(kind: str, rng: Any, target: Any, fields: dict[str, object]) -> Op:
    """Return the op of a draw; x is z. Dropout's factors are what it makes of ones, as in DL4J."""
    op: type[Op] = getattr(ops, kind)
    if issubclass(op, ops.DropOut):
        backend().fill(target, 1.0)
    return op.of_call(target, None, target, rng=rng, **fields)


COMMUTING = {
    "add": ("Add", ("BroadcastAdd", "BroadcastAdd")),
    "maximum": ("MaxPairwise", None),
    "minimum": ("MinPairwise", None),
    "multiply": ("Mul", ("BroadcastMul", "BroadcastMul")),
}
UNARY = {
    "absolute": "Abs",
    "copy": "Assign",
    "cos": "Cos",
    "exp": "Exp",
    "log": "Log",
    "sign": "Sign",
    "sin": "Sin",
    "sqrt": "Sqrt",
    "square": "Square",
}

OF_CALLS: dict[str, Make] = {
    **{name: partial(_two, kind, kind, along) for name, (kind, along) in COMMUTING.items()},
    **{name: partial(_one, kind) for name, kind in UNARY.items()},
    "activation": _activation,
    "activation_gradient": _activation_gradient,
    "argmax": _argmax,
    "assign": _assign,
    "astype": _astype,
    "avg_pool": _avg_pool,
    "avg_pool_backward": partial(_pooling_back, "AvgPooling2DDerivative"),
    "axpby": _axpby,
    "batched_matmul": partial(_two, "BatchMmul", None, None),
    "col2im": partial(_windows, "Col2Im"),
    "concat": _concat,
    "divide": partial(_two, "Div", "RDiv", ("BroadcastDiv", "BroadcastRDiv")),
    "dot": partial(_two, "Dot", None, None),
    "draw": _draw,
    "equal": partial(_two, "Eq", "Eq", None, boolean=True),
    "fill": _fill,
    "gemm": _gemm,
    "greater": partial(_two, "Gt", "Lt", None, boolean=True),
    "greater_equal": partial(_two, "Gte", "Lte", None, boolean=True),
    "im2col": partial(_windows, "Im2col"),
    "largest": _largest,
    "matmul": partial(_two, "Mmul", None, None),
    "max": partial(_reduced, "Max"),
    "max_pool": partial(_windows, "MaxPooling2D"),
    "max_pool_backward": partial(_pooling_back, "MaxPooling2DDerivative"),
    "mean": partial(_reduced, "Mean"),
    "pnorm_pool": _pnorm_pool,
    "pnorm_pool_backward": _pnorm_back,
    "power": _power,
    "relu": partial(_activated, "RectifiedLinear"),
    "relu_back": _relu_back,
    "softmax": _softmax,
    "subtract": partial(_two, "Sub", "RSub", ("BroadcastSub", "BroadcastRSub")),
    "sum": partial(_reduced, "Sum"),
    "sum_into": _sum_into,
    "tanh": partial(_activated, "Tanh"),
    "where": _where,
}
"""Primitive, or computation of the facade -> what makes its op of the arguments of a call."""
