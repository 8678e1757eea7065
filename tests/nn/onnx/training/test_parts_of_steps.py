"""Every updater, schedule, penalty, normalisation, activation and loss in a training step, in double precision."""

import numpy as np
import pytest

import nd
from nd.activations import ACTIVATIONS, get_activation
from nd.losses import LOSSES, LossFMeasure, LossMixtureDensity, get_loss
from nn import ComputationGraph, DenseLayer, InputType, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from nn.onnx import OnnxVertex
from nn.onnx.training import training_model
from optimize import Sgd, WeightDecay
from optimize.gradient_normalization import GRADIENT_NORMALIZATIONS
from optimize.schedules import SCHEDULES
from optimize.updaters import UPDATERS, get_updater
from tests.nn.onnx.training.steps import RuntimeTraining, compared

CLOSE = 1e-12
CLOSE_OF_ADAM = 1e-9  # whose updates are as large as the rate whatever the gradient
CLOSE_OF_ATTRIBUTES = 1e-6  # of operators, which ONNX has in single precision
WITH_ATTRIBUTES = {"elu", "hardsigmoid", "leakyrelu", "selu", "thresholdedrelu"}
EXAMPLES, FEATURES, CLASSES = 6, 4, 3
SETTINGS = {
    "cosine": ("iteration", 0.1, 4),
    "cycle": ("iteration", 0.1, 0.3, 6, 2, 0.5),
    "exponential": ("iteration", 0.1, 0.9),
    "fixed": (0.1,),
    "inverse": ("iteration", 0.1, 0.5, 0.75),
    "map": ("iteration", {0: 0.1, 2: 0.05, 5: 0.01}),
    "poly": ("iteration", 0.1, 2.0, 6),
    "ramp": (0.1, 4),
    "sigmoid": ("iteration", 0.1, -0.7, 3),
    "step": ("iteration", 0.1, 0.5, 2),
}
LOSS_LABELS = {
    "kl_divergence": "probabilities",
    "mean_absolute_percentage_error": "reals",
    "mean_squared_logarithmic_error": "positives",
    "poisson": "positives",
}
REFUSED_LOSSES = {
    "fmeasure": LossFMeasure(),
    "mixturedensity": LossMixtureDensity(mixtures=1, labels_width=1),
    "multilabel": "multilabel",
    "sparse_mcxent": "sparse_mcxent",
}


def labels_of(kind, rng, examples=EXAMPLES):
    if kind == "probabilities":
        return rng.dirichlet([2.0] * CLASSES, examples)
    if kind == "positives":
        return rng.uniform(0.2, 2.0, (examples, CLASSES))
    if kind == "reals":
        return rng.normal(0.0, 1.0, (examples, CLASSES)) + 3.0
    return np.eye(CLASSES)[rng.integers(0, CLASSES, examples)]


def batches(steps=8, kind="classes"):
    rng = np.random.default_rng(5)
    for _ in range(steps):
        yield rng.normal(0.0, 1.0, (EXAMPLES, FEATURES)), labels_of(kind, rng)


def made(activation="tanh", loss="mcxent", of_output="softmax", **settings):
    layers = (
        DenseLayer(n_in=FEATURES, n_out=5, activation=activation),
        OutputLayer(n_out=CLASSES, loss=loss, activation=of_output),
    )
    settings = {"updater": "sgd", "dtype": "float64", "seed": 4, "validate_output_layer_config": False, **settings}
    return MultiLayerNetwork(NeuralNetConfiguration(**settings).list(*layers)).init()


@pytest.mark.parametrize("name", UPDATERS)
def test_updater(name):
    assert max(compared(made(updater=get_updater(name), l2=0.01), batches())) < CLOSE


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedule(name):
    schedule = SCHEDULES[name](*SETTINGS[name])
    assert max(compared(made(updater=UPDATERS["sgd"](learning_rate=schedule)), batches())) < CLOSE
    assert max(compared(made(updater=UPDATERS["nadam"](learning_rate=schedule)), batches())) < CLOSE_OF_ADAM


