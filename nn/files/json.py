"""DL4J 1.0's configuration JSON, both ways.

Every kind of value has one codec; a layer is a table of JSON fields. Parts that this library does not have are refused,
never dropped: a file that asks for it would otherwise train differently.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from nd import ArgumentError, ConfigurationError, FormatError, NdError
from nd.checks import check_choice
from optimize.solvers import OPTIMIZERS
from optimize.step import STEP_FUNCTIONS

from ..conf.multilayer import MultiLayerConfiguration
from ..conf.network import NeuralNetConfiguration
from ..conf.network_formats import settled_chain
from ..conf.nodes import NetworkConfiguration
from ..layers import BaseLayerConf, LayerConf
from ..layers.base import label_of
from ..terms.enums import JAVA_BACKPROP_TYPES
from ..terms.java_form import CUDNN, JAVA_INT
from ..terms.preprocessors import PREPROCESSORS, InputPreProcessor, WithFormat
from .findings import MISSING, Findings, Path, Unsupported, only_for_training, path_text, warn_of, without
from .forms import OTHER_SPELLINGS, LayerForm, read_fields
from .idle_settings import fill_idle_settings
from .json_fields import parse
from .json_values import Json, camel_case, class_name, part_codec, regularization_from_json, regularization_to_json
from .legacy import Dropped, Modern, modernise
from .own_schedules import take_own
from .own_settings import exact, own_settings
from .registration import layer_of, written_as

_DATA_TYPES = {"float32": "FLOAT", "float64": "DOUBLE"}


_UNUSED = {
    "activationFn", "biasInit", "biasUpdater", "constraints", "eps", "gainInit", "gradientNormalization",
    "gradientNormalizationThreshold", "iupdater", "lastEpochSinceRUpdated", "mode", "nin", "nout", "regularization",
    "regularizationBias", "timeDistributedFormat", "weightInitFn", "weightNoise", *CUDNN,
}  # fmt: skip
"""Fields that a layer does not have and that change nothing, whatever a file says: kept, and written again."""
_DERIVED_BY_JAVA = {"layerParams", "outputSize", "featureDim"}
"""Fields that Java writes of a layer and that follow from the rest."""
_UNUSED_OF_NETWORKS = {
    "cacheMode": "NONE", "inferenceWorkspaceMode": "ENABLED", "trainingWorkspaceMode": "ENABLED",
}  # fmt: skip
"""The same of the network itself, with the values of Java's builder."""
_MAPS = {"biasParams", "vertexInputs", "vertices", "weightParams"}
"""Maps whose order tells the order of vertices, and of a vertex's parameters."""
_MUST_BE = {"legacyBatchScaledL2": False}
_ABSENT = {
    "activationFn": None, "avgPoolIncludePadInDivisor": True, "convolutionMode": "Truncate", "dilation": [1, 1],
    "hasBias": True, "inferInputLength": False,
}  # fmt: skip
"""Java's values of missing fields, where they are not the dataclass's defaults."""
_NEEDED = ("activation", "updater", "weight_init", "bias_init")
"""The fields that no layer with parameters may lack, where its `needed` names no others."""


def layer_to_json(conf: LayerConf) -> Json:
    """Return a layer as DL4J writes it."""
    _, java_class, form = written_as(conf)
    out: Json = {**conf.unused, "@class": java_class}
    out |= {key: conf.unused.get(key, value) if key in _UNUSED else value for key, value in form.constants.items()}
    out.update({key: codec.encode(getattr(conf, field)) for key, (field, codec) in form.fields.items()})
    out.update({key: derive(conf) for key, derive in form.derived.items()})
    if isinstance(conf, BaseLayerConf):
        out["regularization"] = regularization_to_json(conf.regularization_of(bias=False))
        out["regularizationBias"] = regularization_to_json(conf.regularization_of(bias=True))
    return out


def layer_from_json(data: Json) -> LayerConf:
    """Read a layer; raise ConfigurationError where it asks for a part that this library does not have."""
    java_name = class_name("layer", data)
    layer_class, _, form = layer_of(data)
    findings = Findings()
    expected = {**{key: value for key, value in form.constants.items() if key not in _UNUSED}, **_MUST_BE}
    for key, only in expected.items():
        findings.read((key,), _refuse_other, java_name, key, data.get(key, only), only)
    values = read_fields(findings, form, data, {**_ABSENT, **form.absent})
    if issubclass(layer_class, BaseLayerConf):
        for key, field in (("regularization", "regularization"), ("regularizationBias", "regularization_bias")):
            penalties = findings.read((key,), regularization_from_json, java_name, data.get(key))
            values |= {field: penalties} if penalties is not MISSING and penalties else {}
    findings.settle()
    return layer_class(**values, unused=_unused(data, form))


