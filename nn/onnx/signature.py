"""What comes into a network that is written as an ONNX file: types and shapes of its inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nd import ConfigurationError

from ..conf.nodes import NetworkConfiguration, NodeConf, NodeTypes, Source
from ..layers.base import LayerConf
from ..terms.data_formats import IMAGES, ROWS, SERIES, VOLUMES, arranged, channels_last
from ..terms.input_type import FeedForwardType, InputType, RecurrentType
from ..terms.preprocessors import OfShape

if TYPE_CHECKING:
    from collections.abc import Iterator

Shape = tuple[int | str, ...]

EXAMPLES = "N"
_PLACES: dict[int, Shape] = {0: (), 1: ("T",), 2: ("H", "W"), 3: ("D", "H", "W")}
"""Number of axes behind the channels -> their names."""
_KEEPING = frozenset({"Add", "LayerNormalization", "LogSoftmax", "Mul", "Softmax", "Sub"})
"""Operators whose first input has as many axes as their output."""
_KINDS = {"images": 2, "rows": 0, "series": 1, "volumes": 3}
"""What a layer says that it takes -> how many axes are behind the channels."""


def types_of(conf: NetworkConfiguration, given: Sequence[InputType | None]) -> list[InputType | None]:
    """Return the types of a network's inputs as users see them: its own, those given, or those that layers tell.

    None where sizes are not known: of images, say, whose network has no input type.
    """
    own = conf.network_input_types()
    if len(given) != len(own):
        raise ConfigurationError(
            f"save: input_types must be one for each of the {len(own)} inputs, got {len(given)}. Give None for those "
            "that the network knows."
        )
    return [kind or other or _told(conf, number) for number, (kind, other) in enumerate(zip(own, given, strict=True))]


def type_of(
    source: Source, of_inputs: Sequence[InputType | None], types: Sequence[NodeTypes] | None
) -> InputType | None:
    """Return the type of what a source gives, the channels first; types are those of all nodes, where they are known.

    `of_inputs` are those of the network's inputs, as users see them.
    """
    if source.node < 0:
        kind = of_inputs[-1 - source.node]
        return None if kind is None else kind.computed
    return None if types is None else types[source.node].outputs[source.output]


def shape_of(conf: NetworkConfiguration, number: int, kind: InputType | None) -> Shape:
    """Return the shape of an input as users see it, a name for every length that is free.

    Raises
    ------
    ConfigurationError
        Not even the number of its axes is known.
    """
    name, data_format = conf.input_names[number], conf.formats.inputs[number]
    several = len(conf.input_names) > 1
    reader = next(_readers(conf, number), None)
    layer: Any = None if reader is None else reader.conf
    if getattr(getattr(layer, "innermost", None), "takes_indices", False):
        sizes: Shape | None = _of_indices(layer, reader, kind)
    elif kind is not None:
        sizes = tuple(size if size is not None else "T" for size in kind.computed.shape)
    else:
        sizes = _free_sizes(conf, number)
    if sizes is None:
        raise ConfigurationError(
            f"save: the number of axes of input {name!r} must be known, got a network without input types, whose first "
            "layers take any. Give input_types."
        )
    own = tuple(f"{size}_{name}" if several and isinstance(size, str) else size for size in sizes)
    turned = channels_last(data_format) and 1 + len(own) == len(data_format or "")
    return (EXAMPLES, *(arranged(own, data_format) if turned else own))


def steps_of(conf: NetworkConfiguration, number: int, shape: Shape) -> int | str | None:
    """Return the number of time steps of an input of that shape, a name where it is free; None where it has none."""
    data_format = conf.formats.inputs[number]
    layer: Any = getattr(next(_readers(conf, number), None), "conf", None)
    innermost = getattr(layer, "innermost", None)
    if getattr(innermost, "takes_indices", False):
        return shape[-1] if layer.takes == "series" else None
    if len(shape) != 3:
        return None
    return shape[1 if channels_last(data_format) else 2]


def _readers(conf: NetworkConfiguration, number: int) -> Iterator[NodeConf]:
    return (node for node in conf.nodes if Source(-1 - number) in node.inputs)


def _of_indices(layer: Any, reader: NodeConf | None, kind: InputType | None) -> Shape:
    """Return the sizes of an example that an embedding looks up."""
    if layer.takes != "series":
        return (1,)
    if isinstance(kind, RecurrentType):
        return 1, kind.time_series_length or "T"
    return (kind.n if isinstance(kind, FeedForwardType) else "T",)


def _told(conf: NetworkConfiguration, number: int) -> InputType | None:
    """Return the type that the layers that read an input tell by their own sizes."""
    for node in _readers(conf, number):
        kind = _taken(node, conf.formats.inputs[number])
        if kind is not None:
            return kind
    return None


def _taken(node: NodeConf, data_format: str | None) -> InputType | None:
    """Return the type of what a node takes, None where it does not say."""
    layer: Any = node.conf
    if not isinstance(layer, LayerConf) or getattr(layer.innermost, "takes_indices", False):
        return None
    before, size = node.preprocessor, getattr(layer, "n_in", None)
    if isinstance(before, OfShape):
        kind = FeedForwardType(before.features)
        return kind if before.takes is ROWS else _image_type(before)
    takes = getattr(layer, "takes", None)
    if size is None or (before is not None and before.takes != SERIES):
        return None
    if takes == "series" or (before is not None and takes == "rows"):
        return RecurrentType(size, None, data_format if data_format in SERIES else None)
    return FeedForwardType(size) if takes == "rows" else None


def _image_type(before: Any) -> InputType | None:
    """Return the type of what a preprocessor makes rows of; None for time steps, whose rows are of all examples."""
    if not {IMAGES, VOLUMES} & {before.takes}:
        return None
    channels, *places = before.image
    makers: Any = InputType.convolutional if len(places) == 2 else InputType.convolutional3d
    kind = makers(*places, channels)
    return replace(kind, data_format=before.said_format or kind.data_format)


def _free_sizes(conf: NetworkConfiguration, number: int) -> Shape | None:
    """Return the sizes of an example of which only the number of axes is known."""
    reached: set[Source] = {Source(-1 - number)}
    for place, node in enumerate(conf.nodes):
        if not reached & set(node.inputs):
            continue
        layer: Any = node.conf
        axes = _axes_taken(node)
        if axes is not None:
            first = Source(-1 - number) in node.inputs
            size = getattr(layer, "n_in", None) if first and isinstance(layer, LayerConf) else None
            return (size or "C", *_PLACES[axes])
        if type(layer.innermost).__name__ == "OnnxVertex":
            rank = _rank_of_operator(layer.innermost)
            if rank is not None:
                return None if rank < 2 else ("C", *_PLACES[rank - 2])
            if layer.innermost.op in _KEEPING:
                reached.add(Source(place))
        elif not getattr(layer.innermost, "makes_axes", False):
            reached.add(Source(place))
    data_format = conf.formats.inputs[number]
    known = {name: len(name) - 2 for name in (*SERIES, *IMAGES, *VOLUMES)}.get(data_format or "")
    return None if known is None else ("C", *_PLACES[known])


def _rank_of_operator(conf: Any) -> int | None:
    """Return how many axes an operator's first input has, None where it may have any number or more than arrays do."""
    told, weights = conf.attributes.get("perm"), conf.constants.get(1)
    rank = None
    if conf.op == "Transpose" and told is not None:
        rank = len(told)
    elif conf.op in ("Conv", "ConvTranspose", "GRU", "LSTM", "RNN") and weights is not None:
        rank = len(weights.shape)
    return rank if rank is None or rank - 2 in _PLACES else None


def _axes_taken(node: NodeConf) -> int | None:
    """Return how many axes behind the channels a node takes; None where it takes any number."""
    if node.preprocessor is not None:
        kinds = {SERIES: 1, IMAGES: 2, IMAGES[:1]: 2, VOLUMES: 3, ROWS: 0}
        return kinds.get(node.preprocessor.takes)
    return _KINDS.get(getattr(node.conf, "takes", None) or "")
