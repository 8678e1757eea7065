"""Files of Keras made by hand: configurations, archives and legacy files with given arrays."""

import io
import json
import zipfile

import h5py
import numpy as np


def archive(path, config, weights, names=None, version="3.15.1", more=None):
    """Write a .keras file: `weights` by path in model.weights.h5, `names` of groups of variables."""
    content = io.BytesIO()
    with h5py.File(content, "w") as file:
        fill(file, weights)
        for group, name in (names or {}).items():
            file.require_group(group).attrs["name"] = name
    entries = {"metadata.json": json.dumps({"keras_version": version}), "config.json": json.dumps(config)}
    entries = {**entries, "model.weights.h5": content.getvalue(), **(more or {})}
    with zipfile.ZipFile(path, "w") as file:
        for name, entry in entries.items():
            if entry is not None:
                file.writestr(name, entry)
    return path


def fill(file, weights):
    for name, array in weights.items():
        file.create_dataset(name, data=array)


def legacy(path, config, layers, version=None, backend=None, root="model_weights", **attributes):
    """Write an .h5 file: `layers` is name -> {weight name: array}; without a configuration weights alone."""
    with h5py.File(path, "w") as file:
        if config is not None:
            file.attrs["model_config"] = np.bytes_(json.dumps(config))
        for name, value in attributes.items():
            file.attrs[name] = value
        group = file.require_group(root) if config is not None else file
        group.attrs["layer_names"] = np.array([name.encode() for name in layers])
        for name, value in (("keras_version", version), ("backend", backend)):
            if value is not None:
                group.attrs[name] = np.bytes_(value)
        for name, weights in layers.items():
            own = group.create_group(name)
            own.attrs["weight_names"] = np.array([weight.encode() for weight in weights])
            fill(own, weights)
    return path


def layer(class_name, name=None, version=3, **settings):
    """Return a layer of a configuration."""
    module = {"module": "keras.layers", "registered_name": None} if version == 3 else {}
    return {**module, "class_name": class_name, "config": {**({} if name is None else {"name": name}), **settings}}


def chain(*layers, name="sequential"):
    return {"class_name": "Sequential", "config": {"name": name, "layers": list(layers)}}


def given(*shape, name="x", dtype="float32"):
    """Return an input of Keras 3."""
    return layer("InputLayer", name, batch_shape=[None, *shape], dtype=dtype)


def tensor(name, use=0, output=0):
    """Return a tensor as Keras 3 writes it in inbound nodes."""
    return {"class_name": "__keras_tensor__", "config": {"keras_history": [name, use, output]}}


def called(one, *uses, **kwargs):
    """Return a layer of a functional model of Keras 3, called with tensors of those names, or lists of them."""
    nodes = [
        {"args": [[tensor(name) for name in use] if isinstance(use, list) else tensor(use)], "kwargs": kwargs}
        for use in uses
    ]
    return {**one, "name": one["config"]["name"], "inbound_nodes": nodes}


def functional(layers, inputs, outputs, name="functional", class_name="Functional"):
    return {
        "class_name": class_name,
        "config": {"name": name, "layers": layers, "input_layers": inputs, "output_layers": outputs},
    }


def numbers(*shape, start=0.0):
    """Return numbers that are all different."""
    return start + np.arange(np.prod(shape), dtype="float32").reshape(shape)


def read(model):
    """Return the weights of a model by the name of the layer."""
    return {
        call.layer.name: {one.name: np.asarray(one.read()) for one in call.layer.weights or ()} for call in model.calls
    }
