"""``python -m nn summary``: what a model file holds, also where it cannot be run here."""

from __future__ import annotations

import argparse
import json
import warnings
from dataclasses import asdict
from typing import Any

from nd import NdError
from nd.dataset.normalizers import normalizer_from_bytes

from ..conf.network import MultiLayerConfiguration
from ..files.model_file import LayerDescription, ModelFile
from ..networks.multilayer import MultiLayerNetwork
from ..transferlearning.editing import input_type_of
from .models import is_array_file, load_network
from .tables import table

HELP = "Show layers, shapes, parameters and updaters of a model, and what of it is not supported."
EXAMPLES = ("model.zip", "model.zip --json | jq .parameters", "lenet.safetensors")
_HEADINGS = ("layer", "type", "in -> out", "parameters", "shapes", "updater")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")


def run(arguments: argparse.Namespace) -> None:
    """Print the summary."""
    if is_array_file(arguments.model):
        print(_of_network(load_network(arguments), arguments.json))
        return
    found = ModelFile.read(arguments.model)
    print(json.dumps(_as_json(found), indent=2) if arguments.json else _as_text(found))


def _of_network(network: MultiLayerNetwork, as_json: bool) -> str:
    if as_json:
        return json.dumps({"parameters": network.num_params(), "iteration": network.iteration_count})
    return f"{network.summary()}\niteration {network.iteration_count}, epoch {network.epoch_count}"


def _as_json(found: ModelFile) -> dict[str, Any]:
    updaters, shapes = _updaters(found), _shapes(found)
    return {
        "kind": found.kind,
        "version": found.version,
        "dtype": found.dtype,
        "iteration": found.iteration_count,
        "epoch": found.epoch_count,
        "parameters": _length(found.params),
        "updater_state": _length(found.updater_state),
        "normalizer": found.normalizer_bytes is not None,
        "layers": [
            {**asdict(layer), "shapes": shapes.get(layer.name, {}), "updater": updaters.get(layer.name)}
            for layer in found.layers
        ],
        "unsupported": [{"path": path, "why": why} for path, why in found.unsupported],
    }


def _as_text(found: ModelFile) -> str:
    updaters, shapes, flows = _updaters(found), _shapes(found), _flows(found)
    rows = [_HEADINGS]
    for layer in found.layers:
        flow = flows.get(layer.name) or _flow_of_sizes(layer)
        count = "?" if layer.n_params is None else f"{layer.n_params:,}"
        sizes = ", ".join(f"{name} {'x'.join(map(str, shape))}" for name, shape in shapes.get(layer.name, {}).items())
        rows.append((layer.name, layer.kind, flow, count, sizes, updaters.get(layer.name, "")))
    lines = [
        f"{found.kind}, written as by release {found.version}, {found.dtype}",
        "",
        table(rows, right=(3,)),
        "",
        f"total parameters: {_length(found.params):,}",
        f"updater state:    {_length(found.updater_state):,}",
        f"trained:          {found.iteration_count:,} iterations, {found.epoch_count:,} epochs",
        f"normalizer:       {_normalizer(found.normalizer_bytes)}",
    ]
    if not found.unsupported:
        return "\n".join([*lines, "unsupported:      nothing"])
    whys = (f"  {path}: {why.partition(', expected one of ')[0]}" for path, why in found.unsupported)
    return "\n".join([*lines, "unsupported:", *whys])


def _normalizer(content: bytes | None) -> str:
    if content is None:
        return "none"
    try:
        return type(normalizer_from_bytes(content)).__name__
    except NdError as error:
        return f"not readable here, {error}"


def _flow_of_sizes(layer: LayerDescription) -> str:
    return "" if layer.n_in is None and layer.n_out is None else f"{layer.n_in or '?'} -> {layer.n_out or '?'}"


def _flows(found: ModelFile) -> dict[str, str]:
    """Return layer -> what comes in and out, where the network can run and its first layers say what it takes."""
    if found.unsupported:
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said when the file was read
        conf = MultiLayerConfiguration.from_json(json.dumps(found.document))
    takes = input_type_of(conf.layers[0], conf.preprocessors.get(0))
    types = conf.layer_types(takes) if takes is not None else None
    return {str(index): f"{before!r} -> {after!r}" for index, (before, after) in enumerate(types or ())}


def _shapes(found: ModelFile) -> dict[str, dict[str, list[int]]]:
    """Return layer or vertex -> its parameters' names and shapes, in the order of the vector."""
    shapes: dict[str, dict[str, list[int]]] = {}
    if any(layer.n_params is None for layer in found.layers):
        return shapes
    for key, array in found.param_table().items():
        layer, _, name = key.rpartition("_")
        shapes.setdefault(layer, {})[name] = list(array.shape)
    return shapes


def _length(vector: Any) -> int:
    return 0 if vector is None else vector.shape[1]


def _updaters(found: ModelFile) -> dict[str, str]:
    """Return layer or vertex -> its updater with the learning rate, where it has one."""
    document = found.configuration
    if found.kind == "MultiLayerNetwork":
        layers = {str(index): conf.get("layer") for index, conf in enumerate(document["confs"])}
    else:
        vertices = document["vertices"]
        confs = {name: vertex.get("layerConf") for name, vertex in vertices.items() if isinstance(vertex, dict)}
        layers = {name: conf.get("layer") for name, conf in confs.items() if isinstance(conf, dict)}
    return {name: text for name, layer in layers.items() if (text := _updater(layer))}


def _updater(layer: Any) -> str:
    while isinstance(layer, dict) and isinstance(inner := layer.get("layer", layer.get("underlying")), dict):
        layer = inner
    updater = layer.get("iupdater") if isinstance(layer, dict) else None
    if not isinstance(updater, dict) or not isinstance(name := updater.get("@class"), str):
        return ""
    rate = updater.get("learningRate")
    return name.rpartition(".")[2] + (f"({rate:g})" if isinstance(rate, (int, float)) else "")
