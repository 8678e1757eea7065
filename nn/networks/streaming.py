"""Series in pieces: a network goes on from the state that the piece before has left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import nd
from nd.arguments import shown
from nd.checks import describe_shape
from nd.state import Restoring
from nd.typing import Array

from ..step.worker import StepInput
from ..terms.data_formats import outward
from .core import NetworkCore
from .features_check import FeaturesCheck
from .minibatch import Minibatch

if TYPE_CHECKING:
    from ..step.nodes import Node
    from ..step.propagation import ForwardPass

State = tuple[Array, ...]


class Streaming(NetworkCore):
    """Predictions for series that come in pieces, and the state that is stored between them.

    Notes
    -----
    `output`, `score` and evaluations neither read nor change the stored state; `fit` clears it where it trains by
    truncated backprop, as in Java. Copies and pickles have it, clones and files have none: keep what
    `rnn_get_previous_states` returns. Differs: in Java evaluations clear it, too, where backprop is truncated.
    """

    if TYPE_CHECKING:  # of every kind of network

        def _checked_layer(self, who: str, layer: object) -> int: ...

    # ---- steps

    def _step_outputs(self, xs: Sequence[object]) -> tuple[Array, ...]:
        """Return what `rnn_time_step` of any network returns, new arrays; store the state."""
        engine = self.engine
        with engine.lock, Restoring(), engine.on_backend():
            batch, are_steps = self._set_pieces("rnn_time_step", xs)
            step = batch.step_without_labels(self._stored_for)
            outputs, state = engine.outputs.outputs(step, keeps_state=True)
            if state:
                engine.stored = state
            if are_steps:
                outputs = tuple(out[:, :, 0] if out.ndim == 3 and out.shape[2] == 1 else out for out in outputs)
            return tuple(map(outward, outputs, self.conf.formats.outputs)) if any(batch.labels_last) else outputs

    def _set_pieces(self, who: str, xs: Sequence[Any]) -> tuple[Minibatch, bool]:
        """Return a minibatch of such features, and whether each of them was a single step, or no series."""
        engine = self.engine
        engine.shared_nodes.check_reads_no_later_steps(who)
        batch = engine.piece
        if batch is None:
            accepts = [FeaturesCheck(self.conf, number, True) for number in range(len(self.conf.input_names))]
            batch = engine.piece = engine.batch.another(nd.Buffers(self.dtype), accepts)
        if len(xs) == len(batch.accepts):  # else it says so
            # indices stay as they are, for the check of those that lie on the host
            xs = [
                x if accepts.rows is not None else nd.as_array(x, self.dtype)
                for x, accepts in zip(xs, batch.accepts, strict=True)
            ]
            for x, accepted in zip(xs, batch.accepts, strict=True):
                if accepted.rows is None:  # NaN in one step would be in the state of all that follow
                    nd.checks.check_finite(who, x)
            are_steps = all(x.ndim == 2 for x in xs)
            xs = [_as_series(x, accepts) for x, accepts in zip(xs, batch.accepts, strict=True)]
        batch.set_features(xs)
        return batch, are_steps

    def _stored_for(self, features: Sequence[Array]) -> State:
        """Return the state to go on from: the stored one, and where none is stored that of the start of series."""
        stored, shared = self.engine.stored, self.engine.shared_nodes
        if stored is None:
            return shared.initial_state(features)
        missing = False
        for (node, place), rows in zip(shared.stateful, shared.rows_of_states(features), strict=True):
            array = stored[place.start]
            missing = missing or array is None
            if array is not None and array.shape[0] != rows:
                raise nd.ShapeError(
                    f"{node.layer.label}: expected {array.shape[0]} examples, as the stored state is of so many, got "
                    f"{rows}. Call rnn_clear_previous_state() before other series."
                )
        if not missing:
            return stored  # type: ignore[return-value]
        start = shared.initial_state(features)
        return tuple(first if array is None else array for first, array in zip(start, stored, strict=True))

    def _pass_from_stored(self, xs: Sequence[object], training: bool, keep: bool) -> tuple[list[Array], ForwardPass]:
        """Return features, and the pass of `rnn_activate_using_stored_state` of any network, in the nodes' memory."""
        batch, _ = self._set_pieces("rnn_activate_using_stored_state", xs)
        engine, step = self.engine, batch.step_without_labels(self._stored_for)
        engine.shared_nodes.at(self.iteration_count, self.epoch_count)
        passed = engine.propagation.forward(StepInput(step.features, state=step.state), training)
        if keep:
            engine.left = tuple(map(nd.copy, passed.state))
        return list(step.features), passed

    # ---- the stored state

    def rnn_clear_previous_state(self) -> None:
        """Forget the stored state: the next `rnn_time_step` begins series."""
        engine = self.engine
        engine.stored = engine.left = None

    def rnn_get_previous_state(self, layer: int | str) -> dict[str, Array]:
        """Return the stored state of a layer, copies by name: Java's "prevAct", h, and of an LSTM "prevMem", c.

        Empty where none is stored. A layer is called by its number, or its name.

        Raises
        ------
        ConfigurationError
            There is no such layer, or it carries no state.
        """
        node, place = self._place_of("rnn_get_previous_state", layer)
        with self.lock, Restoring(), self.engine.on_backend():
            kept = self.engine.stored
            stored = () if kept is None else kept[place]
            return {
                name: nd.copy(array) for name, array in zip(_names_of(node), stored, strict=False) if array is not None
            }

    def rnn_get_previous_states(self) -> dict[str, dict[str, Array]]:
        """Return the stored states of all layers that carry one, by their names; empty where none is stored."""
        if self.engine.stored is None:
            return {}
        return {name: self.rnn_get_previous_state(name) for name in self._stateful()}

    def rnn_set_previous_state(self, layer: int | str, state: Mapping[str, object]) -> None:
        """Store copies of arrays as the state of a layer; other layers keep theirs, or begin series.

        Parameters
        ----------
        layer : int or str
        state : dict of str -> array ``[N, ...]``
            As `rnn_get_previous_state` returns it. An empty one is that of the start of series.

        Raises
        ------
        ConfigurationError
            There is no such layer, or it carries no state.
        ChoiceError, ShapeError
            A name or a shape is another one.
        """
        node, place = self._place_of("rnn_set_previous_state", layer)
        engine = self.engine
        with engine.lock, Restoring(), engine.on_backend():
            own = self._checked_state("rnn_set_previous_state", node, state)
            stored: list[Array | None] = list(engine.stored or (None,) * engine.shared_nodes.states)
            stored[place] = own or (None,) * node.states
            engine.stored = None if all(array is None for array in stored) else tuple(stored)

    def rnn_set_previous_states(self, states: Mapping[str, Mapping[str, object]]) -> None:
        """Store the states of layers by their names, as `rnn_get_previous_states` returns them; others begin series."""
        if not isinstance(states, Mapping):
            raise nd.DTypeError(
                f"rnn_set_previous_states: states must be a dict of layer -> dict of arrays, got {shown(states)}. Give "
                "what rnn_get_previous_states returned."
            )
        engine = self.engine
        before, engine.stored = engine.stored, None
        try:
            for layer, state in states.items():
                self.rnn_set_previous_state(layer, state)
        except nd.NdError:
            engine.stored = before
            raise

    def update_rnn_state_with_tbptt_state(self) -> None:
        """Store the state that `rnn_activate_using_stored_state` has left with ``store_last_for_tbptt=True``."""
        engine = self.engine
        engine.check_made()
        engine.stored, engine.left = engine.left, None

    # ---- layers with a state

    def _stateful(self) -> dict[str, tuple[Node, slice]]:
        """Return the nodes that carry a state by their layers' names, each with its place in the state of all."""
        stateful, confs = self.engine.shared_nodes.stateful, self.conf.nodes
        return {
            getattr(confs[node.position].conf, "name", None) or node.name: (node, place) for node, place in stateful
        }

    def _place_of(self, who: str, layer: int | str) -> tuple[Node, slice]:
        """Return a layer's node and its place in the state of all nodes."""
        found = self._stateful()
        if isinstance(layer, str) and layer in found:
            return found[layer]
        number = self._checked_layer(who, layer)
        for node, place in found.values():
            if node.position == number:
                return node, place
        raise nd.ConfigurationError(
            f"{who}: layer must be one that carries a state, {list(found) or 'of which there is none'}, got "
            f"{self.engine.shared_nodes.nodes[number].layer.label}."
        )

    def _checked_state(self, who: str, node: Node, state: Mapping[str, object]) -> State:
        """Return copies of a layer's arrays in its order, none of none; raise unless they fit the layer."""
        label, names = f"{who}: {node.layer.label}", _names_of(node)
        if not isinstance(state, Mapping):
            raise nd.DTypeError(f"{label}: state must be a dict of arrays {list(names)}, got {shown(state)}.")
        if not state:
            return ()
        for name in state:
            nd.checks.check_choice(label, "state", name, names)
        missing = [name for name in names if name not in state]
        if missing:
            raise nd.ChoiceError(f"{label}: state must have {list(names)}, got none for {missing}. Give all of them.")
        arrays = tuple(nd.copy(nd.as_array(state[name], self.dtype)) for name in names)
        examples = arrays[0].shape[0] if arrays[0].ndim else 0
        for name, array, like in zip(names, arrays, node.layer.initial_state(examples or 1), strict=True):
            if array.shape != like.shape:
                raise nd.ShapeError(
                    f"{label}: {name} must be {describe_shape(('N', *like.shape[1:]))}, got "
                    f"{describe_shape(array.shape)}; with several arrays N is one."
                )
        return arrays


def _names_of(node: Node) -> tuple[str, ...]:
    layer = node.layer
    while not layer.state_names and hasattr(layer, "layer"):  # around another one
        layer = layer.layer
    given: tuple[str, ...] = layer.state_names
    return given if len(given) == node.states else tuple(f"state{number}" for number in range(node.states))


def _as_series(x: Array, accepts: FeaturesCheck) -> Array:
    """Return features ``[N, C]`` of an input of series as a series of one step; indices are ``[N, T]`` already."""
    if x.ndim != 2 or not accepts.series or accepts.rows is not None:
        return x
    return x[:, None, :] if accepts.last else x[:, :, None]
