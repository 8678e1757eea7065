"""Models whose constants depend on how many examples come, and whose first axis are no examples."""

import io

import numpy as np
import pytest

from nn.onnx import onnx_model
from nn.onnx.into import graph_of
from tests.cases.onnx_models import Model

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")


def answer(proto, x):
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})[0]


def held(proto, shapes, again=True):
    """Compare what is loaded, and what is written of it again, with onnxruntime, at every shape."""
    net = graph_of(io.BytesIO(proto.SerializeToString()))
    written = onnx_model(net, 18) if again else None
    for shape in shapes:
        x = np.random.default_rng(3).normal(size=shape).astype(np.float32)
        expected = answer(proto, x)
        np.testing.assert_allclose(net.output(x)[0], expected, rtol=1e-5, atol=1e-5)
        if again:
            np.testing.assert_allclose(answer(written, x), expected, rtol=1e-5, atol=1e-5)
    return net


def test_resize_keeps_the_examples_whatever_their_number():
    """PyTorch's interpolate with a size: Shape, Slice, Concat, Resize."""
    model = Model(18)
    model.node("Conv", ["x", model.weights("w", 3, 2, 3, 3)], "h", pads=[1, 1, 1, 1])
    model.node("Shape", "h", "kept", start=0, end=2)
    model.node("Concat", ["kept", model.constant("size", [5, 9])], "sizes", axis=0)
    model.node("Resize", ["h", "", "", "sizes"], "y", mode="linear", coordinate_transformation_mode="half_pixel")
    held(model.proto({"x": ["n", 2, 4, 6]}, ["y"]), [(1, 2, 4, 6), (5, 2, 4, 6)])


def test_a_first_state_is_as_long_as_there_are_examples():
    """A recurrent network written out: zeros for every example, a product, and the bias that is added to it."""
    model = Model(18)
    model.node("Shape", "x", "examples", start=1, end=2)
    model.node("Concat", [model.constant("one", [1]), "examples", model.constant("size", [4])], "shape", axis=0)
    model.node("Expand", [model.constant("zero", 0.0), "shape"], "state")
    model.node("MatMul", ["state", model.weights("u", 4, 4)], "product")
    model.node("Add", ["product", model.weights("b", 4)], "before")
    model.node("MatMul", ["x", model.weights("w", 3, 4)], "after")
    model.node("Add", ["before", "after"], "sum")
    model.node("Tanh", "sum", "y")
    held(model.proto({"x": [5, "n", 3]}, ["y"]), [(5, 1, 3), (5, 6, 3)])


def test_a_mask_of_infinities_is_no_shape():
    model = Model(18)
    model.node("MatMul", ["x", model.weights("w", 4, 3)], "h")
    model.node("Add", ["h", model.constant("mask", [[0.0, -np.inf, 0.0]] * 3)], "masked")
    model.node("Softmax", "masked", "s", axis=-1)
    model.node("Reshape", ["s", model.constant("shape", [0, 9])], "y")
    held(model.proto({"x": ["n", 3, 4]}, ["y"]), [(1, 3, 4), (4, 3, 4)])


@pytest.mark.parametrize("first", ["GRU", "LayerNormalization", "Transpose"])
def test_what_has_the_time_first_is_written_again(first):
    model = Model(18)
    x = "x"
    if first == "LayerNormalization":
        x = model.node(first, ["x", model.weights("gain", 3)], "normal", axis=-1)
    elif first == "Transpose":
        x = model.node("Transpose", model.node("Transpose", "x", "turned", perm=[1, 2, 0]), "back", perm=[2, 0, 1])
    weights = [model.weights("w", 1, 12, 3), model.weights("r", 1, 12, 4), model.weights("b", 1, 24)]
    model.node("GRU", [x, *weights], ["series", "end"], hidden_size=4, linear_before_reset=1)
    model.node("Gather", ["end", model.constant("last", np.int64(0))], "state", axis=0)
    model.node("Gemm", ["state", model.weights("v", 4, 2)], "y")
    held(model.proto({"x": ["t", "n", 3]}, ["y"]), [(6, 1, 3), (3, 4, 3)])


def old_forms(opset):
    model = Model(opset)
    model.node("Softmax", "x", "shares", axis=1)
    model.node("ReduceMax", "shares", "most", axes=[2], keepdims=0)
    model.node("Unsqueeze", "most", "again", axes=[0])
    model.node("Squeeze", "again", "rows", axes=[0])
    model.node("ReduceSum", "x", "sums", axes=[2], keepdims=0)
    model.node("Greater", ["rows", "sums"], "above")
    model.node("Cast", "above", "truth", to=7)
    model.node("Cast", "truth", "number", to=1)
    model.node("ArgMax", "x", "places", axis=2, keepdims=0)
    model.node("Cast", "places", "place", to=1)
    model.node("Sum", ["number", "rows", "place"], "y")
    return model.proto({"x": ["n", 3, 4]}, ["y"])


def test_forms_of_old_opsets_are_written_as_the_new_ones():
    held(old_forms(11), [(2, 3, 4), (5, 3, 4)])
