"""Net::Init: the layers of a message as layers at work, their blobs, parameters, losses, and who goes backward."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from nd import ConfigurationError, ShapeError
from nd.checks import describe_shape

from ..conf.nodes import Source
from .data.layers import DATA_LAYERS, DataLayer, data_layer_class
from .layers import LAYERS, layer_class
from .layers.base import BlobSpec, CaffeLayerConf, Shape, check_counts, count
from .naming import layer_text
from .needs import WaysBack, ways_back_of
from .schema import Message, new

AUTOMATIC = "(automatic)"
"""Name of tops that loss layers have without saying so."""
REFUSED = {
    "WindowData": "there is no such layer here, which cuts windows out of pictures. Write the windows as pictures into "
    "a list for ImageData, or as records into an LMDB for Data.",
}
"""Types of Caffe's that are refused -> why, and what to do."""
_MULTIPLIERS = ("lr_mult", "decay_mult")


@dataclass
class BlobPlan:
    """A blob of a net: where it comes from, and its shape.

    Attributes
    ----------
    shape : tuple of int
        What the layer that writes it last makes of it.
    source : Source
        Its last writer.
    """

    name: str
    shape: Shape
    source: Source


class ParamPlan(NamedTuple):
    """A parameter of a layer in its net."""

    layer: int
    place: int
    """Among the layer's."""
    spec: BlobSpec
    owner: int | None
    """Number of the parameter whose memory it uses; None for its own."""
    name: str
    """As the message says, "" for none."""
    lr_mult: float
    decay_mult: float
    said: frozenset[str] = frozenset()
    """Which of the two some layer has said, of the owner: others may not say another one."""


@dataclass
class LayerPlan:
    """A layer of a net in its place.

    Attributes
    ----------
    message : LayerParameter
        With what setting it up has added: phase, loss weights, multipliers of statistics.
    node : int or None
        Number among the nodes; None for a layer that brings data.
    bottoms, tops : list of int
        Numbers of blobs.
    shapes : list of tuples of int
        Of the tops, as this layer makes them.
    loss_weights : list of float
        One for each top.
    params : list of int
        Numbers of parameters.
    """

    message: Message
    label: str
    bottoms: list[int]
    tops: list[int]
    node: int | None = None
    inputs: tuple[Source, ...] = ()
    conf: CaffeLayerConf | None = None
    data: DataLayer | None = None
    shapes: list[Shape] = field(default_factory=list)
    loss_weights: list[float] = field(default_factory=list)
    params: list[int] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The layer's."""
        return str(self.message.name)


