"""Scores of networks whose first layer is pretrained: how well it restores its input."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import nd
from nd import ConfigurationError, DataError
from nd.arguments import Count, checked
from nd.checks import check_choice
from nd.classes import ExplainedType
from nd.dataset.pre_processor import looked_at
from nd.evaluation import RegressionEvaluation
from nd.typing import Array

from .api import EarlyStoppingModel
from .score_calculators import Data, data_sets


class _Reconstruction(metaclass=ExplainedType):
    """Shared by calculators that compare the features with what the first layer makes of them."""

    @checked
    def __init__(self, metric: str, iterator: Data | Iterable[Any]) -> None:
        who, names = type(self).__name__, RegressionEvaluation.METRICS
        self.metric = check_choice(who, "metric", str(metric).lower(), names)
        self.minimize_score = self.metric in RegressionEvaluation.MINIMIZED
        self.iterator = data_sets(who, iterator)

    def _restored(self, layer: Any, x: Array) -> Array:
        """Return what a layer makes of its input."""
        raise NotImplementedError

    @checked
    def calculate_score(self, model: EarlyStoppingModel) -> float:
        """Return the metric; raise DataError if there are no data, ConfigurationError for another first layer."""
        evaluation = RegressionEvaluation()
        for layer, x in _arriving(self, model, self.iterator, self._wanted):
            evaluation.eval(x, self._restored(layer, x))
        return evaluation.get_value(self.metric)

    _wanted = ""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.metric})"


class AutoencoderScoreCalculator(_Reconstruction):
    """A metric of `RegressionEvaluation` between features and what the first layer, an AutoEncoder, restores of them.

    Parameters
    ----------
    metric : {"mae", "mse", "pc", "r2", "rmse", "rse"}
        Of "pc" and "r2" more is better, of the errors less.
    iterator : DataSet, (features, labels), DataSetIterator or other iterable of those
        As in `DataSetLossCalculator`; labels are not looked at.

    Raises
    ------
    ChoiceError
        The metric is unknown.
    ConfigurationError
        `iterator` is nothing of that.

    Notes
    -----
    Nothing is corrupted. Source: DL4J ``AutoencoderScoreCalculator``.
    """

    _wanted = "decode"

    def _restored(self, layer: Any, x: Array) -> Array:
        return layer.decode(layer.encode(x))


class VAEReconErrorScoreCalculator(_Reconstruction):
    """A metric of `RegressionEvaluation` between features and the mean of what a first VariationalAutoencoder restores.

    Parameters
    ----------
    metric : {"mae", "mse", "pc", "r2", "rmse", "rse"}
        Of "pc" and "r2" more is better, of the errors less.
    iterator : DataSet, (features, labels), DataSetIterator or other iterable of those
        As in `DataSetLossCalculator`; labels are not looked at.

    Raises
    ------
    ChoiceError
        The metric is unknown.
    ConfigurationError
        `iterator` is nothing of that.

    Notes
    -----
    z is its mean. Source: DL4J ``VAEReconErrorScoreCalculator``. Differs: in Java less is better of "pc" and "r2" too.
    """

    _wanted = "generate_at_mean_given_z"

    def _restored(self, layer: Any, x: Array) -> Array:
        return layer.generate_at_mean_given_z(layer.activate(x))


class VAEReconProbScoreCalculator(metaclass=ExplainedType):
    """The probability of the data, or its logarithm, that a first layer VariationalAutoencoder gives; more is better.

    Parameters
    ----------
    iterator : DataSet, (features, labels), DataSetIterator or other iterable of those
        As in `DataSetLossCalculator`; labels are not looked at.
    reconstruction_prob_num_samples : int
        z drawn for each example.
    log_prob : bool
        Take the logarithm.
    average : bool
        Return the mean over the examples, else their sum.

    Raises
    ------
    ConfigurationError
        `iterator` is nothing of that.

    Notes
    -----
    z is drawn from `nd.random.get_random()`. Source: DL4J ``VAEReconProbScoreCalculator``. Differs: Java returns the
    logarithm with the sign turned, and takes the largest for the best all the same.
    """

    minimize_score = False

    @checked
    def __init__(
        self,
        iterator: Data | Iterable[Any],
        reconstruction_prob_num_samples: Count,
        log_prob: bool,
        average: bool = True,
    ) -> None:
        self.iterator = data_sets("VAEReconProbScoreCalculator", iterator)
        self.samples, self.log_prob, self.average = reconstruction_prob_num_samples, log_prob, average

    @checked
    def calculate_score(self, model: EarlyStoppingModel) -> float:
        """Return the probability; raise DataError if there are no data, ConfigurationError for another first layer."""
        total, examples = 0.0, 0
        name = f"reconstruction_{'log_' if self.log_prob else ''}probability"
        for layer, x in _arriving(self, model, self.iterator, name):
            total += nd.item(nd.sum(getattr(layer, name)(x, self.samples)))
            examples += x.shape[0]
        return total / examples if self.average else total

    def __repr__(self) -> str:
        return f"VAEReconProbScoreCalculator({self.samples}, log_prob={self.log_prob}, average={self.average})"


def _arriving(who: object, model: Any, data: Iterable[Any], method: str) -> Iterator[tuple[Any, Array]]:
    """Yield the first layer and the features of every minibatch, on the network's backend."""
    layer = model.layers[0]
    if not hasattr(layer, method):
        kind = "AutoEncoder" if method == "decode" else "VariationalAutoencoder"
        raise ConfigurationError(
            f"{type(who).__name__}: the first layer must be of {kind}, got {type(layer.conf).__name__}."
        )
    seen = False
    for batch in looked_at(data):
        seen = True
        with model.engine.on_backend():
            yield layer, nd.as_array(batch.features, layer.dtype)
    if not seen:
        raise DataError(f"{type(who).__name__}: the iterator must have at least one minibatch, got none.")
