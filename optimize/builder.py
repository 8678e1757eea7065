"""DL4J's fluent style, once, for every configuration dataclass."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Any

from nd.checks import check_choice


def snake_case(name: str) -> str:
    """Turn ``nIn`` into ``n_in``.

    Examples
    --------
    >>> snake_case("optimizationAlgo"), snake_case("l1Bias"), snake_case("evaluateEveryNEpochs")
    ('optimization_algo', 'l1_bias', 'evaluate_every_n_epochs')
    """
    return re.sub(r"(?<=[a-z0-9])[A-Z]|(?<=[A-Z])[A-Z](?=[a-z])", lambda letter: "_" + letter.group().lower(), name)


class Builder:
    """Sets the fields of a dataclass, one call each, so that a Java snippet ports line by line.

    ``Builder(DenseLayer).nIn(3).nOut(4).build()`` is ``DenseLayer(n_in=3, n_out=4)``. A target may name further
    calls in `builder_verbs`: functions that take the builder and the arguments.

    Parameters
    ----------
    target : type
        The dataclass, or a class that names what can be set in `builder_fields`. If it has a method `finish`, `build`
        returns what that returns.
    values : dict
        Fields that are set already.
    """

    def __init__(self, target: type, **values: Any) -> None:
        self._target = target
        self._values = values
        named: Iterable[str] | None = getattr(target, "builder_fields", None)
        self._fields = set(named or (field.name for field in fields(target) if field.init))
        self._verbs: dict[str, Callable[..., Any]] = getattr(target, "builder_verbs", {})

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        field = snake_case(name)
        if field in self._verbs:
            verb = self._verbs[field]
            return lambda *arguments: verb(self, *arguments)
        check_choice(f"{self._target.__name__}.Builder", "setting", field, self._fields | set(self._verbs) | {"build"})

        def set_field(*value: Any) -> Builder:
            self._values[field] = value[0] if len(value) == 1 else value
            return self

        return set_field

    def build(self) -> Any:
        """Make the configuration; its own checks apply."""
        made = self._target(**self._values)
        return made.finish() if hasattr(made, "finish") else made
