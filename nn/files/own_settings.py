"""Settings that DL4J 1.0's JSON has no place for: an entry of our own in the zip, which Java does not look at."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from nd import FormatError, NdError
from optimize.terminations import TERMINATIONS, TerminationCondition, as_terminations

from ..conf.parts import registered, registered_as, unknown_part
from ..terms.input_type import INPUT_TYPES, InputType
from .json_fields import parse
from .json_values import of_own_fields, own_fields
from .own_schedules import put_own

if TYPE_CHECKING:
    from ..conf.network import NeuralNetConfiguration
    from ..conf.nodes import NetworkConfiguration
    from ..networks.network import Network

ENTRY = "ndwright.json"
VERSION = 1
OTHER_NAMES = "class_names_of_other_outputs"
Names: TypeAlias = "Sequence[Sequence[str] | None]"
"""Of the classes of every output, None where they are not known."""
_KIND = "termination condition"
DEFAULTS: dict[str, Any] = {
    "backprop": True, "iterations": 1, "lbfgs_memory": 4, "pretrain": False, "step_function": None,
    "terminations": None,
}  # fmt: skip


def own_settings(base: NeuralNetConfiguration) -> dict[str, object]:
    """Return those that differ from their defaults, by name."""
    return {name: getattr(base, name) for name, default in DEFAULTS.items() if getattr(base, name) != default}


def exact(conf: NetworkConfiguration) -> dict[str, object]:
    """Return `tbptt_exact` by name where it is set."""
    return {"tbptt_exact": True} if conf.tbptt_exact else {}


def plain(base: NeuralNetConfiguration) -> NeuralNetConfiguration:
    """Return a copy without them."""
    return replace(base, **DEFAULTS)


def to_document(base: NeuralNetConfiguration) -> dict[str, object]:
    """Return all of them as plain values, and the version of this form."""
    settings = {name: getattr(base, name) for name in DEFAULTS}
    conditions = as_terminations("save", base.terminations)
    if conditions is not None:
        settings["terminations"] = [_written(condition) for condition in conditions]
    return {"version": VERSION, **settings}


def names_of(network: Network) -> Names:
    """Return the names of the classes of every output of a network."""
    return [classes.names for classes in network.classes_of]


def give_names(network: Network, names: Names) -> None:
    """Let a network know the names of the classes of its outputs."""
    for classes, given in zip(network.classes_of, names, strict=False):
        classes.names = given


def written(conf: NetworkConfiguration, names: Names) -> tuple[str, dict[str, object], bool]:
    """Return Java's JSON of a configuration, our document beside it, and whether anything in that is not the default.

    `names` are those of the classes of every output. Schedules that Java does not have are in the document, by their
    place in the JSON, and so is the input type, so that a network that was read refuses the features that it did not
    take before.
    """
    from ..conf.multilayer import MultiLayerConfiguration
    from .json import java_and_own

    text, schedules = java_and_own(replace(conf, base=plain(conf.base)))
    more: dict[str, object] = {"schedules": schedules} if schedules else {}
    first, *others = [each and list(each) for each in names] or [None]
    more |= {"class_names": first} if first else {}
    more |= {OTHER_NAMES: others} if any(others) else {}
    more |= exact(conf)
    types = [_written_type(kind) for kind in conf.network_input_types()]
    if all(types):
        more |= {"input_type": types[0]} if isinstance(conf, MultiLayerConfiguration) else {"input_types": types}
    return text, {**to_document(conf.base), **more}, bool(own_settings(conf.base) or more)


def read(text: str, document: Any, strict: bool = True) -> tuple[NetworkConfiguration, Names]:
    """Return the configuration and the names of the classes that `written` wrote; without a document Java's alone.

    There are names for as many outputs as the document knows of.

    Raises
    ------
    FormatError
        The document is none, of a newer version, or does not fit the text.
    """
    from ..conf.multilayer import MultiLayerConfiguration
    from .any_kind import any_network_from_json

    if document is None:
        return any_network_from_json(text, strict), []
    _check_version(document)
    schedules = document.get("schedules")
    if schedules is not None:
        stored = parse(text)
        put_own(stored, schedules)
        text = json.dumps(stored)
    conf: Any = any_network_from_json(text, strict)
    names = _names(document, len(conf.output_nodes))
    exactly = document.get("tbptt_exact", False)
    if not isinstance(exactly, bool):
        raise FormatError(f"{ENTRY}: tbptt_exact must be true or false, got {exactly!r:.200}.")
    conf = replace(conf, base=completed(conf.base, document), tbptt_exact=exactly)
    if isinstance(conf, MultiLayerConfiguration):
        return replace(conf, input_type=_input_type(document.get("input_type"))), names
    return replace(conf, input_types=_input_types(document.get("input_types"), len(conf.inputs))), names


def _names(document: Any, outputs: int) -> Names:
    """Return the names of the classes of every output."""
    first, others = document.get("class_names"), document.get(OTHER_NAMES, [])
    if not isinstance(others, list) or len(others) not in (0, outputs - 1):
        raise FormatError(f"{ENTRY}: {OTHER_NAMES} must be of {outputs - 1} outputs, got {str(others)[:100]}.")
    for names in (first, *others):
        if names is not None and not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
            raise FormatError(f"{ENTRY}: class_names must be a list of texts, got {str(names)[:100]}.")
    return [first, *others]


def _written_type(input_type: Any) -> dict[str, object] | None:
    kind = next((name for name, known in INPUT_TYPES.items() if type(input_type) is known), None)
    return {"kind": kind, **asdict(input_type)} if kind else None


def _input_types(written: object, count: int) -> tuple[InputType, ...] | None:
    if written is None:
        return None
    if not isinstance(written, list) or len(written) != count or None in written:
        raise FormatError(f"{ENTRY}: input_types must be those of {count} inputs, got {written!r:.200}.")
    return tuple(kind for kind in map(_input_type, written) if kind is not None)


def _input_type(written: object) -> InputType | None:
    if written is None:
        return None
    sizes = dict(written) if isinstance(written, dict) else {}
    known = INPUT_TYPES.get(str(sizes.pop("kind", None)))
    try:
        names = set() if known is None else {field.name for field in fields(known)}
        if known is not None and sizes.keys() in (names, names - {"data_format"}):  # which older files lack
            return known(**sizes)
    except NdError as error:
        raise FormatError(f"{ENTRY}: {error}") from error
    raise FormatError(
        f"{ENTRY}: input_type must be one of {', '.join(INPUT_TYPES)} with its sizes, got {written!r:.200}."
    )


def _check_version(document: object) -> None:
    if not isinstance(document, dict) or document.get("version") != VERSION:
        version = document.get("version") if isinstance(document, dict) else document
        raise FormatError(f"{ENTRY}: must have version {VERSION}, got {version!r}. Is the library too old for it?")


def completed(base: NeuralNetConfiguration, document: Any) -> NeuralNetConfiguration:
    """Return a copy with the settings of a document.

    Raises
    ------
    FormatError
        It is none, or of a newer version.
    """
    _check_version(document)
    values = {name: document.get(name, default) for name, default in DEFAULTS.items()}
    listed = values["terminations"]
    if listed is not None:
        try:
            values["terminations"] = tuple(_condition(condition) for condition in listed)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            got = f"{listed!r}, {type(error).__name__}: {error}"
            raise FormatError(f"{ENTRY}: malformed terminations {got}.") from error
    try:
        return replace(base, **values)
    except NdError as error:
        raise FormatError(f"{ENTRY}: {error}") from error


def _written(condition: TerminationCondition) -> dict[str, object]:
    name = next((name for name, known in TERMINATIONS.items() if known is type(condition)), None)
    if name is not None:
        return {"name": name, **asdict(condition)}
    own = registered(_KIND, type(condition))
    if own is None:
        raise unknown_part(_KIND, type(condition))
    return {"name": own.java_class, **own_fields(condition)}


def _condition(written: Any) -> TerminationCondition:
    known = TERMINATIONS.get(written["name"])
    if known is not None:
        return known(**{field.name: float(written[field.name]) for field in fields(known)})
    own = registered_as(_KIND, written["name"].rpartition(".")[2])
    if own is None:
        raise ValueError(f"unknown {written['name']!r}, make one of your own known with nn.register")
    return of_own_fields(own.part_class, written)
