"""TransferLearning: a new network that keeps the weights of a trained one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import nd
from nd.arguments import Checked, Natural, checked
from nd.state import Restoring
from nd.typing import Array
from optimize.builder import Builder, item_verb

from ..conf.initial_weights import draw_params
from ..conf.multilayer import MultiLayerConfiguration
from ..conf.network_formats import settled_chain
from ..conf.output_layers import check_output_layers
from ..conf.stacking import check_order, check_preprocessors, input_type_of
from ..layers import FrozenLayer, LayerConf
from ..layers.base import label_of
from ..networks.graph import ComputationGraph
from ..networks.multilayer import MultiLayerNetwork
from ..terms.input_type import InputType
from ..terms.params import ParamLayout
from ..terms.preprocessors import FeedForwardToCnnPreProcessor, InputPreProcessor
from .fine_tune import FineTuneConfiguration
from .graph_editing import GraphBuilder
from .resizing import Init, Resizing, Sizes, resized_input


@dataclass(frozen=True, kw_only=True)
class TransferLearning(Checked):
    """Changes that turn a trained network into a new one: ``TransferLearning(net, feature_extractor=1).build()``.

    Parameters
    ----------
    network : MultiLayerNetwork
        After `init`; it stays as it is.
    fine_tune_configuration : FineTuneConfiguration, optional
        Settings of all its layers, and defaults of those that are added.
    feature_extractor : int, optional
        This layer and all below it are frozen.
    n_out_replace : dict of layer index -> ``n_out`` or ``(n_out, weight_init[, weight_init of the next layer])``
        The layer gets another size, the next one with parameters another n_in; both start anew. By default the
        initialisation is the layer's own, and the next layer's is the same as the layer's where that is given.
    n_in_replace : dict of layer index -> ``n_in`` or ``(n_in, weight_init)``
        The layer takes another size, and starts anew; with layer 0 the network takes other inputs.
    remove_layers_from_output : int
        So many layers are removed at the end.
    add_layers : sequence of LayerConf
        Added at the end. Their n_in may be left out; unset fields are taken from the fine-tune configuration, and not
        from the old network.
    input_pre_processors : dict of layer index -> InputPreProcessor
        Of the new network. Those of added layers are inserted where the kind of their input is known.
    validate_output_layer_config : bool
        As for `NeuralNetConfiguration`; the trained network's value does not count, as in Java.

    Raises
    ------
    ConfigurationError
        `network` is no network, or has not been initialised.

    Notes
    -----
    The weights of new layers are drawn from this thread's generator as it stands, see `nd.random.get_random`: those of
    replaced sizes in the order of layers, removed ones included, then those of added layers. Then the new network seeds
    its own and draws all of its weights, which are overwritten, so that a repeated Java program stays repeatable.
    Iterations and epochs begin at 0, the updater has no state; `class_names` stay where the output layer does. Source:
    DL4J ``TransferLearning.Builder``. Differs: the next layer with parameters may stand behind pooling and dropout too,
    and behind a change from images to rows, where Java looks at the very next only; and truncated backprop stays,
    which Java forgets unless the fine-tune configuration says it.
    """

    network: MultiLayerNetwork = field(kw_only=False)
    fine_tune_configuration: FineTuneConfiguration | None = None
    feature_extractor: Natural | None = None
    n_out_replace: Mapping[Natural, Sizes] = field(default_factory=dict)
    n_in_replace: Mapping[Natural, Sizes] = field(default_factory=dict)
    remove_layers_from_output: Natural = 0
    add_layers: Sequence[LayerConf] = ()
    input_pre_processors: Mapping[Natural, InputPreProcessor] = field(default_factory=dict)
    validate_output_layer_config: bool = True
    builder_verbs: ClassVar[dict[str, Callable[..., Builder]]]

    def __post_init__(self) -> None:
        super().__post_init__()
        self.network.params()

    @staticmethod
    @checked
    def Builder(network: MultiLayerNetwork) -> Builder:
        """Start DL4J's fluent style."""
        return Builder(
            TransferLearning, network=network, n_out_replace={}, n_in_replace={}, add_layers=[], input_pre_processors={}
        )

    @staticmethod
    def GraphBuilder(graph: ComputationGraph) -> GraphBuilder:
        """Start changes of a graph; see `nn.transferlearning.graph_editing`."""
        return GraphBuilder(graph)

    def build(self) -> MultiLayerNetwork:
        """Make the new network, on the backend of the old one.

        Raises
        ------
        ConfigurationError, ShapeError
            A layer does not exist, cannot be changed so, or does not fit on the one below it; or the new network could
            take no step, as by truncated backprop through a layer that reads ahead.
        """
        with Restoring(), self.network.engine.on_backend(), nd.random.drawing(nd.random.get_random()):
            editing = _Editing(self.network, self.fine_tune_configuration or FineTuneConfiguration())
            for index, sizes in sorted(self.n_out_replace.items()):
                n_out, *inits = sizes if isinstance(sizes, (tuple, list)) else (sizes,)
                editing._replace_n_out(index, n_out, *inits)
            for index, sizes in sorted(self.n_in_replace.items()):
                editing._replace_n_in(index, *(sizes if isinstance(sizes, (tuple, list)) else (sizes,)))
            editing.remove(self.remove_layers_from_output)
            editing.add(self.add_layers, self.input_pre_processors)
            if self.feature_extractor is not None:
                editing.freeze(self.feature_extractor)
            new = editing.finish(self.validate_output_layer_config)
        resized = len(self.network.layers) - 1 in self.n_out_replace
        keeps_outputs = not (resized or self.remove_layers_from_output or self.add_layers)
        if keeps_outputs and new.engine.classes.classes == self.network.engine.classes.classes:
            new.class_names = self.network.class_names
        return new

    finish = build


