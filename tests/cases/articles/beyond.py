"""What the articles and their sources name besides."""

import tempfile

import numpy as np

import nd
import nn.dl4j as dl4j
from nn import (
    LSTM,
    RBM,
    DenseLayer,
    FrozenLayer,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    RnnOutputLayer,
)
from optimize import Adam, Listener, Nesterovs, Sgd
from tests.cases.articles.fixtures import (
    CAFFE_TEXT,
    X,
    Y,
    by_hand,
    caffe,
    caffe_net,
    computed,
    heard_by,
    host,
    lenet,
    line,
    near,
    refused,
    small,
    two_layers,
)

# %% 1 | `before_backward_`, `after_backward_` | the same of `nn.caffe.Net`, and of a
# `Listener` | `tests/nn/step/test_node_calls.py`
epsilons = {}


class Backward(Listener):
    def before_backward(self, model, name, arrays):
        epsilons[name] = [host(x).copy() for x in arrays.inputs + arrays.outputs if x is not None]


net = two_layers()
net.set_listeners(Backward())
net.fit(X, Y)
assert len(epsilons) == 2
net, numbers = caffe_net(), []
net.before_backward(numbers.append)
net.after_backward(numbers.append)
net.forward()
net.backward()
assert numbers == [4, 4, 3, 3, 2, 2, 1, 1, 0, 0]

# %% 2 | `ShareTrainedLayersWith` | `net.share_with(other)`; of networks here `init(params, clone=False)` |
# [caffe.md](caffe.md#weights)
vector = nd.zeros(1, 11, dtype="float64")
one, two = (MultiLayerNetwork(two_layers().conf).init(vector, clone=False) for _ in range(2))
one.fit(X, Y + 1.0)
assert (one.params() == two.params()).all()
assert host(two.params()).any()
one, two = caffe_net(), caffe_net(seed=2)
two.share_with(one)
nd.fill(one.params["ip1"][0].data, 0.25)
assert (host(two.params["ip1"][0].data) == 0.25).all()

# %% 3 | `CopyTrainedLayersFrom`, by name | `net.copy_from(source, mode)`, with a report; of networks here
# `set_param_table`, transfer learning | [caffe.md](caffe.md#weights), [transfer_learning.md](transfer_learning.md)
one, two = lenet(), lenet(seed=9)
two.set_param_table({key: value for key, value in one.param_table().items() if key.startswith(("0_", "2_"))})
near(two.get_param("0_W"), one.get_param("0_W"), 0.0)
assert (host(two.get_param("4_W")) != host(one.get_param("4_W"))).any()
one, two = caffe_net(), caffe_net(CAFFE_TEXT.replace('name: "ip2"', 'name: "new"'), seed=2)
report = two.copy_from(one)
assert (report.loaded, report.ignored, report.missing) == (("ip1",), ("ip2",), ("new",))
near(two.params["ip1"][0].data, one.params["ip1"][0].data, 0.0)

# %% 4 | `ToProto`, `ToHDF5` | `net.to_proto()`, `net.save_hdf5(path)`; of networks here `to_json`, `save` |
# [caffe.md](caffe.md#weights)
conf = lenet().conf
assert type(conf).from_json(conf.to_json()) == conf
one, two = caffe_net(), caffe_net(seed=2)
assert [layer.name for layer in one.to_proto().layer if layer.blobs] == ["ip1", "ip2"]
with tempfile.TemporaryDirectory() as folder:
    one.save_hdf5(f"{folder}/net.h5")
    assert two.load_hdf5(f"{folder}/net.h5").loaded == ("ip1", "ip2")
near(two.params["ip2"][0].data, one.params["ip2"][0].data)

# %% 5 | `StateMeetsRule` | `nn.caffe.state_meets_rule` | `tests/nn/caffe/test_filter.py`
proto, state_meets_rule = caffe().proto, caffe().state_meets_rule
state = proto.NetState(phase=proto.TRAIN, level=2, stage=["a"])
assert state_meets_rule(state, proto.NetStateRule(phase=proto.TRAIN, min_level=2, stage=["a"]))
assert not state_meets_rule(state, proto.NetStateRule(not_stage=["a"]))

