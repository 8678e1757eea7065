"""Kinds of files by their content, whatever their names say."""

import io
import json

import h5py
import numpy as np
import pytest
from onnx import TensorProto, helper

import nd
import nn
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from nn.caffe import parse_text
from nn.files.kinds import kind_of_file
from tests.cases.caffe_nets import LENET, V1
from tests.nn.keras.reading.files import archive, chain, given, layer


def network():
    conf = NeuralNetConfiguration(seed=3).list(
        DenseLayer(n_in=3, n_out=4, activation="tanh"), OutputLayer(n_out=2, activation="softmax")
    )
    return MultiLayerNetwork(conf).init()


def saved(ending, tmp_path):
    network().save(tmp_path / f"net.{ending}")
    return (tmp_path / f"net.{ending}").read_bytes()


def hdf5(**attributes):
    content = io.BytesIO()
    with h5py.File(content, "w") as file:
        file["data/conv1/0"] = np.arange(3)
        for name, value in attributes.items():
            file.attrs[name] = value
    return content.getvalue()


def numbered_weights():
    """What Keras 3 writes as .weights.h5; the names stand behind a megabyte of numbers."""
    content = io.BytesIO()
    with h5py.File(content, "w") as file:
        file["first"] = np.zeros(1 << 17)
        file["layers/dense/vars/0"] = np.arange(3)
    return content.getvalue()


def keras_archive(path):
    return archive(path / "model.keras", chain(given(2), layer("Dense", "d", units=1)), {}).read_bytes()


def onnx_model(**fields):
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 2]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [x], [y])
    return helper.make_model(graph, **fields).SerializeToString()


def tensorflow_graph():
    """Nodes as field 1, each a message, and a library as field 2: some bytes as a NetParameter has them."""
    return b"\x0a\x03abc" * 5 + b"\x12\x02xy"


CONTENTS = {
    "zip": lambda path: saved("zip", path),
    "npz": lambda path: saved("npz", path),
    "safetensors": lambda path: saved("safetensors", path),
    "onnx": lambda path: onnx_model(),
    "onnx with a producer": lambda path: onnx_model(producer_name="pytorch", producer_version="2.0", doc_string="x"),
    "onnx cut in its graph": lambda path: onnx_model()[:-20],
    "caffemodel": lambda path: parse_text(LENET, "NetParameter").SerializeToString(),
    "caffemodel of the first schema": lambda path: parse_text(V1, "NetParameter").SerializeToString(),
    "prototxt": lambda path: LENET.encode(),
    "prototxt of the first schema": lambda path: V1.encode(),
    "hdf5": lambda path: hdf5(),
    "keras": keras_archive,
    "keras in HDF5": lambda path: hdf5(model_config="{}"),
    "keras's weights": lambda path: hdf5(layer_names=[b"a"]),
    "keras's numbered weights": lambda path: numbered_weights(),
    "keras's configuration": lambda path: json.dumps(chain(given(2))).encode(),
    "json": lambda path: b' {"confs": []}',
}
NOTHING = {
    "a text": b"layer by layer, and a brace {",
    "numbers": b"1,2,3\n4,5,6\n",
    "nothing": b"",
    "zeros": bytes(300),
    "a graph of TensorFlow": tensorflow_graph(),
    "a solver's state": b"\x08\x07\x12\x03abc\x1a\x02xy\x20\x00",
    "an archive that is cut": b"PK\x03\x04" + bytes(30),
    "a long tag": b"\x08" + b"\xff" * 30,
    "a length beyond all": b"\x0a" + b"\xff" * 9 + b"\x01",
    "many fields": b"\x20\x01" * 100_000,
}


@pytest.mark.parametrize("what", CONTENTS)
@pytest.mark.parametrize("name", ["model", "model.zip", "model.onnx"])
def test_the_content_tells(what, name, tmp_path):
    (tmp_path / name).write_bytes(CONTENTS[what](tmp_path))
    assert kind_of_file(tmp_path / name) == what.split()[0].removesuffix("'s")


@pytest.mark.parametrize("what", NOTHING)
def test_what_says_nothing_is_what_its_name_says(what, tmp_path):
    (tmp_path / "model").write_bytes(NOTHING[what])
    assert kind_of_file(tmp_path / "model") == ""
    for ending, kind in (("onnx", "onnx"), ("bin", "zip"), ("npz", "npz"), ("caffemodel", "caffemodel"), ("odd", "")):
        (tmp_path / f"model.{ending}").write_bytes(NOTHING[what])
        assert kind_of_file(tmp_path / f"model.{ending}") == kind


def test_random_bytes_are_of_no_kind():
    rng = np.random.default_rng(5)
    kinds = [kind_of_file(io.BytesIO(rng.bytes(200))) for _ in range(2000)]
    assert kinds.count("") >= 1998


def test_file_objects_are_left_at_their_beginning(tmp_path):
    content = io.BytesIO(onnx_model())
    content.seek(7)
    assert kind_of_file(content) == "onnx"
    assert content.tell() == 0


class Pipe(io.RawIOBase):
    """A file object that cannot go back."""

    def seekable(self):
        return False

    def readable(self):
        return True

    def readinto(self, buffer):
        raise AssertionError("nothing must be read")


def test_what_cannot_go_back_is_not_looked_into():
    assert kind_of_file(Pipe()) == ""


@pytest.mark.parametrize("ending", ["zip", "npz", "safetensors"])
@pytest.mark.parametrize("name", ["model", "model.zip", "model.npz", "model.onnx", "model.caffemodel"])
def test_networks_are_read_under_any_name(ending, name, tmp_path):
    (tmp_path / name).write_bytes(saved(ending, tmp_path))
    for again in (nn.load(tmp_path / name), MultiLayerNetwork.load(str(tmp_path / name))):
        np.testing.assert_array_equal(nd.to_host(again.params()), nd.to_host(network().params()))


@pytest.mark.parametrize(("what", "said"), [("caffemodel", "weights of Caffe"), ("prototxt", "a net of Caffe")])
def test_files_of_caffe_are_told_how_they_are_read(what, said, tmp_path):
    (tmp_path / "model.zip").write_bytes(CONTENTS[what](tmp_path))
    with pytest.raises(
        nd.FormatError, match=rf"model\.zip: expected a model.*{said}.*nn convert WEIGHTS OUT --prototxt"
    ):
        nn.load(tmp_path / "model.zip")
