"""``python -m nn summary``: what a model file holds, also where it cannot be run here."""

from __future__ import annotations

import argparse
import json
from typing import Any

from ..model_file import LayerDescription, ModelFile
from ..multilayer import MultiLayerNetwork
from .models import is_array_file, load_network
from .tables import table

HELP = "Show layers, shapes, parameters and updaters of a model, and what of it is not supported."
EXAMPLES = ("model.zip", "model.zip --json | jq .parameters", "lenet.safetensors")
_HEADINGS = ("layer", "type", "in -> out", "parameters", "updater")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")


def run(arguments: argparse.Namespace) -> None:
    """Print the summary."""
    if is_array_file(arguments.model):
        print(_of_network(load_network(arguments.model), arguments.json))
        return
    found = ModelFile.read(arguments.model)
    print(json.dumps(_as_json(found), indent=2) if arguments.json else _as_text(found))


def _of_network(network: MultiLayerNetwork, as_json: bool) -> str:
    if as_json:
        return json.dumps({"parameters": network.num_params(), "iteration": network.iteration_count})
    return f"{network.summary()}\niteration {network.iteration_count}, epoch {network.epoch_count}"


def _as_json(found: ModelFile) -> dict[str, Any]:
    updaters = _updaters(found)
    return {
        "kind": found.kind,
        "version": found.version,
        "dtype": found.dtype,
        "iteration": found.iteration_count,
        "epoch": found.epoch_count,
        "parameters": _length(found.params),
        "updater_state": _length(found.updater_state),
        "normalizer": found.normalizer_bytes is not None,
        "layers": [{**layer.__dict__, "updater": updaters.get(layer.name)} for layer in found.layers],
        "unsupported": [{"path": path, "why": why} for path, why in found.unsupported],
    }


def _as_text(found: ModelFile) -> str:
    updaters = _updaters(found)
    rows = [_HEADINGS, *(_row(layer, updaters.get(layer.name) or "") for layer in found.layers)]
    lines = [
        f"{found.kind}, written as by release {found.version}, {found.dtype}",
        "",
        table(rows, right=(3,)),
        "",
        f"total parameters: {_length(found.params):,}",
        f"updater state:    {_length(found.updater_state):,}",
        f"trained:          {found.iteration_count:,} iterations, {found.epoch_count:,} epochs",
        f"normalizer:       {'none' if found.normalizer_bytes is None else 'in the file'}",
    ]
    if not found.unsupported:
        return "\n".join([*lines, "unsupported:      nothing"])
    return "\n".join([*lines, "unsupported:", *(f"  {path}: {why}" for path, why in found.unsupported)])


def _row(layer: LayerDescription, updater: str) -> tuple[str, ...]:
    flow = "" if layer.n_in is None and layer.n_out is None else f"{layer.n_in or '?'} -> {layer.n_out or '?'}"
    count = "?" if layer.n_params is None else f"{layer.n_params:,}"
    return layer.name, layer.kind, flow, count, updater


def _length(vector: Any) -> int:
    return 0 if vector is None else vector.shape[1]


def _updaters(found: ModelFile) -> dict[str, str]:
    """Return layer or vertex -> its updater with the learning rate, where it has one."""
    document = found.configuration
    if "confs" in document:
        layers = {str(index): conf.get("layer") for index, conf in enumerate(document["confs"])}
    else:
        vertices = document["vertices"]
        layers = {name: (vertex.get("layerConf") or {}).get("layer") for name, vertex in vertices.items()}
    return {name: text for name, layer in layers.items() if (text := _updater(layer))}


def _updater(layer: Any) -> str:
    while isinstance(layer, dict) and isinstance(inner := layer.get("layer", layer.get("underlying")), dict):
        layer = inner
    updater = layer.get("iupdater") if isinstance(layer, dict) else None
    if not isinstance(updater, dict) or not isinstance(name := updater.get("@class"), str):
        return ""
    rate = updater.get("learningRate")
    return name.rpartition(".")[2] + (f"({rate:g})" if isinstance(rate, (int, float)) else "")
