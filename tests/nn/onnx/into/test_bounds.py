"""Files of few bytes that ask for much: they are read, or refused with a typed error, in little memory and time."""

import contextlib
import io
import resource
import time

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import nd
import nn
from nn import InputType
from nn.onnx import OnnxVertex
from nn.onnx.vertices import types
from nn.vertices.merging import of_shape
from tests.cases.onnx_operators import OPERATOR_CASES

node = helper.make_node
MOST_GROWTH = 256 << 10  # kilobytes


def model(nodes, constants, sizes, opset=20):
    """A graph of x in [N, sizes] with these constants."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", *sizes])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", None])
    tensors = [numpy_helper.from_array(np.asarray(one), name) for name, one in constants.items()]
    graph = helper.make_graph(nodes, "much", [x], [y], tensors)
    made = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", opset)])
    return made.SerializeToString()


def whole(*numbers):
    return np.array(numbers, np.int64)


WINDOW = {"kernel_shape": [2**14] * 2, "pads": [2**13] * 4, "strides": [2**14] * 2}
MUCH = {
    "Pad": ([node("Pad", ["x", "p"], ["y"])], {"p": whole(0, 0, 0, 2**31)}, (4,)),
    "Pad in circles": ([node("Pad", ["x", "p"], ["y"], mode="wrap")], {"p": whole(0, 0, 0, 2**31)}, (4,), 19),
    "Tile": ([node("Tile", ["x", "p"], ["y"])], {"p": whole(1, 2**31)}, (4,)),
    "Expand": ([node("Expand", ["x", "p"], ["y"])], {"p": whole(1, 2**31)}, (1,)),
    "Resize": ([node("Resize", ["x", "", "s"], ["y"])], {"s": np.float32([1, 1, 2**14, 2**14])}, (1, 4, 4)),
    "OneHot": ([node("OneHot", ["x", "d", "v"], ["y"])], {"d": whole(2**33), "v": np.float32([0, 1])}, (4,)),
    "ConvTranspose": (
        [node("ConvTranspose", ["x", "w"], ["y"], strides=[2**15] * 2)], {"w": np.ones((1, 1, 3, 3), "f")}, (1, 9, 9)
    ),
    "AffineGrid": ([node("AffineGrid", ["x", "s"], ["y"])], {"s": whole(1, 1, 2**15, 2**15)}, (2, 3)),
    "CenterCropPad": ([node("CenterCropPad", ["x", "s"], ["y"])], {"s": whole(1, 2**34)}, (4,)),
    "Einsum": ([node("Einsum", ["x"] * 3, ["y"], equation="na,nb,nc->nabc")], {}, (2**11,)),
    "MaxPool": ([node("MaxPool", ["x"], ["y"], **WINDOW)], {}, (1, 9, 9)),
    "LpPool": ([node("LpPool", ["x"], ["y"], **WINDOW)], {}, (1, 9, 9)),
    "Abs of much": ([node("Abs", ["x"], ["y"])], {}, (2**40,)),
    "Softmax of much": ([node("Softmax", ["x"], ["y"], axis=1)], {}, (2**40, 3)),
    "Gather": ([node("Gather", ["x", "g"], ["y"], axis=1)], {"g": np.zeros((2**10, 2**10), np.int64)}, (4, 2**10)),
    "constants": (
        [node("Tile", [f"c{at}", "t"], [f"c{at + 1}"]) for at in range(40)] + [node("Add", ["x", "c40"], ["y"])],
        {"t": whole(2), "c0": np.ones(4, "f")}, (1,),
    ),
    "many constants": (
        [node("ConstantOfShape", ["p"], [f"c{at}"]) for at in range(500)] + [node("Add", ["x", "c0"], ["y"])],
        {"p": whole(2**20)}, (1,),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MUCH)
def test_little_files_make_little(name):
    content, before = model(*MUCH[name]), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    with contextlib.suppress(nd.NdError):
        nn.load(io.BytesIO(content))
    assert time.process_time() - started < 4.0
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MOST_GROWTH


def test_a_constant_may_be_infinite():
    content = model(
        [
            node("Greater", ["x", "zero"], ["above"]), node("Where", ["above", "x", "least"], ["some"]),
            node("Softmax", ["some"], ["y"]),
        ],
        {"zero": np.float32(0), "least": np.float32(-np.inf)}, (4,),
    )  # fmt: skip
    x = np.float32([[1, -1, 2, -3], [0.5, 1, -1, 4]])
    (expected,) = onnxruntime.InferenceSession(content).run(None, {"x": x})
    np.testing.assert_allclose(nn.load(io.BytesIO(content)).output(x)[0], expected, rtol=1e-6)


# ---- shapes that are told by rules are those of running


def typed(op, case):
    vertex = OnnxVertex(op, case.attributes, case.constants, case.opset, case.output, case.outputs)
    inputs = [of_shape(x.shape[1:] or (1,)) for x in case.inputs()]
    try:
        return vertex.output_type("v", inputs)
    except nd.NdError:
        return None


def test_rules_tell_the_shapes_that_running_makes(monkeypatch):
    rows = [(op, case) for op, cases in OPERATOR_CASES.items() for case in cases]
    ran = [typed(op, case) for op, case in rows]
    monkeypatch.setattr(types, "MOST_TRIED", 0)
    told = [typed(op, case) for op, case in rows]
    both = [(row, one, other) for row, one, other in zip(rows, ran, told, strict=True) if one and other]
    assert len(both) > 60
    assert [row for row, one, other in both if one != other] == []


def test_a_result_that_nothing_tells_is_bounded():
    vertex = OnnxVertex("CenterCropPad", constants={1: [1, 2**34]}, opset=13)
    with pytest.raises(
        nd.ConfigurationError, match=r"CenterCropPad must make at most 16,777,216 elements .* inputs of \[1, 4\]"
    ):
        vertex.output_type("v", [InputType.feed_forward(4)])


def test_axes_that_do_not_agree_are_named():
    with pytest.raises(nd.ShapeError, match=r"v: Add must have inputs whose axes agree or are 1"):
        OnnxVertex("Add").output_type("v", [InputType.feed_forward(4), InputType.feed_forward(3)])
