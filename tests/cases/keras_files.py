"""Small files of Keras 2, written by h5py alone: a Sequential model of two Dense layers, and what it computes."""

import json

import h5py
import numpy as np

RNG = np.random.default_rng(8)
SIZES = (3, 5, 2)
WEIGHTS = {
    f"fc{number}": {
        "kernel": RNG.normal(size=(SIZES[number - 1], SIZES[number])).astype(np.float32),
        "bias": RNG.normal(size=SIZES[number]).astype(np.float32),
    }
    for number in (1, 2)
}
ACTIVATIONS = {"fc1": "relu", "fc2": "softmax"}


def model_config(class_name="Dense"):
    """Return the configuration; its second layer may be of another class."""
    given = {"batch_input_shape": [None, SIZES[0]], "dtype": "float32", "sparse": False, "ragged": False, "name": "x"}
    layers: list = [{"class_name": "InputLayer", "config": given}]
    for (name, activation), units, kind in zip(ACTIVATIONS.items(), SIZES[1:], ("Dense", class_name), strict=True):
        config = {"name": name, "trainable": True, "dtype": "float32", "units": units, "activation": activation}
        layers.append({"class_name": kind, "config": config | {"use_bias": True}})
    return {"class_name": "Sequential", "config": {"name": "small", "layers": layers}, "keras_version": "2.4.0"}


def write_model(path, class_name="Dense"):
    """Write a whole model."""
    with h5py.File(path, "w") as file:
        file.attrs["keras_version"], file.attrs["backend"] = "2.4.0", "tensorflow"
        file.attrs["model_config"] = json.dumps(model_config(class_name))
        _write_weights(file.create_group("model_weights"))


def write_weights(path, configuration):
    """Write the weights, and in a file of its own their configuration."""
    with h5py.File(path, "w") as file:
        _write_weights(file)
    configuration.write_text(json.dumps(model_config()))


def _write_weights(group):
    group.attrs["layer_names"] = [name.encode() for name in WEIGHTS]
    group.attrs["keras_version"], group.attrs["backend"] = b"2.4.0", b"tensorflow"
    for name, arrays in WEIGHTS.items():
        of_layer = group.create_group(name)
        of_layer.attrs["weight_names"] = [f"{name}/{key}:0".encode() for key in arrays]
        for key, array in arrays.items():
            of_layer.create_dataset(f"{name}/{key}:0", data=array)


def outputs(x):
    """Return what the model computes, in float64."""
    (W1, b1), (W2, b2) = ((one["kernel"].astype(float), one["bias"].astype(float)) for one in WEIGHTS.values())
    z = np.maximum(x.astype(float) @ W1 + b1, 0.0) @ W2 + b2
    e = np.exp(z - z.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)
