"""ComputationGraph: a network that is a graph of layers and vertices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import nd
from nd.arguments import Natural, checked, converted, shown
from nd.dataset import DataSet, MultiDataSet
from nd.java_names import Pair
from nd.rules import SWITCH
from nd.state import Restoring
from nd.typing import Array

from ..conf.graph import ComputationGraphConfiguration
from ..layers.base import LayerConf
from ..layers.runtime import LayerRuntime
from ..terms.data_formats import outward
from ..terms.input_type import InputType
from ..vertices.runtime import VertexRuntime
from .intake import inputs_of, labels_of, unmasked_inputs_of
from .java_calls import OutputCall, activations_call, output_call
from .network import Network
from .partial import PartialPasses


class ComputationGraph(PartialPasses, Network):
    """A neural network of named layers and vertices in a directed acyclic graph, with any number of inputs and outputs.

    Parameters
    ----------
    conf : ComputationGraphConfiguration
    params : array ``[1, n]``, optional
        The initial parameters; `init` is called with them.

    Notes
    -----
    Methods are those of `MultiLayerNetwork`. Vertices run in `topological_order`, which is also the order of their
    parameters; the loss is the sum over the outputs. With one input and one output, it also takes arrays and DataSets.
    Source: DL4J ``ComputationGraph``. Differs: three faults of Java are corrected. Dropout does not change an
    activation that other vertices read, preprocessors use the number of examples that arrive, and frozen vertices pass
    gradients on.
    """

    _data_types: ClassVar[tuple[type, ...]] = (DataSet, MultiDataSet)
    conf: ComputationGraphConfiguration
    configuration: ComputationGraphConfiguration

    @checked
    def __init__(self, conf: ComputationGraphConfiguration, params: Any = None) -> None:
        self._given: dict[tuple[str, int], Any] = {}  # of a minibatch that is set array by array
        super().__init__(conf, params)

    # ---- vertices

    def topological_order(self) -> list[str]:
        """Return the names of inputs and vertices in the order in which they run."""
        return self.conf.topological_order()

    @property
    def num_input_arrays(self) -> int:
        """Number of inputs."""
        return len(self.conf.inputs)

    @property
    def num_output_arrays(self) -> int:
        """Number of outputs."""
        return len(self.conf.outputs)

    @property
    def n_layers(self) -> int:
        """Number of layers, without other vertices."""
        return len(self._layer_keys())

    @property
    def layer_names(self) -> list[str]:
        """Names of the layers, in the order in which they run."""
        return list(self._layer_keys())

    def _layer_keys(self) -> Sequence[str]:
        return [node.name for node in self.conf.nodes if isinstance(node.conf, LayerConf)]

    def _checked_layer(self, who: str, layer: object) -> int:
        if type(layer) is int:  # Java's number: in the order in which they were added
            layer = dict(enumerate(name for name in self.conf.vertices if name in self._layer_keys())).get(layer, layer)
        if not isinstance(layer, str) or layer not in self._layer_keys():
            raise nd.ConfigurationError(f"{who}: layer must be one of {self._layer_keys()}, got {layer!r}.")
        return self._number(layer)

    def _checked_node(self, who: str, name: int | str) -> int:
        if isinstance(name, str):
            return self._number(nd.checks.check_choice(who, "vertex", name, self.conf.vertices))
        return self._checked_layer(who, name)

    @checked
    def get_layer(self, layer: int | str) -> LayerRuntime:
        """Return the runtime of a layer, by name or, as in Java, by number in the order in which layers were added.

        ``graph.get_layer("conv1").pre_output(x)``; raise ConfigurationError if there is none.
        """
        return self.layers[self._checked_layer("get_layer", layer)]

    @checked
    def get_output_layer(self, output: Natural = 0) -> LayerRuntime:
        """Return the runtime of an output's layer, by number; raise ConfigurationError if there is none."""
        return self.layers[self._number(self._nth("get_output_layer", "output", output, self.conf.outputs))]

    @checked
    def get_vertex(self, name: str) -> LayerRuntime | VertexRuntime:
        """Return the runtime of a vertex or layer, by name; raise ChoiceError if there is none."""
        return self.layers[self._checked_node("get_vertex", name)]

    def _number(self, name: str) -> int:
        return [node.name for node in self.conf.nodes].index(name)

    @staticmethod
    def _nth(who: str, kind: str, number: int, names: Sequence[str]) -> str:
        if number >= len(names):
            raise nd.ConfigurationError(f"{who}: {kind} must be 0..{len(names) - 1}, got {number}.")
        return names[number]

    # ---- one minibatch

    def set_inputs(self, *xs: object) -> None:
        """Set the minibatch's features, ``[N, ...]`` for every input, from the host or from the network's backend."""
        self.engine.check_made()
        features = unmasked_inputs_of(self, "set_inputs", xs)
        with self.lock, Restoring(), self.engine.on_backend():
            self.engine.batch.set_features(features)
        self.batch_size = self.engine.batch.features[0].shape[0]

    def set_labels(self, *ys: object) -> None:
        """Set the minibatch's labels, ``[N, n_out]`` for every output, or classes as `fit` takes them."""
        self.engine.check_made()
        labels = labels_of(self, "set_labels", ys)
        with self.lock, Restoring(), self.engine.on_backend():
            self.engine.batch.set_labels(labels)

    @checked
    def set_input(self, number: Natural, x: object) -> None:
        """Set the features of one input; they are checked when all inputs are set."""
        self._nth("set_input", "number", number, self.conf.inputs)
        features = self._all_given("input", number, x, self.get_inputs(), self.num_input_arrays)
        if features:
            self.set_inputs(*features)

    @checked
    def set_label(self, number: Natural, y: object) -> None:
        """Set the labels of one output; they are checked when all outputs are set."""
        self._nth("set_label", "number", number, self.conf.outputs)
        labels = self._all_given("label", number, y, self.get_labels(), self.num_output_arrays)
        if labels:
            self.set_labels(*labels)

    def _all_given(self, kind: str, number: int, array: object, before: list[Any], count: int) -> list[object]:
        """Return the arrays of a kind, where one was not given anew those of before; none unless all are there."""
        self._given[kind, number] = array
        known = {**dict(enumerate(before)), **{at: one for (of, at), one in self._given.items() if of == kind}}
        if len(known) < count:
            return []
        self._given = {key: one for key, one in self._given.items() if key[0] != kind}
        return [known[at] for at in range(count)]

    def set_masks(self, features_masks: object = None, labels_masks: object = None) -> None:
        """Set the minibatch's masks: lists with a mask or None for each array, or None; see `MultiDataSet`."""
        with self.lock, Restoring(), self.engine.on_backend():
            self.engine.batch.set_masks(_masks(features_masks), _masks(labels_masks))

    def get_inputs(self) -> list[Array]:
        """Return the current minibatch's features, or an empty list before they are set."""
        return list(map(outward, self.engine.batch.features, self.conf.formats.inputs))

    @checked
    def get_input(self, number: Natural) -> Array | None:
        """Return the features of one input; None before they are set."""
        self._nth("get_input", "number", number, self.conf.inputs)
        return next(iter(self.get_inputs()[number:]), None)

    def get_labels(self) -> list[Array]:
        """Return the current minibatch's labels, or an empty list before they are set."""
        return list(map(outward, self.engine.batch.labels, self.conf.formats.outputs))

    # ---- activations and gradients

    def output(
        self, *xs: object, train: bool = False, features_masks: Any = None, labels_masks: object = None
    ) -> list[Array]:
        """Return the activations of every output, new arrays on the network's backend.

        Parameters
        ----------
        *xs : array or table ``[N, ...]``
            For every input; or one list of them, a minibatch, or an iterator or other iterable of minibatches: the
            features of all, with their masks.
        train : bool
            Compute as in training: with dropout, weight noise, and the statistics of these examples.
        features_masks, labels_masks : list of array or None, optional
            As for `MultiDataSet`. Activations are multiplied by the labels' masks; without them, those of layers that
            mask by what reaches them.

        Raises
        ------
        ShapeError
            The features or a mask do not fit the network.
        """
        if not all(map(nd.is_array, xs)):  # perhaps one of Java's calls
            call = output_call(OutputCall(xs, train, features_masks, labels_masks))
            if call.vertices is not None:
                named = self._activations(call.xs, call.train, None, _masks(call.features_masks))
                return [named[nd.checks.check_choice("output", "vertex", name, named)] for name in call.vertices]
            xs, train, features_masks, labels_masks, _ = call
        return list(self._outputs_for("output", xs, train, _masks(features_masks), _masks(labels_masks)))

    def output_single(self, *xs: object, train: bool = False) -> Array:
        """Return the activations of the only output; raise ConfigurationError if there are several. As `output`."""
        if len(self.conf.outputs) != 1:
            raise nd.ConfigurationError(
                f"output_single: the network must have one output, got {list(self.conf.outputs)}. Call output."
            )
        return self.output(*xs, train=train)[0]

    def rnn_time_step(self, *xs: object) -> list[Array]:
        """Return the activations of every output for the next time steps of series, and store the state after them.

        Parameters
        ----------
        *xs : array ``[N, C]`` or ``[N, C, T]``
            For every input, or one list of them: one time step, or several. What is no series stays as it is.

        Returns
        -------
        list of array ``[N, n_out]`` or ``[N, n_out, T]``
            Where all that came is of rank 2, outputs of one step are.

        Notes
        -----
        As `MultiLayerNetwork.rnn_time_step`. Source: DL4J ``ComputationGraph.rnnTimeStep``.
        """
        return list(self._step_outputs(unmasked_inputs_of(self, "rnn_time_step", xs)))

    @checked
    def rnn_activate_using_stored_state(
        self, xs: object, training: bool = False, store_last_for_tbptt: bool = False
    ) -> dict[str, Array]:
        """Return the activations of every input and vertex by name, new arrays; series go on from the stored state.

        `xs` are the features of the inputs, a list, or one array; the rest is as in `MultiLayerNetwork`.
        """
        self.engine.check_made()
        given = unmasked_inputs_of(self, "rnn_activate_using_stored_state", (xs,))
        with self.lock, Restoring(), self.engine.on_backend(), self.backend.quiet(), nd.random.drawing(self.random):
            features, passed = self._pass_from_stored(given, training, store_last_for_tbptt)
            named = self._named_activations(*self.conf.formats.turned(features, passed.outputs))
            return {name: nd.copy(array) for name, array in named.items()}

    def feed_forward(self, *xs: object, train: bool = False) -> dict[str, Array]:
        """Return the activations of every input and vertex by name, new arrays, in the order in which they run.

        Without features of the minibatch that `set_inputs` has set, with its masks.
        """
        call = activations_call(xs, train)
        named = self._activations(call.xs, call.train, call.last_layer)
        left = set(self.conf.outputs) if call.leaves_outputs else set()
        if call.layers_only:
            left |= set(self.conf.vertices) - set(self._layer_keys())
        return {name: array for name, array in named.items() if name not in left}

    def _activations(
        self, xs: Sequence[object], train: Any, last_layer: int | None = None, features_masks: Sequence[object] = ()
    ) -> dict[str, Array]:
        """Return those of every input and of the vertices up to a layer, for features or the minibatch that is set."""
        train = converted("feed_forward", "train", SWITCH, train, False)
        self.engine.check_made()
        stop = None if last_layer is None else self._checked_layer("feed_forward", last_layer) + 1
        batch = self.engine.batch if not xs else self.engine.batch.another(nd.fresh_buffers(self.dtype))
        features, masks = inputs_of(self, "feed_forward", xs) if xs else ((), ())
        if train:
            self.engine.drawn_before = self.random.copy()
        with self.lock, Restoring(), self.engine.on_backend(), self.backend.quiet(), nd.random.drawing(self.random):
            if xs:
                batch.set_features(features)
                batch.set_masks(features_masks or masks, ())
            if not batch.features:
                raise nd.ConfigurationError("feed_forward: features must be given, or set_inputs come first, got none.")
            batch.check_features()
            passed = self._forward(batch.features, train, batch.features_masks, stop=stop)
            arrays = self.conf.formats.turned(batch.features, passed.outputs)
            names = [*self.conf.inputs, *(node.name for node in self.conf.nodes[:stop])]
            return {name: nd.copy(array) for name, array in zip(names, [*arrays[0], *arrays[1]], strict=True)}

    def _named_activations(self, features: Sequence[Array], activations: list[Array]) -> dict[str, Array]:
        of_vertices = {node.name: array for node, array in zip(self.conf.nodes, activations, strict=True)}
        return {**dict(zip(self.conf.inputs, features, strict=True)), **of_vertices}

    def calculate_gradients(
        self, features: object, labels: object, features_masks: object = None, labels_masks: object = None
    ) -> Pair:
        """Return the gradient, as `gradient` does, and those of the features, a list; sums over examples all.

        Features, labels and masks are lists, or single arrays where there is one input, or one output.
        """
        self.set_inputs(features)
        self.set_labels(labels)
        self.set_masks(features_masks, labels_masks)
        epsilons = self._gradients_of_set()
        return Pair(self.gradient(), list(epsilons))

    def backprop_gradient(self, *epsilons: object) -> Pair:
        """Backpropagate external epsilons through the network, for the minibatch of `set_inputs` or `feed_forward`.

        Parameters
        ----------
        *epsilons : array of an output's shape
            dL/d(activations) of every output, whatever its layer is.

        Returns
        -------
        gradient : DefaultGradient
            As `gradient`, sums over examples.
        epsilons : list of array or None
            dL/d(features) of every input; None where nothing comes back.

        Notes
        -----
        Source: DL4J ``ComputationGraph.backpropGradient``.
        """
        one = epsilons[0] if len(epsilons) == 1 else None
        below = self._backpropagated(one if isinstance(one, (list, tuple)) else epsilons)
        return Pair(self.gradient(), list(below))

    @checked
    def summary(self, *input_types: InputType | None) -> str:
        """Return a table: vertex, its inputs, shapes, bytes of activations, parameters and their bytes, and totals.

        Types of the inputs stand in for those that the configuration does not have.
        """
        from .summaries import summary_of_graph

        return summary_of_graph(self.conf, [kind for kind in input_types if kind is not None])


def _masks(masks: object) -> Sequence[Any]:
    if masks is None:
        return ()
    if isinstance(masks, (Mapping, str)):
        raise nd.DTypeError(f"expected a list with a mask or None for each array, got {shown(masks)}.")
    return list(masks) if isinstance(masks, (list, tuple)) else [masks]
