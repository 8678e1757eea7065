"""A network's configuration of any release as 1.0 writes it."""

from __future__ import annotations

from typing import NamedTuple

from .layers import NO_BASE, Dropped, Path, modern_layer
from .names import LAYERS, PREPROCESSORS, STEP_FUNCTIONS, VERTICES, Json, as_class, number_or_none
from .values import Around

_OF_OLD_CONFS = frozenset({
    "extraArgs", "l1ByParam", "l2ByParam", "leakyreluAlpha", "learningRateByParam", "learningRatePolicy",
    "lrPolicyDecayRate", "lrPolicyPower", "lrPolicySteps", "numIterations", "pretrain", "useDropConnect",
    "useRegularization",
})  # fmt: skip
_OF_OLD_NETWORKS = frozenset({"backprop", "pretrain", "redistributeParams"})
_KEPT = {"backprop": True, "pretrain": False}
"""Fields of networks that 1.0 has no place for, and this library has a setting for -> the usual value."""


class Modern(NamedTuple):
    """A configuration in 1.0's form, and the settings of the file that are not in it."""

    document: Json
    dropped: list[Dropped]


def modernise(document: Json) -> Modern:
    """Rewrite a configuration of any release since 0.5 to the form that 1.0.0-beta4 and later write.

    Parameters
    ----------
    document : dict
        Of a MultiLayerConfiguration or of a ComputationGraphConfiguration. Not changed. A malformed part is left as
        it is, for the reader to refuse.

    Raises
    ------
    FormatError
        A layer or a value is of no form that any release wrote.

    Notes
    -----
    Every value becomes what Java 1.0 makes of it on reading: l2 becomes weight decay that is applied after the
    updater and without the learning rate, the number of a dropout stays (it always was the probability to retain),
    and schedules of the learning rate and of the momentum, the rate of biases, and `numIterations` are dropped, which
    Java does without a word and this library says. Source: DL4J ``BaseNetConfigDeserializer``, ``LegacyJsonFormat``.
    Differs: hyper-parameters that are NaN are the updater's defaults, in Java only epsilon is; a weight initialisation
    that no longer exists becomes Xavier, in Java null; dropOut 0 in a graph is no dropout, in Java an exception; layers
    inside Bidirectional and FrozenLayer are rewritten too.
    """
    dropped: list[Dropped] = []
    out = {key: value for key, value in document.items() if key not in _OF_OLD_NETWORKS}
    out |= {key: document[key] for key, usual in _KEPT.items() if document.get(key, usual) is not usual}
    confs, before = document.get("confs"), document.get("inputPreProcessors")
    if isinstance(confs, list):
        out["confs"] = [_conf(conf, ("confs", index), False, dropped) for index, conf in enumerate(confs)]
    if isinstance(before, dict):
        out["inputPreProcessors"] = {index: _preprocessor(data) for index, data in before.items()}
    if isinstance(document.get("vertices"), dict):
        vertices = document["vertices"].items()
        out["vertices"] = {name: _vertex(vertex, ("vertices", name), dropped) for name, vertex in vertices}
    if "defaultConfiguration" in document:
        out["defaultConfiguration"] = _conf(document["defaultConfiguration"], ("defaultConfiguration",), True, dropped)
    return Modern(out, dropped)


def _conf(conf: object, path: Path, in_graph: bool, dropped: list[Dropped]) -> object:
    if not isinstance(conf, dict):
        return conf
    variables = conf.get("variables")
    names = tuple(map(str, variables)) if isinstance(variables, list) else ()
    around = Around(conf.get("useDropConnect") is True, names, in_graph)
    out = {key: value for key, value in conf.items() if key not in _OF_OLD_CONFS}
    if "layer" in conf:
        out["layer"] = modern_layer(conf["layer"], around, (*path, "layer"), dropped)
        dropped += _unused_dropout(conf["layer"], (*path, "layer"), in_graph)
    if isinstance(conf.get("stepFunction"), dict):
        out["stepFunction"] = as_class(STEP_FUNCTIONS, conf["stepFunction"])
    if conf.get("learningRatePolicy", "None") not in (None, "None"):
        dropped.append(Dropped((*path, "learningRatePolicy"), conf["learningRatePolicy"]))
    if conf.get("numIterations", 1) not in (1, None):
        dropped.append(Dropped((*path, "numIterations"), conf["numIterations"]))
    if (number_or_none(conf.get("leakyreluAlpha")) or 0.01) != 0.01:
        dropped.append(Dropped((*path, "leakyreluAlpha"), conf["leakyreluAlpha"]))
    return out


def _unused_dropout(layer: object, path: Path, in_graph: bool) -> list[Dropped]:
    """Return the dropout of a layer from which Java 1.0 reads none."""
    if in_graph or not isinstance(layer, dict) or len(layer) != 1:
        return []
    name, fields = next(iter(layer.items()))
    java = LAYERS.names.get(name.lower(), "").rpartition(".")[2]
    if java not in NO_BASE - {"DropoutLayer"} or not isinstance(fields, dict):
        return []
    retained = number_or_none(fields.get("dropOut")) or 0.0
    return [Dropped((*path, "dropOut"), retained)] if 0.0 < retained < 1.0 else []


def _preprocessor(data: object) -> object:
    modern = as_class(PREPROCESSORS, data)
    if isinstance(modern, dict) and isinstance(modern.get("inputPreProcessors"), list):
        return {**modern, "inputPreProcessors": [_preprocessor(member) for member in modern["inputPreProcessors"]]}
    return modern


def _vertex(data: object, path: Path, dropped: list[Dropped]) -> object:
    vertex = as_class(VERTICES, data)
    if not isinstance(vertex, dict):
        return vertex
    out = dict(vertex)
    if "layerConf" in vertex:
        out["layerConf"] = _conf(vertex["layerConf"], (*path, "layerConf"), True, dropped)
    if vertex.get("preProcessor") is not None:
        out["preProcessor"] = _preprocessor(vertex["preProcessor"])
    if "underlying" in vertex:
        out["underlying"] = _vertex(vertex["underlying"], (*path, "underlying"), dropped)
    return out
