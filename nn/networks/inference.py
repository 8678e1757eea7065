"""Outside of training: predictions, activations, evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVarTuple, overload

import nd
from nd.arguments import Count, Natural, checked, converted, shown
from nd.dataset import DataSet
from nd.dataset.examples import Examples
from nd.dataset.iterator import MinibatchIterator
from nd.rules import SWITCH, rule_of
from nd.state import Restoring
from nd.typing import Array

from ..conf.output_layers import check_classifier
from ..terms.data_formats import inward, outward
from .core import NetworkCore
from .intake import feature_batches, inputs_of, minibatches

if TYPE_CHECKING:
    from nd.dataset.multi_data_set import MultiDataSet
    from nd.evaluation import ROC, Evaluation, IEvaluation, RegressionEvaluation, ROCMultiClass

Evaluations = TypeVarTuple("Evaluations")
_HALF = 0.5
_NAMES: Any = rule_of(Sequence[str])
_STEPS: Any = rule_of(Natural)


class Inference(NetworkCore):
    """Outside of training: predictions, activations, evaluation."""

    def _predicted(
        self,
        xs: Sequence[object],
        train: bool = False,
        features_masks: Sequence[object] = (),
        labels_masks: Sequence[object] = (),
    ) -> tuple[Array, ...]:
        """Return the activations of every output for features of every input, new arrays: `output` of any network."""
        if type(train) is not bool:
            train = converted("output", "train", SWITCH, train, False)
        engine = self.engine
        if not train:
            return engine.predicted(xs, features_masks, labels_masks)
        with engine.lock, Restoring(), engine.on_backend(), nd.random.drawing(self.random):
            batch, shared = engine.features_of(xs, features_masks, labels_masks), engine.shared_nodes
            step = batch.step_without_labels(shared.initial_state)
            shared.at(self.iteration_count, self.epoch_count)
            outputs = engine.propagation.output(step, training=True)
            return tuple(
                outward(nd.copy(array), name) for array, name in zip(outputs, self.conf.formats.outputs, strict=True)
            )

    def _single_output(
        self, x: object, train: bool = False, features_mask: object = None, labels_mask: object = None
    ) -> Array:
        """Return the first output's activations, for features as `output` takes them."""
        return self._outputs_for("output", (x,), train, one_or_none(features_mask), one_or_none(labels_mask))[0]

    def _outputs_for(
        self,
        who: str,
        given: Sequence[object],
        train: bool,
        features_masks: Sequence[object],
        labels_masks: Sequence[object],
    ) -> Sequence[Array]:
        """Return every output for features as `inputs_of` takes them, or for the minibatches of an iterable."""
        if given and all(map(nd.is_array, given)):  # the usual case, in no time
            return self._predicted(given, train, features_masks, labels_masks)
        batches = feature_batches(given[0]) if len(given) == 1 else None
        if batches is None:
            xs, masks = inputs_of(self, who, given)
            return self._predicted(xs, train, features_masks or masks, labels_masks)
        parts = [self._outputs_for(who, (batch,), train, (), ()) for batch in batches]
        if not parts:
            raise nd.DataError(f"{who}: the iterator must have at least one minibatch, got none.")
        with Restoring(), self.engine.on_backend():
            return [nd.concat(list(arrays)) for arrays in zip(*parts, strict=True)]

    @overload
    def predict(self, x: DataSet) -> list[str]: ...
    @overload
    def predict(self, x: Any) -> Array: ...
    def predict(self, x: object) -> Array | list[str]:
        """Return the most probable class of each example, ``[N]`` integers; of each place, ``[N, H, W]``.

        Of a DataSet the names of the classes, as `predict_labels`.
        """
        if isinstance(x, DataSet):
            if self.class_names is None:
                raise nd.ConfigurationError(
                    "predict: of a DataSet the names of the network's classes are returned, which must be known, got "
                    "none. Set network.class_names = [...] in the order of its outputs, or call "
                    "predict(data.features) for the numbers of the classes."
                )
            return self.predict_labels(x)
        out = self._single_output(x)
        with Restoring(), self.engine.on_backend():
            return nd.argmax(inward(out, self.conf.formats.outputs[0]), 1)

    @property
    def class_names(self) -> tuple[str, ...] | None:
        """Names of the classes in the order of the outputs: set them, or `fit` learns them from labels that are texts.

        They are kept in model files, and shown by evaluations.
        """
        return self.engine.classes.names

    @class_names.setter
    def class_names(self, names: Sequence[str] | None) -> None:
        self.engine.classes.names = names

    def predict_labels(self, x: object) -> list[str]:
        """Return the name of the most probable class of each example; a single output is class 1 above 0.5.

        Raises
        ------
        ConfigurationError
            The names are not known, or the last layer has no classes of examples.
        """
        return self._named_classes(self._single_output(x), self.class_names)

    def _named_classes(self, out: Array, names: Sequence[str] | None) -> list[str]:
        if names is None or self.engine.classes.rank > 2:
            raise nd.ConfigurationError(
                "predict_labels: the names of the classes must be known, got none. Train with labels that are texts, "
                "or set network.class_names."
            )
        rows = nd.to_host(out).tolist()
        return [names[row[0] > _HALF if len(row) == 1 else row.index(max(row))] for row in rows]

    @checked
    def evaluate(self, data: object, labels: object = None, top_n: Count = 1, *, output: object = 0) -> Evaluation:
        """Compare predictions with labels: of a minibatch, of all minibatches of an iterator, or of arrays.

        Time steps, pixels and voxels count one by one; the features' mask goes through the network, and what the
        labels' mask leaves out does not count. `labels` beside features are as for `fit`; beside a DataSet or an
        iterator they are the names of the classes, for the report, which else has those that the data or the network
        know. With `top_n` a label among so many most probable classes counts as right for `top_n_accuracy`. `output`
        is the name or the number of a ComputationGraph's output.

        Raises
        ------
        ConfigurationError
            The output's layer gives no probabilities, and the configuration says to look.
        DataError
            The iterator is empty, labels are missing, or masks leave none of them.
        """
        number = self._check_classifier("evaluate", output)
        names, labels = self._report_names(number, data, labels)
        names = names or self.classes_of[number].names
        counting = nd.evaluation.Evaluation(list(names) if names else None, top_n)
        self._evaluate("evaluate", data, labels, {number: [counting]})
        if not counting.num_row_counter:
            raise nd.DataError("evaluate: the masks must leave labels to compare with, got none that count.")
        return counting

    def _report_names(self, number: int, data: object, labels: object) -> tuple[Sequence[str] | None, object]:
        """Return names of the classes for the report, which stand in the place of labels that the data bring."""
        if labels is None or not _brings_labels(data):
            return None, labels
        names, known = converted("evaluate", "labels", _NAMES, labels), self.classes_of[number].names
        if known is not None and list(names) != list(known) and set(names) == set(known):
            raise nd.ConfigurationError(
                f"evaluate: labels beside a data set are the names of the network's outputs, {list(known)}, got "
                f"{list(names)}. Leave them out."
            )
        return names, None

    @checked
    def evaluate_regression(
        self, data: object, labels: object = None, column_names: Sequence[str] | None = None, *, output: object = 0
    ) -> RegressionEvaluation:
        """Compare outputs with labels column by column; errors as `evaluate`.

        `column_names` are for the report, and may stand in the place of `labels` that the data bring, as in Java.
        """
        if column_names is None and labels is not None and _brings_labels(data):
            column_names, labels = converted("evaluate_regression", "column_names", _NAMES, labels), None
        regression = nd.evaluation.RegressionEvaluation(column_names)
        number = self._output_number("evaluate_regression", output)
        self._evaluate("evaluate_regression", data, labels, {number: [regression]})
        return regression

    @checked
    def evaluate_roc(
        self, data: object, labels: object = None, threshold_steps: Natural = 0, *, output: object = 0
    ) -> ROC:
        """Return the ROC of an output with one or two columns, exact with 0 steps; errors as `evaluate`.

        One number in the place of `labels` that the data bring is `threshold_steps`, as in Java.
        """
        labels, steps = _steps("evaluate_roc", labels, threshold_steps)
        roc = nd.evaluation.ROC(steps)
        self._evaluate("evaluate_roc", data, labels, {self._check_classifier("evaluate_roc", output): [roc]})
        return roc

    @checked
    def evaluate_roc_multi_class(
        self, data: object, labels: object = None, threshold_steps: Natural = 0, *, output: object = 0
    ) -> ROCMultiClass:
        """Return the ROC of every class against the rest; arguments and errors as `evaluate_roc`."""
        labels, steps = _steps("evaluate_roc_multi_class", labels, threshold_steps)
        roc = nd.evaluation.ROCMultiClass(steps)
        number = self._check_classifier("evaluate_roc_multi_class", output)
        self._evaluate("evaluate_roc_multi_class", data, labels, {number: [roc]})
        return roc

    @overload
    def do_evaluation(
        self, data: object, evaluations: Mapping[str | int, IEvaluation | Sequence[IEvaluation]], /
    ) -> tuple[IEvaluation, ...]: ...
    @overload
    def do_evaluation(self, data: object, *evaluations: *Evaluations) -> tuple[*Evaluations]: ...
    def do_evaluation(self, data: object, *evaluations: Any) -> tuple[Any, ...]:  # type: ignore[misc]  # mypy: *Ts
        """Show the predictions for all minibatches to several evaluations, in one pass.

        Parameters
        ----------
        data : DataSet or MultiDataSet, (features, labels), or iterable of them
        *evaluations : IEvaluation
            Of the first output; or one dict of an output's name or number -> IEvaluation, or several of them. They
            are added to, and returned.

        Raises
        ------
        DataError
            The iterator is empty, or labels are missing.
        """
        of_outputs: dict[int, list[object]] = {0: list(evaluations)}
        if len(evaluations) == 1 and isinstance(evaluations[0], Mapping):
            of_outputs = {
                self._output_number("do_evaluation", output): [*several] if isinstance(several, Iterable) else [several]
                for output, several in evaluations[0].items()
            }
        self._evaluate("do_evaluation", data, None, of_outputs)
        return tuple(evaluation for several in of_outputs.values() for evaluation in several)

    def _output_number(self, who: str, output: object) -> int:
        """Return the number of an output, given by number or name; raise ChoiceError if there is none."""
        nodes = self.conf.nodes
        names = [nodes[number].name for number in self.conf.output_nodes]
        if type(output) is int and 0 <= output < len(names):
            return output
        if isinstance(output, str):
            return names.index(nd.checks.check_choice(who, "output", output, names))
        raise nd.ChoiceError(f"{who}: output must be 0..{len(names) - 1} or one of {names}, got {shown(output)}.")

    def _check_classifier(self, who: str, output: object) -> int:
        number = self._output_number(who, output)
        if self.conf.base.validate_output_layer_config:
            node = self.conf.nodes[self.conf.output_nodes[number]]
            check_classifier(who, node.label, node.conf)
        return number

    def _evaluate(self, who: str, data: object, labels: object, of_outputs: Mapping[int, Sequence[object]]) -> None:
        self.engine.check_made()
        for evaluation in (one for several in of_outputs.values() for one in several):
            if isinstance(evaluation, type) or not hasattr(evaluation, "eval"):
                name = evaluation.__name__ if isinstance(evaluation, type) else type(evaluation).__name__
                raise nd.DTypeError(f"{who}: expected evaluations, as Evaluation() makes one, got {name}.")
        count = 0
        with Restoring(), self.engine.on_backend():
            for batch in minibatches(self, who, data, labels):
                with naming_nan(who, self, batch):
                    self._show_outputs(batch, of_outputs)
                count += 1
        if not count:
            raise nd.DataError(f"{who}: the iterator must have at least one minibatch, got none.")

    def _show_outputs(self, batch: DataSet | MultiDataSet, of_outputs: Mapping[int, Sequence[Any]]) -> None:
        """Show the outputs for a minibatch, computed once, to all evaluations."""
        parts, outputs = batch.multi, self.engine.outputs_of(batch)
        for number, evaluations in of_outputs.items():
            classes = self.classes_of[number]
            mask = parts.labels_masks[number] if parts.labels_masks else None
            seen = classes.compared(parts.labels[number], nd.to_host(outputs[number]), mask)
            for evaluation in evaluations:
                evaluation.eval(*seen)


def one_or_none(mask: object) -> Sequence[object]:
    """Return the masks of a network with one input or output."""
    return () if mask is None else (mask,)


def _brings_labels(data: object) -> bool:
    return isinstance(data, (Examples, MinibatchIterator))


def _steps(who: str, labels: object, threshold_steps: int) -> tuple[Any, int]:
    """Return labels and steps, where a number in the place of the labels is the steps."""
    if isinstance(labels, (int, float)):
        return None, converted(who, "threshold_steps", _STEPS, labels)
    return labels, threshold_steps


@contextmanager
def naming_nan(who: str, network: NetworkCore, data: Any) -> Iterator[None]:
    """Raise DataError in the place of the NumericError of predictions, where the features of data are not finite."""
    try:
        yield
    except nd.NumericError as error:
        from .finiteness import place_of_nan  # which programs without NaN do not need

        with Restoring(), network.engine.on_backend():
            place = place_of_nan("features", data.multi.features, network.dtype)
        if not place:
            raise
        raise nd.DataError(f"{who}: features must be finite, got {place}. Clean the data.") from error
