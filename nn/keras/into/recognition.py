"""All calls of a model of Keras, one after the other, as layers and vertices of a graph."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib import import_module

from nd import ConfigurationError, FormatError, NdError
from nd.files.reading import raised_by_others

from ...conf.growing import GrowingGraph
from ...networks.network import Network
from ...terms.data_formats import IMAGES, SERIES, VOLUMES
from ..model import InputSpec, KerasCall, KerasLayer, KerasModel
from .graphs import configured, network_of_configuration
from .masking import with_mask
from .piece import NotSaid, Piece, Value
from .registered import registered
from .sharing import Unit, may_stack, stacked, units_of, unstacked

LOGGER = logging.getLogger(__name__)
DAMAGE = (
    ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError, StopIteration, TypeError, ValueError,
)  # fmt: skip
"""The errors of settings that contradict themselves."""
CONVERTERS = {
    "Activation": "activations:activation",
    "ActivityRegularization": "shapes:same",
    "Add": "merging:element_wise",
    "AlphaDropout": "noise:alpha_dropout",
    "Any": "masking:any_of",
    "Average": "merging:element_wise",
    "AveragePooling1D": "poolings:pooling",
    "AveragePooling2D": "poolings:pooling",
    "AveragePooling3D": "poolings:pooling",
    "BatchNormalization": "normalization:batch_normalization",
    "Bidirectional": "recurrent:bidirectional",
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
    "EinsumDense": "dense:einsum_dense",
    "Embedding": "embedding:embedding",
    "Flatten": "shapes:flatten",
    "GRU": "recurrent:recurrent",
    "GaussianDropout": "noise:gaussian_dropout",
    "GaussianNoise": "noise:gaussian_noise",
    "GlobalAveragePooling1D": "poolings:global_pooling",
    "GlobalAveragePooling2D": "poolings:global_pooling",
    "GlobalAveragePooling3D": "poolings:global_pooling",
    "GlobalMaxPooling1D": "poolings:global_pooling",
    "GlobalMaxPooling2D": "poolings:global_pooling",
    "GlobalMaxPooling3D": "poolings:global_pooling",
    "Identity": "shapes:same",
    "InputLayer": "shapes:same",
    "LRN": "normalization:lrn",
    "LSTM": "recurrent:recurrent",
    "LayerNormalization": "normalization:layer_normalization",
    "LeakyReLU": "activations:leaky_relu",
    "LocallyConnected1D": "locally_connected:locally_connected",
    "LocallyConnected2D": "locally_connected:locally_connected",
    "Masking": "masking:masking",
    "MaxPooling1D": "poolings:pooling",
    "MaxPooling2D": "poolings:pooling",
    "MaxPooling3D": "poolings:pooling",
    "Maximum": "merging:element_wise",
    "Minimum": "merging:minimum",
    "Multiply": "merging:element_wise",
    "NotEqual": "masking:not_equal",
    "PReLU": "activations:prelu",
    "Permute": "shapes:permute",
    "PoolHelper": "shapes:pool_helper",
    "RNN": "recurrent:recurrent",
    "ReLU": "activations:relu",
    "RepeatVector": "shapes:repeat_vector",
    "Rescaling": "activations:rescaling",
    "Reshape": "shapes:reshape",
    "SeparableConv1D": "depthwise:separable",
    "SeparableConv2D": "depthwise:separable",
    "SimpleRNN": "recurrent:recurrent",
    "Softmax": "activations:softmax",
    "SpatialDropout1D": "noise:spatial_dropout",
    "SpatialDropout2D": "noise:spatial_dropout",
    "SpatialDropout3D": "noise:spatial_dropout",
    "Subtract": "merging:element_wise",
    "ThresholdedReLU": "activations:thresholded_relu",
    "TimeDistributed": "wrappers:time_distributed",
    "UnitNormalization": "normalization:unit_normalization",
    "UpSampling1D": "padding:upsampling",
    "UpSampling2D": "padding:upsampling",
    "UpSampling3D": "padding:upsampling",
    "ZeroPadding1D": "padding:zero_padding",
    "ZeroPadding2D": "padding:zero_padding",
    "ZeroPadding3D": "padding:zero_padding",
    "keras.ops.Any": "masking:any_of",
    "keras.ops.NotEqual": "masking:not_equal",
}
"""Class of Keras -> module and function, sorted."""
_UNKNOWN = {
    "ConvLSTM1D": "Deeplearning4j has no ConvLSTM",
    "ConvLSTM2D": "Deeplearning4j has no ConvLSTM",
    "ConvLSTM3D": "Deeplearning4j has no ConvLSTM",
    "Lambda": "its code is not run",
}
"""Class of Keras -> why nothing is like it."""
FIRST_OF = ("channels_first", "th")
"""Values of data_format, and of Keras 1's dim_ordering, that put the channels first."""


