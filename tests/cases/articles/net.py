"""Article 3: Caffe's Net, by what graphs, chains and Caffe's files can do."""

import numpy as np

import nd
import nn.dl4j as dl4j
from nd.dataset import MultiDataSet
from nn import (
    ComputationGraph,
    ComputationGraphConfiguration,
    DenseLayer,
    ElementWiseVertex,
    FrozenLayer,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
)
from nn.layers import LAYERS
from optimize import Listener, Sgd
from tests.cases.articles.fixtures import X, Y, by_hand, caffe, computed, host, lenet, near, refused, two_layers


def two_ways(**settings):
    """A graph whose layer "a" has two readers: outputs "one", of a + b, and "two", of a."""
    out = OutputLayer(n_out=1, loss="mse", activation="identity")
    conf = NeuralNetConfiguration(**{"seed": 1, "updater": Sgd(0.1), "dtype": "float64", **settings}).graph(
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
        self.calls, self.arrays = [], {}

    def before_forward(self, model, name, arrays):
        self.calls.append(("before_forward", name))

    def after_forward(self, model, name, arrays):
        self.calls.append(("after_forward", name))
        self.arrays[name] = [host(x).copy() for x in (*arrays.inputs, *arrays.outputs)]

    def before_backward(self, model, name, arrays):
        self.calls.append(("before_backward", name))

    def after_backward(self, model, name, arrays):
        self.calls.append(("after_backward", name))


TEXT = """
name: "digits"
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 4 } } }
layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip" param { lr_mult: 2 }
  inner_product_param { num_output: 3 } }
layer { name: "one" type: "ReLU" bottom: "ip" top: "one" include { phase: TRAIN stage: "first" } }
layer { name: "two" type: "TanH" bottom: "ip" top: "two" }
layer { name: "three" type: "Sigmoid" bottom: "ip" top: "three" }
"""

# %% 1 | a net is a directed acyclic graph of layers and blobs | `ComputationGraph` | [graphs.md](graphs.md)
a, b, one, two = arrays_of(two_ways())
near(two_ways().output(X)[0], one)
near(two_ways().output(X)[1], two)

# %% 2 | forward | `net.output(x)` | [graphs.md](graphs.md)
net = two_layers()
near(net.output(X), by_hand(net)["z1"])

# %% 3 | `Forward(Dtype* loss)`: outputs and loss | two calls: `output(x)`, `score(data)` | [graphs.md](graphs.md)
net = two_layers()
near(net.score(nd.dataset.DataSet(X, Y)), np.mean((host(net.output(X)) - Y) ** 2))

# %% 4 | `ForwardFromTo(start, end)` | `activate_selected_layers(start, end, x)` | `tests/nn/networks/test_between.py`
graph = two_ways()
a, b, one, two = arrays_of(graph)
near(graph.activate_selected_layers("two", "two", a), two)
near(lenet().activate_selected_layers(4, 5, np.ones((2, 64))), lenet().activateSelectedLayers(4, 5, np.ones((2, 64))))

# %% 5 | `ForwardFrom(start)` | the same call, to the output | `tests/nn/networks/test_between.py`
graph = two_ways()
a, b, one, two = arrays_of(graph)
near(graph.activate_selected_layers("sum", "one", a, b), one)

# %% 6 | `ForwardTo(end)` | `feed_forward_to_layer(i, x)` | [inside/backprop.md](inside/backprop.md#forward)
net = two_layers()
near(net.feed_forward_to_layer(0, X)[-1], by_hand(net)["a0"])

# %% 7 | `Backward()` | `compute_gradient_and_score()` | [inside/backprop.md](inside/backprop.md)
net = computed(two_layers())
near(net.gradient().get_gradient_for("0_W"), by_hand(net)["0_W"])

# %% 8 | `BackwardFromTo`, `BackwardFrom`, `BackwardTo` | `backprop_selected_layers(start, end, x, epsilon)` |
# `tests/nn/networks/test_between.py`
net = two_layers()
arrays = by_hand(net)
gradient, epsilons = net.backprop_selected_layers(0, 0, X, arrays["epsilon0"])
near(gradient.get_gradient_for("0_W"), arrays["0_W"])

# %% 9 | `layers_` | `net.layers`, `net.get_layer(i)` | [layers.md](layers.md)
net = lenet()
assert [layer.conf.name for layer in net.layers] == ["conv1", "pool1", "conv2", "pool2", "dense", "output"]
assert net.get_layer(4) is net.layers[4]

# %% 10 | `blobs_` by name | `graph.feed_forward(x)`, a dict; `net.keep(name)`, `net.kept(name)` with epsilon |
# `tests/nn/step/test_keep.py`
graph = two_ways()
a, b, one, two = arrays_of(graph)
near(graph.feed_forward(X)["sum"], a + b)
graph.keep("a")
graph.fit([X], [Y, Y])
near(graph.kept("a").activation, a)

# %% 11 | `bottom_vecs_`, `top_vecs_` | `arrays.inputs`, `arrays.outputs` of the callbacks |
# `tests/nn/step/test_node_calls.py`
graph, around = two_ways(), Around()
a, b, one, two = arrays_of(graph)
graph.set_listeners(around)
graph.fit([X], [Y, Y])
for array, expected in zip(around.arrays["sum"], (a, b, a + b), strict=True):
    near(array, expected)

# %% 12 | `params_` | `net.params()`, `net.param_table()` | [inside/lenet.md](inside/lenet.md)
assert set(two_ways().param_table()) == {f"{name}_{key}" for name in ("a", "b", "one", "two") for key in "Wb"}

# %% 13 | `Init(NetParameter)`, from a file | `from_json`; `nn.caffe.read_net` reads Caffe's files, nets of them come
# with `nn.caffe` | [caffe.md](caffe.md)
conf = two_ways().conf
assert ComputationGraphConfiguration.from_json(conf.to_json()) == conf
net = caffe().parse_text(TEXT, "NetParameter")
assert [layer.name for layer in net.layer] == ["data", "ip", "one", "two", "three"]

# %% 14 | `NetParameter.name` | in Caffe's files; a network here has no name | [caffe.md](caffe.md)
assert caffe().parse_text(TEXT, "NetParameter").name == "digits"

# %% 15 | `force_backward`: the gradient of the input | `calculate_gradients(x, y)`, through frozen layers too |
# [inside/backprop.md](inside/backprop.md)
net = two_layers(hidden=FrozenLayer(DenseLayer(n_in=3, n_out=2, activation="tanh")))
near(net.calculate_gradients(X, Y).second, by_hand(net)["x"])

# %% 16 | `NetState.phase`: TRAIN, TEST | `train=` of `feed_forward`; in files `with_state` | [caffe.md](caffe.md)
net = two_layers(hidden=DenseLayer(n_in=3, n_out=2, activation="tanh", drop_out=0.5))
near(net.feed_forward(X, train=False)[1], by_hand(net)["a0"])
assert len({host(net.feed_forward(X, train=True)[1]).tobytes() for _ in range(8)}) > 1

# %% 17 | `NetState.level`, `stage`; `FilterNet` | of messages alone: `filter_net(with_state(net, ...))` |
# `tests/nn/caffe/test_filter.py`
net = caffe().parse_text(TEXT, "NetParameter")
there = caffe().filter_net(caffe().with_state(net, "TRAIN", 0, ["first"]))
assert [layer.name for layer in there.layer] == ["data", "ip", "one", "two", "three"]
assert "one" not in [layer.name for layer in caffe().filter_net(caffe().with_state(net, "TEST")).layer]

# %% 18 | `debug_info`, `ForwardDebugInfo(i)` | `net.trace(x, y)`: every array of every layer | [trace.md](trace.md)
net = two_layers()
trace = net.trace(X, Y)
near(trace.nodes["0"].activation.values, by_hand(net)["a0"])
near(trace.nodes["0"].epsilon.values, by_hand(net)["epsilon0"])

# %% 19 | `InsertSplits`: one blob, several readers | of Caffe's files: `insert_splits`; a graph adds the epsilons
# itself | `tests/nn/caffe/test_splits.py`
graph = two_ways()
a, b, one, two = arrays_of(graph)
graph.keep("a")
graph.fit([X], [Y, Y])
W = {key: host(value) for key, value in two_ways().param_table().items()}
near(graph.kept("a").epsilon, 2.0 * (one - Y) @ W["one_W"].T + 2.0 * (two - Y) @ W["two_W"].T)
there = caffe().insert_splits(caffe().filter_net(caffe().parse_text(TEXT, "NetParameter")))
assert "ip_ip_0_split" in [layer.name for layer in there.layer]

# %% 20 | `LayerRegistry::CreateLayer` | the table `LAYERS`; `nn.register` for a layer of one's own |
# [own_parts.md](own_parts.md)
assert LAYERS["dense"] is DenseLayer

# %% 21 | `AppendBottom`, `available_blobs` | inputs are looked up by name; an unknown one is an error |
# `tests/nn/conf/test_graph_configurations.py`
nodes = {"a": (OutputLayer(n_out=4, loss="mse", activation="tanh"), "nothing")}
with refused(nd.ChoiceError, "vertex 'a': unknown input 'nothing', expected one of a, in"):
    NeuralNetConfiguration(seed=1).graph(inputs={"in": InputType.feed_forward(3)}, nodes=nodes, outputs="a")

# %% 22 | `AppendTop`; a name twice is an error | the same | `tests/nn/conf/test_graph_configurations.py`
builder = dl4j.NeuralNetConfiguration.Builder().graphBuilder().addInputs("in").addLayer("a", DenseLayer(n_out=2), "in")
with refused(nd.ConfigurationError, "got 'a' twice"):
    builder.addLayer("a", DenseLayer(n_out=2), "in")

# %% 23 | in-place layers: top is bottom | with `nn.caffe`

# %% 24 | tops that nothing reads become outputs of the net | with `nn.caffe`

# %% 25 | `AppendParam` | `init()` gives each parameter its place | [inside/lenet.md](inside/lenet.md)
net = lenet()
assert sum(view.size for view in net.param_table().values()) == net.num_params() == net.params().size

# %% 26 | `Input` layer, `net_input_blobs` | `inputs` of a graph | [graphs.md](graphs.md)
graph = two_ways()
assert list(graph.conf.input_names) == ["in"]
graph.set_inputs(X)
near(graph.get_inputs()[0], X)

# %% 27 | `SetUp(bottom, top)` | shapes are known when the network is configured | [layers.md](layers.md)
conf = lenet().conf
assert [conf.layers[number].n_in for number in (0, 2, 4, 5)] == [1, 3, 64, 16]

# %% 28 | `blob_loss_weights_`, `layer->loss(top_id)` | `fit(..., loss_weights={"two": 0.0})` |
# [training.md](training.md)
graph, before = two_ways(), two_ways()
graph.fit([X], [Y, Y], loss_weights={"one": 1.0, "two": 0.0})
near(graph.get_param("two_W"), before.get_param("two_W"), 0.0)
assert (host(graph.get_param("one_W")) != host(before.get_param("one_W"))).any()

# %% 29 | losses of several layers are added: `loss += layer_loss` | the same, of a graph's outputs |
# [graphs.md](graphs.md)
graph = two_ways()
a, b, one, two = arrays_of(graph)
near(graph.score(MultiDataSet([X], [Y, Y])), np.mean((one - Y) ** 2) + np.mean((two - Y) ** 2))

# %% 30 | `memory_used_` | `summary()` has the bytes of every layer | `tests/nn/networks/test_summary.py`
assert "memory: 336 bytes of parameters, 112 bytes of activations" in two_ways().summary()

# %% 31 | `ParamSpec.lr_mult` | an updater per layer and for its bias; multipliers come with `nn.caffe`; a rate of 0
# trains nothing | [updaters.md](updaters.md)
hidden = DenseLayer(n_in=3, n_out=2, activation="tanh", updater=Sgd(0.1), bias_updater=Sgd(0.0))
net = two_layers(hidden=hidden)
net.fit(X, Y)
assert not host(net.get_param("0_b")).any()
assert host(net.get_param("1_b")).any()

# %% 32 | `need_backward`, `bottom_need_backward_` | nothing below the lowest trained layer is computed |
# `tests/nn/layers/test_frozen.py`
hidden, heard = DenseLayer(n_in=3, n_out=2, activation="tanh"), {}
for kind in (hidden, FrozenLayer(hidden)):
    net, ops = two_layers(hidden=kind), []
    nd.add_hook(ops.append)
    with nd.eager():
        net.fit(X, Y)
    nd.remove_hook(ops.append)
    heard[type(kind)] = [op.who for op in ops]
assert "TanhBp" in heard[DenseLayer]
assert "TanhBp" not in heard[FrozenLayer]

# %% 33 | `propagate_down` of a layer, by the user | with `nn.caffe`

# %% 34 | `before_forward_`, `after_forward_` | `Listener.before_forward`, `after_forward`, with the layer's name |
# `tests/nn/step/test_node_calls.py`
graph, around = two_ways(), Around()
graph.set_listeners(around)
graph.fit([X], [Y, Y])
assert around.calls[:2] == [("before_forward", "a"), ("after_forward", "a")]

# %% 35 | callbacks around each layer | the same, and `before_backward`, `after_backward` |
# `tests/nn/step/test_node_calls.py`
graph, around = two_ways(), Around()
graph.set_listeners(around)
graph.fit([X], [Y, Y])
assert {name for call, name in around.calls if call == "after_backward"} == {"a", "b", "sum", "one", "two"}

# %% 36 | what every net holds: a list of containers | fields of a network: `conf`, `layers`, `listeners`, `updater`,
# ... | [architecture.md](architecture.md)
net = MultiLayerNetwork(two_layers().conf).init()
for name in ("conf", "layers", "listeners", "updater", "iteration_count", "epoch_count", "dtype", "backend"):
    assert hasattr(net, name), name
