"""DL4J 1.0's configuration JSON, both ways.

Every kind of value has one codec; a layer is a table of JSON fields. Parts that this library does not have are refused,
never dropped: a file that asks for it would otherwise train differently.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from nd import ArgumentError, ConfigurationError, FormatError, NdError
from nd.checks import check_choice
from optimize.chunks import STEP_FUNCTIONS
from optimize.solvers import OPTIMIZERS

from ..conf.data_formats import settled_chain
from ..conf.enums import JAVA_BACKPROP_TYPES
from ..conf.java_form import CUDNN
from ..conf.legacy import Dropped, Modern, modernise
from ..conf.network import MultiLayerConfiguration, NeuralNetConfiguration
from ..conf.preprocessors import PREPROCESSORS, InputPreProcessor, WithFormat
from ..conf.registration import layer_of, written_as
from ..layers import BaseLayerConf, LayerConf
from ..layers.base import label_of
from .findings import MISSING, Finding, Findings, Unsupported, only_for_training, path_text, warn_of, without
from .forms import LayerForm
from .json_fields import JAVA_INT, parse
from .json_values import Json, camel_case, class_name, part_codec, regularization_from_json, regularization_to_json
from .own_schedules import take_own
from .own_settings import own_settings

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
_MUST_BE = {"legacyBatchScaledL2": False}
_ABSENT = {
    "activationFn": None, "avgPoolIncludePadInDivisor": True, "convolutionMode": "Truncate", "dilation": [1, 1],
    "hasBias": True, "inferInputLength": False,
}  # fmt: skip
"""Java's values of missing fields, where they are not the dataclass's defaults."""
_OTHER_SPELLINGS = {"nin": "nIn", "nout": "nOut"}
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
    findings, values = Findings(), {}
    expected = {**{key: value for key, value in form.constants.items() if key not in _UNUSED}, **_MUST_BE}
    for key, only in expected.items():
        findings.read((key,), _refuse_other, java_name, key, data.get(key, only), only)
    absent = {**_ABSENT, **form.absent}
    for key, (field, codec) in form.fields.items():
        spelled = key if key in data else _OTHER_SPELLINGS.get(key, key)
        if spelled in data or key in absent:
            values[field] = findings.read((spelled,), codec.decode, data.get(spelled, absent.get(key)))
    if issubclass(layer_class, BaseLayerConf):
        for key, field in (("regularization", "regularization"), ("regularizationBias", "regularization_bias")):
            penalties = findings.read((key,), regularization_from_json, java_name, data.get(key))
            values |= {field: penalties} if penalties is not MISSING and penalties else {}
    findings.settle()
    return layer_class(**values, unused=_unused(data, form))


def _unused(data: Json, form: LayerForm) -> Json:
    """Return a file's fields of a layer that has none for them, but those that are written anyway."""
    known = {"@class", "type", "regularization", "regularizationBias", *form.fields, *form.derived, *_DERIVED_BY_JAVA}
    known |= {_OTHER_SPELLINGS.get(key, key) for key in form.fields}
    unused = {}
    for key, value in data.items():
        other = key in _UNUSED and value != form.constants[key] if key in form.constants else key not in known
        if other:
            unused[key] = value
    return unused


def _refuse_other(java_name: str, key: str, value: Any, only: Any) -> None:
    if value != only and value not in (None, []):
        raise ConfigurationError(f"{java_name}: {key} {value!r} is not supported, only {only!r}.")


def _preprocessor_fields(preprocessor: InputPreProcessor) -> Json:
    written = {camel_case(field.name): getattr(preprocessor, field.name) for field in fields(preprocessor)}
    if isinstance(preprocessor, WithFormat):
        written[preprocessor.key] = written.pop("dataFormat") or preprocessor.formats[0]
    if written.get("ncdhw", False) is None:
        written["ncdhw"] = True
    return written


def _preprocessor_of(preprocessor_class: Any, data: Json) -> InputPreProcessor:
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


def _conf_to_json(conf: MultiLayerConfiguration, index: int) -> Json:
    base, layer = conf.base, conf.layers[index]
    names = [spec.name for spec in layer.param_specs()]
    names = [*names[1:], "b"] if names[:1] == ["b"] else names  # Java lists a convolution's bias last
    return {
        "cacheMode": base.unused.get("cacheMode", "NONE"),
        "dataType": _DATA_TYPES[str(base.dtype)],
        "epochCount": conf.epoch_count,
        "iterationCount": conf.iteration_count,
        "layer": layer_to_json(layer),
        "maxNumLineSearchIterations": base.max_num_line_search_iterations,
        "miniBatch": base.mini_batch,
        "minimize": base.minimize,
        "optimizationAlgo": base.optimization_algo.upper(),
        "seed": base.seed,
        "stepFunction": None,
        "variables": names,
    }


