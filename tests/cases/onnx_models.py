"""ONNX models written by hand, in the forms of several exporters, and what they must become."""

import functools

import numpy as np


class Model:
    """Nodes and constants of a model as they are written down."""

    def __init__(self, opset=17, dtype=np.float32, seed=0):
        self.opset, self.dtype, self.rng = opset, dtype, np.random.default_rng(seed)
        self.nodes, self.constants = [], {}

    def weights(self, name, *shape):
        """Add a constant of random numbers."""
        return self.constant(name, self.rng.normal(size=shape) * 0.5)

    def constant(self, name, array):
        """Add a constant: integers as int64, other numbers in the model's dtype."""
        array = np.asarray(array)
        self.constants[name] = array.astype(np.int64 if array.dtype.kind == "i" else self.dtype)
        return name

    def node(self, op, inputs, output, **attributes):
        """Add a node of one output or several; return the first."""
        outputs = [output] if isinstance(output, str) else output
        self.nodes.append((op, inputs if isinstance(inputs, list) else [inputs], outputs, attributes))
        return outputs[0]

    def proto(self, inputs, outputs):
        """Return the ModelProto; shapes of inputs have names for open sizes."""
        import onnx

        helper, word = onnx.helper, onnx.helper.np_dtype_to_tensor_dtype(np.dtype(self.dtype))
        nodes = [helper.make_node(op, i, o, name=f"{o[0]}/{op}", **more) for op, i, o, more in self.nodes]
        graph = helper.make_graph(
            nodes,
            "model",
            [helper.make_tensor_value_info(name, word, shape) for name, shape in inputs.items()],
            [helper.make_tensor_value_info(name, word, None) for name in outputs],
            [onnx.numpy_helper.from_array(array, name) for name, array in self.constants.items()],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)
        return onnx.shape_inference.infer_shapes(model)


def function(write, *layers, opset=17):
    """Return a row of a function of ``x [N, 5]`` that `write` adds: a model, the shape of x, and what it becomes."""

    def build(dtype=np.float32):
        model = Model(opset, dtype)
        model.node("Gemm", ["x", model.weights("w", 5, 4), model.weights("b", 4)], "h")
        write(model)
        model.node("Gemm", ["f", model.weights("v", 4, 3)], "y")
        return model.proto({"x": ["n", 5]}, ["y"])

    return build, (6, 5), layers or ("DenseLayer", "OutputLayer")


def gelu(model, half_first):
    model.node("Mul", ["h", model.constant("root", np.float32(0.5**0.5))], "scaled")
    model.node("Erf", "scaled", "erf")
    model.node("Add", [model.constant("one", 1.0), "erf"], "more")
    half = model.constant("half", 0.5)
    if half_first:
        model.node("Mul", ["h", half], "halved")
        model.node("Mul", ["more", "halved"], "f")
    else:
        model.node("Mul", [half, "more"], "gate")
        model.node("Mul", ["gate", "h"], "f")


def gelu_by_tanh(model):
    model.node("Mul", ["h", "h"], "h2")
    model.node("Mul", ["h2", "h"], "h3")
    model.node("Mul", [model.constant("c", 0.044715), "h3"], "cubic")
    model.node("Add", ["h", "cubic"], "sum")
    model.node("Mul", ["sum", model.constant("root", (2 / np.pi) ** 0.5)], "inside")
    model.node("Tanh", "inside", "tanh")
    model.node("Add", ["tanh", model.constant("one", 1.0)], "more")
    model.node("Mul", ["h", "more"], "product")
    model.node("Mul", ["product", model.constant("half", 0.5)], "f")


def hard_swish(model):
    model.node("Add", ["h", model.constant("three", 3.0)], "more")
    model.node("Clip", ["more", model.constant("low", 0.0), model.constant("high", 6.0)], "held")
    model.node("Mul", ["h", "held"], "product")
    model.node("Div", ["product", model.constant("six", 6.0)], "f")


def mish(model):
    model.node("Softplus", "h", "soft")
    model.node("Tanh", "soft", "gate")
    model.node("Mul", ["gate", "h"], "f")


def soft_sign(model):
    model.node("Abs", "h", "absolute")
    model.node("Add", ["absolute", model.constant("one", 1.0)], "more")
    model.node("Div", ["h", "more"], "f")


def soft_plus(model):
    model.node("Softplus", "h", "soft")
    model.node("Greater", ["h", model.constant("threshold", 20.0)], "large")
    model.node("Where", ["large", "h", "soft"], "f")


def swish(model):
    model.node("Sigmoid", "h", "gate")
    model.node("Mul", ["gate", "h"], "f")


