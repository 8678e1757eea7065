"""Training on featurised data: the same as training the layers above frozen ones."""

import numpy as np
import pytest

import nd
from nd.dataset import DataSet, DigitsDataSetIterator, EarlyTerminationDataSetIterator, ListDataSetIterator
from nn import (
    Convolution1DLayer,
    ConvolutionLayer,
    DenseLayer,
    DropoutLayer,
    FrozenLayer,
    GlobalPoolingLayer,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    SubsamplingLayer,
    TransferLearning,
    TransferLearningHelper,
)
from optimize import Adam, CollectScoresListener, Nesterovs
from optimize.earlystopping import (
    DataSetLossCalculator,
    EarlyStoppingConfiguration,
    EarlyStoppingTrainer,
    MaxEpochsTerminationCondition,
)
from tests.stand_ins import TOLERANCE

RNG = np.random.default_rng(51)
IMAGES = RNG.normal(size=(16, 128))
LABELS = np.eye(3)[RNG.integers(0, 3, 16)]
ROWS_TO_TEN = {"rtol": 1e-9, "atol": 1e-10}  # some steps of float64


def host(x):
    return nd.to_host(nd.copy(x))


def network(frozen_till=1, dtype="float64", updater=None, **settings):
    layers = [
        ConvolutionLayer(n_out=4, kernel_size=3, activation="tanh", drop_out=0.7),
        SubsamplingLayer(kernel_size=(2, 2)),
        DenseLayer(n_out=6, activation="sigmoid"),
        OutputLayer(n_out=3, activation="softmax"),
    ]
    conf = NeuralNetConfiguration(
        **{"seed": 4, "dtype": dtype, "updater": updater or Nesterovs(learning_rate=0.1), "l2": 1e-2, **settings}
    ).list(*layers, input_type=InputType.convolutional_flat(8, 8, 2))
    net = MultiLayerNetwork(conf).init()
    return net if frozen_till is None else TransferLearning(net, feature_extractor=frozen_till).build()


def batches(mask=None):
    return ListDataSetIterator(DataSet(IMAGES, LABELS, mask), 6)


@pytest.mark.parametrize("updater", [Nesterovs(0.1, momentum=0.9), Adam(0.02)])
@pytest.mark.parametrize("frozen_till", [0, 1, 2])
@pytest.mark.numpy_first
def test_featurised_training_equals_unfeaturised(frozen_till, updater, backend):
    plain, featurised = network(frozen_till, updater=updater), network(frozen_till, updater=updater)
    plain.fit(batches(), epochs=3)
    helper = TransferLearningHelper(featurised)
    helper.fit_featurized(helper.featurize(batches()), epochs=3)
    np.testing.assert_allclose(host(featurised.params()), host(plain.params()), **ROWS_TO_TEN)
    np.testing.assert_allclose(host(featurised.updater_state()), host(plain.updater_state()), **ROWS_TO_TEN)
    assert (featurised.iteration_count, featurised.epoch_count) == (plain.iteration_count, plain.epoch_count) == (9, 3)
    for net in (plain, featurised):  # and on without featurising
        net.fit(batches())
    np.testing.assert_allclose(host(featurised.params()), host(plain.params()), **ROWS_TO_TEN)


def test_featurised_training_on_a_device(device):
    with nd.use_backend(device):
        plain, featurised = network(1, dtype="float32"), network(1, dtype="float32")
        plain.fit(batches(), epochs=2)
        helper = TransferLearningHelper(featurised)
        helper.fit_featurized(helper.featurize(batches()), epochs=2)
        np.testing.assert_allclose(host(featurised.params()), host(plain.params()), rtol=1e-4, atol=1e-5)


def test_scores_are_those_of_the_whole_network():
    net, whole = network(), network()
    helper = TransferLearningHelper(net)
    seen, expected = CollectScoresListener(), CollectScoresListener()
    helper.unfrozen_mln().set_listeners(seen)
    whole.set_listeners(expected)
    helper.fit_featurized(helper.featurize(batches()), epochs=2)
    whole.fit(batches(), epochs=2)
    np.testing.assert_allclose(seen.scores, expected.scores, **ROWS_TO_TEN)
    assert len(seen.scores) == 6
    assert net.score() == seen.scores[-1]


