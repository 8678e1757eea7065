"""Configurations: order of calls, names, shapes of inputs, and what is no model."""

import io
import json

import pytest

import nd
from nn.keras.reading import read_keras

from .files import called, chain, functional, given, layer, tensor


def dense(name, units=2, **settings):
    return layer("Dense", name, units=units, **settings)


def start(name="x", *shape):
    return {**given(*(shape or (2,)), name=name), "name": name, "inbound_nodes": []}


def own(config):
    return read_keras(json.dumps(config))


def test_calls_stand_in_an_order_in_which_they_can_run():
    shared = called(dense("s"), "x", "b")
    layers = [called(layer("Add", "sum"), ["s", "b"]), shared, called(dense("b"), "s"), start()]
    layers[0]["inbound_nodes"] = [{"args": [[tensor("s", 1), tensor("b")]], "kwargs": {}}]
    model = own(functional(layers, ["x", 0, 0], [["sum", 0, 0]]))
    assert [(call.name, call.inputs) for call in model.calls] == [
        ("s", ("x",)), ("b", ("s",)), ("s#2", ("b",)), ("sum", ("s#2", "b")),
    ]  # fmt: skip
    assert not model.is_sequential


def test_inputs_and_outputs_that_have_names_stand_by_them():
    layers = [start("z", 3), start("a", 4), called(dense("one"), "z"), called(dense("two"), "a")]
    model = own(functional(layers, {"z": ["z", 0, 0], "a": ["a", 0, 0]}, {"q": ["one", 0, 0], "p": ["two", 0, 0]}))
    assert list(model.inputs) == ["a", "z"]
    assert model.outputs == ("two", "one")


def test_arguments_of_calls():
    lstm = called(layer("LSTM", "l", units=2), "x", initial_state=[tensor("h"), tensor("c")], training=None)
    layers = [start("x", 4, 2), start("h"), start("c"), lstm]
    model = own(functional(layers, [["x", 0, 0], ["h", 0, 0], ["c", 0, 0]], [["l", 0, 0]]))
    assert model.calls[0].arguments == {"initial_state": ["h", "c"]}
    operation = {"module": "keras.src.ops.numpy", "class_name": "Multiply", "config": {"name": "m"}}
    layers = [start(), {**operation, "name": "m", "inbound_nodes": [{"args": [tensor("x"), 2.0], "kwargs": {}}]}]
    model = own(functional(layers, ["x", 0, 0], ["m", 0, 0]))
    assert model.calls[0].layer.class_name == "keras.ops.Multiply"
    assert model.calls[0].arguments == {"args": [2.0]}


@pytest.mark.parametrize(
    ("layers", "inputs"),
    [
        ([given(3, None, name="q", dtype="int32"), dense("a")], {"q": ((3, None), "int32")}),
        ([layer("Embedding", "e", batch_input_shape=[None, 7], dtype="float32")], {"e_input": ((7,), "float32")}),
        ([dense("a") | {"build_config": {"input_shape": [None, 5]}}], {"a_input": ((5,), "float32")}),
        ([{**chain(dense("a", batch_input_shape=[None, 4])), "name": "s"}], {"s_input": ((4,), "float32")}),
    ],
)
def test_inputs_of_chains(layers, inputs):
    assert {name: tuple(spec) for name, spec in own(chain(*layers)).inputs.items()} == inputs


def test_settings_are_those_of_json():
    policy = {"module": "keras", "class_name": "DTypePolicy", "config": {"name": "float32"}, "registered_name": None}
    zeros = {"module": "keras.initializers", "class_name": "Zeros", "config": {}, "registered_name": None}
    one = dense("a", dtype=policy, bias_initializer=zeros, pair={"class_name": "__tuple__", "items": [1, 2]})
    config = own(chain(given(2), one)).calls[0].layer.config
    assert config["dtype"] == "float32"
    assert config["bias_initializer"] == {"class_name": "Zeros", "config": {}}
    assert config["pair"] == [1, 2]


@pytest.mark.parametrize("as_what", [str, str.encode, lambda text: io.BytesIO(text.encode())])
def test_a_configuration_is_text_bytes_or_a_file(as_what):
    text = json.dumps({**chain(layer("Dense", "a", version=2, units=2, batch_input_shape=[None, 3])), "backend": "x"})
    model = read_keras(as_what(text))
    assert model.version == 2
    assert model.calls[0].layer.weights is None


