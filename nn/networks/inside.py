"""The inside of a network, for programs: parameters, scores of examples, gradients of their own errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import nd
from nd.arguments import Count, checked
from nd.classes import ExplainedType
from nd.execution.recording import mapped
from nd.java_names import Pair
from nd.state import Restoring
from nd.typing import Array
from optimize import L1Regularization, L2Regularization, Regularization
from optimize.step import StepResult, update_alone

from ..conf.nodes import Source
from ..step.nodes import NETWORK_INPUT
from ..step.propagation import loss_mask
from ..step.worker import StepInput, copied
from ..terms.data_formats import inward, outward
from .gradient import DefaultGradient
from .inference import Inference
from .intake import minibatch, minibatches

if TYPE_CHECKING:
    from ..conf.network import NeuralNetConfiguration
    from ..step.keeping import KeptArrays


class Inside(Inference):
    """The pieces of `fit` and `output`, for programs that go step by step."""

    @property
    def default_configuration(self) -> NeuralNetConfiguration:
        """The settings of the network as a whole, with the defaults of its layers."""
        return self.conf.base

    # ---- parameters

    @checked
    def set_param(self, key: str, value: object) -> None:
        """Copy an array into one parameter, ``"0_W"``.

        Raises
        ------
        ChoiceError, ShapeError
            There is no such parameter, or it has another shape.
        """
        table = self.param_table()
        view = table[nd.checks.check_choice("set_param", "parameter", key, table)]
        with Restoring(), self.engine.on_backend():
            value = nd.as_array(value, self.dtype)
            if tuple(value.shape) != tuple(view.shape):
                raise nd.ShapeError(f"set_param: {key} must be {list(view.shape)}, got {list(value.shape)}.")
            nd.assign(view, value)

    @checked
    def set_param_table(self, table: Mapping[str, object]) -> None:
        """Copy arrays into the parameters of these names; errors as `set_param`."""
        for key, value in table.items():
            self.set_param(key, value)

    # ---- scores

    @checked
    def score_examples(self, data: object, labels: Any = None, add_regularization_terms: bool = True) -> Array:
        """Return the score of each example, ``[N, 1]``, outside of training; those of several outputs are added.

        Parameters
        ----------
        data, labels
            As `score` takes them; a bool in the place of the labels is `add_regularization_terms`, as in Java.
        add_regularization_terms : bool
            Add the penalties, undivided, to the score of each example.
        """
        if isinstance(labels, bool):
            labels, add_regularization_terms = None, labels
        self._check_losses()
        penalty = self.calc_regularization_score() if add_regularization_terms else 0.0
        scores = [self._scores_of(batch, penalty) for batch in minibatches(self, "score_examples", data, labels)]
        if not scores:
            raise nd.DataError("score_examples: the iterator must have at least one minibatch, got none.")
        with Restoring(), self.engine.on_backend():
            return scores[0] if len(scores) == 1 else nd.concat(scores)

    def _scores_of(self, data: object, penalty: float) -> Array:
        total: Array | Any = penalty
        with self.lock, Restoring(), self.engine.on_backend(), nd.random.drawing(self.random):
            step = self.engine.other_step(data)
            passed = self._forward(step.features, False, step.features_masks)
            for output, number in enumerate(self.conf.output_nodes):
                mask, layer = loss_mask(step, passed, output, number), self.layers[number]
                total = nd.add(layer.score_array(step.labels[output], passed.kept[number], mask), total)
            return nd.reshape(total, (-1, 1))

    @checked
    def calc_regularization_score(self, backprop_params_only: bool = True) -> float:
        """Return the sum of the penalties on the parameters, by default on those that training on labels changes."""
        self.engine.check_made()
        if not backprop_params_only:
            return self._penalty_by(Regularization, False)
        with Restoring(), self.engine.on_backend():
            penalty = self.engine.vectors.penalty_sum.at(self.iteration_count, self.epoch_count)
            return float(nd.item(nd.as_array(penalty)))

    @checked
    def calc_l1(self, backprop_params_only: bool = True) -> float:
        """Return the part of the penalties that is L1's."""
        return self._penalty_by(L1Regularization, backprop_params_only)

    @checked
    def calc_l2(self, backprop_params_only: bool = True) -> float:
        """Return the part of the penalties that is L2's; weight decay has its own."""
        return self._penalty_by(L2Regularization, backprop_params_only)

    def _penalty_by(self, kind: type[Regularization], backprop_params_only: bool) -> float:
        with Restoring(), self.engine.on_backend():
            every = self.engine.vectors.all_penalties(backprop_params_only)
            penalties = [(flat, penalty) for flat, penalty in every if isinstance(penalty, kind)]
            counts = self.iteration_count, self.epoch_count
            scores = (penalty.score(flat, penalty.at(*counts)) for flat, penalty in penalties)
            return sum((nd.item(nd.as_array(score)) for score in scores), 0.0)

    def f1_score(self, data: object, labels: object = None) -> float:
        """Return the F1 score of the first output on a minibatch, or features and labels; masks have no part in it."""
        evaluation = nd.evaluation.Evaluation()
        for batch in minibatches(self, "f1_score", data, labels):
            parts = batch.multi
            with Restoring(), self.engine.on_backend():
                output = nd.to_host(self._predicted(parts.features)[0])
                seen = self.engine.classes.compared(parts.labels[0], output, None)
                evaluation.eval(*seen[:2])
        return evaluation.f1()

    def gradient_and_score(self) -> Pair:
        """Return the gradient and the score of the last minibatch."""
        return Pair(self.gradient(), self.score())

    # ---- steps

    @checked
    def step_input(self, data: object, labels: object = None, shards: Count | None = None) -> StepInput:
        """Return a copy of a minibatch as `compute_gradient_and_score` takes it.

        `data` and `labels` as in `fit_batch`, `shards` as in `fit`; what does not fit the layers is said where it is
        computed.
        """
        self._check_losses()
        engine, learn = self.engine, self.iteration_count == 0
        with Restoring(), engine.on_backend():
            step = engine.other_step(minibatch(self, "step_input", data, labels, learn))
            return engine.carrying(step.with_arrays(copied(step.arrays)).in_shards(shards or 0), 0)

    @checked
    def keep(self, *names: int | str) -> None:
        """Keep the activations and epsilons of these layers and vertices, from the next step on; others' no longer.

        Without names nothing is kept; the next step gives the memory back. The numbers stay what they are, to the bit.

        Parameters
        ----------
        *names : int or str
            A layer's number or name, in a graph also a vertex's.

        Raises
        ------
        ConfigurationError, ChoiceError
            There is no such one.

        Examples
        --------
        ::

            net.keep("conv1")
            net.fit(x, y)
            activation, epsilon = net.kept("conv1")
        """
        engine = self.engine
        engine.check_made()
        numbers = sorted({self._checked_node("keep", name) for name in names})
        with engine.lock:
            engine.shared_nodes.keeps = tuple(self.conf.nodes[number].name for number in numbers)
            engine.gradients.forget()
            engine.last = None if engine.last is None else engine.last._replace(kept={})

    @checked
    def kept(self, name: int | str) -> KeptArrays:
        """Return the activation ``[N, ...]`` of a layer or vertex in the last step, and dL/d(activation): new arrays.

        The epsilon is that of the summed loss, to the layer of an output what its readers send; None where nothing
        comes back. Of several minibatches, or segments of one, they are those of the last; of several outputs of a
        vertex those of the first.

        Raises
        ------
        ConfigurationError
            It has not been kept.
        """
        self.engine.check_made()
        number = self._checked_node("kept", name)
        node, data_format = self.conf.nodes[number], self.conf.formats.behind[number]
        with self.lock, Restoring(), self.engine.on_backend():
            last = self.engine.last
            arrays = None if last is None else last.kept.get(node.name)
            if arrays is None:
                raise nd.ConfigurationError(
                    f"kept: {node.label} must be kept while a step runs, got nothing from the last one. Call "
                    f"net.keep({name!r}) before fit."
                )
            return mapped(lambda array: None if array is None else outward(nd.copy(array), data_format), arrays)

    def _checked_node(self, who: str, name: int | str) -> int:
        """Return the number of a layer or vertex; raise ConfigurationError or ChoiceError if there is no such one."""
        raise NotImplementedError

    def _gradients_of_set(self) -> tuple[Array | None, ...]:
        """Compute the gradient of the minibatch that is set; return dL/d(features) of every input, new arrays."""
        self._check_losses()
        engine = self.engine
        step = engine.batch.step()
        with engine.lock, Restoring(), engine.on_backend(), nd.random.drawing(self.random):
            passed = self._forward(step.features, True, step.features_masks)
            loss, deltas, epsilons = engine.propagation.losses_of(step, passed)
            left = engine.propagation.backward(passed, deltas, epsilons, to_input=True)
            penalty = engine.vectors.penalty_sum.at(self.iteration_count, self.epoch_count)
            gradients, divisor = engine.vectors.gradients, step.examples if self.conf.base.mini_batch else 1
            number = gradients.written((), None)
            engine.last = StepResult(nd.copy(loss), penalty, step.examples, gradients, divisor, number=number)
            return self._of_inputs(left)

    def _of_inputs(self, left: Mapping[Source, Array]) -> tuple[Array | None, ...]:
        """Return copies of what a backward pass has left for the network's inputs."""
        below = [left.get(Source(NETWORK_INPUT - number)) for number in range(len(self.conf.input_names))]
        copies = [None if epsilon is None else nd.copy(epsilon) for epsilon in below]
        return tuple(map(outward, copies, self.conf.formats.inputs))

    def _backpropagated(self, epsilons: Sequence[object]) -> tuple[Array | None, ...]:
        """Take errors of the outputs back, for the minibatch that is set; return dL/d(features), new arrays.

        Dropout and weight noise are those of the last `feed_forward` in training.
        """
        engine = self.engine
        batch, outputs = engine.batch, self.conf.output_nodes
        if not batch.features:
            raise nd.ConfigurationError("backprop_gradient: set_input must come first. Call set_input(features).")
        if len(epsilons) != len(outputs):
            raise nd.ShapeError(f"backprop_gradient: expected {len(outputs)} epsilons, got {len(epsilons)}.")
        random = self.random if engine.drawn_before is None else engine.drawn_before.copy()
        with engine.lock, Restoring(), engine.on_backend(), nd.random.drawing(random):
            passed = self._forward(batch.features, True, batch.features_masks)
            given: dict[Source, Array] = {}
            for number, epsilon in zip(outputs, epsilons, strict=True):
                delta = inward(nd.copy(nd.as_array(epsilon, self.dtype)), self.conf.formats.behind[number])
                out = passed.outputs[number]
                if tuple(delta.shape) != tuple(out.shape):
                    raise nd.ShapeError(
                        f"backprop_gradient: epsilon must be {list(out.shape)}, got {list(delta.shape)}."
                    )
                given[Source(number)] = delta
            return self._of_inputs(engine.propagation.backward(passed, {}, given, to_input=True))

    @checked
    def update(self, gradient: DefaultGradient) -> None:
        """Add a gradient to the parameters that it has, as it is; `gradient` then returns it.

        Source: DL4J ``MultiLayerNetwork.update``.
        """
        table, own = self.param_table(), self.gradient()
        with Restoring(), self.engine.on_backend():
            for key, of_parameter in gradient.gradient_for_variable().items():
                view = table[nd.checks.check_choice("update", "parameter", key, table)]
                target = own.get_gradient_for(key)
                nd.assign(target, nd.reshape(nd.as_array(of_parameter, self.dtype), tuple(view.shape)))
                nd.addi(view, target)

    @checked
    def get_updater(self, initialize_if_absent: bool = True) -> UpdaterOfNetwork:
        """Return the updater as Java's programs use it; `updater` is the one that trains, and is always there."""
        return UpdaterOfNetwork(self)

    def increment_epoch_count(self) -> None:
        """Count an epoch, for own loops; `end_epoch` tells the listeners too."""
        self.epoch_count += 1

    def clear_masks(self) -> None:
        """Forget the masks of the minibatch that is set."""
        self.engine.batch.set_masks((), ())

    def clear(self) -> None:
        """Forget the minibatch that is set."""
        self.engine.batch.clear()


