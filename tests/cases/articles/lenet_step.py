"""Articles 2 and 4: LenetMnistExample, a step through its layers."""

import numpy as np

import nd
import nn.dl4j as dl4j
from nn import (
    DenseLayer,
    InputType,
    LossFunction,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    SubsamplingLayer,
)
from tests.cases.articles.fixtures import computed, digits, host, lenet, near, one_filter, refused, two_layers


def pooled():
    """A 4 by 4 image, its columns of 2 by 2 windows, one in a row, and a network that pools it."""
    image = np.array([[1.0, 2.0, 0.0, 1.0], [4.0, 3.0, 5.0, 2.0], [0.0, 1.0, 7.0, 6.0], [2.0, 8.0, 3.0, 9.0]])
    rows = image.reshape(2, 2, 2, 2).swapaxes(1, 2).reshape(4, 4)
    return image, rows


IMAGE = np.arange(9.0).reshape(1, 1, 3, 3)
FILTER = np.array([[1.0, 0.0], [0.0, -1.0]]).reshape(1, 1, 2, 2)
SUMS = np.array([[-4.0, -4.0], [-4.0, -4.0]])
"""x[i, j] - x[i + 1, j + 1] of the image."""

# %% 29 | `getParamWithNoise` | done inside, in training alone | [updaters.md](updaters.md)
net = two_layers(weight_noise=dl4j.DropConnect(0.5))
x = np.ones((1, 3))
near(net.output(x), net.output(x), 0.0)
assert len({host(net.feed_forward_to_layer(0, x, train=True)[1]).tobytes() for _ in range(8)}) > 1

# %% 30 | weights [nOut, nIn, kH, kW] in order c, the bias first | the same | [inside/lenet.md](inside/lenet.md)
net = lenet()
assert net.get_param("0_W").shape == (3, 1, 5, 5)
assert list(net.param_table())[:2] == ["0_b", "0_W"]
near(net.params()[0, 3:78], net.get_param("0_W").ravel(), 0.0)

# %% 31 | `col = Nd4j.createUninitialized(6d)`, permute | the columns of `nd.im2col` |
# [inside/lenet.md](inside/lenet.md)
assert nd.im2col(nd.zeros(2, 3, 5, 5), (2, 2)).shape == (2, 3, 2, 2, 4, 4)

# %% 32 | `Convolution.im2col(...)` | `nd.im2col(x, kernel, stride, ...)` |
# [inside/lenet.md](inside/lenet.md#im2col-ismax-and-col2im-on-4-by-4)
image, rows = pooled()
col = host(nd.im2col(nd.create(image.reshape(1, 1, 4, 4)), (2, 2), (2, 2)))
near(col.reshape(4, 4).T, rows, 0.0)

# %% 33 | stride, padding, dilation, SAME of im2col | the same | `tests/nd/test_convolution.py`
x = nd.ones(1, 1, 5, 5)
assert nd.im2col(x, 2, 2).shape[-2:] == (2, 2)
assert nd.im2col(x, 2, 1, padding=1).shape[-2:] == (6, 6)
assert nd.im2col(x, 2, 1, dilation=3).shape[-2:] == (2, 2)
assert nd.im2col(x, 2, 2, same_mode=True).shape[-2:] == (3, 3)

# %% 34 | `Shape.newShapeNoCopy` | `nd.reshape_view` | `tests/nd/test_shape.py`
x = nd.create(np.arange(6.0))
assert nd.may_share_memory(nd.reshape_view(x, (2, 3)), x)

# %% 35 | `weights.permute(3, 2, 1, 0).reshape('f', ...)` | a product of matrices, inside the backend: equal by hand |
# [inside/lenet.md](inside/lenet.md)
columns = host(nd.im2col(nd.create(IMAGE), (2, 2))).reshape(4, 4)
near(FILTER.reshape(1, 4) @ columns, SUMS.reshape(1, 4))

# %% 36 | `z = im2col2d.mmul(reshapedW)` | the same | [inside/lenet.md](inside/lenet.md)
net = one_filter()
net.set_param("0_W", FILTER)
near(net.get_layer(0).pre_output(nd.create(IMAGE, dtype="float64"))[0, 0], SUMS)

