"""V0, the files of 2013: every layer has all fields, and padding is a layer of its own."""

from __future__ import annotations

from typing import Any

from nd import ConfigurationError
from nd.checks import check_choice

from ..naming import layer_text, warn_of_lost
from ..schema import Message, message_class, new

TYPES = {
    "accuracy": "ACCURACY",
    "bnll": "BNLL",
    "concat": "CONCAT",
    "conv": "CONVOLUTION",
    "data": "DATA",
    "dropout": "DROPOUT",
    "euclidean_loss": "EUCLIDEAN_LOSS",
    "flatten": "FLATTEN",
    "hdf5_data": "HDF5_DATA",
    "hdf5_output": "HDF5_OUTPUT",
    "im2col": "IM2COL",
    "images": "IMAGE_DATA",
    "infogain_loss": "INFOGAIN_LOSS",
    "innerproduct": "INNER_PRODUCT",
    "lrn": "LRN",
    "multinomial_logistic_loss": "MULTINOMIAL_LOGISTIC_LOSS",
    "pool": "POOLING",
    "relu": "RELU",
    "sigmoid": "SIGMOID",
    "softmax": "SOFTMAX",
    "softmax_loss": "SOFTMAX_LOSS",
    "split": "SPLIT",
    "tanh": "TANH",
    "window_data": "WINDOW_DATA",
}
"""Type of a V0 layer -> name of V1's."""

_OF_LAYER = ("name", "blobs", "blobs_lr", "weight_decay")
"""Fields that V1 has under the same names, in the layer itself."""

_ANY = ""
_SOURCES = {
    "data": "data_param.{}",
    "hdf5_data": "hdf5_data_param.{}",
    "images": "image_data_param.{}",
    "window_data": "window_data_param.{}",
}
_WEIGHTS = {"conv": "convolution_param.{}", "innerproduct": "inner_product_param.{}"}
_WINDOWS = {"conv": "convolution_param.{}", "pool": "pooling_param.{}"}
FIELDS = {
    "alpha": {"lrn": "lrn_param.alpha"},
    "batchsize": {name: place.format("batch_size") for name, place in _SOURCES.items()},
    "beta": {"lrn": "lrn_param.beta"},
    "bias_filler": {name: place.format("bias_filler") for name, place in _WEIGHTS.items()},
    "biasterm": {name: place.format("bias_term") for name, place in _WEIGHTS.items()},
    "concat_dim": {"concat": "concat_param.concat_dim"},
    "cropsize": {_ANY: "transform_param.crop_size"},
    "det_bg_threshold": {"window_data": "window_data_param.bg_threshold"},
    "det_context_pad": {"window_data": "window_data_param.context_pad"},
    "det_crop_mode": {"window_data": "window_data_param.crop_mode"},
    "det_fg_fraction": {"window_data": "window_data_param.fg_fraction"},
    "det_fg_threshold": {"window_data": "window_data_param.fg_threshold"},
    "dropout_ratio": {"dropout": "dropout_param.dropout_ratio"},
    "group": {"conv": "convolution_param.group"},
    "hdf5_output_param": {"hdf5_output": "hdf5_output_param"},
    "k": {"lrn": "lrn_param.k"},
    "kernelsize": {name: place.format("kernel_size") for name, place in _WINDOWS.items()},
    "local_size": {"lrn": "lrn_param.local_size"},
    "meanfile": {_ANY: "transform_param.mean_file"},
    "mirror": {_ANY: "transform_param.mirror"},
    "new_height": {"images": "image_data_param.new_height"},
    "new_width": {"images": "image_data_param.new_width"},
    "num_output": {name: place.format("num_output") for name, place in _WEIGHTS.items()},
    "pad": {name: place.format("pad") for name, place in _WINDOWS.items()},
    "pool": {"pool": "pooling_param.pool"},
    "rand_skip": {"data": "data_param.rand_skip", "images": "image_data_param.rand_skip"},
    "scale": {_ANY: "transform_param.scale"},
    "shuffle_images": {"images": "image_data_param.shuffle"},
    "source": {
        **{name: place.format("source") for name, place in _SOURCES.items()},
        "infogain_loss": "infogain_loss_param.source",
    },
    "stride": {name: place.format("stride") for name, place in _WINDOWS.items()},
    "weight_filler": {name: place.format("weight_filler") for name, place in _WEIGHTS.items()},
}
"""Field of a V0 layer -> type of the layer (or any) -> where V1 has it."""


def upgrade_v0(net: Message, who: str) -> None:
    """Make layers of V1 of those of V0; of the net itself its name, inputs and force_backward are kept, as in Caffe.

    Raises
    ------
    ConfigurationError
        A type is unknown, or padding goes elsewhere than into one convolution or pooling.
    """
    if not any(layer.HasField("layer") for layer in net.layers):
        return
    _fold_padding(net, who)
    layers = [_upgraded(layer, position, who) for position, layer in enumerate(net.layers)]
    for field, _ in net.ListFields():
        if field.name not in ("name", "input", "input_dim", "force_backward"):
            net.ClearField(field.name)
    net.layers.extend(layers)


def _fold_padding(net: Message, who: str) -> None:
    """Leave the layers out that only pad; the convolution or pooling behind pads itself."""
    sources: dict[str, Message | None] = dict.fromkeys(net.input)  # blob -> the layer that made it last
    kept = []
    for position, layer in enumerate(net.layers):
        named = layer_text(position, layer.layer)
        changed = message_class("V1LayerParameter")()
        changed.CopyFrom(layer)
        for index, bottom in enumerate(layer.bottom):
            if bottom not in sources:
                raise ConfigurationError(
                    f"{who}: {named}: bottom {index} {bottom!r} must be a top of an earlier layer or an input of the "
                    f"net, got none of that name. There are {sorted(sources)}."
                )
            padding = sources[bottom]
            if padding is not None and padding.layer.type == "padding":
                _check_padding(layer, padding, f"{who}: {named}")
                changed.layer.pad = padding.layer.pad
                changed.bottom[index] = padding.bottom[0]
        if layer.layer.type != "padding":
            kept.append(changed)
        sources.update(dict.fromkeys(layer.top, layer))
    net.ClearField("layers")
    net.layers.extend(kept)


def _check_padding(layer: Message, padding: Message, who: str) -> None:
    name = padding.layer.name
    if layer.layer.type not in ("conv", "pool"):
        raise ConfigurationError(
            f"{who}: what the padding {name!r} makes must go into a layer of type conv or pool, got "
            f"{layer.layer.type!r}. Give the padding to the layer that needs it."
        )
    counts = {"bottoms of the layer": layer.bottom, "bottoms of the padding": padding.bottom}
    for what, blobs in {**counts, "tops of the padding": padding.top}.items():
        if len(blobs) != 1:
            raise ConfigurationError(f"{who}: behind the padding {name!r}, expected 1 of {what}, got {list(blobs)}.")


def _upgraded(old: Message, position: int, who: str) -> Message:
    """Return a V0 layer as one of V1; one that is of V1 already as it is, where Caffe would empty it."""
    if not old.HasField("layer"):
        return old
    layer = new("V1LayerParameter", bottom=old.bottom, top=old.top)
    named, of_type, lost = f"{who}: {layer_text(position, old.layer)}", old.layer.type, []
    if old.layer.HasField("type"):
        layer.type = layer.LayerType.Value(TYPES[check_choice(named, "type", of_type, TYPES)])
    for field, value in old.layer.ListFields():
        places = FIELDS.get(field.name, {})
        place = places.get(of_type) or places.get(_ANY)
        if field.name in _OF_LAYER or place:
            _put(layer, place or field.name, value)
        elif field.name != "type":
            lost.append(field.name)
    warn_of_lost(named, lost, f"a layer of type {of_type!r}")
    return layer


def _put(message: Message, place: str, value: Any) -> None:
    """Set a field of a message, or of one inside: ``pooling_param.pad``; of numbers for each axis, the only one."""
    *path, name = place.split(".")
    for inner in path:
        message = getattr(message, inner)
    target = getattr(message, name)
    if hasattr(target, "extend"):
        target.extend(value if hasattr(value, "extend") else [value])
    elif hasattr(target, "CopyFrom"):
        target.CopyFrom(value)
    else:
        setattr(message, name, value)
