"""Networks as ONNX files, and back: `net.save("net.onnx")` and `nn.load("net.onnx")`. Extra: ``[onnx]``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nd.on_demand import names_on_demand

if TYPE_CHECKING:
    from .vertices import OnnxConstant as OnnxConstant
    from .vertices import OnnxVertex as OnnxVertex

if not TYPE_CHECKING:
    __getattr__, __dir__ = names_on_demand(__name__, {"vertices": "OnnxConstant OnnxVertex"})
    __all__ = ["OnnxConstant", "OnnxVertex"]
