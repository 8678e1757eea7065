"""Configurations of Keras 1, 2 and 3: the layers of a model and their uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nd import ConfigurationError, FormatError

from .fields import field, index, mapping, sequence, text, wrong
from .older import modern
from .structure import INPUT, Entry, Part, Ref, Use

SEQUENTIAL, FUNCTIONAL = ("Sequential",), ("Functional", "Model")
_MOST_LAYERS = 100_000
_LEGACY_INPUT = 3  # fields of a reference: layer, use, output
_KERAS_3 = 3


def part_of(document: Mapping[str, Any], version: int) -> Part:
    """Return what a model's configuration says.

    Parameters
    ----------
    document : mapping
        ``{"class_name": "Sequential", "config": ...}``
    version : int
        Of Keras.

    Raises
    ------
    FormatError
        It is no configuration of a model.
    ConfigurationError
        It is a model of a class of its author's, whose layers the file does not tell.
    """
    class_name = text(field(document, "class_name", "a model"), "class_name")
    config = field(document, "config", class_name)
    if class_name in SEQUENTIAL:
        return _chain(config, version)
    if isinstance(config, dict) and "layers" in config and "output_layers" in config:
        return _graph(config, version)
    raise ConfigurationError(
        f"{class_name}: a model must be Sequential or functional, got a class of its author's, which the file does not "
        "describe. Build the same model with Keras' functional interface and save that."
    )


def is_model(class_name: str, config: Any) -> bool:
    """Tell whether a layer is a model."""
    return class_name in (*SEQUENTIAL, *FUNCTIONAL) or (isinstance(config, dict) and "output_layers" in config)


# ---- chains


def _chain(config: Any, version: int) -> Part:
    layers = config if isinstance(config, list) else field(mapping(config, "Sequential"), "layers", "Sequential")
    given = [_normalised(layer, n) for n, layer in enumerate(sequence(layers, "the layers of Sequential"), 1)]
    if not given:
        raise FormatError("Sequential must have layers, got none.")
    _check_count(given)
    entries, last, inputs = _beginning(given, version)
    begins = len(entries) if given[0]["class_name"] != "Merge" else 0
    for layer in given[1:] if entries and given[0]["class_name"] in (INPUT, "Merge") else given:
        entries.append(_entry(layer, (Use((last,), {}),), version))
        last = Ref(entries[-1].name)
    _check_names(entries)
    return Part(True, tuple(entries), inputs, (last,), begins)


def _normalised(layer: Any, number: int) -> dict[str, Any]:
    """Return a layer of a chain; Keras 0 wrote no "class_name", and Keras 1 no names of chains in it."""
    fields = mapping(layer, "a layer")
    if "class_name" not in fields:
        return {"class_name": fields.get("name"), "config": {**fields, "name": fields.get("custom_name")}}
    named = "name" in fields or (isinstance(fields.get("config"), dict) and "name" in fields["config"])
    return fields if named else {**fields, "name": f"{str(fields['class_name']).lower()}_{number}"}


def _beginning(given: Sequence[dict[str, Any]], version: int) -> tuple[list[Entry], Ref, tuple[Ref, ...]]:
    """Return the first entries of a chain, what its layers begin with, and its inputs."""
    first = given[0]
    config = field(first, "config", "a layer")
    if first["class_name"] == INPUT:
        entry = _entry(first, (), version)
        return [entry], Ref(entry.name), (Ref(entry.name),)
    if first["class_name"] == "Merge" and isinstance(config, dict) and config.get("layers"):
        return _branches(first, version)
    entry = _implicit_input(first, version)
    return [entry], Ref(entry.name), (Ref(entry.name),)


def _implicit_input(layer: Mapping[str, Any], version: int) -> Entry:
    """Return the input that the first layer of a chain, or that of a model in its place, tells by its shape."""
    config: Any = field(layer, "config", "a layer")
    name = _name_of(layer)
    while is_model(str(layer.get("class_name")), config):
        layers = config if isinstance(config, list) else mapping(config, "a model").get("layers")
        layer = _normalised((sequence(layers, "the layers of a model") or [{}])[0], 1)
        config = layer.get("config", {})
    settings = mapping(config, "the settings of a layer")
    shape = settings.get("batch_input_shape", settings.get("batch_shape"))
    if shape is None and version == 1 and settings.get("input_dim") is not None:
        shape = [None, settings["input_dim"]]
    if shape is None and isinstance(layer.get("build_config"), dict):
        shape = layer["build_config"].get("input_shape")
    dtype = settings.get("input_dtype", settings.get("dtype"))
    written = {"batch_shape": shape, "dtype": dtype if isinstance(dtype, str) else "float32"}
    return Entry(INPUT, f"{name}_input", (), (INPUT, written), None)


def _branches(merge: Mapping[str, Any], version: int) -> tuple[list[Entry], Ref, tuple[Ref, ...]]:
    """Return Keras 1's models that a chain begins with, and the layer that merges them."""
    entries: list[Entry] = []
    inputs, ends = [], []
    config = dict(mapping(merge["config"], "Merge"))
    for number, branch in enumerate(sequence(config.pop("layers"), "the layers of Merge"), 1):
        layer = _normalised(branch, number)
        if layer["class_name"] == INPUT:
            entries.append(_entry(layer, (), version))
            inputs.append(Ref(entries[-1].name))
        else:
            start = _implicit_input(layer, version)
            inputs.append(Ref(start.name))
            entries += [start, _entry(layer, (Use((inputs[-1],), {}),), version)]
        ends.append(Ref(entries[-1].name))
    entries.append(_entry({**merge, "config": config}, (Use(tuple(ends), {}),), version))
    return entries, Ref(entries[-1].name), tuple(inputs)


