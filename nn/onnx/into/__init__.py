"""ONNX files as ComputationGraphs that compute the same, and can be trained on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nd import FormatError, NdError
from nd.files.reading import Source, raised_by_others

from ..reading import OnnxFile, read_onnx
from .graphs import graph_of_recognition
from .known import Known
from .recognition import recognised
from .simplifying import REAL

if TYPE_CHECKING:
    from ...networks.graph import ComputationGraph

_DAMAGE = (
    ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError, StopIteration, TypeError, ValueError,
)  # fmt: skip
"""The errors of following a graph whose parts do not fit together."""

DAMAGE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""The errors of nodes that contradict themselves."""
DOUBLE = 11
"""TensorProto.DOUBLE."""


def graph_of(source: Source | OnnxFile) -> ComputationGraph:
    """Return the graph of an ONNX file on the current backend.

    Parameters
    ----------
    source : path, binary file object or OnnxFile

    Raises
    ------
    FileNotFoundError
        There is no such file.
    FormatError
        It is no ONNX model, or a damaged one.
    ConfigurationError
        The package onnx is missing, or nodes are such that no layer and no vertex can say them: all are named.

    Notes
    -----
    Features and outputs have the axes of the file, inputs and vertices its names. Layers of Deeplearning4j say what
    they can; other operators are vertices `OnnxVertex`. Outputs have a loss, so that the graph can be trained: mcxent
    behind a softmax, xent behind a sigmoid, else mse. Whatever only training needs is not in such files. Source: ONNX
    operators, https://onnx.ai/onnx/operators/.
    """
    file = source if isinstance(source, OnnxFile) else read_onnx(source)
    try:
        made = recognised(file)
        return graph_of_recognition(made, _dtype_of(made.known))
    except _DAMAGE as error:
        if isinstance(error, NdError) or raised_by_others(error):
            raise
        raise FormatError(
            f"{file.name}: a model's operators and tensors must fit together, got {type(error).__name__}: {error}. Is "
            "the file damaged?"
        ) from error


def _dtype_of(known: Known) -> str:
    """Return the type of real inputs, where there are none that of the parameters."""
    kinds = REAL.intersection(known.input_kinds.values())
    kinds = kinds or REAL.intersection(tensor.data_type for tensor in known.tensors.values())
    return "float64" if DOUBLE in kinds else "float32"
