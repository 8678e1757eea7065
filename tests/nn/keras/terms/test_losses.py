"""Losses of Keras against formulas in float64, and numeric gradients."""

import subprocess
import sys

import numpy as np
import pytest

import nd
from nd import ChoiceError
from nd.activations import Identity, Sigmoid, Softmax, SoftPlus, Tanh
from nd.losses import LossBinaryXENT, LossMAE, LossMCXENT, LossMSE, LossSparseMCXENT
from nn import MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from nn.conf.parts import OF_KERAS
from nn.keras.terms.loss_functions import KerasLoss, KerasSparseLoss
from nn.keras.terms.losses import keras_of, loss_of
from nn.keras.terms.own_parts import KERAS_PARTS

RNG = np.random.default_rng(5)
Z = RNG.normal(size=(6, 3))
ONE_HOT = np.eye(3)[RNG.integers(0, 3, 6)]
REAL = abs(RNG.normal(size=(6, 3)))
SMALL = 1e-7


def of(name, **config):
    return {"module": "keras.losses", "class_name": name, "config": {"reduction": "sum_over_batch_size", **config}}


def xent(y, p):
    return -(y * np.log(p / p.sum(-1, keepdims=True))).sum(-1)


def binary(y, p):
    return -(y * np.log(p) + (1 - y) * np.log(1 - p)).mean(-1)


def softmax(z):
    return np.exp(z) / np.exp(z).sum(-1, keepdims=True)


def huber(y, p, delta):
    away = abs(p - y)
    return np.where(away <= delta, away**2 / 2, delta * away - delta**2 / 2).mean(-1)


def unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


CASES = [
    ("mse", Identity(), REAL, lambda y, p: ((y - p) ** 2).mean(-1)),
    ("mae", Identity(), REAL, lambda y, p: abs(y - p).mean(-1)),
    ("mape", Identity(), REAL, lambda y, p: 100 * abs((y - p) / y).mean(-1)),
    ("msle", SoftPlus(), REAL, lambda y, p: (np.log((1 + p) / (1 + y)) ** 2).mean(-1)),
    ("categorical_crossentropy", Softmax(), ONE_HOT, xent),
    ("categorical_crossentropy", Sigmoid(), ONE_HOT, xent),
    (of("CategoricalCrossentropy", from_logits=True), Identity(), ONE_HOT, lambda y, p: xent(y, softmax(p))),
    (of("CategoricalCrossentropy", label_smoothing=0.3), Softmax(), ONE_HOT, lambda y, p: xent(0.7 * y + 0.1, p)),
    ("binary_crossentropy", Sigmoid(), ONE_HOT, binary),
    ("binary_crossentropy", Softmax(), ONE_HOT, binary),
    (of("BinaryCrossentropy", from_logits=True), Identity(), ONE_HOT, lambda y, p: binary(y, sigmoid(p))),
    (of("BinaryCrossentropy", label_smoothing=0.2), Sigmoid(), ONE_HOT, lambda y, p: binary(0.8 * y + 0.1, p)),
    ("kl_divergence", Softmax(), softmax(REAL), lambda y, p: (y * np.log(y / p)).sum(-1)),
    ("poisson", SoftPlus(), REAL, lambda y, p: (p - y * np.log(p + SMALL)).mean(-1)),
    ("hinge", Tanh(), ONE_HOT, lambda y, p: np.maximum(1 - (2 * y - 1) * p, 0).mean(-1)),
    ("hinge", Identity(), 2 * ONE_HOT - 1, lambda y, p: np.maximum(1 - y * p, 0).mean(-1)),
    ("squared_hinge", Identity(), ONE_HOT, lambda y, p: (np.maximum(1 - (2 * y - 1) * p, 0) ** 2).mean(-1)),
    ("categorical_hinge", Softmax(), ONE_HOT,
     lambda y, p: np.maximum(((1 - y) * p).max(-1) - (y * p).sum(-1) + 1, 0)),
    ("cosine_similarity", Tanh(), REAL, lambda y, p: -(unit(y) * unit(p)).sum(-1)),
    ("logcosh", Identity(), REAL, lambda y, p: np.log(np.cosh(p - y)).mean(-1)),
    (of("Huber", delta=0.7), Identity(), REAL, lambda y, p: huber(y, p, 0.7)),
]  # fmt: skip


