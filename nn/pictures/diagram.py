"""What a picture of a network shows: boxes and the arrows between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nd.activations import Identity

from ..conf.nodes import sources_of
from ..layers.base import LayerConf
from ..layers.core.frozen import FrozenLayer
from ..layers.normalization.batch_normalization import BatchNormalization
from ..vertices.wrapping import FrozenVertex

if TYPE_CHECKING:
    from ..conf.nodes import NetworkConfiguration
    from ..terms.input_type import InputType
    from ..vertices.base import VertexConf

_WINDOWS = (("kernel_size", ""), ("stride", "stride "))
"""Field -> what stands before it."""


class Box(NamedTuple):
    """An input, layer or vertex.

    Attributes
    ----------
    name : str
    lines : tuple of str
        Its type, the shape of its activations where it is known, its parameters where it has some.
    kind : {"input", "layer", "vertex"}
    is_output, is_frozen : bool
    """

    name: str
    lines: tuple[str, ...]
    kind: str
    is_output: bool = False
    is_frozen: bool = False


class Diagram(NamedTuple):
    """Boxes, inputs first, then in the order in which they run; arrows as pairs of their numbers."""

    boxes: tuple[Box, ...]
    arrows: tuple[tuple[int, int], ...]


def diagram_of(conf: NetworkConfiguration) -> Diagram:
    """Return the picture of any network; an input that comes in twice has two arrows."""
    inputs, types = conf.input_names, conf.node_types([None] * len(conf.input_names))
    boxes = [
        Box(name, ("input", *_shape(kind)), "input")
        for name, kind in zip(inputs, conf.network_input_types(), strict=True)
    ]
    arrows = []
    for number, node in enumerate(conf.nodes):
        out = None if types is None else types[number].output
        before = () if node.preprocessor is None else (f"behind {type(node.preprocessor).__name__}",)
        lines = (*before, _type(node.conf), *_shape(out), *_parameters(node.conf))
        kind = "layer" if isinstance(node.conf, LayerConf) else "vertex"
        name = getattr(node.conf, "name", None) or node.name
        frozen = isinstance(node.conf, FrozenLayer | FrozenVertex)
        boxes.append(Box(name, lines, kind, number in conf.output_nodes, frozen))
        places = (len(inputs) + source if source >= 0 else -1 - source for source in sources_of(node))
        arrows += [(place, len(inputs) + number) for place in places]
    return Diagram(tuple(boxes), tuple(arrows))


def _type(conf: LayerConf | VertexConf) -> str:
    """Return the class, of a wrapper with that of what it wraps, and what tells layers of one class apart."""
    inner = conf.innermost
    name = type(conf).__name__ if inner is conf else f"{type(conf).__name__} of {type(inner).__name__}"
    details = [str(value) for field in ("op", "pooling_type") if (value := getattr(inner, field, None)) is not None]
    details += [f"{word}{text}" for field, word in _WINDOWS if (text := _window(inner, field))]
    activation = getattr(inner, "activation", None)
    if activation is not None and not isinstance(activation, Identity) and not isinstance(inner, BatchNormalization):
        details.append(type(activation).__name__)  # a batch normalisation has one in files, and applies none
    return f"{name}: {', '.join(details)}" if details else name


def _window(conf: object, field: str) -> str:
    """Return a layer's ``3x3``; nothing where it has no such field, or only ones."""
    size = getattr(conf, field, None)
    sizes = size if isinstance(size, tuple) else () if size is None else (size,)
    return "x".join(map(str, sizes)) if set(sizes) != {1} or field == "kernel_size" else ""


def _shape(kind: InputType | None) -> tuple[str, ...]:
    """Return ``[N, 3, T]``: N examples, of T time steps where their number is not known."""
    if kind is None:
        return ()
    return (f"[{', '.join(['N', *('T' if axis is None else str(axis) for axis in kind.shape)])}]",)


def _parameters(conf: LayerConf | VertexConf) -> tuple[str, ...]:
    count = sum(spec.length for spec in conf.param_specs())
    return (f"{count:,} parameters",) if count else ()