# ---- graphs


def _graph(config: dict[str, Any], version: int) -> Part:
    layers = [mapping(layer, "a layer") for layer in sequence(config["layers"], "the layers of a model")]
    _check_count(layers)
    bases = {_name_of(layer): _pre_existing(layer, version) for layer in layers}
    entries = [_entry(layer, tuple(_uses(layer, bases)), version) for layer in layers]
    _check_names(entries)
    inputs = tuple(_refs(config.get("input_layers", []), _ends(layers, version, bases)))
    outputs = tuple(_refs(config["output_layers"], _ends(layers, version, bases)))
    if not outputs:
        raise FormatError("a model must have output_layers, got none.")
    return Part(False, tuple(entries), inputs, outputs)


def _pre_existing(layer: Mapping[str, Any], version: int) -> int:
    """Return how many uses a layer has before the first that the file tells: models of Keras 1 and 2 have one."""
    return int(version < _KERAS_3 and is_model(str(layer.get("class_name")), layer.get("config")))


def _ends(layers: Sequence[Mapping[str, Any]], version: int, bases: Mapping[str, int]) -> dict[str, int]:
    """Return the same for inputs and outputs of the model, where Keras 3 counts that use of functional models, too."""
    if version < _KERAS_3:
        return dict(bases)
    return {
        _name_of(layer): int(
            layer.get("class_name") not in SEQUENTIAL and is_model(str(layer.get("class_name")), layer.get("config"))
        )
        for layer in layers
    }


def _uses(layer: Mapping[str, Any], bases: Mapping[str, int]) -> Iterator[Use]:
    nodes = sequence(layer.get("inbound_nodes", []), "inbound_nodes")
    for node in nodes:
        if isinstance(node, dict):
            yield _use_of_keras_3(node)
        elif node:
            yield _use_of_older(sequence(node, "an inbound node"), bases)


def _use_of_keras_3(node: Mapping[str, Any]) -> Use:
    args = sequence(node.get("args", []), "args")
    arguments = {
        name: _with_refs(value)
        for name, value in mapping(node.get("kwargs", {}), "kwargs").items()
        if value is not None
    }
    first = _with_refs(args[0]) if args else arguments.pop("inputs", None)
    if len(args) > 1:
        arguments["args"] = [_with_refs(value) for value in args[1:]]
    return Use(tuple(_flat_refs(first)), arguments)


