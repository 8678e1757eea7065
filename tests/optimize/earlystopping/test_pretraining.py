"""Early stopping of pretraining, and its scores, by formulas in float64."""

import numpy as np
import pytest

import nd
from nd.dataset import DataSet, ListDataSetIterator
from nn import AutoEncoder, DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer, VariationalAutoencoder
from optimize import Adam
from optimize.earlystopping import (
    AutoencoderScoreCalculator,
    EarlyStoppingConfiguration,
    EarlyStoppingTrainer,
    MaxEpochsTerminationCondition,
    MaxScoreIterationTerminationCondition,
    TerminationReason,
    VAEReconErrorScoreCalculator,
    VAEReconProbScoreCalculator,
)

RNG = np.random.default_rng(8)
X = RNG.uniform(size=(9, 4))
Y = np.eye(2)[np.arange(9) % 2]


def network(layer, **settings):
    conf = NeuralNetConfiguration(seed=6, dtype="float64", updater=Adam(0.05), **settings)
    return MultiLayerNetwork(conf.list(layer, OutputLayer(n_out=2, activation="softmax"))).init()


def autoencoder(**settings):
    return network(AutoEncoder(n_in=4, n_out=3, activation="tanh", corruption_level=0.4), **settings)


def variational():
    sizes = {"encoder_layer_sizes": 5, "decoder_layer_sizes": 5, "activation": "tanh"}
    return network(VariationalAutoencoder(n_in=4, n_out=2, **sizes))


def batches(size=4):
    return ListDataSetIterator(DataSet(X, Y), size)


def host(array):
    return np.array(nd.to_host(array), np.float64)


def params(net):
    return {name: host(array) for name, array in net.get_layer(0).param_table().items()}


def test_the_error_of_an_autoencoder():
    net = autoencoder()
    p = params(net)
    restored = np.tanh(np.tanh(X @ p["W"] + p["b"]) @ p["W"].T + p["vb"])
    for metric, expected in (("mse", ((X - restored) ** 2).mean()), ("mae", np.abs(X - restored).mean())):
        calculator = AutoencoderScoreCalculator(metric, batches())
        assert calculator.minimize_score
        assert calculator.calculate_score(net) == pytest.approx(expected, rel=1e-6)
    assert not AutoencoderScoreCalculator("r2", batches()).minimize_score


def decoded(p, z):
    return np.tanh(np.tanh(z @ p["d0W"] + p["d0b"]) @ p["pXZW"] + p["pXZb"])  # Gaussian with tanh


def test_the_error_of_a_variational_autoencoder():
    net = variational()
    p = params(net)
    z = np.tanh(X @ p["e0W"] + p["e0b"]) @ p["pZXMeanW"] + p["pZXMeanb"]
    expected = ((X - decoded(p, z)[:, :4]) ** 2).mean()
    assert VAEReconErrorScoreCalculator("mse", batches()).calculate_score(net) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("average", [True, False])
def test_the_probability_of_the_data(average):
    """The variance of z is made so small that what is drawn does not matter."""
    net = variational()
    net.set_param("0_pZXLogStd2W", np.zeros((5, 2)))
    net.set_param("0_pZXLogStd2b", np.full((1, 2), -80.0))
    p = params(net)
    z = np.tanh(X @ p["e0W"] + p["e0b"]) @ p["pZXMeanW"] + p["pZXMeanb"]
    mean, log_variance = np.split(decoded(p, z), 2, axis=1)
    logs = -0.5 * (np.log(2.0 * np.pi) + log_variance + (X - mean) ** 2 / np.exp(log_variance)).sum(1)
    for is_log, values in ((True, logs), (False, np.exp(logs))):
        calculator = VAEReconProbScoreCalculator(batches(), 3, is_log, average)
        expected = values.mean() if average else values.sum()
        assert calculator.calculate_score(net) == pytest.approx(expected, rel=1e-6)
        assert not calculator.minimize_score


def test_another_first_layer_is_refused():
    dense = network(DenseLayer(n_in=4, n_out=3))
    for calculator, kind in (
        (AutoencoderScoreCalculator("mse", batches()), "AutoEncoder"),
        (VAEReconErrorScoreCalculator("mse", batches()), "VariationalAutoencoder"),
        (VAEReconProbScoreCalculator(batches(), 1, True), "VariationalAutoencoder"),
    ):
        with pytest.raises(nd.ConfigurationError, match=f"the first layer must be of {kind}, got DenseLayer"):
            calculator.calculate_score(dense)
    with pytest.raises(nd.DataError, match="at least one minibatch"):
        AutoencoderScoreCalculator("mse", []).calculate_score(autoencoder())


def test_a_layer_is_pretrained_until_the_epochs_are_over():
    net, by_hand = autoencoder(pretrain=True), autoencoder(pretrain=True)
    calculator = AutoencoderScoreCalculator("mse", DataSet(X, Y))
    conf = EarlyStoppingConfiguration(
        epoch_termination_conditions=[MaxEpochsTerminationCondition(3)], score_calculator=calculator
    )
    result = EarlyStoppingTrainer(conf, net, batches()).pretrain()
    expected = []
    for _ in range(3):
        by_hand.pretrain_layer(0, batches())
        expected.append(calculator.calculate_score(by_hand))
    assert result.termination_reason is TerminationReason.EPOCH_TERMINATION
    assert list(result.score_vs_epoch.values()) == expected
    assert result.best_model_score == min(expected)
    assert (host(net.params()) == host(by_hand.params())).all()
    assert (host(net.get_layer(1).params()) == host(autoencoder().get_layer(1).params())).all()


def test_the_score_of_the_reconstruction_ends_it():
    conf = EarlyStoppingConfiguration(
        iteration_termination_conditions=[MaxScoreIterationTerminationCondition(-1e9)],
        epoch_termination_conditions=[MaxEpochsTerminationCondition(3)],
        score_calculator=AutoencoderScoreCalculator("mse", DataSet(X, Y)),
    )
    net = autoencoder()
    result = EarlyStoppingTrainer(conf, net, batches()).pretrain(0)
    assert result.termination_reason is TerminationReason.ITERATION_TERMINATION
    assert net.engine.learners[0].iteration_count == 1
