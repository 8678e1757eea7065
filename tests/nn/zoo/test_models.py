"""Models of the zoo: settings that are refused, builders, training."""

import numpy as np
import pytest

import nd
from nn import MultiLayerNetwork, zoo
from optimize import Sgd


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: zoo.VGG16().conf(),
            nd.ConfigurationError,
            r"VGG16: num_classes must be at least 1, got 0\. Say VGG16",
        ),
        (lambda: zoo.YOLO2().init(), nd.ConfigurationError, "YOLO2: num_classes must be at least 1"),
        (lambda: zoo.LeNet(num_classes=-1), nd.ArgumentError, "num_classes must be an integer >= 0"),
        (
            lambda: zoo.LeNet(input_shape=(3, 8)),
            nd.ConfigurationError,
            r"must be \(channels, width, height\), got \(3, 8",
        ),
        (lambda: zoo.LeNet(input_shape=(3, 0, 8)), nd.ArgumentError, "input_shape must be"),
        (lambda: zoo.TextGenerationLSTM(input_shape=(4,)), nd.ConfigurationError, r"\(time steps, characters\)"),
        (lambda: zoo.VGG16(num_classes=2, input_shape=(3, 8, 8)).conf(), nd.ShapeError, "layer '13'"),
        (lambda: zoo.UNet(input_shape=(3, 40, 40)).conf(), nd.ShapeError, "MergeVertex"),
        (lambda: zoo.YOLO2(n_boxes=2), nd.ShapeError, r"prior_boxes must be \[2, 2\].*got 5 boxes"),
        (lambda: zoo.TinyYOLO(prior_boxes=[(1.0, -2.0)] * 5), nd.ArgumentError, "prior_boxes must be"),
        (lambda: zoo.NASNet(penultimate_filters=100), nd.ConfigurationError, r"a multiple of 24, got 100\. Take 120"),
        (lambda: zoo.ResNet50(num_classes=2, weight_init="heh").conf(), nd.ChoiceError, "heh"),
        (lambda: zoo.LeNet(updater="adaam", num_classes=2).conf(), nd.ChoiceError, "adaam"),
    ],
)
def test_what_does_not_fit_is_told(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_the_input_shape_has_the_width_first():
    """As Java's classes read it; features have the height first."""
    model = zoo.SimpleCNN(num_classes=2, input_shape=(3, 20, 10))
    assert model.conf().input_type.shape == (3, 10, 20)
    assert zoo.TextGenerationLSTM(total_unique_characters=9).input_shape == (40, 9)


def test_the_builder_is_javas():
    built = (
        zoo.LeNet.Builder().numClasses(4).seed(7).inputShape([1, 12, 12]).updater(Sgd(0.5)).cacheMode("DEVICE").build()
    )
    assert built == zoo.LeNet(
        num_classes=4, seed=7, input_shape=(1, 12, 12), updater=Sgd(0.5), unused={"cacheMode": "DEVICE"}
    )
    assert isinstance(built.init(), built.model_type())


def test_a_model_trains():
    model = zoo.LeNet(num_classes=2, input_shape=(1, 8, 8), updater=Sgd(0.1))
    net = model.init()
    assert isinstance(net, MultiLayerNetwork)
    x = np.random.default_rng(0).normal(size=(8, 1, 8, 8)).astype(np.float32)
    y = np.eye(2, dtype=np.float32)[(x.mean((1, 2, 3)) > 0).astype(int)]
    before = net.score(nd.dataset.DataSet(x.reshape(8, -1), y))
    for _ in range(5):
        net.fit(x.reshape(8, -1), y)
    assert net.score(nd.dataset.DataSet(x.reshape(8, -1), y)) < 0.8 * before
