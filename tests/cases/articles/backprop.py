"""Article 1: backprop() with every array."""

import pickle

import numpy as np

import nd
import nn.dl4j as dl4j
from nn import (
    ActivationLayer,
    DefaultGradient,
    DenseLayer,
    FrozenLayer,
    Gradient,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    PReLULayer,
    RnnOutputLayer,
)
from optimize import Sgd
from tests.cases.articles.fixtures import X, Y, by_hand, computed, host, lenet, near, refused, two_layers

IDENTITY = nd.activations.get_activation("identity")
"""Under which dL/dz is dL/da."""


def array(x):
    return nd.create(x, dtype="float64")


# %% 1 | `backprop()` sets the gradient | `net.compute_gradient_and_score()`, then `net.gradient()` |
# [inside/backprop.md](inside/backprop.md#what-the-network-computes)
net = computed(two_layers())
for key, of_param in net.gradient().gradient_for_variable().items():
    near(host(of_param).ravel(), by_hand(net)[key].ravel(), 1e-12)

# %% 2 | `this.epsilon`: dL/d(input) | `net.calculate_gradients(x, y).second`; of a layer `net.keep`, `net.kept` |
# [inside/backprop.md](inside/backprop.md#what-the-network-computes)
net = two_layers()
near(net.calculate_gradients(X, Y).second, by_hand(net)["x"], 1e-12)
net.keep(0)
near(computed(net).kept(0).epsilon, by_hand(net)["epsilon0"], 1e-12)

# %% 3 | `calcBackpropGradients(epsilon, false)`: the gradient comes from outside | `net.backprop_gradient(epsilon)` |
# `tests/nn/networks/test_inside.py`
net = two_layers()
net.set_input(X)
gradient, epsilon = net.backpropGradient(by_hand(net)["delta1"])
near(gradient.get_gradient_for("0_W"), by_hand(net)["0_W"])
near(epsilon, by_hand(net)["x"])

# %% 4 | `calcBackpropGradients(null, true)` | part of `compute_gradient_and_score` |
# [inside/backprop.md](inside/backprop.md)
net = computed(two_layers())
near(net.gradient().get_gradient_for("1_W"), by_hand(net)["1_W"])

# %% 5 | `flattenedGradients == null`, then `initGradientsView()` | made by `init()`
net = two_layers()
assert net.flattened_gradients().shape == (1, 11)
assert not host(net.flattened_gradients()).any()
net.initGradientsView()

# %% 6 | `numParams` = nIn * nOut + nOut | the same | [inside/lenet.md](inside/lenet.md)
assert two_layers().num_params() == (3 * 2 + 2) + (2 * 1 + 1)

# %% 7 | `layer.numParams()` | the same | [inside/lenet.md](inside/lenet.md)
assert [layer.numParams() for layer in two_layers().layers] == [8, 3]

# %% 8 | `Nd4j.zeros(new int[]{1, n}, 'f')` | `nd.zeros(1, n)` | `tests/nd/test_create.py`
assert nd.zeros(1, 7).tolist() == [[0.0] * 7]
assert nd.zeros(2, 3, order="f").flags.f_contiguous

# %% 9 | layers without parameters are left out | the same
layers = (
    DenseLayer(n_in=3, n_out=2),
    ActivationLayer(activation="tanh"),
    OutputLayer(n_out=1, loss="mse", activation="tanh"),
)
net = computed(MultiLayerNetwork(NeuralNetConfiguration(seed=1, updater=Sgd(0.1)).list(*layers)).init())
assert list(net.gradient().gradient_for_variable()) == ["0_W", "0_b", "2_W", "2_b"]

# %% 10 | `flattenedGradients.get(point(0), interval(a, b))` | a slice, `[0, a:b]` |
# [java.md](java.md#names-in-articles-about-the-source)
net = computed(two_layers())
near(net.flattened_gradients()[0, 0:6], by_hand(net)["0_W"].ravel(order="F"))

# %% 11 | `NDArrayIndex.point`, `NDArrayIndex.interval` | the same in `nn.dl4j` | `tests/nn/dl4j/test_nd4j.py`
vector = np.arange(8.0).reshape(1, 8)
assert vector[dl4j.NDArrayIndex.point(0), dl4j.NDArrayIndex.interval(2, 5)].tolist() == [2.0, 3.0, 4.0]