# %% 6 | `decay_mult` | the same: `net.params_weight_decay`; of networks here `l2`, `l2_bias` of each layer |
# [caffe.md](caffe.md#solver), [updaters.md](updaters.md)
net = two_layers(hidden=DenseLayer(n_in=3, n_out=2, activation="tanh", l2=0.0, l2_bias=0.5), l2=0.1)
near(net.calc_l2(), 0.5 * 0.1 * (host(net.get_param("1_W")) ** 2).sum())
text = CAFFE_TEXT.replace("lr_mult: 2 ", "lr_mult: 2 decay_mult: 0 ")
settings = "base_lr: 0.5 weight_decay: 0.25 lr_policy: 'fixed'"
solver = caffe().get_solver(f"train_net_param {{ {text} }}\n{settings}", dtype="float64")
before = [host(blob.data) for blob in solver.net.param_blobs]
solver.step(1)  # on zeros: of weights only the decay is left
assert solver.net.params_weight_decay == [1.0, 0.0, 1.0, 1.0]
near(solver.net.params["ip1"][0].data, before[0] * (1.0 - 0.5 * 0.25))

# %% 7 | parameters that layers share by name | the same, with the owner's memory: `net.param_owners` |
# [inside/net.md](inside/net.md#appendparam-one-vector-and-views-of-it)
text = CAFFE_TEXT.replace('bottom: "a" top: "out"', 'bottom: "a" top: "out" param { name: "one" } param { name: "b" }')
text += (
    text[text.index('layer { name: "ip2"') : text.index('layer { name: "loss"')]
    .replace("ip2", "same")
    .replace('"out"', '"again"')
)
net = caffe_net(text)
net.forward(x=X, y=Y)
assert (net.param_owners, net.param_names_index) == ([-1, -1, -1, -1, 2, 3], {"one": 2, "b": 3})
assert net.param_display_names == ["0", "1", "one", "b", "one", "b"]
near(net.blobs["again"].data, net.blobs["out"].data, 0.0)

# %% 8 | `layer_need_backward` | the same; of networks here known from frozen layers |
# [inside/net.md](inside/net.md#who-goes-backward)
net = two_layers(hidden=FrozenLayer(DenseLayer(n_in=3, n_out=2, activation="tanh")))
before = host(net.get_param("0_W"))
net.fit(X, Y)
near(net.get_param("0_W"), before, 0.0)
assert caffe_net().layer_need_backward == [False, True, True, True, True]

# %% 9 | `rnnTimeStep`, `rnnClearPreviousState` | the same | [recurrent.md](recurrent.md)
layers = LSTM(n_in=2, n_out=3), RnnOutputLayer(n_out=1, loss="mse", activation="identity")
net = MultiLayerNetwork(NeuralNetConfiguration(seed=1).list(*layers)).init()
x = np.linspace(-1.0, 1.0, 8).reshape(1, 2, 4)
steps = [host(net.rnnTimeStep(x[:, :, step])) for step in range(4)]
near(np.stack(steps, axis=-1).reshape(1, 1, 4), net.output(x), 1e-5)
net.rnnClearPreviousState()
near(net.rnn_time_step(x[:, :, 0]), steps[0])

# %% 10 | contrastive divergence of `RBM` | the same | `tests/nn/layers/test_rbm.py`
layers = RBM(n_in=4, n_out=3), OutputLayer(n_out=1, loss="mse", activation="identity")
net = MultiLayerNetwork(NeuralNetConfiguration(seed=1, updater=Sgd(0.5), pretrain=True).list(*layers)).init()
data = np.array([[1.0, 1.0, 0.0, 0.0]] * 20)
net.pretrain_layer(0, nd.dataset.ListDataSetIterator(nd.dataset.DataSet(data), 20), epochs=40)
assert host(net.layers[0].params["vb"])[0, 0] > 0.0 > host(net.layers[0].params["vb"])[0, 3]

# %% 11 | `LegacyPooling2D` | not here: an op of old releases; `nd.ops.MaxPooling2D` is today's

# %% 12 | `UpdaterBlock` | `net.updater.chunks`: what one updater trains | [inside/loop.md](inside/loop.md)
assert two_layers().updater.chunks
assert [type(each) for each in two_layers(updater=Adam(0.1)).updater.updaters] == [Adam]

# %% 13 | `GradientUpdater` | `Updater.apply` | [own_parts.md](own_parts.md)
gradient, sgd = nd.create([1.0, -2.0]), Sgd(0.5)
sgd.apply(gradient, (), nd.zeros(2), sgd.coefficients(0, 0))
assert gradient.tolist() == [0.5, -1.0]
net = two_layers(updater=Nesterovs(0.1, momentum=0.0))
before, of_W = host(net.get_param("0_W")), by_hand(net)["0_W"]
net.fit(X, Y)
near(net.get_param("0_W"), before - 0.1 * of_W / 2.0)

# %% 14 | `paramTable()` | the same | [inside/lenet.md](inside/lenet.md)
assert list(small().paramTable()) == ["0_W", "0_b", "1_W", "1_b"]

