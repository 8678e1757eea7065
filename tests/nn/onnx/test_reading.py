"""ONNX files within bounds: arrays as ONNX reads them; external data that points outside; sizes that lie."""

import io
import os
import resource

import numpy as np
import onnx
import onnx.reference
import pytest
from onnx import TensorProto, helper, numpy_helper

import nd
import nn
import nn.onnx.slimming
from nn.onnx.reading import read_onnx
from nn.onnx.slimming import IN_PLACE, slim_content

RNG = np.random.default_rng(2)
W = RNG.normal(size=(3, 40_000)).astype(np.float32)
"""Large enough to stay in its file."""


def model(tensors, nodes=None, **settings):
    """A graph with these constants, that computes x W."""
    nodes = nodes or [helper.make_node("MatMul", ["x", "w"], ["y"])]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", None]) for name in "xy")
    graph = helper.make_graph(nodes, "g", [x], [y], tensors)
    return helper.make_model(graph, **{"ir_version": 10, "opset_imports": [helper.make_opsetid("", 18)], **settings})


def with_weights(array=W, **settings):
    return model([numpy_helper.from_array(array, "w")], **settings)


def arrays_of(source):
    file = read_onnx(source)
    return {tensor.name: file.array(tensor) for tensor in file.graph.initializer}


def saved(path, made):
    path.write_bytes(made.SerializeToString())
    return path


# ---- arrays are those of the package onnx


@pytest.mark.parametrize(
    "dtype",
    ["float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"],
)
@pytest.mark.parametrize("shape", [(3, 70_001), (2, 3), (), (0, 4)])
def test_large_and_small_tensors_are_those_of_onnx(dtype, shape, tmp_path):
    array = (RNG.normal(size=shape) * 50).astype(dtype)
    tensors = [numpy_helper.from_array(W, "w"), numpy_helper.from_array(array, "other")]
    path = saved(tmp_path / "m.onnx", model(tensors))
    found = arrays_of(path)
    np.testing.assert_array_equal(found["w"], W)
    np.testing.assert_array_equal(found["other"], array)
    assert (found["other"].dtype, found["other"].shape) == (np.dtype(dtype), shape)


@pytest.mark.parametrize("kind", [TensorProto.BFLOAT16, TensorProto.FLOAT8E4M3FN, TensorProto.INT4])
def test_other_types_are_those_of_onnx(kind, tmp_path):
    values = RNG.integers(-8, 8, 300_000).astype(np.float32)
    tensor = helper.make_tensor("other", kind, [300_000], values)
    raw = TensorProto(name="other", data_type=kind, dims=[300_000], raw_data=numpy_helper.to_array(tensor).tobytes())
    if kind == TensorProto.INT4:
        raw = numpy_helper.from_array(numpy_helper.to_array(tensor), "other")
    path = saved(tmp_path / "m.onnx", model([numpy_helper.from_array(W, "w"), raw]))
    np.testing.assert_array_equal(arrays_of(path)["other"], numpy_helper.to_array(tensor))


def test_numbers_that_are_no_raw_bytes(tmp_path):
    tensor = helper.make_tensor("w", TensorProto.FLOAT, W.shape, W.reshape(-1))
    assert not tensor.raw_data
    np.testing.assert_array_equal(arrays_of(saved(tmp_path / "m.onnx", model([tensor])))["w"], W)


class Pipe(io.RawIOBase):
    """A file object that cannot go back."""

    def __init__(self, content):
        self.content = io.BytesIO(content)

    def readable(self):
        return True

    def readinto(self, buffer):
        return self.content.readinto(buffer)


def test_file_objects(tmp_path):
    content = with_weights().SerializeToString()
    for source in (io.BytesIO(content), Pipe(content)):
        np.testing.assert_array_equal(arrays_of(source)["w"], W)


def test_large_tensors_stay_in_the_file():
    made = with_weights()
    slim = slim_content("m", io.BytesIO(made.SerializeToString()), 1 << 30)
    assert len(slim) < 1000
    again = onnx.ModelProto.FromString(slim)
    (tensor,) = again.graph.initializer
    place = int(tensor.external_data[0].value.removeprefix(IN_PLACE))
    assert made.SerializeToString()[place : place + W.nbytes] == W.tobytes()
    del again.graph.initializer[:], made.graph.initializer[:]
    assert again == made


def test_fields_in_any_order_and_unknown_ones_are_kept():
    tensor = numpy_helper.from_array(W, "w").SerializeToString()
    graph = model([]).graph.SerializeToString()
    unknown = b"\xaa\x06\x03abc"  # field 101
    length = len(tensor)
    varint = bytes([length & 0x7F | 0x80, length >> 7 & 0x7F | 0x80, length >> 14])
    graph = b"\x2a" + varint + tensor + unknown + graph
    length = len(graph)
    varint = bytes([length & 0x7F | 0x80, length >> 7 & 0x7F | 0x80, length >> 14])
    head = model([])
    head.ClearField("graph")
    content = b"\x3a" + varint + graph + head.SerializeToString() + unknown
    np.testing.assert_array_equal(arrays_of(io.BytesIO(content))["w"], W)


