"""DL4J 1.0's configuration JSON, both ways.

Every kind of value has one codec; a layer is a table of JSON fields. What this library does not have is refused,
never dropped: a file that asks for it would otherwise train differently.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from nd import ChoiceError, ConfigurationError, FormatError, NdError

from ..layers import LAYERS, BaseLayerConf, LayerConf
from ..layers.base import label_of
from ..preprocessors import PREPROCESSORS, InputPreProcessor
from .forms import LAYER_FORMS
from .forms.base import CUDNN, Json
from .json_values import camel_case, class_name, regularization_from_json, regularization_to_json
from .network import MultiLayerConfiguration, NeuralNetConfiguration

_LAYER_PACKAGE = "org.deeplearning4j.nn.conf.layers."
_PREPROCESSOR_PACKAGE = "org.deeplearning4j.nn.conf.preprocessor."
_PREPROCESSOR_MUST_BE = {"rnnDataFormat": "NCW", "isNCDHW": True, "ncdhw": True}
_DATA_TYPES = {"float32": "FLOAT", "float64": "DOUBLE"}


_UNUSED = {"gradientNormalizationThreshold", "gainInit", "eps", *CUDNN, "nin", "nout", "timeDistributedFormat", "mode"}
"""Constants that change nothing here, whatever a file says."""
_MUST_BE = {"cnn2dDataFormat": "NCHW", "legacyBatchScaledL2": False}
_ABSENT = {"convolutionMode": "Truncate", "dilation": [1, 1], "hasBias": True, "avgPoolIncludePadInDivisor": True}
"""What Java takes where a field is missing, if it is not the dataclass's default."""

_OTHER_NAMES = {"Convolution1D": "Convolution1DLayer", "Convolution2D": "ConvolutionLayer"}
"""Java's subclasses that are nothing but a name -> the class."""


def layer_to_json(conf: LayerConf) -> Json:
    """Return a layer as DL4J writes it."""
    name = next(name for name, layer_class in LAYERS.items() if layer_class is type(conf))
    form = LAYER_FORMS[name]
    package = form.package if form.package.startswith("org.") else _LAYER_PACKAGE + form.package
    out: Json = {"@class": package + type(conf).__name__, **form.constants}
    out.update({key: codec.encode(getattr(conf, field)) for key, (field, codec) in form.fields.items()})
    out.update({key: derive(conf) for key, derive in form.derived.items()})
    if isinstance(conf, BaseLayerConf):
        out["regularization"] = regularization_to_json(conf.regularization_of(bias=False))
        out["regularizationBias"] = regularization_to_json(conf.regularization_of(bias=True))
    return out


def layer_from_json(data: Json) -> LayerConf:
    """Read a layer; raise ConfigurationError where it asks for what this library does not have."""
    java_name = class_name("layer", data)
    by_class = {layer_class.__name__: name for name, layer_class in LAYERS.items()}
    java_name = _OTHER_NAMES.get(java_name, java_name)
    if java_name not in by_class:
        raise ChoiceError(
            f"layer: unknown class {data.get('@class')!r}, expected one of {', '.join(sorted(by_class))}."
        )
    name = by_class[java_name]
    form, layer_class = LAYER_FORMS[name], LAYERS[name]
    _refuse_unsupported(java_name, data, form.constants)
    values: Json = {}
    absent = {**_ABSENT, **form.absent}
    for key, (field, codec) in form.fields.items():
        spelled = key if key in data else {"nin": "nIn", "nout": "nOut"}.get(key, key)
        if spelled in data or key in absent:
            values[field] = codec.decode(data.get(spelled, absent.get(key)))
    if issubclass(layer_class, BaseLayerConf):
        values |= regularization_from_json(java_name, data.get("regularization"))
        values |= regularization_from_json(java_name, data.get("regularizationBias"), bias=True)
    return layer_class(**values)


def _refuse_unsupported(java_name: str, data: Json, constants: Json) -> None:
    expected = {**{key: value for key, value in constants.items() if key not in _UNUSED}, **_MUST_BE}
    for key, only in expected.items():
        found = data.get(key, only)
        if found != only and found not in (None, []):
            raise ConfigurationError(f"{java_name}: {key} {found!r} is not supported, only {only!r}.")


def _preprocessor_to_json(preprocessor: InputPreProcessor) -> Json:
    sizes = {camel_case(field.name): getattr(preprocessor, field.name) for field in fields(preprocessor)}
    return {"@class": _PREPROCESSOR_PACKAGE + type(preprocessor).__name__, **sizes}


def _preprocessor_from_json(data: Json) -> InputPreProcessor:
    by_class = {found.__name__: found for found in PREPROCESSORS.values()}
    java_name = class_name("input preprocessor", data)
    if java_name not in by_class:
        raise ChoiceError(f"input preprocessor: unknown {java_name!r}, expected one of {', '.join(sorted(by_class))}.")
    _refuse_unsupported(java_name, {"cnn2dDataFormat": data.get("format", "NCHW")}, {})
    for key, only in _PREPROCESSOR_MUST_BE.items():
        if data.get(key, only) != only:
            raise ConfigurationError(f"{java_name}: {key} {data[key]!r} is not supported, only {only!r}.")
    sizes = {field.name: data[camel_case(field.name)] for field in fields(by_class[java_name])}
    if any(type(size) is not int or size < 1 for size in sizes.values()):
        raise FormatError(f"configuration: sizes of {java_name} must be integers >= 1, got {[*sizes.values()]}.")
    return by_class[java_name](**sizes)