def _with_refs(value: Any) -> Any:
    """Return an argument with references in the place of Keras' tensors."""
    if isinstance(value, list):
        return [_with_refs(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("class_name") == "__keras_tensor__":
        history = sequence(mapping(value.get("config"), "a tensor").get("keras_history"), "keras_history")
        return _ref(history, {})
    if value.get("class_name") == "__tuple__":
        return [_with_refs(item) for item in sequence(value.get("items", []), "items")]
    return {name: _with_refs(item) for name, item in value.items()}


def _flat_refs(value: Any) -> Iterator[Ref]:
    if isinstance(value, Ref):
        yield value
    elif isinstance(value, (list, dict)):
        for item in _items(value):
            yield from _flat_refs(item)
    elif value is not None:
        wrong("an input of a layer", "the output of another", value)


def _use_of_older(node: list[Any], bases: Mapping[str, int]) -> Use:
    if isinstance(node[0], str):  # of one input, which older files of tf.keras have no list around
        node = [node]
    inputs, arguments = [], {}
    for given in node:
        fields = sequence(given, "an input")
        inputs.append(_ref(fields[:_LEGACY_INPUT], bases))
        for name, value in mapping(fields[_LEGACY_INPUT] if len(fields) > _LEGACY_INPUT else {}, "kwargs").items():
            arguments[name] = _older_argument(value, bases)
    return Use(tuple(inputs), {name: value for name, value in arguments.items() if value is not None})


def _older_argument(value: Any, bases: Mapping[str, int]) -> Any:
    """Return an argument of Keras 2: ``["lstm", 0, 1]`` is the output of a layer."""
    if not isinstance(value, list):
        return value
    is_ref = len(value) >= _LEGACY_INPUT and isinstance(value[0], str) and value[0] in bases
    return _ref(value[:_LEGACY_INPUT], bases) if is_ref else [_older_argument(item, bases) for item in value]


def _refs(value: Any, bases: Mapping[str, int]) -> Iterator[Ref]:
    """Yield the references in lists and objects of them."""
    if isinstance(value, list) and len(value) == _LEGACY_INPUT and isinstance(value[0], str):
        yield _ref(value, bases)
    elif isinstance(value, (list, dict)):
        for item in _items(value):
            yield from _refs(item, bases)
    else:
        wrong("input_layers and output_layers", "references [layer, use, output]", value)


def _items(value: dict[str, Any] | list[Any]) -> list[Any]:
    """Return what lies in a container; of objects by their names, as Keras does."""
    return [value[name] for name in sorted(value)] if isinstance(value, dict) else value


def _ref(fields: list[Any], bases: Mapping[str, int]) -> Ref:
    if len(fields) != _LEGACY_INPUT:
        wrong("a reference to a layer", "[layer, use, output]", fields)
    name, use, output = fields
    number = index(use, "the number of a use")
    base = bases.get(text(name, "the name of a layer"), 0)
    return Ref(name, number - base if number >= base else number, index(output, "the number of an output"))


# ---- layers


def _name_of(layer: Mapping[str, Any]) -> str:
    config = layer.get("config")
    own = config.get("name") if isinstance(config, dict) else None
    name = layer.get("name") or own
    if name is None and isinstance(layer.get("class_name"), str):
        return str(layer["class_name"]).lower()
    return text(name, "the name of a layer")


def _entry(layer: Mapping[str, Any], uses: tuple[Use, ...], version: int) -> Entry:
    class_name = text(field(layer, "class_name", "a layer"), "class_name")
    config = field(layer, "config", class_name)
    if is_model(class_name, config):
        settings = config if isinstance(config, dict) else {}
        outer = {"trainable": settings.get("trainable", True)}
        return Entry(class_name, _name_of(layer), uses, (class_name, outer), part_of(layer, version))
    written = class_name.rpartition(">")[2]
    if str(layer.get("module", "")).startswith(("keras.src.ops", "keras.ops")):
        class_name = f"keras.ops.{class_name}"
    settings = mapping(config, f"the settings of {class_name}")
    return Entry(written, _name_of(layer), uses, modern(class_name, settings, version), None)


def _check_count(layers: Sequence[object]) -> None:
    if len(layers) > _MOST_LAYERS:
        raise FormatError(f"a model must have at most {_MOST_LAYERS:,} layers, got {len(layers):,}.")


def _check_names(entries: Sequence[Entry]) -> None:
    seen: set[str] = set()
    for entry in entries:
        if entry.name in seen:
            raise FormatError(f"layers must have names of their own, got {entry.name!r} twice.")
        seen.add(entry.name)
