"""Operators of ONNX that no layer says, as vertices of a ComputationGraph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nd.on_demand import names_on_demand

if TYPE_CHECKING:
    from .constants import OnnxConstant as OnnxConstant
    from .operators import OPERATORS as OPERATORS
    from .operators import Operator as Operator
    from .vertex import OnnxVertex as OnnxVertex

if not TYPE_CHECKING:
    __getattr__, __dir__ = names_on_demand(
        __name__, {"constants": "OnnxConstant", "operators": "OPERATORS Operator", "vertex": "OnnxVertex"}
    )
    __all__ = ["OPERATORS", "OnnxConstant", "OnnxVertex", "Operator"]
