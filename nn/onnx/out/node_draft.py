"""A layer or vertex that is being written as operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from nd import ConfigurationError
from nd.typing import HostArray

from ...terms.input_type import InputType
from ..draft import OnnxDraft


class NotInOnnx(ConfigurationError):
    """A part of a network that ONNX cannot say; its text is the reason alone."""


class SizesUnknown(NotInOnnx):
    """A part that ONNX can say where sizes are known: what is behind a part that is refused has none."""


class AddsNodes:
    """Adds nodes that are named after a layer or vertex."""

    draft: OnnxDraft
    name: str

    def node(self, op: str, *inputs: str | float, **attributes: Any) -> str:
        """Add a node with one output, named after the layer; return its output.

        Numbers among the inputs are constants of the network's dtype.
        """
        return self.draft.node(op, inputs, f"{self.name}/{op}", **attributes)


@dataclass(frozen=True)
class NodeDraft(AddsNodes):
    """A node of a network, and the tensors that come into it.

    Attributes
    ----------
    draft : OnnxDraft
    name : str
        Wanted for what it gives; that of the layer or vertex.
    conf : LayerConf or VertexConf
        Of frozen layers and of those in wrappers the layer inside.
    params : dict of str -> host array
        In the layer's own shapes.
    inputs : tuple of str
        Tensors, behind the preprocessor, channels first.
    types : tuple of InputType or None
        Of the inputs; None where the configuration does not say sizes.
    masks : tuple of str or None
        Tensors ``[N, T]`` of the inputs' masks; None where there is none.
    counts : tuple of callable
        Each returns a tensor, int64 ``[1]``: how many examples come in, which rows that are time steps do not tell.
    network_inputs, network_masks : dict of str -> str
        Tensors of the network's inputs, channels first, and of the masks of those that have one, by the inputs' names:
        some vertices look at them.
    masks_steps : bool
        Whether a mask multiplies the states of an LSTM, as inside of LastTimeStep.
    """

    draft: OnnxDraft
    name: str
    conf: Any
    params: Mapping[str, HostArray]
    inputs: tuple[str, ...]
    types: tuple[InputType | None, ...]
    masks: tuple[str | None, ...] = (None,)
    counts: tuple[Callable[[], str], ...] = ()
    network_inputs: Mapping[str, str] = field(default_factory=dict)
    network_masks: Mapping[str, str] = field(default_factory=dict)
    masks_steps: bool = False

    @property
    def x(self) -> str:
        """The first input."""
        return self.inputs[0]

    @property
    def mask(self) -> str | None:
        """The first input's mask."""
        return self.masks[0] if self.masks else None

    def param(self, name: str, *axes: int, shape: Sequence[int] | None = None) -> str:
        """Return a parameter as a tensor: with axes in that order, then in that shape, if they are given."""
        array = self.params[name]
        array = array.transpose(axes) if axes else array
        return self.draft.array(array if shape is None else array.reshape(shape), f"{self.name}/{name}")

    def reduced(self, op: str, x: str, axes: Sequence[int], keepdims: bool = False) -> str:
        """Add ReduceSum, ReduceMax or the like over axes, named after the layer; return its output."""
        return self.draft.reduced(op, x, axes, keepdims, f"{self.name}/{op}")

    def rank(self) -> int:
        """Return the number of axes of the first input; refuse where it is not known."""
        rank = self.draft.rank(self.x) if self.types[0] is None else 1 + len(self.types[0].shape)
        if rank is None:
            raise SizesUnknown("the number of axes of its input is not known. Give input_types")
        return rank

    def reshaped(self, x: str, *sizes: int | str) -> str:
        """Add a Reshape to sizes of which some are tensors, int64 ``[1]``; 0 keeps an axis, -1 is what is left."""
        if all(isinstance(size, int) for size in sizes):
            return self.node("Reshape", x, self.draft.ints(*sizes))  # type: ignore[arg-type]
        parts = [self.draft.ints(size) if isinstance(size, int) else size for size in sizes]
        return self.node("Reshape", x, self.node("Concat", *parts, axis=0))

    def around(self, conf: Any, params: Mapping[str, HostArray], *inputs: str, **settings: Any) -> NodeDraft:
        """Return the same node with another layer in it, one that it wraps; `settings` are other attributes."""
        return replace(self, conf=conf, params=params, inputs=inputs or self.inputs, **settings)

    def refuse(self, reason: str) -> NoReturn:
        """Raise NotInOnnx with a reason."""
        raise NotInOnnx(reason)
