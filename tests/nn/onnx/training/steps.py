"""A training step as ONNX in a stock onnxruntime, beside the network's own."""

import numpy as np
import onnx
import onnxruntime

import nd
from nn import ComputationGraph
from nn.onnx.training import training_model

NEW = "/new"


class RuntimeTraining:
    """Training of a network's step by onnxruntime: what ends in "/new" comes in again in the next step."""

    def __init__(self, model):
        onnx.checker.check_model(model, full_check=True)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = 1
        content = model.SerializeToString()
        self.session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        self.names = [output.name for output in self.session.get_outputs()]
        self.given = [given.name for given in self.session.get_inputs()]
        self.state = {}

    def step(self, *arrays):
        """Take a step on features and labels; return the outputs by name."""
        feeds = dict(zip(self.given, arrays, strict=True)) | self.state
        results = dict(zip(self.names, self.session.run(self.names, feeds), strict=True))
        self.state = {name.removesuffix(NEW): value for name, value in results.items() if name.endswith(NEW)}
        return results


def compared(net, batches, **settings):
    """Train in both; return the largest differences of parameters, of updater states, and of scores.

    Batches are features, of all inputs, and labels.
    """
    other = RuntimeTraining(training_model(net, **settings))
    scores = []
    for *xs, y in batches:
        scores.append(abs(float(other.step(*xs, y)["score"]) - _fitted(net, xs, y)))
    table = {name: nd.to_host(array) for name, array in net.param_table().items()}
    differences = [np.abs(array - other.state[name]).max() for name, array in table.items() if name in other.state]
    return max(differences, default=0.0), _of_states(net, other.state), max(scores)


def _fitted(net, xs, y):
    net.fit(nd.dataset.MultiDataSet(xs, [y]) if isinstance(net, ComputationGraph) else nd.dataset.DataSet(*xs, y))
    return net.score()


def _of_states(net, state):
    differences = [0.0]
    for view in net.conf.layout().views:
        names = [name for name in state if name.startswith(f"{view.key}/")]
        states = net.updater.states_of(view.start, view.stop) if names else []
        for name, flat in zip(names, states, strict=True):
            own = nd.to_host(flat).reshape(view.spec.shape, order=view.spec.order.upper())
            differences.append(np.abs(own - state[name]).max())
    return max(differences)
