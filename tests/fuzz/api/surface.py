"""What users can call: public functions, constructors, and the methods of what constructors make."""

from __future__ import annotations

import enum
import functools
import importlib
import inspect
from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.java_spelling import own_names

NAMES = {
    "nd.random": ("Random", "get_random", "set_random", "set_seed", "use_random"),
    "nd.serde": ("array_from_json", "array_to_json", "from_bytes", "load", "save", "to_bytes"),
    "nn.terms.preprocessors": ("CnnToFeedForwardPreProcessor", "FeedForwardToCnnPreProcessor"),
    "nn.terms.series_preprocessors": (
        "CnnToRnnPreProcessor", "FeedForwardToRnnPreProcessor", "RnnToCnnPreProcessor", "RnnToFeedForwardPreProcessor",
    ),
}  # fmt: skip
"""Modules that also hold what is no one's to call -> what is."""
MODULES = (
    "nd", "nd.ops", "nd.losses", "nd.activations", "nd.dataset", "nd.dataset.augmentation",
    "nd.dataset.normalizers",
    "nd.evaluation", "nn", "nn.caffe", "nn.keras", "nn.layers", "optimize", "optimize.earlystopping", *NAMES,
)  # fmt: skip
PACKAGES = ("backends", "nd", "nn", "optimize")


class Target(NamedTuple):
    """Something to call."""

    name: str
    """``nn.MultiLayerNetwork.fit``."""
    owner: str | None
    """Name of the class whose instance it is a method of."""
    parameters: tuple[inspect.Parameter, ...]
    function: Any
    """Where `owner` is None; else the method is looked up in an instance."""


def _is_ours(value: Any) -> bool:
    return str(getattr(value, "__module__", "")).partition(".")[0] in PACKAGES


@functools.cache
def public() -> dict[str, Any]:
    """Return name -> function or class, each once, by the shortest module that exports it."""
    found: dict[int, tuple[str, Any]] = {}
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        for name in NAMES.get(module_name) or sorted(getattr(module, "__all__", None) or vars(module)):
            value = getattr(module, name)
            if not name.startswith("_") and callable(value) and _is_ours(value) and not inspect.ismodule(value):
                found.setdefault(id(value), (f"{module_name}.{name}", value))
    return dict(sorted(found.values(), key=lambda pair: pair[0]))


def parameters_of(function: Any) -> tuple[inspect.Parameter, ...]:
    """Return what a callable takes, without self."""
    return tuple(inspect.signature(function).parameters.values())


def is_data(value: Any) -> bool:
    """Tell whether a class is no one's to call: errors, protocols, enums, records that the library hands out."""
    return isinstance(value, type) and (
        issubclass(value, (BaseException, enum.Enum, tuple)) or getattr(value, "_is_protocol", False)
    )


def methods(name: str, instance: Any, seen: set[Any]) -> Iterator[Target]:
    """Yield the public methods of an instance that were not seen in another class."""
    for member in own_names(type(instance)):
        function = inspect.getattr_static(type(instance), member)
        if member.startswith("_") or isinstance(function, (property, type)):
            continue
        plain = getattr(function, "__func__", function)
        if not callable(plain) or not _is_ours(plain) or plain in seen:
            continue
        seen.add(plain)
        yield Target(f"{name}.{member}", name, parameters_of(getattr(instance, member)), None)