def network_to_json(conf: MultiLayerConfiguration) -> str:
    """Return the configuration as DL4J 1.0 writes it."""
    text, schedules = java_and_own(conf)
    own = own_settings(conf.base) | {path: schedule["@class"] for path, schedule in schedules.items()}
    if own:
        said = ", ".join(f"{name} {value!r}" for name, value in own.items())
        raise ConfigurationError(f"to_json: DL4J 1.0 has no place for {said}. Leave it out, or save a zip, which has.")
    return text


def java_and_own(conf: MultiLayerConfiguration) -> tuple[str, Json]:
    """Return JSON that Java can read, and the schedules that it does not have: path in the JSON -> schedule."""
    document = {
        "backpropType": next(java for java, own in JAVA_BACKPROP_TYPES.items() if own == conf.backprop_type),
        "confs": [_conf_to_json(conf, index) for index in range(len(conf.layers))],
        "dataType": _DATA_TYPES[str(conf.base.dtype)],
        "epochCount": conf.epoch_count,
        "inputPreProcessors": {str(index): PREPROCESSOR.encode(p) for index, p in conf.preprocessors.items()},
        "iterationCount": conf.iteration_count,
        "tbpttBackLength": conf.tbptt_back_length,
        "tbpttFwdLength": conf.tbptt_fwd_length,
        "validateOutputLayerConfig": conf.base.validate_output_layer_config,
    }
    document |= {key: conf.base.unused.get(key, usual) for key, usual in _UNUSED_OF_NETWORKS.items()}
    schedules = take_own(document)
    return json.dumps(document, indent=2, sort_keys=True, separators=(",", " : ")), schedules


def network_from_json(text: str, strict: bool = True) -> MultiLayerConfiguration:
    """Read a configuration; see `MultiLayerConfiguration.from_json`."""
    document, dropped = _reader(_parsed)(text)
    _warn_of_dropped(dropped)
    try:
        return _reader(_network)(document)
    except Unsupported as error:
        if strict or not all(only_for_training(finding.path) for finding in error.findings):
            raise error.settled() from error
        warn_of([str(finding) for finding in error.findings], "left out, which training would need")
        return _reader(_network)(without(document, error.findings))


def _parsed(text: str) -> Modern:
    document = parse(text)
    if not isinstance(document, dict) or not isinstance(document.get("confs"), list) or not document["confs"]:
        if isinstance(document, dict) and "vertices" in document:
            raise FormatError(
                "configuration: expected DL4J's MultiLayerConfiguration, got a ComputationGraphConfiguration. Read its "
                "file with ModelFile.read."
            )
        raise FormatError(
            "configuration: expected DL4J's MultiLayerConfiguration as JSON with 'confs', got "
            f"{str(document)[:100]}. Is it another kind of file?"
        )
    return modernise(document)


def network_document(text: str) -> tuple[Json, Json]:
    """Return the configuration of any kind of network, parsed, and the same in 1.0's form; warn of dropped fields.

    Raises
    ------
    FormatError
        It is no configuration of a network.
    """
    document = parse(text)
    confs = document.get("confs") if isinstance(document, dict) else None
    is_graph = isinstance(document, dict) and "vertices" in document and "networkInputs" in document
    if not (is_graph or (isinstance(confs, list) and confs)):
        raise FormatError(
            "configuration: expected 'confs' of a MultiLayerConfiguration, or 'vertices' and 'networkInputs' of a "
            "ComputationGraphConfiguration, got neither. Is it another kind of file?"
        )
    modern, dropped = _reader(modernise)(document)
    _warn_of_dropped(dropped)
    return document, modern


def _warn_of_dropped(dropped: list[Dropped]) -> None:
    lines = [path_text(path) for path, _ in dropped]
    warn_of(lines, "Deeplearning4j 1.0 has no place for what this older file says of")


def unsupported_in_layer(data: Any) -> list[Finding]:
    """Return the parts of a layer, in 1.0's form, that this library does not have."""
    findings = Findings()
    _reader(findings.read)((), layer_from_json, data)
    return findings.entries


def unsupported_in(document: Json) -> list[Finding]:
    """Return the parts of a network's configuration, in 1.0's form, that this library does not have."""
    try:
        _reader(_network)(document)
    except Unsupported as error:
        return error.findings
    except FormatError:
        raise
    except NdError as error:
        return [Finding((), error)]
    return []