@pytest.mark.parametrize(("given", "activation", "y", "formula"), CASES)
def test_scores_and_gradients_are_those_of_keras(given, activation, y, formula):
    loss, warning = loss_of(given, activation, 3)
    assert not warning
    score, gradient = loss.compute_gradient_and_score(nd.create(y), nd.create(Z), activation)

    def expected(z):
        return formula(y, nd.to_host(activation.value(nd.create(z)))).mean()

    assert score == pytest.approx(expected(Z), rel=1e-9)
    numeric = np.zeros_like(Z)
    for at in np.ndindex(Z.shape):
        shift = np.zeros_like(Z)
        shift[at] = 1e-6
        numeric[at] = (expected(Z + shift) - expected(Z - shift)) / 2e-6
    np.testing.assert_allclose(nd.to_host(gradient) / len(Z), numeric, rtol=1e-6, atol=1e-8)


def test_classes_by_their_numbers():
    numbers, y = nd.create(ONE_HOT.argmax(-1)[:, None].astype(float)), nd.create(ONE_HOT)
    for settings in ({"from_logits": True}, {}):
        sparse = loss_of(of("SparseCategoricalCrossentropy", **settings), Tanh(), 3).loss
        whole = loss_of(of("CategoricalCrossentropy", **settings), Tanh(), 3).loss
        assert isinstance(sparse, KerasSparseLoss)
        assert sparse.compute_score(numbers, nd.create(Z), Tanh()) == whole.compute_score(y, nd.create(Z), Tanh())


def test_deeplearning4js_classes_where_they_are_the_same():
    assert loss_of("mse", Identity(), 3).loss == LossMSE()
    assert loss_of("MAE", Identity(), 3, 4).loss == LossMAE((0.25,) * 3)
    assert loss_of("binary_crossentropy", Sigmoid(), 1).loss == LossBinaryXENT(clip_eps=SMALL)
    assert loss_of("categorical_crossentropy", Softmax(), 3).loss == LossMCXENT(softmax_clip_eps=SMALL)
    assert isinstance(loss_of("sparse_categorical_crossentropy", Softmax(), 3).loss, LossSparseMCXENT)


@pytest.mark.parametrize(("given", "places", "why"), [
    (of("MeanSquaredError", reduction="sum"), 1, "reduction='sum' of loss 'mean_squared_error'"),
    ("mse", None, "adds up the places of an example"),
    ("ctc", 1, "loss 'ctc'"),
    (of("CategoricalCrossentropy", axis=1), 1, "axis=1 of loss"),
    (of("SparseCategoricalCrossentropy", ignore_class=0), 1, "ignore_class=0 of loss"),
    (of("BinaryCrossentropy", label_smoothing="much"), 1, "loss {"),
    (None, 1, "loss 'none'"),
])  # fmt: skip
def test_what_differs_is_said(given, places, why):
    assert why in loss_of(given, Identity(), 3, places).warning


@pytest.mark.parametrize(("loss", "activation"), [
    (KerasLoss("huber", delta=0.5), Identity()),
    (KerasLoss("categorical_crossentropy", from_logits=True), Identity()),
    (KerasLoss("kl_divergence"), Softmax()),
    (KerasSparseLoss(from_logits=True), Identity()),
    (LossMSE(), Identity()),
    (LossMCXENT(softmax_clip_eps=SMALL), Softmax()),
])  # fmt: skip
def test_the_way_back(loss, activation):
    assert loss_of(keras_of(loss, activation), activation, 3).loss == loss


def test_an_unknown_loss_is_refused():
    with pytest.raises(ChoiceError, match="KerasLoss: unknown loss 'hubert'"):
        KerasLoss("hubert")


@pytest.mark.slow
def test_a_file_with_one_is_read_by_a_program_that_has_not_imported_it(tmp_path):
    conf = NeuralNetConfiguration().list(OutputLayer(n_in=3, n_out=2, activation="identity", loss=KerasLoss("huber")))
    MultiLayerNetwork(conf).init().save(tmp_path / "net.zip")
    code = "import sys, nn; print(nn.load(sys.argv[1]).conf.layers[0].loss.name)"
    found = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "net.zip"], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "huber"


def test_files_know_the_names_of_all_parts():
    assert {part.__name__ for part in KERAS_PARTS} == OF_KERAS
