"""Archives of Keras 3: layers are numbered by class, in the order of their container."""

import io
import zipfile

import h5py
import numpy as np
import pytest

import nd
import nn
from nn.keras.reading import read_keras

from .files import archive, called, chain, functional, given, layer, numbers, read


def dense(name, units=2, **settings):
    return layer("Dense", name, units=units, **settings)


def own(path):
    return read_keras(path, isolated=False)


def same(weights, expected):
    assert list(weights) == list(expected)
    for name, array in expected.items():
        np.testing.assert_array_equal(weights[name], array)


def test_layers_are_numbered_by_class_and_not_by_name(tmp_path):
    config = chain(given(3), dense("z"), layer("Dropout", "d"), dense("a"), layer("Dropout", "e"), dense("q"))
    weights = {}
    for number, (group, rows) in enumerate({"dense": 3, "dense_1": 2, "dense_2": 2}.items()):
        weights[f"layers/{group}/vars/0"] = numbers(rows, 2, start=100.0 * number)
        weights[f"layers/{group}/vars/1"] = numbers(2, start=100.0 * number + 50)
    weights["layers/dropout/seed_generator/vars/0"] = np.array([1, 2])
    model = own(archive(tmp_path / "m.keras", config, weights))
    assert model.version == 3
    assert model.is_sequential
    assert {name: tuple(spec.shape) for name, spec in model.inputs.items()} == {"x": (3,)}
    assert [call.name for call in model.calls] == ["z", "d", "a", "e", "q"]
    assert model.outputs == ("q",)
    for name, group in (("z", "dense"), ("a", "dense_1"), ("q", "dense_2")):
        arrays = [weights[f"layers/{group}/vars/{number}"] for number in (0, 1)]
        same(read(model)[name], dict(zip(("kernel", "bias"), arrays, strict=True)))
    assert read(model)["d"] == {}


def test_a_model_counts_its_inputs_and_keras_operations_do_not_count(tmp_path):
    operation = {"module": "keras.src.ops.numpy", "class_name": "Dense", "config": {"name": "op"}}
    layers = [
        {**given(2), "name": "x", "inbound_nodes": []},
        called(operation, "x"),
        called(dense("one"), "op"),
    ]
    weights = {"layers/dense/vars/0": numbers(2, 2), "layers/dense/vars/1": numbers(2)}
    model = own(archive(tmp_path / "m.keras", functional(layers, ["x", 0, 0], [["one", 0, 0]]), weights))
    assert [call.layer.class_name for call in model.calls] == ["keras.ops.Dense", "Dense"]
    same(read(model)["one"], {"kernel": weights["layers/dense/vars/0"], "bias": weights["layers/dense/vars/1"]})


def test_models_in_models_have_containers_of_their_own(tmp_path):
    inner = {**layer("Functional", "inner"), **functional(
        [{**given(2, name="i"), "name": "i", "inbound_nodes": []}, called(dense("deep"), "i")],
        [["i", 0, 0]], [["deep", 0, 0]], name="inner",
    )}  # fmt: skip
    steps = {**layer("Sequential", "steps"), **chain(given(2, name="j"), dense("deep"), name="steps")}
    layers = [
        {**given(2), "name": "x", "inbound_nodes": []},
        {**inner, "name": "inner", "inbound_nodes": called(dense("_"), "x", "x")["inbound_nodes"]},
        {**steps, "name": "steps", "inbound_nodes": called(dense("_"), "inner")["inbound_nodes"]},
        called(layer("Add", "add"), ["inner", "steps"]),
    ]
    weights = {
        "layers/functional/layers/dense/vars/0": numbers(2, 2),
        "layers/functional/layers/dense/vars/1": numbers(2),
        "layers/sequential/layers/dense/vars/0": numbers(2, 2, start=7),
        "layers/sequential/layers/dense/vars/1": numbers(2, start=9),
    }
    config = functional(layers, [["x", 0, 0]], [["add", 0, 0], ["inner", 2, 0]])
    model = own(archive(tmp_path / "m.keras", config, weights))
    assert [(call.name, call.inputs) for call in model.calls] == [
        ("inner/deep", ("x",)), ("inner/deep#2", ("x",)), ("steps/deep", ("inner/deep",)),
        ("add", ("inner/deep", "steps/deep")),
    ]  # fmt: skip
    assert model.calls[0].layer is model.calls[1].layer
    assert model.outputs == ("add", "inner/deep#2")  # Keras counts a use that a functional model begins with
    assert read(model)["inner/deep"]["bias"][1] == 1.0
    assert read(model)["steps/deep"]["bias"][1] == 10.0


def test_wrapped_layers_come_forward_before_backward(tmp_path):
    lstm = layer("LSTM", "l", units=1, use_bias=False)
    both = layer("Bidirectional", "both", layer=lstm, backward_layer=lstm)
    cells = layer("RNN", "cells", cell=layer("StackedRNNCells", cells=[layer("LSTMCell", units=1)] * 2))
    steps = layer("TimeDistributed", "steps", layer=dense("d"))
    weights = {}
    for number, group in enumerate(("bidirectional/forward_layer/cell", "bidirectional/backward_layer/cell")):
        weights[f"layers/{group}/vars/0"] = numbers(2, 4, start=10.0 * number)
        weights[f"layers/{group}/vars/1"] = numbers(1, 4, start=10.0 * number + 100)
    for number in range(12):
        weights[f"layers/rnn/cell/cells/lstm_cell{'_1' * (number > 2)}/vars/{number % 3}"] = numbers(1, start=number)
    weights |= {
        "layers/time_distributed/layer/vars/0": numbers(2, 2),
        "layers/time_distributed/layer/vars/1": numbers(2),
    }
    model = own(archive(tmp_path / "m.keras", chain(given(4, 2), both, steps, cells), weights))
    both, steps, cells = (call.layer for call in model.calls)
    assert [one.name for one in both.weights] == ["kernel", "recurrent_kernel"] * 2
    assert [one.read()[0, 0] for one in both.weights] == [0.0, 100.0, 10.0, 110.0]
    assert [one.name for one in steps.weights] == ["kernel", "bias"]
    assert [one.read()[0] for one in cells.weights] == [0.0, 1.0, 2.0, 9.0, 10.0, 11.0]
    assert both.config["layer"] == {"class_name": "LSTM", "config": lstm["config"]}


