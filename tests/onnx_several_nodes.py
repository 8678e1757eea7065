"""Small models of several nodes as graphs of OnnxVertex: what depends on constants and shapes alone is folded."""

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from nn import ComputationGraph, NeuralNetConfiguration
from nn.onnx.vertices import OPERATORS, OnnxVertex


class Unsaid(Exception):
    """An operator that no vertex says, or "half" for a cast to 16 bits."""


def attributes_of(node):
    """Return a node's attributes as OnnxVertex takes them."""
    return {attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in node.attribute}


class Assembly:
    """A model whose inputs of real numbers are activations, and those of whole numbers and truths constants.

    Shapes and kinds of all arrays are those that onnx.reference tells, values are not.

    Parameters
    ----------
    model : ModelProto
    given : dict of str -> array
    """

    def __init__(self, model, given):
        self.model = model
        self.opset = next(one.version for one in model.opset_import if one.domain in ("", "ai.onnx"))
        self.like = told_by_reference(model, given)
        self.feeds = {name: x for name, x in given.items() if x.dtype.kind == "f"}
        self.constants = {name: x for name, x in given.items() if name not in self.feeds}
        self.nodes = {f"{name}/bare": (OnnxVertex("Squeeze", constants={1: [0, 1]}), name) for name in self.feeds}
        self.names = {name: f"{name}/bare" for name in self.feeds}
        for node in model.graph.node:
            self._add(node)

    def results(self):
        """Return the model's outputs as arrays."""
        wanted = [one.name for one in self.model.graph.output]
        computed = [name for name in wanted if name in self.names]
        values = dict(self.constants)
        if computed:
            conf = NeuralNetConfiguration(dtype="float64").graph(
                list(self.feeds), self.nodes, [self.names[name] for name in computed]
            )
            feeds = [x.astype("float64")[None, None] for x in self.feeds.values()]
            values |= zip(computed, ComputationGraph(conf).init().output(*feeds), strict=True)
        return [np.asarray(values[name]) for name in wanted]

    def _add(self, node):
        op, attributes, inputs = node.op_type, attributes_of(node), list(node.input)
        if any(attribute.HasField("g") for attribute in node.attribute):
            raise Unsaid(op)
        of_shape = op in ("Shape", "Size")
        if op == "CastLike":
            op, inputs = "Cast", inputs[:1]
            attributes = {"to": onnx.helper.np_dtype_to_tensor_dtype(self.like[node.input[1]].dtype)}
        if of_shape or all(name in self.constants for name in inputs if name):
            values = {name: self.constants.get(name, self.like[name]) for name in inputs if name}
            self._fold(onnx.helper.make_node(op, inputs, list(node.output), **attributes), values)
            return
        if op not in OPERATORS or attributes.get("to") == onnx.TensorProto.FLOAT16:
            raise Unsaid("half" if op == "Cast" else op)
        constants = {at: self.constants.get(name) for at, name in enumerate(inputs) if name not in self.names}
        sources = [self.names[name] for name in inputs if name in self.names]
        count = len([name for name in node.output if name])
        for number, name in enumerate(node.output):
            if name:
                self.names[name] = f"vertex{len(self.nodes)}"
                vertex = OnnxVertex(op, attributes, constants, self.opset, number, count)
                self.nodes[self.names[name]] = (vertex, *sources)

    def _fold(self, node, values):
        """Compute what depends on constants, or on shapes alone."""
        kinds = {name: onnx.helper.np_dtype_to_tensor_dtype(x.dtype) for name, x in values.items()}
        inputs = [onnx.helper.make_tensor_value_info(name, kinds[name], x.shape) for name, x in values.items()]
        outputs = [name for name in node.output if name]
        infos = list(map(onnx.helper.make_empty_tensor_value_info, outputs))
        graph = onnx.helper.make_graph([node], "one", inputs, infos)
        model = onnx.helper.make_model(graph, opset_imports=self.model.opset_import)
        self.constants |= zip(outputs, ReferenceEvaluator(model).run(None, values), strict=True)


def told_by_reference(model, given):
    """Return name -> array of zeros in the shape and dtype of every array of the model."""
    longer = onnx.ModelProto()
    longer.CopyFrom(model)
    known = {one.name for one in model.graph.output}
    made = [name for node in model.graph.node for name in node.output if name and name not in known]
    longer.graph.output.extend(map(onnx.helper.make_empty_tensor_value_info, made))
    names = [one.name for one in longer.graph.output]
    with np.errstate(all="ignore"):
        arrays = ReferenceEvaluator(longer).run(None, given)
    return {name: np.zeros_like(x) for name, x in (*zip(names, arrays, strict=True), *given.items())}