FUNCTIONS = {
    "gelu": function(functools.partial(gelu, half_first=True), "DenseLayer", "OnnxVertex", "OutputLayer"),
    "gelu, gate first": function(functools.partial(gelu, half_first=False), "DenseLayer", "OnnxVertex", "OutputLayer"),
    "gelu by tanh": function(gelu_by_tanh, "DenseLayer", "OnnxVertex", "OutputLayer"),
    "mish": function(mish),
    "softplus": function(soft_plus),
    "softsign": function(soft_sign),
    "swish": function(swish),
    "hard swish": function(
        hard_swish, "DenseLayer", "ShiftVertex", "ActivationLayer", "ScaleVertex", "ElementWiseVertex", "OutputLayer"
    ),
}
"""Functions of elements in the forms of exporters."""


def channels_last(dtype=np.float32):
    """Convolution of NHWC images as TensorFlow's exporter writes it, with transpositions around."""
    model = Model(13, dtype)
    model.node("Transpose", "x", "first", perm=[0, 3, 1, 2])
    model.node("Conv", ["first", model.weights("w", 4, 3, 3, 3)], "c", auto_pad="SAME_UPPER", strides=[1, 1])
    model.node("Relu", "c", "r")
    model.node("MaxPool", "r", "p", kernel_shape=[2, 2], strides=[2, 2])
    model.node("Transpose", "p", "last", perm=[0, 2, 3, 1])
    model.node("Reshape", ["last", model.constant("shape", [-1, 36])], "rows")
    model.node("MatMul", ["rows", model.weights("v", 36, 2)], "z")
    model.node("Add", ["z", model.weights("b", 2)], "s")
    model.node("Softmax", "s", "y", axis=-1)
    return model.proto({"x": ["n", 6, 6, 3]}, ["y"])


def flattened_by_shape(dtype=np.float32):
    """A Reshape to a shape that Shape, Gather, Unsqueeze and Concat compute."""
    model = Model(13, dtype)
    model.node("Conv", ["x", model.weights("w", 4, 1, 3, 3), model.weights("b", 4)], "c", pads=[1, 0, 0, 1], group=2)
    model.node("Shape", "c", "sizes")
    model.node("Gather", ["sizes", model.constant("zero", 0)], "n", axis=0)
    model.node("Unsqueeze", ["n", model.constant("axes", [0])], "n1")
    model.node("Concat", ["n1", model.constant("rest", [-1])], "shape", axis=0)
    model.node("Reshape", ["c", "shape"], "rows")
    model.node("Gemm", ["rows", model.weights("v", 3, 80)], "z", transB=1)
    model.node("Sigmoid", "z", "y")
    return model.proto({"x": ["n", 2, 5, 6]}, ["y"])


def both_directions(dtype=np.float32, layout=0, peepholes=False, steps=False, direction="bidirectional", op="LSTM"):
    """A recurrent node whose last states, or all steps, go on."""
    model, hidden = Model(14, dtype), 3
    directions, gates = 2 if direction == "bidirectional" else 1, 4 if op == "LSTM" else 1
    x = "x"
    if not layout:
        x = model.node("Transpose", "x", "turned", perm=[1, 0, 2])
    inputs = [x, model.weights("w", directions, gates * hidden, 2), model.weights("r", directions, gates * hidden, 3)]
    inputs.append(model.weights("b", directions, 2 * gates * hidden))
    if peepholes:
        inputs += ["", "", "", model.weights("p", directions, 3 * hidden)]
    model.node(op, inputs, ["all", "end"], hidden_size=hidden, direction=direction, layout=layout)
    if steps:
        model.node("Transpose", "all", "order", perm=[2, 0, 1, 3] if not layout else [0, 1, 2, 3])
        model.node("Reshape", ["order", model.constant("shape", [0, 0, -1])], "rows")
        model.node("MatMul", ["rows", model.weights("v", hidden * directions, 2)], "y")
    else:
        model.node("Transpose", "end", "order", perm=[1, 0, 2] if not layout else [0, 1, 2])
        model.node("Flatten", "order", "rows", axis=1)
        model.node("Gemm", ["rows", model.weights("v", hidden * directions, 2)], "y")
    return model.proto({"x": ["n", "t", 2]}, ["y"])


def normalised(dtype=np.float32):
    """Response normalisation as PyTorch writes it, a batch normalisation, and a mean over places."""
    model = Model(13, dtype)
    model.node("Mul", ["x", "x"], "square")
    model.node("Unsqueeze", ["square", model.constant("one", [1])], "volume")
    model.node("Pad", ["volume", model.constant("pads", [0, 0, 1, 0, 0, 0, 0, 1, 0, 0])], "padded")
    model.node("AveragePool", "padded", "mean", kernel_shape=[3, 1, 1], strides=[1, 1, 1])
    model.node("Squeeze", ["mean", "one"], "means")
    model.node("Mul", ["means", model.constant("alpha", 0.2)], "times")
    model.node("Add", ["times", model.constant("k", 2.0)], "more")
    model.node("Pow", ["more", model.constant("beta", 0.75)], "below")
    model.node("Div", ["x", "below"], "l")
    variance = model.constant("variance", model.rng.uniform(0.5, 2.0, size=4))
    inputs = ["l", model.weights("gamma", 4), model.weights("beta2", 4), model.weights("m", 4), variance]
    model.node("BatchNormalization", inputs, "n", epsilon=1e-3)
    model.node("ReduceMean", "n", "r", axes=[2, 3], keepdims=0)
    model.node("Gemm", ["r", model.weights("v", 4, 2)], "y")
    return model.proto({"x": ["n", 4, 5, 5]}, ["y"])