# %% 12 | `setBackpropGradientsViewArray(view)` | done by `init()`: gradients are views of one vector |
# [inside/backprop.md](inside/backprop.md)
net = two_layers()
for view in net.gradient().gradient_for_variable().values():
    assert nd.may_share_memory(view, net.flattened_gradients())

# %% 13 | `new DefaultGradient(flattenedGradients)` | the same | `tests/nn/step/test_looking_changes_nothing.py`
vector = array([[1.0, 2.0]])
assert DefaultGradient(vector).gradient() is vector

# %% 14 | keys "1_W", "1_b" | the same | [inside/backprop.md](inside/backprop.md)
assert {"1_W", "1_b"} < set(two_layers().gradient().gradientForVariable())

# %% 15 | order: layer 0 first, although it is computed last | the same | [inside/backprop.md](inside/backprop.md)
net = computed(two_layers())
assert list(net.gradient().gradient_for_variable()) == ["0_W", "0_b", "1_W", "1_b"]
near(net.flattened_gradients()[0, -1], by_hand(net)["1_b"][0])

# %% 16 | `LinkedList<Triple<String, INDArray, Character>> gradientList` | not here: the table of views needs no list
# that is turned round

# %% 17 | the last layer is no output layer: a warning and null | an error that names the layer |
# `tests/nn/test_bad_input.py`
net = MultiLayerNetwork(NeuralNetConfiguration(seed=1).list(DenseLayer(n_in=3, n_out=1))).init()
with refused(nd.ConfigurationError, "layer 0 (DenseLayer): the last layer must have a loss"):
    computed(net)

# %% 18 | `labels == null`: "No labels found" | an error: "set_input and set_labels must come first" |
# `tests/nn/test_bad_input.py`
net = two_layers()
net.set_input(X)
with refused(nd.ConfigurationError, "set_input and set_labels must come first"):
    net.compute_gradient_and_score()

# %% 19 | `outputLayer.setLabels(labels)` | labels are an argument: `layer.backprop_gradient(x, labels=y)` |
# [java.md](java.md#names-in-articles-about-the-source)
net = two_layers()
arrays = by_hand(net)
near(net.get_output_layer().backprop_gradient(arrays["a0"], labels=Y).second, arrays["epsilon0"])

# %% 20 | `outputLayer.backpropGradient(null)` | `layer.backprop_gradient(x, labels=y)`: gradient and epsilon |
# `tests/nn/layers/test_by_hand.py`
net = two_layers()
arrays = by_hand(net)
gradient, epsilon = net.get_output_layer().backpropGradient(arrays["a0"], labels=Y)
near(gradient.get_gradient_for("W"), arrays["1_W"])
near(epsilon, arrays["epsilon0"])

# %% 21 | `epsilonNext = W.mmul(delta^T)^T` | the same |
# [inside/backprop.md](inside/backprop.md#the-error-of-the-output-layer)
net = computed(two_layers(), X, Y)
W, delta = host(net.get_param("1_W")), by_hand(net)["delta1"]
net.keep(0)
near(computed(net).kept(0).epsilon, (W @ delta.T).T, 1e-12)

# %% 22 | `preOutput2d(true)` | `layer.pre_output(x, training)` | `tests/nn/layers/test_by_hand.py`
net = two_layers(output="tanh")
near(net.get_output_layer().pre_output(by_hand(net)["a0"], True), by_hand(net)["z1"])

# %% 23 | `getLabels2d()`: labels of series and images | layers of places do it inside |
# `tests/nn/layers/test_losses_of_places.py`
layers = dl4j.LSTM(n_in=3, n_out=2), RnnOutputLayer(n_out=2, loss="mse", activation="identity")
net = MultiLayerNetwork(NeuralNetConfiguration(seed=1).list(*layers)).init()
x, y = np.ones((2, 3, 7)), np.zeros((2, 2, 7))
near(net.score(nd.dataset.DataSet(x, y)), (host(net.output(x)) ** 2).mean(axis=1).sum() / 2.0, 1e-5)