def nested(depth):
    inner = chain(given(2), dense("d"))
    for number in range(depth):
        inner = chain(given(2), {**inner, "name": f"s{number}"})
    return inner


def doubling(depth):
    """Return models each of which calls the next one twice."""
    inner = functional([start(), called(dense("d"), "x")], ["x", 0, 0], ["d", 0, 0], name="m")
    for _ in range(depth):
        inner = functional(
            [start(), {**inner, "name": "m", "inbound_nodes": called(dense("m"), "x", "m")["inbound_nodes"]}],
            ["x", 0, 0], ["m", 2, 0], name="m",
        )  # fmt: skip
    return inner


REFUSED = {
    "a circle": (
        functional([start(), called(dense("a"), "b"), called(dense("b"), "a")], ["x", 0, 0], ["b", 0, 0]),
        r"layers must not wait for one another, got 'b' in a circle",
    ),
    "no such layer": (
        functional([start(), called(dense("a"), "b")], ["x", 0, 0], ["a", 0, 0]),
        r"layer 'a' must take the outputs of layers of the model, got 'b'",
    ),
    "no such use": (
        functional([start(), called(dense("a"), "x")], ["x", 0, 0], ["a", 7, 0]), r"got output 0 of use 7 of 'a'",
    ),
    "no such input": (functional([start(), called(dense("a"), "x")], ["y", 0, 0], ["a", 0, 0]), "a layer 'y', got"),
    "an input of another kind": (
        functional([start(), called(dense("a"), "x")], ["a", 0, 0], ["a", 0, 0]), "input 'a' must be an InputLayer",
    ),
    "a name twice": (chain(given(2), dense("a"), dense("a")), r"layers must have names of their own, got 'a' twice"),
    "no layers": (chain(), "Sequential must have layers, got none"),
    "no outputs": (functional([start()], ["x", 0, 0], []), "must have output_layers, got none"),
    "no shape": (chain(dense("a")), r"input 'a_input': expected a batch_shape, got None"),
    "a shape of texts": (chain(given("2"), dense("a")), r"input 'x': expected a batch_shape, got \[None, '2'\]"),
    "no class": ({"config": {}}, r"a model must have 'class_name', got \['config'\]"),
    "a class of a number": ({"class_name": 3, "config": {}}, "class_name must be a text, got 3"),
    "a layer that is a number": (chain(given(2), 3), "a layer must be an object, got 3"),
    "a reference": (functional([start()], ["x", 0, 0], [["x", -1, 0]]), "the number of a use must be a whole number"),
    "a constant": (
        functional([start(), {**dense("a"), "name": "a", "inbound_nodes": [{"args": [3]}]}], ["x", 0, 0], ["a", 0, 0]),
        "an input of a layer must be the output of another, got 3",
    ),
    "models deep in models": (nested(40), "at most 100 levels"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_no_model(what):
    config, said = REFUSED[what]
    with pytest.raises(nd.FormatError, match=rf"^the configuration: .*(?:{said})"):
        own(config)


def test_many_calls_are_bounded(monkeypatch):
    monkeypatch.setattr("nn.keras.reading.flattening._MOST_CALLS", 60)
    with pytest.raises(nd.FormatError, match="must call its layers at most 60 times, got more"):
        own(doubling(6))


def test_models_of_their_authors_classes_are_named():
    with pytest.raises(nd.ConfigurationError, match=r"MyModel: a model must be Sequential or functional, got a class"):
        own({"class_name": "MyModel", "config": {"size": 3}})


@pytest.mark.parametrize("content", [b"\xff\xfe", b"{", b"[1]", b"\x00" * 50, b"3"])
def test_what_is_no_configuration(content, tmp_path):
    (tmp_path / "c.json").write_bytes(content)
    with pytest.raises(nd.FormatError, match=r"c\.json: "):
        read_keras(tmp_path / "c.json")


def test_no_code_of_a_lambda_is_run():
    """What its marshalled code is stays text."""
    code = {"class_name": "__lambda__", "config": {"code": "4wEAAAAAAAAA", "defaults": None, "closure": None}}
    model = own(chain(given(2), layer("Lambda", "l", function=code, arguments={})))
    assert model.calls[0].layer.class_name == "Lambda"
    assert model.calls[0].layer.config["function"] == code