def _network(data: Json) -> MultiLayerConfiguration:
    findings, confs = Findings(), data["confs"]
    kind = data.get("backpropType") or "Standard"
    findings.read(("backpropType",), check_choice, "configuration", "backpropType", kind, JAVA_BACKPROP_TYPES)
    base, layers, preprocessors = _network_parts(findings, data, confs)
    layers, preprocessors = settled_chain(layers, preprocessors)
    for index, layer in enumerate(layers):
        layer.check(label_of(index, layer))
        inner = layer.innermost
        for field in getattr(inner, "needed", _NEEDED) if isinstance(inner, BaseLayerConf) else ():
            if getattr(inner, field) is None:
                raise FormatError(f"configuration: {label_of(index, layer)} must have {field}, got none.")
    counts = [data.get(key, 0) for key in ("iterationCount", "epochCount")]
    if any(type(count) is not int or not 0 <= count <= JAVA_INT for count in counts):
        raise FormatError(f"configuration: iterationCount and epochCount must be 0 to {JAVA_INT}, got {counts}.")
    return MultiLayerConfiguration(
        base=base,
        layers=layers,
        preprocessors=preprocessors,
        iteration_count=counts[0],
        epoch_count=counts[1],
        backprop_type=JAVA_BACKPROP_TYPES[kind],
        tbptt_fwd_length=20 if data.get("tbpttFwdLength") is None else data["tbpttFwdLength"],
        tbptt_back_length=20 if data.get("tbpttBackLength") is None else data["tbpttBackLength"],
    )


def _reader(function: Callable[..., Any]) -> Callable[..., Any]:
    """Turn an error that a malformed document causes in Python code into a FormatError."""

    def read(*arguments: Any) -> Any:
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


def _network_parts(findings: Findings, data: Json, confs: list[Json]) -> tuple[Any, Any, Any]:
    """Return settings, layers and preprocessors; raise Unsupported with all findings."""
    first = confs[0]
    dtype = findings.read(("dataType",), _dtype_from_json, data.get("dataType"))
    algorithm = str(first.get("optimizationAlgo", "STOCHASTIC_GRADIENT_DESCENT")).lower()
    where = ("confs", 0, "optimizationAlgo")
    findings.read(where, check_choice, "configuration", "optimization_algo", algorithm, OPTIMIZERS)
    steps = [
        findings.read(("confs", index, "stepFunction"), _step_function_from_json, conf.get("stepFunction"))
        for index, conf in enumerate(confs)
    ]
    layers = tuple(
        findings.read(("confs", index, "layer"), layer_from_json, conf["layer"]) for index, conf in enumerate(confs)
    )
    stored = data.get("inputPreProcessors") or {}
    preprocessors = {
        int(index): findings.read(("inputPreProcessors", index), PREPROCESSOR.decode, p)
        for index, p in sorted(stored.items(), key=lambda i: int(i[0]))
    }
    findings.settle()
    base = NeuralNetConfiguration(
        seed=first.get("seed"),
        dtype=dtype,
        mini_batch=_flag(first, "miniBatch"),
        minimize=_flag(first, "minimize"),
        optimization_algo=algorithm,
        step_function=steps[0],
        max_num_line_search_iterations=first.get("maxNumLineSearchIterations", 5),
        validate_output_layer_config=_flag(data, "validateOutputLayerConfig"),
        unused={key: data[key] for key, usual in _UNUSED_OF_NETWORKS.items() if data.get(key) not in (None, usual)},
    )
    return base, layers, preprocessors


def _flag(data: Json, key: str) -> bool:
    value = data.get(key, True)
    if not isinstance(value, bool):
        raise FormatError(f"configuration: {key} must be true or false, got {value!r}.")
    return value


def _step_function_from_json(data: Any) -> str | None:
    if data is None:
        return None
    by_class = {f"{camel_case(f'_{name}')}StepFunction": name for name in STEP_FUNCTIONS}
    return by_class[check_choice("configuration", "stepFunction", class_name("stepFunction", data), by_class)]


def _dtype_from_json(name: Any) -> str:
    """Return the type to compute in: 32 bits for numbers stored in 16."""
    types = {java: ours for ours, java in _DATA_TYPES.items()} | {"BFLOAT16": "float32", "HALF": "float32"}
    if name is not None and name not in types:
        raise ConfigurationError(f"configuration: dataType {name!r} is not supported, only {', '.join(sorted(types))}.")
    return types[name or "FLOAT"]
