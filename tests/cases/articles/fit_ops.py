"""Article 0: random numbers, ops, the executioner, and what stands around the network."""

import numpy as np

import nd
import nn
import nn.dl4j as dl4j
from nd.dataset import DataSet
from nn import (
    LSTM,
    RBM,
    ComputationGraph,
    DenseLayer,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    RnnOutputLayer,
)
from optimize import Sgd
from tests.cases.articles.fixtures import X1, Y1, X, Y, computed, host, lenet, line, near, refused, small, two_layers

# %% 104 | `Nd4j.getRandom()` | `nd.random.get_random()` | [facade.md](facade.md#ops-exec-and-execrandom)
nd.random.set_seed(7)
first = nd.random.get_random().uniform(3)
nd.random.set_seed(7)
near(dl4j.Nd4j.getRandom().uniform(3), first, 0.0)

# %% 105 | `getRandom()` is one per thread | one per network, one per thread for programs |
# `tests/nn/networks/test_generator_of_a_network.py`
one, two = small(retain=0.5), small(retain=0.5)
one.fit(X1, Y1, epochs=3)
small(retain=0.5).fit(X1, Y1, epochs=2)  # which takes no numbers of the others
two.fit(X1, Y1, epochs=3)
assert (one.params() == two.params()).all()

# %% 106 | `DropOutInverted(x, p)`, `(x, z, p)` | the same in `nn.dl4j`; `nd.ops.DropOutInverted(x, p, z)` |
# `tests/nn/dl4j/test_article_names.py`
x, z = nd.ones(2, 3), nd.zeros(2, 3)
assert dl4j.DropOutInverted(x, 0.5).z is x
assert dl4j.DropOutInverted(x, z, 0.5).z is z
assert nd.execRandom(nd.ops.DropOutInverted(x, 0.5)) is not x

# %% 107 | the worked example: -10 to -9.81 with p = 0.5 | the kept ones are doubled, the others 0 |
# [facade.md](facade.md#ops-exec-and-execrandom)
x = nd.create([np.linspace(-10.0, -9.81, 20)], dtype="float64")
dropped = host(nd.execRandom(nd.ops.DropOutInverted(x, 0.5), nd.random.Random(42)))
assert (dropped == 0.0).any()
near(dropped[dropped != 0.0], 2.0 * host(x)[dropped != 0.0])
assert not np.isnan(host(nd.execRandom(nd.ops.DropOutInverted(nd.create([[np.inf] * 20]), 0.5)))).any()

# %% 108 | the op's name, "dropout_inverted" | the same | `tests/nd/test_ops.py`
assert nd.ops.OPS["dropout_inverted"] is nd.ops.DropOutInverted
assert nd.ops.DropOutInverted(nd.ones(1, 2)).who == "DropOutInverted"

# %% 109 | `opNum()` | the same: Java's number of the op | `tests/nd/test_ops.py`
assert nd.ops.DropOutInverted(nd.ones(1, 2)).opNum() == nd.ops.DropOutInverted.java_number == 2

# %% 110 | `extraArgs()`: p | `op.extra_args` | [facade.md](facade.md#hooks)
assert nd.ops.DropOutInverted(nd.ones(1, 2), 0.25).extra_args[0] == 0.25

# %% 111 | `x`, `y`, `z` of an op; z is x in place | the same | [facade.md](facade.md#ops-exec-and-execrandom)
x = nd.create([[1.0, -2.0]])
op = nd.ops.Add(x, 1.0, z=x)
assert nd.exec(op) is op.z is op.x is x
assert x.tolist() == [[2.0, -1.0]]

# %% 112 | `LegacyDropOutInverted`, "legacy_dropout_inverted" | the same | `tests/nd/test_ops.py`
values = set(host(nd.execRandom(nd.ops.LegacyDropOutInverted(nd.ones(4, 8), 0.5))).ravel().tolist())
assert values == {0.0, 2.0}
assert nd.ops.OPS["legacy_dropout_inverted"] is nd.ops.LegacyDropOutInverted

