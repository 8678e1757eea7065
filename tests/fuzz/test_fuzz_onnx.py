"""Mutants of ONNX files: each is read or raises a typed error, within seconds and bounded memory; nothing else."""

import io
import os
from functools import partial

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import nn
from nn import (
    LSTM,
    BatchNormalization,
    ComputationGraph,
    ConvolutionLayer,
    DenseLayer,
    ElementWiseVertex,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    RnnOutputLayer,
    SubsamplingLayer,
)
from tests.sweeps import share

from .mutator import NUMBERS, damaged_bytes, generator
from .surveys import check

FAST = {"bytes": 150, "messages": 100}
SLOW = int(os.environ.get("FUZZ", share(10000))) // 2
SEED = os.environ.get("FUZZ_SEED", "ndwright")
OPERATORS = (
    "Add", "ArgMax", "AveragePool", "BatchNormalization", "Cast", "Clip", "Concat", "Constant", "ConstantOfShape",
    "Conv", "ConvTranspose", "Div", "Dropout", "Einsum", "Expand", "Flatten", "GRU", "Gather", "GatherND", "Gemm",
    "Identity", "If", "LSTM", "Loop", "MatMul", "MaxPool", "Mul", "Nothing", "OneHot", "Pad", "Range", "ReduceSum",
    "Relu", "Reshape", "Resize", "Scan", "ScatterND", "SequenceAt", "Shape", "Slice", "Softmax", "Split", "Squeeze",
    "Tile", "Transpose",
    "Unsqueeze", "Where", "",
)  # fmt: skip
TEXTS = ("", "x", "y", "0", "NOTSET", "SAME_UPPER", "\u00e9", "a" * 3000, "../../etc/passwd")


# ---- what mutants are made of


def chain(*layers, input_type):
    conf = NeuralNetConfiguration(seed=1, updater="adam").list(*layers, input_type=input_type)
    return MultiLayerNetwork(conf).init()


def networks():
    """Networks of every kind."""
    yield chain(
        ConvolutionLayer(n_out=3, kernel_size=3, activation="relu"), BatchNormalization(), SubsamplingLayer(),
        DenseLayer(n_out=4, activation="tanh"), OutputLayer(n_out=2, activation="softmax"),
        input_type=InputType.convolutional(8, 8, 2),
    )  # fmt: skip
    yield chain(LSTM(n_out=3), RnnOutputLayer(n_out=2, activation="softmax"), input_type=InputType.recurrent(2))
    conf = NeuralNetConfiguration(seed=1).graph(
        {"in": InputType.feed_forward(3)},
        {
            "a": (DenseLayer(n_out=3, activation="elu"), "in"),
            "sum": (ElementWiseVertex("add"), "a", "in"),
            "out": (OutputLayer(n_out=2, activation="softmax"), "sum"),
        },
        ["out"],
    )
    yield ComputationGraph(conf).init()


def exported():
    """A graph as exporters write them: shapes that are computed, constants, slices and a sum over heads."""
    rng = np.random.default_rng(3)
    weights = {"w": rng.normal(size=(4, 12)), "b": rng.normal(size=12), "one": np.float32(1.0)}
    sizes = {
        "minus": [-1],
        "zero": [0],
        "two": [2],
        "six": [6],
        "axis": [1],
        "starts": [0],
        "ends": [6],
        "pads": [0, 1, 0, 1],
    }
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["xw"]), helper.make_node("Add", ["xw", "b"], ["z"]),
        helper.make_node("Shape", ["z"], ["shape"]), helper.make_node("Gather", ["shape", "zero"], ["n"], axis=0),
        helper.make_node("Concat", ["n", "two", "six"], ["wanted"], axis=0),
        helper.make_node("Reshape", ["z", "wanted"], ["heads"]),
        helper.make_node("Transpose", ["heads"], ["turned"], perm=[0, 2, 1]),
        helper.make_node("ReduceMean", ["turned", "two"], ["mean"], keepdims=0),
        helper.make_node("Slice", ["mean", "starts", "ends", "axis"], ["part"]),
        helper.make_node("Pad", ["part", "pads", "one"], ["padded"]),
        helper.make_node("Sigmoid", ["padded"], ["gate"]), helper.make_node("Mul", ["padded", "gate"], ["swish"]),
        helper.make_node("Softmax", ["swish"], ["y"], axis=-1),
    ]  # fmt: skip
    constants = [numpy_helper.from_array(np.asarray(array, np.float32), name) for name, array in weights.items()]
    constants += [numpy_helper.from_array(np.array(array, np.int64), name) for name, array in sizes.items()]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", size]) for name, size in (("x", 4), ("y", 8)))
    graph = helper.make_graph(nodes, "exported", [x], [y], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10).SerializeToString()


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    path, contents = tmp_path_factory.mktemp("originals") / "net.onnx", [exported()]
    for network in networks():
        network.save(path)
        contents.append(path.read_bytes())
    return contents


# ---- damage to messages


def node_of(model, rng):
    return rng.choice(model.graph.node)


def other_operator(model, rng):
    node_of(model, rng).op_type = rng.choice(OPERATORS)


def other_input(model, rng):
    node, tensors = node_of(model, rng), [name for node in model.graph.node for name in (*node.input, *node.output)]
    edit = rng.choice(("exchange", "more", "fewer"))
    if edit == "more" or not node.input:
        node.input.extend(rng.choices([*tensors, "", "nowhere"], k=rng.choice((1, 1, 40))))
    elif edit == "fewer":
        del node.input[rng.randrange(len(node.input))]
    else:
        node.input[rng.randrange(len(node.input))] = rng.choice([*tensors, "", "nowhere"])