class Assembly:
    """The layers of a net, in the order of its message, which is that in which they run.

    Parameters
    ----------
    net : NetParameter
        Of the newest schema, filtered, with splits.
    dtype : {"float32", "float64"}
    open_data : callable (message, label, phase) -> DataLayer
        Makes a layer that brings data.

    Attributes
    ----------
    layers, blobs, params : list of LayerPlan, BlobPlan, ParamPlan
    available : list of str
        Names of blobs that no layer reads: the net's outputs, sorted.
    inputs : list of int
        Blobs that come from layers of data, in their order: the inputs of the network of nodes.
    ways_back : WaysBack
        Which layers go backward, and to which of their bottoms.

    Raises
    ------
    ConfigurationError, ShapeError
        Where Caffe ends the process: they name layer, blob and shapes.

    Notes
    -----
    Source: BVLC Caffe, net.cpp, Net::Init, AppendTop, AppendBottom, AppendParam.
    """

    def __init__(self, net: Message, dtype: str, open_data: Any) -> None:
        self.net, self.phase, self._dtype, self._open_data = net, _phase_name(net), dtype, open_data
        self.layers: list[LayerPlan] = []
        self.blobs: list[BlobPlan] = []
        self.params: list[ParamPlan] = []
        self.inputs: list[int] = []
        self._names: dict[str, int] = {}  # blob's name -> its number
        self._unread: dict[str, None] = {}
        self._owners: dict[str, int] = {}  # parameter's name -> number of its owner
        self._nodes = 0
        for position, message in enumerate(net.layer):
            self._append(position, message)
        self.available = sorted(self._unread)
        self.ways_back: WaysBack = ways_back_of(self)

    # ---- layers

    def _append(self, position: int, message: Message) -> None:
        plan = LayerPlan(new("LayerParameter"), layer_text(position, message), [], [])
        plan.message.CopyFrom(message)
        if not message.HasField("phase"):
            plan.message.phase = self.net.state.phase
        if message.propagate_down and len(message.propagate_down) != len(message.bottom):
            raise ConfigurationError(
                f"{plan.label}: propagate_down must be there for every bottom or for none, got "
                f"{len(message.propagate_down)} for {len(message.bottom)}."
            )
        plan.bottoms = [self._read(plan, index, name) for index, name in enumerate(message.bottom)]
        plan.inputs = tuple(self.blobs[blob].source for blob in plan.bottoms)
        plan.shapes = self._set_up_data(plan) if message.type in DATA_LAYERS else self._set_up(plan)
        for index, shape in enumerate(plan.shapes):
            name = message.top[index] if index < len(message.top) else AUTOMATIC
            plan.tops.append(self._write(plan, index, name, shape))
        self._weigh_losses(plan)
        self.layers.append(plan)
        if plan.conf is not None:
            self._append_params(plan)

    def _set_up_data(self, plan: LayerPlan) -> list[Shape]:
        kind = data_layer_class(plan.message.type)
        fewest, most = kind.tops
        given = len(plan.message.top)
        if plan.message.bottom or given < fewest or (most is not None and given > most):
            raise ConfigurationError(
                f"{plan.label}: expected no bottoms and {fewest} to {most} tops, got {len(plan.message.bottom)} and "
                f"{given}."
            )
        plan.data = self._open_data(plan.message, plan.label, _phase_name(plan))
        return [tuple(shape) for shape in plan.data.top_shapes()]

    def _set_up(self, plan: LayerPlan) -> list[Shape]:
        message, shapes = plan.message, tuple(self.blobs[blob].shape for blob in plan.bottoms)
        self._check_type(plan)
        kind = layer_class(message.type)
        told = CaffeLayerConf(message, _phase_name(plan), shapes)
        layer = kind(told, plan.label, self._dtype)
        if kind.automatic_tops and len(message.top) < kind.tops[0]:
            layer.outputs = kind.tops[0]
        check_counts(layer)
        tops = tuple(tuple(shape) for shape in layer.top_shapes(shapes))
        plan.conf = CaffeLayerConf(message, told.phase, shapes, tuple(layer.blobs(shapes)), tops)
        plan.node, self._nodes = self._nodes, self._nodes + 1
        return list(tops)

    def _check_type(self, plan: LayerPlan) -> None:
        """Raise ConfigurationError where the layer's type is unknown."""
        if plan.message.type in REFUSED:
            raise ConfigurationError(f"{plan.label}: {REFUSED[plan.message.type]}")
        if plan.message.type not in LAYERS:
            known = ", ".join(sorted([*LAYERS, *DATA_LAYERS]))
            raise ConfigurationError(f"{plan.label}: unknown layer type. Known are {known}.")

    # ---- blobs

    def _read(self, plan: LayerPlan, index: int, name: str) -> int:
        """Return the number of the blob that a bottom is: AppendBottom."""
        if name not in self._unread:
            raise ConfigurationError(
                f"{plan.label}: bottom {index} {name!r} must be a top of an earlier layer that no other layer reads, "
                f"got one of none. There are {', '.join(map(repr, self._unread)) or 'none'}."
            )
        del self._unread[name]
        return self._names[name]

    def _write(self, plan: LayerPlan, index: int, name: str, shape: Shape) -> int:
        """Return the number of the blob that a top is, a new one unless it is in place: AppendTop."""
        bottoms = plan.message.bottom
        in_place = name != AUTOMATIC and index < len(bottoms) and bottoms[index] == name
        if not in_place and name != AUTOMATIC and name in self._names:
            raise ConfigurationError(f"{plan.label}: top {name!r} must be written by one layer, got one that exists.")
        source = Source(-1 - len(self.inputs)) if plan.conf is None else Source(plan.node or 0, index)
        if in_place:
            number = self._names[name]
            self._check_in_place(plan, number, shape)
            self.blobs[number].source, self.blobs[number].shape = source, shape
        else:
            number = len(self.blobs)
            self.blobs.append(BlobPlan(name, shape, source))
        if plan.conf is None:
            self.inputs.append(number)
        if name != AUTOMATIC:
            self._names[name] = number
            self._unread[name] = None
        return number

    def _check_in_place(self, plan: LayerPlan, number: int, shape: Shape) -> None:
        blob = self.blobs[number]
        if not layer_class(plan.message.type).in_place:
            raise ConfigurationError(f"{plan.label}: its top must be another blob than its bottom, got {blob.name!r}.")
        if count(shape) != count(blob.shape):
            raise ShapeError(
                f"{plan.label}: a top in place must have the shape of its bottom {blob.name!r} "
                f"{describe_shape(blob.shape)}, got {describe_shape(shape)}."
            )

    # ---- losses

    def _weigh_losses(self, plan: LayerPlan) -> None:
        """Take the weights of the tops in the loss, one for each or none: SetLossWeights."""
        message, tops = plan.message, len(plan.tops)
        if plan.conf is not None and layer_class(message.type).is_loss and not message.loss_weight:
            message.loss_weight.append(1.0)
        if len(message.loss_weight) not in (0, tops):
            raise ConfigurationError(
                f"{plan.label}: loss_weight must be there for each of {tops} top(s), or for none, got "
                f"{list(message.loss_weight)}."
            )
        plan.loss_weights = list(message.loss_weight) or [0.0] * tops

    # ---- parameters

    def _append_params(self, plan: LayerPlan) -> None:
        blobs, message = plan.conf.blobs, plan.message  # type: ignore[union-attr]
        if len(message.param) > len(blobs):
            raise ConfigurationError(
                f"{plan.label}: param must be there for at most {len(blobs)} parameter(s), got {len(message.param)}."
            )
        for place, spec in enumerate(blobs):
            if not spec.learned:
                self._keep_still(plan, place)
            given = message.param[place] if place < len(message.param) else new("ParamSpec")
            plan.params.append(len(self.params))
            self.params.append(self._placed(plan, place, spec, given))

    def _keep_still(self, plan: LayerPlan, place: int) -> None:
        """Give statistics, which a layer writes itself, multipliers of 0; refuse others."""
        param = plan.message.param
        while len(param) <= place:
            param.add(lr_mult=0.0, decay_mult=0.0)
        if param[place].lr_mult != 0.0:
            raise ConfigurationError(
                f"{plan.label}: lr_mult of parameter {place} must be 0, as the layer computes it from minibatches, got "
                f"{param[place].lr_mult:g}."
            )

    def _placed(self, plan: LayerPlan, place: int, spec: BlobSpec, given: Message) -> ParamPlan:
        """Return a parameter that owns its memory, or shares that of the first one of its name: AppendParam."""
        number, layer = len(self.params), len(self.layers) - 1
        if not given.name or given.name not in self._owners:
            if given.name:
                self._owners[given.name] = number
            said = frozenset(name for name in _MULTIPLIERS if given.HasField(name))
            return ParamPlan(layer, place, spec, None, given.name, given.lr_mult, given.decay_mult, said)
        owner = self._owners[given.name]
        self._check_shared(plan, place, spec, given, owner)
        self._share_multipliers(plan, place, given, owner)
        shared = self.params[owner]
        return ParamPlan(layer, place, spec, owner, given.name, shared.lr_mult, shared.decay_mult)

    def _check_shared(self, plan: LayerPlan, place: int, spec: BlobSpec, given: Message, owner: int) -> None:
        """Raise ShapeError unless a parameter fits the one whose memory it shares."""
        shape, other = spec.shape, self.params[owner]
        permissive = given.share_mode == 1
        if (count(shape) != count(other.spec.shape)) if permissive else (shape != other.spec.shape):
            must = "have as many elements as" if permissive else "have the shape of"
            raise ShapeError(
                f"{plan.label}: parameter {place} {given.name!r} must {must} parameter {other.place} of "
                f"{self.layers[other.layer].label}, {describe_shape(other.spec.shape)}, got {describe_shape(shape)}."
            )

    def _share_multipliers(self, plan: LayerPlan, place: int, given: Message, owner: int) -> None:
        """Let the owner take over multipliers that it does not say; raise ConfigurationError where both say others."""
        for name in filter(given.HasField, _MULTIPLIERS):
            other = self.params[owner]
            said = getattr(other, name)
            if name in other.said and said != getattr(given, name):
                raise ConfigurationError(
                    f"{plan.label}: {name} of parameter {place} {given.name!r} must be that of parameter "
                    f"{other.place} of {self.layers[other.layer].label}, {said:g}, got {getattr(given, name):g}."
                )
            self.params[owner] = other._replace(**{name: getattr(given, name)}, said=other.said | {name})


def _phase_name(told: Any) -> str:
    """Return the phase of a net, or of a layer's plan, by name."""
    number = told.message.phase if isinstance(told, LayerPlan) else told.state.phase
    return "TRAIN" if number == 0 else "TEST"
