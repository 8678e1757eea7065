"""The parameters that all estimators have, checked when fit begins, as scikit-learn's rules want it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, Self

import nd
from nd.arguments import Checked, Count, Fraction, NonNegative, shown
from nd.checks import check_choice
from optimize import Updater, get_updater

from ..conf.nodes import NetworkConfiguration

RATES = ("cosine", "constant")
FEWEST_ROWS, MOST_ROWS, STEPS = 32, 200, 8  # of "auto": so many steps an epoch, of so many examples


@dataclass(frozen=True, kw_only=True)
class EstimatorParameters(Checked):
    """What says how a network is made and trained; see `NetworkClassifier`."""

    users_network: bool = False
    hidden_layer_sizes: int | Sequence[int] = (100,)
    activation: str = "relu"
    updater: str | Updater = "adam"
    learning_rate: str = "cosine"
    learning_rate_init: NonNegative = 0.02
    dropout: Fraction = 0.0
    alpha: NonNegative = 3.0
    batch_size: int | str = "auto"
    max_iter: Count = 25
    shuffle: bool = True
    tol: float = 1e-4
    n_iter_no_change: Count = 10
    early_stopping: bool = False
    validation_fraction: Fraction = 0.1
    warm_start: bool = False
    verbose: bool | int = False

    def __post_init__(self) -> None:
        super().__post_init__()
        who = type(self).__name__
        check_choice(who, "learning_rate", self.learning_rate, RATES)
        if self.batch_size != "auto" and (isinstance(self.batch_size, str) or self.batch_size < 1):
            raise nd.ConfigurationError(
                f"{who}: batch_size must be 'auto' or an integer >= 1, got {self.batch_size!r}. Give one of them."
            )
        if self.dropout >= 1.0:
            raise nd.ConfigurationError(f"{who}: dropout must be less than 1, got {self.dropout}. Give 0.5, say.")
        if self.early_stopping and not 0.0 < self.validation_fraction < 1.0:
            raise nd.ConfigurationError(
                f"{who}: validation_fraction must lie between 0 and 1, got {self.validation_fraction}. Give 0.1, say."
            )
        sizes = self.hidden_layer_sizes
        sizes = (sizes,) if isinstance(sizes, int) else tuple(sizes)
        if any(size < 1 for size in sizes):
            raise nd.ConfigurationError(f"{who}: hidden_layer_sizes must be > 0, got {shown(sizes)}. Leave such out.")
        object.__setattr__(self, "hidden_layer_sizes", sizes)

    @classmethod
    def of(cls, estimator: Any) -> Self:
        """Return those of an estimator; errors name its class."""
        network, sizes, who = estimator.network, estimator.hidden_layer_sizes, type(estimator).__name__
        _check_network(who, network)
        given = {field.name: getattr(estimator, field.name) for field in fields(cls) if field.name != "users_network"}
        given["hidden_layer_sizes"] = sizes.tolist() if hasattr(sizes, "tolist") else sizes  # arrays of NumPy
        return _named(cls, who)(**given, users_network=network is not None)

    def rows(self, examples: int) -> int:
        """Return how many examples a minibatch has."""
        if self.batch_size == "auto":
            return min(max(FEWEST_ROWS, min(MOST_ROWS, -(-examples // STEPS))), examples)
        return min(int(self.batch_size), examples)

    def made_updater(self) -> Updater:
        """Return the updater, one that is named by its name with `learning_rate_init`, where it has such a rate."""
        updater = get_updater(self.updater)
        if isinstance(self.updater, str) and hasattr(updater, "learning_rate"):
            updater = replace(updater, learning_rate=self.learning_rate_init)  # type: ignore[call-arg]
        return updater

    @property
    def anneals(self) -> bool:
        """Whether fit lowers the learning rate: not that of an updater or a network that the user has made."""
        return self.learning_rate == "cosine" and not self.users_network and isinstance(self.updater, str)


@cache
def _named(kind: type[Any], name: str) -> type[Any]:
    """Return a class of that name, which errors tell, for a kind of parameters."""
    return type(name, (kind,), {})


def _check_network(who: str, network: Any) -> None:
    if network is None or isinstance(network, NetworkConfiguration) or callable(network):
        return
    remedy = "Give net.conf." if hasattr(network, "conf") else "Give NeuralNetConfiguration(...).list(...)."
    raise nd.ConfigurationError(
        f"{who}: network must be a configuration, or a function (n_in, n_out) -> configuration, got "
        f"{shown(network)}. {remedy}"
    )
