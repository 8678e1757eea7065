"""V1, the files of 2014: types are an enumeration, and what parameters learn by stands in four lists."""

from __future__ import annotations

from nd import ConfigurationError

from ..naming import warn_of_lost
from ..schema import Message

TYPES = {
    "ABSVAL": "AbsVal",
    "ACCURACY": "Accuracy",
    "ARGMAX": "ArgMax",
    "BNLL": "BNLL",
    "CONCAT": "Concat",
    "CONTRASTIVE_LOSS": "ContrastiveLoss",
    "CONVOLUTION": "Convolution",
    "DATA": "Data",
    "DECONVOLUTION": "Deconvolution",
    "DROPOUT": "Dropout",
    "DUMMY_DATA": "DummyData",
    "ELTWISE": "Eltwise",
    "EUCLIDEAN_LOSS": "EuclideanLoss",
    "EXP": "Exp",
    "FLATTEN": "Flatten",
    "HDF5_DATA": "HDF5Data",
    "HDF5_OUTPUT": "HDF5Output",
    "HINGE_LOSS": "HingeLoss",
    "IM2COL": "Im2col",
    "IMAGE_DATA": "ImageData",
    "INFOGAIN_LOSS": "InfogainLoss",
    "INNER_PRODUCT": "InnerProduct",
    "LRN": "LRN",
    "MEMORY_DATA": "MemoryData",
    "MULTINOMIAL_LOGISTIC_LOSS": "MultinomialLogisticLoss",
    "MVN": "MVN",
    "NONE": "",
    "POOLING": "Pooling",
    "POWER": "Power",
    "RELU": "ReLU",
    "SIGMOID": "Sigmoid",
    "SIGMOID_CROSS_ENTROPY_LOSS": "SigmoidCrossEntropyLoss",
    "SILENCE": "Silence",
    "SLICE": "Slice",
    "SOFTMAX": "Softmax",
    "SOFTMAX_LOSS": "SoftmaxWithLoss",
    "SPLIT": "Split",
    "TANH": "TanH",
    "THRESHOLD": "Threshold",
    "WINDOW_DATA": "WindowData",
}
"""Name of a V1 layer's type -> that of the newest schema."""

PARAM_FIELDS = {"blob_share_mode": "share_mode", "blobs_lr": "lr_mult", "param": "name", "weight_decay": "decay_mult"}
"""List of a V1 layer, one item for each of its parameters -> field of a ParamSpec."""

_DATA_LAYERS = {"DATA": "data_param", "IMAGE_DATA": "image_data_param", "WINDOW_DATA": "window_data_param"}
_TRANSFORMATIONS = ("scale", "mean_file", "crop_size", "mirror")


def upgrade_data_layers(net: Message, who: str) -> None:
    """Move what data layers of V1 do with pictures into their transform_param."""
    for layer in net.layers:
        field = _DATA_LAYERS.get(_type_name(layer))
        if field is None or not layer.HasField(field):
            continue
        data = getattr(layer, field)
        for name in _TRANSFORMATIONS:
            if data.HasField(name):
                setattr(layer.transform_param, name, getattr(data, name))
                data.ClearField(name)


def upgrade_v1(net: Message, who: str) -> None:
    """Make layers of the newest schema, in the field `layer`, of those of V1, in `layers`.

    Raises
    ------
    ConfigurationError
        The net has both.
    """
    if not net.layers:
        return
    if net.layer:
        raise ConfigurationError(
            f"{who}: expected layers of one schema, got {len(net.layers)} in the old field 'layers' (the first is "
            f"{net.layers[0].name!r}) and {len(net.layer)} in 'layer' ({net.layer[0].name!r}). Rewrite the old ones."
        )
    for old in net.layers:
        _upgrade_layer(old, net.layer.add(), who)
    net.ClearField("layers")


def _upgrade_layer(old: Message, layer: Message, who: str) -> None:
    lost = []
    for field, value in old.ListFields():
        if field.name == "type":
            layer.type = TYPES[_type_name(old)]
        elif field.name in PARAM_FIELDS:
            _set_each(layer.param, PARAM_FIELDS[field.name], value)
        elif field.name not in layer.DESCRIPTOR.fields_by_name:
            lost.append(field.name)
        elif hasattr(value, "extend"):
            getattr(layer, field.name).extend(value)
        elif field.message_type is not None:
            getattr(layer, field.name).CopyFrom(value)
        else:
            setattr(layer, field.name, value)
    warn_of_lost(f"{who}: layer {old.name!r}", lost, "the newest schema")


def _set_each(specs: Message, field: str, values: Message) -> None:
    """Set a field in one ParamSpec after the other; where there are fewer of them, empty ones are added."""
    for position, value in enumerate(values):
        spec = specs[position] if position < len(specs) else specs.add()
        setattr(spec, field, value)


def _type_name(layer: Message) -> str:
    return layer.LayerType.Name(layer.type)