# %% 24 | labels with other columns than nOut: an exception | an error with layer, loss and both shapes |
# `tests/nd/test_losses.py`
with refused(nd.ShapeError, "layer 1 (OutputLayer): loss LossMSE: labels must be [N, 1], got [2, 3]"):
    two_layers().fit(X, np.ones((2, 3)))

# %% 25 | `ILossFunction.computeGradient(labels, preOutput, fn, mask)` | the same: dL/dz |
# [inside/backprop.md](inside/backprop.md#the-error-of-the-output-layer)
z = array([[0.5, -1.0]])
tanh = nd.activations.get_activation("tanh")
expected = (np.tanh(host(z)) - 1.0) * (1.0 - np.tanh(host(z)) ** 2)  # 2 (a - y) / 2 outputs
near(nd.losses.LossMSE().computeGradient(array([[1.0, 1.0]]), z, tanh), expected)

# %% 26 | `LossMSE` = `LossL2` / outputs | the same | `tests/nd/test_losses.py`
y, z = array([[1.0, 2.0, 3.0]]), array([[0.0, 0.0, 1.0]])
of_l2 = host(nd.losses.LossL2().compute_gradient(y, z, IDENTITY))
near(nd.losses.LossMSE().compute_gradient(y, z, IDENTITY), of_l2 / 3.0)

# %% 27 | `LossL2`: 2 (output - labels) | the same | `tests/nd/test_losses.py`
near(nd.losses.LossL2().compute_gradient(array([[1.0, 2.0]]), array([[4.0, 0.0]]), IDENTITY), [[6.0, -4.0]])

# %% 28 | `preOutput.dup()` before the activation | the loss leaves the caller's arrays alone
z = array([[0.5, -1.0]])
nd.losses.LossMSE().compute_gradient(array([[1.0, 1.0]]), z, nd.activations.get_activation("tanh"))
assert z.tolist() == [[0.5, -1.0]]

# %% 29 | weights of a loss: `dLda.muliRowVector(weights)` | `LossL2(weights=...)` | `tests/nd/test_losses.py`
y, z = array([[0.0, 0.0]]), array([[1.0, 1.0]])
near(nd.losses.LossL2(weights=(1.0, 3.0)).compute_gradient(y, z, IDENTITY), [[2.0, 6.0]])

# %% 30 | `LossUtil.isPerOutputMasking`: a mask for each output | a mask of the labels' shape |
# `tests/nd/test_loss_masks.py`
y, z, mask = array([[0.0, 0.0]]), array([[1.0, 1.0]]), array([[1.0, 0.0]])
near(nd.losses.LossL2().compute_gradient(y, z, IDENTITY, mask), [[2.0, 0.0]])

# %% 31 | `LossUtil.applyMask` | a mask `[N, 1]` takes whole examples out | `tests/nd/test_loss_masks.py`
y, z, mask = array([[0.0, 0.0]] * 2), array([[1.0, 1.0]] * 2), array([[0.0], [1.0]])
near(nd.losses.LossL2().compute_gradient(y, z, IDENTITY, mask), [[0.0, 0.0], [2.0, 2.0]])

# %% 32 | `activationFn.backprop(in, epsilon)`: a Pair | the same; the second is None: learnt slopes are `PReLULayer`
# | [java.md](java.md#names-in-articles-about-the-source)
pair = nd.activations.get_activation("relu").backprop(array([[-1.0, 2.0]]), array([[5.0, 7.0]]))
assert pair.getFirst().tolist() == [[0.0, 7.0]]
assert pair.getSecond() is None
assert [spec.name for spec in PReLULayer(input_shape=(2,)).param_specs()] == ["W"]

# %% 33 | `ActivationIdentity.backprop` returns epsilon | the same | `tests/nd/test_activations.py`
assert IDENTITY.backprop(array([[3.0]]), array([[-2.0]])).first.tolist() == [[-2.0]]

