"""Article 3: Caffe's Net, by `nn.caffe.Net`; and by what graphs and chains have of it."""

import logging
import tempfile
from pathlib import Path

import numpy as np

import nd
from nn import (
    ComputationGraph,
    DenseLayer,
    ElementWiseVertex,
    InputType,
    NeuralNetConfiguration,
    OutputLayer,
)
from optimize import Listener, Sgd
from tests.cases.articles.fixtures import CAFFE_TEXT as TEXT
from tests.cases.articles.fixtures import X, Y, caffe, host, near, refused
from tests.cases.articles.fixtures import caffe_net as small

BRANCH = """
layer { name: "ip3" type: "InnerProduct" bottom: "a" top: "other"
  inner_product_param { num_output: 1 weight_filler { type: "xavier" } } }
layer { name: "loss2" type: "EuclideanLoss" bottom: "other" bottom: "y" top: "loss2" loss_weight: 0.5 }
"""
"""A second reader of "a" and of the labels."""


def passed(net):
    """The same net, after a forward and a backward pass."""
    net.forward(x=X, y=Y)
    net.clear_param_diffs()
    net.backward()
    return net


def by_hand(net, branch=False):
    """Blobs, diffs ("d" and the blob's name) and gradients ("ip1_W") of that net on X and Y."""
    W = {name: [host(blob.data) for blob in blobs] for name, blobs in net.params.items()}
    z = X @ W["ip1"][0].T + W["ip1"][1]
    a = np.tanh(z)
    out = a @ W["ip2"][0].T + W["ip2"][1]
    d_out = (out - Y) / len(X)
    d_a = d_out @ W["ip2"][0]
    arrays = {"z": z, "a": a, "out": out, "loss": ((out - Y) ** 2).sum() / (2 * len(X)), "d_out": d_out}
    if branch:
        other = a @ W["ip3"][0].T + W["ip3"][1]
        arrays |= {"other": other, "loss2": ((other - Y) ** 2).sum() / (2 * len(X))}
        d_a = d_a + 0.5 * (other - Y) / len(X) @ W["ip3"][0]
    d_z = d_a * (1.0 - a**2)
    return arrays | {"d_a": d_a, "d_z": d_z, "d_x": d_z @ W["ip1"][0], "ip1_W": d_z.T @ X, "ip2_W": d_out.T @ a}


def two_ways():
    """A graph whose layer "a" has two readers: outputs "one", of a + b, and "two", of a."""
    out = OutputLayer(n_out=1, loss="mse", activation="identity")
    conf = NeuralNetConfiguration(seed=1, updater=Sgd(0.1), dtype="float64").graph(
        inputs={"in": InputType.feed_forward(3)},
        nodes={
            "a": (DenseLayer(n_out=4, activation="tanh"), "in"),
            "b": (DenseLayer(n_out=4, activation="tanh"), "in"),
            "sum": (ElementWiseVertex("add"), "a", "b"),
            "one": (out, "sum"),
            "two": (out, "a"),
        },
        outputs=["one", "two"],
    )
    return ComputationGraph(conf).init()


def arrays_of(graph):
    """a, b and the two outputs, by hand."""
    W = {key: host(value) for key, value in graph.param_table().items()}
    a, b = (np.tanh(X @ W[f"{name}_W"] + W[f"{name}_b"]) for name in "ab")
    return a, b, (a + b) @ W["one_W"] + W["one_b"], a @ W["two_W"] + W["two_b"]


class Around(Listener):
    """Notes the calls around layers."""

    def __init__(self):
        self.calls = []

    def before_forward(self, model, name, arrays):
        self.calls.append(("before_forward", name))

    def after_forward(self, model, name, arrays):
        self.calls.append(("after_forward", name))


# %% 1 | a net is a directed acyclic graph of layers and blobs | `nn.caffe.Net`; Java's is `ComputationGraph` |
# [caffe.md](caffe.md), [graphs.md](graphs.md)
net = small(TEXT + BRANCH)
outputs = net.forward(x=X, y=Y)
near(outputs["loss"], by_hand(net, branch=True)["loss"])
near(outputs["loss2"], by_hand(net, branch=True)["loss2"])
near(two_ways().output(X)[1], arrays_of(two_ways())[3])