def _unused(data: Json, form: LayerForm) -> Json:
    """Return a file's fields of a layer that has none for them, but those that are written anyway."""
    known = {"@class", "type", "regularization", "regularizationBias", *form.fields, *form.derived, *_DERIVED_BY_JAVA}
    known |= {OTHER_SPELLINGS.get(key, key) for key in form.fields}
    unused = {}
    for key, value in data.items():
        other = key in _UNUSED and value != form.constants[key] if key in form.constants else key not in known
        if other:
            unused[key] = _as_java_writes(value)
    return unused


def _as_java_writes(value: Any) -> Any:
    """Return what is kept with the class of its distribution under "type", as Java alone reads it."""
    distribution = value.get("distribution") if isinstance(value, dict) else None
    if not isinstance(distribution, dict) or "@class" not in distribution:
        return value
    others = {name: number for name, number in distribution.items() if name != "@class"}
    return {**value, "distribution": {"type": distribution["@class"], **others}}


def _refuse_other(java_name: str, key: str, value: object, only: object) -> None:
    if value != only and value not in (None, []):
        raise ConfigurationError(f"{java_name}: {key} {value!r} is not supported, only {only!r}.")


def _preprocessor_fields(preprocessor: InputPreProcessor) -> Json:
    written = {camel_case(field.name): getattr(preprocessor, field.name) for field in fields(preprocessor)}
    if isinstance(preprocessor, WithFormat):
        written[preprocessor.key] = written.pop("dataFormat") or preprocessor.formats[0]
    if written.get("ncdhw", False) is None:
        written["ncdhw"] = True
    return written


def _preprocessor_of(preprocessor_class: type, data: Json) -> InputPreProcessor:
    names = {field.name for field in fields(preprocessor_class)}
    values = {name: data[camel_case(name)] for name in names - {"data_format", "ncdhw"}}
    if any(type(size) is not int or size < 1 for size in values.values()):
        name = preprocessor_class.__name__
        raise FormatError(f"configuration: sizes of {name} must be integers >= 1, got {[*values.values()]}.")
    if issubclass(preprocessor_class, WithFormat) and data.get(preprocessor_class.key) is not None:
        values["data_format"] = data[preprocessor_class.key]
    if "ncdhw" in names:
        values["ncdhw"] = _flag({"ncdhw": True, **data}, "isNCDHW" if "isNCDHW" in data else "ncdhw")
    return preprocessor_class(**values)


PREPROCESSOR = part_codec(
    "input preprocessor", "input preprocessor", "org.deeplearning4j.nn.conf.preprocessor.", PREPROCESSORS.values(),
    _preprocessor_fields, _preprocessor_of,
)  # fmt: skip


def conf_to_json(conf: NetworkConfiguration, layer: LayerConf | None) -> Json:
    """Return the settings of a network around one layer, as DL4J writes them; None for those of the whole."""
    base = conf.base
    specs = () if layer is None else layer.param_specs()
    names = [spec.name for spec in specs]
    names = [*names[1:], "b"] if names[:1] == ["b"] else names  # Java lists a convolution's bias last
    counts = conf.iteration_count, conf.epoch_count
    # Java's pretraining of a layer goes on from its own, with a state that begins anew.
    iterations, epochs = (0, 0) if any(spec.pretrained for spec in specs) else counts
    return {
        "cacheMode": base.unused.get("cacheMode", "NONE"),
        "dataType": _DATA_TYPES[str(base.dtype)],
        "epochCount": epochs,
        "iterationCount": iterations,
        "layer": None if layer is None else fill_idle_settings(layer_to_json(layer), base),
        "maxNumLineSearchIterations": base.max_num_line_search_iterations,
        "miniBatch": base.mini_batch,
        "minimize": base.minimize,
        "optimizationAlgo": base.optimization_algo.upper(),
        "seed": base.seed,
        "stepFunction": None,
        "variables": names,
    }


def network_to_json(conf: NetworkConfiguration) -> str:
    """Return the configuration as DL4J 1.0 writes it."""
    text, schedules = java_and_own(conf)
    own = own_settings(conf.base) | exact(conf) | {path: schedule["@class"] for path, schedule in schedules.items()}
    if own:
        said = ", ".join(f"{name} {value!r}" for name, value in own.items())
        raise ConfigurationError(f"to_json: DL4J 1.0 has no place for {said}. Leave it out, or save a zip, which has.")
    return text