# %% 34 | `Nd4j.gemm(input, delta, weightGradView, true, false, 1, 0)` | the same |
# [facade.md](facade.md#matrix-products-gemm)
net = two_layers()
arrays, view = by_hand(net), net.gradient().get_gradient_for("1_W")
nd.gemm(array(arrays["a0"]), array(arrays["delta1"]), view, True, False, 1.0, 0.0)
near(net.flattened_gradients()[0, 8:10], arrays["1_W"].ravel())

# %% 35 | `Nd4j.gemm` with alpha, beta, transposes | the same | [facade.md](facade.md#matrix-products-gemm)
a, b, c = array([[1.0, 2.0], [3.0, 4.0]]), array([[0.0, 1.0], [1.0, 0.0]]), nd.ones(2, 2, dtype="float64")
near(nd.gemm(a, b, c, transpose_b=True, alpha=2.0, beta=-1.0), [[3.0, 1.0], [7.0, 5.0]])

# %% 36 | `getBlasWrapper().level3().gemm(...)` | the same in `nn.dl4j` | `tests/nn/dl4j/test_article_names.py`
assert dl4j.Nd4j.getBlasWrapper().level3().gemm(nd.ones(1, 2), nd.ones(2, 1)).tolist() == [[2.0]]

# %% 37 | `level1().asum(x)` | the same in `nn.dl4j`; `nd.ops.Norm1` | `tests/nn/dl4j/test_article_names.py`
assert dl4j.Nd4j.getBlasWrapper().level1().asum(nd.create([3.0, -4.0])) == 7.0
assert nd.item(nd.exec(nd.ops.Norm1(nd.create([3.0, -4.0])))) == 7.0

# %% 38 | `biasGradView.assign(delta.sum(0))` | `nd.affine_gradients`: with the weights' |
# [inside/backprop.md](inside/backprop.md)
x, delta, of_W, of_b = array([[1.0], [2.0]]), array([[3.0], [4.0]]), array([[0.0]]), array([0.0])
nd.affine_gradients(x, delta, of_W, of_b)
assert (of_W.tolist(), of_b.tolist()) == ([[11.0]], [7.0])

# %% 39 | `gradientForVariable()` | the same: name -> view | `tests/nn/networks/test_multilayer.py`
table = two_layers().gradient().gradientForVariable()
assert {key: view.shape for key, view in table.items()} == {"0_W": (3, 2), "0_b": (1, 2), "1_W": (2, 1), "1_b": (1, 1)}

# %% 40 | `gradientForVariable().put(key, view)` | the table is a copy: `set_gradient_for(key, array)` |
# `tests/nn/step/test_looking_changes_nothing.py`
gradient = DefaultGradient()
gradient.set_gradient_for("0_W", array([[1.0]]))
gradient.gradient_for_variable()["1_W"] = array([[2.0]])
assert list(gradient.gradient_for_variable()) == ["0_W"]

# %% 41 | `flatteningOrderForVariable(name)` | the same: c for filters, f for dense weights |
# `tests/nn/step/test_looking_changes_nothing.py`
gradient = lenet().gradient()
assert gradient.flatteningOrderForVariable("0_W") == "c"
assert two_layers().gradient().flatteningOrderForVariable("0_W") == "f"

# %% 42 | `getInputPreProcess(n - 1).backprop(epsilon, miniBatch)` | the network calls `backprop(epsilon, examples)` |
# `tests/nn/dl4j/test_preprocessors.py`
back = dl4j.CnnToFeedForwardPreProcessor(2, 2, 3).backprop(nd.create(np.arange(24.0).reshape(2, 12)), 2)
assert back.shape == (2, 3, 2, 2)

# %% 43 | `layerFrom = numLayers - 2`, then down | the same | [inside/backprop.md](inside/backprop.md)
net, order = two_layers(), []


class Down(dl4j.Listener):
    def after_backward(self, model, name, arrays):
        order.append(name)


net.set_listeners(Down())
net.fit(X, Y)
assert order == sorted(order, reverse=True)
assert len(order) == 2

# %% 44 | `FrozenLayer` ends backprop | the same: its gradient is 0 | `tests/nn/layers/test_frozen.py`
net = computed(two_layers(hidden=FrozenLayer(DenseLayer(n_in=3, n_out=2, activation="tanh"))))
assert not host(net.gradient().get_gradient_for("0_W")).any()
assert host(net.gradient().get_gradient_for("1_W")).any()