# %% 2 | forward | `net.forward(data=x)` | [caffe.md](caffe.md#net)
net = small()
assert list(net.forward(x=X, y=Y)) == ["loss"]
near(net.blobs["out"].data, by_hand(net)["out"])

# %% 3 | `Forward(Dtype* loss)`: outputs and loss | `net.forward()` returns outputs, `net.loss` is their weighted sum |
# [inside/net.md](inside/net.md#forward-one-layer-at-a-time)
net = small()
outputs = net.forward(x=X, y=Y)
near(outputs["loss"], by_hand(net)["loss"])
near(net.loss, by_hand(net)["loss"])

# %% 4 | `ForwardFromTo(start, end)` | `net.forward(start="a", end="b")`, `net.forward_from_to(1, 2)`; of graphs and
# chains `activate_selected_layers` | [inside/net.md](inside/net.md#forward-one-layer-at-a-time)
net = passed(small())
net.blobs["z"].data[...] = 0.5
near(net.forward(start="tanh", end="ip2")["out"], np.tanh(np.full((2, 4), 0.5)) @ host(net.params["ip2"][0].data).T)
net.forward_from_to(1, 2)
near(net.blobs["a"].data, by_hand(net)["a"])
graph = two_ways()
near(graph.activate_selected_layers("two", "two", arrays_of(graph)[0]), arrays_of(graph)[3])

# %% 5 | `ForwardFrom(start)` | `net.forward(start="ip2")`, `net.forward_from(3)` |
# [inside/net.md](inside/net.md#forward-one-layer-at-a-time)
net = passed(small())
near(net.forward_from(3), by_hand(net)["loss"])
near(net.forward(start="ip2")["loss"], by_hand(net)["loss"])

# %% 6 | `ForwardTo(end)` | `net.forward(end="tanh")`, `net.forward_to(2)` | [caffe.md](caffe.md#net)
net = small()
near(net.forward(end="tanh", x=X, y=Y)["a"], by_hand(net)["a"])
near(net.forward_to(3), 0.0)
near(net.blobs["out"].data, by_hand(net)["out"])

# %% 7 | `Backward()` | `net.backward()` | [inside/net.md](inside/net.md#backward-one-layer-at-a-time)
net = passed(small())
near(net.params["ip1"][0].diff, by_hand(net)["ip1_W"])
near(net.blobs["z"].diff, by_hand(net)["d_z"])

# %% 8 | `BackwardFromTo`, `BackwardFrom`, `BackwardTo` | `net.backward(start="ip2", end="tanh")`,
# `backward_from_to(3, 2)`, `backward_from`, `backward_to` |
# [inside/net.md](inside/net.md#backward-one-layer-at-a-time)
net = small()
net.forward(x=X, y=Y)
net.backward_to(3)
near(net.blobs["a"].diff, by_hand(net)["d_a"])
net.backward_from_to(2, 2)
near(net.blobs["z"].diff, by_hand(net)["d_z"])
net.backward(start="tanh", end="ip1", a=np.ones((2, 4)))
near(net.blobs["z"].diff, 1.0 - by_hand(net)["a"] ** 2)
net.backward_from(2)
near(net.blobs["a"].diff, 1.0)

# %% 9 | `layers_` | `net.layers`, `net.layer_dict`, `net.layer_by_name(name)` | [caffe.md](caffe.md#net)
net = small()
assert net.layer_names == ["data", "ip1", "tanh", "ip2", "loss"]
assert net.layers[2] is net.layer_dict["tanh"] is net.layer_by_name("tanh")
assert net.layer_by_name("out") is None

# %% 10 | `blobs_` by name | `net.blobs["z"].data`, `.diff`; of a network here `net.keep(name)`, `net.kept(name)` |
# [caffe.md](caffe.md#net)
net = passed(small())
near(net.blobs["z"].data, by_hand(net)["z"])
assert list(net.blobs) == net.blob_names == ["x", "y", "z", "a", "out", "loss"]
graph = two_ways()
graph.keep("a")
graph.fit([X], [Y, Y])
near(graph.kept("a").activation, arrays_of(two_ways())[0])

