"""Article 0: a step through the network, and dropout in its layers."""

import numpy as np

import nd
import nn.dl4j as dl4j
from nn import (
    LSTM,
    CnnToFeedForwardPreProcessor,
    DenseLayer,
    Dropout,
    LossLayer,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    RnnOutputLayer,
)
from optimize import Sgd
from tests.cases.articles.fixtures import (
    X,
    Y,
    by_hand,
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

# %% 76 | `updateGradientAccordingToParams(...)`: updater, L1, L2, division by the batch | `net.updater.update(result,
# iteration, epoch)` | [inside/loop.md](inside/loop.md#one-step-looked-at)
net = two_layers(l1=0.01, l2=0.1)
W = host(net.get_param("0_W"))
result = net.compute_gradient_and_score(net.step_input((X, Y)))
gradient = by_hand(net)["0_W"] / 2.0 + 0.1 * W + 0.01 * np.sign(W)
net.updater.update(result, 0, 0)
near(net.get_param("0_W"), W - 0.1 * gradient)

# %% 77 | `model.computeGradientAndScore()` | the same |
# [inside/backprop.md](inside/backprop.md#what-the-network-computes)
net = two_layers()
arrays = by_hand(computed(net))
near(net.score(), np.mean((arrays["z1"] - Y) ** 2))
near(net.gradient().get_gradient_for("0_W"), arrays["0_W"])

# %% 78 | the branch for truncated BPTT: `rnnActivateUsingStoredState`, `truncatedBPTTGradient` | the first is the
# same; the second is part of a step of `doTruncatedBPTT` | `tests/nn/step/test_truncated_backprop.py`
layers = LSTM(n_in=2, n_out=3), RnnOutputLayer(n_out=1, loss="mse", activation="identity")
truncated = {"backprop_type": "truncated_bptt", "tbptt_fwd_length": 2, "tbptt_back_length": 2}
net = MultiLayerNetwork(NeuralNetConfiguration(seed=1, updater=Sgd(0.1)).list(*layers, **truncated)).init()
x = np.linspace(-1.0, 1.0, 16).reshape(2, 2, 4)
whole = host(net.output(x))
net.rnn_time_step(x[:, :, :2])
near(net.rnnActivateUsingStoredState(x[:, :, 2:], False, False)[-1], whole[:, :, 2:], 1e-5)
assert len(heard_by(net, x, np.ones((2, 1, 4))).heard["on_forward_pass"]) == 2

# %% 79 | `feedForwardToLayer(n, train)`, whose first array is the input | the same |
# [inside/backprop.md](inside/backprop.md#forward)
net = two_layers()
activations = net.feed_forward_to_layer(0, X)
near(activations[0], X)
near(activations[1], by_hand(net)["a0"])

# %% 80 | the forward pass stops below the output layer | it goes through to the end, once; listeners get all
# activations | [java.md](java.md#what-differs-and-why)
[(_, shapes)] = heard_by(small(), line()).heard["on_forward_pass"]
assert shapes == [(4, 1), (4, 2), (4, 1)]

# %% 81 | `onForwardPass(model, activations)` | the same, with the output's activations |
# [inside/fit.md](inside/fit.md#the-loop)
[(model, shapes)] = heard_by(small(), line()).heard["on_forward_pass"]
assert model.num_params() == 7
assert shapes[0] == (4, 1)

# %% 82 | `getInputPreProcess(i).preProcess(x, miniBatch)` | the network calls `pre_process(x, examples)` |
# `tests/nn/dl4j/test_preprocessors.py`
rows = CnnToFeedForwardPreProcessor(2, 2, 3).pre_process(nd.create(np.arange(24.0).reshape(2, 3, 2, 2)), 2)
assert rows.shape == (2, 12)
assert isinstance(lenet().conf.getInputPreProcess(4), CnnToFeedForwardPreProcessor)

# %% 83 | `getOutputLayer().setInput(x)`: layers that remember their input | layers keep nothing between calls: the
# input is an argument | [java.md](java.md#names-in-articles-about-the-source)
net = two_layers()
arrays = by_hand(net)
near(net.get_output_layer().activate(arrays["a0"]), arrays["z1"])
assert not hasattr(net.get_output_layer(), "set_input")

# %% 84 | `backprop()` | part of `compute_gradient_and_score` | [inside/backprop.md](inside/backprop.md)
net = computed(two_layers())
for key in ("0_W", "0_b", "1_W", "1_b"):
    near(net.gradient().get_gradient_for(key).ravel(), by_hand(net)[key].ravel())

# %% 85 | `getOutputLayer() instanceof IOutputLayer`, else an exception | an error that names the layer |
# `tests/nn/test_bad_input.py`
net = MultiLayerNetwork(NeuralNetConfiguration(seed=1).list(DenseLayer(n_in=3, n_out=2, name="last"))).init()
with refused(nd.ConfigurationError, "last"):
    net.fit(X, np.ones((2, 2)))

# %% 86 | `computeScore(calcL1(true), calcL2(true), true)` | the score has both penalties | [updaters.md](updaters.md)
net = two_layers(l1=0.01, l2=0.1)
W0, W1 = host(net.get_param("0_W")), host(net.get_param("1_W"))
penalty = sum(0.01 * np.abs(W).sum() + 0.5 * 0.1 * (W**2).sum() for W in (W0, W1))
near(computed(net).score(), np.mean((by_hand(net)["z1"] - Y) ** 2) + penalty)

# %% 87 | `calcL1`, `calcL2` of network and layer | the same | `tests/nn/dl4j/test_article_names.py`
net = two_layers(l1=0.01, l2=0.1)
W0, W1 = host(net.get_param("0_W")), host(net.get_param("1_W"))
near(net.layers[0].calcL1(), 0.01 * np.abs(W0).sum())
near(net.calc_l2(), 0.05 * ((W0**2).sum() + (W1**2).sum()))

# %% 88 | `onBackwardPass(model)` | the same | [inside/fit.md](inside/fit.md#the-loop)
names = heard_by(small(), line()).names
assert names.index("on_forward_pass") + 1 == names.index("on_backward_pass")

# %% 89 | `activationFromPrevLayer(i, x, train)` | `activation_from_prev_layer` | `tests/nn/networks/test_inside.py`
net = two_layers()
near(net.activation_from_prev_layer(1, by_hand(net)["a0"], False), by_hand(net)["z1"])

# %% 90 | `Layer.activate(input, training)` | the same; the caller's array is left alone |
# `tests/nn/layers/test_by_hand.py`
net, x = two_layers(), X.copy()
near(net.get_layer(0).activate(x, False), by_hand(net)["a0"])
assert (x == X).all()

# %% 91 | `preOutput(training)` | `pre_output(x, training)` | `tests/nn/layers/test_by_hand.py`
net = two_layers()
near(net.get_layer(0).preOutput(X), by_hand(net)["z0"])

# %% 92 | `getActivationFn().getActivation(z, training)` | `layer.activation.value(z)` |
# `tests/nd/test_activations.py`
layer = two_layers().get_layer(0)
near(layer.conf.activation.value(nd.create([[0.0, 1.0]], dtype="float64")), [[0.0, np.tanh(1.0)]])

# %% 93 | `ret.muliColumnVector(maskArray)` in `activate` | the same: masked rows are 0 |
# `tests/nn/networks/test_masks.py`
mask = nd.create([[1.0], [0.0]], dtype="float64")
a = host(two_layers().get_layer(0).activate(X, False, mask))
assert a[0].all()
assert not a[1].any()

# %% 94 | `applyMask(ret)` in `preOutput` as well | the activation is masked: the same result |
# `tests/nn/networks/test_masks.py`
layer = two_layers(hidden=DenseLayer(n_in=3, n_out=2, activation="sigmoid")).get_layer(0)
a = host(layer.activate(X, False, nd.create([[1.0], [0.0]], dtype="float64")))
near(a[1], [0.0, 0.0])  # and not sigmoid(0)

# %% 95 | `applyDropOutIfNecessary`: only in training, only with a probability | the same | [updaters.md](updaters.md)
net = two_layers(hidden=DenseLayer(n_in=3, n_out=2, activation="identity", drop_out=0.5))
near(net.output(X), net.output(X))
drawn = [host(net.feed_forward_to_layer(0, X, train=True)[1]) for _ in range(8)]
assert len({a.tobytes() for a in drawn}) > 1

# %% 96 | `input.dup()` before dropout | the same: the user's array stays
net, x = two_layers(hidden=DenseLayer(n_in=3, n_out=2, drop_out=0.5, activation="tanh")), X.copy()
net.fit(x, Y)
assert (x == X).all()

# %% 97 | `dropoutApplied` | not here: layers keep no input that could be dropped twice

# %% 98 | `getParam(BIAS_KEY)`, `getParam(WEIGHT_KEY)` | the same | `tests/nn/networks/test_inside.py`
net = two_layers()
near(net.get_layer(0).getParam("W"), net.get_param("0_W"))
near(net.get_param("0_b"), np.zeros((1, 2)))

# %% 99 | checks of the input: rank 2, nIn columns | an error with layer and shape |
# `tests/nn/networks/test_features_that_do_not_fit.py`
with refused(nd.ShapeError, "[N, 3]"):
    two_layers().output(np.ones((2, 4)))
with refused(dl4j.DL4JInvalidInputException, "[N, 3]"):
    two_layers().output(np.ones((2, 3, 1)))

# %% 100 | `conf.useDropConnect`, `Dropout.applyDropConnect` | the same: `DropConnect(p)` |
# [java.md](java.md#the-builders-of-09)
builder = dl4j.NeuralNetConfiguration.Builder().seed(1).useDropConnect(True).dropOut(0.5).list()
conf = builder.layer(DenseLayer(n_in=3, n_out=2)).layer(LossLayer(loss="mse", activation="identity")).build()
assert conf.layers[0].weight_noise == dl4j.DropConnect(0.5)

# %% 101 | `input.mmul(W).addiRowVector(b)` | the same | [inside/backprop.md](inside/backprop.md#forward)
net = two_layers()
net.set_param("0_b", [[1.0, -1.0]])
near(net.get_layer(0).pre_output(X), X @ host(net.get_param("0_W")) + [[1.0, -1.0]])

# %% 102 | `Dropout.applyDropout(input, p)` | `nn.Dropout(p)`: what stays is divided by p | [updaters.md](updaters.md)
net = two_layers(hidden=DenseLayer(n_in=3, n_out=2, activation="identity", drop_out=Dropout(0.5)))
net.set_param("0_W", [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
a = host(net.feed_forward_to_layer(0, X, train=True)[1])
assert all(value in (0.0, 2.0 * x) for value, x in zip(a.ravel(), X[:, :2].ravel(), strict=True))

# %% 103 | `getRandom().getStatePointer() != null` chooses one of two ops | the pointer is there; both ops too |
# `tests/nn/dl4j/test_article_names.py`
assert dl4j.Nd4j.getRandom().getStatePointer() is not None
assert {"DropOutInverted", "LegacyDropOutInverted"} <= set(dir(nd.ops))