# %% 45 | `currLayer.backpropGradient(epsilon)` | `layer.backprop_gradient(x, epsilon)` |
# `tests/nn/layers/test_by_hand.py`
net = two_layers()
arrays = by_hand(net)
gradient, epsilon = net.get_layer(0).backpropGradient(X, arrays["epsilon0"])
near(gradient.get_gradient_for("W"), arrays["0_W"])
near(epsilon, arrays["x"])

# %% 46 | `Pair<F, S>` | tuples, which have `first`, `second`, `getFirst()` | `tests/nn/dl4j/test_article_names.py`
pair = two_layers().calculate_gradients(X, Y)
assert pair.getFirst() is pair.first is pair[0]
assert pair.getSecond() is pair.second is pair[1]

# %% 47 | `Triple<F, S, T>` | not here: Python's tuples take its place

# %% 48 | `Gradient` | the same: a protocol
assert {"gradient", "gradient_for_variable"} <= set(dir(Gradient))

# %% 49 | `gradient(List<String> order)` | the same
net = computed(two_layers())
arrays = by_hand(net)
near(net.gradient().gradient(["1_b", "1_W"])[0], [*arrays["1_b"], *arrays["1_W"].ravel()])

# %% 50 | `gradient()` | the same: the vector | [inside/backprop.md](inside/backprop.md)
net = computed(two_layers())
near(net.gradient().gradient(), net.flattened_gradients(), 0.0)

# %% 51 | `clear()` | the same; the network's own table stays | `tests/nn/step/test_looking_changes_nothing.py`
net = computed(two_layers())
gradient = net.gradient()
gradient.clear()
assert gradient.gradient_for_variable() == {}
assert len(net.gradient().gradient_for_variable()) == 4

# %% 52 | `getGradientFor(name)` | the same | `tests/nn/networks/test_between.py`
net = computed(two_layers())
near(net.gradient().getGradientFor("1_b"), by_hand(net)["1_b"][None])

# %% 53 | an unknown name gives null | an error with the names there are
with refused(nd.ChoiceError, "unknown variable '9_W', expected one of 0_W, 0_b, 1_W, 1_b"):
    two_layers().gradient().get_gradient_for("9_W")

# %% 54 | `setGradientFor(name, g)`, also with an order | the same | `tests/nn/step/test_looking_changes_nothing.py`
gradient = DefaultGradient()
gradient.setGradientFor("0_W", array([[1.0, 2.0], [3.0, 4.0]]), "c")
assert gradient.gradient().tolist() == [[1.0, 2.0, 3.0, 4.0]]

# %% 55 | `DEFAULT_FLATTENING_ORDER = 'f'` | the same | `tests/nn/dl4j/test_article_names.py`
assert DefaultGradient.DEFAULT_FLATTENING_ORDER == "f"
gradient = DefaultGradient()
gradient.set_gradient_for("0_W", array([[1.0, 2.0], [3.0, 4.0]]))
assert gradient.gradient().tolist() == [[1.0, 3.0, 2.0, 4.0]]

# %% 56 | `Nd4j.toFlattened(order, arrays)` | `nd.to_flattened(order, arrays)` | `tests/nd/test_create.py`
a, b = nd.create([[1.0, 2.0], [3.0, 4.0]]), nd.create([[5.0]])
assert nd.to_flattened("f", [a, b]).ravel().tolist() == [1.0, 3.0, 2.0, 4.0, 5.0]
assert dl4j.Nd4j.toFlattened("c", a, b).ravel().tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]

# %% 57 | `DefaultGradient.toString()` | the same
gradient = DefaultGradient()
gradient.set_gradient_for("0_W", array([[1.5]]))
assert gradient.toString() == str(gradient) == "DefaultGradient({'0_W': array([[1.5]])})"

# %% 58 | `DefaultGradient implements Serializable` | it can be pickled
net = computed(two_layers())
again = pickle.loads(pickle.dumps(net.gradient()))
near(again.get_gradient_for("0_W"), by_hand(net)["0_W"])