def converter(layer: KerasLayer) -> Callable[[Piece], Value] | None:
    """Return what puts calls of a layer into a graph; None where nothing does. It raises `NotSaid` where it cannot."""
    own, kind = registered(layer), layer.class_name
    if own is not None or kind not in CONVERTERS:
        return own
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
    refused : list of str
        Calls that nothing says, and why.
    lost : set of str
        These, and those behind them.
    notes : list of str
        What training will not have as Keras does.
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
        self.refused: list[str] = []
        self.lost: set[str] = set()
        self.notes: list[str] = []
        self._drawn_layers: set[int] = set()
        self._names = {*model.inputs, *(call.name for call in model.calls)}

    def recognise(self) -> None:
        """Draw all calls; raise ConfigurationError with every one that neither a layer nor a vertex says."""
        units, waiting = units_of(self.model), list(self.model.calls)
        while waiting:
            left = []
            for call in waiting:
                unit = units[call.name]
                if call.name in self.values or call.name in self.lost:
                    continue
                missing = [name for name in self._read_by(unit) if name not in self.values and name not in self.lost]
                if any(self._is_no_output(name) for name in missing):
                    self.lost |= {one.name for one in unit}
                elif missing:
                    left.append(call)
                else:
                    self._draw(unit)
            if len(left) == len(waiting):  # uses of a layer that depend on one another
                self._part(units, left)
            waiting = left
        for name in self.model.outputs:
            if name not in self.values and name not in self.lost:
                self._is_no_output(name)
        if self.refused:
            raise ConfigurationError(
                f"{self.model.file}: every layer must be one that this library can say, got {len(self.refused)} that "
                f"it cannot: {'; '.join(self.refused)}. Exchange them in the model, or say what a class of your own is "
                "by nn.keras.register_layer."
            )

    def _part(self, units: dict[str, Unit], left: Sequence[KerasCall]) -> None:
        """Let the calls of one layer be drawn one by one."""
        several = next((units[call.name] for call in left if len(units[call.name]) > 1), None)
        if several is None:
            raise FormatError(
                f"{self.model.file}: every call must follow those that it reads, got {left[0].name!r}, which reads "
                f"{list(left[0].inputs)}. Is the file damaged?"
            )
        units |= {call.name: (call,) for call in several}

    def _draw(self, unit: Unit) -> None:
        """Draw calls that have one layer."""
        call, function = unit[0], converter(unit[0].layer)
        try:
            if function is None:
                raise NotSaid(_UNKNOWN.get(call.layer.class_name, "no layer and no vertex is like it"))
            if self.lost.isdisjoint(self._read_by(unit)):
                self.values |= self._drawn(unit, function)
                return
        except ConfigurationError as error:
            self.refused.append(f"{call.name!r} ({call.layer.class_name}): {error}")
        except DAMAGE as error:
            if isinstance(error, NdError) or raised_by_others(error):
                raise
            raise FormatError(
                f"{self.model.file}: the settings and weights of a layer must fit together, got {call.name!r} "
                f"({call.layer.class_name}): {type(error).__name__}: {error}. Is the file damaged?"
            ) from error
        self.lost |= {one.name for one in unit}

    def _read_by(self, unit: Unit) -> list[str]:
        """Return the calls and inputs that calls read: as inputs, and as arguments such as masks."""
        given = [one.arguments.values() for one in unit]
        told = [
            name for values in given for value in values for name in (value if isinstance(value, list) else [value])
        ]
        return [*(name for one in unit for name in one.inputs), *(name for name in told if self._is_call(name))]

    def _is_no_output(self, name: str) -> bool:
        """Tell whether a name is that of a further output that a layer has not here; refuse that layer then."""
        first = name.rpartition(":")[0]
        if first not in self.values and first not in self.lost:
            return False
        if first in self.values:
            self.refused.append(f"{first!r}: its output {name.rpartition(':')[2]}, which nothing here is like, is read")
        self.lost.add(name)
        return True

    def _is_call(self, name: object) -> bool:
        return isinstance(name, str) and name in self._names

    def _drawn(self, unit: Unit, function: Callable[[Piece], Value]) -> Mapping[str, Value]:
        values = [[self.values[name] for name in call.inputs] for call in unit]
        if len(unit) > 1 and not may_stack([of_call[0] for of_call in values]):
            parts = [self._drawn((call,), function) for call in unit]
            return {name: value for part in parts for name, value in part.items()}
        piece = Piece(self.model, unit[0], values[0], self.draft, self.is_plain, self.values, self.notes)
        if len(unit) > 1:
            piece.values = (stacked(piece, [of_call[0] for of_call in values]),)
        elif unit[0].layer.weights and id(unit[0].layer) in self._drawn_layers:
            piece.note("it is called several times, and has parameters of its own for this one: they train apart")
        self._drawn_layers.add(id(unit[0].layer))
        made = with_mask(piece, function(piece))
        if piece.layer.config.get("activity_regularizer"):
            piece.note("activity_regularizer is left out, as nothing here is like it")
        unread = piece.unread()
        if unread:
            settings = ", ".join(f"{name}={unit[0].layer.config[name]!r}" for name in unread)
            piece.refuse(f"settings that nothing here is like: {settings}")
        if len(unit) > 1:
            return unstacked(piece, unit, made)
        more = {f"{unit[0].name}:{number}": value for number, value in piece.more.items()}
        return {unit[0].name: made, **more}


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
    FormatError
        Settings that contradict one another.
    """
    try:
        network, notes = _made(model)
    except DAMAGE as error:
        if isinstance(error, NdError) or raised_by_others(error):
            raise
        raise FormatError(
            f"{model.file}: a model's layers and weights must fit together, got {type(error).__name__}: {error}. Is "
            "the file damaged?"
        ) from error
    for note in dict.fromkeys(notes):
        LOGGER.warning("%s: %s.", model.file, note)
    return network


def _made(model: KerasModel) -> tuple[Network, list[str]]:
    """Return the network, and what is to be said of it."""
    made = Recognition(model)
    made.recognise()
    built = configured(made)
    if built.is_unlike or built.unlike_inputs:  # the network's own rules give other formats than were foreseen
        made = Recognition(model, True, built.unlike_inputs)
        made.recognise()
        built = configured(made)
        if built.is_unlike or built.unlike_inputs:
            raise ConfigurationError(
                f"{model.file}: every layer must take its axes in the order that the one before gives them, got layers "
                "whose order nothing tells. Export the model with the channels in one place throughout."
            )
    return network_of_configuration(made, built), made.notes
