"""DL4J 1.0's JSON of a ComputationGraphConfiguration, both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nd import FormatError

from ..conf.graph import ComputationGraphConfiguration, node_label
from ..conf.graph_checks import check_structure
from ..conf.graph_order import stored_order
from ..layers import LayerConf
from .findings import Findings, Path
from .json import (
    PREPROCESSOR,
    check_layer,
    conf_to_json,
    configuration_of,
    note_settings,
    read_layers,
    reader,
    settings_of,
)
from .json_fields import parse
from .json_values import Json
from .legacy import Modern, modernise
from .vertices_json import vertex_from_json, vertex_to_json

if TYPE_CHECKING:
    from ..vertices.base import VertexConf


_LAYER_VERTEX = "org.deeplearning4j.nn.conf.graph.LayerVertex"


def graph_document(conf: ComputationGraphConfiguration) -> Json:
    """Return the fields of a graph as DL4J writes them, beside those of every network."""
    numbers = {name: number for number, name in enumerate((*conf.inputs, *conf.vertices))}
    order = None if conf.order is None else list(conf.order)
    layers = {name: vertex for name, vertex in conf.vertices.items() if isinstance(vertex, LayerConf)}
    variables = [f"{name}_{variable}" for name, layer in layers.items() for variable in _variables(conf, layer)]
    whole = {**conf_to_json(conf, None), "variables": [] if order is None else variables}
    return {
        "defaultConfiguration": whole,
        "networkInputs": list(conf.inputs),
        "networkOutputs": list(conf.outputs),
        "topologicalOrder": None if order is None else [numbers[name] for name in order],
        "topologicalOrderStr": order,
        "vertexInputs": {name: list(sources) for name, sources in conf.vertex_inputs.items()},
        "vertices": {name: _vertex_to_json(conf, name, vertex) for name, vertex in conf.vertices.items()},
    }


def _variables(conf: ComputationGraphConfiguration, layer: LayerConf) -> list[str]:
    names: list[str] = conf_to_json(conf, layer)["variables"]
    return names


def _vertex_to_json(conf: ComputationGraphConfiguration, name: str, vertex: LayerConf | VertexConf) -> Json:
    if not isinstance(vertex, LayerConf):
        return vertex_to_json(vertex)
    preprocessor = conf.preprocessors.get(name)
    return {
        "@class": _LAYER_VERTEX,
        "layerConf": conf_to_json(conf, vertex) | ({"variables": []} if conf.order is None else {}),
        "outputVertex": False,
        "preProcessor": None if preprocessor is None else PREPROCESSOR.encode(preprocessor),
    }


def graph_from_json(text: str, strict: bool = True) -> ComputationGraphConfiguration:
    """Read a configuration; see `ComputationGraphConfiguration.from_json`."""
    document, dropped = reader(_parsed)(text)
    conf: ComputationGraphConfiguration = configuration_of(document, dropped, graph_of_document, strict)
    return conf


def _parsed(text: str) -> Modern:
    document = parse(text)
    if not isinstance(document, dict) or not isinstance(document.get("vertices"), dict):
        if isinstance(document, dict) and "confs" in document:
            raise FormatError(
                "configuration: expected DL4J's ComputationGraphConfiguration, got a MultiLayerConfiguration. Read it "
                "with MultiLayerConfiguration.from_json, its file with MultiLayerNetwork.load or nn.load."
            )
        raise FormatError(
            "configuration: expected DL4J's ComputationGraphConfiguration as JSON with 'vertices', got "
            f"{str(document)[:100]}. Is it another kind of file?"
        )
    return modernise(document)


def graph_of_document(data: Json) -> ComputationGraphConfiguration:
    """Return the configuration of a document in 1.0's form; raise Unsupported with all findings."""
    findings, vertices = Findings(), data["vertices"]
    inputs, outputs, vertex_inputs = _structure(data)
    of_layers = {name: vertex for name, vertex in vertices.items() if "layerConf" in vertex}
    default = data.get("defaultConfiguration")
    confs: dict[Path, Json] = {
        ("vertices", name, "layerConf"): vertex["layerConf"] for name, vertex in of_layers.items()
    }
    whole: dict[Path, Json] = {("defaultConfiguration",): default} if default else {}
    noted = note_settings(findings, data, whole | confs)
    layers = dict(zip(of_layers, read_layers(findings, confs), strict=True))
    preprocessors = {
        name: findings.read(("vertices", name, "preProcessor"), PREPROCESSOR.decode, vertex["preProcessor"])
        for name, vertex in of_layers.items()
        if vertex.get("preProcessor") is not None
    }
    read = {
        name: layers[name] if name in layers else findings.read(("vertices", name), vertex_from_json, vertex)
        for name, vertex in vertices.items()
    }
    findings.settle()
    for name, conf in read.items():
        label = node_label(name, conf)
        if isinstance(conf, LayerConf):
            check_layer(label, conf)
        else:
            conf.check_inputs(label, len(vertex_inputs[name]))
            conf.check(label)
    order = stored_order(data, inputs, list(vertices), vertex_inputs)
    return ComputationGraphConfiguration(
        inputs=inputs,
        outputs=outputs,
        vertices=read,
        vertex_inputs=vertex_inputs,
        preprocessors=preprocessors,
        order=None if order is None else tuple(order),
        **settings_of(data, noted),
    ).settled()


def _structure(data: Json) -> tuple[tuple[str, ...], tuple[str, ...], dict[str, tuple[str, ...]]]:
    """Return inputs, outputs, and the inputs of every vertex, checked; layers with several inputs are refused."""
    lists = [data.get("networkInputs"), data.get("networkOutputs"), *data["vertexInputs"].values()]
    if not all(isinstance(names, list) and all(isinstance(name, str) for name in names) for names in lists):
        raise FormatError("configuration: networkInputs, networkOutputs and vertexInputs must be lists of names.")
    inputs, outputs = tuple(lists[0]), tuple(lists[1])
    stored = {name: tuple(data["vertexInputs"].get(name) or ()) for name in data["vertices"]}
    unknown = set(data["vertexInputs"]) - set(stored)
    if unknown:
        raise FormatError(f"configuration: vertexInputs must be of vertices, got {sorted(unknown)}.")
    check_structure(inputs, stored, outputs, allow_disconnected=True)
    for name, vertex in data["vertices"].items():
        if "layerConf" in vertex and len(stored[name]) != 1:
            raise FormatError(f"configuration: layer {name!r} must have one input, got {list(stored[name])}.")
    return inputs, outputs, {name: stored[name] for name in (*data["vertexInputs"], *stored) if name in stored}
