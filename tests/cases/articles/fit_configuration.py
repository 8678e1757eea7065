"""Article 0: the network and its configuration."""

import numpy as np

import nd
import nn.dl4j as dl4j
from examples.regression import articles_network
from nn import (
    Activation,
    DenseLayer,
    LossFunction,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OptimizationAlgorithm,
    OutputLayer,
    Updater,
    WeightInit,
)
from optimize import LBFGS, ConjugateGradient, LineGradientDescent, Nesterovs, Sgd, StochasticGradientDescent
from tests.cases.articles.fixtures import X1, Y1, builder, heard_by, host, near, refused, small

# %% 1 | `MultiLayerNetwork` | the same | [inside/fit.md](inside/fit.md)
net = MultiLayerNetwork(small().conf)
assert not net.is_init_called()
assert net.init().num_params() == 1 * 2 + 2 + 2 * 1 + 1

# %% 2 | `new NeuralNetConfiguration.Builder()` | the same | [java.md](java.md#port-a-program)
assert builder().build() == NeuralNetConfiguration(seed=12345, updater=Sgd(0.01), weight_init=WeightInit.XAVIER)

# %% 3 | `.seed(12345)` | the same | `tests/nn/conf/test_builder.py`
assert (small(seed=5).params() == small(seed=5).params()).all()
assert (small(seed=5).params() != small(seed=6).params()).any()

# %% 4 | `.iterations(n)` | the same: steps per minibatch | [java.md](java.md#the-builders-of-09)
net = small(iterations=3)
heard = heard_by(net, X1, Y1).heard["iteration_done"]
assert [iteration for _, iteration, _ in heard] == [0, 1, 2]

# %% 5 | `.optimizationAlgo(...)` | the same | [training.md](training.md)
net = small(optimizationAlgo=OptimizationAlgorithm.LBFGS)
net.fit(X1, Y1)
assert isinstance(net.get_optimizer(), LBFGS)

# %% 6 | `OptimizationAlgorithm`, four values | the same | `tests/optimize/test_solver.py`
kinds = {
    OptimizationAlgorithm.STOCHASTIC_GRADIENT_DESCENT: StochasticGradientDescent,
    OptimizationAlgorithm.LINE_GRADIENT_DESCENT: LineGradientDescent,
    OptimizationAlgorithm.CONJUGATE_GRADIENT: ConjugateGradient,
    OptimizationAlgorithm.LBFGS: LBFGS,
}
assert set(kinds) == set(OptimizationAlgorithm)
for algorithm, kind in kinds.items():
    net = small(optimizationAlgo=algorithm)
    net.fit(X1, Y1)
    assert type(net.get_optimizer()) is kind

# %% 7 | `.learningRate(x)` | the same: the updater's rate | [java.md](java.md#the-builders-of-09)
assert small(learningRate=0.25).get_learning_rate(0) == 0.25

# %% 8 | `.weightInit(WeightInit.XAVIER)` | the same: normal, variance 2 / (nIn + nOut) |
# `tests/nn/conf/test_weight_inits.py`
layers = DenseLayer(n_in=100, n_out=300), OutputLayer(n_out=2, loss="mse", activation="identity")
net = MultiLayerNetwork(NeuralNetConfiguration(seed=1, weight_init=WeightInit.XAVIER).list(*layers)).init()
near(host(net.get_param("0_W")).std(), np.sqrt(2.0 / 400.0), 0.02)
assert not host(net.get_param("0_b")).any()

# %% 9 | `.updater(Updater.SGD)` | the same | [updaters.md](updaters.md)
assert small(updater=Updater.SGD).conf.base.updater == Sgd(0.01)

# %% 10 | `.updater(new Nesterovs(0.9))`: the momentum | the same in `nn.dl4j`; elsewhere a number without a name is
# refused | `tests/nn/dl4j/test_constructors.py`
assert dl4j.Nesterovs(0.9).momentum == 0.9
with refused(nd.ConfigurationError, "which is the momentum in Java"):
    Nesterovs(0.9)

# %% 11 | `.learningRate(r)` beside `.updater(new Nesterovs(m))` | the same: the rate goes into the updater |
# [java.md](java.md#the-builders-of-09)
net = small(updater=dl4j.Nesterovs(0.8), learningRate=0.02)
assert net.conf.base.updater == Nesterovs(learning_rate=0.02, momentum=0.8)

# %% 12 | `.list()` | the same | [java.md](java.md#port-a-program)
layers = [DenseLayer(n_in=1, n_out=2), OutputLayer(n_out=1, loss="mse", activation="identity")]
by_calls = builder().list()
for number, layer in enumerate(layers):
    by_calls = by_calls.layer(number, layer)
assert by_calls.build() == builder().build().list(*layers)

# %% 13 | `.layer(i, layer)`, `.layer(layer)` | the same | `tests/nn/conf/test_builder.py`
layers = DenseLayer(n_in=1, n_out=2), OutputLayer(n_out=1, loss="mse", activation="identity")
numbered = builder().list().layer(0, layers[0]).layer(1, layers[1]).build()
assert numbered == builder().list().layer(layers[0]).layer(layers[1]).build()

# %% 14 | `DenseLayer.Builder().nIn().nOut().activation().dropOut().build()` | the same |
# [java.md](java.md#port-a-program)
layer = DenseLayer.Builder().nIn(1).nOut(2).activation(Activation.RELU).dropOut(0.5).build()
assert layer == DenseLayer(n_in=1, n_out=2, activation="relu", drop_out=0.5)

# %% 15 | `LossFunctions.LossFunction.MSE` | the same in `nn.dl4j`; `nn.LossFunction.MSE` |
# `tests/nn/dl4j/test_names.py`
assert dl4j.LossFunctions.LossFunction.MSE is LossFunction.MSE
layer = OutputLayer.Builder(dl4j.LossFunctions.LossFunction.MSE).nIn(2).nOut(1).build()
assert layer == OutputLayer(n_in=2, n_out=1, loss="mse")

# %% 16 | `Activation.RELU`, `Activation.IDENTITY` | the same | `tests/nd/test_activations.py`
z = nd.create([[-1.0, 2.0]])
assert nd.activations.get_activation(Activation.RELU).value(z).tolist() == [[0.0, 2.0]]
assert nd.activations.get_activation(Activation.IDENTITY).value(z).tolist() == [[-1.0, 2.0]]

# %% 17 | `.pretrain(false).backprop(true)` | the same, with all values | [pretraining.md](pretraining.md)
conf = builder().list().layer(dl4j.RBM(n_in=4, n_out=2)).pretrain(True).backprop(False).build()
assert (conf.is_pretrain(), conf.is_backprop()) == (True, False)
assert (small().conf.is_pretrain(), small().conf.is_backprop()) == (False, True)

# %% 18 | the article's network as printed: `nIn(1)` after `nOut(2)` | an error that names the layer; the example has
# `nIn(2)` | [java.md](java.md#what-differs-and-why)
hidden = DenseLayer.Builder().nIn(1).nOut(2).activation(Activation.RELU).build()
last = OutputLayer.Builder(LossFunction.MSE).activation(Activation.IDENTITY).nIn(1).nOut(1).build()
with refused(nd.ConfigurationError, "n_in must be 2"):
    builder().list().layer(0, hidden).layer(1, last).build()

# %% 19 | the article's network as a program | `examples/regression.py` | `tests/test_public_interface.py`
net = MultiLayerNetwork(articles_network(12345, 0.1, 1.0)).init()
net.fit(X1, Y1, epochs=300)
assert net.score() < 1e-4
