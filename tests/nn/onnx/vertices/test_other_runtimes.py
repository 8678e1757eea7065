"""Every operator's values against onnxruntime; those that it cannot compute against onnx.reference."""

import numpy as np
import pytest

import nd
from nn.onnx.vertices import OnnxVertex
from nn.vertices.runtime import VertexContext
from tests.cases.onnx_operators import OPERATOR_CASES

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
ROWS = [
    pytest.param(op, case, id=f"{op}-{number}")
    for op, cases in OPERATOR_CASES.items()
    for number, case in enumerate(cases)
]
BY_REFERENCE = {
    "And", "Attention-1", "CumProd", "LSTM-2", "Mod-1", "Not", "Or", "SwiGLU", "TopK", "Xor",
}  # fmt: skip
"""Rows that onnxruntime has no kernel for, with these types or settings."""
CLOSE = {"rtol": 1e-4, "atol": 1e-5}  # of results in float32
SAME = {"rtol": 1e-6, "atol": 1e-8}  # the reference computes some constants in float32
LENGTHS, OF_VALUES = 4, ("Mod", "Pow")  # position of recurrences' lengths; operators whose constants are numbers


def input_of(op, position, constant, dtype):
    """Return a constant in the dtype that the operator's definition asks for."""
    array = np.asarray(constant)
    if array.dtype.kind == "f" or (op in OF_VALUES and position):
        return array.astype("float32" if op in ("Resize", "Upsample") else dtype)
    return array.astype("int32") if op in ("GRU", "LSTM", "RNN") and position == LENGTHS else array


def model_of(op, case, dtype):
    """Return the row as a model of one node, and its inputs by name."""
    given, names, values = iter(case.inputs()), [], {}
    for position in range(len(case.shapes) + len(case.constants)):
        names.append(f"in{position}")
        if position not in case.constants:
            values[names[-1]] = next(given).astype(dtype)
        elif case.constants[position] is None:
            names[-1] = ""
        else:
            values[names[-1]] = input_of(op, position, case.constants[position], dtype)
    outputs = [f"out{number}" for number in range(max(case.outputs, case.output + 1))]
    node = onnx.helper.make_node(op, names, outputs, **case.attributes)
    numbers = {name: onnx.helper.np_dtype_to_tensor_dtype(x.dtype) for name, x in values.items()}
    infos = [onnx.helper.make_tensor_value_info(name, numbers[name], x.shape) for name, x in values.items()]
    result = onnx.helper.make_empty_tensor_value_info(outputs[case.output])
    graph = onnx.helper.make_graph([node], "one", infos, [result])
    opsets = [onnx.helper.make_opsetid("", case.opset)]
    return onnx.helper.make_model(graph, opset_imports=opsets, ir_version=10), values


def value_of(op, case):
    conf = OnnxVertex(op, case.attributes, case.constants, case.opset, case.output, case.outputs)
    count = len(case.shapes)
    ctx = VertexContext(False, nd.Buffers("float64"), (None,) * count, (False,) * count, {})
    runtime = conf.runtime(conf, "vertex 'v' (OnnxVertex)", "float64")
    return nd.to_host(runtime.forward([nd.as_array(x, "float64") for x in case.inputs()], {}, ctx)[0])


@pytest.mark.parametrize(("op", "case"), ROWS)
def test_values_are_those_of_other_runtimes(op, case):
    if {op, f"{op}-{OPERATOR_CASES[op].index(case)}"} & BY_REFERENCE:
        from onnx.reference import ReferenceEvaluator

        model, values = model_of(op, case, "float64")
        (expected,) = ReferenceEvaluator(model).run(None, values)
        np.testing.assert_allclose(value_of(op, case), expected, **SAME)
        return
    model, values = model_of(op, case, "float32")
    session = onnxruntime.InferenceSession(onnx.shape_inference.infer_shapes(model).SerializeToString())
    (expected,) = session.run(None, values)
    np.testing.assert_allclose(value_of(op, case), expected, **CLOSE)