# %% 11 | `bottom_vecs_`, `top_vecs_` | `net.bottom_vecs[i]`, `net.top_vecs[i]`; by number `bottom_ids(i)`,
# `top_ids(i)` | [inside/net.md](inside/net.md#init-layer-by-layer)
net = small()
assert [blob.name for blob in net.bottom_vecs[4]] == ["out", "y"] == net.bottom_names["loss"]
assert net.top_vecs[2][0] is net.blobs["a"]
assert (net.bottom_ids(4), net.top_ids(4)) == ([4, 1], [5])

# %% 12 | `params_` | `net.params["ip1"]`: weights and biases; `net.learnable_params` |
# [inside/net.md](inside/net.md#appendparam-one-vector-and-views-of-it)
net = small()
assert {name: [blob.shape for blob in blobs] for name, blobs in net.params.items()} == {
    "ip1": [(4, 3), (4,)],
    "ip2": [(1, 4), (1,)],
}

# %% 13 | `Init(NetParameter)`, from a file | `Net(path)`, `Net(text)`, `Net(message)`, of all schemas |
# [inside/net.md](inside/net.md)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "small.prototxt")
    path.write_text(TEXT)
    nets = [small(source) for source in (path, str(path), TEXT, caffe().parse_text(TEXT, "NetParameter"))]
assert [net.layer_names for net in nets] == [nets[0].layer_names] * 4

# %% 14 | `NetParameter.name` | `net.name` | [caffe.md](caffe.md#net)
assert small().name == "small"

# %% 15 | `force_backward`: the gradient of the input | the same; of a network here `calculate_gradients(x, y)` |
# [inside/net.md](inside/net.md#who-goes-backward)
net = small("force_backward: true " + TEXT)
net.forward(x=X, y=Y)
near(net.backward()["x"], by_hand(net)["d_x"])
assert not small().bottom_need_backward[1][0]

# %% 16 | `NetState.phase`: TRAIN, TEST | `Net(..., phase="TEST")`, `net.phase` |
# [inside/net.md](inside/net.md#filternet-what-is-there)
text = TEXT.replace('type: "TanH"', 'type: "Dropout"')
train, test = small(text), small(text, phase="TEST")
near(test.forward(x=X, y=Y, blobs=["a"])["a"], host(test.blobs["z"].data))
assert (host(train.forward(x=X, y=Y, blobs=["a"])["a"]) != host(train.blobs["z"].data)).any()
assert (train.phase, test.phase) == ("TRAIN", "TEST")

# %% 17 | `NetState.level`, `stage`; `FilterNet` | `Net(..., level=1, stages=["val"])`; of messages `filter_net` |
# [caffe.md](caffe.md#one-file-for-training-validation-and-use)
text = TEXT.replace('top: "loss" }', 'top: "loss" include { stage: "first" min_level: 1 } }')
assert small(text, level=1, stages=["first"]).outputs == ["loss"]
assert small(text, level=0, stages=["first"]).outputs == small(text, level=1).outputs == ["out", "y"]

# %% 18 | `debug_info`, `ForwardDebugInfo(i)` | `net.debug_info = True`, by the logger `nn.caffe`; every array:
# `net.trace()` | [trace.md](trace.md)
net, logger, handler, lines = small(), logging.getLogger("nn.caffe"), logging.Handler(), []
handler.emit = lambda record: lines.append(record.getMessage())
level = logger.level
logger.addHandler(handler)
logger.setLevel("INFO")
net.debug_info = True
net.forward(x=X, y=Y)
logger.removeHandler(handler)
logger.setLevel(level)
assert f"    [Forward] Layer ip1, top blob z data: {np.abs(by_hand(net)['z']).mean():g}" in lines
traced = net.trace([X, Y])
near(traced.nodes["ip1"].activation.values, by_hand(net)["z"])

