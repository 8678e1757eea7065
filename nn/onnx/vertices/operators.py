"""The table of operators: where each is computed, and what holds for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import NamedTuple

from .call import Call
from .values import Value


class Operator(NamedTuple):
    """What holds for an operator."""

    function: str
    """Module and function; of a function of one number "elements:unary" and its name."""
    constants: tuple[int, ...] = ()
    """Positions of inputs that must be constants."""
    splits: int = 0
    """Number of its arrays, where it is a function of their elements: with one that is no constant it is computed in
    parts."""
    differentiable: bool = True
    """Whether a gradient goes back through it; else zeros do."""


def _unary(name: str, differentiable: bool = True) -> Operator:
    return Operator(f"elements:unary:{name}", splits=1, differentiable=differentiable)


OPERATORS: dict[str, Operator] = {
    "Abs": _unary("absolute"),
    "Acos": _unary("acos"),
    "Acosh": _unary("acosh"),
    "Add": Operator("elements:add", splits=2),
    "Asin": _unary("asin"),
    "Asinh": _unary("asinh"),
    "Atan": _unary("atan"),
    "Atanh": _unary("atanh"),
    "Ceil": _unary("ceil", False),
    "Celu": Operator("elements:celu", splits=1),
    "Clip": Operator("elements:clip", splits=3),
    "Cos": _unary("cos"),
    "Cosh": _unary("cosh"),
    "Div": Operator("elements:div", splits=2),
    "Elu": Operator("elements:elu", splits=1),
    "Erf": _unary("erf"),
    "Exp": _unary("exp"),
    "Floor": _unary("floor", False),
    "Gelu": Operator("elements:gelu", splits=1),
    "HardSigmoid": Operator("elements:hard_sigmoid", splits=1),
    "HardSwish": Operator("elements:hard_swish", splits=1),
    "Identity": Operator("elements:identity", splits=1),
    "LeakyRelu": Operator("elements:leaky_relu", splits=1),
    "Log": _unary("log"),
    "Max": Operator("elements:max_of", splits=2),
    "Mean": Operator("elements:mean_of", splits=2),
    "Min": Operator("elements:min_of", splits=2),
    "Mish": Operator("elements:mish", splits=1),
    "Mod": Operator("elements:mod", splits=2),
    "Mul": Operator("elements:mul", splits=2),
    "Neg": Operator("elements:neg", splits=1),
    "PRelu": Operator("elements:prelu", splits=2),
    "Pow": Operator("elements:pow", splits=2),
    "Reciprocal": Operator("elements:reciprocal", splits=1),
    "Relu": _unary("relu"),
    "Round": _unary("rounded", False),
    "Selu": Operator("elements:selu", splits=1),
    "Shrink": Operator("elements:shrink", splits=1),
    "Sigmoid": _unary("sigmoid"),
    "Sign": _unary("sign", False),
    "Sin": _unary("sin"),
    "Sinh": _unary("sinh"),
    "Softplus": Operator("elements:softplus", splits=1),
    "Softsign": Operator("elements:softsign", splits=1),
    "Sqrt": _unary("sqrt"),
    "Sub": Operator("elements:sub", splits=2),
    "Sum": Operator("elements:sum_of", splits=2),
    "Swish": Operator("elements:swish", splits=1),
    "Tan": _unary("tan"),
    "Tanh": _unary("tanh"),
    "ThresholdedRelu": Operator("elements:thresholded_relu", splits=1),
}
"""Name in ONNX's own domain -> operator, sorted."""


@cache
def operator_function(op: str) -> Callable[[Call], Value | Sequence[Value]]:
    """Return the function of an operator that is in the table."""
    module, name, *arguments = OPERATORS[op].function.split(":")
    function: Callable[..., Value | Sequence[Value]] = getattr(import_module(f".{module}", __package__), name)
    return function(*arguments) if arguments else function  # type: ignore[return-value, arg-type]