def java_and_own(conf: NetworkConfiguration) -> tuple[str, Json]:
    """Return JSON that Java can read, and the schedules that it does not have: path in the JSON -> schedule."""
    from .graph_json import graph_document

    of_graph: Any = graph_document  # which is asked by what the configuration has, as its class costs imports
    of_kind = of_graph(conf) if hasattr(conf, "vertices") else _layers_document(conf)
    document = {
        "backpropType": next(java for java, own in JAVA_BACKPROP_TYPES.items() if own == conf.backprop_type),
        "dataType": _DATA_TYPES[str(conf.base.dtype)],
        "epochCount": conf.epoch_count,
        "iterationCount": conf.iteration_count,
        "tbpttBackLength": conf.tbptt_back_length,
        "tbpttFwdLength": conf.tbptt_fwd_length,
        "validateOutputLayerConfig": conf.base.validate_output_layer_config,
        **of_kind,
    }
    document |= {key: conf.base.unused.get(key, usual) for key, usual in _UNUSED_OF_NETWORKS.items()}
    schedules = take_own(document)
    return json.dumps(_sorted(document), indent=2, separators=(",", " : ")), schedules


def _layers_document(conf: Any) -> Json:
    return {
        "confs": [conf_to_json(conf, layer) for layer in conf.layers],
        "inputPreProcessors": {str(index): PREPROCESSOR.encode(p) for index, p in conf.preprocessors.items()},
    }


def _sorted(value: object, key: str = "") -> object:
    """Return a document with the fields of everything sorted; those that are maps in Java keep their order."""
    if isinstance(value, list):
        return [_sorted(item) for item in value]
    if not isinstance(value, dict):
        return value
    keys = list(value) if key in _MAPS else sorted(value)
    return {name: _sorted(value[name], name) for name in keys}


def network_from_json(text: str, strict: bool = True) -> MultiLayerConfiguration:
    """Read a configuration; see `MultiLayerConfiguration.from_json`."""
    document, dropped = reader(_parsed)(text)
    return configuration_of(document, dropped, network_of_document, strict)


def configuration_of(document: Json, dropped: list[Dropped], read: Callable[[Json], object], strict: bool) -> Any:
    """Return a configuration by `read` from a document in 1.0's form; warn of what is left out."""
    warn_of_dropped(dropped)
    try:
        return reader(read)(document)
    except Unsupported as error:
        if strict or not all(only_for_training(finding.path) for finding in error.findings):
            raise error.settled() from error
        warn_of([str(finding) for finding in error.findings], "left out, which training would need")
        return reader(read)(without(document, error.findings))


def _parsed(text: str) -> Modern:
    document = parse(text)
    if not isinstance(document, dict) or not isinstance(document.get("confs"), list) or not document["confs"]:
        if isinstance(document, dict) and "vertices" in document:
            raise FormatError(
                "configuration: expected DL4J's MultiLayerConfiguration, got a ComputationGraphConfiguration. Read it "
                "with ComputationGraphConfiguration.from_json, its file with ComputationGraph.load or nn.load."
            )
        raise FormatError(
            "configuration: expected DL4J's MultiLayerConfiguration as JSON with 'confs', got "
            f"{str(document)[:100]}. Is it another kind of file?"
        )
    return modernise(document)


def warn_of_dropped(dropped: list[Dropped]) -> None:
    """Warn of settings of an older file that Java 1.0 drops."""
    lines = [path_text(path) for path, _ in dropped]
    warn_of(lines, "Deeplearning4j 1.0 has no place for what this older file says of")


def network_of_document(data: Json) -> MultiLayerConfiguration:
    """Return the configuration of a document in 1.0's form; raise Unsupported with all findings."""
    findings = Findings()
    confs: dict[Path, Json] = {("confs", index): conf for index, conf in enumerate(data["confs"])}
    noted = note_settings(findings, data, confs)
    layers = read_layers(findings, confs)
    stored = data.get("inputPreProcessors") or {}
    preprocessors = {
        int(index): findings.read(("inputPreProcessors", index), PREPROCESSOR.decode, p)
        for index, p in sorted(stored.items(), key=lambda i: int(i[0]))
    }
    findings.settle()
    settled, preprocessors = settled_chain(layers, preprocessors)
    for index, layer in enumerate(settled):
        check_layer(label_of(index, layer), layer)
    return MultiLayerConfiguration(layers=settled, preprocessors=preprocessors, **settings_of(data, noted))


def check_layer(label: str, layer: LayerConf) -> None:
    """Raise FormatError where a layer of a file lacks something that it needs to be run."""
    layer.check(label)
    inner = layer.innermost
    for field in getattr(inner, "needed", _NEEDED) if isinstance(inner, BaseLayerConf) else ():
        if getattr(inner, field) is None:
            raise FormatError(f"configuration: {label} must have {field}, got none.")