# %% 15 | workspaces: `WorkspaceMode` | accepted, and written to files again; memory is reused in any case |
# [java.md](java.md#what-differs-and-why)
conf = dl4j.NeuralNetConfiguration.Builder().trainingWorkspaceMode(dl4j.WorkspaceMode.ENABLED).seed(3).build()
assert conf.seed == 3

# %% 16 | `ModelLossFunction`, an object of the telemetry | not here: nothing is ever sent anywhere

# %% 17 | `Nd4j.EPS_THRESHOLD` | the same in `nn.dl4j` | `tests/nn/dl4j/test_nd4j.py`
assert dl4j.Nd4j.EPS_THRESHOLD == 1e-5

# %% 18 | `Nd4j.dataType()` | the same in `nn.dl4j`; `nd.default_dtype()` | `tests/nn/dl4j/test_nd4j.py`
assert dl4j.Nd4j.dataType() == dl4j.DataType.FLOAT
assert nd.default_dtype() == "float32"

# %% 19 | `DL4JInvalidInputException` | the same: `nd.ShapeError` |
# [java.md](java.md#names-in-articles-about-the-source)
assert dl4j.DL4JInvalidInputException is nd.ShapeError
with refused(dl4j.DL4JInvalidInputException, "[N, 3]"):
    two_layers().output(np.ones((2, 4)))

# %% 20 | `conf.getNumIterations()` | the same | `tests/nn/dl4j/test_article_names.py`
assert small(iterations=3).conf.getNumIterations() == 3

# %% 21 | `feedForwardToLayer(int, boolean)` | the same, of the minibatch that is set |
# [java.md](java.md#names-in-articles-about-the-source)
net = two_layers()
net.set_input(X)
near(net.feedForwardToLayer(0, True)[1], by_hand(net)["a0"])

# %% 22 | `getOpFactory().createTransform(name, x)` | the same in `nn.dl4j`; `nd.exec(name, x)` |
# `tests/nn/dl4j/test_article_names.py`
x = nd.create([-1.0, 2.0])
assert nd.exec(dl4j.Nd4j.getOpFactory().createTransform("relu", x)).tolist() == [0.0, 2.0]
assert nd.exec("abs", x).tolist() == [1.0, 2.0]

# %% 23 | `new DropOutInverted(x, p)` in place, `(x, z, p)` | the same in `nn.dl4j` |
# `tests/nn/dl4j/test_article_names.py`
x = nd.ones(4, 8)
assert dl4j.Nd4j.getExecutioner().exec(dl4j.DropOutInverted(x, 0.5)) is x
assert set(x.ravel().tolist()) == {0.0, 2.0}

# %% 24 | `conf().getLayer().getActivationFn()`, `layerConf()` | the same | `tests/nn/dl4j/test_article_names.py`
layer = two_layers().get_layer(0)
assert layer.layerConf().getActivationFn() == nd.activations.get_activation("tanh")

# %% 25 | `getStateBuffer() == null`: an exception | not here: a generator is never without a state

# %% 26 | `layer.gradient()`, `gradientViews` | the network has them: `net.gradient().get_gradient_for("0_W")` |
# [java.md](java.md#names-in-articles-about-the-source)
net = computed(two_layers())
near(net.gradient().get_gradient_for("0_W"), by_hand(net)["0_W"])

# %% 27 | `reshape('c', ...)`, `reshape('f', ...)` | `nd.reshape(x, shape, order="f")` |
# `tests/nn/dl4j/test_article_names.py`
x = nd.create([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
assert nd.reshape(x, (6,), order="f").tolist() == [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]

# %% 28 | `new IsMax(x, 1)` | the same in `nn.dl4j` | `tests/nn/dl4j/test_article_names.py`
assert nd.exec(dl4j.IsMax(nd.create([[1.0, 5.0, 2.0]]), 1)).tolist() == [[0.0, 1.0, 0.0]]

# %% 29 | `Net<Dtype>`: float and double | `dtype` of the configuration | [inside/backprop.md](inside/backprop.md)
one, two = (two_layers(dtype=dtype) for dtype in ("float32", "float64"))
near(one.output(X), two.output(X), 1e-5)
assert (one.dtype, two.dtype) == ("float32", "float64")

# %% 30 | the net's outputs, in order | `outputs` of a graph; activations in the order of the layers |
# [graphs.md](graphs.md)
[(_, shapes)] = heard_by(small(), line()).heard["on_forward_pass"]
assert shapes == [(4, 1), (4, 2), (4, 1)]