def other_output(model, rng):
    node = node_of(model, rng)
    if node.output and rng.random() < 0.7:
        node.output[rng.randrange(len(node.output))] = rng.choice(("", "x", "y", "z", *node_of(model, rng).output))
    else:
        node.output.append(rng.choice(("", "more", "y")))


def other_attribute(model, rng):
    node = node_of(model, rng)
    if node.attribute and rng.random() < 0.7:
        attribute = rng.choice(node.attribute)
        if attribute.ints:
            attribute.ints[rng.randrange(len(attribute.ints))] = number(rng)
        attribute.i, attribute.f = number(rng), rng.choice((0.0, -1.0, float("nan"), 1e30))
        if rng.random() < 0.2:
            attribute.type = rng.randrange(1, 15)
        if rng.random() < 0.2:
            attribute.ints.extend([number(rng)] * rng.choice((1, 3, 30)))
        return
    name = rng.choice(
        ("axis", "axes", "group", "kernel_shape", "pads", "strides", "dilations", "perm", "to", "hidden_size")
    )
    value = rng.choice((number(rng), [number(rng)] * rng.choice((1, 2, 4)), rng.choice(TEXTS), 0.5))
    node.attribute.append(helper.make_attribute(name, value))


def number(rng):
    return rng.choice([-3, -2, 3, 4, 7, *(each for each in NUMBERS if -(2**63) <= each < 2**63)])


def other_constant(model, rng):
    tensor = rng.choice(model.graph.initializer)
    edit = rng.choice(("dims", "rank", "type", "bytes", "values", "name", "place"))
    if edit == "dims" and tensor.dims:
        tensor.dims[rng.randrange(len(tensor.dims))] = number(rng)
    elif edit == "rank":
        tensor.dims.extend([rng.choice((1, 1, 2, 2**31))] * rng.choice((1, 2, 40)))
    elif edit == "type":
        tensor.data_type = rng.choice((0, 1, 2, 6, 7, 8, 9, 11, 16, 20, 22, 25, 99))
    elif edit == "bytes":
        tensor.raw_data = damaged_bytes(tensor.raw_data or b"abcd", rng, [b"12345678"])
    elif edit == "values" and tensor.int64_data:
        tensor.int64_data[0] = number(rng)
    elif edit == "place":
        tensor.data_location = TensorProto.EXTERNAL
        for key in ("location", "offset", "length"):
            tensor.external_data.add(key=key, value=rng.choice((*TEXTS, "mutant.onnx", str(number(rng)))))
    else:
        tensor.name = rng.choice(("x", "y", "", tensor.name + "2"))


def other_sizes(model, rng):
    value = rng.choice((*model.graph.input, *model.graph.output))
    kind = value.type.tensor_type
    edit = rng.choice(("size", "type", "more", "none", "name"))
    if edit == "size" and kind.shape.dim:
        kind.shape.dim[rng.randrange(len(kind.shape.dim))].dim_value = number(rng)
    elif edit == "type":
        kind.elem_type = rng.choice((0, 2, 7, 8, 11, 99))
    elif edit == "more":
        kind.shape.dim.add(dim_value=rng.choice((1, 2, 2**40)))
    elif edit == "name":
        value.name = rng.choice(("", "x", "y", "z"))
    else:
        value.ClearField("type")


def other_order(model, rng):
    nodes = list(model.graph.node)
    rng.shuffle(nodes)
    del model.graph.node[:]
    model.graph.node.extend(nodes)


def twice(model, rng):
    several = rng.choice((model.graph.node, model.graph.initializer, model.graph.input, model.graph.output))
    if several:
        several.extend([rng.choice(several)] * rng.choice((1, 2, 100)))


def fewer(model, rng):
    several = rng.choice((model.graph.node, model.graph.initializer, model.graph.input, model.graph.output))
    if several:
        del several[rng.randrange(len(several))]


def other_opset(model, rng):
    if rng.random() < 0.3:
        model.opset_import.add(domain=rng.choice(("ai.onnx.ml", "com.microsoft", "")), version=number(rng))
    elif model.opset_import:
        model.opset_import[0].version = rng.choice((1, 5, 7, 9, 11, 13, 17, 21, 23, 99, -1))


EDITS = (
    fewer, other_attribute, other_attribute, other_constant, other_constant, other_input, other_operator, other_opset,
    other_order, other_output, other_sizes, twice,
)  # fmt: skip


def damaged_message(content, rng, others):
    model = onnx.ModelProto.FromString(content)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        if model.graph.node and model.graph.initializer and (model.graph.input or model.graph.output):
            rng.choice(EDITS)(model, rng)
    return model.SerializeToString()


DAMAGE = {"bytes": damaged_bytes, "messages": damaged_message}


# ---- reading them


def read(kind, originals, path, number):
    """Read a mutant."""
    rng = generator(SEED, f"onnx-{kind}-{number}")
    path.write_bytes(DAMAGE[kind](rng.choice(originals), rng, originals))
    nn.load(path)


@pytest.mark.parametrize("kind", FAST)
def test_mutants_are_read_or_raise_a_typed_error(kind, originals, tmp_path):
    check(kind, partial(read, kind, originals, tmp_path / "mutant.onnx"), FAST[kind])


@pytest.mark.slow
@pytest.mark.parametrize("kind", FAST)
def test_many_mutants_are_read_or_raise_a_typed_error(kind, originals, tmp_path):
    check(kind, partial(read, kind, originals, tmp_path / "mutant.onnx"), SLOW)


def test_the_originals_are_read(originals):
    for content in originals:
        network = nn.load(io.BytesIO(content))
        assert network.num_params() > 0
