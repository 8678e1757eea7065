"""What a caller gives comes back in messages, however long it is: never more than 2,000 characters of it."""

import pickle
import subprocess
import sys

import pytest

import backends.errors
import nd
from nd.dataset import MnistDataSetIterator
from nn import (
    ActivationLayer,
    ComputationGraph,
    ComputationGraphConfiguration,
    DenseLayer,
    InputType,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    WeightInit,
    load,
)
from tests.cells import every_row

LONG = "x" * 100_000
KINDS = [
    kind for kind in vars(backends.errors).values() if isinstance(kind, type) and issubclass(kind, nd.NdError)
]  # fmt: skip


@every_row("kind", KINDS, ids=lambda kind: kind.__name__)
def test_the_middle_of_a_long_message_is_left_out(kind):
    error = kind(f"who: must be this, got {LONG}. Do that.")
    text = str(error)
    assert len(text) <= 2000
    assert text.startswith("who: must be this, got xxx")
    assert text.endswith("xxx. Do that.")
    assert " [... 98,0" in text
    assert str(pickle.loads(pickle.dumps(error))) == text
    assert str(kind("a" * 2000)) == "a" * 2000


def many_names():
    return {f"vertex number {i}": (ActivationLayer(activation="relu"), "x") for i in range(5000)}


BASE = NeuralNetConfiguration(seed=1)
CALLS = {
    "a member": lambda: WeightInit(LONG),
    "a text": lambda: BASE.list(DenseLayer(n_in=1, n_out=1, activation=LONG)),
    "a list": lambda: BASE.list([*[DenseLayer(n_in=1, n_out=1)] * 1000, LONG]),
    "many names": lambda: BASE.graph({"x": InputType.feed_forward(4)}, many_names(), "nothing"),
    "many unread": lambda: BASE.graph({"x": InputType.feed_forward(4)}, many_names(), "vertex number 1"),
    "a name": lambda: BASE.graph({"x": InputType.feed_forward(4)}, {"a": (DenseLayer(n_out=1), LONG)}, "a"),
    "JSON": lambda: MultiLayerConfiguration.from_json(f'{{"{LONG}": 1}}'),
    "a path": lambda: load(LONG),
    "a folder": lambda: MultiLayerNetwork.load_checkpoint(LONG),
    "where to save": lambda: ComputationGraph.load(f"a/{LONG}/b"),
}  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_long_arguments(call):
    with pytest.raises(nd.NdError, match=r"\S") as caught:
        CALLS[call]()
    assert len(str(caught.value)) <= 2000


# ---- paths and the environment


@pytest.mark.parametrize("name", ["\ud800", "a\0b", "x" * 5000, f"{'y' * 256}/z"])
def test_no_file_has_such_a_name(name):
    from optimize import CheckpointListener

    net = MultiLayerNetwork(BASE.list(DenseLayer(n_in=1, n_out=1))).init()
    for use in (load, net.save, CheckpointListener.available_checkpoints, CheckpointListener.last_checkpoint,
                nd.dataset.DataSet.load, nd.serde.load):  # fmt: skip
        with pytest.raises(
            nd.ConfigurationError, match=r"must be .*a path that a file can have|expected the name of a file"
        ):
            use(name)


def test_a_folder_of_data_that_no_folder_can_be(monkeypatch):
    monkeypatch.setenv("ND_DATA_DIR", "x" * 5000)
    with pytest.raises(nd.DataError, match=r"ND_DATA_DIR: must be a folder, got 'xxx.*'\. Unset it"):
        MnistDataSetIterator(4)


def test_absurd_settings():
    code = """
import os
import nd
from backends import get_backend
from backends.cpu.workers import thread_count
from backends.settings import switch

readers = {"ND_BACKEND": get_backend, "ND_EAGER": lambda: switch("ND_EAGER", False), "ND_NUM_THREADS": thread_count}
for name, read in readers.items():
    for value in ("x" * 5000, "9" * 5000, "-1", "0.5", chr(0x663) + "x"):
        os.environ[name] = value
        try:
            read()
        except nd.NdError as error:
            assert name in str(error) and len(str(error)) <= 2000, error
        else:
            raise AssertionError(name, value)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


# ---- JSON


def graph():
    nodes = {"a": (DenseLayer(n_out=3), "x"), "b": (DenseLayer(n_out=3), "a")}
    return ComputationGraph(BASE.graph({"x": InputType.feed_forward(4)}, nodes, "b")).init().conf.as_initialised()


def test_a_field_that_stands_twice():
    text = BASE.list(DenseLayer(n_in=1, n_out=1)).to_json()
    twice = text.replace('"backpropType"', '"epochCount" : 3,\n  "backpropType"', 1)
    with pytest.raises(nd.FormatError, match=r"every field of an object must stand once, got 'epochCount' twice"):
        MultiLayerConfiguration.from_json(twice)


@pytest.mark.parametrize(("old", "new", "message"), [
    ("[0,1,2]", "[0,2,1]", r"topologicalOrder and topologicalOrderStr must say one order, got 'b' and 'a' at place 1"),
    ("[0,1,2]", "[0,1,1]", r"topologicalOrder must name each of 3 vertices once"),
    ("[0,1,2]", "[0,1,7]", r"topologicalOrder must name each of 3 vertices once"),
    ("[0,1,2]", "[0,2,1]|names", r"every vertex behind its inputs, got 'b' before its input 'a'"),
])  # fmt: skip
def test_orders_that_are_none(old, new, message):
    text = "".join(graph().to_json().split())
    assert old in text
    new, _, names = new.partition("|")
    text = text.replace(old, new)
    if names:
        text = text.replace('["x","a","b"]', '["x","b","a"]')
    with pytest.raises(nd.FormatError, match=message):
        ComputationGraphConfiguration.from_json(text)