def test_layers_with_weights_count_twice_in_keras_2_13(tmp_path):
    """Its container names each of them with the others and once more; found in keras/saving/saving_lib.py of 2.13."""
    config = chain(
        layer("InputLayer", "x", batch_input_shape=[None, 2]), dense("a"), layer("Activation", "r"), dense("b")
    )
    place = "_layer_checkpoint_dependencies"
    weights = {
        f"{place}/dense/vars/0": numbers(2, 2), f"{place}/dense/vars/1": numbers(2),
        f"{place}/dense_2/vars/0": numbers(2, 2, start=5), f"{place}/dense_2/vars/1": numbers(2, start=5),
    }  # fmt: skip
    model = own(archive(tmp_path / "m.keras", config, weights, version="2.13.1"))
    assert model.version == 2
    assert read(model)["b"]["bias"][0] == 5.0


@pytest.mark.parametrize("half", ["bfloat16", "float16", "float64"])
@pytest.mark.quick_rows(1)
def test_other_widths(half, tmp_path):
    values = np.array([[1.5, -2.25], [0.0, 2.0**-120 if half == "bfloat16" else 0.125]])
    content = io.BytesIO()
    with h5py.File(content, "w") as file:
        for number in (0, 1):
            array = values.reshape(-1)[: 4 if number == 0 else 2].reshape((2, 2) if number == 0 else 2)
            if half == "bfloat16":  # the upper half of a float32
                raw = (array.astype("<f4").view("<u4") >> 16).astype("<u2").view("V2")
                file[f"layers/dense/vars/{number}"] = raw
                file[f"layers/dense/vars/{number}"].attrs["dtype"] = half
            else:
                file[f"layers/dense/vars/{number}"] = array.astype(half)
    path = archive(tmp_path / "m.keras", chain(given(2), dense("a")), {}, more={"model.weights.h5": content.getvalue()})
    for isolated in (False, True):
        model = read_keras(path, isolated=isolated)
        kernel, bias = model.calls[0].layer.weights
        assert kernel.read().dtype == ("float64" if half == "float64" else "float32") == model.dtype
        np.testing.assert_array_equal(kernel.read(), values)
        np.testing.assert_array_equal(bias.read(), values[0])


def test_what_was_compiled(tmp_path):
    config = {**chain(given(2), dense("a", use_bias=False)), "compile_config": {
        "optimizer": {"module": "keras.optimizers", "class_name": "SGD", "config": {"learning_rate": 0.5}},
        "loss": "mse", "loss_weights": None, "metrics": ["mae"],
    }}  # fmt: skip
    model = own(archive(tmp_path / "m.keras", config, {"layers/dense/vars/0": numbers(2, 2)}))
    optimizer = {"class_name": "SGD", "config": {"learning_rate": 0.5}}
    assert model.training == {"optimizer": optimizer, "loss": "mse", "loss_weights": None}


REFUSED = {
    "no weights": ({}, {}, r"layer 'a' \(Dense\) must have the weights kernel, bias, got 0 arrays"),
    "no store": ({}, {"model.weights.h5": None}, r"expected an entry 'model.weights.h5'"),
    "no configuration": ({}, {"config.json": None}, r"expected an entry 'config.json'"),
    "other weights": ({}, {"model.weights.h5": b"x" * 99}, r"model.weights.h5 must begin with b'\\x89HDF"),
    "a version": ({}, {"metadata.json": "[]"}, r"metadata.json must be an object, got \[\]"),
    "no JSON": ({}, {"config.json": "{"}, r"expected JSON, got JSONDecodeError"),
    "deep JSON": ({}, {"config.json": "[" * 5000}, r"expected JSON, got RecursionError|at most 100 levels"),
    "twice": ({}, {"config.json": '{"a": 1, "a": 2}'}, r"every field of an object must stand once"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_refused(what, tmp_path):
    weights, more, said = REFUSED[what]
    path = archive(tmp_path / "m.keras", chain(given(2), dense("a")), weights, more=more)
    with pytest.raises(nd.FormatError, match=rf"m\.keras: .*{said}"):
        own(path)


def test_an_archive_that_unpacks_to_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("nn.files.archive.most_unpacked", lambda length: length)  # else the test would write 256 MiB
    path = archive(tmp_path / "m.keras", chain(given(2), dense("a")), {}, more={"model.weights.h5": None})
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as file:
        file.writestr("model.weights.h5", bytes(1 << 16))
    with pytest.raises(nd.FormatError, match=r"must hold at most .* bytes in a file of this size"):
        own(path)


@pytest.mark.parametrize("content", [b"", b" \n"])
def test_an_empty_file_is_told_as_such(content, tmp_path):
    path = tmp_path / "model.keras"
    path.write_bytes(content)
    with pytest.raises(nd.FormatError, match=r"expected a model of Keras, or its JSON, got an empty file"):
        nn.load(path)
