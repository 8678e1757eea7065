"""Activation functions: value and derivative, once for all backends.

A class is a frozen dataclass whose fields are the function's parameters. In the formulas x is the input z. An
activation has its line in ACTIVATIONS, from which the imports for type checkers are written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nd.on_demand import ClassTable, names_on_demand

if TYPE_CHECKING:
    from .base import Activation as Activation
    from .bounded import HardSigmoid as HardSigmoid
    from .bounded import HardTanh as HardTanh
    from .bounded import RationalTanh as RationalTanh
    from .bounded import RectifiedTanh as RectifiedTanh
    from .bounded import Sigmoid as Sigmoid
    from .bounded import Softmax as Softmax
    from .bounded import SoftSign as SoftSign
    from .bounded import Tanh as Tanh
    from .by_name import get_activation as get_activation
    from .rectifiers import LeakyReLU as LeakyReLU
    from .rectifiers import ReLU as ReLU
    from .rectifiers import ReLU6 as ReLU6
    from .rectifiers import RReLU as RReLU
    from .rectifiers import ThresholdedReLU as ThresholdedReLU
    from .smooth import ELU as ELU
    from .smooth import GELU as GELU
    from .smooth import SELU as SELU
    from .smooth import Cube as Cube
    from .smooth import Identity as Identity
    from .smooth import Mish as Mish
    from .smooth import SoftPlus as SoftPlus
    from .smooth import Swish as Swish

ACTIVATIONS: ClassTable[type[Activation]] = ClassTable(
    __name__,
    {
        "cube": "smooth:Cube",
        "elu": "smooth:ELU",
        "gelu": "smooth:GELU",
        "hardsigmoid": "bounded:HardSigmoid",
        "hardtanh": "bounded:HardTanh",
        "identity": "smooth:Identity",
        "leakyrelu": "rectifiers:LeakyReLU",
        "mish": "smooth:Mish",
        "rationaltanh": "bounded:RationalTanh",
        "rectifiedtanh": "bounded:RectifiedTanh",
        "relu": "rectifiers:ReLU",
        "relu6": "rectifiers:ReLU6",
        "rrelu": "rectifiers:RReLU",
        "selu": "smooth:SELU",
        "sigmoid": "bounded:Sigmoid",
        "softmax": "bounded:Softmax",
        "softplus": "smooth:SoftPlus",
        "softsign": "bounded:SoftSign",
        "swish": "smooth:Swish",
        "tanh": "bounded:Tanh",
        "thresholdedrelu": "rectifiers:ThresholdedReLU",
    },
)
"""Name, as DL4J's enum Activation spells it, in lower case -> module and class, sorted."""

if not TYPE_CHECKING:
    _NAMES = ACTIVATIONS.modules({"base": "Activation", "by_name": "get_activation"})
    __getattr__, __dir__ = names_on_demand(__name__, _NAMES)
    __all__ = sorted(["ACTIVATIONS", *" ".join(_NAMES.values()).split()])
