"""NetworkRegressor: scikit-learn's regressor with a network in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils import check_array
from sklearn.utils.validation import column_or_1d

import nd
from nd.checks import check_choice

from .estimator import SupervisedEstimator, Targets
from .settings import EstimatorParameters
from .short_form import NUMBERS, Task
from .training import Examples

LARGEST = 1e150  # whose square float64 has


@dataclass(frozen=True, kw_only=True)
class RegressorParameters(EstimatorParameters):
    """Those of `NetworkRegressor`."""

    scale_targets: bool | str = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.scale_targets, str):
            check_choice(type(self).__name__, "scale_targets", self.scale_targets, ("auto",))


class NetworkRegressor(RegressorMixin, SupervisedEstimator):
    """Predict numbers by a network, as a scikit-learn estimator.

    Parameters
    ----------
    network, hidden_layer_sizes, activation, updater, learning_rate, learning_rate_init, dropout, alpha, batch_size,
    max_iter, shuffle, random_state, tol, n_iter_no_change, early_stopping, validation_fraction, warm_start, verbose
        As of `NetworkClassifier`; what is held out is scored by R2.
    scale_targets : bool or "auto"
        Train on ``(y - mean) / standard deviation``, both weighted, of every output in the first call of fit;
        predictions are in the units of y. "auto": where there is no `network`, whose last layer may have a range.

    Attributes
    ----------
    target_mean_, target_scale_ : array ``[n_out]`` or None
        None where targets are not scaled.
    network_, history_, n_iter_, t_, loss_, best_loss_, loss_curve_, validation_scores_, best_validation_score_,
    n_features_in_, feature_names_in_
        As of `NetworkClassifier`. Losses are of the scaled targets.

    Notes
    -----
    The loss is the squared error, the mean over outputs, without `network`. Weights as in `NetworkClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> x, y = make_friedman1(500, random_state=0)
    >>> make_pipeline(StandardScaler(), NetworkRegressor(random_state=0)).fit(x, y).score(x, y) > 0.9
    True
    """

    parameters: ClassVar[type[EstimatorParameters]] = RegressorParameters

    def __init__(
        self,
        network: Any = None,
        *,
        hidden_layer_sizes: Any = (100,),
        activation: str = "relu",
        updater: Any = "adam",
        learning_rate: str = "cosine",
        learning_rate_init: float = 0.02,
        dropout: float = 0.0,
        alpha: float = 3.0,
        batch_size: int | str = "auto",
        max_iter: int = 25,
        shuffle: bool = True,
        random_state: Any = None,
        tol: float = 1e-4,
        n_iter_no_change: int = 10,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        warm_start: bool = False,
        scale_targets: bool | str = "auto",
        verbose: bool = False,
    ) -> None:
        super().__init__(
            network,
            hidden_layer_sizes=hidden_layer_sizes,
            activation=activation,
            updater=updater,
            learning_rate=learning_rate,
            learning_rate_init=learning_rate_init,
            dropout=dropout,
            alpha=alpha,
            batch_size=batch_size,
            max_iter=max_iter,
            shuffle=shuffle,
            random_state=random_state,
            tol=tol,
            n_iter_no_change=n_iter_no_change,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            warm_start=warm_start,
            verbose=verbose,
        )
        self.scale_targets = scale_targets

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train one epoch more, at `learning_rate_init`; the first call makes the network, and scales by its y."""
        return self._fit(X, y, sample_weight, not hasattr(self, "network_"), epochs=1)

    def _targets(self, y: Any, dtype: str, fresh: bool, weights: Any) -> Targets:
        y = check_array(y, ensure_2d=False, dtype=dtype, input_name="y")
        if y.ndim == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        if fresh:
            self._flat = y.ndim == 1
        values = y.reshape(len(y), -1)
        if fresh:
            self._learn_scale(values, weights)
        elif values.shape[1] != self.n_outputs_:
            raise nd.DataError(
                f"NetworkRegressor: y must have {self.n_outputs_} outputs, as in the first call, got "
                f"{values.shape[1]}. Fit a new estimator, clone(estimator)."
            )
        if self.target_mean_ is not None:
            values = (values - self.target_mean_) / self.target_scale_
        return Targets(values, Task(*NUMBERS, values.shape[1]))

    def _learn_scale(self, values: Any, weights: Any) -> None:
        scaled = self.network is None if self.scale_targets == "auto" else self.scale_targets
        self.n_outputs_ = values.shape[1]
        self.target_mean_ = self.target_scale_ = None
        if not scaled:
            return
        dtype, values = values.dtype, values.astype("float64", copy=False)  # a square may be beyond float32
        shares = 1.0 / len(values) if weights is None else (weights / weights.sum())[:, None]
        mean = (values * shares).sum(0)
        largest = abs(values - mean).max()
        if not largest < LARGEST:
            raise nd.DataError(
                f"NetworkRegressor: y must have a range whose square is finite, got {largest} from its mean. Divide y."
            )
        scale = ((values - mean) ** 2 * shares).sum(0) ** 0.5
        scale[scale == 0.0] = 1.0
        self.target_mean_, self.target_scale_ = mean.astype(dtype), scale.astype(dtype)

    def _score_of(self, outputs: Any, examples: Examples) -> float:
        weights = None if examples.weights is None else examples.weights[:, 0]
        return r2_score(examples.targets, outputs, sample_weight=weights)

    def predict(self, X: Any) -> Any:
        """Return the predictions ``[N]``, or ``[N, n_out]`` where y had that shape."""
        outputs = self._outputs(X)
        if self.target_mean_ is not None:
            outputs = outputs * self.target_scale_ + self.target_mean_
        return outputs[:, 0] if self._flat else outputs
