"""Vertices of a ComputationGraph: one file per family, configuration and runtime together.

A vertex has its line in VERTICES, from which the imports for type checkers are written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nd.on_demand import ClassTable, names_on_demand

if TYPE_CHECKING:
    from .attention import AttentionVertex as AttentionVertex
    from .base import VertexConf as VertexConf
    from .element_wise import ElementWiseVertex as ElementWiseVertex
    from .merging import MergeVertex as MergeVertex
    from .merging import SubsetVertex as SubsetVertex
    from .norms import L2NormalizeVertex as L2NormalizeVertex
    from .norms import L2Vertex as L2Vertex
    from .runtime import NetworkInput as NetworkInput
    from .runtime import VertexContext as VertexContext
    from .runtime import VertexRuntime as VertexRuntime
    from .scaling import ScaleVertex as ScaleVertex
    from .scaling import ShiftVertex as ShiftVertex
    from .shapes import PoolHelperVertex as PoolHelperVertex
    from .shapes import PreprocessorVertex as PreprocessorVertex
    from .shapes import ReshapeVertex as ReshapeVertex
    from .stacking import StackVertex as StackVertex
    from .stacking import UnstackVertex as UnstackVertex
    from .time_series import DuplicateToTimeSeriesVertex as DuplicateToTimeSeriesVertex
    from .time_series import LastTimeStepVertex as LastTimeStepVertex
    from .time_series import ReverseTimeSeriesVertex as ReverseTimeSeriesVertex
    from .trained import TrainedVertexConf as TrainedVertexConf
    from .wrapping import FrozenVertex as FrozenVertex
    from .wrapping import LayerVertex as LayerVertex

VERTICES: ClassTable[type[VertexConf]] = ClassTable(
    __name__,
    {
        "attention": "attention:AttentionVertex",
        "duplicate_to_time_series": "time_series:DuplicateToTimeSeriesVertex",
        "element_wise": "element_wise:ElementWiseVertex",
        "frozen": "wrapping:FrozenVertex",
        "l2": "norms:L2Vertex",
        "l2_normalize": "norms:L2NormalizeVertex",
        "last_time_step": "time_series:LastTimeStepVertex",
        "layer": "wrapping:LayerVertex",
        "merge": "merging:MergeVertex",
        "pool_helper": "shapes:PoolHelperVertex",
        "preprocessor": "shapes:PreprocessorVertex",
        "reshape": "shapes:ReshapeVertex",
        "reverse_time_series": "time_series:ReverseTimeSeriesVertex",
        "scale": "scaling:ScaleVertex",
        "shift": "scaling:ShiftVertex",
        "stack": "stacking:StackVertex",
        "subset": "merging:SubsetVertex",
        "unstack": "stacking:UnstackVertex",
    },
)
"""Name -> module and configuration class, sorted."""

if not TYPE_CHECKING:
    _NAMES = VERTICES.modules(
        {"base": "VertexConf", "runtime": "NetworkInput VertexContext VertexRuntime", "trained": "TrainedVertexConf"}
    )
    __getattr__, __dir__ = names_on_demand(__name__, _NAMES)
    __all__ = sorted(["VERTICES", *" ".join(_NAMES.values()).split()])