class UpdaterOfNetwork(metaclass=ExplainedType):
    """The updater of a network by itself: the gradient becomes the update that is subtracted from the parameters.

    Examples
    --------
    ::

        gradient, _ = net.backprop_gradient(errors)
        net.get_updater().update(net, gradient, iteration, epoch, examples)
        nd.subi(net.params(), gradient.gradient())

    Notes
    -----
    Source: DL4J ``Updater``.
    """

    def __init__(self, network: Any) -> None:
        self._network = network

    def update(
        self,
        model: Any,
        gradient: DefaultGradient,
        iteration: int,
        epoch: int,
        batch_size: int,
        workspace_manager: Any = None,
    ) -> None:
        """Turn a gradient, a sum over so many examples, into the update, in its memory; the state moves on."""
        network, own = self._network, self._network.flattened_gradients()
        with Restoring(), network.engine.on_backend():
            vector = gradient.gradient()
            if vector is not own:
                nd.assign(own, vector)
            divisor = batch_size if network.conf.mini_batch else 1
            result = StepResult(0.0, 0.0, batch_size, network.engine.vectors.gradients, divisor)
            outcome = network.updater.update(result, iteration, epoch, update_alone)
            if not outcome.taken:
                raise outcome.error
            if vector is not own:
                nd.assign(vector, own)

    @property
    def state_view_array(self) -> Array:
        """The updater's state ``[1, m]``."""
        return self._network.updater_state()
