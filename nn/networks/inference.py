"""Outside of training: predictions, activations, evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import nd
from nd.arguments import Count, Natural, checked, converted, shown
from nd.dataset import DataSet, DataSetIterator
from nd.rules import SWITCH, rule_of
from nd.typing import Array

from ..conf.data_formats import inward, outward
from ..conf.output_layers import check_classifier
from ..step.minibatch import Minibatch, as_features
from .core import NetworkCore

if TYPE_CHECKING:
    from nd.evaluation import ROC, Evaluation, IEvaluation, RegressionEvaluation, ROCMultiClass

_HALF = 0.5
_NAMES: Any = rule_of(Sequence[str])


class Inference(NetworkCore):
    """Outside of training: predictions, activations, evaluation."""

    def output(self, x: Any, train: bool = False, features_mask: Any = None, labels_mask: Any = None) -> Array:
        """Return the last layer's activations for ``x [N, ...]``, a new array on the network's backend.

        Parameters
        ----------
        x : array ``[N, ...]``, or DataSetIterator
            Of an iterator the features of all minibatches, with their masks.
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
        self.check_init()
        if type(train) is not bool:
            train = converted("output", "train", SWITCH, train, False)
        if isinstance(x, DataSetIterator):
            with self.on_backend():
                return nd.concat([self.output(batch.features, train, batch.features_mask) for batch in x])
        with self.lock, self.on_backend():
            # Features in another order than the backend's are copied; what listeners look at must stay as it is.
            buffers = nd.fresh_buffers(self.dtype) if self.watched else self.feature_buffers
            batch = Minibatch(self.dtype, buffers, self.batch.accepts)
            try:
                batch.set_features(x)
            except nd.DTypeError as error:
                if hasattr(x, "shape") or "masked" in str(error):
                    raise
                raise _no_features(x) from error
            batch.set_masks(features_mask, labels_mask)
            step, data_format = batch.step_without_labels(self.shared_nodes), self.formats.behind[-1]
            if not train:
                return outward(self.outputs.output(step), data_format)
            with nd.random.drawing(self.random):
                self.shared_nodes.at(self.iteration_count, self.epoch_count)
                return outward(nd.copy(self.propagation.output(step, training=True, fresh=self.watched)), data_format)

    def mask_of_outputs(self, features_mask: Any, examples: int) -> Array | None:
        """Return the mask that reaches the outputs from one of the features, on the host; None for none."""
        self.check_init()
        with self.on_backend():
            mask = inward(nd.as_array(features_mask, self.dtype), self.formats.input)
            mask = self.propagation.mask_behind(mask, examples)
            return None if mask is None else outward(nd.to_host(mask), self.formats.behind[-1])

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
            return self._named_classes(self.output(x.features), names)
        out = self.output(x)
        with self.on_backend():
            return nd.argmax(inward(out, self.formats.behind[-1]), 1)

    def predict_labels(self, x: Any) -> list[str]:
        """Return the name of the most probable class of each example; a single output is class 1 above 0.5.

        Raises
        ------
        ConfigurationError
            The names are not known, or the last layer has no classes of examples.
        """
        return self._named_classes(self.output(x), self.class_names)

    def _named_classes(self, out: Array, names: Sequence[str] | None) -> list[str]:
        if names is None or self.classes.rank > 2:
            raise nd.ConfigurationError(
                "predict_labels: the names of the classes must be known, got none. Train with labels that are texts, "
                "or set network.class_names."
            )
        rows = nd.to_host(out).tolist()
        return [names[row[0] > _HALF if len(row) == 1 else row.index(max(row))] for row in rows]

    @checked
    def feed_forward(self, x: Any = None, train: bool = False) -> list[Array]:
        """Return ``[x, activations of layer 0, of layer 1, ...]``, new arrays.

        Without x of the minibatch that `set_input` has set; ``feed_forward(True)`` is that in training, as in Java.
        """
        if isinstance(x, bool):  # Java's (train) and (train, clear the input)
            x, train = None, x
        if x is None:
            x = self.get_input() if self.vectors else None
            if x is None:
                raise nd.ConfigurationError("feed_forward: features must be given, or set_input come first, got none.")
        return self.feed_forward_to_layer(len(self.conf.layers) - 1, x, train)

    @checked
    def feed_forward_to_layer(self, layer: int, x: Any, train: bool = False) -> list[Array]:
        """Return ``[x, activations of layer 0, ..., of that layer]``, new arrays.

        Raises
        ------
        ConfigurationError
            There is no such layer.
        """
        self.check_init()
        if not 0 <= layer < len(self.layers):
            raise nd.ConfigurationError(f"feed_forward_to_layer: layer must be 0..{len(self.layers) - 1}, got {layer}.")
        if train:
            self.drawn_before = self.random.copy()
        with self.lock, self.on_backend(), self.backend.quiet(), nd.random.drawing(self.random):
            features = as_features(x, self.dtype, nd.fresh_buffers(self.dtype))
            self.batch.accepts.check(tuple(features.shape))
            forward = self.forward(inward(features, self.formats.input), train, stop=layer + 1)
            outputs = map(outward, forward.outputs, self.formats.behind)
            return [nd.copy(activations) for activations in (features, *outputs)]

    @checked
    def evaluate(self, data: Any, labels: Any = None, top_n: Count = 1) -> Evaluation:
        """Compare predictions with labels: of a DataSet, of all minibatches of an iterator, or of arrays.

        Time steps, pixels and voxels count one by one; the features' mask goes through the network, and what the
        labels' mask leaves out does not count. `labels` beside features are as for `fit`; beside a DataSet or an
        iterator they are the names of the classes, for the report, which else has those that the data or the network
        know. With `top_n` a label among so many most probable classes counts as right for `top_n_accuracy`.

        Raises
        ------
        ConfigurationError
            The last layer gives no probabilities, and the configuration says to look.
        DataError
            The iterator is empty, labels are missing, or masks leave none of them.
        """
        self._check_classifier("evaluate")
        names = None
        if isinstance(data, (DataSet, DataSetIterator)) and labels is not None:
            names, labels = converted("evaluate", "labels", _NAMES, labels), None
        if labels is not None:
            data = self.classes.data_set("evaluate", data, labels)
        names = names or getattr(data, "class_names", None) or self.class_names
        counting = nd.evaluation.Evaluation(list(names) if names else None, top_n)
        (evaluation,) = self._evaluate("evaluate", data, counting)
        if not evaluation.num_row_counter:
            raise nd.DataError("evaluate: the masks must leave labels to compare with, got none that count.")
        return evaluation

    @checked
    def evaluate_regression(
        self, data: DataSet | Iterable[DataSet], column_names: Sequence[str] | None = None
    ) -> RegressionEvaluation:
        """Compare outputs with labels column by column; `column_names` are for the report. Errors as `evaluate`."""
        (evaluation,) = self._evaluate("evaluate_regression", data, nd.evaluation.RegressionEvaluation(column_names))
        return evaluation

    @checked
    def evaluate_roc(self, data: DataSet | Iterable[DataSet], threshold_steps: Natural = 0) -> ROC:
        """Return the ROC of a network with one or two outputs, exact with 0 steps. Errors as `evaluate`."""
        self._check_classifier("evaluate_roc")
        (evaluation,) = self._evaluate("evaluate_roc", data, nd.evaluation.ROC(threshold_steps))
        return evaluation

    @checked
    def evaluate_roc_multi_class(
        self, data: DataSet | Iterable[DataSet], threshold_steps: Natural = 0
    ) -> ROCMultiClass:
        """Return the ROC of every class against the rest, exact with 0 steps. Errors as `evaluate`."""
        self._check_classifier("evaluate_roc_multi_class")
        (evaluation,) = self._evaluate("evaluate_roc_multi_class", data, nd.evaluation.ROCMultiClass(threshold_steps))
        return evaluation

    def do_evaluation(self, data: DataSet | Iterable[DataSet], *evaluations: IEvaluation) -> tuple[IEvaluation, ...]:
        """Show the predictions for all minibatches to several evaluations, in one pass.

        Parameters
        ----------
        data : DataSet or iterable of DataSet
        *evaluations : IEvaluation
            They are added to, and returned.

        Raises
        ------
        DataError
            The iterator is empty, or labels are missing.
        """
        return self._evaluate("do_evaluation", data, *evaluations)

    def _check_classifier(self, who: str) -> None:
        if self.conf.base.validate_output_layer_config:
            check_classifier(who, len(self.conf.layers) - 1, self.conf.layers[-1])

    def _evaluate(self, who: str, data: DataSet | Iterable[DataSet], *evaluations: Any) -> tuple[Any, ...]:
        self.check_init()
        for evaluation in evaluations:
            if isinstance(evaluation, type) or not hasattr(evaluation, "eval"):
                name = evaluation.__name__ if isinstance(evaluation, type) else type(evaluation).__name__
                raise nd.DTypeError(f"{who}: expected evaluations, as Evaluation() makes one, got {name}.")
        count = 0
        with self.on_backend():
            for batch in _data_sets(who, data):
                if batch.labels is None:
                    raise nd.DataError(f"{who}: a data set needs labels to be compared with, got none.")
                with naming_nan(who, self, batch.features):
                    self._show_outputs(batch, evaluations)
                count += 1
        if not count:
            raise nd.DataError(f"{who}: the iterator must have at least one minibatch, got none.")
        return evaluations

    def _show_outputs(self, batch: DataSet, evaluations: Sequence[Any]) -> None:
        """Show the outputs for a minibatch, computed once, to all evaluations."""
        output = nd.to_host(self.output(batch.features, features_mask=batch.features_mask))
        seen = self.classes.compared(self.classes.formed(batch.labels), output, batch.labels_mask)  # type: ignore[arg-type]
        for evaluation in evaluations:
            evaluation.eval(*seen)


def _no_features(x: Any) -> nd.DTypeError:
    return nd.DTypeError(
        f"output: x must be features [N, ...], numbers, got {shown(x)}. Give an array, of a DataSet its features."
    )


@contextmanager
def naming_nan(who: str, network: NetworkCore, features: Any) -> Iterator[None]:
    """Raise DataError in the place of the NumericError of predictions, where the features are not finite."""
    try:
        yield
    except nd.NumericError as error:
        with network.on_backend():
            if nd.all_finite(nd.as_array(features, network.dtype)):
                raise
        raise nd.DataError(f"{who}: features must be finite, got NaN or infinity in them. Clean the data.") from error


def _data_sets(who: str, data: Any) -> Iterator[DataSet]:
    if not isinstance(data, Iterable) and not isinstance(data, DataSet):
        raise nd.DTypeError(
            f"{who}: expected a DataSet or an iterator of them, got {type(data).__name__}. Wrap arrays as "
            "DataSet(x, y)."
        )
    for batch in [data] if isinstance(data, DataSet) else data:
        if not isinstance(batch, DataSet):
            raise nd.DTypeError(f"{who}: expected a DataSet, got {type(batch).__name__}. Wrap arrays as DataSet(x, y).")
        yield batch
