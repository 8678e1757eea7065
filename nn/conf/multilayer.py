"""Configuration of a network whose layers follow one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import nd
from nd.arguments import checked

from ..layers.base import LayerConf, label_of
from ..terms import late
from ..terms.input_type import InputType
from ..terms.preprocessors import InputPreProcessor
from .network import NeuralNetConfiguration
from .nodes import NetworkConfiguration, NodeConf, Source


@dataclass(frozen=True, kw_only=True, eq=False)
class MultiLayerConfiguration(NetworkConfiguration):
    """A stack of layers, complete: every n_in known, every default taken over.

    Parameters
    ----------
    base : NeuralNetConfiguration
    layers : tuple of LayerConf
    preprocessors : dict of layer index -> InputPreProcessor
    input_type : InputType, optional
        DL4J's JSON has no place for it; model files keep it in an entry of our own.
    iteration_count, epoch_count : int
        State of the training, for networks that are saved and loaded.
    backprop_type, tbptt_fwd_length, tbptt_back_length, tbptt_exact
        As in `NeuralNetConfiguration.list`.

    Notes
    -----
    Source: DL4J ``MultiLayerConfiguration``.
    """

    layers: tuple[LayerConf, ...]
    preprocessors: Mapping[int, InputPreProcessor] = field(default_factory=dict)
    input_type: InputType | None = None
    compared: ClassVar[tuple[str, ...]] = ("layers", "preprocessors")
    needs_series: ClassVar[bool] = True
    made_by: ClassVar[str] = "Say NeuralNetConfiguration(...).list(layer, layer)."

    @cached_property
    def nodes(self) -> tuple[NodeConf, ...]:
        return tuple(
            NodeConf(
                str(index), label_of(index, layer), layer, (Source(index - 1),), self.preprocessors.get(index), index
            )
            for index, layer in enumerate(self.layers)
        )

    @property
    def output_nodes(self) -> tuple[int, ...]:
        return (len(self.layers) - 1,)

    @property
    def input_names(self) -> tuple[str, ...]:
        return ("input",)

    def network_input_types(self) -> tuple[InputType | None, ...]:
        return (self.input_type,)

    def with_confs(self, confs: Sequence[Any]) -> Self:
        return replace(self, layers=tuple(confs))

    @checked
    def layer_types(self, input_type: InputType | None = None) -> list[tuple[InputType, InputType]] | None:
        """Return the types of every layer's input and output, None if no input type is known and none is given."""
        types = self.node_types([input_type])
        return None if types is None else [(node.inputs[0], node.output) for node in types]

    @checked
    def get_layer_activation_types(self, input_type: InputType) -> Sequence[InputType]:
        """Return the type of every layer's output for such an input."""
        return [out for _, out in replace(self, input_type=None).layer_types(input_type) or ()]

    @property
    def rows_are_series(self) -> bool:
        """Whether features ``[N, T]`` are series of T time steps, as an EmbeddingSequenceLayer reads them."""
        return 0 not in self.preprocessors and getattr(self.layers[0], "takes", None) == "series"

    @checked
    def get_conf(self, layer: int) -> NeuralNetConfiguration:
        """Return the configuration of one layer, ``get_conf(0).layer``; raise ConfigurationError if there is none."""
        if not 0 <= layer < len(self.layers):
            raise nd.ConfigurationError(f"get_conf: layer must be 0..{len(self.layers) - 1}, got {layer}.")
        return replace(self.base, layer=self.layers[layer])

    def get_confs(self) -> Sequence[NeuralNetConfiguration]:
        """Return the configurations of all layers."""
        return [self.get_conf(layer) for layer in range(len(self.layers))]

    @checked
    def get_input_pre_process(self, layer: int) -> InputPreProcessor | None:
        """Return the preprocessor of a layer, None where it has none."""
        return self.preprocessors.get(layer)

    @staticmethod
    @checked
    def from_json(text: str, strict: bool = True) -> MultiLayerConfiguration:
        """Read the JSON of any DL4J release since 0.5.

        Parameters
        ----------
        text : str
        strict : bool
            False: leave out, with a warning, settings that only training needs and this library does not have.

        Raises
        ------
        FormatError
            It is not such a configuration.
        ConfigurationError, ChoiceError
            It asks for something that this library does not have.
        """
        return late("network_from_json")(text, strict)