# %% 113 | `op(IComplexNumber, ...)`, seven overloads | not here: ND4J itself has no complex numbers since 1.0

# %% 114 | `opForDimension(i, dim)`, `vectorAlongDimension`, `tensorAlongDimension` | `dimension=` of an op; an
# expression of NumPy | [java.md](java.md#names-in-articles-about-the-source)
x = np.arange(6.0).reshape(2, 3)
assert nd.exec(nd.ops.Sum(nd.create(x), dimension=0)).ravel().tolist() == [3.0, 5.0, 7.0]
along = [np.moveaxis(x, 1, -1).reshape(-1, x.shape[1])[i].tolist() for i in range(2)]
assert along == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]

# %% 115 | `BaseRandomOp`, `RandomOp` | `nd.ops.RandomOp` | [facade.md](facade.md#ops-exec-and-execrandom)
assert issubclass(nd.ops.DropOutInverted, nd.ops.RandomOp)
with refused(nd.DTypeError, "Use nd.execRandom"):
    nd.exec(nd.ops.DropOutInverted(nd.ones(1, 2)))

# %% 116 | `getExecutioner().exec(op)`, `exec(op, rng)` | the same; `nd.exec(op)`, `nd.execRandom(op, rng)` |
# [facade.md](facade.md#ops-exec-and-execrandom)
same = [nd.execRandom(nd.ops.DropOutInverted(nd.ones(2, 4), 0.5), nd.random.Random(42)).tolist() for _ in range(2)]
assert same[0] == same[1]
assert dl4j.Nd4j.getExecutioner().exec(nd.ops.Exp(nd.zeros(1, 2))).tolist() == [[1.0, 1.0]]

# %% 117 | `profilingHookIn(op)`, `profilingHookOut(op)` | `nd.add_hook(hook)`: every op of a network too, in eager
# mode | [facade.md](facade.md#a-network-op-by-op)
heard, net = [], small()
nd.add_hook(heard.append)
with nd.eager():
    net.fit(X1, Y1)
nd.remove_hook(heard.append)
assert {"Gemm", "RectifiedLinear"} <= {op.who for op in heard}
assert all(op.seconds >= 0.0 for op in heard)

# %% 118 | `validateDataType` | an error with both types | `tests/nd/test_ops.py`
with refused(nd.DTypeError, "float"):
    nd.gemm(nd.ones(2, 2, dtype="float32"), nd.ones(2, 2, dtype="float64"))

# %% 119 | branches for FLOAT and DOUBLE | `dtype` of the configuration | [inside/backprop.md](inside/backprop.md)
for dtype in ("float32", "float64"):
    assert nd.dtype_name(two_layers(dtype=dtype).output(X)) == dtype

# %% 120 | branches for x, y, z, for two operands, for one | the same: `ProbablisticMerge` has three |
# `tests/nn/dl4j/test_article_names.py`
z = nd.zeros(1, 64)
nd.execRandom(nd.ops.ProbablisticMerge(nd.ones(1, 64), nd.full(1, 64, value=5.0), 0.5, z))
assert set(host(z).ravel().tolist()) == {1.0, 5.0}

# %% 121 | JNI: `execRandomFloat`, `execRandomDouble` | not here: NumPy, CuPy or another backend computes, without JNI

# %% 122 | `Nd4j.getMemoryManager().invokeGcOccasionally()` | accepted: Python frees arrays by itself
assert dl4j.Nd4j.getMemoryManager().invokeGcOccasionally() is None

# %% 123 | `update(TaskUtils.buildTask(iter))` | `nn.build_task(iter)` is a plain value; nothing is sent |
# [java.md](java.md#names-in-articles-about-the-source)
assert dl4j.TaskUtils.buildTask(line()) == nn.Task()