def attention(dtype=np.float32):
    """Attention of two heads, a residual sum, and a layer normalisation as primitives."""
    model = Model(13, dtype)
    for name in "qkv":
        model.node("MatMul", ["x", model.weights(f"w{name}", 4, 4)], f"{name}0")
        model.node("Reshape", [f"{name}0", model.constant("heads", [0, 0, 2, 2])], f"{name}1")
        model.node("Transpose", f"{name}1", name, perm=[0, 2, 3, 1] if name == "k" else [0, 2, 1, 3])
    model.node("MatMul", ["q", "k"], "scores")
    model.node("Div", ["scores", model.constant("root", 2.0**0.5)], "scaled")
    model.node("Softmax", "scaled", "weights", axis=-1)
    model.node("MatMul", ["weights", "v"], "mixed")
    model.node("Transpose", "mixed", "back", perm=[0, 2, 1, 3])
    model.node("Reshape", ["back", model.constant("whole", [0, 0, 4])], "joined")
    model.node("Add", ["joined", "x"], "sum")
    model.node("ReduceMean", "sum", "mean", axes=[-1])
    model.node("Sub", ["sum", "mean"], "centred")
    model.node("Pow", ["centred", model.constant("two", 2.0)], "squares")
    model.node("ReduceMean", "squares", "variance", axes=[-1])
    model.node("Add", ["variance", model.constant("eps", 1e-5)], "v2")
    model.node("Sqrt", "v2", "deviation")
    model.node("Div", ["centred", "deviation"], "normal")
    model.node("Mul", ["normal", model.weights("gamma", 4)], "scaled2")
    model.node("Add", ["scaled2", model.weights("beta", 4)], "n")
    model.node("MatMul", ["n", model.weights("o", 4, 3)], "y0")
    model.node("Add", [model.weights("ob", 3), "y0"], "y")
    return model.proto({"x": ["n", "t", 4]}, ["y"])


def time_major(dtype=np.float32):
    """Series ``[T, N, C]`` into an RNN, as PyTorch writes them unless batch_first is set."""
    model = Model(14, dtype)
    model.node("RNN", ["x", model.weights("w", 1, 3, 2), model.weights("r", 1, 3, 3)], ["all"], hidden_size=3)
    model.node("Squeeze", ["all", model.constant("one", [1])], "s")
    model.node("MatMul", ["s", model.weights("v", 3, 2)], "y")
    return model.proto({"x": ["t", "n", 2]}, ["y"])


LSTM_OF_STEPS = functools.partial(both_directions, steps=True)
SPLIT = ("LSTM", "ReverseTimeSeriesVertex", "LSTM", "LastTimeStepVertex", "LastTimeStepVertex", "MergeVertex")
TURNED = ("ReverseTimeSeriesVertex", "LSTM", "ReverseTimeSeriesVertex", "RnnOutputLayer")
SERIES = (3, 4, 2)
STRUCTURES = {
    "channels last": (channels_last, (2, 6, 6, 3), None),
    "flattened by shape": (flattened_by_shape, (2, 2, 5, 6), None),
    "both directions": (LSTM_OF_STEPS, SERIES, ("Bidirectional", "RnnOutputLayer")),
    "both directions, examples first": (
        functools.partial(LSTM_OF_STEPS, layout=1), SERIES, ("Bidirectional", "RnnOutputLayer"),
    ),
    "both directions' ends": (both_directions, SERIES, None),
    "peepholes": (
        functools.partial(both_directions, peepholes=True, direction="forward"), SERIES,
        ("GravesLSTM", "LastTimeStepVertex", "OutputLayer"),
    ),
    "reversed": (functools.partial(LSTM_OF_STEPS, direction="reverse"), SERIES, TURNED),
    "simple": (
        functools.partial(LSTM_OF_STEPS, direction="forward", op="RNN"), SERIES, ("SimpleRnn", "RnnOutputLayer"),
    ),
    "normalised": (
        normalised, (2, 4, 5, 5),
        ("LocalResponseNormalization", "BatchNormalization", "GlobalPoolingLayer", "OutputLayer"),
    ),
    "attention": (attention, (2, 5, 4), None),
    "time major": (time_major, (4, 3, 2), None),
}  # fmt: skip
"""Name -> model, shape of x, and the classes of all vertices in their order, None where that is of no account."""
