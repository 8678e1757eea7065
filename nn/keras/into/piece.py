"""One call of a layer of Keras on its way into a network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

from nd import ConfigurationError
from nd.activations import Activation
from nd.typing import HostArray

from ...conf.growing import GrowingGraph
from ...layers import ActivationLayer
from ...terms.data_formats import IMAGES, SERIES, VOLUMES
from ..model import KerasCall, KerasModel
from .spelling import activation_of

Arrays = dict[str, Callable[[], HostArray]]
"""Parameter of a vertex -> what reads it from the file."""
FORMATS = {1: SERIES, 2: IMAGES, 3: VOLUMES}
"""Places of an example -> formats, channels first and last."""
HARMLESS = frozenset(
    {
        "activity_regularizer", "autocast", "batch_input_shape", "batch_shape", "build_config", "dtype", "dtype_policy",
        "implementation", "input_dim", "input_dtype", "input_length", "input_shape", "name", "optional", "ragged",
        "seed", "sparse", "trainable", "unroll",
    }
)  # fmt: skip
"""Settings that change no output, or are read elsewhere."""


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
        Name of the call whose mask holds for it, None where all steps count.
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
    """

    def __init__(self, model: KerasModel, call: KerasCall, values: Sequence[Value], draft: GrowingGraph) -> None:
        self.model, self.call, self.values, self.draft = model, call, tuple(values), draft
        self.layer, self.version = call.layer, model.version
        self.read: set[str] = set(HARMLESS)

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
        """Return the settings that nobody has looked at and that are not None, False or empty."""
        return [name for name, value in self.layer.config.items() if name not in self.read and value]

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
        return activation_of(self.get(name), self.version)

    def trained(self, kernel: str = "kernel", bias: str = "bias") -> dict[str, Any]:
        """Return how a layer's parameters start and are held: initialisers, regularisers, constraints.

        Parameters
        ----------
        kernel, bias : str
            What Keras calls the parameters: ``"kernel"`` reads ``kernel_initializer``, ...
        """
        for what in (kernel, bias):
            for kind in ("initializer", "regularizer", "constraint"):
                self.get(f"{what}_{kind}")
        return {}

    # ---- what comes out

    def add_layer(
        self,
        kind: Any,
        shape: Sequence[int | None],
        data_format: str | None = None,
        arrays: Arrays | None = None,
        around: Callable[[Any], Any] | None = None,
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
        **settings
            Of the layer.
        """
        if data_format in kind.formats and "data_format" in kind.__dataclass_fields__:
            settings["data_format"] = data_format
        conf = kind(**{"activation": self.activation(), **self.trained(), **settings})
        node = self.add(conf if around is None else around(conf), self.value.node, arrays)
        return self.give(node, shape, data_format)

    def activated(self, value: Value, activation: Activation, part: str = "") -> Value:
        """Add an activation behind something."""
        return value._replace(node=self.add(ActivationLayer(activation), value.node, part=part))


    def add(self, conf: Any, nodes: Sequence[str] | str, arrays: Arrays | None = None, part: str = "") -> str:
        """Add a vertex under the name of the call, or of a part of it: ``"conv1"``, ``"conv1/relu"``."""
        name = f"{self.call.name}/{part}" if part else self.call.name
        return self.draft.add(name, conf, [nodes] if isinstance(nodes, str) else nodes, arrays)

    def give(self, node: str, shape: Sequence[int | None], data_format: str | None = None) -> Value:
        """Return what the call gives, with the mask of its first input."""
        return Value(node, tuple(shape), data_format, self.values[0].mask if self.values else None)


__all__ = ["FORMATS", "Arrays", "NotSaid", "Piece", "Value"]