class _Editing(Resizing[int]):
    """The layers, preprocessors and parameters of the network that is being built."""

    _rebuild = "Or rebuild the layers behind, with remove_layers_from_output and add_layers."

    def __init__(self, network: MultiLayerNetwork, fine_tune: FineTuneConfiguration) -> None:
        self.old, self.fine_tune = network.conf, fine_tune
        self.layers = [fine_tune._of_layer(layer) for layer in self.old.layers]
        self.preprocessors, self.input_type = dict(self.old.preprocessors), self.old.input_type
        layout = self.old.layout()
        self.params: list[list[Array]] = [
            [nd.copy(view.flat(network.params())) for view in layout.of_layer(index)]
            for index in range(len(self.layers))
        ]

    def _layer_of(self, who: str, key: int) -> LayerConf:
        if not 0 <= key < len(self.layers):
            raise nd.ConfigurationError(f"{who}: layer must be 0..{len(self.layers) - 1}, got {key!r}.")
        return self.layers[key]

    def _label(self, key: int) -> str:
        return label_of(key, self.layers[key])

    def _readers(self, who: str, key: int) -> Sequence[int]:
        return range(key + 1, min(key + 2, len(self.layers)))

    def _preprocessors_of_layers(self) -> dict[int, InputPreProcessor]:
        return self.preprocessors

    def _put_anew(self, key: int, behind: bool, changes: dict[str, Any]) -> None:
        layer = self.layers[key]
        self.layers[key] = replace(layer, **changes)
        self.params[key] = self._drawn(self.layers[key])

    def _replace_n_in(self, key: int, n_in: int, init: Init = None) -> None:
        """Give a layer another n_in; the first layer's is that of the network's inputs."""
        super()._replace_n_in(key, n_in, init)
        if key == 0 and self.input_type is not None:
            self.input_type = resized_input(self.input_type, n_in)
        if key == 0 and isinstance(layer := self.preprocessors.get(0), FeedForwardToCnnPreProcessor):
            self.preprocessors[0] = replace(layer, num_channels=n_in)

    def _drawn(self, layer: LayerConf) -> list[Array]:
        layout = ParamLayout([layer.param_specs()])
        vector = nd.zeros(1, layout.length, dtype=self.old.base.dtype)
        draw_params(layer, layout.views, vector, nd.random.get_random(), f"layer {layer.name!r}")
        return [view.flat(vector) for view in layout.views]

    def remove(self, count: int) -> None:
        """Remove layers at the end; the preprocessor of the first of them stays for one that is added."""
        kept = len(self.layers) - count
        if kept < 1:
            raise nd.ConfigurationError(
                f"TransferLearning: remove_layers_from_output must be 0..{len(self.layers) - 1}, got {count!r}."
            )
        del self.layers[kept:], self.params[kept:]
        self.preprocessors = {i: preprocessor for i, preprocessor in self.preprocessors.items() if i <= kept}

    def add(self, added: Sequence[LayerConf], chosen: Mapping[int, InputPreProcessor]) -> None:
        """Add layers at the end; check that everything fits, with the preprocessors that were `chosen`."""
        defaults, old = self.fine_tune._of_added_layers(self.old.base), len(self.layers)
        self.layers += [layer.resolved(defaults, old + number) for number, layer in enumerate(added)]
        check_order("TransferLearning", self.layers)
        check_preprocessors("TransferLearning: input_pre_processors", chosen, len(self.layers))
        self.preprocessors.update(chosen)
        self.preprocessors = {i: preprocessor for i, preprocessor in self.preprocessors.items() if i < len(self.layers)}
        input_type = self.input_type or input_type_of(self.layers[0], self.preprocessors.get(0))
        before: tuple[str, int] | None = None
        for index in range(len(self.layers)):
            if input_type is None:
                before = None if index in self.preprocessors else before
                self.layers[index], before = self.layers[index].following(label_of(index, self.layers[index]), before)
            else:
                input_type = self._fitted(index, input_type, infer=index >= old and index not in chosen)
        for index, layer in enumerate(self.layers):
            layer.check(label_of(index, layer))
        self.params += [self._drawn(layer) for layer in self.layers[old:]]

    def _fitted(self, index: int, input_type: InputType, infer: bool) -> InputType:
        """Fit a layer to the type of its input; return the type of its output.

        In the place of a layer that was removed Java keeps that one's preprocessor: so does this, where a layer does
        not fit with the one that it would have by itself.
        """
        layer, kept = self.layers[index], self.preprocessors.get(index)
        if not infer:
            return self._placed(index, input_type, kept)
        try:
            return self._placed(index, input_type, layer.preprocessor_for(input_type))
        except nd.NdError:
            if kept is None:
                raise
            with suppress(nd.NdError):
                return self._placed(index, input_type, kept)
            raise

    def _placed(self, index: int, input_type: InputType, preprocessor: InputPreProcessor | None) -> InputType:
        """Put a preprocessor before a layer, or none; return the type of their output."""
        layer = self.layers[index]
        if preprocessor is not None:
            input_type = preprocessor.output_type(input_type)
        layer = layer.with_inputs(label_of(index, layer), input_type)
        out = layer.output_type(label_of(index, layer), input_type)
        self.preprocessors.pop(index, None)
        self.preprocessors.update({} if preprocessor is None else {index: preprocessor})
        self.layers[index] = layer
        return out

    def freeze(self, last: int) -> None:
        """Freeze the layers up to one."""
        if not 0 <= last < len(self.layers):
            raise nd.ConfigurationError(
                f"TransferLearning: feature_extractor must be a layer 0..{len(self.layers) - 1}, got {last!r}."
            )
        for index, layer in enumerate(self.layers[: last + 1]):
            if not isinstance(layer, FrozenLayer):
                self.layers[index] = FrozenLayer(layer, name=layer.name)

    def finish(self, validate_output_layers: bool) -> MultiLayerNetwork:
        """Make the network."""
        if validate_output_layers:
            check_output_layers((label_of(index, layer), layer) for index, layer in enumerate(self.layers))
        base = self.fine_tune._of_network(self.old.base)
        layers, preprocessors = settled_chain(self.layers, self.preprocessors)
        conf = MultiLayerConfiguration(
            base=replace(base, validate_output_layer_config=validate_output_layers),
            layers=layers,
            preprocessors=preprocessors,
            input_type=self.input_type,
            **self.fine_tune._of_series(self.old),
        )
        conf.check_training()
        network = MultiLayerNetwork(conf).init()
        parts = [part for of_layer in self.params for part in of_layer]
        if parts:
            network.set_params(nd.concat(parts))
        return network