def test_schedule_of_epochs():
    """The epoch is an input then, which begins as the network's own."""
    schedule = SCHEDULES["step"]("epoch", 0.1, 0.5, 1)
    net = made(updater=UPDATERS["nesterovs"](learning_rate=schedule))
    net.fit(*next(batches()), epochs=2)
    model = training_model(net)
    other = RuntimeTraining(model)
    x, y = next(batches())
    assert other.step(x, y)["score"] == pytest.approx(net.score((x, y)), rel=1e-12)
    net.fit_batch(x, y)
    assert np.abs(nd.to_host(net.get_param("0_W")) - other.state["0_W"]).max() < CLOSE
    assert "epoch" in [given.name for given in model.graph.input]


@pytest.mark.parametrize("name", GRADIENT_NORMALIZATIONS)
def test_gradient_normalization(name):
    settings = {"gradient_normalization": name, "gradient_normalization_threshold": 0.05}
    assert max(compared(made(**settings), batches())) < CLOSE


@pytest.mark.parametrize(
    "settings",
    [
        {"l1": 0.01, "l2": 0.02},
        {"l2": SCHEDULES["step"]("iteration", 0.1, 0.5, 2), "l1_bias": 0.01, "l2_bias": 0.03},
        {"weight_decay": 0.1, "updater": "adam"},
        {"weight_decay": WeightDecay(0.1, apply_lr=False), "weight_decay_bias": 0.01},
        {"mini_batch": False},
    ],
    ids=["l1-l2", "schedule-biases", "weight_decay", "weight_decay-without-rate", "sums"],
)
def test_penalties(settings):
    assert max(compared(made(**settings), batches())) < CLOSE


@pytest.mark.parametrize("name", sorted(set(ACTIVATIONS) - {"rrelu"}))
def test_activation(name):
    """Within a network and before a loss; x to the ninth would grow beyond all numbers."""
    of_output = get_activation("tanh" if name == "cube" else name)
    net = made(activation=get_activation(name), of_output=of_output, loss="mse", updater=Sgd(1e-4))
    assert max(compared(net, batches())) < (CLOSE_OF_ATTRIBUTES if name in WITH_ATTRIBUTES else CLOSE)


@pytest.mark.parametrize("op", ["Erf", "Gelu"])
def test_the_error_function(op):
    """As the exact form of gelu has it that PyTorch exports."""
    nodes = {
        "dense": (DenseLayer(n_in=FEATURES, n_out=5, activation="identity"), "x"),
        "vertex": (OnnxVertex(op), "dense"),
        "out": (OutputLayer(n_in=5, n_out=CLASSES, activation="softmax"), "vertex"),
    }
    conf = NeuralNetConfiguration(seed=4, updater=Sgd(0.1)).graph({"x": InputType.feed_forward(FEATURES)}, nodes, "out")
    given = [(x.astype(np.float32), y.astype(np.float32)) for x, y in batches()]
    assert max(compared(ComputationGraph(conf).init(), given)) < CLOSE_OF_ATTRIBUTES


@pytest.mark.parametrize("name", sorted(LOSSES.keys() - REFUSED_LOSSES.keys()))
def test_loss(name):
    for of_output in ("sigmoid", "softmax"):
        net = made(loss=get_loss(name), of_output=of_output)
        assert max(compared(net, batches(kind=LOSS_LABELS.get(name, "classes")))) < CLOSE


@pytest.mark.parametrize("name", ["xent", "mcxent", "mse"])
def test_weighted_loss(name):
    for of_output in ("sigmoid", "softmax"):
        net = made(loss=LOSSES[name](weights=(0.5, 2.0, 1.5)), of_output=of_output)
        assert max(compared(net, batches())) < CLOSE


@pytest.mark.parametrize("name", REFUSED_LOSSES)
def test_refused_loss(name):
    output = OutputLayer(n_in=3, n_out=2 if name == "fmeasure" else 3, loss=REFUSED_LOSSES[name])
    net = MultiLayerNetwork(NeuralNetConfiguration(seed=1, validate_output_layer_config=False).list(output)).init()
    with pytest.raises(nd.ConfigurationError, match="has no form as operators here"):
        training_model(net)