# %% 37 | z as [N, outC, outH, outW] | the same | [inside/lenet.md](inside/lenet.md)
assert lenet().get_layer("conv2").pre_output(nd.zeros(2, 3, 12, 12)).shape == (2, 4, 8, 8)

# %% 38 | `ActivationReLU.getActivation`, op `RectifedLinear` | the same; `nd.ops.RectifiedLinear` |
# [facade.md](facade.md#ops-exec-and-execrandom)
z = nd.create([[-1.0, 2.0]])
assert dl4j.ActivationReLU().getActivation(z, True).tolist() == [[0.0, 2.0]]
assert nd.exec(nd.ops.RectifiedLinear(z)).tolist() == [[0.0, 2.0]]

# %% 39 | `SubsamplingLayer.activate`: pooling2D | the same | `tests/nn/layers/test_subsampling.py`
image, rows = pooled()
net = MultiLayerNetwork(
    NeuralNetConfiguration(seed=1, dtype="float64").list(
        SubsamplingLayer("max", kernel_size=(2, 2), stride=(2, 2)),
        OutputLayer(n_out=1, loss="mse", activation="identity"),
        input_type=InputType.convolutional(4, 4, 1),
    )
).init()
near(net.feed_forward(image.reshape(1, 1, 4, 4))[1].ravel(), [4.0, 5.0, 8.0, 9.0], 0.0)

# %% 40 | `Convolution.pooling2D(...)` | `nd.ops.MaxPooling2D(x, kernel=2, stride=2)` |
# [facade.md](facade.md#ops-exec-and-execrandom)
image, rows = pooled()
out = nd.exec(nd.ops.MaxPooling2D(nd.create(image.reshape(1, 1, 4, 4)), kernel=2, stride=2))
assert out.tolist() == [[[[4.0, 5.0], [8.0, 9.0]]]]

# %% 41 | forward of a dense layer: `input.mmul(W)` | the same | [inside/backprop.md](inside/backprop.md#forward)
layer, x = lenet().get_layer("dense"), np.ones((2, 64), np.float32)
near(layer.pre_output(x), x @ host(layer.get_param("W")) + host(layer.get_param("b")), 1e-4)

# %% 42 | `LossMCXENT` with softmax: p - y | the same | [inside/lenet.md](inside/lenet.md)
y, z = nd.create([[0.0, 1.0, 0.0]]), nd.create([[0.5, -1.0, 2.0]])
softmax = nd.activations.get_activation("softmax")
p = np.exp(host(z)) / np.exp(host(z)).sum()
near(nd.losses.LossMCXENT().compute_gradient(y, z, softmax), p - host(y))

# %% 43 | softmax with shift = max | the same | `tests/nd/test_activations.py`
p = nd.activations.get_activation("softmax").value(nd.create([[1000.0, 1001.0]]))
near(p, [[1.0 / (1.0 + np.e), np.e / (1.0 + np.e)]])

# %% 44 | `OutputLayer.Builder(LossFunction)` | the same | [java.md](java.md#port-a-program)
layer = OutputLayer.Builder(LossFunction.MCXENT).nIn(3).nOut(2).activation("softmax").build()
assert layer == OutputLayer(n_in=3, n_out=2, loss="mcxent", activation="softmax")

# %% 45 | Java's check of output layers | the same | `tests/nn/conf/test_output_layers.py`
for activation, loss, n_out in (("sigmoid", "mcxent", 3), ("softmax", "xent", 3), ("softmax", "mcxent", 1)):
    with refused(nd.ConfigurationError, "OutputLayer"):
        NeuralNetConfiguration(seed=1).list(OutputLayer(n_in=2, n_out=n_out, activation=activation, loss=loss))

# %% 46 | the derivation of softmax with cross entropy | its result, beside a numeric derivative |
# [inside/lenet.md](inside/lenet.md)
z, y, h = np.array([0.5, -1.0, 2.0]), np.array([0.0, 1.0, 0.0]), 1e-6


