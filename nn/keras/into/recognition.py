"""All calls of a model of Keras, one after the other, as layers and vertices of a graph."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from nd import ConfigurationError

from ...conf.growing import GrowingGraph
from ...networks.network import Network
from ...terms.data_formats import IMAGES, SERIES, VOLUMES
from ..model import InputSpec, KerasCall, KerasModel
from .piece import NotSaid, Piece, Value

CONVERTERS = {
    "Activation": "activations:activation",
    "ActivityRegularization": "shapes:same",
    "Add": "merging:element_wise",
    "AlphaDropout": "noise:alpha_dropout",
    "Average": "merging:element_wise",
    "BatchNormalization": "normalization:batch_normalization",
    "Concatenate": "merging:concatenate",
    "Dense": "dense:dense",
    "Dot": "merging:dot",
    "Dropout": "noise:dropout",
    "ELU": "activations:elu",
    "Flatten": "shapes:flatten",
    "GaussianDropout": "noise:gaussian_dropout",
    "GaussianNoise": "noise:gaussian_noise",
    "InputLayer": "shapes:same",
    "LRN": "normalization:lrn",
    "LayerNormalization": "normalization:layer_normalization",
    "LeakyReLU": "activations:leaky_relu",
    "Maximum": "merging:element_wise",
    "Minimum": "merging:minimum",
    "Multiply": "merging:element_wise",
    "PReLU": "activations:prelu",
    "Permute": "shapes:permute",
    "ReLU": "activations:relu",
    "RepeatVector": "shapes:repeat_vector",
    "Reshape": "shapes:reshape",
    "Softmax": "activations:softmax",
    "SpatialDropout1D": "noise:spatial_dropout",
    "SpatialDropout2D": "noise:spatial_dropout",
    "SpatialDropout3D": "noise:spatial_dropout",
    "Subtract": "merging:element_wise",
    "ThresholdedReLU": "activations:thresholded_relu",
    "UnitNormalization": "normalization:unit_normalization",
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

    Attributes
    ----------
    draft : GrowingGraph
        Its inputs are those of the model, as Values.
    values : dict of str -> Value
        Input or call -> what it gives.
    """

    def __init__(self, model: KerasModel) -> None:
        self.model, self.draft = model, GrowingGraph()
        first = [call.layer.config.get("data_format") in FIRST_OF for call in model.calls if _has_format(call)]
        formats = {2: SERIES, 3: IMAGES, 4: VOLUMES}
        for name, spec in model.inputs.items():
            formatted = formats.get(len(spec.shape))
            tag = formatted[not (first and first[0])] if formatted else None
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
        piece = Piece(self.model, call, [self.values[name] for name in call.inputs], self.draft)
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
    from .graphs import network_of_recognition

    made = Recognition(model)
    made.recognise()
    return network_of_recognition(made)
