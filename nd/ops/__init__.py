"""Op classes by kind, and the table of their names. `nd.exec` and `nd.execRandom` run them.

Outside of the names of ND4J: MaxPairwise and MinPairwise (Max and Min are the reductions). An op has its line in OPS,
from which the imports for type checkers are written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nd.on_demand import ClassTable, names_on_demand

if TYPE_CHECKING:
    from .activations import ELU as ELU
    from .activations import GELU as GELU
    from .activations import SELU as SELU
    from .activations import ActivationOp as ActivationOp
    from .activations import Cube as Cube
    from .activations import HardSigmoid as HardSigmoid
    from .activations import HardTanh as HardTanh
    from .activations import Identity as Identity
    from .activations import LeakyReLU as LeakyReLU
    from .activations import Mish as Mish
    from .activations import RationalTanh as RationalTanh
    from .activations import RectifiedLinear as RectifiedLinear
    from .activations import RectifiedTanh as RectifiedTanh
    from .activations import Relu6 as Relu6
    from .activations import RReLU as RReLU
    from .activations import Sigmoid as Sigmoid
    from .activations import SoftMax as SoftMax
    from .activations import SoftPlus as SoftPlus
    from .activations import SoftSign as SoftSign
    from .activations import Swish as Swish
    from .activations import Tanh as Tanh
    from .activations import ThresholdRelu as ThresholdRelu
    from .base import Op as Op
    from .broadcast import Broadcast as Broadcast
    from .broadcast import BroadcastAdd as BroadcastAdd
    from .broadcast import BroadcastCopy as BroadcastCopy
    from .broadcast import BroadcastDiv as BroadcastDiv
    from .broadcast import BroadcastMul as BroadcastMul
    from .broadcast import BroadcastRDiv as BroadcastRDiv
    from .broadcast import BroadcastRSub as BroadcastRSub
    from .broadcast import BroadcastSub as BroadcastSub
    from .pairwise import Add as Add
    from .pairwise import Comparison as Comparison
    from .pairwise import Copy as Copy
    from .pairwise import Div as Div
    from .pairwise import Eq as Eq
    from .pairwise import Gt as Gt
    from .pairwise import Gte as Gte
    from .pairwise import Lt as Lt
    from .pairwise import Lte as Lte
    from .pairwise import MaxPairwise as MaxPairwise
    from .pairwise import MinPairwise as MinPairwise
    from .pairwise import Mul as Mul
    from .pairwise import Neq as Neq
    from .pairwise import Pairwise as Pairwise
    from .pairwise import PowPairwise as PowPairwise
    from .pairwise import RDiv as RDiv
    from .pairwise import RSub as RSub
    from .pairwise import Sub as Sub
    from .random import AlphaDropOut as AlphaDropOut
    from .random import BernoulliDistribution as BernoulliDistribution
    from .random import BinomialDistribution as BinomialDistribution
    from .random import Distribution as Distribution
    from .random import DropOut as DropOut
    from .random import DropOutInverted as DropOutInverted
    from .random import GaussianDistribution as GaussianDistribution
    from .random import LegacyDropOutInverted as LegacyDropOutInverted
    from .random import LogNormalDistribution as LogNormalDistribution
    from .random import ProbablisticMerge as ProbablisticMerge
    from .random import RandomOp as RandomOp
    from .random import TruncatedNormalDistribution as TruncatedNormalDistribution
    from .random import UniformDistribution as UniformDistribution
    from .reductions import CountNonZero as CountNonZero
    from .reductions import IMax as IMax
    from .reductions import IMin as IMin
    from .reductions import IndexReduction as IndexReduction
    from .reductions import Max as Max
    from .reductions import Mean as Mean
    from .reductions import Min as Min
    from .reductions import Norm1 as Norm1
    from .reductions import Norm2 as Norm2
    from .reductions import NormMax as NormMax
    from .reductions import Prod as Prod
    from .reductions import Reduction as Reduction
    from .reductions import StandardDeviation as StandardDeviation
    from .reductions import Sum as Sum
    from .reductions import Variance as Variance
    from .transforms import Abs as Abs
    from .transforms import Ceil as Ceil
    from .transforms import Cos as Cos
    from .transforms import Exp as Exp
    from .transforms import Expm1 as Expm1
    from .transforms import Floor as Floor
    from .transforms import IsMax as IsMax
    from .transforms import Log as Log
    from .transforms import Log1p as Log1p
    from .transforms import LogSoftMax as LogSoftMax
    from .transforms import Negative as Negative
    from .transforms import OneMinus as OneMinus
    from .transforms import Pow as Pow
    from .transforms import Reciprocal as Reciprocal
    from .transforms import Round as Round
    from .transforms import Sign as Sign
    from .transforms import Sin as Sin
    from .transforms import Sqrt as Sqrt
    from .transforms import Square as Square
    from .transforms import Step as Step
    from .transforms import TimesOneMinus as TimesOneMinus
    from .transforms import Transform as Transform

OPS: ClassTable[type[Op]] = ClassTable(
    __name__,
    {
        "abs": "transforms:Abs",
        "add": "pairwise:Add",
        "alpha_dropout": "random:AlphaDropOut",
        "broadcastadd": "broadcast:BroadcastAdd",
        "broadcastcopy": "broadcast:BroadcastCopy",
        "broadcastdiv": "broadcast:BroadcastDiv",
        "broadcastmul": "broadcast:BroadcastMul",
        "broadcastrdiv": "broadcast:BroadcastRDiv",
        "broadcastrsub": "broadcast:BroadcastRSub",
        "broadcastsub": "broadcast:BroadcastSub",
        "ceil": "transforms:Ceil",
        "copy": "pairwise:Copy",
        "cos": "transforms:Cos",
        "countnonzero": "reductions:CountNonZero",
        "cube": "activations:Cube",
        "distribution_bernoulli": "random:BernoulliDistribution",
        "distribution_binomial": "random:BinomialDistribution",
        "distribution_gaussian": "random:GaussianDistribution",
        "distribution_lognormal": "random:LogNormalDistribution",
        "distribution_truncated": "random:TruncatedNormalDistribution",
        "distribution_uniform": "random:UniformDistribution",
        "div": "pairwise:Div",
        "dropout": "random:DropOut",
        "dropout_inverted": "random:DropOutInverted",
        "elu": "activations:ELU",
        "eq": "pairwise:Eq",
        "exp": "transforms:Exp",
        "expm1": "transforms:Expm1",
        "floor": "transforms:Floor",
        "gelu": "activations:GELU",
        "gt": "pairwise:Gt",
        "gte": "pairwise:Gte",
        "hardsigmoid": "activations:HardSigmoid",
        "hardtanh": "activations:HardTanh",
        "identity": "activations:Identity",
        "imax": "reductions:IMax",
        "imin": "reductions:IMin",
        "ismax": "transforms:IsMax",
        "leakyrelu": "activations:LeakyReLU",
        "legacy_dropout_inverted": "random:LegacyDropOutInverted",
        "log": "transforms:Log",
        "log1p": "transforms:Log1p",
        "log_softmax": "transforms:LogSoftMax",
        "lt": "pairwise:Lt",
        "lte": "pairwise:Lte",
        "max": "reductions:Max",
        "max_pairwise": "pairwise:MaxPairwise",
        "mean": "reductions:Mean",
        "min": "reductions:Min",
        "min_pairwise": "pairwise:MinPairwise",
        "mish": "activations:Mish",
        "mul": "pairwise:Mul",
        "neg": "transforms:Negative",
        "neq": "pairwise:Neq",
        "norm1": "reductions:Norm1",
        "norm2": "reductions:Norm2",
        "normmax": "reductions:NormMax",
        "oneminus": "transforms:OneMinus",
        "pow": "transforms:Pow",
        "pow_pairwise": "pairwise:PowPairwise",
        "probablistic_merge": "random:ProbablisticMerge",
        "prod": "reductions:Prod",
        "rationaltanh": "activations:RationalTanh",
        "rdiv": "pairwise:RDiv",
        "reciprocal": "transforms:Reciprocal",
        "rectifiedtanh": "activations:RectifiedTanh",
        "relu": "activations:RectifiedLinear",
        "relu6": "activations:Relu6",
        "round": "transforms:Round",
        "rrelu": "activations:RReLU",
        "rsub": "pairwise:RSub",
        "selu": "activations:SELU",
        "sigmoid": "activations:Sigmoid",
        "sign": "transforms:Sign",
        "sin": "transforms:Sin",
        "softmax": "activations:SoftMax",
        "softplus": "activations:SoftPlus",
        "softsign": "activations:SoftSign",
        "sqrt": "transforms:Sqrt",
        "square": "transforms:Square",
        "std": "reductions:StandardDeviation",
        "step": "transforms:Step",
        "sub": "pairwise:Sub",
        "sum": "reductions:Sum",
        "swish": "activations:Swish",
        "tanh": "activations:Tanh",
        "thresholdedrelu": "activations:ThresholdRelu",
        "timesoneminus": "transforms:TimesOneMinus",
        "var": "reductions:Variance",
    },
)
"""Name, in ND4J's spelling -> module and class, sorted."""

if not TYPE_CHECKING:
    _NAMES = OPS.modules(
        {
            "activations": "ActivationOp",
            "base": "Op",
            "broadcast": "Broadcast",
            "pairwise": "Comparison Pairwise",
            "random": "Distribution RandomOp",
            "reductions": "IndexReduction Reduction",
            "transforms": "Transform",
        }
    )
    __getattr__, __dir__ = names_on_demand(__name__, _NAMES)
    __all__ = sorted(["OPS", *" ".join(_NAMES.values()).split()])
