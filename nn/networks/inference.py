"""Outside of training: predictions, activations, evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import nd
from nd.arguments import Count, Natural, checked, converted, shown
from nd.dataset import DataSet, DataSetIterator
from nd.dataset.iterator import MinibatchIterator
from nd.rules import SWITCH, rule_of
from nd.typing import Array

from ..conf.data_formats import inward, outward
from ..conf.output_layers import check_classifier
from ..step.minibatch import arrays_of, parts_of_data
from .class_labels import paired
from .core import NetworkCore

if TYPE_CHECKING:
    from nd.evaluation import ROC, Evaluation, IEvaluation, RegressionEvaluation, ROCMultiClass

_HALF = 0.5
_NAMES: Any = rule_of(Sequence[str])


class Inference(NetworkCore):
    """Outside of training: predictions, activations, evaluation."""

    def predicted(
        self,
        xs: Sequence[Any],
        train: bool = False,
        features_masks: Sequence[Any] = (),
        labels_masks: Sequence[Any] = (),
    ) -> tuple[Array, ...]:
        """Return the activations of every output for features of every input, new arrays: `output` of any network."""
        self.check_init()
        if type(train) is not bool:
            train = converted("output", "train", SWITCH, train, False)
        with self.lock, self.on_backend():
            # Features in another order than the backend's are copied; what listeners look at must stay as it is.
            batch = self.batch.another(nd.fresh_buffers(self.dtype) if self.watched else self.feature_buffers)
            try:
                batch.set_features(xs)
            except nd.DTypeError as error:
                if all(hasattr(x, "shape") for x in xs) or "masked" in str(error):
                    raise
                raise _no_features(next(x for x in xs if not hasattr(x, "shape"))) from error
            if features_masks or labels_masks:
                batch.set_masks(features_masks, labels_masks)
            step = batch.step_without_labels(self.shared_nodes.initial_state)
            formats = self.conf.formats.outputs
            if not train:
                outputs = self.outputs.outputs(step)
                return tuple(map(outward, outputs, formats)) if any(batch.labels_last) else outputs
            with nd.random.drawing(self.random):
                self.shared_nodes.at(self.iteration_count, self.epoch_count)
                in_training = self.propagation.output(step, training=True, fresh=self.watched)
                return tuple(outward(nd.copy(array), name) for array, name in zip(in_training, formats, strict=True))

    def outputs_of(self, data: Any) -> tuple[Array, ...]:
        """Return the outputs for the features of a minibatch, with their masks."""
        parts = parts_of_data(data)
        return self.predicted(parts.features, False, parts.features_masks)

    def masks_of_outputs(self, data: Any) -> list[Array | None]:
        """Return the masks that reach the outputs from those of a minibatch's features, on the host; None for none."""
        self.check_init()
        with self.on_backend():
            batch = self.batch.another(nd.fresh_buffers(self.dtype))
            parts = parts_of_data(data)
            batch.set_features(parts.features)
            batch.set_masks(parts.features_masks, ())
            masks = self.propagation.masks_behind(batch.features, batch.features_masks)
            hosted = [None if mask is None else nd.to_host(mask) for mask in masks]
            return list(map(outward, hosted, self.conf.formats.outputs))

    def single_output(self, x: Any, train: bool = False, features_mask: Any = None, labels_mask: Any = None) -> Array:
        """Return the first output's activations for ``x [N, ...]``, a list of several inputs, or an iterator."""
        if isinstance(x, DataSetIterator):
            with self.on_backend():
                return nd.concat([self.single_output(batch.features, train, batch.features_mask) for batch in x])
        of_features = () if features_mask is None else (features_mask,)
        of_labels = () if labels_mask is None else (labels_mask,)
        return self.predicted(arrays_of(x, len(self.conf.input_names)), train, of_features, of_labels)[0]

    def predict(self, x: Any) -> Array | list[str]:
        """Return the most probable class of each example, ``[N]`` integers; of each place, ``[N, H, W]``.

        Of a DataSet the names of the classes, as `predict_labels`.
        """
        if isinstance(x, DataSet):
            names = x.class_names or self.class_names
            if names is None:
                raise nd.ConfigurationError(
                    "predict: of a DataSet the names of its classes are returned, which must be known, got none. For "
                    "the numbers of the classes call predict(data.features)."
                )
            return self._named_classes(self.outputs_of(x)[0], names)
        out = self.single_output(x)
        with self.on_backend():
            return nd.argmax(inward(out, self.conf.formats.outputs[0]), 1)

    def predict_labels(self, x: Any) -> list[str]:
        """Return the name of the most probable class of each example; a single output is class 1 above 0.5.

        Raises
        ------
        ConfigurationError
            The names are not known, or the last layer has no classes of examples.
        """
        return self._named_classes(self.single_output(x), self.class_names)

    def _named_classes(self, out: Array, names: Sequence[str] | None) -> list[str]:
        if names is None or self.classes.rank > 2:
            raise nd.ConfigurationError(
                "predict_labels: the names of the classes must be known, got none. Train with labels that are texts, "
                "or set network.class_names."
            )
        rows = nd.to_host(out).tolist()
        return [names[row[0] > _HALF if len(row) == 1 else row.index(max(row))] for row in rows]

    @checked
    def evaluate(self, data: Any, labels: Any = None, top_n: Count = 1, *, output: Any = 0) -> Evaluation:
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
        names = None
        if isinstance(data, (*self.data_types, MinibatchIterator)) and labels is not None:
            names, labels = converted("evaluate", "labels", _NAMES, labels), None
        if labels is not None:
            data = paired("evaluate", self.classes_of, len(self.conf.input_names), data, labels)
        names = names or getattr(data, "class_names", None) or self.classes_of[number].names
        counting = nd.evaluation.Evaluation(list(names) if names else None, top_n)
        self._evaluate("evaluate", data, {number: [counting]})
        if not counting.num_row_counter:
            raise nd.DataError("evaluate: the masks must leave labels to compare with, got none that count.")
        return counting

    @checked
    def evaluate_regression(
        self, data: Any, column_names: Sequence[str] | None = None, *, output: Any = 0
    ) -> RegressionEvaluation:
        """Compare outputs with labels column by column; `column_names` are for the report. Errors as `evaluate`."""
        regression = nd.evaluation.RegressionEvaluation(column_names)
        self._evaluate("evaluate_regression", data, {self._output_number("evaluate_regression", output): [regression]})
        return regression

    @checked
    def evaluate_roc(self, data: Any, threshold_steps: Natural = 0, *, output: Any = 0) -> ROC:
        """Return the ROC of an output with one or two columns, exact with 0 steps. Errors as `evaluate`."""
        roc = nd.evaluation.ROC(threshold_steps)
        self._evaluate("evaluate_roc", data, {self._check_classifier("evaluate_roc", output): [roc]})
        return roc

    @checked
    def evaluate_roc_multi_class(self, data: Any, threshold_steps: Natural = 0, *, output: Any = 0) -> ROCMultiClass:
        """Return the ROC of every class against the rest, exact with 0 steps. Errors as `evaluate`."""
        roc = nd.evaluation.ROCMultiClass(threshold_steps)
        number = self._check_classifier("evaluate_roc_multi_class", output)
        self._evaluate("evaluate_roc_multi_class", data, {number: [roc]})
        return roc

    def do_evaluation(self, data: Any, *evaluations: Any) -> tuple[IEvaluation, ...]:
        """Show the predictions for all minibatches to several evaluations, in one pass.

        Parameters
        ----------
        data : DataSet or MultiDataSet, or iterable of them
        *evaluations : IEvaluation
            Of the first output; or one dict of an output's name or number -> IEvaluation, or several of them. They
            are added to, and returned.

        Raises
        ------
        DataError
            The iterator is empty, or labels are missing.
        """
        of_outputs: dict[int, list[Any]] = {0: list(evaluations)}
        if len(evaluations) == 1 and isinstance(evaluations[0], Mapping):
            of_outputs = {
                self._output_number("do_evaluation", output): [*several] if isinstance(several, Iterable) else [several]
                for output, several in evaluations[0].items()
            }
        self._evaluate("do_evaluation", data, of_outputs)
        return tuple(evaluation for several in of_outputs.values() for evaluation in several)

    def _output_number(self, who: str, output: Any) -> int:
        """Return the number of an output, given by number or name; raise ChoiceError if there is none."""
        nodes = self.conf.nodes
        names = [nodes[number].name for number in self.conf.output_nodes]
        if type(output) is int and 0 <= output < len(names):
            return output
        if isinstance(output, str):
            return names.index(nd.checks.check_choice(who, "output", output, names))
        raise nd.ChoiceError(f"{who}: output must be 0..{len(names) - 1} or one of {names}, got {shown(output)}.")

    def _check_classifier(self, who: str, output: Any) -> int:
        number = self._output_number(who, output)
        if self.conf.base.validate_output_layer_config:
            node = self.conf.nodes[self.conf.output_nodes[number]]
            check_classifier(who, node.label, node.conf)
        return number

    def _evaluate(self, who: str, data: Any, of_outputs: Mapping[int, Sequence[Any]]) -> None:
        self.check_init()
        for evaluation in (one for several in of_outputs.values() for one in several):
            if isinstance(evaluation, type) or not hasattr(evaluation, "eval"):
                name = evaluation.__name__ if isinstance(evaluation, type) else type(evaluation).__name__
                raise nd.DTypeError(f"{who}: expected evaluations, as Evaluation() makes one, got {name}.")
        count = 0
        with self.on_backend():
            for batch in self._minibatches(who, data):
                with naming_nan(who, self, batch):
                    self._show_outputs(who, batch, of_outputs)
                count += 1
        if not count:
            raise nd.DataError(f"{who}: the iterator must have at least one minibatch, got none.")

    def _minibatches(self, who: str, data: Any) -> Iterator[Any]:
        single = isinstance(data, self.data_types)
        if not isinstance(data, Iterable) and not single:
            raise nd.DTypeError(
                f"{who}: expected a DataSet or an iterator of them, got {type(data).__name__}. Wrap arrays as "
                "DataSet(x, y)."
            )
        for batch in [data] if single else data:
            if not isinstance(batch, self.data_types):
                raise nd.DTypeError(
                    f"{who}: expected a DataSet, got {type(batch).__name__}. Wrap arrays as DataSet(x, y)."
                )
            yield batch

    def _show_outputs(self, who: str, batch: Any, of_outputs: Mapping[int, Sequence[Any]]) -> None:
        """Show the outputs for a minibatch, computed once, to all evaluations."""
        parts = parts_of_data(batch)
        if not parts.labels:
            raise nd.DataError(f"{who}: a data set needs labels to be compared with, got none.")
        outputs = self.outputs_of(batch)
        for number, evaluations in of_outputs.items():
            classes = self.classes_of[number]
            mask = parts.labels_masks[number] if parts.labels_masks else None
            seen = classes.compared(classes.formed(parts.labels[number]), nd.to_host(outputs[number]), mask)
            for evaluation in evaluations:
                evaluation.eval(*seen)


def _no_features(x: Any) -> nd.DTypeError:
    return nd.DTypeError(
        f"output: x must be features [N, ...], numbers, got {shown(x)}. Give an array, of a DataSet its features."
    )


@contextmanager
def naming_nan(who: str, network: NetworkCore, data: Any) -> Iterator[None]:
    """Raise DataError in the place of the NumericError of predictions, where the features of data are not finite."""
    try:
        yield
    except nd.NumericError as error:
        with network.on_backend():
            if all(nd.all_finite(nd.as_array(x, network.dtype)) for x in parts_of_data(data).features):
                raise
        raise nd.DataError(f"{who}: features must be finite, got NaN or infinity in them. Clean the data.") from error
