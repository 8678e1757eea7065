"""Every layer and vertex as operators of ONNX: what onnxruntime computes is what the network does."""

import functools

import onnx
import pytest
from onnx.helper import find_min_ir_version_for, make_opsetid

import nd
from nn.layers import LAYERS
from nn.onnx import OnnxVertex
from nn.onnx.out import LAYERS as WRITTEN
from nn.onnx.out import MISSING, PREPROCESSORS, VERTICES, writer
from nn.onnx.writing import FIRST_OPSET
from nn.terms.preprocessors import PREPROCESSORS as ALL_PREPROCESSORS
from nn.vertices import VERTICES as ALL_VERTICES
from tests.cases.layers import LAYER_CASES, make_features
from tests.cases.vertices import VERTEX_CASES
from tests.networks_of_all_kinds import features_of, graph_of
from tests.nn.layers.test_every_layer import make_network
from tests.onnx_at_work import Written

LAYER_ROWS = [
    pytest.param(case, id=f"{kind}-{case.variant}", marks=[pytest.mark.slow] * (number > 0))
    for kind, rows in LAYER_CASES.items()
    for number, case in enumerate(rows)
]
VERTEX_ROWS = [pytest.param(case, id=f"{kind}-{case.variant}") for kind, rows in VERTEX_CASES.items() for case in rows]
OPSETS = (FIRST_OPSET, 15, 17, 20, onnx.defs.onnx_opset_version())
"""Of those that are written: between them operators have changed their forms."""
INSIDE = {"FrozenVertex", "LayerVertex"}
"""What the walk over a network opens before it asks a table."""


def test_no_class_is_forgotten():
    every = {LAYERS[name].__name__ for name in LAYERS} | {ALL_VERTICES[name].__name__ for name in ALL_VERTICES}
    every |= {"OnnxVertex"}
    every |= {ALL_PREPROCESSORS[name].__name__ for name in ALL_PREPROCESSORS}
    every |= {"OnnxVertex"}  # which is no class of Java's
    tables = [WRITTEN, VERTICES, PREPROCESSORS, MISSING]
    said = [name for table in tables for name in table]
    assert sorted({*said, *INSIDE}) == sorted(every | {OnnxVertex.__name__})
    assert all(list(table) == sorted(table) for table in tables)


@pytest.mark.parametrize("case", LAYER_ROWS)
def test_layer(case):
    kinds = {type(part).__name__ for layer in (case.layer, *case.tail) for part in (layer, layer.innermost)}
    missing = kinds & set(MISSING)
    net = make_network(case, "float32")
    if missing:
        with pytest.raises(nd.ConfigurationError, match=MISSING[min(missing)]):
            Written(net)
        return
    written = Written(net)
    for n in (3, 1, 5):
        written.check(make_features(case, n=n))


@pytest.mark.parametrize("case", VERTEX_ROWS)
def test_vertex(case):
    written = Written(graph_of(case))
    written.check(*features_of(case))
    if getattr(case.vertex.innermost, "new_shape", (-1,))[0] == -1:
        written.check(*features_of(case, times=2))


@pytest.mark.slow
@pytest.mark.parametrize(("opset", "dtype"), [*((opset, "float32") for opset in OPSETS), (FIRST_OPSET, "float64")])
def test_every_row_at_every_opset(opset, dtype):
    settings = {"opset": opset, "ir_version": max(10, find_min_ir_version_for([make_opsetid("", opset)]))}
    for case in (row.values[0] for row in LAYER_ROWS):
        Written(make_network(case, dtype), **settings).check(make_features(case))
    for case in (row.values[0] for row in VERTEX_ROWS):
        Written(graph_of(case, dtype), **settings).check(*features_of(case))


@functools.cache
def _own_kinds():
    class DenseLayer(LAYERS["dense"]):
        """A class of a user's own."""

    return DenseLayer


def test_a_class_of_a_users_own_is_not_taken_for_the_librarys():
    assert writer(WRITTEN, LAYERS["dense"](n_in=1, n_out=1)) is not None
    assert writer(WRITTEN, _own_kinds()(n_in=1, n_out=1)) is None