def loss_at(z):
    return -np.sum(y * np.log(np.exp(z) / np.exp(z).sum()))


numeric = [(loss_at(z + h * e) - loss_at(z - h * e)) / (2.0 * h) for e in np.eye(3)]
gradient = nd.losses.LossMCXENT().compute_gradient(
    nd.create([y], dtype="float64"), nd.create([z], dtype="float64"), nd.activations.get_activation("softmax")
)
near(host(gradient)[0], numeric, 1e-8)

# %% 47 | `DenseLayer.backpropGradient` | `layer.backprop_gradient(x, epsilon)` | `tests/nn/layers/test_by_hand.py`
layer = lenet().get_layer("dense")
x, epsilon = np.ones((2, 64), np.float32), np.ones((2, 16), np.float32)
gradient, below = layer.backpropGradient(x, epsilon)
active = host(layer.pre_output(x)) > 0.0
near(gradient.get_gradient_for("W"), x.T @ active, 1e-5)
near(below, active @ host(layer.get_param("W")).T, 1e-5)

# %% 48 | `delta.sum(biasGrad, 0)` | the same | [inside/backprop.md](inside/backprop.md)
layer = lenet().get_layer("output")
gradient, _ = layer.backprop_gradient(np.ones((2, 16), np.float32), labels=np.eye(10, dtype=np.float32)[[3, 4]])
p = host(layer.activate(np.ones((2, 16), np.float32)))
near(gradient.get_gradient_for("b"), [(p - np.eye(10)[[3, 4]]).sum(0)], 1e-5)

# %% 49 | `hasBias()` | the same | [layers.md](layers.md)
assert lenet().get_layer("dense").hasBias()
assert list(two_layers(hidden=DenseLayer(n_in=3, n_out=2, has_bias=False)).param_table()) == ["0_W", "1_W", "1_b"]

# %% 50 | `weightNoiseParams.clear()`: backprop uses the noised weights | the same |
# `tests/nn/terms/test_weight_noise.py`
net = two_layers(
    hidden=DenseLayer(n_in=3, n_out=1, activation="identity", has_bias=False), weight_noise=dl4j.DropConnect(0.5)
)
x = nd.create([[1.0, 1.0, 1.0]], dtype="float64")
nd.random.set_seed(3)
_, below = net.get_layer(0).backprop_gradient(x, nd.ones(1, 1, dtype="float64"), training=True)
W = host(net.get_param("0_W")).ravel()
assert all(
    np.isclose(e, 0.0) or np.isclose(e, w) or np.isclose(e, 2.0 * w) for e, w in zip(host(below)[0], W, strict=True)
)

# %% 51 | `SubsamplingLayer.backpropGradient`: to the first maximum | the same | `tests/nn/layers/test_subsampling.py`
x, epsilon = nd.ones(1, 1, 2, 2), nd.create([[[[3.0]]]])
back = nd.exec(nd.ops.MaxPooling2DDerivative(x, epsilon, kernel=2))
assert back.tolist() == [[[[3.0, 0.0], [0.0, 0.0]]]]

# %% 52 | `IsMax(col2d, 1)` | the same in `nn.dl4j`; `dimension=1` |
# [inside/lenet.md](inside/lenet.md#im2col-ismax-and-col2im-on-4-by-4)
x = nd.create([[1.0, 5.0, 5.0], [4.0, 2.0, 3.0]])
assert nd.exec(dl4j.IsMax(x, 1)).tolist() == [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]

# %% 53 | `muliColumnVector(epsilon1d)` | `nd.muli` | `tests/nd/test_arithmetic.py`
x = nd.create([[1.0, 2.0], [3.0, 4.0]])
nd.muli(x, nd.create([[10.0], [0.0]]))
assert x.tolist() == [[10.0, 20.0], [0.0, 0.0]]

# %% 54 | `Convolution.col2im` | `nd.col2im` | [inside/lenet.md](inside/lenet.md#im2col-ismax-and-col2im-on-4-by-4)
counts = nd.col2im(nd.im2col(nd.ones(1, 1, 3, 3), (2, 2)), (3, 3))
assert counts.tolist() == [[[[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]]]]

