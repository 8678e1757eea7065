"""All calls of a model of Keras, one after the other, as layers and vertices of a graph."""

from __future__ import annotations

from collections.abc import Callable, Collection
from importlib import import_module

from nd import ConfigurationError

from ...conf.growing import GrowingGraph
from ...networks.network import Network
from ...terms.data_formats import IMAGES, SERIES, VOLUMES
from ..model import InputSpec, KerasCall, KerasModel
from .graphs import configured, network_of_configuration
from .piece import NotSaid, Piece, Value

CONVERTERS = {
    "Activation": "activations:activation",
    "ActivityRegularization": "shapes:same",
    "Add": "merging:element_wise",
    "AlphaDropout": "noise:alpha_dropout",
    "Average": "merging:element_wise",
    "AveragePooling1D": "poolings:pooling",
    "AveragePooling2D": "poolings:pooling",
    "AveragePooling3D": "poolings:pooling",
    "BatchNormalization": "normalization:batch_normalization",
    "Concatenate": "merging:concatenate",
    "Conv1D": "convolutions:convolution",
    "Conv1DTranspose": "transposed:transposed_convolution",
    "Conv2D": "convolutions:convolution",
    "Conv2DTranspose": "transposed:transposed_convolution",
    "Conv3D": "convolutions:convolution",
    "Conv3DTranspose": "transposed:transposed_convolution",
    "Cropping1D": "padding:cropping",
    "Cropping2D": "padding:cropping",
    "Cropping3D": "padding:cropping",
    "Dense": "dense:dense",
    "DepthwiseConv1D": "depthwise:depthwise",
    "DepthwiseConv2D": "depthwise:depthwise",
    "Dot": "merging:dot",
    "Dropout": "noise:dropout",
    "ELU": "activations:elu",
    "Flatten": "shapes:flatten",
    "GaussianDropout": "noise:gaussian_dropout",
    "GaussianNoise": "noise:gaussian_noise",
    "GlobalAveragePooling1D": "poolings:global_pooling",
    "GlobalAveragePooling2D": "poolings:global_pooling",
    "GlobalAveragePooling3D": "poolings:global_pooling",
    "GlobalMaxPooling1D": "poolings:global_pooling",
    "GlobalMaxPooling2D": "poolings:global_pooling",
    "GlobalMaxPooling3D": "poolings:global_pooling",
    "InputLayer": "shapes:same",
    "LRN": "normalization:lrn",
    "LayerNormalization": "normalization:layer_normalization",
    "LeakyReLU": "activations:leaky_relu",
    "LocallyConnected1D": "locally_connected:locally_connected",
    "LocallyConnected2D": "locally_connected:locally_connected",
    "MaxPooling1D": "poolings:pooling",
    "MaxPooling2D": "poolings:pooling",
    "MaxPooling3D": "poolings:pooling",
    "Maximum": "merging:element_wise",
    "Minimum": "merging:minimum",
    "Multiply": "merging:element_wise",
    "PReLU": "activations:prelu",
    "Permute": "shapes:permute",
    "ReLU": "activations:relu",
    "RepeatVector": "shapes:repeat_vector",
    "Reshape": "shapes:reshape",
    "SeparableConv1D": "depthwise:separable",
    "SeparableConv2D": "depthwise:separable",
    "Softmax": "activations:softmax",
    "SpatialDropout1D": "noise:spatial_dropout",
    "SpatialDropout2D": "noise:spatial_dropout",
    "SpatialDropout3D": "noise:spatial_dropout",
    "Subtract": "merging:element_wise",
    "ThresholdedReLU": "activations:thresholded_relu",
    "UnitNormalization": "normalization:unit_normalization",
    "UpSampling1D": "padding:upsampling",
    "UpSampling2D": "padding:upsampling",
    "UpSampling3D": "padding:upsampling",
    "ZeroPadding1D": "padding:zero_padding",
    "ZeroPadding2D": "padding:zero_padding",
    "ZeroPadding3D": "padding:zero_padding",
}
"""Class of Keras -> module and function, sorted."""
FIRST_OF = ("channels_first", "th")
"""Values of data_format, and of Keras 1's dim_ordering, that put the channels first."""


