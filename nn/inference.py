"""What a network does outside of training: predictions, activations, evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import nd
from nd.dataset import DataSet
from nd.evaluation import ROC, Evaluation, IEvaluation, RegressionEvaluation, ROCMultiClass

from .minibatch import Minibatch, as_features

Array = Any


class Inference:
    """The part of `MultiLayerNetwork` that trains nothing; apart from it for the size of the file only."""

    _made: Any
    _here: Any
    _whole: Any
    _outputs: Any
    _workspace: nd.Workspace
    _inference_buffers: Any
    iteration_count: int
    epoch_count: int
    conf: Any
    layers: list[Any]
    dtype: str

    def output(self, x: Any, features_mask: Any = None) -> Array:
        """Return the last layer's activations for ``x [N, ...]``, a new array on the network's backend.

        `features_mask` is as for `DataSet`; None for none.
        """
        self._made()
        with self._here(), self._workspace.nested():
            batch = Minibatch(self.dtype, self._inference_buffers, self.conf.rows_are_series)
            batch.set_features(x)
            batch.set_masks(features_mask, None)
            batch.check_features_mask()
            return self._outputs.output(batch)

    def predict(self, x: Any) -> Array:
        """Return the most probable class of each example, ``[N]`` integers; of each place, ``[N, H, W]``."""
        out = self.output(x)
        with self._here():
            return nd.argmax(out, 1)

    def feed_forward(self, x: Any, train: bool = False) -> list[Array]:
        """Return ``[x, activations of layer 0, of layer 1, ...]``, new arrays."""
        return self.feed_forward_to_layer(len(self.conf.layers) - 1, x, train)

    def feed_forward_to_layer(self, layer: int, x: Any, train: bool = False) -> list[Array]:
        """Return ``[x, activations of layer 0, ..., of that layer]``, new arrays.

        Raises
        ------
        ConfigurationError
            There is no such layer.
        """
        self._made()
        if not 0 <= layer < len(self.layers):
            raise nd.ConfigurationError(f"feed_forward_to_layer: layer must be 0..{len(self.layers) - 1}, got {layer}.")
        with self._here(), self._workspace.nested():
            features = as_features(x, self.dtype, self._inference_buffers)
            whole = self._whole.at(self.iteration_count, self.epoch_count)
            return [nd.copy(a) for a in whole.forward(features, train, layer + 1)[0]]

    def evaluate(self, data: DataSet | Iterable[DataSet]) -> Evaluation:
        """Compare predictions with labels over a DataSet, or over all minibatches of an iterator.

        Time steps, pixels and voxels count one by one; the features' mask goes through the network, and what the
        labels' mask leaves out does not count.

        Raises
        ------
        DataError
            The iterator is empty, labels are missing, or masks leave none of them.
        """
        (evaluation,) = self._evaluated("evaluate", data, Evaluation())
        if not evaluation.num_row_counter:
            raise nd.DataError("evaluate: the masks must leave labels to compare with, got none that count.")
        return evaluation

    def evaluate_regression(
        self, data: DataSet | Iterable[DataSet], column_names: Sequence[str] | None = None
    ) -> RegressionEvaluation:
        """Compare outputs with labels column by column; `column_names` are for the report. Errors as `evaluate`."""
        (evaluation,) = self._evaluated("evaluate_regression", data, RegressionEvaluation(column_names))
        return evaluation

    def evaluate_roc(self, data: DataSet | Iterable[DataSet], threshold_steps: int = 0) -> ROC:
        """Return the ROC of a network with one or two outputs, exact with 0 steps. Errors as `evaluate`."""
        (evaluation,) = self._evaluated("evaluate_roc", data, ROC(threshold_steps))
        return evaluation

    def evaluate_roc_multi_class(self, data: DataSet | Iterable[DataSet], threshold_steps: int = 0) -> ROCMultiClass:
        """Return the ROC of every class against the rest, exact with 0 steps. Errors as `evaluate`."""
        (evaluation,) = self._evaluated("evaluate_roc_multi_class", data, ROCMultiClass(threshold_steps))
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
        return self._evaluated("do_evaluation", data, *evaluations)

    def _evaluated(self, who: str, data: DataSet | Iterable[DataSet], *evaluations: Any) -> tuple[Any, ...]:
        self._made()
        for evaluation in evaluations:
            if isinstance(evaluation, type) or not hasattr(evaluation, "eval"):
                name = evaluation.__name__ if isinstance(evaluation, type) else type(evaluation).__name__
                raise nd.DTypeError(f"{who}: expected evaluations, as Evaluation() makes one, got {name}.")
        count = 0
        with self._here():
            for batch in _data_sets(who, data):
                if batch.labels is None:
                    raise nd.DataError(f"{who}: a data set needs labels to be compared with, got none.")
                output = nd.to_host(self.output(batch.features, batch.features_mask))  # once for all of them
                for evaluation in evaluations:
                    evaluation.eval(batch.labels, output, batch.labels_mask)
                count += 1
        if not count:
            raise nd.DataError(f"{who}: the iterator must have at least one minibatch, got none.")
        return evaluations


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
