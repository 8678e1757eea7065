"""A model of Keras that is being written: its layers, how they are called, and their weights."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from nd.typing import HostArray

Config = dict[str, Any]
"""Settings of a layer by Keras' names."""
Weights = Mapping[str, Sequence[HostArray]]
"""Path of a part of a layer, ``""`` for itself, ``"cell"`` for the units of a recurrent one -> its arrays."""
NO_WEIGHTS: Weights = MappingProxyType({})
MERGING = frozenset({"Add", "Average", "Concatenate", "Maximum", "Multiply", "Subtract"})
"""Classes that are called with a list of tensors."""
_POINTWISE = frozenset(
    {
        "Activation", "AlphaDropout", "BatchNormalization", "Dense", "Dropout", "ELU", "EinsumDense", "Embedding",
        "GaussianDropout", "GaussianNoise", "LayerNormalization", "LeakyReLU", "ReLU", "Rescaling", "Softmax",
    }
) | MERGING  # fmt: skip
"""Classes that compute every step of a series alone, with the settings that they are written with."""


class Value(NamedTuple):
    """What a call of a layer gives: ``[N, ..., C]``, the channels last."""

    layer: str
    """Name of the layer."""
    call: int
    """Number among the layer's calls."""
    rank: int
    """Number of axes."""
    of_steps: bool = False
    """Whether the network has rows, or images, of time steps, where Keras has series ``[N, T, ...]`` of them."""

    @property
    def own_rank(self) -> int:
        """The number of axes as the network has it."""
        return self.rank - self.of_steps


@dataclass
class DraftLayer:
    """A layer.

    Attributes
    ----------
    class_name : str
    config : dict
    weights : Weights
    calls : list of tuple of Value
        What comes into it, call by call.
    """

    class_name: str
    config: Config
    weights: Weights = field(default_factory=dict)
    calls: list[tuple[Value, ...]] = field(default_factory=list)

    @property
    def said(self) -> Config:
        """The layer as Keras serialises it."""
        return serialized("keras.layers", self.class_name, self.config)


class KerasDraft:
    """Layers, each under a name of its own.

    Parameters
    ----------
    dtype : str
        Of the parameters.

    Attributes
    ----------
    layers : dict of str -> DraftLayer
    lost : list of str
        What the file has no place for.
    made, shared : list of str
        Layers with weights that the node which is being written has added; and those of another node, whose parameters
        it uses, which it has not come to yet.
    """

    def __init__(self, dtype: str) -> None:
        self.dtype = dtype
        self.layers: dict[str, DraftLayer] = {}
        self.lost: list[str] = []
        self.made: list[str] = []
        self.shared: list[str] = []

    def name(self, wanted: str) -> str:
        """Return a name that no layer has, the wanted one if it is free; a slash, which Keras refuses, becomes "_"."""
        wanted = wanted.replace("/", "_")
        name, number = wanted, 2
        while name in self.layers:
            name, number = f"{wanted}_{number}", number + 1
        return name

    def input(self, name: str, shape: Sequence[int | None]) -> Value:
        """Add an input of that shape, without the axis of examples."""
        name = self.name(name)
        self.layers[name] = DraftLayer(
            "InputLayer", {"batch_shape": [None, *shape], "dtype": self.dtype, "name": name}, calls=[()]
        )
        return Value(name, 0, 1 + len(shape))

    def add(
        self,
        class_name: str,
        inputs: Sequence[Value],
        name: str,
        config: Config,
        weights: Weights = NO_WEIGHTS,
        axes: int = 0,
        trainable: bool = True,
    ) -> Value:
        """Add a layer and its call; return what that gives.

        Parameters
        ----------
        class_name : str
            Of Keras.
        inputs : sequence of Value
        name : str
            Wanted.
        config : dict
            Settings, but the name.
        weights : Weights
        axes : int
            How many axes more there are than of the first input.
        trainable : bool
        """
        first, wanted, name = inputs[0], name, self.name(name)
        layer = DraftLayer(class_name, self._config(name, config, trainable), weights)
        if class_name.startswith("SpatialDropout"):  # whose constructor has no such argument
            del layer.config["trainable"]
        if first.of_steps and class_name not in _POINTWISE:
            layer = self._distributed(layer, name)
        if weights:
            known = self.shared.pop(0) if self.shared else ""
            if known and _alike(layer, self.layers[known]):
                layer, name = self.layers[known], known
            elif known:
                self.lost.append(f"{wanted}: that it shares parameters with {known}, whose settings are others")
            self.made.append(name)
        layer.calls.append(tuple(inputs))
        self.layers[name] = layer
        return Value(name, len(layer.calls) - 1, first.rank + axes, first.of_steps)

    def renamed(self, value: Value, wanted: str, made: Collection[str]) -> Value:
        """Exchange the names of two layers that were just made, so that what a node gives has the node's name.

        Parameters
        ----------
        value : Value
            What the node gives.
        wanted : str
            The node's name.
        made : collection of str
            Layers of the node: no others call these yet.
        """
        wanted = wanted.replace("/", "_")
        names = {wanted: value.layer, value.layer: wanted}
        if len(names) < 2 or not {*names}.issubset(made):
            return value
        self.layers[wanted], self.layers[value.layer] = self.layers[value.layer], self.layers[wanted]
        for name in names:
            self.layers[name].config["name"] = name
        for name in made:
            layer = self.layers[name]
            layer.calls = [tuple(x._replace(layer=names.get(x.layer, x.layer)) for x in call) for call in layer.calls]
        self.made = [names.get(name, name) for name in self.made]
        return value._replace(layer=wanted)

    def permuted(self, x: Value, axes: Sequence[int], name: str) -> Value:
        """Return x with the axes of an example in that order, numbers from 1; a Permute before it is taken back."""
        before = self.layers[x.layer]
        if before.class_name == "Permute" and not x.of_steps:
            (x,) = before.calls[x.call]
            axes = [before.config["dims"][axis - 1] for axis in axes]
        if list(axes) == sorted(axes):
            return x
        return self.add("Permute", [x], name, {"dims": list(axes)})

    def _config(self, name: str, config: Config, trainable: bool) -> Config:
        return {"name": name, "trainable": trainable, "dtype": self.dtype, **config}

    def _distributed(self, layer: DraftLayer, name: str) -> DraftLayer:
        """Return a layer around one, which applies it to every step of a series."""
        inner = {**layer.config, "name": f"{name}_step"}
        said = serialized("keras.layers", layer.class_name, inner)
        weights = {f"layer/{path}".rstrip("/"): arrays for path, arrays in layer.weights.items()}
        return DraftLayer(
            "TimeDistributed", self._config(name, {"layer": said}, layer.config.get("trainable", True)), weights
        )