def converter(call: KerasCall) -> Callable[[Piece], Value] | None:
    """Return what puts a call into a graph; None where nothing does. It raises `NotSaid` where no layer says it."""
    kind = call.layer.class_name
    if kind not in CONVERTERS:
        return None
    module, name = CONVERTERS[kind].split(":")
    function: Callable[[Piece], Value] = getattr(import_module(f".{module}", __package__), name)
    return function


class Recognition:
    """The calls of a model in a draft.

    Parameters
    ----------
    model : KerasModel
    is_plain : bool
        See `Piece`.
    untold : collection of str
        Inputs whose format nothing says, so that their arrays lie as they come.

    Attributes
    ----------
    draft : GrowingGraph
        Its inputs are those of the model, as Values.
    values : dict of str -> Value
        Input or call -> what it gives.
    """

    def __init__(self, model: KerasModel, is_plain: bool = False, untold: Collection[str] = ()) -> None:
        self.model, self.draft, self.is_plain = model, GrowingGraph(), is_plain
        first = [call.layer.config.get("data_format") in FIRST_OF for call in model.calls if _has_format(call)]
        formats = {2: SERIES, 3: IMAGES, 4: VOLUMES}
        for name, spec in model.inputs.items():
            formatted = formats.get(len(spec.shape))
            tag = formatted[not (first and first[0])] if formatted and name not in untold else None
            self.draft.inputs[name] = Value(name, _shape(spec), tag)
        self.values: dict[str, Value] = dict(self.draft.inputs)

    def recognise(self) -> None:
        """Draw all calls; raise ConfigurationError with every one that neither a layer nor a vertex says."""
        refused: list[str] = []
        lost: set[str] = set()  # behind what is refused
        for call in self.model.calls:
            function = converter(call)
            try:
                if function is None:
                    raise NotSaid("no layer is like it. Register one with nn.keras.register_layer")
                if lost.isdisjoint(call.inputs):
                    self.values[call.name] = self._drawn(call, function)
                    continue
            except NotSaid as error:
                refused.append(f"{call.name!r} ({call.layer.class_name}): {error}")
            lost.add(call.name)
        if refused:
            raise ConfigurationError(
                f"{self.model.file}: every layer must be one that this library can say, got {len(refused)} that it "
                f"cannot: {'; '.join(refused)}."
            )

    def _drawn(self, call: KerasCall, function: Callable[[Piece], Value]) -> Value:
        piece = Piece(self.model, call, [self.values[name] for name in call.inputs], self.draft, self.is_plain)
        made = function(piece)
        unread = piece.unread()
        if unread:
            settings = ", ".join(f"{name}={call.layer.config[name]!r}" for name in unread)
            piece.refuse(f"settings that nothing here is like: {settings}")
        return made


def _has_format(call: KerasCall) -> bool:
    return call.layer.config.get("data_format") is not None


def _shape(spec: InputSpec) -> tuple[int | None, ...]:
    return tuple(spec.shape)


def network_of(model: KerasModel) -> Network:
    """Return the network that a model of Keras is, on the current backend.

    Parameters
    ----------
    model : KerasModel

    Returns
    -------
    MultiLayerNetwork or ComputationGraph
        The first for a Sequential model whose layers are one by one layers here.

    Raises
    ------
    ConfigurationError
        Layers that neither a layer nor a vertex says: all of them, with their classes, and why.
    ShapeError
        Weights of other shapes than the layers.
    """
    made = Recognition(model)
    made.recognise()
    built = configured(made)
    if built.is_unlike or built.unlike_inputs:  # the network's own rules give other formats than were foreseen
        made = Recognition(model, True, built.unlike_inputs)
        made.recognise()
        built = configured(made)
    return network_of_configuration(made, built)
