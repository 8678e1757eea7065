"""NetworkEstimator: what the estimators have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

import nd

from .settings import EstimatorParameters
from .short_form import Task, check_width, dense_configuration, initialised, users_configuration
from .training import EpochLoop, Examples

if TYPE_CHECKING:
    from ..networks.network import Network

LARGEST_SEED = 2**31 - 1


class Targets(NamedTuple):
    """Targets as a network takes them, ``[N, n_out]``; what they are for; and what to stratify a split by, or None."""

    values: Any
    task: Task
    groups: Any = None


class NetworkEstimator(BaseEstimator):
    """Shared by the estimators: a network made for the data, trained, asked, pickled."""

    checks: ClassVar[dict[str, Any]] = {"dtype": ("float64", "float32")}
    """How scikit-learn checks X: what is no float32 is computed in float64."""
    parameters: ClassVar[type[EstimatorParameters]] = EstimatorParameters
    network_: Any

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
        verbose: bool = False,
    ) -> None:
        self.network, self.hidden_layer_sizes, self.activation = network, hidden_layer_sizes, activation
        self.updater, self.learning_rate, self.learning_rate_init = updater, learning_rate, learning_rate_init
        self.dropout, self.alpha, self.batch_size, self.max_iter = dropout, alpha, batch_size, max_iter
        self.shuffle, self.random_state, self.tol = shuffle, random_state, tol
        self.n_iter_no_change, self.early_stopping = n_iter_no_change, early_stopping
        self.validation_fraction, self.warm_start = validation_fraction, warm_start
        self.verbose = verbose

    def _begun(self, X: Any, y: Any, fresh: bool) -> tuple[Any, Any]:
        """Return X and y, checked; with `fresh` they say how many features there are."""
        return validate_data(
            self, X, y, multi_output=True, reset=fresh, allow_nd=self.network is not None, **self.checks
        )

    def _targets(self, y: Any, dtype: str, fresh: bool, weights: Any) -> Targets:
        """Return y as the network's targets; with `fresh` learn what it says, such as the classes."""
        raise NotImplementedError(f"{type(self).__name__}: _targets must be defined. Write it.")

    def _weighted(self, y: Any, weights: Any) -> Any:
        """Return the weights ``[N]`` of the examples times those of their classes; None where all count alike."""
        return weights

    def _score_of(self, outputs: Any, examples: Examples) -> float:
        """Return the score of outputs for examples that were held out."""
        raise NotImplementedError(f"{type(self).__name__}: _score_of must be defined. Write it.")

    def _fit(self, X: Any, y: Any, sample_weight: Any, fresh: bool, epochs: int | None = None) -> Self:
        """Train a new network, or with `fresh` False the one that there is.

        An error leaves all as it was; a network that was going on keeps the minibatches that were done.
        """
        before = dict(self.__dict__)
        try:
            return self._trained(X, y, sample_weight, fresh, epochs)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _trained(self, X: Any, y: Any, sample_weight: Any, fresh: bool, epochs: int | None) -> Self:
        settings = self.parameters.of(self)
        X, y = self._begun(X, y, fresh)
        dtype = X.dtype.name if fresh else self.network_.dtype
        weights = checked_weights(sample_weight, X, dtype)
        random = check_random_state(self.random_state)
        seed = int(random.randint(1, LARGEST_SEED))
        targets = self._targets(y, dtype, fresh, weights)
        weights = checked_weights(self._weighted(y, weights), X, dtype)
        if fresh:
            alone = replace(settings, alpha=settings.alpha / (len(X) if weights is None else counted(weights)))
            self.network_ = self._made(alone, X.shape[1], targets.task, dtype, seed)
            if targets.values is not None:
                check_width(self.network_, targets.task.n_out, type(self).__name__)
            self.loss_curve_: list[float] = []
            self.validation_scores_: list[float] | None = None
            self.n_iter_ = self.t_ = 0
        elif self.network_.iteration_count:
            random = check_random_state(seed + self.network_.iteration_count)  # partial_fit takes another order
        examples = Examples(X.astype(dtype, copy=False), targets.values, weighted_mean_1(weights))
        self._train(settings, examples, targets.groups, random, epochs)
        return self

    def _made(self, settings: EstimatorParameters, n_in: int, task: Task, dtype: str, seed: int) -> Network:
        """Return a new network."""
        if self.network is None:
            return initialised(dense_configuration(settings, n_in, task, dtype, seed))
        given = None if self.random_state is None else seed
        who = type(self).__name__
        return initialised(users_configuration(self.network, n_in, task.n_out, dtype, given, who))

    def _train(
        self, settings: EstimatorParameters, examples: Examples, groups: Any, random: Any, epochs: int | None
    ) -> None:
        held_out = None
        if settings.early_stopping and epochs is None:
            examples, held_out = self._split(settings, examples, groups, random)
        score = None if held_out is None else self._scorer(held_out)
        loop = EpochLoop(self.network_, settings, random, score, self._report if self.verbose else None)
        steps = self.network_.iteration_count
        curves = loop.run(examples, settings.max_iter if epochs is None else epochs, epochs is not None)
        self.history_ = self.network_.history
        self.loss_curve_ = self.loss_curve_ + curves.losses
        if held_out is not None:
            self.validation_scores_ = (self.validation_scores_ or []) + curves.scores
        self.loss_, self.n_iter_ = self.loss_curve_[-1], self.n_iter_ + len(curves.losses)
        self.best_loss_ = None if held_out is not None else min(self.loss_curve_)
        self.best_validation_score_ = None if held_out is None else max(self.validation_scores_ or curves.scores)
        self.t_ += self.network_.iteration_count - steps

    def _split(
        self, settings: EstimatorParameters, examples: Examples, groups: Any, random: Any
    ) -> tuple[Examples, Examples]:
        from sklearn.model_selection import train_test_split

        numbers = list(range(len(examples.features)))
        kept, held_out = train_test_split(
            numbers, test_size=settings.validation_fraction, random_state=random, stratify=groups
        )
        return examples.rows(kept), examples.rows(held_out)

    def _scorer(self, held_out: Examples) -> Callable[[], float]:
        return lambda: self._score_of(self._outputs_for(held_out.features), held_out)

    def _report(self, epoch: int, loss: float, score: float | None) -> None:
        print(f"Iteration {epoch}, loss = {loss:.8f}")
        if score is not None:
            print(f"Validation score: {score:f}")

    def _outputs(self, X: Any) -> Any:
        """Return the outputs ``[N, n_out]`` for X, checked, on the host."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, allow_nd=self.network is not None, **self.checks)
        return self._outputs_for(X.astype(self.network_.dtype, copy=False))

    def _outputs_for(self, features: Any) -> Any:
        outputs = self.network_.output(features)
        return nd.to_host(outputs[0] if isinstance(outputs, list) else outputs)  # a graph returns a list

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "network_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = False
        return tags

    @property
    def n_layers_(self) -> int:
        """Layers, with the input as one, as scikit-learn counts."""
        check_is_fitted(self)
        return len(self.network_.conf.nodes) + 1


class SupervisedEstimator(NetworkEstimator):
    """Shared by the classifier and the regressor."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on X ``[N, n_in]`` and y.

        Parameters
        ----------
        X : array, table or list ``[N, n_in]``
            With `network` also ``[N, C, T]`` or ``[N, C, H, W]``.
        y : array ``[N]`` or ``[N, n_out]``
            Of a classifier classes, numbers or texts, or columns of 0 and 1 where an example may have several labels;
            of a regressor numbers.
        sample_weight : array ``[N]``, optional

        Raises
        ------
        ValueError
            Something is wrong with X, y or the weights; errors of the network are `nd.NdError`.
        """
        return self._fit(X, y, sample_weight, not (self.warm_start and hasattr(self, "network_")))


def checked_weights(weights: Any, X: Any, dtype: str) -> Any:
    """Return weights ``[N]``, None where there are none.

    Raises
    ------
    ShapeError, DataError
        They are not one for every example, one is negative, or all are zero.
    """
    if weights is None:
        return None
    weights = check_array(weights, ensure_2d=False, dtype=dtype, input_name="sample_weight")
    if weights.shape != (len(X),):
        raise nd.ShapeError(
            f"sample_weight: expected [{len(X)}] for {len(X)} examples, got {list(weights.shape)}. One for each."
        )
    if (weights < 0).any() or not weights.any():
        raise nd.DataError(
            f"sample_weight: weights must be >= 0 and at least one not zero, got {weights.min()} to {weights.max()}. "
            "Leave out examples that count for nothing."
        )
    return weights


def counted(weights: Any) -> float:
    """Return how many examples weights stand for: their sum, but at least the number of those that are not 0.

    Weights that only say what counts more, such as those of sum 1 of a booster, leave the penalty as it is.
    """
    return max(float(weights.sum()), float((weights > 0.0).sum()))


def weighted_mean_1(weights: Any) -> Any:
    """Return weights ``[N, 1]`` of mean 1: a loss that is divided by N is then divided by the sum of the weights."""
    return None if weights is None else (weights / weights.mean())[:, None]
