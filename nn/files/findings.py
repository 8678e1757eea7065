"""Findings: parts of a document that ndwright does not have, with JSON paths, so that one error says it all."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from nd import ArgumentError, ConfigurationError, FormatError, NdError

Path = tuple[str | int, ...]
Json = dict[str, Any]
MISSING = object()
"""The value of a part that could not be read."""


class ModelFileWarning(UserWarning):
    """A model file says something about training that is not taken over; predictions are not affected."""


class JavaLimitWarning(UserWarning):
    """A network is saved that Deeplearning4j cannot open, run, train or save; this library can."""


class Finding(NamedTuple):
    """One thing that is not supported."""

    path: Path
    error: NdError

    def __str__(self) -> str:
        return f"{path_text(self.path)}: {self.error}" if self.path else str(self.error)


class Unsupported(ConfigurationError):
    """Carries findings to a caller that knows their place in the document."""

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__("; ".join(map(str, findings)))
        self.findings = findings

    def settled(self) -> NdError:
        """Return the error for the user: one finding keeps its own type, several are listed in one error."""
        if len(self.findings) == 1:
            return type(self.findings[0].error)(str(self.findings[0]))
        lines = "\n".join(f"  {str(finding).partition(', expected one of ')[0]}" for finding in self.findings)
        return ConfigurationError(f"configuration: {len(self.findings)} things are not supported:\n{lines}")


class Findings:
    """Reads on where something is not supported, and raises it all at the end."""

    def __init__(self) -> None:
        self.entries: list[Finding] = []

    def read(self, path: Path, function: Callable[..., object], *arguments: object) -> Any:
        """Return the result of a function; note what it does not support and return MISSING.

        A malformed document is no finding: a FormatError goes through.
        """
        try:
            return function(*arguments)
        except FormatError:
            raise
        except ArgumentError as error:
            raise FormatError(f"configuration: {path_text(path)}: {error}") from error
        except Unsupported as error:
            self.entries += [Finding((*path, *inner.path), inner.error) for inner in error.findings]
        except NdError as error:
            self.entries.append(Finding(path, error))
        return MISSING

    def settle(self) -> None:
        """Raise the findings, if there are any."""
        if self.entries:
            raise Unsupported(self.entries)


def path_text(path: Path) -> str:
    """Spell a path: ``confs[2].layer.hasLayerNorm``.

    Examples
    --------
    >>> path_text(("confs", 2, "layer", "hasLayerNorm"))
    'confs[2].layer.hasLayerNorm'
    """
    text = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)
    return text.removeprefix(".")


_ONLY_TRAINING: Mapping[str, object] = {
    "backpropType": "Standard",
    "biasUpdater": None,
    "constraints": None,
    "gradientNormalization": "None",
    "idropout": None,
    "iupdater": {"@class": "org.nd4j.linalg.learning.config.Sgd"},
    "legacyBatchScaledL2": False,
    "optimizationAlgo": "STOCHASTIC_GRADIENT_DESCENT",
    "regularization": [],
    "regularizationBias": [],
    "stepFunction": None,
    "updater": {"@class": "org.nd4j.linalg.learning.config.Sgd"},
    "weightInit": "XAVIER",
    "weightInitFn": {"@class": "org.deeplearning4j.nn.weights.WeightInitXavier"},
    "weightNoise": None,
}
"""Field that no prediction depends on -> what stands for "nothing of the kind"."""
UPDATER_FIELDS = frozenset({"biasUpdater", "iupdater", "updater"})


def only_for_training(path: Path) -> bool:
    """Tell whether no prediction depends on the value at a path."""
    return any(key in _ONLY_TRAINING for key in path)


def without(document: Json, findings: list[Finding]) -> Json:
    """Return a copy of a document without the findings, all of which are only for training."""
    for finding in findings:
        depth = next(depth for depth, key in enumerate(finding.path) if key in _ONLY_TRAINING)
        document = _replaced(document, finding.path[: depth + 1], _ONLY_TRAINING[str(finding.path[depth])])
    return document


def _replaced(value: Any, path: Path, new: object) -> Any:
    if not path:
        return new
    out = list(value) if isinstance(value, list) else dict(value)
    out[path[0]] = _replaced(value[path[0]], path[1:], new)  # type: ignore[index]
    return out


def warn_of(lines: list[str], why: str) -> None:
    """Warn once of everything that a file says and that is not taken over."""
    if lines:
        warnings.warn(f"configuration: {why}: {'; '.join(lines)}.", ModelFileWarning, stacklevel=5)
