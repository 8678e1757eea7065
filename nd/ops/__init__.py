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
    from .derivatives import ActivationBp as ActivationBp
    from .derivatives import CubeBp as CubeBp
    from .derivatives import EluBp as EluBp
    from .derivatives import GELUBp as GELUBp
    from .derivatives import HardSigmoidBp as HardSigmoidBp
    from .derivatives import HardTanhBp as HardTanhBp
    from .derivatives import IdentityBp as IdentityBp
    from .derivatives import LeakyReLUBp as LeakyReLUBp
    from .derivatives import MishBp as MishBp
    from .derivatives import RationalTanhBp as RationalTanhBp
    from .derivatives import RectifiedLinearBp as RectifiedLinearBp
    from .derivatives import RectifiedTanhBp as RectifiedTanhBp
    from .derivatives import Relu6Bp as Relu6Bp
    from .derivatives import RReLUBp as RReLUBp
    from .derivatives import SeluBp as SeluBp
    from .derivatives import SigmoidBp as SigmoidBp
    from .derivatives import SoftmaxBp as SoftmaxBp
    from .derivatives import SoftPlusBp as SoftPlusBp
    from .derivatives import SoftSignBp as SoftSignBp
    from .derivatives import SwishBp as SwishBp
    from .derivatives import TanhBp as TanhBp
    from .derivatives import ThresholdReluBp as ThresholdReluBp
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
    from .products import Axpby as Axpby
    from .products import Axpy as Axpy
    from .products import BatchMmul as BatchMmul
    from .products import Dot as Dot
    from .products import Gemm as Gemm
    from .products import Mmul as Mmul
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
    from .values import Assign as Assign
    from .values import Cast as Cast
    from .values import Concat as Concat
    from .values import ScalarSet as ScalarSet
    from .values import Select as Select
    from .windows import AvgPooling2D as AvgPooling2D
    from .windows import AvgPooling2DDerivative as AvgPooling2DDerivative
    from .windows import Col2Im as Col2Im
    from .windows import Im2col as Im2col
    from .windows import MaxPooling2D as MaxPooling2D
    from .windows import MaxPooling2DDerivative as MaxPooling2DDerivative
    from .windows import PnormPooling2D as PnormPooling2D
    from .windows import PnormPooling2DDerivative as PnormPooling2DDerivative
    from .windows import Pooling2D as Pooling2D
    from .windows import Pooling2DDerivative as Pooling2DDerivative

OPS: ClassTable[type[Op]] = ClassTable(
    __name__,
    {
        "abs": "transforms:Abs",
        "add": "pairwise:Add",
        "alpha_dropout": "random:AlphaDropOut",
        "assign": "values:Assign",
        "avgpool2d": "windows:AvgPooling2D",
        "avgpool2d_bp": "windows:AvgPooling2DDerivative",
        "axpby": "products:Axpby",
        "axpy": "products:Axpy",
        "batched_gemm": "products:BatchMmul",
        "broadcastadd": "broadcast:BroadcastAdd",
        "broadcastcopy": "broadcast:BroadcastCopy",
        "broadcastdiv": "broadcast:BroadcastDiv",
        "broadcastmul": "broadcast:BroadcastMul",
        "broadcastrdiv": "broadcast:BroadcastRDiv",
        "broadcastrsub": "broadcast:BroadcastRSub",
        "broadcastsub": "broadcast:BroadcastSub",
        "cast": "values:Cast",
        "ceil": "transforms:Ceil",
        "col2im": "windows:Col2Im",
        "concat": "values:Concat",
        "copy": "pairwise:Copy",
        "cos": "transforms:Cos",
        "countnonzero": "reductions:CountNonZero",
        "cube": "activations:Cube",
        "cube_bp": "derivatives:CubeBp",
        "distribution_bernoulli": "random:BernoulliDistribution",
        "distribution_binomial": "random:BinomialDistribution",
        "distribution_gaussian": "random:GaussianDistribution",
        "distribution_lognormal": "random:LogNormalDistribution",
        "distribution_truncated": "random:TruncatedNormalDistribution",
        "distribution_uniform": "random:UniformDistribution",
        "div": "pairwise:Div",
        "dot": "products:Dot",
        "dropout": "random:DropOut",
        "dropout_inverted": "random:DropOutInverted",
        "elu": "activations:ELU",
        "elu_bp": "derivatives:EluBp",
        "eq": "pairwise:Eq",
        "exp": "transforms:Exp",
        "expm1": "transforms:Expm1",
        "floor": "transforms:Floor",
        "gelu": "activations:GELU",
        "gelu_bp": "derivatives:GELUBp",
        "gemm": "products:Gemm",
        "gt": "pairwise:Gt",
        "gte": "pairwise:Gte",
        "hardsigmoid": "activations:HardSigmoid",
        "hardsigmoid_bp": "derivatives:HardSigmoidBp",
        "hardtanh": "activations:HardTanh",
        "hardtanh_bp": "derivatives:HardTanhBp",
        "identity": "activations:Identity",
        "identity_bp": "derivatives:IdentityBp",
        "im2col": "windows:Im2col",
        "imax": "reductions:IMax",
        "imin": "reductions:IMin",
        "ismax": "transforms:IsMax",
        "leakyrelu": "activations:LeakyReLU",
        "leakyrelu_bp": "derivatives:LeakyReLUBp",
        "legacy_dropout_inverted": "random:LegacyDropOutInverted",
        "log": "transforms:Log",
        "log1p": "transforms:Log1p",
        "log_softmax": "transforms:LogSoftMax",
        "lt": "pairwise:Lt",
        "lte": "pairwise:Lte",
        "max": "reductions:Max",
        "max_pairwise": "pairwise:MaxPairwise",
        "maxpool2d": "windows:MaxPooling2D",
        "maxpool2d_bp": "windows:MaxPooling2DDerivative",
        "mean": "reductions:Mean",
        "min": "reductions:Min",
        "min_pairwise": "pairwise:MinPairwise",
        "mish": "activations:Mish",
        "mish_bp": "derivatives:MishBp",
        "mmul": "products:Mmul",
        "mul": "pairwise:Mul",
        "neg": "transforms:Negative",
        "neq": "pairwise:Neq",
        "norm1": "reductions:Norm1",
        "norm2": "reductions:Norm2",
        "normmax": "reductions:NormMax",
        "oneminus": "transforms:OneMinus",
        "pnormpool2d": "windows:PnormPooling2D",
        "pnormpool2d_bp": "windows:PnormPooling2DDerivative",
        "pow": "transforms:Pow",
        "pow_pairwise": "pairwise:PowPairwise",
        "probablistic_merge": "random:ProbablisticMerge",
        "prod": "reductions:Prod",
        "rationaltanh": "activations:RationalTanh",
        "rationaltanh_bp": "derivatives:RationalTanhBp",
        "rdiv": "pairwise:RDiv",
        "reciprocal": "transforms:Reciprocal",
        "rectifiedtanh": "activations:RectifiedTanh",
        "rectifiedtanh_bp": "derivatives:RectifiedTanhBp",
        "relu": "activations:RectifiedLinear",
        "relu6": "activations:Relu6",
        "relu6_bp": "derivatives:Relu6Bp",
        "relu_bp": "derivatives:RectifiedLinearBp",
        "round": "transforms:Round",
        "rrelu": "activations:RReLU",
        "rrelu_bp": "derivatives:RReLUBp",
        "rsub": "pairwise:RSub",
        "select": "values:Select",
        "selu": "activations:SELU",
        "selu_bp": "derivatives:SeluBp",
        "set_scalar": "values:ScalarSet",
        "sigmoid": "activations:Sigmoid",
        "sigmoid_bp": "derivatives:SigmoidBp",
        "sign": "transforms:Sign",
        "sin": "transforms:Sin",
        "softmax": "activations:SoftMax",
        "softmax_bp": "derivatives:SoftmaxBp",
        "softplus": "activations:SoftPlus",
        "softplus_bp": "derivatives:SoftPlusBp",
        "softsign": "activations:SoftSign",
        "softsign_bp": "derivatives:SoftSignBp",
        "sqrt": "transforms:Sqrt",
        "square": "transforms:Square",
        "std": "reductions:StandardDeviation",
        "step": "transforms:Step",
        "sub": "pairwise:Sub",
        "sum": "reductions:Sum",
        "swish": "activations:Swish",
        "swish_bp": "derivatives:SwishBp",
        "tanh": "activations:Tanh",
        "tanh_bp": "derivatives:TanhBp",
        "thresholdedrelu": "activations:ThresholdRelu",
        "thresholdedrelu_bp": "derivatives:ThresholdReluBp",
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
            "derivatives": "ActivationBp",
            "pairwise": "Comparison Pairwise",
            "random": "Distribution RandomOp",
            "reductions": "IndexReduction Reduction",
            "transforms": "Transform",
            "windows": "Pooling2D Pooling2DDerivative",
        }
    )
    __getattr__, __dir__ = names_on_demand(__name__, _NAMES)
    __all__ = sorted(["OPS", *" ".join(_NAMES.values()).split()])