def read_layers(findings: Findings, confs: Mapping[Path, Json]) -> list[LayerConf]:
    """Return the layers of the settings around them, path -> settings."""
    return [findings.read((*path, "layer"), layer_from_json, conf["layer"]) for path, conf in confs.items()]


def note_settings(findings: Findings, data: Json, confs: Mapping[Path, Json]) -> dict[str, object]:
    """Return what `settings_of` takes: of the network, and of the first of the settings around layers."""
    kind = data.get("backpropType") or "Standard"
    findings.read(("backpropType",), check_choice, "configuration", "backpropType", kind, JAVA_BACKPROP_TYPES)
    dtype = findings.read(("dataType",), _dtype_from_json, data.get("dataType"))
    path, first = next(iter(confs.items()), ((), {}))
    algorithm = str(first.get("optimizationAlgo", "STOCHASTIC_GRADIENT_DESCENT")).lower()
    where = (*path, "optimizationAlgo")
    findings.read(where, check_choice, "configuration", "optimization_algo", algorithm, OPTIMIZERS)
    steps = [
        findings.read((*path, "stepFunction"), _step_function_from_json, conf.get("stepFunction"))
        for path, conf in confs.items()
    ]
    return {"kind": kind, "dtype": dtype, "algorithm": algorithm, "step": steps[0] if steps else None, "first": first}


def settings_of(data: Json, noted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of the network itself, arguments of its configuration."""
    counts = [data.get(key, 0) for key in ("iterationCount", "epochCount")]
    if any(type(count) is not int or not 0 <= count <= JAVA_INT for count in counts):
        raise FormatError(f"configuration: iterationCount and epochCount must be 0 to {JAVA_INT}, got {counts}.")
    first = noted["first"]
    base = NeuralNetConfiguration(
        seed=first.get("seed"),
        dtype=noted["dtype"],
        mini_batch=_flag(first, "miniBatch"),
        minimize=_flag(first, "minimize"),
        optimization_algo=noted["algorithm"],
        step_function=noted["step"],
        max_num_line_search_iterations=first.get("maxNumLineSearchIterations", 5),
        validate_output_layer_config=_flag(data, "validateOutputLayerConfig"),
        backprop=data.get("backprop") is not False,
        pretrain=data.get("pretrain") is True,
        unused={key: data[key] for key, usual in _UNUSED_OF_NETWORKS.items() if data.get(key) not in (None, usual)},
    )
    return {
        "base": base,
        "iteration_count": counts[0],
        "epoch_count": counts[1],
        "backprop_type": JAVA_BACKPROP_TYPES[noted["kind"]],
        "tbptt_fwd_length": 20 if data.get("tbpttFwdLength") is None else data["tbpttFwdLength"],
        "tbptt_back_length": 20 if data.get("tbpttBackLength") is None else data["tbpttBackLength"],
    }


def reader(function: Callable[..., Any]) -> Callable[..., Any]:
    """Turn an error that a malformed document causes in Python code into a FormatError."""

    def read(*arguments: object) -> Any:
        try:
            return function(*arguments)
        except ArgumentError as error:
            raise FormatError(f"configuration: {error}") from error
        except (AttributeError, IndexError, KeyError, OverflowError, RecursionError, TypeError) as error:
            if isinstance(error, NdError):
                raise
            raise FormatError(f"configuration: malformed, {type(error).__name__}: {error}.") from error
        except ValueError as error:
            if isinstance(error, NdError):
                raise
            raise FormatError(f"configuration: malformed, {error}.") from error

    return read


def _flag(data: Json, key: str) -> bool:
    value = data.get(key, True)
    if not isinstance(value, bool):
        raise FormatError(f"configuration: {key} must be true or false, got {value!r}.")
    return value


def _step_function_from_json(data: object) -> str | None:
    if data is None:
        return None
    by_class = {f"{camel_case(f'_{name}')}StepFunction": name for name in STEP_FUNCTIONS}
    return by_class[check_choice("configuration", "stepFunction", class_name("stepFunction", data), by_class)]


def _dtype_from_json(name: object) -> str:
    """Return the type to compute in: 32 bits for numbers stored in 16."""
    types = {java: ours for ours, java in _DATA_TYPES.items()} | {"BFLOAT16": "float32", "HALF": "float32"}
    if name is not None and name not in types:
        raise ConfigurationError(f"configuration: dataType {name!r} is not supported, only {', '.join(sorted(types))}.")
    return types[name or "FLOAT"]
