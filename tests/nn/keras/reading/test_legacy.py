"""Files .h5 of Keras 2 and 3: layers by their names, weights in the order that the file says."""

import json

import h5py
import numpy as np
import pytest

import nd
from nn.keras.reading import read_keras

from .files import chain, functional, layer, legacy, numbers, read


def dense(name, units=2, **settings):
    return layer("Dense", name, version=2, units=units, **settings)


def start(name, *shape):
    return {**layer("InputLayer", name, version=2, batch_input_shape=[None, *shape], dtype="float32"), "name": name,
            "inbound_nodes": []}  # fmt: skip


def called(one, *uses):
    """Return a layer of a functional model of Keras 2, called with ``[layer, use, output]`` or several of them."""
    nodes = [[[*ref, {}] for ref in (use if isinstance(use[0], list) else [use])] for use in uses]
    return {**one, "name": one["config"]["name"], "inbound_nodes": nodes}


def own(*sources):
    return read_keras(*sources, isolated=False)


def test_weights_in_the_order_of_weight_names(tmp_path):
    config = chain(dense("b", batch_input_shape=[None, 3]), layer("BatchNormalization", "n", version=2, axis=[1]))
    weights = {
        "n": {"n/gamma:0": numbers(2), "n/beta:0": numbers(2, start=2), "n/moving_mean:0": numbers(2, start=4),
              "n/moving_variance:0": numbers(2, start=6)},
        "b": {"b/kernel:0": numbers(3, 2), "b/bias:0": numbers(2, start=9)},
    }  # fmt: skip
    model = own(legacy(tmp_path / "m.h5", config, weights, "2.4.0", "tensorflow"))
    assert model.version == 2
    assert dict(model.inputs) == {"b_input": ((3,), "float32")}
    assert {name: list(one) for name, one in read(model).items()} == {
        "b": ["kernel", "bias"], "n": ["gamma", "beta", "moving_mean", "moving_variance"],
    }  # fmt: skip
    assert [one.read()[0] for one in model.calls[1].layer.weights] == [0, 2, 4, 6]
    assert model.calls[1].layer.config["axis"] == 1


def test_where_names_differ_the_order_counts(tmp_path):
    config = chain(dense("dense_1", batch_input_shape=[None, 2]), layer("Flatten", "f", version=2), dense("dense_2"))
    weights = {f"dense_{number}": {"kernel": numbers(2, 2, start=number), "bias": numbers(2)} for number in (2, 3)}
    path = legacy(tmp_path / "w.h5", None, {"f_9": {}, **weights}, "2.2.4")
    (tmp_path / "c.json").write_text(json.dumps(config))
    for configuration in (tmp_path / "c.json", json.dumps(config), json.dumps(config).encode()):
        model = own(path, configuration)
        assert [read(model)[name]["kernel"][0, 0] for name in ("dense_1", "dense_2")] == [2.0, 3.0]
    with pytest.raises(nd.FormatError, match="Give the model's configuration"):
        own(path)
    alone = own(tmp_path / "c.json")
    assert [call.layer.weights for call in alone.calls] == [None] * 3
    config["config"]["layers"].pop()
    with pytest.raises(nd.FormatError, match="must have 1 layers that have some, got 2: \\['dense_2', 'dense_3'\\]"):
        own(path, json.dumps(config))


def test_many_names_are_cut_into_pieces(tmp_path):
    config = chain(*(dense(f"d{number}", use_bias=False, batch_input_shape=[None, 2]) for number in range(4)))
    layers = {f"d{number}": {"kernel": numbers(2, 2, start=number)} for number in range(4)}
    path = legacy(tmp_path / "m.h5", config, layers, "2.4.0")
    with h5py.File(path, "a") as file:
        names = file["model_weights"].attrs["layer_names"]
        del file["model_weights"].attrs["layer_names"]
        file["model_weights"].attrs["layer_names0"], file["model_weights"].attrs["layer_names1"] = names[:3], names[3:]
    assert [one["kernel"][0, 0] for one in read(own(path)).values()] == [0, 1, 2, 3]