# ---- external data


def external(folder, location="data.bin", **more):
    """A model whose weights lie in another file, under these entries."""
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=W.shape, data_location=TensorProto.EXTERNAL)
    for key, value in {"location": location, **more}.items():
        tensor.external_data.add(key=key, value=value)
    folder.mkdir(exist_ok=True)
    (folder / "data.bin").write_bytes(W.tobytes())
    return saved(folder / "m.onnx", model([tensor]))


def test_external_data_as_onnx_writes_it(tmp_path):
    onnx.save(with_weights(), tmp_path / "m.onnx", save_as_external_data=True, location="w.data", size_threshold=0)
    assert (tmp_path / "w.data").stat().st_size >= W.nbytes
    np.testing.assert_array_equal(arrays_of(tmp_path / "m.onnx")["w"], W)
    x = RNG.normal(size=(4, 3)).astype(np.float32)
    np.testing.assert_allclose(nd.to_host(nn.load(tmp_path / "m.onnx").output(x)[0]), x @ W, rtol=1e-5, atol=1e-5)


def test_external_data_in_a_folder_below(tmp_path):
    path = external(tmp_path / "model", "inner/data.bin")
    (tmp_path / "model" / "inner").mkdir()
    (tmp_path / "model" / "data.bin").rename(tmp_path / "model" / "inner" / "data.bin")
    np.testing.assert_array_equal(arrays_of(path)["w"], W)


@pytest.mark.parametrize(
    ("location", "said"),
    [
        ("../data.bin", "beside the model, got location"),
        ("a/../../data.bin", "beside the model, got location"),
        ("..\\data.bin", "beside the model, got location"),
        ("/etc/passwd", "beside the model, got location"),
        ("C:\\data.bin", "beside the model, got location"),
        ("", "beside the model, got location ''"),
        ("none.bin", "'none.bin' beside the model, got no such file. Put that file there."),
        ("folder", "expected a file, got a folder"),
        (f"{IN_PLACE}0x", "a number of bytes"),
        (f"{IN_PLACE}99999999", "bytes from 99,999,999 on, got a file of"),
        (f"{IN_PLACE}-1", "a number of bytes"),
        ("a\0b", "beside the model, got location"),
    ],
)
def test_external_data_that_points_outside(location, said, tmp_path):
    (tmp_path / "data.bin").write_bytes(W.tobytes())
    path = external(tmp_path / "model", location)
    (tmp_path / "model" / "folder").mkdir()
    with pytest.raises((nd.FormatError, OSError), match=said):
        nn.load(path)


@pytest.mark.parametrize("place", ["data.bin", "inner"])
def test_external_data_behind_a_link(place, tmp_path):
    path = external(tmp_path / "model", "data.bin" if place == "data.bin" else "inner/data.bin")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "model" / "data.bin").rename(tmp_path / "elsewhere" / "data.bin")
    os.symlink(tmp_path / "elsewhere" / ("data.bin" if place == "data.bin" else ""), tmp_path / "model" / place)
    with pytest.raises(nd.FormatError, match="a file of its own, got a link"):
        nn.load(path)


def test_external_data_in_a_pipe(tmp_path):
    path = external(tmp_path / "model", "pipe")
    os.mkfifo(tmp_path / "model" / "pipe")
    with pytest.raises(nd.FormatError, match="must be a file, got a pipe"):
        nn.load(path)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"offset": "4"}, "bytes from 4 on, got a file of 480,000"),
        ({"offset": "99999999999999999999999"}, "a number of bytes"),
        ({"offset": "-4"}, "a number of bytes"),
        ({"offset": "4.5"}, "a number of bytes"),
        ({"length": "479999"}, "480,000 bytes from 0 on, .* and length 479,999"),
        ({"length": "0"}, "480,000 bytes from 0 on, .* and length 0"),
        ({"length": "-1"}, "a number of bytes"),
    ],
)
def test_external_data_with_sizes_that_lie(more, said, tmp_path):
    with pytest.raises(nd.FormatError, match=said):
        nn.load(external(tmp_path / "model", **more))


def test_external_data_of_a_file_object_are_refused(tmp_path):
    content = external(tmp_path / "model").read_bytes()
    with pytest.raises(nd.FormatError, match=r"got external data of a file object\. Give the path\.$"):
        nn.load(io.BytesIO(content))


# ---- sizes that lie