def _conf_to_json(conf: MultiLayerConfiguration, index: int) -> Json:
    base, layer = conf.base, conf.layers[index]
    names = [spec.name for spec in layer.param_specs()]
    names = [*names[1:], "b"] if names[:1] == ["b"] else names  # Java lists a convolution's bias last
    return {
        "cacheMode": "NONE",
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
    """Return the whole configuration as DL4J 1.0 writes it."""
    if conf.base.step_function is not None or conf.base.iterations != 1:
        raise ConfigurationError(
            f"to_json: DL4J 1.0 has no place for step_function {conf.base.step_function!r} and iterations "
            f"{conf.base.iterations}. Leave them at None and 1, or set them again after loading."
        )
    whole = {
        "backpropType": "Standard",
        "cacheMode": "NONE",
        "confs": [_conf_to_json(conf, index) for index in range(len(conf.layers))],
        "dataType": _DATA_TYPES[str(conf.base.dtype)],
        "epochCount": conf.epoch_count,
        "inferenceWorkspaceMode": "ENABLED",
        "inputPreProcessors": {str(index): _preprocessor_to_json(p) for index, p in conf.preprocessors.items()},
        "iterationCount": conf.iteration_count,
        "tbpttBackLength": 20,
        "tbpttFwdLength": 20,
        "trainingWorkspaceMode": "ENABLED",
        "validateOutputLayerConfig": True,
    }
    return json.dumps(whole, indent=2, sort_keys=True, separators=(",", " : "))


def network_from_json(text: str) -> MultiLayerConfiguration:
    """Read a whole configuration; see `MultiLayerConfiguration.from_json`."""
    try:
        data = json.loads(text)
        confs = data["confs"]
        first = confs[0]
    except (ValueError, KeyError, IndexError, TypeError, RecursionError) as error:
        raise FormatError(
            f"configuration: expected DL4J's MultiLayerConfiguration as JSON with 'confs', got {type(error).__name__}: "
            f"{error}. Is it another kind of file?"
        ) from error
    return _reader(_network)(data, first, confs)


def _network(data: Json, first: Json, confs: list[Json]) -> MultiLayerConfiguration:
    if any(conf.get("stepFunction") is not None for conf in confs):
        raise ConfigurationError(f"configuration: stepFunction {first.get('stepFunction')!r} is not supported.")
    if data.get("backpropType", "Standard") != "Standard":
        raise ConfigurationError(f"configuration: backpropType {data['backpropType']!r} is not supported.")
    base, layers, preprocessors = _network_parts(data, first, confs)
    for index, layer in enumerate(layers):
        layer.check(label_of(index, layer))
        inner = layer.innermost
        for field in ("activation", "updater", "weight_init", "bias_init"):
            if isinstance(inner, BaseLayerConf) and getattr(inner, field) is None:
                raise FormatError(f"configuration: {label_of(index, layer)} must have {field}, got none.")
    counts = [int(data.get(key, 0)) for key in ("iterationCount", "epochCount")]
    if min(counts) < 0:
        raise FormatError(f"configuration: iterationCount and epochCount must be >= 0, got {counts}.")
    return MultiLayerConfiguration(
        base=base, layers=layers, preprocessors=preprocessors, iteration_count=counts[0], epoch_count=counts[1]
    )


def _reader(function: Callable[..., Any]) -> Callable[..., Any]:
    """Turn what a malformed document does to Python code into a FormatError."""

    def read(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except (AttributeError, IndexError, KeyError, OverflowError, TypeError) as error:
            raise FormatError(f"configuration: malformed, {type(error).__name__}: {error}.") from error
        except ValueError as error:
            if isinstance(error, NdError):
                raise
            raise FormatError(f"configuration: malformed, {error}.") from error

    return read


def _network_parts(data: Json, first: Json, confs: list[Json]) -> tuple[Any, Any, Any]:
    dtype = {java: ours for ours, java in _DATA_TYPES.items()}.get(data.get("dataType", "FLOAT"))
    if dtype is None:
        raise ConfigurationError(f"configuration: dataType {data['dataType']!r} is not supported, only FLOAT, DOUBLE.")
    base = NeuralNetConfiguration(
        seed=first.get("seed"),
        dtype=dtype,
        mini_batch=first.get("miniBatch", True),
        minimize=first.get("minimize", True),
        optimization_algo=str(first.get("optimizationAlgo", "STOCHASTIC_GRADIENT_DESCENT")).lower(),
        max_num_line_search_iterations=first.get("maxNumLineSearchIterations", 5),
    )
    layers = tuple(layer_from_json(conf["layer"]) for conf in confs)
    stored = data.get("inputPreProcessors") or {}
    preprocessors = {
        int(index): _preprocessor_from_json(p) for index, p in sorted(stored.items(), key=lambda i: int(i[0]))
    }
    return base, layers, preprocessors
