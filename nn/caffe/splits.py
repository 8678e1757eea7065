"""Blobs that several layers use get a Split layer, whose tops are one for each use."""

from __future__ import annotations

from typing import NamedTuple

from nd import ConfigurationError
from nd.arguments import checked

from .naming import layer_text
from .schema import Message, check_kind, new


class _Top(NamedTuple):
    """A top, by the layer that writes it and its place there."""

    layer: int
    place: int


def split_layer_name(blob: str, layer: str, index: int) -> str:
    """Return the name of the Split behind top `index` of a layer: ``ip1_relu1_0_split``."""
    return f"{blob}_{layer}_{index}_split"


def split_blob_name(blob: str, layer: str, index: int, use: int) -> str:
    """Return the name of the top of that Split for one of its uses: ``ip1_relu1_0_split_1``."""
    return f"{split_layer_name(blob, layer, index)}_{use}"


@checked
def insert_splits(net: Message, who: str = "insert_splits") -> Message:
    """Return a net in which every blob is used once: Split layers stand behind tops that have several uses.

    Uses are bottoms of later layers, in order, and before them the loss where a top has a loss weight that is not 0;
    the weight moves to the Split's first top. Splitting again changes nothing.

    Parameters
    ----------
    net : NetParameter
        Of the newest schema, filtered.
    who : str
        For messages.

    Raises
    ------
    ConfigurationError
        A bottom is the top of no earlier layer.

    Notes
    -----
    Source: BVLC Caffe, util/insert_splits.cpp. A blob that layers change in place is the last one's that does.
    As in Caffe, the weight 1 that a loss layer has without saying so is no use of its top.
    Differs: other tops of a layer keep their loss weights where one of its tops is split; Caffe clears them all. A loss
    layer says 0 then, where Caffe leaves nothing, which to a loss layer means 1.
    """
    check_kind(who, net, "NetParameter")
    sources, uses, weights = _uses(net, who)
    split = new("NetParameter")
    split.CopyFrom(net)
    split.ClearField("layer")
    taken = {top: int(weights.get(top, 0.0) != 0.0) for top in uses}  # the first use of a top is the loss
    for position, layer in enumerate(net.layer):
        changed = split.layer.add()
        changed.CopyFrom(layer)
        for index, source in enumerate(sources[position]):
            if uses[source] > 1:
                producer = net.layer[source.layer].name
                changed.bottom[index] = split_blob_name(layer.bottom[index], producer, source.place, taken[source])
                taken[source] += 1
        shared = [top for top in (_Top(position, index) for index in range(len(layer.top))) if uses.get(top, 0) > 1]
        for top in shared:
            weight = weights.get(top, 0.0)
            split.layer.append(_split_layer(layer.top[top.place], layer.name, top.place, uses[top], weight))
        _clear_weights(changed, [top.place for top in shared if weights.get(top, 0.0)])
    return split


def _uses(net: Message, who: str) -> tuple[list[list[_Top]], dict[_Top, int], dict[_Top, float]]:
    """Return the tops that the bottoms of each layer are, how often each top is used, and loss weights of tops."""
    written: dict[str, _Top] = {}
    sources: list[list[_Top]] = []
    uses: dict[_Top, int] = {}
    weights: dict[_Top, float] = {}
    for position, layer in enumerate(net.layer):
        for index, blob in enumerate(layer.bottom):
            if blob not in written:
                raise ConfigurationError(
                    f"{who}: {layer_text(position, layer)}: bottom {index} {blob!r} must be a top of an earlier layer, "
                    f"got one of none. Earlier tops are {', '.join(map(repr, written)) or 'none'}."
                )
        sources.append([written[blob] for blob in layer.bottom])
        for source in sources[-1]:
            uses[source] = uses.get(source, 0) + 1
        written.update({blob: _Top(position, index) for index, blob in enumerate(layer.top)})
        for index, weight in enumerate(layer.loss_weight[: len(layer.top)]):
            top = _Top(position, index)
            weights[top] = weight
            uses[top] = uses.get(top, 0) + (weight != 0.0)
    return sources, uses, weights


def _clear_weights(layer: Message, places: list[int]) -> None:
    """Set loss weights that have moved to 0; leave a list of zeros out, but of a loss layer."""
    for place in places:
        layer.loss_weight[place] = 0.0
    if places and not any(layer.loss_weight) and not layer.type.endswith("Loss"):
        layer.ClearField("loss_weight")


def _split_layer(blob: str, producer: str, index: int, uses: int, weight: float) -> Message:
    layer = new("LayerParameter", name=split_layer_name(blob, producer, index), type="Split", bottom=[blob])
    layer.top.extend(split_blob_name(blob, producer, index, use) for use in range(uses))
    if weight:
        layer.loss_weight.extend([weight, *[0.0] * (uses - 1)])
    return layer
