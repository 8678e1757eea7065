"""Networks as ONNX files, and back: `net.save("net.onnx")` and `nn.load("net.onnx")`. Extra: ``[onnx]``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nd.on_demand import names_on_demand

if TYPE_CHECKING:
    from .vertices import OnnxConstant as OnnxConstant
    from .vertices import OnnxVertex as OnnxVertex
    from .writing import onnx_model as onnx_model
    from .writing import write_onnx as write_onnx
else:
    _NAMES = {"vertices": "OnnxConstant OnnxVertex", "writing": "onnx_model write_onnx"}
    __getattr__, __dir__ = names_on_demand(__name__, _NAMES)
    __all__ = sorted(" ".join(_NAMES.values()).split())
