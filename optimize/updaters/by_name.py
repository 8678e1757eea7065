"""Updaters by their names, with hyper-parameters."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING

from nd import ConfigurationError
from nd.checks import check_choice

from . import UPDATERS
from .base import Updater

if TYPE_CHECKING:
    from collections.abc import Mapping


def get_updater(value: str | Updater, **hyper_parameters: float) -> Updater:
    """Return the updater of that name, or the one that is given, with those hyper-parameters.

    Raises
    ------
    ChoiceError
        The name is unknown.
    ConfigurationError
        The updater has no such hyper-parameter, or one of its own that is another; `value` is neither a name nor an
        updater.

    Examples
    --------
    >>> from optimize import Nesterovs
    >>> get_updater(Nesterovs(momentum=0.8), learning_rate=0.03)
    Nesterovs(learning_rate=0.03, momentum=0.8)

    Notes
    -----
    DL4J 0.x takes ``.learningRate(r)`` beside any updater that has a rate. Differs: there r also takes the place of
    another rate that was given to the updater itself.
    """
    if isinstance(value, Updater):
        return _completed(value, hyper_parameters)
    if not isinstance(value, str):
        raise ConfigurationError(f"updater: expected a name or an updater such as Sgd(0.1), got {value!r}.")
    name = str(value).lower()
    chosen = UPDATERS[check_choice("updater", "updater", "noop" if name == "none" else name, UPDATERS)]
    _check_known(name, chosen, hyper_parameters)
    return chosen(**hyper_parameters)


def _check_known(name: str, chosen: type[Updater], hyper_parameters: Mapping[str, object]) -> None:
    known = {field.name for field in fields(chosen)}
    if unknown := sorted(set(hyper_parameters) - known):
        raise ConfigurationError(
            f"updater: {name!r} has no {', '.join(unknown)}, expected {', '.join(sorted(known)) or 'nothing'}."
        )


def _completed(updater: Updater, hyper_parameters: Mapping[str, object]) -> Updater:
    """Return a copy with hyper-parameters in the place of defaults."""
    if not hyper_parameters:
        return updater
    _check_known(type(updater).__name__, type(updater), hyper_parameters)
    for field in fields(updater):
        own, given = getattr(updater, field.name), hyper_parameters.get(field.name)
        if given is not None and own not in (field.default, given):
            raise ConfigurationError(
                f"updater: {field.name} {given!r} given beside {updater!r}, which has another. "
                "Give hyper-parameters to the updater itself."
            )
    return replace(updater, **hyper_parameters)