@pytest.mark.parametrize("frozen", ["", "inner", "a", "n"])
def test_a_model_in_a_model_says_trained_weights_first(frozen, tmp_path):
    """By Keras' rule: what is frozen is not trained, and all of a frozen layer's weights are among the last."""
    inner = functional(
        [start("i", 2), called(dense("a", use_bias=False, trainable=frozen != "a"), ["i", 0, 0]),
         called(layer("BatchNormalization", "n", version=2, trainable=frozen != "n"), ["a", 0, 0]),
         called(dense("z", use_bias=False), ["n", 0, 0])],
        [["i", 0, 0]], [["z", 0, 0]], name="inner", class_name="Model",
    )  # fmt: skip
    inner["config"]["trainable"] = frozen != "inner"
    config = functional(
        [start("x", 2), {**inner, "name": "inner", "inbound_nodes": [[["x", 0, 0, {}]], [["x", 0, 0, {}]]]},
         called(layer("Add", "sum", version=2), [["inner", 1, 0], ["inner", 2, 0]])],
        [["x", 0, 0]], [["sum", 0, 0]], class_name="Model",
    )  # fmt: skip
    arrays = {"a": numbers(2, 2), "gamma": numbers(2, start=10), "beta": numbers(2, start=20),
              "z": numbers(2, 2, start=30), "mean": numbers(2, start=40), "variance": numbers(2, start=50)}  # fmt: skip
    order = {
        "": "a gamma beta z mean variance", "inner": "a gamma beta z mean variance",
        "a": "gamma beta z a mean variance", "n": "a z gamma beta mean variance",
    }  # fmt: skip
    weights = {"x": {}, "inner": {name: arrays[name] for name in order[frozen].split()}, "sum": {}}
    model = own(legacy(tmp_path / "m.h5", config, weights, "2.2.4"))
    assert [call.name for call in model.calls] == [
        "inner/a", "inner/n", "inner/z", "inner/a#2", "inner/n#2", "inner/z#2", "sum",
    ]  # fmt: skip
    assert model.calls[-1].inputs == ("inner/z", "inner/z#2")
    kept = [one.read().flat[0] for call in model.calls[:3] for one in call.layer.weights]
    assert kept == [0.0, 10.0, 20.0, 40.0, 50.0, 30.0]
    assert [call.layer.trainable for call in model.calls[:3]] == [
        frozen not in ("a", "inner"), frozen not in ("n", "inner"), frozen != "inner",
    ]  # fmt: skip


def test_outputs_and_arguments_of_keras_2(tmp_path):
    lstm = layer("LSTM", "l", version=2, units=1, return_state=True, return_sequences=True)
    second = layer("LSTM", "m", version=2, units=1)
    nodes = {"inbound_nodes": [[["l", 0, 0, {"initial_state": [["l", 0, 1], ["l", 0, 2]], "training": None}]]]}
    config = functional(
        [start("x", 4, 2), called(lstm, ["x", 0, 0]), {**second, "name": "m", **nodes}],
        [["x", 0, 0]], [["m", 0, 0], ["l", 0, 1]], class_name="Model",
    )  # fmt: skip
    model = own(json.dumps({**config, "keras_version": "2.4.0"}))
    assert model.calls[1].arguments == {"initial_state": ["l:1", "l:2"]}
    assert model.outputs == ("m", "l:1")


def test_cudnn_layers_become_keras_own(tmp_path):
    """Keras' own rule, gate by gate: kernels are turned, and an LSTM's two biases are added."""
    rng = np.random.default_rng(3)
    config = chain(layer("CuDNNLSTM", "l", version=2, units=2, batch_input_shape=[None, 5, 3], return_sequences=True),
                   layer("CuDNNGRU", "g", version=2, units=4))  # fmt: skip
    arrays = {"l": [rng.normal(size=shape).astype("float32") for shape in ((3, 8), (2, 8), 16)],
              "g": [rng.normal(size=shape).astype("float32") for shape in ((2, 12), (4, 12), 24)]}  # fmt: skip
    weights = {name: {f"{name}/{at}": one for at, one in enumerate(given)} for name, given in arrays.items()}
    model = own(legacy(tmp_path / "m.h5", config, weights, "2.2.4", "tensorflow"))
    assert [call.layer.class_name for call in model.calls] == ["LSTM", "GRU"]
    assert model.calls[1].layer.config["reset_after"] is True
    for call, gates in zip(model.calls, (4, 3), strict=True):
        kernel, recurrent, bias = arrays[call.name]
        for gate in range(gates):
            n, units = kernel.shape[0], recurrent.shape[0]
            part = np.s_[:, gate * units : (gate + 1) * units]
            rows = kernel[part].ravel()  # of CuDNN's [units, n], one row after the other
            np.testing.assert_array_equal(call.layer.weights[0].read()[part], rows.reshape(units, n).T)
            np.testing.assert_array_equal(call.layer.weights[1].read()[part], recurrent[part].T)
        both = bias.reshape(2, -1)
        np.testing.assert_array_equal(call.layer.weights[2].read(), both[0] + both[1] if gates == 4 else both)
        assert [tuple(one.shape) for one in call.layer.weights] == [one.read().shape for one in call.layer.weights]


def test_a_weight_that_is_named_must_be_there(tmp_path):
    config = chain(dense("a", use_bias=False, batch_input_shape=[None, 2]))
    path = legacy(tmp_path / "m.h5", config, {"a": {"a/kernel:0": numbers(2, 2)}}, "2.4.0")
    with h5py.File(path, "a") as file:
        del file["model_weights/a/a/kernel:0"]
    with pytest.raises(nd.FormatError, match=r"expected an array 'model_weights/a/a/kernel:0', which weight_names has"):
        own(path)
