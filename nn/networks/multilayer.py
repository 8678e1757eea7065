"""MultiLayerNetwork: a network whose layers follow one another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import nd
from nd.arguments import checked
from nd.java_names import Pair
from nd.rules import INTEGER, Refused
from nd.state import Restoring
from nd.typing import Array

from ..conf.multilayer import MultiLayerConfiguration
from ..layers.runtime import LayerRuntime
from ..terms.data_formats import inward, outward
from ..terms.input_type import InputType
from .intake import inputs_of, labels_of, unmasked_inputs_of
from .minibatch import as_features
from .network import Network

if TYPE_CHECKING:
    from .graph import ComputationGraph


class MultiLayerNetwork(Network):
    """A neural network of layers in sequence.

    Parameters
    ----------
    conf : MultiLayerConfiguration
    params : array ``[1, n]``, optional
        The initial parameters; as in Java, `init` is called with them.

    Notes
    -----
    The network has one parameter vector and one gradient vector, ``[1, n]``; layers get views. It stays on the
    backend on which `init` ran, and takes data from the host or from that backend. All random numbers come from its
    own generator, `random`, in every thread. Threads take turns, step by step; a second `fit` during a call of `fit`
    raises an error. Source: DL4J ``MultiLayerNetwork``. Differs: in Java each thread has one generator.
    """

    conf: MultiLayerConfiguration
    configuration: MultiLayerConfiguration

    @checked
    def __init__(self, conf: MultiLayerConfiguration, params: Any = None) -> None:
        super().__init__(conf, params)

    @checked
    def get_layer(self, index: int | str) -> LayerRuntime:
        """Return the runtime of a layer, by number or name: ``net.get_layer(0).pre_output(x)``.

        Raises
        ------
        ConfigurationError, ChoiceError
            There is no such layer.
        """
        return self.layers[self._checked_node("get_layer", index)]

    # ---- layers

    @property
    def n_layers(self) -> int:
        """Number of layers."""
        return len(self.conf.layers)

    @property
    def layer_names(self) -> list[str]:
        """Names of the layers."""
        return [layer.name or "" for layer in self.conf.layers]

    def get_output_layer(self) -> LayerRuntime:
        """Return the runtime of the last layer."""
        return self.layers[-1]

    @checked
    def activate_selected_layers(self, start: int, stop: int, x: object) -> Array:
        """Return the activations of layer `stop` for ``x``, the input of layer `start`, as in prediction.

        Raises
        ------
        ConfigurationError
            There are no such layers, or the first comes after the last.
        """
        first, last = (self._checked_layer("activate_selected_layers", layer) for layer in (start, stop))
        if first > last:
            raise nd.ConfigurationError(f"activate_selected_layers: start must be at most stop, got {start}, {stop}.")
        return self._activations_of(first, last, x, False)

    @checked
    def backprop_selected_layers(
        self, start: int, stop: int, x: object, epsilon: object, training: bool = False
    ) -> Pair:
        """Take dL/d(activations of layer `stop`) back to the input of layer `start`, by themselves.

        The forward pass is that of `activate_selected_layers`, or with `training` one with noise. The network's own
        gradient stays as it is.

        Parameters
        ----------
        start, stop : int
        x : array ``[N, ...]``
            The input of layer `start`.
        epsilon : array of the activations' shape

        Returns
        -------
        gradient : DefaultGradient
            Of these layers, by the network's names, ``"1_W"``: sums over examples, in new memory.
        epsilon : array ``[N, ...]`` or None
            dL/dx; None where there is none.

        Raises
        ------
        ConfigurationError, ShapeError
            As `activate_selected_layers`, or epsilon has another shape.
        """
        first, last = (self._checked_layer("backprop_selected_layers", layer) for layer in (start, stop))
        if first > last:
            raise nd.ConfigurationError(f"backprop_selected_layers: start must be at most stop, got {start}, {stop}.")
        from .between import Between  # which few programs need

        gradient, below = Between(self, "backprop_selected_layers", first, last).backpropagated(
            (x,), epsilon, None, training
        )
        return Pair(gradient, next(iter(below.values()), None))

    @checked
    def activation_from_prev_layer(self, layer: int, x: object, training: bool = False) -> Array:
        """Return the activations of one layer for ``x``, the activations of the layer below; errors as above."""
        layer = self._checked_layer("activation_from_prev_layer", layer)
        return self._activations_of(layer, layer, x, training)

    def _activations_of(self, first: int, last: int, x: Any, training: bool) -> Array:
        self.engine.check_made()
        (x,) = unmasked_inputs_of(self, "activate_selected_layers", (x,))
        with self.lock, Restoring(), self.engine.on_backend(), nd.random.drawing(self.random):
            x = as_features(type(self).__name__, x, self.dtype, nd.fresh_buffers(self.dtype))
            formats = self.conf.formats
            x = inward(x, (*formats.inputs, *formats.behind)[first])
            out = self._forward((x,), training, start=first, stop=last + 1).outputs[-1]
            return nd.copy(outward(out, formats.behind[last]))

    def to_computation_graph(self) -> ComputationGraph:
        """Return this network as a graph, with the input "in" and the vertices "0", "1", ... in sequence.

        An independent copy with the parameters, counters, generator, and states of updater and optimizer: it computes
        and trains on as this network does.

        Notes
        -----
        Source: DL4J ``MultiLayerNetwork.toComputationGraph``. Differs: Java forgets seed, counters and the settings of
        the network as opposed to its layers'.
        """
        from ..conf.graph import ComputationGraphConfiguration  # which programs without graphs do not need
        from .graph import ComputationGraph

        with self.lock:
            return self._copied_into(ComputationGraph(ComputationGraphConfiguration.of_chain(self.configuration)))

    # ---- one minibatch

    def set_input(self, x: object) -> None:
        """Set the minibatch's features ``[N, ...]``, from the host or from the network's backend."""
        self.engine.check_made()
        xs = unmasked_inputs_of(self, "set_input", (x,))
        with self.lock, Restoring(), self.engine.on_backend():
            self.engine.batch.set_features(xs)
        self.batch_size = self.engine.batch.features[0].shape[0]

    def get_input(self) -> Array | None:
        """Return the current minibatch's features ``[N, ...]`` on the network's backend; None before they are set."""
        return outward(next(iter(self.engine.batch.features), None), self.conf.formats.inputs[0])

    def get_labels(self) -> Array | None:
        """Return the current minibatch's labels, or None before they are set."""
        return outward(next(iter(self.engine.batch.labels), None), self.conf.formats.outputs[0])

    def set_labels(self, y: object) -> None:
        """Set the minibatch's labels ``[N, n_out]``, or classes as `fit` takes them."""
        self.engine.check_made()
        labels = labels_of(self, "set_labels", (y,))
        with self.lock, Restoring(), self.engine.on_backend():
            self.engine.batch.set_labels(labels)

    def set_masks(self, features_mask: object = None, labels_mask: object = None) -> None:
        """Set the minibatch's masks, or None for no mask; see `DataSet` for their shapes."""
        with self.lock, Restoring(), self.engine.on_backend():
            self.engine.batch.set_masks((features_mask,), (labels_mask,))

    # ---- activations and gradients

    def output(self, x: Any, train: bool = False, features_mask: object = None, labels_mask: object = None) -> Array:
        """Return the last layer's activations for ``x [N, ...]``, a new array on the network's backend.

        Parameters
        ----------
        x : array or table ``[N, ...]``, DataSet, iterator or other iterable of minibatches
            Of data sets the features, with their masks; of an iterator those of all minibatches.
        train : bool
            Compute as in training: with dropout, weight noise, and the statistics of these examples.
        features_mask, labels_mask : array, optional
            As for `DataSet`. The activations are multiplied by the labels' mask; without one, those of layers that
            mask by the features'.

        Raises
        ------
        ShapeError
            The features or a mask do not fit the network.
        """
        return self._single_output(x, train, features_mask, labels_mask)

    def rnn_time_step(self, x: object) -> Array:
        """Return the last layer's activations for the next time steps of series, and store the state after them.

        Parameters
        ----------
        x : array ``[N, C]`` or ``[N, C, T]``
            One time step of every series, or several. Series begin with the first piece after
            `rnn_clear_previous_state`, and where no state is stored.

        Returns
        -------
        array ``[N, n_out]`` or ``[N, n_out, T]``
            Of one step as that came.

        Raises
        ------
        ShapeError
            x does not fit the network, or has another number of examples than the pieces before.
        ConfigurationError
            A layer looks at later time steps, as Bidirectional does.

        Notes
        -----
        Outside of training, and without masks, as in Java. A network without a state computes what `output` does.
        Source: DL4J ``MultiLayerNetwork.rnnTimeStep``.
        """
        return self._step_outputs(unmasked_inputs_of(self, "rnn_time_step", (x,)))[0]

    @checked
    def rnn_activate_using_stored_state(
        self, x: object, training: bool = False, store_last_for_tbptt: bool = False
    ) -> list[Array]:
        """Return ``[x, activations of layer 0, of layer 1, ...]``, new arrays; series go on from the stored state.

        Parameters
        ----------
        x : array ``[N, C, T]`` or ``[N, C]``
        training : bool
        store_last_for_tbptt : bool
            Keep the state behind x for `update_rnn_state_with_tbptt_state`. The stored one stays in any case.

        Notes
        -----
        Source: DL4J ``MultiLayerNetwork.rnnActivateUsingStoredState``. Differs: LSTM and SimpleRnn of Java begin at
        zeros, whatever rnnTimeStep has stored.
        """
        self.engine.check_made()
        xs = unmasked_inputs_of(self, "rnn_activate_using_stored_state", (x,))
        with self.lock, Restoring(), self.engine.on_backend(), self.backend.quiet(), nd.random.drawing(self.random):
            features, passed = self._pass_from_stored(xs, training, store_last_for_tbptt)
            formats = self.conf.formats
            arrays = (*map(outward, features, formats.inputs), *map(outward, passed.outputs, formats.behind))
            return [nd.copy(array) for array in arrays]

    @checked
    def feed_forward(self, x: Any = None, train: bool = False) -> list[Array]:
        """Return ``[x, activations of layer 0, of layer 1, ...]``, new arrays.

        Without x of the minibatch that `set_input` has set; ``feed_forward(True)`` is that in training, as in Java.
        """
        return self.feed_forward_to_layer(len(self.conf.layers) - 1, x, train)

    @checked
    def feed_forward_to_layer(self, layer: int, x: Any = None, train: bool = False) -> list[Array]:
        """Return ``[x, activations of layer 0, ..., of that layer]``, new arrays.

        Without x of the minibatch that is set; ``feed_forward_to_layer(0, True)`` is that in training, as in Java.

        Raises
        ------
        ConfigurationError
            There is no such layer, or no minibatch.
        """
        if isinstance(x, bool):  # Java's (train) and (train, clear the input)
            x, train = None, x
        if x is None:
            x = self.get_input()
            if x is None:
                raise nd.ConfigurationError("feed_forward: features must be given, or set_input come first, got none.")
        if not 0 <= layer < len(self.layers):
            raise nd.ConfigurationError(f"feed_forward_to_layer: layer must be 0..{len(self.layers) - 1}, got {layer}.")
        features, masks = inputs_of(self, "feed_forward", (x,))
        batch = self.engine.batch.another(nd.fresh_buffers(self.dtype))
        if train:
            self.engine.drawn_before = self.random.copy()
        with self.lock, Restoring(), self.engine.on_backend(), self.backend.quiet(), nd.random.drawing(self.random):
            batch.set_features(features)
            batch.set_masks(masks, ())
            batch.check_features()
            passed = self._forward(batch.features, train, batch.features_masks, stop=layer + 1)
            outputs = map(
                outward, (*batch.features, *passed.outputs), (*self.conf.formats.inputs, *self.conf.formats.behind)
            )
            return [nd.copy(activations) for activations in outputs]

    def calculate_gradients(
        self, features: object, labels: object, features_mask: object = None, labels_mask: object = None
    ) -> Pair:
        """Return the gradient, as `gradient` does, and that of the features, ``[N, ...]``, both sums over examples."""
        self.set_input(features)
        self.set_labels(labels)
        self.set_masks(features_mask, labels_mask)
        (epsilon,) = self._gradients_of_set()
        return Pair(self.gradient(), epsilon)

    def backprop_gradient(self, epsilon: object, workspace_manager: object = None) -> Pair:
        """Backpropagate an external epsilon through the network, for the minibatch of `set_input` or `feed_forward`.

        Parameters
        ----------
        epsilon : array of the activations' shape
            dL/d(activations of the last layer).
        workspace_manager : object
            Java's; not used.

        Returns
        -------
        gradient : DefaultGradient
            As `gradient`, sums over examples. `update` of ``get_updater()`` turns it into the update to subtract.
        epsilon : array ``[N, ...]``
            dL/d(features).

        Notes
        -----
        Dropout and weight noise are those of the last `feed_forward` in training. Source: DL4J
        ``MultiLayerNetwork.backpropGradient``.
        """
        (of_features,) = self._backpropagated([epsilon])
        return Pair(self.gradient(), of_features)

    def _layer_keys(self) -> Sequence[int]:
        return range(len(self.conf.layers))

    def _node_names(self) -> list[str]:
        return self.layer_names

    def _checked_node(self, who: str, name: int | str) -> int:
        names = self.layer_names
        known = isinstance(name, str)
        return (
            names.index(nd.checks.check_choice(who, "layer", name, names)) if known else self._checked_layer(who, name)
        )

    def _checked_layer(self, who: str, layer: object) -> int:
        count = len(self.conf.layers)
        try:
            number: int = INTEGER.convert(layer)
        except Refused:
            number = -1
        if not 0 <= number < count:
            raise nd.ConfigurationError(f"{who}: layer must be 0..{count - 1}, got {layer!r}.")
        return number

    @checked
    def summary(self, *input_types: InputType | None) -> str:
        """Return a table: layer, type, shapes in and out, bytes of activations, parameters and their bytes, and totals.

        A type of the input stands in for one that the configuration does not have.
        """
        from .summaries import summary_of_chain

        return summary_of_chain(self.conf, [kind for kind in input_types if kind is not None])