# %% 55 | col6d, isMax, col2im one by one | the same ops by hand | [facade.md](facade.md#ops-exec-and-execrandom)
image, rows = pooled()
epsilon = np.array([0.1, 0.2, 0.3, 0.4])
marked = host(nd.exec(nd.ops.IsMax(nd.create(rows), dimension=1))) * epsilon[:, None]
back = host(nd.col2im(nd.create(marked.T.reshape(1, 1, 2, 2, 2, 2)), (4, 4), (2, 2)))[0, 0]
expected = np.zeros((4, 4))
expected[[1, 1, 3, 3], [0, 2, 1, 3]] = epsilon
near(back, expected)

# %% 56 | `ConvolutionLayer.backpropGradient`: dW, db, dX | `layer.backprop_gradient(x, epsilon)` |
# `tests/nn/layers/test_convolution.py`
net = one_filter()
net.set_param("0_W", FILTER)
epsilon = nd.ones(1, 1, 2, 2, dtype="float64")
gradient, below = net.get_layer(0).backprop_gradient(nd.create(IMAGE, dtype="float64"), epsilon)
near(gradient.get_gradient_for("W")[0, 0], [[8.0, 12.0], [20.0, 24.0]])  # sums of four pixels
assert host(gradient.get_gradient_for("b")).ravel().tolist() == [4.0]
near(below[0, 0], [[1.0, 1.0, 0.0], [1.0, 0.0, -1.0], [0.0, -1.0, -1.0]])

# %% 57 | im2col of the forward pass is used again | the same, inside the backend | [architecture.md](architecture.md)
heard = []
with nd.use_backend("array_api:numpy"), nd.eager():
    net = one_filter()
    nd.add_hook(heard.append)
    computed(net, IMAGE, [[1.0]])
    nd.remove_hook(heard.append)
assert [op.who for op in heard].count("Im2col") == 1

# %% 58 | `weightGradView2df`: the gradient goes straight into the vector | the same | `tests/nd/test_convolution.py`
net = computed(one_filter(), IMAGE, [[1.0]])
assert nd.may_share_memory(net.gradient().get_gradient_for("0_W"), net.flattened_gradients())
near(net.flattened_gradients()[0, 1:5], host(net.gradient().get_gradient_for("0_W")).ravel(), 0.0)

# %% 59 | `stepFunction.step(...)`, `model.setParams(...)` | `net.updater.update(...)` does both |
# [inside/loop.md](inside/loop.md)
net, data = lenet(), digits()
computed(net, data.features, data.labels)
expected = host(net.params()) - 0.01 * host(net.flattened_gradients()) / 8.0
net.fit(data)
near(net.params(), expected)

# %% 60 | score: L1, L2, `LossMCXENT.scoreArray` | the same: -log p of the label | `tests/nd/test_losses.py`
y, z = nd.create([[0.0, 1.0]]), nd.create([[1.0, 3.0]])
p = np.exp(3.0) / (np.exp(1.0) + np.exp(3.0))
score = nd.losses.LossMCXENT().compute_score_array(y, z, nd.activations.get_activation("softmax"))
near(score.ravel(), [-np.log(p)])

# %% 61 | `scoreExamples(data, addRegularization)` | the same | [evaluation.md](evaluation.md)
net, data = lenet(l2=0.1), digits()
scores = host(net.scoreExamples(data, False)).ravel()
labels = host(data.labels).astype(bool)
near(scores, -np.log(host(net.output(data.features))[labels]), 1e-4)

# %% 62 | `Transforms.log` | the same; `nd.log` | `tests/nn/dl4j/test_transforms.py`
near(dl4j.Transforms.log(nd.create([[1.0, np.e]])), [[0.0, 1.0]])
near(nd.log(nd.create([[1.0, np.e]])), [[0.0, 1.0]])

# %% 63 | figures with numbers: convolution, pooling, softmax | pictures and numbers of every layer; `net.trace` |
# [inside/lenet.md](inside/lenet.md#forward), [trace.md](trace.md)
trace = lenet().trace(digits())
assert trace.nodes["0"].activation.shape == (8, 3, 24, 24)
