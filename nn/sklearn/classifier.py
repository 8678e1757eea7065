"""NetworkClassifier: scikit-learn's classifier with a network in it."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.preprocessing import LabelEncoder
from sklearn.utils import column_or_1d, compute_class_weight, compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target, unique_labels
from sklearn.utils.validation import check_is_fitted

import nd
from nd.arguments import shown
from nd.dataset.class_labels import one_hot

from .estimator import SupervisedEstimator, Targets
from .short_form import CLASSES, LABELS, Task
from .training import Examples

SEVERAL_LABELS = "multilabel-indicator"


class NetworkClassifier(ClassifierMixin, SupervisedEstimator):
    """Classify by a network, as a scikit-learn estimator.

    Parameters
    ----------
    network : configuration or callable, optional
        Of a MultiLayerNetwork or of a ComputationGraph of one input and one output; or a function
        ``(n_in, n_out) -> configuration``. Without it dense layers as the next parameters say. It brings its own
        updater, learning rate, dropout and decay, and with `random_state` None its own seed; its dtype is that of X.
    hidden_layer_sizes : int or sequence of int
        Of the dense layers.
    activation : str
        Of the dense layers: a name that `nd.activations` has.
    updater : str or Updater
        An `Updater` brings its own learning rate; then the next two have no effect.
    learning_rate : {"cosine", "constant"}
        "cosine": falls from `learning_rate_init` to 0 over the `max_iter` epochs of a call of fit.
    learning_rate_init : float
        Per iteration.
    dropout : float
        The share of the activations that is dropped behind every hidden layer.
    alpha : float
        The coefficient of half the squared weights of the layers, beside the sum of the losses of all examples: the
        1 / C of LogisticRegression. MLPClassifier's counts once for every minibatch.
    batch_size : int or "auto"
        "auto": an eighth of the examples, but between 32 and 200, all where there are fewer.
    max_iter : int
        Epochs at most.
    shuffle : bool
        Take the examples in another order in each epoch.
    random_state : int, RandomState or None
        Of the weights, dropout, the order, and what is held out.
    tol : float
        Training ends when for more than `n_iter_no_change` epochs the loss has not become less by that much.
    n_iter_no_change : int
    early_stopping : bool
        Hold out a `validation_fraction`, stop when its score does not become better by `tol`, and go back to the best
        epoch.
    validation_fraction : float
    warm_start : bool
        Let `fit` go on with the network that there is.
    class_weight : dict of class -> weight, "balanced" or None
        Multiplied into `sample_weight`.
    verbose : bool
        Print the loss of every epoch.

    Attributes
    ----------
    classes_ : array ``[classes]``
        For several labels at once their numbers.
    network_ : MultiLayerNetwork or ComputationGraph
    history_ : History
        Of the last call of fit.
    n_iter_, t_ : int
        Epochs and iterations.
    loss_, best_loss_, loss_curve_
        The loss of the last and of the best epoch, and of all, before the updates of each minibatch, with the penalty.
    validation_scores_, best_validation_score_
        Accuracies with `early_stopping`; else None.
    n_features_in_, feature_names_in_
        Of X.

    Notes
    -----
    Computes in float64 unless X is float32. The loss is the weighted sum of the examples' losses divided by the sum of
    the weights: a weight of 2 is an example twice. Of several minibatches each is divided by its number of examples
    times the mean weight of all. `alpha` is divided by what the first call has: the sum of the weights, but at least
    the number of those that are not 0, and without any the number of examples.
    Differs: `Network.fit` divides by the number of examples, as Java does.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> x, y = load_iris(return_X_y=True)
    >>> NetworkClassifier(random_state=0).fit(x, y).score(x, y) > 0.95
    True
    """

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
        class_weight: Any = None,
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
        self.class_weight = class_weight

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Train one epoch more, at `learning_rate_init`; the first call makes the network.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes : array, optional
            All classes that will ever come; needed in the first call.

        Raises
        ------
        ValueError
            As in `fit`; or the first call has no classes, a later one others, or `class_weight` is "balanced".
        """
        if self.class_weight == "balanced":
            raise nd.ConfigurationError(
                "partial_fit: class_weight must be a dict, got 'balanced', for which all y are needed. Give "
                "dict(zip(classes, compute_class_weight('balanced', classes=classes, y=y)))."
            )
        fresh = not hasattr(self, "network_")
        if classes is not None:
            self._announce(unique_labels(classes), fresh)
        elif fresh:
            raise nd.ConfigurationError(
                "partial_fit: classes must be given in the first call, got none. Say classes=[...] with all of them."
            )
        try:
            return self._fit(X, y, sample_weight, fresh, epochs=1)
        finally:
            self.__dict__.pop("_announced", None)

    def _announce(self, classes: Any, fresh: bool) -> None:
        if not fresh and classes.tolist() != self.classes_.tolist():
            raise nd.DataError(
                f"partial_fit: classes must be those of the first call, {shown(self.classes_.tolist())}, got "
                f"{shown(classes.tolist())}. Leave them out."
            )
        self._announced = classes

    def _targets(self, y: Any, dtype: str, fresh: bool, weights: Any) -> Targets:
        check_classification_targets(y)
        kind = type_of_target(y)
        y = y.toarray() if hasattr(y, "toarray") else y  # several labels may come sparse
        announced = self.__dict__.get("_announced")
        if kind == SEVERAL_LABELS:
            classes = unique_labels(y) if announced is None else announced
            self._settle(classes, fresh, True)
            return Targets(y.astype(dtype), Task(*LABELS, y.shape[1]))
        if kind.endswith("multioutput"):
            raise nd.DataError(
                f"{type(self).__name__}: y must have one class for an example, or columns of 0 and 1, got {kind}. "
                "Say MultiOutputClassifier(NetworkClassifier())."
            )
        y = column_or_1d(y, warn=True)
        self._settle(unique_labels(y) if announced is None else announced, fresh, False)
        encoder = LabelEncoder()
        encoder.classes_ = self.classes_
        numbers = encoder.transform(y)
        count = len(self.classes_)
        return Targets(one_hot(numbers, count).astype(dtype), Task(*CLASSES, count), numbers)

    def _weighted(self, y: Any, weights: Any) -> Any:
        if self.class_weight is None:
            return weights
        of_class = self.class_weight
        y = y.toarray() if hasattr(y, "toarray") else y
        y = y.ravel() if y.shape == (len(y), 1) else y
        if of_class == "balanced" and weights is not None and y.ndim == 1:
            sums = {label: float(weights[y == label].sum()) for label in unique_labels(y).tolist()}
            present = [total for total in sums.values() if total > 0.0]
            of_class = {label: sum(present) / (len(present) * total) for label, total in sums.items() if total > 0.0}
        if isinstance(of_class, dict) and y.ndim == 1:  # not all classes need be in y
            factor = compute_class_weight(of_class, classes=self.classes_, y=y)
            factors = factor[self.classes_.searchsorted(y)]
        else:
            factors = compute_sample_weight(of_class, y)
        return factors if weights is None else weights * factors.astype(weights.dtype)

    def _settle(self, classes: Any, fresh: bool, several: bool) -> None:
        """Learn the classes, or raise DataError where there are others than before."""
        if fresh:
            self.classes_, self.multilabel_ = classes, several
        elif several != self.multilabel_ or not set(classes.tolist()) <= set(self.classes_.tolist()):
            raise nd.DataError(
                f"{type(self).__name__}: y must have the classes of the first call, {shown(self.classes_.tolist())}, "
                f"got {shown(classes.tolist())}. Fit a new estimator, clone(estimator)."
            )

    def _score_of(self, outputs: Any, examples: Examples) -> float:
        weights = None if examples.weights is None else examples.weights[:, 0]
        if self.multilabel_:
            return accuracy_score(examples.targets, outputs > 0.5, sample_weight=weights)
        return accuracy_score(examples.targets.argmax(1), outputs.argmax(1), sample_weight=weights)

    def predict(self, X: Any) -> Any:
        """Return the class of every example, ``[N]``; of several labels 0 and 1, ``[N, labels]``."""
        outputs = self._outputs(X)
        return (outputs > 0.5).astype(int) if self.multilabel_ else self.classes_[outputs.argmax(1)]

    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the classes, ``[N, classes]``, or of the labels, ``[N, labels]``."""
        return self._outputs(X)

    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithms of `predict_proba`."""
        probabilities = self.predict_proba(X)
        return nd.to_host(nd.log(nd.as_array(probabilities, probabilities.dtype.name)))

    @property
    def n_outputs_(self) -> int:
        """Outputs of the network."""
        check_is_fitted(self)
        return int(self.network_.conf.nodes[self.network_.conf.output_nodes[0]].conf.n_out)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags
