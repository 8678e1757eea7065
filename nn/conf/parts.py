"""Parts of networks that users write: classes of their own, known by name, so that files with them can be read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

from nd import ConfigurationError
from nd.activations import ACTIVATIONS, Activation
from nd.arguments import checked, shown
from nd.losses import LOSSES, Loss
from optimize import LayerConstraint, Schedule, Updater
from optimize.constraints import CONSTRAINTS
from optimize.schedules import SCHEDULES
from optimize.terminations import TERMINATIONS, TerminationCondition
from optimize.updaters import UPDATERS

from ..layers import LAYERS, LayerConf, LayerRuntime
from ..terms import late
from ..terms.distributions import DISTRIBUTIONS, Distribution
from ..terms.dropout import DROPOUTS, IDropout
from ..terms.preprocessors import PREPROCESSORS, InputPreProcessor
from ..terms.weight_noise import WEIGHT_NOISES, IWeightNoise
from ..vertices import VERTICES, VertexConf, VertexRuntime

Class = TypeVar("Class", bound=type)


class Kind(NamedTuple):
    """One kind of part."""

    name: str
    base: type
    """Base of every class of this kind."""
    library: Mapping[str, type]


class Registered(NamedTuple):
    """A class of a user's own, and its name in files."""

    part_class: type
    java_class: str
    form: Any
    """LayerForm or JavaForm of a layer or vertex that was registered with one, else None."""


KINDS: tuple[Kind, ...] = (
    Kind("activation", Activation, ACTIVATIONS),
    Kind("constraint", LayerConstraint, CONSTRAINTS),
    Kind("distribution", Distribution, DISTRIBUTIONS),
    Kind("dropout", IDropout, DROPOUTS),
    Kind("input preprocessor", InputPreProcessor, PREPROCESSORS),
    Kind("layer", LayerConf, LAYERS),
    Kind("loss", Loss, LOSSES),
    Kind("schedule", Schedule, SCHEDULES),
    Kind("termination condition", TerminationCondition, TERMINATIONS),
    Kind("updater", Updater, UPDATERS),
    Kind("vertex", VertexConf, VERTICES),
    Kind("weight noise", IWeightNoise, WEIGHT_NOISES),
)
OF_KERAS = frozenset({"KerasActivation", "KerasLoss", "KerasSparseLoss"})
"""Names in files of `nn.keras.terms.own_parts`, which are not imported before a file has one."""
_REGISTERED: dict[str, dict[str, Registered]] = {kind.name: {} for kind in KINDS}
"""Name of the kind -> last part of the name in files -> class."""


def register(part: Class, java_class: str | None = None, form: object = None) -> Class:
    """Make a class of one's own known by name, so that networks with it are saved and loaded; return the class.

    Parameters
    ----------
    part : type
        From `LayerConf`, `VertexConf`, `Activation`, `Loss`, `Updater`, `Schedule`, `IDropout`, `IWeightNoise`,
        `LayerConstraint`, `InputPreProcessor`, `Distribution` or `TerminationCondition`. A class with fields is a
        frozen dataclass.
    java_class : str, optional
        Its name in files, in "@class", where a class in Java goes with it; by default its module and name. Files are
        read by the last part alone.
    form : LayerForm or JavaForm, optional
        Of a layer or vertex: its fields in the files, which the class itself may say as ``form``. By default its
        inherited fields are written as DL4J writes them, and every field of its own under its camelCase name: None,
        bool, number, text, another part, and tuples of those. That is also how the fields of everything else are
        written.

    Raises
    ------
    ConfigurationError
        It is no such class, or the name is none, the library's own or another class's.

    Notes
    -----
    Register where the class is defined, as a decorator above ``@dataclass`` or by a call: whoever loads a file imports
    that module first. Networks with such a part are recorded, and their minibatches split, where the part says
    ``pure`` and ``splits`` of itself; without that it may do and remember what it likes. The duties of a layer are said
    in `LayerRuntime`; `examples/custom_layer.py` is one.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from nn import DenseLayer
    >>> @register
    ... @dataclass(frozen=True, kw_only=True)
    ... class Scaled(DenseLayer):
    ...     scale: float = 2.0
    >>> register(Scaled, java_class="com.example.Scaled") is Scaled
    True
    >>> registered_as("layer", "Scaled").part_class.__name__
    'Scaled'
    >>> unregister(Scaled)
    """
    kind = _checked_kind(part)
    java_class = f"{part.__module__}.{part.__name__}" if java_class is None else java_class
    name = _free_name(kind, part, java_class)
    unregister(part)
    _REGISTERED[kind.name][name] = Registered(part, java_class, form)
    return part


@checked
def unregister(part: type) -> None:
    """Forget a registered class; nothing happens where it is not one."""
    for known in _REGISTERED.values():
        for name in [name for name, entry in known.items() if entry.part_class is part]:
            del known[name]


def registered(kind: str, part: type) -> Registered | None:
    """Return the registration of a class of that kind, None where it has none."""
    return next((entry for entry in _REGISTERED[kind].values() if entry.part_class is part), None)


def registered_as(kind: str, name: str) -> Registered | None:
    """Return the registration under that name in files, None where there is none."""
    if name in OF_KERAS and name not in _REGISTERED[kind]:
        late("KERAS_PARTS")  # which register themselves
    return _REGISTERED[kind].get(name)


def registered_names(kind: str) -> list[str]:
    """Return the names in files of the registered classes of a kind."""
    return sorted(_REGISTERED[kind])


def kind_of(part: type) -> Kind | None:
    """Return the kind of part that a class is, None where it is none."""
    return next((kind for kind in KINDS if issubclass(part, kind.base)), None)


def unknown_part(kind: str, part: type) -> ConfigurationError:
    """Return the error for a class of a user's own that nobody has registered."""
    name = part.__name__
    return ConfigurationError(
        f"to_json: {kind} {name} must be the library's or registered to be written. Call nn.register({name})."
    )


def _checked_kind(part: type) -> Kind:
    kind = kind_of(part) if isinstance(part, type) else None
    if kind is None:
        names = ", ".join(known.base.__name__ for known in KINDS)
        raise ConfigurationError(f"register: expected a class from one of {names}, got {shown(part)}.")
    if part is kind.base or part in kind.library.values():
        raise ConfigurationError(f"register: {part.__name__} is the library's own and known already.")
    has_fields = (
        bool(vars(part).get("__annotations__")) or "__init__" in vars(part) or issubclass(part, (LayerConf, VertexConf))
    )
    if has_fields and not (is_dataclass(part) and "__dataclass_params__" in vars(part)):
        raise ConfigurationError(
            f"register: {part.__name__} must be a dataclass itself, got a plain class. Put "
            "@dataclass(frozen=True, kw_only=True) before it."
        )
    runtime = getattr(part, "runtime", None)
    for base, needed in ((LayerConf, LayerRuntime), (VertexConf, VertexRuntime)):
        if issubclass(part, base) and not (isinstance(runtime, type) and issubclass(runtime, needed)):
            raise ConfigurationError(
                f"register: {part.__name__}.runtime must be a class from {needed.__name__}, got {shown(runtime)}."
            )
    return kind


def _free_name(kind: Kind, part: type, java_class: str) -> str:
    """Return the last part of a class's name, by which files are read; raise unless it is free for this class."""
    name = java_class.rpartition(".")[2] if isinstance(java_class, str) else ""
    if not name:
        raise ConfigurationError(
            f"register: java_class must be the name of a class such as 'com.example.Scaled', got {shown(java_class)}."
        )
    if name in {getattr(known, "java_class", known.__name__) for known in kind.library.values()}:
        raise ConfigurationError(
            f"register: {name!r} is the library's own, got {part!r}. Give the class another name, or java_class one "
            "that ends otherwise."
        )
    other = _REGISTERED[kind.name].get(name)
    place = attrgetter("__module__", "__qualname__")  # a module that is loaded again defines its classes anew
    if other is not None and place(other.part_class) != place(part):
        raise ConfigurationError(
            f"register: {name!r} is registered already, for {other.part_class!r}, got {part!r}. Rename one of them, "
            "or call unregister first."
        )
    return name