@pytest.mark.parametrize(
    ("mode", "frozen_till", "shape"), [("same", 0, (7, 8)), ("truncate", 0, (7, 4)), ("same", 1, None)]
)
def test_the_mask_that_reaches_the_border_is_handed_on(mode, frozen_till, shape, backend):
    stride = 1 if mode == "same" else 2
    layers = (
        Convolution1DLayer(n_out=4, kernel_size=2, stride=stride, convolution_mode=mode, activation="tanh"),
        GlobalPoolingLayer("avg"),
        OutputLayer(n_out=3, activation="softmax"),
    )
    conf = NeuralNetConfiguration(seed=4, dtype="float64").list(*layers, input_type=InputType.recurrent(2, 8))
    net, mask = MultiLayerNetwork(conf).init(), np.arange(8) < np.array([[8], [1], [5], [3], [8], [2], [7]])
    data = DataSet(RNG.normal(size=(7, 2, 8)), LABELS[:7], mask.astype(float))
    helper = TransferLearningHelper(net, frozen_till)
    found = helper.featurize(data)
    assert (None if found.features_mask is None else found.features_mask.shape) == shape
    expected = host(net.output(data.features, features_mask=data.features_mask))
    made = helper.unfrozen_mln().output(found.features, features_mask=found.features_mask)
    np.testing.assert_allclose(host(made), expected, **TOLERANCE["float64"])
    helper.fit_featurized(found)


@pytest.mark.parametrize("masked", [False, True])
def test_masks_of_rows(masked):
    def made():
        conf = NeuralNetConfiguration(seed=4, dtype="float64", updater=Nesterovs(learning_rate=0.1)).list(
            DenseLayer(n_in=128, n_out=5, activation="tanh"),
            DenseLayer(n_out=4, activation="sigmoid"),
            OutputLayer(n_out=3, activation="softmax"),
        )
        return TransferLearning(MultiLayerNetwork(conf).init(), feature_extractor=0).build()

    mask = np.ones((16, 1))
    mask[3:7] = 1.0 - masked
    whole, net = made(), made()
    whole.fit(batches(mask), epochs=2)
    helper = TransferLearningHelper(net)
    featurised = helper.featurize(DataSet(IMAGES, LABELS, mask))
    assert featurised.features_mask is not None
    assert (featurised.features[3:7] == 0.0).all() == masked
    helper.fit_featurized(helper.featurize(batches(mask)), epochs=2)
    np.testing.assert_allclose(host(net.params()), host(whole.params()), **ROWS_TO_TEN)


# ---- features


def test_features_are_activations_at_the_border(backend):
    net = network(dtype="float32")
    helper = TransferLearningHelper(net)
    found = helper.featurize(DataSet(IMAGES, LABELS))
    assert isinstance(found.features, np.ndarray)
    assert found.features.shape == (16, 4, 3, 3)
    np.testing.assert_allclose(found.features, host(net.feed_forward(IMAGES)[2]), **TOLERANCE["float32"])
    np.testing.assert_array_equal(found.labels, LABELS)
    np.testing.assert_allclose(
        host(helper.output_from_featurized(found.features)), host(net.output(IMAGES)), **TOLERANCE["float32"]
    )


def test_an_iterator_is_featurised_minibatch_by_minibatch():
    found = TransferLearningHelper(network()).featurize(batches())
    assert [batch.num_examples() for batch in found] == [6, 6, 4]
    assert [batch.num_examples() for batch in found] == [6, 6, 4]


def test_data_without_labels():
    assert TransferLearningHelper(network()).featurize(DataSet(IMAGES)).labels is None


# ---- the border


def test_a_border_in_a_network_without_frozen_layers(backend):
    """The layers below are not trained here; the network itself may train them again."""
    net = network(None)
    before = {key: host(view) for key, view in net.param_table().items()}
    helper = TransferLearningHelper(net, 1)
    helper.fit_featurized(helper.featurize(batches()), epochs=2)
    for key, view in net.param_table().items():
        assert (host(view).tobytes() == before[key].tobytes()) == (key[0] == "0")
    assert not any(isinstance(layer, FrozenLayer) for layer in net.conf.layers)
    net.fit(batches())
    assert net.iteration_count == 9