# %% 19 | `InsertSplits`: one blob, several readers | the same; a graph adds the epsilons itself |
# [inside/net.md](inside/net.md#insertsplits-one-reader-for-each-blob)
net = passed(small(TEXT + BRANCH))
assert [name for name in net.layer_names if "split" in name] == ["y_data_1_split", "a_tanh_0_split"]
near(net.blobs["a"].diff, by_hand(net, branch=True)["d_a"])

# %% 20 | `LayerRegistry::CreateLayer` | the table `nn.caffe.layers.LAYERS` | [caffe_layers.md](caffe_layers.md)
from_table = caffe().layers.layer_class("TanH")
assert type(small().layer_dict["tanh"]) is from_table
with refused(nd.ConfigurationError, "layer 2 'tanh' (TanG): unknown layer type. Known are AbsVal, Accuracy"):
    small(TEXT.replace("TanH", "TanG"))

# %% 21 | `AppendBottom`, `available_blobs` | the same; an unknown bottom is an error |
# [inside/net.md](inside/net.md#init-layer-by-layer)
with refused(nd.ConfigurationError, "(TanH): bottom 0 'nothing' must be a top of an earlier layer"):
    small(TEXT.replace('bottom: "z"', 'bottom: "nothing"'))

# %% 22 | `AppendTop`; a name twice is an error | the same | [inside/net.md](inside/net.md#init-layer-by-layer)
with refused(nd.ConfigurationError, "top 'x' must be written by one layer, got one that exists"):
    small(TEXT.replace('top: "a"', 'top: "x"').replace('bottom: "a"', 'bottom: "x"'))

# %% 23 | in-place layers: top is bottom | the same, forward and backward |
# [inside/net.md](inside/net.md#backward-one-layer-at-a-time)
net = passed(small(TEXT.replace('top: "a"', 'top: "z"').replace('bottom: "a"', 'bottom: "z"')))
near(net.blobs["z"].data, by_hand(net)["a"])
near(net.blobs["z"].diff, by_hand(net)["d_z"])
near(net.params["ip1"][0].diff, by_hand(net)["ip1_W"])
assert net.bottom_ids(2) == net.top_ids(2)

# %% 24 | tops that nothing reads become outputs of the net | the same: `net.outputs`, sorted |
# [inside/net.md](inside/net.md#init-layer-by-layer)
assert small(TEXT + BRANCH).outputs == ["loss", "loss2"]
assert small(TEXT.partition('layer { name: "loss"')[0]).outputs == ["out", "y"]

# %% 25 | `AppendParam` | each parameter gets its place in one vector |
# [inside/net.md](inside/net.md#appendparam-one-vector-and-views-of-it)
net = small()
assert sum(blob.count for blob in net.learnable_params) == net.network.num_params() == 4 * 3 + 4 + 4 + 1
nd.fill(net.network.params(), 0.5)
assert (host(net.params["ip2"][0].data) == 0.5).all()

# %% 26 | `Input` layer, `net_input_blobs` | `net.inputs`, `net.input_blobs` | [caffe_layers.md](caffe_layers.md)
net = small()
assert net.inputs == [blob.name for blob in net.input_blobs] == ["x", "y"]
with refused(nd.ConfigurationError, "arrays must be given for all inputs or for none, ['x', 'y'], got ['x']"):
    net.forward(x=X)

# %% 27 | `SetUp(bottom, top)` | shapes follow from those of the inputs; `net.reshape()` after a change |
# [inside/net.md](inside/net.md#init-layer-by-layer)
net = small()
for name, width in (("x", 3), ("y", 1)):
    net.blobs[name].reshape(7, width)
net.reshape()
assert [blob.shape for blob in net.blobs.values()] == [(7, 3), (7, 1), (7, 4), (7, 4), (7, 1), ()]

# %% 28 | `blob_loss_weights_`, `layer->loss(top_id)` | `net.blob_loss_weights` |
# [inside/net.md](inside/net.md#losses)
net = small(TEXT + BRANCH)
assert {name: weight for name, weight in net.blob_loss_weights.items() if weight} == {"loss": 1.0, "loss2": 0.5}