# ---- DL4J's fluent style


def _put_of_layer(builder: Builder, field: str, layer: int, value: Any) -> Builder:
    """Set a layer's entry of a field that is a dict."""
    builder.given[field][layer] = value
    return builder


def _remove_verb(builder: Builder, count: int = 1) -> Builder:
    if builder.given.get("remove_layers_from_output"):
        raise nd.ConfigurationError(
            f"TransferLearning.Builder: layers can be removed once, got {count} more. Say how many at once."
        )
    builder.given["remove_layers_from_output"] = count
    return builder


def _layer_verb(builder: Builder, layer: LayerConf | Builder) -> Builder:
    builder.given["add_layers"].append(layer.build() if isinstance(layer, Builder) else layer)
    return builder


TransferLearning.builder_verbs = {
    "add_layer": _layer_verb,
    "n_in_replace": lambda builder, layer, n_in, *init: _put_of_layer(builder, "n_in_replace", layer, (n_in, *init)),
    "n_out_replace": lambda builder, layer, n_out, *inits: _put_of_layer(
        builder, "n_out_replace", layer, (n_out, *inits)
    ),
    "remove_layers_from_output": _remove_verb,
    "remove_output_layer": _remove_verb,
    "set_feature_extractor": lambda builder, layer: builder.feature_extractor(layer),
    "set_input_pre_processor": item_verb("input_pre_processors"),
}
