"""A layer, vertex or preprocessor that is being written as layers of Keras."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from nd import ConfigurationError
from nd.typing import HostArray

from ...terms.input_type import InputType
from .draft import NO_WEIGHTS, KerasDraft, Value, Weights


class NotInKeras(ConfigurationError):
    """A part of a network that Keras cannot say; its text is the reason alone."""


class SizesUnknown(NotInKeras):
    """A part that Keras can say where sizes are known: what is behind a part that is refused has none."""


@dataclass(frozen=True)
class Node:
    """A node of a network, and what comes into it.

    Attributes
    ----------
    draft : KerasDraft
    name : str
        Of the layer or vertex; the layers of Keras that say it have names that begin with it.
    conf : LayerConf, VertexConf or InputPreProcessor
        Of frozen layers and of those in wrappers the layer inside.
    params : dict of str -> host array
        In the layer's own shapes.
    inputs : tuple of Value
        Behind the preprocessor, channels last.
    types : tuple of InputType or None
        Of the inputs, channels first; None where the configuration does not say sizes.
    trainable : bool
    steps_of : dict of str -> int or None
        Time steps of the network's inputs, by their names: some vertices look at them.
    """

    draft: KerasDraft
    name: str
    conf: Any
    params: Mapping[str, HostArray]
    inputs: tuple[Value, ...]
    types: tuple[InputType | None, ...]
    trainable: bool = True
    steps_of: Mapping[str, int | None] = field(default_factory=dict)

    @property
    def x(self) -> Value:
        """The first input."""
        return self.inputs[0]

    def add(
        self,
        class_name: str,
        *inputs: Value,
        part: str = "",
        weights: Sequence[HostArray] | Weights = NO_WEIGHTS,
        axes: int = 0,
        **config: Any,
    ) -> Value:
        """Add a layer of Keras, named after the node, and the part behind it; return what it gives.

        Weights are those of the layer itself, or lie by the paths of its parts; `axes` is how many axes more it gives.
        """
        name = f"{self.name}_{part}" if part else self.name
        lying = weights if isinstance(weights, Mapping) else {"": weights}
        return self.draft.add(class_name, inputs or self.inputs, name, config, lying, axes, self.trainable)

    def bias(self) -> list[HostArray]:
        """Return the bias as a vector in a list, which is empty where there is none."""
        return [self.params["b"].reshape(-1)] if "b" in self.params else []

    def channels_first(self, x: Value) -> Value:
        """Return a value with the channels behind the examples."""
        rank = x.own_rank
        return self.permuted(x, [rank - 1, *range(1, rank - 1)]) if rank > 2 else x

    def channels_last(self, x: Value) -> Value:
        """Return a value that has the channels behind the examples with the channels last."""
        rank = x.own_rank
        return self.permuted(x, [*range(2, rank), 1]) if rank > 2 else x

    def permuted(self, x: Value, axes: Sequence[int]) -> Value:
        """Return a value with the axes of an example in another order, numbers from 1."""
        return self.draft.permuted(x, axes, f"{self.name}_permute")

    def sizes(self, number: int = 0) -> tuple[int | None, ...]:
        """Return the sizes of an input, channels first; refuse where they are not known."""
        kind = self.types[number]
        if kind is None:
            raise SizesUnknown("the sizes of its input must be known. Give input_types")
        return tuple(kind.shape)

    def around(self, conf: Any, params: Mapping[str, HostArray], *inputs: Value, **settings: Any) -> Node:
        """Return the same node with another layer in it, one that it wraps; `settings` are other attributes."""
        changed = {"conf": conf, "params": params, "inputs": inputs or self.inputs} | settings
        return replace(self, **changed)

    def lose(self, what: str) -> None:
        """Note what the file has no place for."""
        self.draft.lost.append(f"{self.name}: {what}")

    def refuse(self, reason: str) -> NoReturn:
        """Raise NotInKeras with a reason."""
        raise NotInKeras(reason)
