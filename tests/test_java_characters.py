"""RnnCharacter of Deeplearning4j's integration tests: two LSTM layers on Shakespeare, from the seed."""

import numpy as np

from nd.dataset import DataSet
from nn import LSTM, MultiLayerNetwork, NeuralNetConfiguration, RnnOutputLayer
from optimize import Adam, CollectScoresListener

CHARACTERS, SEGMENT = 77, 50
CURVE = [218.25920958569554, 213.69084220365056, 204.94150078179302, 183.887748349999]
"""Java's scores of the four segments of the first minibatch, from its trainingCurve.csv."""
SCORES = 1e-6


def one_hot(numbers):
    """Return ``[N, 77, T]`` of characters' numbers ``[N, T]``; steps without a character, -1, are blank."""
    out = np.zeros((numbers.shape[0], CHARACTERS, numbers.shape[1]), np.float32)
    n, t = np.nonzero(numbers >= 0)
    out[n, numbers[n, t], t] = 1.0
    return out


def test_the_curve_of_rnn_character(reference):
    """Weights, segments with carried state, Java's way back through them, l2 and Adam: 1e-6 of each score."""
    characters, last = (np.load(reference / "text" / f"rnnchar_{name}.npy") for name in ("idx", "last"))
    following = np.full_like(characters, -1)
    following[:, :-1] = characters[:, 1:]
    following[:, -2] = last
    conf = NeuralNetConfiguration(seed=12345, l2=1e-3, weight_init="xavier", updater=Adam(1e-3)).list(
        LSTM(n_in=CHARACTERS, n_out=200, activation="tanh"),
        LSTM(n_in=200, n_out=200, activation="tanh"),
        RnnOutputLayer(n_in=200, n_out=CHARACTERS, loss="mcxent", activation="softmax"),
        backprop_type="truncated_bptt", tbptt_fwd_length=SEGMENT, tbptt_back_length=SEGMENT,
    )  # fmt: skip
    net, scores = MultiLayerNetwork(conf).init(), CollectScoresListener()
    net.set_listeners(scores)
    net.fit(DataSet(one_hot(characters), one_hot(following)))
    assert net.iteration_count == len(CURVE)
    np.testing.assert_allclose(scores.scores, CURVE, rtol=SCORES)
