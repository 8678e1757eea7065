"""One call of a layer of Keras on its way into a network."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from nd import ConfigurationError
from nd.activations import Activation
from nd.typing import HostArray
from optimize import LayerConstraint

from ...conf.growing import GrowingGraph
from ...layers import ActivationLayer, FrozenLayer, LayerConf
from ...onnx.vertices import OnnxVertex
from ...terms.data_formats import IMAGES, SERIES, VOLUMES, axes_inward, axes_outward, channels_last
from ...vertices import FrozenVertex
from ..model import KerasCall, KerasLayer, KerasModel
from ..terms.activations import activation_of, name_of
from ..terms.constraints import constraint_of
from ..terms.initialisers import bias_init_of, weight_init_of
from ..terms.regularisers import penalties_of

Arrays = dict[str, Callable[[], HostArray]]
"""Parameter of a vertex -> what reads it from the file."""
FORMATS = {1: SERIES, 2: IMAGES, 3: VOLUMES}
"""Places of an example -> formats, channels first and last."""
MOST_AXES = 5
HARMLESS = frozenset(
    {
        "activity_regularizer", "autocast", "batch_input_shape", "batch_shape", "build_config", "dtype", "dtype_policy",
        "implementation", "input_dim", "input_dtype", "input_length", "input_shape", "name", "optional", "ragged",
        "seed", "sparse", "trainable", "unroll",
    }
)  # fmt: skip
"""Settings that change no output, or are read elsewhere."""
OF_TRAINING = ("_constraint", "_initializer", "_regularizer")
"""Ends of the names of settings that change no output of a model with weights."""
SILENT = frozenset(
    {
        "Activation", "ActivityRegularization", "Add", "AlphaDropout", "Average", "BatchNormalization", "Dropout",
        "ELU", "GaussianDropout", "GaussianNoise", "InputLayer", "LeakyReLU", "Maximum", "Minimum", "Multiply", "PReLU",
        "ReLU", "Softmax", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D", "Subtract", "ThresholdedReLU",
    }
)  # fmt: skip
"""Classes whose layers take any format and say none."""


class NotSaid(ConfigurationError):
    """No layer and no vertex says a call."""


class Value(NamedTuple):
    """What a call gives, as Keras and as the network see it.

    Attributes
    ----------
    node : str
        The input or vertex whose activations it is.
    shape : tuple of int or None
        In Keras, without the axis of examples; None for an open length.
    data_format : str or None
        Of the activations: ``"NHWC"``, ...; None for rows, and where nothing says it yet.
    mask : str or None
        The vertex of the mask ``[N, T]`` that holds for it, None where all steps count.
    """

    node: str
    shape: tuple[int | None, ...]
    data_format: str | None = None
    mask: str | None = None


class Piece:
    """A call, as the function that converts its class sees it.

    Parameters
    ----------
    model : KerasModel
    call : KerasCall
    values : sequence of Value
        What the call is given.
    draft : GrowingGraph
        Where vertices are added.

    Attributes
    ----------
    read : set of str
        Settings that were looked at; others that change numbers are refused.
    is_plain : bool
        Whether vertices are to be used whose axes do not depend on the layers behind them.
    known : mapping of str -> Value
        What inputs and calls before give, for arguments that name them.
    more : dict of int -> Value
        What the call gives beside its first output, by their numbers.
    notes : list of str
        What training will not have as Keras does.
    """

    def __init__(
        self,
        model: KerasModel,
        call: KerasCall,
        values: Sequence[Value],
        draft: GrowingGraph,
        is_plain: bool = False,
        known: Mapping[str, Value] | None = None,
        notes: list[str] | None = None,
    ) -> None:
        self.notes: list[str] = [] if notes is None else notes
        self.known: Mapping[str, Value] = known or {}
        self.more: dict[int, Value] = {}
        self.model, self.call, self.values, self.draft = model, call, tuple(values), draft
        self.is_plain = is_plain
        self.layer, self.version = call.layer, model.version
        self.read: set[str] = set(HARMLESS)

    def of_layer(self, layer: KerasLayer) -> Piece:
        """Return the call as if it were one of another layer: of that inside of a wrapper."""
        call = self.call._replace(layer=layer)
        return Piece(self.model, call, self.values, self.draft, self.is_plain, self.known, self.notes)

    def refuse(self, why: str) -> NoReturn:
        """Raise NotSaid: the network cannot say this call."""
        raise NotSaid(why)

    def need(self, holds: object, why: str) -> None:
        """Raise NotSaid unless something holds."""
        if not holds:
            self.refuse(why)

    # ---- settings

    def get(self, name: str, default: Any = None) -> Any:
        """Return a setting of the layer."""
        self.read.add(name)
        return self.layer.config.get(name, default)

    def sizes(self, name: str, count: int, default: Any = 1) -> tuple[int, ...]:
        """Return a setting of one whole number for every place: 3 is (3, 3)."""
        given = self.get(name, default)
        numbers = [given] * count if isinstance(given, int) else list(given)
        self.need(len(numbers) == count, f"{name} must have {count} numbers, got {given!r}")
        return tuple(int(number) for number in numbers)

    def only(self, name: str, *allowed: Any) -> Any:
        """Return a setting that must be one of some values, the first of which is its default."""
        given = self.get(name, allowed[0])
        self.need(given in allowed, f"{name}={given!r}")
        return given

    def unread(self) -> list[str]:
        """Return the settings that nobody has looked at, change outputs, and are not None, False or empty.

        What only training has is said on the log.
        """
        left = [name for name, value in self.layer.config.items() if name not in self.read and value]
        for name in left:
            if name.endswith(("_regularizer", "_constraint")):
                self.note(f"{name} is left out, as nothing here is like it: {self.layer.config[name]!r}")
        return [name for name in left if not name.endswith(OF_TRAINING)]

    # ---- what goes in

    @property
    def value(self) -> Value:
        """The only input."""
        self.need(len(self.values) == 1, f"it is called with {len(self.values)} inputs")
        return self.values[0]

    def format(self, places: int) -> str:
        """Return the format of images, series or volumes in which the layer takes its input."""
        last = self.get("data_format") in (None, "channels_last", "tf")
        return FORMATS[places][last]

    # ---- weights

    def weight(self, name: str, at: int | None = None) -> Callable[[], HostArray] | None:
        """Return what reads a weight, by its name, or by its number; None without weights.

        Raises
        ------
        NotSaid
            The layer has no such weight.
        """
        weights = self.layer.weights
        if weights is None:
            return None
        found = [weight for weight in weights if weight.name == name] if at is None else list(weights[at : at + 1])
        self.need(len(found) == 1, f"it must have one weight {name!r}, got {[weight.name for weight in weights]}")
        return found[0].read

    def arrays(self, **named: Callable[[], HostArray] | None) -> Arrays:
        """Return the parameters of a vertex, those that there are."""
        return {name: read for name, read in named.items() if read is not None}

    # ---- what every layer may say

    def activation(self, name: str = "activation") -> Activation:
        """Return the activation that a setting means, identity where it is left out."""
        given = self.get(name)
        found = activation_of(given, self.version)
        return found or self.refuse(f"{name}={name_of(given)!r}")

    def trained(
        self,
        kernel: str = "kernel",
        bias: str | None = "bias",
        params: Sequence[str] = ("W", "b"),
        axes: Sequence[int] | None = None,
    ) -> dict[str, Any]:
        """Return how a layer's parameters start and are held: initialisers, regularisers, constraints.

        Parameters
        ----------
        kernel : str
            What Keras calls the weights: ``"kernel"`` reads ``kernel_initializer``, ...
        bias : str, optional
            None where there are no biases.
        params : sequence of str
            What they are called here.
        axes : sequence of int, optional
            For every axis of Keras' kernel its place in ours; without them as they are.
        """
        start = weight_init_of(self.get(f"{kernel}_initializer") or "glorot_uniform")
        settings: dict[str, Any] = {} if start is None else {"weight_init": start}
        settings |= self._penalties(f"{kernel}_regularizer", "")
        limits = [self._limit(f"{kernel}_constraint", params[0], axes or range(MOST_AXES))]
        if bias is not None:
            number = bias_init_of(self.get(f"{bias}_initializer") or "zeros")
            settings |= {} if number is None else {"bias_init": number}
            settings |= self._penalties(f"{bias}_regularizer", "_bias")
            limits.append(self._limit(f"{bias}_constraint", params[1], (1,)))
        return settings | self._limits(limits)

    def trained_scale(self) -> dict[str, Any]:
        """Return the settings of a normalisation's gamma and beta."""
        settings: dict[str, Any] = {}
        for name, usual in (("gamma", "ones"), ("beta", "zeros")):
            number = bias_init_of(self.get(f"{name}_initializer") or usual)
            settings |= {} if number is None else {name: number}
            if self._penalties(f"{name}_regularizer", ""):
                self.note(f"{name}_regularizer is left out, as gamma and beta have no penalties")
        limits = [self._limit(f"{name}_constraint", name, (1,)) for name in ("gamma", "beta")]
        return settings | self._limits(limits)

    def _penalties(self, name: str, suffix: str) -> dict[str, float]:
        given = penalties_of(self.get(name), suffix)
        if given is None:
            self.note(f"{name} is left out, as nothing here is like it: {self.layer.config[name]!r}")
        return given or {}

    def _limit(self, name: str, param: str, axes: Sequence[int]) -> LayerConstraint | None:
        given = self.get(name)
        limit = None if given is None else constraint_of(given, param, axes)
        if limit is None and given is not None:
            self.note(f"{name} is left out, as nothing here is like it: {given!r}")
        return limit

    @staticmethod
    def _limits(limits: Sequence[LayerConstraint | None]) -> dict[str, Any]:
        held = tuple(limit for limit in limits if limit is not None)
        return {"constraints": held} if held else {}

    def note(self, what: str) -> None:
        """Note what training will not have as Keras does."""
        self.notes.append(f"{self.call.name!r} ({self.layer.class_name}): {what}")

    # ---- order of axes

    def format_behind(self, places: int) -> str | None:
        """Return the format of so many axes of places that the first layer behind the call says, None where none does.

        It is what a ReshapeVertex is told; where this foresees another one than it is told, all is drawn again, plain.
        """
        if places not in FORMATS:
            return None
        reached = {self.call.name}
        for call in self.model.calls:
            if reached.isdisjoint(call.inputs):
                continue
            if call.layer.class_name not in SILENT or (call.layer.class_name == "BatchNormalization" and places == 2):
                last = call.layer.config.get("data_format") in (None, "channels_last", "tf")
                return FORMATS[places][last]
            reached.add(call.name)
        return None

    def opened(self, value: Value, part: str = "open") -> Value:
        """Return a value whose array lies as it does in Keras, behind a vertex that turns it where it does not."""
        if not channels_last(value.data_format):
            return value._replace(data_format=None)
        perm = list(axes_outward(value.data_format, len(value.shape) + 1))
        node = self.add(OnnxVertex("Transpose", {"perm": perm}), value.node, part=part)
        return value._replace(node=node, data_format=None)

    def formatted(self, value: Value, data_format: str, part: str = "axes") -> Value:
        """Return a value whose array lies as layers of a format compute with it: the channels first.

        Only a layer that says the format lets users see it so: put one behind.
        """
        if channels_last(value.data_format) == channels_last(data_format):
            return value._replace(data_format=data_format)
        if not channels_last(data_format):
            return self.opened(value, part)._replace(data_format=data_format)
        perm = list(axes_inward(data_format, len(value.shape) + 1))
        node = self.add(OnnxVertex("Transpose", {"perm": perm}), value.node, part=part)
        return value._replace(node=node, data_format=data_format)

    def unsaid(self, value: Value, data_format: str, conf: Any, arrays: Arrays | None = None) -> Value:
        """Add a layer that computes with the channels first and says no format; return it in the order of its input."""
        turned = self.formatted(value, data_format)
        is_told = turned.node == value.node
        made = turned._replace(node=self.add(conf, turned.node, arrays, part="" if is_told else "layer"))
        return made if is_told else self.opened(made, part="")

    # ---- what comes out

    def add_layer(
        self,
        kind: Any,
        shape: Sequence[int | None],
        data_format: str | None = None,
        arrays: Arrays | None = None,
        around: Callable[[Any], Any] | None = None,
        axes: Sequence[int] | None = None,
        **settings: Any,
    ) -> Value:
        """Add a layer that may have an activation, with what Keras says of it and of the parameters.

        Parameters
        ----------
        kind : class of layers
            With an activation, and with parameters W and b.
        shape : sequence of int or None
            Of what it gives, in Keras, without the axis of examples.
        data_format : str, optional
            Of the layer, where it has such, and of what it gives.
        arrays : Arrays, optional
        around : callable, optional
            Puts the layer into another one: ``lambda conf: TimeDistributed(conf, data_format="NWC")``.
        axes : sequence of int, optional
            As for `trained`.
        **settings
            Of the layer.
        """
        if data_format in kind.formats and "data_format" in kind.__dataclass_fields__:
            settings["data_format"] = data_format
        conf = kind(**{"activation": self.activation(), **self.trained(axes=axes), **settings})
        node = self.add(conf if around is None else around(conf), self.value.node, arrays)
        return self.give(node, shape, data_format)

    def activated(self, value: Value, activation: Activation, part: str = "") -> Value:
        """Add an activation behind something."""
        return value._replace(node=self.add(ActivationLayer(activation), value.node, part=part))

    def add(self, conf: Any, nodes: Sequence[str] | str, arrays: Arrays | None = None, part: str = "") -> str:
        """Add a vertex under the name of the call, or of a part of it: ``"conv1"``, ``"conv1/relu"``.

        Inputs of the call are turned where the layer says another order of axes than they have. What is not to be
        trained is frozen.
        """
        name = f"{self.call.name}/{part}" if part else self.call.name
        sources = [nodes] if isinstance(nodes, str) else list(nodes)
        said = conf.said_format if isinstance(conf, LayerConf) else None
        if said is not None:
            sources = [self._in_format(source, said) for source in sources]
        if not self.layer.trainable and conf.param_specs():
            conf = FrozenLayer(conf) if isinstance(conf, LayerConf) else FrozenVertex(conf)
        return self.draft.add(name, conf, sources, arrays)

    def _in_format(self, node: str, data_format: str) -> str:
        value = next((value for value in self.values if value.node == node), None)
        if value is None or len(value.shape) + 1 != len(data_format):
            return node
        return self.formatted(value, data_format).node

    def give(self, node: str, shape: Sequence[int | None], data_format: str | None = None) -> Value:
        """Return what the call gives, with the mask of its first input."""
        return Value(node, tuple(shape), data_format, self.values[0].mask if self.values else None)


__all__ = ["FORMATS", "Arrays", "NotSaid", "Piece", "Value"]
