"""``python -m nn summary``: the contents of a model file, even of one that ndwright cannot run."""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from nd import NdError
from nd.dataset.normalizers import normalizer_from_bytes

from ..files.archive import reading
from ..files.kinds import kind_of_file
from ..files.model_file import ModelFile
from ..files.own_settings import read
from ..files.serializer import read_own
from ..networks.tables import table
from .models import check_configuration, has_no_zip, load_network, type_of_input

if TYPE_CHECKING:
    from nd.typing import Array


HELP = "Show layers, shapes, parameters and updaters of a model, and what of it is not supported."
EXAMPLES = ("model.zip", "model.zip --json | jq .parameters", "lenet.safetensors")
_HEADINGS: tuple[str, ...] = ("layer", "type", "in -> out", "parameters", "shapes", "updater")
_HEADINGS_OF_GRAPHS: tuple[str, ...] = ("vertex", "type", "inputs", *_HEADINGS[2:])


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")


def run(arguments: argparse.Namespace) -> None:
    """Print the summary."""
    check_configuration(arguments, kind_of_file(arguments.model))
    if has_no_zip(arguments.model):
        network = load_network(arguments)
        if arguments.json:
            print(json.dumps({"parameters": network.num_params(), "iteration": network.iteration_count}))
        else:
            print(f"{network.summary()}\niteration {network.iteration_count}, epoch {network.epoch_count}")
        return
    model = ModelFile.read(arguments.model)
    print(json.dumps(_as_json(model), indent=2) if arguments.json else _as_text(model, _flows(model, arguments.model)))


def _as_json(model: ModelFile) -> dict[str, object]:
    updaters, shapes, sources = _updaters(model), _shapes(model), model.configuration.get("vertexInputs") or {}
    return {
        "kind": model.kind,
        "version": model.version,
        "dtype": model.dtype,
        "iteration": model.iteration_count,
        "epoch": model.epoch_count,
        "parameters": _length(model.params),
        "updater_state": _length(model.updater_state),
        "normalizer": model.normalizer_bytes is not None,
        "layers": [
            {
                **asdict(layer),
                **({"inputs": sources[layer.name]} if layer.name in sources else {}),
                "shapes": shapes.get(layer.name, {}),
                "updater": updaters.get(layer.name),
            }
            for layer in model.layers
        ],
        "unsupported": [{"path": path, "why": why} for path, why in model.unsupported],
    }


def _as_text(model: ModelFile, flows: Mapping[str, str]) -> str:
    rows = _rows(model, flows)
    lines = [
        f"{model.kind}, written as by release {model.version}, {model.dtype}",
        "",
        table(rows, right=(rows[0].index("parameters"),)),
        "",
        f"total parameters: {_length(model.params):,}",
        f"updater state:    {_length(model.updater_state):,}",
        f"trained:          {model.iteration_count:,} iterations, {model.epoch_count:,} epochs",
        f"normalizer:       {_normalizer(model.normalizer_bytes)}",
    ]
    if not model.unsupported:
        return "\n".join([*lines, "unsupported:      nothing"])
    whys = (f"  {path}: {why.partition(', expected one of ')[0]}" for path, why in model.unsupported)
    return "\n".join([*lines, "unsupported:", *whys])


def _rows(model: ModelFile, flows: Mapping[str, str]) -> list[tuple[str, ...]]:
    """Return the headings and a row for every layer; of a graph's also what comes in."""
    updaters, shapes, inputs = _updaters(model), _shapes(model), _inputs(model)
    rows = [_HEADINGS_OF_GRAPHS if inputs else _HEADINGS]
    for layer in model.layers:
        sizes_known = layer.n_in is not None or layer.n_out is not None
        flow = flows.get(layer.name) or (f"{layer.n_in or '?'} -> {layer.n_out or '?'}" if sizes_known else "")
        count = "?" if layer.n_params is None else f"{layer.n_params:,}"
        sizes = ", ".join(f"{name} {'x'.join(map(str, shape))}" for name, shape in shapes.get(layer.name, {}).items())
        sources = (inputs.get(layer.name, ""),) if inputs else ()
        rows.append((layer.name, layer.kind, *sources, flow, count, sizes, updaters.get(layer.name, "")))
    return rows


def _normalizer(content: bytes | None) -> str:
    if content is None:
        return "none"
    try:
        return type(normalizer_from_bytes(content)).__name__
    except NdError as error:
        return f"not readable here, {error}"


def _flows(model: ModelFile, path: str) -> dict[str, str]:
    """Return layer -> its input and output types, where the network can run and they are known.

    They are where the file has the inputs' types, in our own entry, or the first layers say them.
    """
    if model.unsupported:
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said when the file was read
        try:
            conf, _ = read(json.dumps(model.document), reading("summary", path, read_own))
        except NdError:  # for `load` to report: the rest can be shown
            return {}
    types = conf.node_types([type_of_input(conf, number) for number in range(len(conf.input_names))])
    flows = (f"{', '.join(map(repr, node.inputs))} -> {', '.join(map(repr, node.outputs))}" for node in types or ())
    return dict(zip((node.name for node in conf.nodes), flows, strict=False))


def _inputs(model: ModelFile) -> dict[str, str]:
    """Return vertex -> what comes in, as the file says it; nothing for a network whose layers follow one another."""
    sources = model.configuration.get("vertexInputs")
    named = sources.items() if isinstance(sources, dict) else ()
    return {name: ", ".join(map(str, several)) for name, several in named if isinstance(several, list)}


def _shapes(model: ModelFile) -> dict[str, dict[str, list[int]]]:
    """Return layer or vertex -> its parameters' names and shapes, in the order of the vector."""
    shapes: dict[str, dict[str, list[int]]] = {}
    if any(layer.n_params is None for layer in model.layers):
        return shapes
    for key, array in model.param_table().items():
        layer, _, name = key.rpartition("_")
        shapes.setdefault(layer, {})[name] = list(array.shape)
    return shapes


def _length(vector: Array | None) -> int:
    return 0 if vector is None else vector.shape[1]


def _updaters(model: ModelFile) -> dict[str, str]:
    """Return layer or vertex -> its updater with the learning rate, where it has one."""
    document = model.configuration
    if model.kind == "MultiLayerNetwork":
        layers = {str(index): conf.get("layer") for index, conf in enumerate(document["confs"])}
    else:
        vertices = document["vertices"]
        confs = {name: vertex.get("layerConf") for name, vertex in vertices.items() if isinstance(vertex, dict)}
        layers = {name: conf.get("layer") for name, conf in confs.items() if isinstance(conf, dict)}
    return {name: text for name, layer in layers.items() if (text := _updater(layer))}


def _updater(layer: object) -> str:
    while isinstance(layer, dict) and isinstance(inner := layer.get("layer", layer.get("underlying")), dict):
        layer = inner
    updater = layer.get("iupdater") if isinstance(layer, dict) else None
    if not isinstance(updater, dict) or not isinstance(name := updater.get("@class"), str):
        return ""
    rate = updater.get("learningRate")
    return name.rpartition(".")[2] + (f"({rate:g})" if isinstance(rate, (int, float)) else "")
