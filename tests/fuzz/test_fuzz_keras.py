"""Mutants of Keras' files: each becomes a network or raises a typed error, within seconds and bounded memory.

The contents are damaged in files whose structure is right, which are read here; files whose structure is damaged are
read in a child process, as `nn.load` does it: libhdf5 crashes on some.
"""

import copy
import io
import json
import os
import zipfile
from functools import partial

import h5py
import numpy as np
import pytest

import nn
from nn.keras import keras_graph_of
from tests.nn.keras.reading.files import archive, called, chain, functional, given, layer, legacy
from tests.sweeps import share

from .mutator import NUMBERS, damaged_bytes, damaged_json, edit_length, flip_bits, generator, overwrite
from .surveys import check

FAST = {"archives": 50, "configurations": 50, "legacy": 50, "structures": 8}
SLOW = int(os.environ.get("FUZZ", share(10000))) // 3
STRUCTURES = max(share(200), SLOW // 20)  # each takes a process
SEED = os.environ.get("FUZZ_SEED", "ndwright")
NAMES = ("kernel", "bias", "vars", "0", "1", "layers", "dense", "", "..", "é", "cell")
CLASSES = (
    "Activation", "Add", "BatchNormalization", "Bidirectional", "Concatenate", "Conv1D", "Conv2D", "Dense", "Dropout",
    "Embedding", "Flatten", "Functional", "GRU", "InputLayer", "LSTM", "Lambda", "LeakyReLU", "Masking", "Merge",
    "MaxPooling2D", "Model", "PReLU", "Permute", "Reshape", "Sequential", "SimpleRNN", "TimeDistributed", "a>B",
)  # fmt: skip


# ---- what mutants are made of


def chains():
    """Configurations of chains with the shapes of their weights, by the layer's group."""
    yield (
        chain(given(6, 6, 2), layer("Conv2D", "c", filters=3, kernel_size=[2, 2], padding="same", activation="relu"),
              layer("BatchNormalization", "n", axis=-1, epsilon=1e-3, momentum=0.9),
              layer("MaxPooling2D", "p", pool_size=[2, 2]), layer("Flatten", "f"),
              layer("Dense", "dense", units=2, activation="softmax")),
        {"conv2d": [(2, 2, 2, 3), (3,)], "batch_normalization": [(3,)] * 4, "dense": [(27, 2), (2,)]},
    )  # fmt: skip
    yield (
        chain(given(5, dtype="int32"), layer("Embedding", "e", input_dim=9, output_dim=3),
              layer("LSTM", "l", units=2, return_sequences=True, activation="tanh", recurrent_activation="sigmoid"),
              layer("TimeDistributed", "t", layer=layer("Dense", "d", units=4))),
        {"embedding": [(9, 3)], "lstm/cell": [(3, 8), (2, 8), (8,)], "time_distributed/layer": [(2, 4), (4,)]},
    )  # fmt: skip


def graph():
    dense = called(layer("Dense", "dense", units=3), "i")
    inner = functional(
        [{**given(3, name="i"), "name": "i", "inbound_nodes": []}, dense], ["i", 0, 0], ["dense", 0, 0], name="m"
    )
    layers = [{**given(3), "name": "x", "inbound_nodes": []},
              {**inner, "name": "m", "inbound_nodes": called(layer("Dense", "_"), "x", "m")["inbound_nodes"]},
              called(layer("Add", "sum"), ["x", "m"])]  # fmt: skip
    return functional(layers, ["x", 0, 0], ["sum", 0, 0]), {"functional/layers/dense": [(3, 3), (3,)]}


def arrays(shapes):
    return {
        f"layers/{group}/vars/{number}": np.full(shape, 0.5, "float32")
        for group, all_shapes in shapes.items()
        for number, shape in enumerate(all_shapes)
    }


MODELS = [(config, arrays(shapes)) for config, shapes in (*chains(), graph())]


def by_names(config, weights):
    """Return a configuration and its weights as a legacy file has them."""
    layers = {}
    for path, array in weights.items():
        group = path.split("/")[1]
        layers.setdefault(group, {})[path.rpartition("/")[2]] = array
    config = copy.deepcopy(config)
    for one in config["config"]["layers"]:
        group = {"Conv2D": "conv2d", "BatchNormalization": "batch_normalization"}.get(one["class_name"])
        group = group or {"TimeDistributed": "time_distributed", "Functional": "functional"}.get(one["class_name"])
        layers = {one["config"]["name"] if name == (group or one["class_name"].lower()) else name: given
                  for name, given in layers.items()}  # fmt: skip
    return config, layers


# ---- mutants


def damaged_config(config, rng):
    """Damage JSON as any other; or give a layer another class, or one of its settings another value."""
    if rng.random() < 0.6:
        text = json.dumps(config).encode()
        return damaged_json(text, rng, [json.dumps(one).encode() for one, _ in MODELS])
    config = copy.deepcopy(config)
    one = rng.choice(config["config"]["layers"])
    if rng.random() < 0.5:
        one["class_name"] = rng.choice(CLASSES)
    else:
        settings = one["config"]
        settings[rng.choice(sorted(settings))] = rng.choice((*NUMBERS, None, True, "", "same", [], [1, 2], {}, -0.5))
    return json.dumps(config).encode()


def damaged_arrays(weights, rng):
    """Leave out arrays, or give them other names, shapes and types."""
    weights = dict(weights)
    for _ in range(rng.choice((1, 1, 2))):
        name = rng.choice(sorted(weights))
        edit = rng.choice(("out", "name", "shape", "type", "values", "group"))
        array = weights.pop(name)
        if edit == "name":
            weights["/".join(rng.choices(NAMES[:8], k=3)) or "x"] = array
        elif edit == "shape":
            weights[name] = np.ones(rng.choices((0, 1, 2, 3), k=rng.randrange(5)), "float32")
        elif edit == "type":
            weights[name] = rng.choice(
                (np.ones(array.shape, "int8"), np.array([b"a"]), np.array(3 + 1j), np.array(True))
            )
        elif edit == "values":
            weights[name] = np.full(array.shape, rng.choice((np.nan, np.inf, 1e38)), "float32")
        elif edit == "group":
            weights[f"{name}/{rng.choice(NAMES[:3])}"] = array
    return weights


def damaged(rng):
    """Return one of the models with its configuration or its arrays damaged."""
    config, weights = rng.choice(MODELS)
    if rng.random() < 0.3:
        return json.dumps(config).encode(), damaged_arrays(weights, rng)
    return damaged_config(config, rng), weights


def archive_mutant(number, path):
    rng = generator(SEED, f"archives-{number}")
    text, weights = damaged(rng)
    try:
        archive(path, {}, weights, more={"config.json": text})
    except (TypeError, ValueError):  # h5py does not write such arrays
        archive(path, {}, {}, more={"config.json": text})
    keras_graph_of(path, isolated=False)


def configuration_mutant(number, path):
    rng = generator(SEED, f"configurations-{number}")
    config, weights = rng.choice(MODELS)
    archive(path.with_suffix(".keras"), config, weights)
    with zipfile.ZipFile(path.with_suffix(".keras")) as file:
        content = io.BytesIO(file.read("model.weights.h5"))
    keras_graph_of(content, damaged_config(config, rng), isolated=False)


def legacy_mutant(number, path):
    rng = generator(SEED, f"legacy-{number}")
    text, weights = damaged(rng)
    try:
        config = json.loads(text)
        _, layers = by_names(config, weights)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        config, layers = {}, {}
    version = rng.choice(("1.2.2", "2.2.4", "3.15.1", "", "x", None))
    try:
        legacy(path, config, layers, version, rng.choice(("theano", "tensorflow", None)))
    except (AttributeError, TypeError, ValueError, RuntimeError, RecursionError):  # h5py does not write it
        legacy(path, {}, {}, version)
    with h5py.File(path, "a") as file:
        if rng.random() < 0.1:
            group = file["model_weights"]
            group.attrs[rng.choice(("layer_names", "nb_layers", "keras_version"))] = rng.choice(
                ([b"a", b"b"], 3, "x", [1, 2], np.ones((2, 2)))
            )
    keras_graph_of(path, isolated=False)


def structure_mutant(number, path):
    """Bytes are damaged anywhere: in the zip, in libhdf5's own structures, or in numbers."""
    rng = generator(SEED, f"structures-{number}")
    config, weights = rng.choice(MODELS)
    if rng.random() < 0.5:
        archive(path, config, weights)
        with zipfile.ZipFile(path) as file:
            content = damaged_structure(file.read("model.weights.h5"), rng)
        archive(path, config, {}, more={"model.weights.h5": content})
    else:
        legacy(path, *by_names(config, weights), "3.15.1")
        path.write_bytes(damaged_structure(path.read_bytes(), rng))
    if rng.random() < 0.1:
        path.write_bytes(damaged_structure(path.read_bytes(), rng))
    nn.load(path)


def damaged_structure(content, rng):
    """Mostly in its place: libhdf5 and zipfile see at once where something is missing."""
    if rng.random() < 0.2:
        return damaged_bytes(content, rng, [content])
    edit = rng.choice((edit_length, flip_bits, overwrite))
    return bytes(edit(bytearray(content), rng, [content]))


KINDS = {
    "archives": archive_mutant, "configurations": configuration_mutant, "legacy": legacy_mutant,
    "structures": structure_mutant,
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.quick_rows("legacy", "archives", "configurations")
def test_mutants_become_networks_or_raise_a_typed_error(kind, tmp_path):
    check(kind, partial(KINDS[kind], path=tmp_path / "mutant.h5"), FAST[kind])


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many_mutants_become_networks_or_raise_a_typed_error(kind, tmp_path):
    count = STRUCTURES if kind == "structures" else SLOW
    check(kind, partial(KINDS[kind], path=tmp_path / "mutant.h5"), count)


@pytest.mark.parametrize("number", range(len(MODELS)))
@pytest.mark.quick_rows(1)
def test_what_mutants_are_made_of_is_read(number, tmp_path):
    config, weights = MODELS[number]
    nn.load(archive(tmp_path / "m.keras", config, weights))
    nn.load(legacy(tmp_path / "m.h5", *by_names(config, weights), "3.15.1"))
