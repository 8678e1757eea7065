"""Activation functions: value and derivative, once for all backends.

A class is a frozen dataclass whose fields are the function's parameters. In the formulas x is the input z.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.errors import check_choice
from nd.on_demand import ClassTable, names_on_demand

from .base import Activation

if TYPE_CHECKING:
    from .bounded import HardSigmoid, HardTanh, RationalTanh, RectifiedTanh, Sigmoid, Softmax, SoftSign, Tanh
    from .rectifiers import LeakyReLU, ReLU, ReLU6, RReLU, ThresholdedReLU
    from .smooth import ELU, GELU, SELU, Cube, Identity, Mish, SoftPlus, Swish
else:
    __getattr__, __dir__ = names_on_demand(
        __name__,
        {
            "bounded": "HardSigmoid HardTanh RationalTanh RectifiedTanh Sigmoid SoftSign Softmax Tanh",
            "rectifiers": "LeakyReLU RReLU ReLU ReLU6 ThresholdedReLU",
            "smooth": "Cube ELU GELU Identity Mish SELU SoftPlus Swish",
        },
    )

__all__ = [
    "ACTIVATIONS",
    "ELU",
    "GELU",
    "SELU",
    "Activation",
    "Cube",
    "HardSigmoid",
    "HardTanh",
    "Identity",
    "LeakyReLU",
    "Mish",
    "RReLU",
    "RationalTanh",
    "ReLU",
    "ReLU6",
    "RectifiedTanh",
    "Sigmoid",
    "SoftPlus",
    "SoftSign",
    "Softmax",
    "Swish",
    "Tanh",
    "ThresholdedReLU",
    "get_activation",
]

ACTIVATIONS: ClassTable[type[Activation]] = ClassTable(
    __name__,
    {
        "cube": "Cube",
        "elu": "ELU",
        "gelu": "GELU",
        "hardsigmoid": "HardSigmoid",
        "hardtanh": "HardTanh",
        "identity": "Identity",
        "leakyrelu": "LeakyReLU",
        "mish": "Mish",
        "rationaltanh": "RationalTanh",
        "rectifiedtanh": "RectifiedTanh",
        "relu": "ReLU",
        "relu6": "ReLU6",
        "rrelu": "RReLU",
        "selu": "SELU",
        "sigmoid": "Sigmoid",
        "softmax": "Softmax",
        "softplus": "SoftPlus",
        "softsign": "SoftSign",
        "swish": "Swish",
        "tanh": "Tanh",
        "thresholdedrelu": "ThresholdedReLU",
    },
)
"""Name, as DL4J's enum Activation spells it, in lower case -> class."""


def get_activation(value: str | Activation) -> Activation:
    """Return `value` if it is an activation, else the activation of that name, in any case.

    Raises
    ------
    ChoiceError
        No activation has that name.

    Examples
    --------
    >>> get_activation("RELU")
    ReLU(max=None, threshold=None, negative_slope=None)
    """
    if isinstance(value, Activation):
        return value
    name = value.lower() if isinstance(value, str) else value
    return ACTIVATIONS[check_choice("get_activation", "activation", name, ACTIVATIONS)]()