LIES = {
    "more": lambda tensor: tensor.dims.__setitem__(0, 4),
    "fewer": lambda tensor: tensor.dims.__setitem__(0, 2),
    "a tebi": lambda tensor: tensor.dims.__setitem__(0, 1 << 40),
    "beyond all": lambda tensor: tensor.dims.extend([1 << 62] * 3),
    "below zero": lambda tensor: tensor.dims.__setitem__(0, -3),
    "nothing of much": lambda tensor: tensor.dims.extend([0, 1 << 62, 1 << 62]),
    "many axes": lambda tensor: tensor.dims.extend([1] * 100),
    "another type": lambda tensor: setattr(tensor, "data_type", TensorProto.DOUBLE),
    "texts": lambda tensor: setattr(tensor, "data_type", TensorProto.STRING),
    "no type": lambda tensor: setattr(tensor, "data_type", 0),
    "an unknown type": lambda tensor: setattr(tensor, "data_type", 99),
    "cut": lambda tensor: setattr(tensor, "raw_data", tensor.raw_data[:-1]),
    "empty": lambda tensor: setattr(tensor, "raw_data", b""),
}


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("size", [40_000, 40])
def test_sizes_that_lie(lie, size, tmp_path):
    made = with_weights(W[:, :size])
    LIES[lie](made.graph.initializer[0])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(nd.FormatError, match=r"m\.onnx: .*(Is the file damaged|Is it damaged)"):
        nn.load(saved(tmp_path / "m.onnx", made))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10  # kilobytes


def test_what_is_folded_is_bounded(tmp_path):
    """A constant of a tebi of elements, that three numbers ask for."""
    sizes = numpy_helper.from_array(np.array([1 << 20, 1 << 20], np.int64), "sizes")
    nodes = [
        helper.make_node("ConstantOfShape", ["sizes"], ["w"]),
        helper.make_node("MatMul", ["x", "w"], ["y"]),
    ]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(nd.NdError, match=r"MatMul|memory|ConstantOfShape|parameters"):
        nn.load(saved(tmp_path / "m.onnx", model([sizes], nodes)))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10


# ---- damage


def test_a_file_that_ends_early(tmp_path):
    content = with_weights().SerializeToString()
    for length in (0, 1, 2, 3, 20, 300, len(content) // 2, len(content) - 30, len(content) - 1):
        (tmp_path / "m.onnx").write_bytes(content[:length])
        with pytest.raises(nd.FormatError, match=r"m\.onnx: .*(truncated|an ONNX model must)"):
            nn.load(tmp_path / "m.onnx")


def test_other_files_of_that_name(tmp_path):
    for content in (b"<html></html>", bytes(500), b"\xff" * 500, b"\x08\x07\x12\x07pytorch" + bytes(90)):
        (tmp_path / "m.onnx").write_bytes(content)
        with pytest.raises(nd.FormatError, match=r"m\.onnx: .*ONNX model"):
            nn.load(tmp_path / "m.onnx")


def test_a_message_of_many_parts_is_left_early(monkeypatch):
    monkeypatch.setattr(nn.onnx.slimming, "MOST_FIELDS", 1000)
    slim_content("m", io.BytesIO(b"\x20\x01" * 1000), 1 << 30)
    with pytest.raises(nd.FormatError, match=r"at most 1,000 parts"):
        slim_content("m", io.BytesIO(b"\x20\x01" * 1001), 1 << 30)


RULES = {
    "a node reads itself": [helper.make_node("Add", ["y", "w"], ["y"])],
    "a tensor is written twice": [helper.make_node("Relu", ["x"], ["y"]), helper.make_node("Abs", ["x"], ["y"])],
    "nodes in the wrong order": [helper.make_node("Relu", ["z"], ["y"]), helper.make_node("Abs", ["x"], ["z"])],
    "an input that nobody gives": [helper.make_node("Add", ["x", "nowhere"], ["y"])],
    "too few inputs": [helper.make_node("Add", ["x"], ["y"])],
    "an unknown attribute": [helper.make_node("Relu", ["x"], ["y"], speed=3)],
    "an unknown operator": [helper.make_node("Fly", ["x"], ["y"])],
}


@pytest.mark.parametrize("fault", RULES)
def test_models_that_break_onnx_own_rules(fault, tmp_path):
    made = model([numpy_helper.from_array(W, "w")], RULES[fault])
    with pytest.raises(nd.FormatError, match=r"m\.onnx: an ONNX model must keep ONNX's own rules, got: .*damaged"):
        nn.load(saved(tmp_path / "m.onnx", made))


def test_outputs_without_a_shape_as_some_exporters_write_them():
    made = with_weights(W[:, :2])
    made.graph.output[0].type.tensor_type.ClearField("shape")
    x = RNG.normal(size=(4, 3)).astype(np.float32)
    (y,) = onnx.reference.ReferenceEvaluator(made).run(None, {"x": x})
    (found,) = nn.load(io.BytesIO(made.SerializeToString())).output(x)
    np.testing.assert_allclose(nd.to_host(found), y, rtol=1e-5, atol=1e-6)


def test_operators_of_the_future(tmp_path):
    newest = onnx.defs.onnx_opset_version()
    path = saved(tmp_path / "m.onnx", with_weights(opset_imports=[helper.make_opsetid("", newest + 1)]))
    with pytest.raises(nd.ConfigurationError, match=rf"opset 1 to {newest}, got {newest + 1}\. Install a newer onnx"):
        nn.load(path)