def _alike(layer: DraftLayer, other: DraftLayer) -> bool:
    """Tell whether two layers have the same settings, their names apart."""
    configs = [json.dumps({**one.config, "name": ""}) for one in (layer, other)]
    return layer.class_name == other.class_name and configs[0] == configs[1]


def serialized(module: str, class_name: str, config: Config) -> Config:
    """Return an object as Keras serialises it."""
    return {"module": module, "class_name": class_name, "config": config, "registered_name": None}


def in_keras_order(layers: Mapping[str, DraftLayer], inputs: Sequence[Value], outputs: Sequence[Value]) -> list[str]:
    """Return the names of layers that outputs or nobody needs of the inputs, in the order of Keras' ``model.layers``.

    Notes
    -----
    By depth, the greatest distance from an output, then by the order in which a walk from the outputs meets them.
    Weights are numbered in that order. Source: Keras, ``map_graph``.
    """
    walked, place = _walk(layers, outputs)
    depths: dict[tuple[str, int], int] = {}
    of_layers: dict[str, int] = {}
    for name, call in reversed(walked):
        depth = max(depths.get((name, call), 0), of_layers.get(name, 0))
        of_layers[name] = depths[name, call] = depth
        for x in layers[name].calls[call]:
            depths[x.layer, x.call] = max(depth + 1, depths.get((x.layer, x.call), 0))
    for x in inputs:
        if x.layer not in of_layers:
            of_layers[x.layer], place[x.layer] = 0, -1
    return sorted(of_layers, key=lambda name: (-of_layers[name], place[name]))


def _walk(layers: Mapping[str, DraftLayer], outputs: Sequence[Value]) -> tuple[list[tuple[str, int]], dict[str, int]]:
    """Return calls, every one behind what it reads, and the layers' places in a walk into the depth."""
    done: list[tuple[str, int]] = []
    met: set[tuple[str, int]] = set()
    place: dict[str, int] = {}
    for output in outputs:
        waiting = [((output.layer, output.call), False)]
        while waiting:
            call, is_left = waiting.pop()
            if is_left:
                done.append(call)
            elif call not in met:
                met.add(call)
                place.setdefault(call[0], len(place))
                waiting.append((call, True))
                before = layers[call[0]].calls[call[1]]
                waiting.extend(((x.layer, x.call), False) for x in reversed(before))
    return done, place