# %% 29 | losses of several layers are added: `loss += layer_loss` | the same, each times its weight |
# [inside/net.md](inside/net.md#losses)
net = passed(small(TEXT + BRANCH))
arrays = by_hand(net, branch=True)
near(net.loss, arrays["loss"] + 0.5 * arrays["loss2"])
near(net.params["ip1"][0].diff, arrays["ip1_W"])

# %% 30 | `memory_used_` | `net.memory_used`, in bytes | [inside/net.md](inside/net.md#init-layer-by-layer)
assert small().memory_used == 8 * (6 + 2 + 8 + 8 + 2 + 1)

# %% 31 | `ParamSpec.lr_mult` | the same, for each parameter: `net.params_lr`; 0 trains nothing |
# [caffe.md](caffe.md#solver)
text = TEXT.replace("lr_mult: 1 ", "lr_mult: 0 ")
solver = caffe().get_solver(f"train_net_param {{ {text} }}\nbase_lr: 0.5 lr_policy: 'fixed'", dtype="float64")
net = solver.net
net.forward(x=X, y=Y)
before, arrays = {name: host(blobs[0].data) for name, blobs in net.params.items()}, by_hand(net)
bias = host(net.params["ip1"][1].data)
solver.step(1)
assert net.params_lr == [0.0, 2.0, 1.0, 1.0]
near(net.params["ip1"][0].data, before["ip1"], 0.0)
near(net.params["ip1"][1].data, bias - 2.0 * 0.5 * arrays["d_z"].sum(0))
near(net.params["ip2"][0].data, before["ip2"] - 0.5 * arrays["ip2_W"])

# %% 32 | `need_backward`, `bottom_need_backward_` | `net.layer_need_backward`, `net.bottom_need_backward` |
# [inside/net.md](inside/net.md#who-goes-backward)
net = small(TEXT.replace("lr_mult: 1 ", "lr_mult: 0 ").replace("lr_mult: 2 ", "lr_mult: 0 "))
assert net.layer_need_backward == [False, False, False, True, True]
assert net.bottom_need_backward == [[], [False], [False], [False], [True, False]]

# %% 33 | `propagate_down` of a layer, by the user | the same | `tests/test_articles.py`
net = passed(small(TEXT.replace('name: "ip2"', 'name: "ip2" propagate_down: false')))
assert net.layer_need_backward == [False, False, False, True, True]
near(net.params["ip2"][0].diff, by_hand(net)["ip2_W"])
assert not host(net.params["ip1"][0].diff).any()

# %% 34 | `before_forward_`, `after_forward_` | `net.before_forward(f)`, `net.after_forward(f)`, with the layer's
# number; `Listener.before_forward` of networks here | [inside/net.md](inside/net.md#forward-one-layer-at-a-time)
net, calls = small(), []
net.before_forward(lambda number: calls.append(("before", number)))
net.after_forward(lambda number: calls.append(("after", number)))
net.forward(x=X, y=Y)
assert calls == [(when, number) for number in range(5) for when in ("before", "after")]
graph, around = two_ways(), Around()
graph.set_listeners(around)
graph.fit([X], [Y, Y])
assert around.calls[:2] == [("before_forward", "a"), ("after_forward", "a")]

# %% 35 | callbacks around each layer | the same, and `net.before_backward(f)`, `net.after_backward(f)` |
# [caffe.md](caffe.md#net)
net, calls = small(), []
net.before_backward(lambda number: calls.append(("before", number)))
net.after_backward(lambda number: calls.append(("after", number)))
passed(net)
assert calls == [(when, number) for number in range(4, -1, -1) for when in ("before", "after")]

# %% 36 | what every net holds: a list of containers | attributes of a Net, in Caffe's names | [caffe.md](caffe.md#net)
net = small()
of_all = "name phase memory_used debug_info inputs outputs input_blobs output_blobs"
of_layers = "layers layer_names layer_need_backward bottom_vecs top_vecs blobs blob_names blob_loss_weights"
of_params = "params learnable_params params_lr params_weight_decay param_owners param_display_names param_names_index"
for name in f"{of_all} {of_layers} {of_params}".split():
    assert hasattr(net, name), name
