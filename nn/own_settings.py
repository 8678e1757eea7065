"""Settings that DL4J 1.0's JSON has no place for: an entry of our own in the zip, which Java does not look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from typing import TYPE_CHECKING, Any

from nd import ConfigurationError, FormatError
from optimize.terminations import TERMINATIONS, TerminationCondition, as_terminations

if TYPE_CHECKING:
    from .conf.network import NeuralNetConfiguration

ENTRY = "ndwright.json"
VERSION = 1
DEFAULTS: dict[str, Any] = {"iterations": 1, "lbfgs_memory": 4, "step_function": None, "terminations": None}


def own_settings(base: NeuralNetConfiguration) -> dict[str, Any]:
    """Return those that differ from their defaults, by name."""
    return {name: getattr(base, name) for name, default in DEFAULTS.items() if getattr(base, name) != default}


def plain(base: NeuralNetConfiguration) -> NeuralNetConfiguration:
    """Return a copy without them."""
    return replace(base, **DEFAULTS)


def to_document(base: NeuralNetConfiguration) -> dict[str, Any]:
    """Return all of them as plain values, and the version of this form."""
    found = {name: getattr(base, name) for name in DEFAULTS}
    conditions = as_terminations("save", base.terminations)
    if conditions is not None:
        found["terminations"] = [_written(condition) for condition in conditions]
    return {"version": VERSION, **found}


def completed(base: NeuralNetConfiguration, document: Any) -> NeuralNetConfiguration:
    """Return a copy with what a document says.

    Raises
    ------
    FormatError
        It is none, or of a newer version.
    """
    if not isinstance(document, dict) or document.get("version") != VERSION:
        found = document.get("version") if isinstance(document, dict) else document
        raise FormatError(f"{ENTRY}: must have version {VERSION}, got {found!r}. Is the library too old for it?")
    values = {name: document.get(name, default) for name, default in DEFAULTS.items()}
    if values["terminations"] is not None:
        values["terminations"] = _conditions(values["terminations"])
    return replace(base, **values)


def _written(condition: TerminationCondition) -> dict[str, Any]:
    name = next((name for name, known in TERMINATIONS.items() if known is type(condition)), None)
    if name is None:
        raise ConfigurationError(
            f"save: terminations must be of {', '.join(TERMINATIONS)} to be written, got {condition!r}."
        )
    return {"name": name, **asdict(condition)}  # type: ignore[call-overload]


def _conditions(written: Any) -> Sequence[TerminationCondition]:
    try:
        classes = [TERMINATIONS[one["name"]] for one in written]
        return tuple(
            known(**{field.name: _finite(one[field.name]) for field in fields(known)})  # type: ignore[arg-type]
            for known, one in zip(classes, written, strict=True)
        )
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"{ENTRY}: malformed terminations {written!r}, {type(error).__name__}: {error}.") from error


def _finite(value: Any) -> float:
    found = float(value)
    if not 0.0 <= found < float("inf"):
        raise ValueError(f"expected a number >= 0, got {value!r}")
    return found
