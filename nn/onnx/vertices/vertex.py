"""OnnxVertex: an operator of ONNX in a graph, on arrays in the axes of its file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import nd
from nd import ConfigurationError
from nd.checks import suggestion
from nd.random import Random
from nd.typing import Array

from ...layers.runtime import Params
from ...terms.input_type import InputType
from ...terms.java_form import JavaForm
from ...terms.params import ParamSpec, ParamView
from ...vertices.runtime import VertexContext, VertexRuntime
from ...vertices.trained import TrainedVertexConf
from .call import Call
from .constants import OnnxConstant, constant
from .operators import OPERATORS, computed
from .signatures import check_count, check_signature
from .types import output_type
from .values import Value, gradients
from .vertex_json import ATTRIBUTES, CONSTANTS

Attribute = Any
DEFAULT_OPSET = 18


class OnnxRuntime(VertexRuntime):
    """The operator's formula forward; the way back follows from the steps that it was computed in.

    Examples may meet in any operator, as its axis 0 may be any axis: only functions of elements are split.
    """

    pure = splits = True

    def setup(self) -> None:
        self.operator = OPERATORS[self.conf.op]

    def may_split(self, training: bool) -> bool:
        """Tell whether it is a function of the elements of one array, and of constants that are one number each."""
        given = self.conf.constants
        arrays = [position for position in range(self.operator.splits) if position not in given]
        return len(arrays) == 1 and all(one is None or not one.shape for one in given.values())

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, Any]:
        wanted = ctx.needs_epsilons if ctx.training else (False,) * len(xs)
        inputs, weights, result = self._computed(xs, params, wanted, ctx.training and bool(params))
        return result.array, (xs, inputs, weights, result)

    def _computed(
        self, xs: Sequence[Array], params: Params, wanted: Sequence[bool], trained: bool
    ) -> tuple[list[Value], dict[int, Value], Value]:
        """Return the inputs, the parameters by their positions, and what the operator makes of them."""
        conf = self.conf
        inputs = [Value(x, wanted=needed) for x, needed in zip(xs, wanted, strict=True)]
        weights = {position: Value(params[f"input_{position}"], wanted=trained) for position in conf.trained}
        values = {**dict(zip(conf.positions_of_inputs(len(xs)), inputs, strict=True)), **weights}
        result = computed(conf.call(values, self.dtype, self.label), conf.output)
        if not nd.is_array(result.array):  # a library's number, which has no axes
            result.array = nd.reshape(result.array, ())
        return inputs, weights, result

    def backward(
        self, epsilon: Array, cache: Any, params: Params, grads: Params, ctx: VertexContext
    ) -> Sequence[Array | None]:
        xs, inputs, weights, result = cache
        again = any(need and not value.wanted for need, value in zip(ctx.needs_epsilons, inputs, strict=True))
        if again or any(not value.wanted for value in weights.values()):  # nobody had asked when it went forward
            inputs, weights, result = self._computed(xs, params, ctx.needs_epsilons, bool(params))
        below = gradients([result], [epsilon], [*inputs, *weights.values()])
        for position, gradient in zip(weights, below[len(inputs) :], strict=True):
            nd.assign(grads[f"input_{position}"], gradient)
        return [one if need else None for one, need in zip(below, ctx.needs_epsilons, strict=False)]

    def feed_forward_mask(self, masks: Sequence[Array | None], ctx: VertexContext) -> Array | None:
        """Return no mask: ONNX has none."""
        return None

    def examples(self, counts: Sequence[int]) -> int:
        return counts[0] if counts else 1


@dataclass(frozen=True)
class OnnxVertex(TrainedVertexConf):
    """An operator of ONNX, on arrays in the axes of its file.

    Parameters
    ----------
    op : str
        The operator's name: "Gather".
    attributes : mapping of str -> number, text, list or array
        As ONNX names them; left out are those that have a default.
    constants : mapping of int -> array, number, nested numbers, or None
        Inputs by position that are constants: shapes, axes, pads, weights. None for an optional input that is left out.
        Every other position is an input of the vertex, in their order.
    opset : int
        Of the file: it decides where operators have changed.
    output : int
        Which of the operator's outputs the activations are.
    outputs_of_operator : int
        How many outputs the node in the file has: Split divides by it.
    trained : sequence of int
        Positions of constants that are parameters, with the names ``input_1``, ``input_2`` ...

    Raises
    ------
    ConfigurationError
        The operator is not known, has no such attribute, input or output, a constant is no array, or `trained` names
        one that is no constant of real numbers.

    Notes
    -----
    Arrays have the network's dtype: truths are 0 and 1, whole numbers are real ones, exact up to 2^24 in float32 and
    2^53 in float64. An operator without a derivative, a comparison say, hands zeros back. Masks end here. Source: ONNX
    operators, ai.onnx.

    Examples
    --------
    >>> from nn.onnx import OnnxVertex
    >>> OnnxVertex("Clip", constants={1: 0.0, 2: 6.0}).op
    'Clip'
    """

    op: str
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    constants: Mapping[int, Any] = field(default_factory=dict)
    opset: int = DEFAULT_OPSET
    output: int = 0
    outputs_of_operator: int = 1
    trained: Sequence[int] = ()
    runtime: ClassVar = OnnxRuntime
    fewest_inputs: ClassVar[int] = 0
    most_inputs: ClassVar[int | None] = None
    makes_axes: ClassVar[bool] = True
    form: ClassVar[JavaForm] = TrainedVertexConf.form.more({
        "attributes": ("attributes", ATTRIBUTES),
        "constants": ("constants", CONSTANTS._replace(encode=lambda constants: None)),
        "op": ("op", "plain"),
        "opset": ("opset", "plain"),
        "output": ("output", "plain"),
        "outputsOfOperator": ("outputs_of_operator", "plain"),
        "trained": ("trained", "sizes"),
    }, derived={"constants": lambda conf: CONSTANTS.encode(conf.written_constants)})  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.op not in OPERATORS:
            raise ConfigurationError(
                f"OnnxVertex: op must be one of {len(OPERATORS)} operators, got {self.op!r}."
                f"{suggestion('op', self.op, OPERATORS)} docs/onnx_operators.md lists them."
            )
        who = f"OnnxVertex {self.op}"
        constants = {at: None if one is None else constant(who, one) for at, one in self.constants.items()}
        attributes = {name: _attribute(who, value) for name, value in self.attributes.items()}
        object.__setattr__(self, "constants", constants)
        object.__setattr__(self, "attributes", attributes)
        object.__setattr__(self, "trained", tuple(self.trained))
        check_signature(self.op, attributes, constants, self.output)
        for position in self.trained:
            given = constants.get(position)
            if given is None or not given.dtype.startswith("float"):
                raise ConfigurationError(
                    f"{who}: trained must name constants of real numbers, got position {position} with {given!r}. "
                    "Leave it out."
                )

    def __hash__(self) -> int:
        return hash((self.op, self.opset, self.output, tuple(sorted(self.attributes)), tuple(self.constants)))

    def in_format(self, label: str, incoming: str | None, wanted: str | None = None) -> tuple[Self, str | None]:
        return self, None  # users see its arrays as they are

    def positions_of_inputs(self, count: int) -> list[int]:
        """Return the positions of so many inputs of the vertex: those that are not constants."""
        positions = (position for position in range(count + len(self.constants)) if position not in self.constants)
        return [next(positions) for _ in range(count)]

    @property
    def written_constants(self) -> dict[int, OnnxConstant | None]:
        """The constants without the numbers of those that are parameters, which are written as such."""
        return {
            position: replace(one, content=None) if one is not None and position in self.trained else one
            for position, one in self.constants.items()
        }

    def call(self, values: Mapping[int, Value], dtype: str, label: str) -> Call:
        """Return what the operator's function is given, with these inputs by position."""
        check_count(label, self.op, len(values) + len(self.constants.keys() - values))
        told = (self.opset, dtype, label, self.outputs_of_operator)
        return Call(self.op, self.attributes, self.constants, values, *told)

    def output_type(self, label: str, input_types: Sequence[InputType]) -> InputType:
        return output_type(self, label, input_types)

    def examples_of(self, arriving: Sequence[int]) -> int:
        return max(arriving, default=1)

    def param_specs(self) -> tuple[ParamSpec, ...]:
        return tuple(
            ParamSpec(f"input_{position}", shape, order="c", bias=len(shape) < 2)
            for position, shape in ((position, self.constants[position].shape) for position in self.trained)
        )

    def draw_own(self, views: Sequence[ParamView], vector: Array, rng: Random, label: str) -> None:
        """Let the parameters start as the constants that they are in the file."""
        for view in views:
            given = self.constants[int(view.spec.name.removeprefix("input_"))]
            nd.assign(view.of(vector), given.array(nd.dtype_name(vector)))


def _attribute(who: str, value: Any) -> Any:
    """Return an attribute as Python's values: a list as a tuple, an array as a constant."""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, (int, float, str, OnnxConstant)):
        return value
    if isinstance(value, (list, tuple)) and not any(isinstance(one, (list, tuple)) for one in value):
        return tuple(_attribute(who, one) for one in value)
    return constant(who, value)
