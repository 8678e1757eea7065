"""OnnxVertex in a graph that is written as ONNX: onnxruntime computes what the graph does."""

import numpy as np
import pytest

import nd
from nn import ComputationGraph, InputType, NeuralNetConfiguration
from nn.onnx import OnnxVertex
from tests.cases.onnx_operators import OPERATOR_CASES

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
OPSET, IR = 21, {23: 11, 24: 12}
"""Of operators that are no newer; the version of the format that newer ones need."""
NOT_RUN = {"And", "Attention-1", "CumProd", "LSTM-2", "Mod-1", "Not", "Or", "Scatter", "Softmax-1", "Upsample", "Xor"}
"""Rows that onnxruntime has no kernel for, or whose operator a newer opset has not."""


def graph_of(op, case):
    """Return a graph whose inputs are rows, and the rows; None where the network cannot tell its types."""
    features = [x.astype("float32").reshape(1, -1) for x in case.inputs()]
    types = {f"x{at}": InputType.feed_forward(x.size) for at, x in enumerate(features)}
    nodes = {
        f"shaped{at}": (OnnxVertex("Reshape", constants={1: list(x.shape)}), f"x{at}")
        for at, x in enumerate(case.inputs())
    }
    nodes["operator"] = (vertex_of(op, case), *nodes)
    try:
        conf = NeuralNetConfiguration(dtype="float32").graph(types, nodes, ["operator"])
    except nd.NdError:
        return None
    return ComputationGraph(conf), features


def vertex_of(op, case):
    return OnnxVertex(op, case.attributes, case.constants, case.opset, case.output, case.outputs)


ROWS = [
    pytest.param(op, case, id=f"{op}-{number}", marks=[] if (place + number) % 6 == 0 else [pytest.mark.slow])
    for place, (op, cases) in enumerate(OPERATOR_CASES.items())
    for number, case in enumerate(cases)
    if case.opset <= max(IR) and not {op, f"{op}-{number}"} & NOT_RUN and graph_of(op, case)
]


@pytest.mark.parametrize(("op", "case"), ROWS)
def test_a_vertex_is_written_as_its_operator(op, case, tmp_path):
    net, features = graph_of(op, case)
    net.init()
    (expected,) = net.output(*features)
    opset, path = max(OPSET, case.opset), tmp_path / "net.onnx"
    net.save(path, opset=opset, ir_version=IR.get(opset, 10))
    session = onnxruntime.InferenceSession(str(path))
    (result,) = session.run(None, {one.name: x for one, x in zip(session.get_inputs(), features, strict=True)})
    np.testing.assert_allclose(result, nd.to_host(expected), rtol=1e-4, atol=1e-5)