# %% 124 | `Task`: types of network and architecture, numbers of features, labels, samples | the same |
# `tests/nn/dl4j/test_article_names.py`
task = nn.Task(num_features=4, num_labels=3, num_samples=150)
assert (task.getNumFeatures(), task.getNumLabels(), task.getNumSamples()) == (4, 3, 150)

# %% 125 | `Task.NetworkType`, `Task.ArchitectureType` | `nn.NetworkType`, `nn.ArchitectureType` |
# `tests/nn/dl4j/test_article_names.py`
task = nn.task_by_model(lenet())
assert task.network_type is nn.NetworkType.MULTILAYER_NETWORK
assert task.architecture_type is nn.ArchitectureType.CONVOLUTION

# %% 126 | `ModelSerializer.taskByModel(model)` | the same | `tests/nn/dl4j/test_article_names.py`
assert dl4j.ModelSerializer.taskByModel(small()) == nn.task_by_model(small())

# %% 127 | `Heartbeat`, `Environment`, `EnvironmentUtils`, `Event.STANDALONE` | not here: nothing is ever sent
# anywhere

# %% 128 | `initDone` | `net.init_done` | `tests/nn/dl4j/test_article_names.py`
net = MultiLayerNetwork(small().conf)
assert not net.initDone
assert net.init().initDone

# %% 129 | `Layer.type()`: CONVOLUTIONAL, RECURRENT, ... | the same | `tests/nn/dl4j/test_article_names.py`
assert lenet().layers[0].type() is nn.LayerType.CONVOLUTIONAL
assert small().layers[0].type() is dl4j.Layer.Type.FEED_FORWARD

# %% 130 | `ComputationGraph` | the same | [graphs.md](graphs.md)
conf = NeuralNetConfiguration(seed=1, updater=Sgd(0.1)).graph(
    inputs={"in": nn.InputType.feed_forward(3)},
    nodes={
        "hidden": (DenseLayer(n_out=2, activation="tanh"), "in"),
        "out": (OutputLayer(n_out=1, loss="mse", activation="identity"), "hidden"),
    },
    outputs="out",
)
graph = ComputationGraph(conf).init()
before = graph.score(DataSet(X, Y))
graph.fit(X, Y)
assert graph.score(DataSet(X, Y)) < before

# %% 131 | `RBM` | the same | [pretraining.md](pretraining.md)
layers = RBM(n_in=3, n_out=2), OutputLayer(n_out=1, loss="mse", activation="identity")
net = MultiLayerNetwork(NeuralNetConfiguration(seed=1, pretrain=True).list(*layers)).init()
assert net.layers[0].params["vb"].shape == (1, 3)
assert net.output(X).shape == (2, 1)

# %% 132 | recurrent layers: `LSTM` and others | the same | [recurrent.md](recurrent.md)
layers = LSTM(n_in=2, n_out=3), RnnOutputLayer(n_out=1, loss="mse", activation="identity")
net = MultiLayerNetwork(NeuralNetConfiguration(seed=1).list(*layers)).init()
assert net.output(np.ones((4, 2, 5))).shape == (4, 1, 5)

# %% 133 | `getInputMiniBatchSize()` | `net.batch_size` | `tests/nn/networks/test_training.py`
assert computed(small(), X1, Y1).getInputMiniBatchSize() == 4

# %% 134 | masks for series of different lengths | the same | [recurrent.md](recurrent.md)
layers = LSTM(n_in=2, n_out=3), RnnOutputLayer(n_out=1, loss="mse", activation="identity")
net = MultiLayerNetwork(NeuralNetConfiguration(seed=1).list(*layers)).init()
x, y, mask = np.ones((2, 2, 5)), np.ones((2, 1, 5)), np.ones((2, 5))
mask[1, 3:] = 0.0
score = net.score(DataSet(x, y, mask, mask))
x[1, :, 3:], y[1, :, 3:] = 100.0, -100.0  # behind the end of the second series
near(net.score(DataSet(x, y, mask, mask)), score)
