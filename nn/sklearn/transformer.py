"""NetworkTransformer: the activations of a layer as features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

import nd
from nd.arguments import Count, Fraction, NonNegative, converted
from nd.checks import check_choice
from nd.rules import INTEGER

from ..layers.pretraining.base import is_pretrained
from .classifier import NetworkClassifier
from .estimator import NetworkEstimator, Targets
from .regressor import NetworkRegressor
from .settings import EstimatorParameters
from .short_form import KINDS, NUMBERS, Stack, Task, initialised, stacked_configuration
from .training import EpochLoop, Examples

if TYPE_CHECKING:
    from ..networks.network import Network


@dataclass(frozen=True, kw_only=True)
class TransformerParameters(EstimatorParameters):
    """Those of `NetworkTransformer`."""

    layer: int | str | None = None
    pretrain: bool = True
    fine_tune: bool = False
    kind: str = "autoencoder"
    corruption_level: Fraction = 0.3
    activation: str = "sigmoid"
    learning_rate_init: NonNegative = 0.01
    max_iter: Count = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        who = type(self).__name__
        check_choice(who, "kind", self.kind, KINDS)
        if not self.pretrain and not self.fine_tune:
            raise nd.ConfigurationError(
                f"{who}: pretrain or fine_tune must be True, got False for both. Say pretrain=True."
            )
        if not self.hidden_layer_sizes and not self.users_network and self.pretrain:
            raise nd.ConfigurationError(f"{who}: hidden_layer_sizes must have a size, got none. Give (100,), say.")


class NetworkTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, NetworkEstimator):
    """Transform X into the activations of a layer, which has learned from X alone, or from y.

    Parameters
    ----------
    network : configuration or callable, optional
        As of `NetworkClassifier`; its AutoEncoder, RBM and VariationalAutoencoder layers are pretrained. A function is
        called with n_out 1 where `fine_tune` is False.
    layer : int, str or None
        Number or name of the layer, in a graph the name. None: the last one before an output layer.
    pretrain : bool
        Train every layer that can be to reconstruct what comes into it, one after the other, `max_iter` epochs each.
    fine_tune : bool
        Train on y, classes or numbers, by a network with an output layer; after pretraining, if both are True.
    kind : {"autoencoder", "rbm"}
        Of the layers that are pretrained, without `network`.
    corruption_level : float
        The share of the inputs that an autoencoder does not see while it is pretrained, without `network`.
    hidden_layer_sizes, activation, updater, learning_rate, learning_rate_init, dropout, alpha, batch_size, max_iter,
    shuffle, random_state, tol, n_iter_no_change, early_stopping, validation_fraction, warm_start, verbose
        As of `NetworkClassifier`. Pretraining is at `learning_rate_init` throughout, and through all epochs.

    Attributes
    ----------
    network_, history_, n_iter_, t_, loss_, best_loss_, loss_curve_, n_features_in_, feature_names_in_
        As of `NetworkClassifier`; without `fine_tune` those of the layer that was pretrained last.

    Notes
    -----
    Layers that are pretrained take inputs in 0 to 1 for numbers: put a MinMaxScaler before. Names of features are
    "networktransformer0" and so on.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> x = load_digits().data / 16.0
    >>> NetworkTransformer(hidden_layer_sizes=(20,), max_iter=2, random_state=0).fit_transform(x).shape
    (1797, 20)
    """

    parameters: ClassVar[type[EstimatorParameters]] = TransformerParameters

    def __init__(
        self,
        network: Any = None,
        *,
        layer: int | str | None = None,
        pretrain: bool = True,
        fine_tune: bool = False,
        kind: str = "autoencoder",
        corruption_level: float = 0.3,
        hidden_layer_sizes: Any = (100,),
        activation: str = "sigmoid",
        updater: Any = "adam",
        learning_rate: str = "cosine",
        learning_rate_init: float = 0.01,
        dropout: float = 0.0,
        alpha: float = 3.0,
        batch_size: int | str = "auto",
        max_iter: int = 20,
        shuffle: bool = True,
        random_state: Any = None,
        tol: float = 1e-4,
        n_iter_no_change: int = 10,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        warm_start: bool = False,
        verbose: bool = False,
    ) -> None:
        sizes = {"hidden_layer_sizes": hidden_layer_sizes, "activation": activation, "dropout": dropout}
        rates = {"updater": updater, "learning_rate": learning_rate, "learning_rate_init": learning_rate_init}
        epochs = {"batch_size": batch_size, "max_iter": max_iter, "shuffle": shuffle, "warm_start": warm_start}
        ends = {"tol": tol, "n_iter_no_change": n_iter_no_change, "early_stopping": early_stopping}
        rest = {
            "validation_fraction": validation_fraction,
            "alpha": alpha,
            "random_state": random_state,
            "verbose": verbose,
        }
        super().__init__(network, **sizes, **rates, **epochs, **ends, **rest)  # type: ignore[arg-type]
        self.layer, self.pretrain, self.fine_tune = layer, pretrain, fine_tune
        self.kind, self.corruption_level = kind, corruption_level

    def fit(self, X: Any, y: Any = None) -> Self:
        """Train on X ``[N, n_in]``; y ``[N]`` or ``[N, n_out]`` is looked at with `fine_tune`.

        Raises
        ------
        ValueError
            As `NetworkClassifier.fit`; or neither `pretrain` nor `fine_tune` is True, or there is no such layer.
        """
        return self._fit(X, y, None, not (self.warm_start and hasattr(self, "network_")))

    def transform(self, X: Any) -> Any:
        """Return the activations of the layer for X, ``[N, features]``, those of images and series as one row."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, allow_nd=self.network is not None, **self.checks)
        return self._activations(X.astype(self.network_.dtype, copy=False))

    def _begun(self, X: Any, y: Any, fresh: bool) -> tuple[Any, Any]:
        if self.fine_tune:
            return super()._begun(X, y, fresh)
        return validate_data(self, X, reset=fresh, allow_nd=self.network is not None, **self.checks), None

    def _targets(self, y: Any, dtype: str, fresh: bool, weights: Any) -> Targets:
        if not self.fine_tune:
            return Targets(None, Task(*NUMBERS, 1))
        if fresh:
            numbers = type_of_target(y).startswith("continuous")
            self._supervised = NetworkRegressor(self.network) if numbers else NetworkClassifier(self.network)
        return self._supervised._targets(y, dtype, fresh, weights)

    def _score_of(self, outputs: Any, examples: Examples) -> float:
        return self._supervised._score_of(outputs, examples)

    def _made(self, settings: EstimatorParameters, n_in: int, task: Task, dtype: str, seed: int) -> Network:
        if self.network is None and self.pretrain:
            form = Stack(self.kind, self.corruption_level, task if self.fine_tune else None)
            return initialised(stacked_configuration(settings, n_in, form, dtype, seed))
        return super()._made(settings, n_in, task, dtype, seed)

    def _train(
        self, settings: EstimatorParameters, examples: Examples, groups: Any, random: Any, epochs: int | None
    ) -> None:
        self._node = layer_number(self.network_, self.layer)
        if self.pretrain:
            self._pretrain(settings, examples, random)
        if self.fine_tune:
            super()._train(settings, examples, groups, random, epochs)
        self._n_features_out = self._activations(examples.features[:1]).shape[1]

    def _pretrain(self, settings: EstimatorParameters, examples: Examples, random: Any) -> None:
        network = self.network_
        numbers = [number for number, node in enumerate(network.conf.nodes) if is_pretrained(node.conf)]
        if not numbers:
            raise nd.ConfigurationError(
                "NetworkTransformer: pretrain=True needs a layer that can be pretrained (AutoEncoder, RBM, "
                "VariationalAutoencoder), got a network without. Say pretrain=False, fine_tune=True."
            )
        loop = EpochLoop(network, settings, random, report=self._report if self.verbose else None)
        for number in numbers:
            self.loss_curve_ = loop.pretrain(number, examples, settings.max_iter)
        self.history_, self.n_iter_ = network.history, self.n_iter_ + settings.max_iter
        self.loss_, self.best_loss_ = self.loss_curve_[-1], min(self.loss_curve_)

    def _activations(self, features: Any) -> Any:
        network, node = self.network_, self.network_.conf.nodes[self._node]
        if hasattr(network, "feed_forward_to_layer"):
            activations = network.feed_forward_to_layer(self._node, features)[-1]
        else:
            activations = network.feed_forward(features)[node.name]
        return nd.to_host(activations).reshape(len(features), -1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.fine_tune
        tags.transformer_tags.preserves_dtype = list(self.checks["dtype"])
        return tags


def layer_number(network: Network, layer: int | str | None) -> int:
    """Return the number of the node whose activations are the features; None is the last one without a loss.

    Raises
    ------
    ConfigurationError, ChoiceError
        There is no such one.
    """
    nodes = network.conf.nodes
    if layer is None:
        hidden = [number for number, node in enumerate(nodes) if not hasattr(node.conf, "loss")]
        if not hidden:
            raise nd.ConfigurationError(
                "NetworkTransformer: network must have a layer before its output layer, got none. Say layer=0."
            )
        return hidden[-1]
    names = getattr(network, "layer_names", None) or [node.name for node in nodes]
    if isinstance(layer, str):
        return names.index(check_choice("NetworkTransformer", "layer", layer, names))
    number = converted("NetworkTransformer", "layer", INTEGER, layer)
    if not -len(nodes) <= number < len(nodes):
        raise nd.ConfigurationError(
            f"NetworkTransformer: layer must be in 0..{len(nodes) - 1}, got {layer}. Or give one of the names {names}."
        )
    return number % len(nodes)