def test_the_part_above_is_a_network_of_its_own():
    net = network()
    tail = TransferLearningHelper(net).unfrozen_mln()
    assert [type(layer).__name__ for layer in tail.conf.layers] == ["DenseLayer", "OutputLayer"]
    assert sorted(tail.conf.preprocessors) == [0]
    assert tail.conf.input_type == InputType.convolutional(3, 3, 4)
    np.testing.assert_array_equal(host(tail.get_param("1_W")), host(net.get_param("3_W")))


def test_the_highest_frozen_layer_is_the_border():
    conf = NeuralNetConfiguration(seed=4).list(
        DenseLayer(n_in=4, n_out=4), FrozenLayer(DenseLayer(n_out=4)), DropoutLayer(0.5), OutputLayer(n_out=2)
    )
    helper = TransferLearningHelper(MultiLayerNetwork(conf).init())
    assert helper.frozen_till == 1
    assert len(helper.unfrozen_mln().conf.layers) == 2


def test_early_stopping_on_featurised_digits():
    """All of it together: a network trained on five digits learns the other five."""
    conf = NeuralNetConfiguration(seed=6, updater=Adam(0.01)).list(
        DenseLayer(n_in=784, n_out=24, activation="relu"), OutputLayer(n_out=10, activation="softmax")
    )
    net = MultiLayerNetwork(conf).init()
    net.fit(EarlyTerminationDataSetIterator(DigitsDataSetIterator(64), 8), epochs=2)
    new = TransferLearning(
        net, feature_extractor=0, remove_layers_from_output=1, add_layers=[OutputLayer(n_out=10, activation="softmax")]
    ).build()
    helper = TransferLearningHelper(new)
    test = helper.featurize(DigitsDataSetIterator(120, train=False))
    stopping = EarlyStoppingConfiguration(
        score_calculator=DataSetLossCalculator(test), epoch_termination_conditions=MaxEpochsTerminationCondition(4)
    )
    train = helper.featurize(DigitsDataSetIterator(64))
    scores = EarlyStoppingTrainer(stopping, helper.unfrozen_mln(), train).fit().score_vs_epoch
    assert scores[3] < scores[1] < scores[0]


# ---- what is refused


def test_networks_and_borders_that_cannot_be():
    with pytest.raises(
        nd.ConfigurationError, match="Helper: network must be a MultiLayerNetwork or a ComputationGraph, got 3"
    ):
        TransferLearningHelper(3)
    with pytest.raises(nd.ConfigurationError, match=r"a layer must be frozen, got none\. Pass frozen_till"):
        TransferLearningHelper(network(None))
    with pytest.raises(nd.ConfigurationError, match=r"has one last layer that is frozen, got .* beside it"):
        TransferLearningHelper(network(None), 0, "dense")
    for border, must in ((-1, "an integer >= 0 or None"), (3, r"0\.\.2"), ("1", "an integer >= 0 or None")):
        with pytest.raises(nd.ConfigurationError, match=rf"frozen_till must be {must}, got {border!r}"):
            TransferLearningHelper(network(None), border)


def test_data_that_cannot_be_featurised():
    helper = TransferLearningHelper(network())
    with pytest.raises(nd.DTypeError, match="featurize: expected a DataSet or an iterator of them"):
        helper.featurize(IMAGES)
    with pytest.raises(nd.DataError, match="featurize: the iterator must have at least one minibatch, got none"):
        helper.featurize([])


def test_what_was_trained_is_handed_back_after_an_error():
    net = network()
    helper = TransferLearningHelper(net)
    broken = helper.featurize(batches())
    bad = DataSet(np.full((2, 4, 3, 3), np.nan), LABELS[:2])
    with pytest.raises(nd.NumericError, match="the score must be finite"):
        helper.fit_featurized([*broken, bad])
    assert net.iteration_count == 3
    np.testing.assert_array_equal(host(net.get_param("3_W")), host(helper.unfrozen_mln().get_param("1_W")))


def test_training_on_features_returns_its_history():
    net = network()
    net.class_names = ("small", "large", "huge")
    helper = TransferLearningHelper(net)
    assert helper.unfrozen_mln().class_names == ("small", "large", "huge")
    history = helper.fit_featurized(helper.featurize(batches()), epochs=2)
    assert net.history is history
    assert len(history.score) == 2
