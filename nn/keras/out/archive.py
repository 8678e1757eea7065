"""The archive that is a model of Keras 3: its configuration and its weights."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO

from nd.extras import optional
from nd.files.zips import ZipFile
from nd.typing import HostArray

from .draft import MERGING, Config, DraftLayer, KerasDraft, Value, in_keras_order, serialized

VERSION = "3.8.0"
"""Of Keras whose form is written."""
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""Time of every entry: equal networks are equal files."""


def write_model(
    file: BinaryIO, draft: KerasDraft, inputs: Sequence[Value], outputs: Sequence[Value], settings: Mapping[str, Any]
) -> None:
    """Write a model whose layers are drawn.

    Parameters
    ----------
    file : binary file object
    draft : KerasDraft
    inputs, outputs : sequence of Value
    settings : dict
        ``"name"``, ``"is_chain"``: whether it may be a Sequential, and ``"compile_config"``.

    Notes
    -----
    Source: Keras 3, ``saving_lib``.
    """
    layers = draft.layers
    order = in_keras_order(layers, inputs, outputs)
    chain = settings["is_chain"] and _is_chain(layers, order)
    described = _sequential(draft, order, inputs) if chain else _functional(draft, order, inputs, outputs)
    kind = "Sequential" if chain else "Functional"
    name = settings["name"]
    body = {"name": name, "trainable": True, **described}
    module = "keras" if chain else "keras.src.models.functional"
    config = {**serialized(module, kind, body), "registered_name": None if chain else kind}
    config["compile_config"] = settings["compile_config"]
    metadata = {"keras_version": VERSION, "date_saved": "1980-01-01@00:00:00"}
    weights = _hdf5(layers, [name for name in order if not chain or layers[name].class_name != "InputLayer"], name)
    entries = {
        "metadata.json": json.dumps(metadata).encode(),
        "config.json": json.dumps(config).encode(),
        "model.weights.h5": weights,
    }
    with ZipFile(file, "w") as archive:
        for entry, content in entries.items():
            archive.writestr(zipfile.ZipInfo(entry, _EPOCH), content, zipfile.ZIP_STORED)


def _is_chain(layers: Mapping[str, DraftLayer], order: Sequence[str]) -> bool:
    """Tell whether every layer is called once, with what the layer before it gives."""
    calls = [layers[name].calls for name in order]
    if len(calls) < 2 or calls[0] != [()]:
        return False
    return all(
        len(of_layer) == 1 and [x.layer for x in of_layer[0]] == [before]
        for before, of_layer in zip(order[:-1], calls[1:], strict=True)
    )


def _sequential(draft: KerasDraft, order: Sequence[str], inputs: Sequence[Value]) -> Config:
    return {"layers": [draft.layers[name].said for name in order]}


def _functional(draft: KerasDraft, order: Sequence[str], inputs: Sequence[Value], outputs: Sequence[Value]) -> Config:
    layers = []
    for name in order:
        layer = draft.layers[name]
        nodes = [_inbound(draft, layer, call) for call in layer.calls] if layer.class_name != "InputLayer" else []
        layers.append({**layer.said, "name": name, "inbound_nodes": nodes})
    return {"layers": layers, "input_layers": _ends(inputs), "output_layers": _ends(outputs)}


def _ends(values: Sequence[Value]) -> list[Any]:
    ends = [[x.layer, x.call, 0] for x in values]
    return ends[0] if len(ends) == 1 else ends


def _inbound(draft: KerasDraft, layer: DraftLayer, call: Sequence[Value]) -> Config:
    tensors = [
        {
            "class_name": "__keras_tensor__",
            "config": {"shape": [None] * x.rank, "dtype": draft.dtype, "keras_history": [x.layer, x.call, 0]},
        }
        for x in call
    ]
    return {"args": [tensors] if layer.class_name in MERGING else tensors, "kwargs": {}}


def _hdf5(layers: Mapping[str, DraftLayer], order: Sequence[str], model: str) -> bytes:
    """Return the weights as Keras lays them: by classes, counted, with the name of every layer."""
    h5py = optional("save", "h5py", "h5py", "keras")
    content, counts = io.BytesIO(), Counter[str]()
    with h5py.File(content, "w", libver=("earliest", "v110")) as file:
        for name in order:
            layer = layers[name]
            key = _snake_case(layer.class_name)
            counts[key] += 1
            path = f"layers/{key}" if counts[key] == 1 else f"layers/{key}_{counts[key] - 1}"
            file.create_group(f"{path}/vars").attrs["name"] = name
            for place, array in _placed(layer):
                file.create_dataset(f"{path}/{place}", data=array)
        file.create_group("vars").attrs["name"] = model
    return content.getvalue()


def _placed(layer: DraftLayer) -> Iterator[tuple[str, HostArray]]:
    """Yield a layer's weights, and their paths in it."""
    for part, arrays in layer.weights.items():
        for number, array in enumerate(arrays):
            yield "/".join(filter(None, (part, "vars", str(number)))), array


def _snake_case(name: str) -> str:
    """Return the name of a class as paths have it. Source: Keras, ``to_snake_case``."""
    name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()
