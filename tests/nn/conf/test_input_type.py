"""Input types: sizes that are inferred, and preprocessors where the kind changes."""

import numpy as np
import pytest

import nd
from nn import (
    ActivationLayer,
    Cnn3DToFeedForwardPreProcessor,
    CnnToFeedForwardPreProcessor,
    CnnToRnnPreProcessor,
    ConvolutionLayer,
    DenseLayer,
    DropoutLayer,
    FeedForwardToCnn3DPreProcessor,
    FeedForwardToCnnPreProcessor,
    FeedForwardToRnnPreProcessor,
    InputType,
    LossLayer,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    RnnToCnnPreProcessor,
    RnnToFeedForwardPreProcessor,
    SubsamplingLayer,
)
from tests.cells import every_row
from tests.stand_ins import as_input

CONV, POOL = ConvolutionLayer(n_out=2, kernel_size=3), SubsamplingLayer("max", kernel_size=(2, 2))
DENSE, OUT, LOSS = DenseLayer(n_out=4), OutputLayer(n_out=3), LossLayer()
ROWS, IMAGES, FLAT = InputType.feed_forward(48), InputType.convolutional(6, 8, 1), InputType.convolutional_flat(6, 8, 1)
TO_IMAGES = FeedForwardToCnnPreProcessor(6, 8, 1)

INSERTED = {
    # input type, layers -> preprocessors
    "flat-to-convolution": (FLAT, (CONV,), {0: TO_IMAGES}),
    "flat-to-pooling": (FLAT, (POOL,), {0: TO_IMAGES}),
    "flat-to-dense": (FLAT, (DENSE,), {}),
    "flat-to-output": (FLAT, (OUT,), {}),
    "flat-through-dropout-to-convolution": (FLAT, (DropoutLayer(0.5), CONV), {1: TO_IMAGES}),
    "rows-to-dense": (ROWS, (DENSE, OUT), {}),
    "images-to-convolution": (IMAGES, (CONV, POOL), {}),
    "images-to-dense": (IMAGES, (DENSE,), {0: CnnToFeedForwardPreProcessor(6, 8, 1)}),
    "images-to-output": (IMAGES, (OUT,), {0: CnnToFeedForwardPreProcessor(6, 8, 1)}),
    "images-to-loss": (IMAGES, (LOSS,), {0: CnnToFeedForwardPreProcessor(6, 8, 1)}),
    "images-to-activation": (IMAGES, (ActivationLayer("relu"), CONV), {}),
    "lenet": (
        FLAT,
        (CONV, POOL, ActivationLayer("relu"), DropoutLayer(0.5), DENSE, OUT),
        {0: TO_IMAGES, 4: CnnToFeedForwardPreProcessor(2, 3, 2)},
    ),
}


def conf_of(input_type, *layers):
    return NeuralNetConfiguration(seed=1).list(*layers, input_type=input_type)


@every_row("name", INSERTED)
def test_preprocessors_stand_exactly_where_the_kind_changes(name, backend):
    input_type, layers, expected = INSERTED[name]
    conf = conf_of(input_type, *layers)
    assert dict(conf.preprocessors) == expected
    out = MultiLayerNetwork(conf).init().output(np.ones((2, *input_type.shape), np.float32))
    assert tuple(out.shape) == (2, *conf.layer_types()[-1][1].shape)


def test_n_in_is_inferred():
    conf = conf_of(FLAT, CONV, POOL, ConvolutionLayer(n_out=5, kernel_size=(2, 3), convolution_mode="same"), DENSE, OUT)
    n_ins = {index: layer.n_in for index, layer in enumerate(conf.layers) if hasattr(layer, "n_in")}
    assert n_ins == {0: 1, 2: 2, 3: 5 * 2 * 3, 4: 4}
    shown = [repr(out) for _, out in conf.layer_types()]
    assert shown == [
        "convolutional(4x6x2)", "convolutional(2x3x2)", "convolutional(2x3x5)", "feed_forward(4)", "feed_forward(3)",
    ]  # fmt: skip


def test_an_n_in_that_fits_is_kept():
    assert conf_of(ROWS, DenseLayer(n_in=48, n_out=4)).layers == conf_of(ROWS, DENSE).layers


@every_row(
    ("input_type", "layers", "message"),
    [
        (ROWS, (DenseLayer(n_in=47, n_out=2),),
         r"layer 0 \(DenseLayer\): n_in must be 48, the size of what comes in, got 47\. Leave n_in out, or mend it"),
        (ROWS, (DENSE, DenseLayer(n_in=5, n_out=2, name="fc2")),
         r"layer 1 'fc2' \(DenseLayer\): n_in must be 4.*got 5"),
        (IMAGES, (ConvolutionLayer(n_in=3, n_out=2),), r"layer 0 \(ConvolutionLayer\): n_in must be 1.*got 3"),
        (IMAGES, (CONV, POOL, OutputLayer(n_in=10, n_out=2)),
         r"layer 2 \(OutputLayer\): n_in must be 12.*got 10"),
        (ROWS, (CONV,), r"layer 0 \(ConvolutionLayer\): expected images, got feed_forward\(48\)\. Use InputType\.conv"),
        (ROWS, (DENSE, POOL), r"layer 1 \(SubsamplingLayer\): expected images, got feed_forward\(4\)"),
        (None, (DenseLayer(n_out=2),), r"layer 0 \(DenseLayer\): n_in is missing\. Give it, or pass input_type"),
        (ROWS, (DenseLayer(n_in=48),), r"layer 0 \(DenseLayer\): n_out is missing\. Give it"),
        (None, (DenseLayer(n_in=3, n_out=2), DenseLayer(n_in=2, n_out=2), ConvolutionLayer(n_in=1)),
         r"layer 2 \(ConvolutionLayer\): n_out is missing"),
    ],
)  # fmt: skip
def test_a_mismatch_names_layer_value_and_remedy(input_type, layers, message):
    with pytest.raises(nd.ConfigurationError, match=message):
        conf_of(input_type, *layers)


def test_layers_without_input_type_that_do_not_fit_each_other_are_found():
    with pytest.raises(nd.ConfigurationError, match=r"layer 1 \(OutputLayer\): n_in must be 4, .*, got 5\."):
        conf_of(None, DenseLayer(n_in=3, n_out=4), OutputLayer(n_in=5, n_out=2))
    with pytest.raises(nd.ConfigurationError, match=r"layer 2 \(ConvolutionLayer\): n_in must be 4, .*, got 5\."):
        conf_of(None, ConvolutionLayer(n_in=1, n_out=4), SubsamplingLayer(), ConvolutionLayer(n_in=5, n_out=2))


def test_an_n_in_that_follows_from_the_layer_before_may_be_left_out():
    conf = conf_of(None, DenseLayer(n_in=3, n_out=4), ActivationLayer("tanh"), OutputLayer(n_out=2))
    assert conf.layers[2].n_in == 4
    after_images = conf_of(None, ConvolutionLayer(n_in=1, n_out=4), DenseLayer(n_in=7, n_out=2))
    assert after_images.layers[1].n_in == 7  # what height and width are is not known


@pytest.mark.parametrize("sizes", [(0,), (-1,), (1.5,), ("3",)])
def test_sizes_must_be_positive_integers(sizes):
    with pytest.raises(nd.ArgumentError, match=rf"^FeedForwardType: n must be an integer >= 1, got {sizes[0]!r}"):
        InputType.feed_forward(*sizes)
    with pytest.raises(nd.ArgumentError, match=r"^ConvolutionalType: width must be an integer >= 1, got "):
        InputType.convolutional(28, sizes[0], 1)
    with pytest.raises(nd.ArgumentError, match=r"^ConvolutionalFlatType: width must be an integer >= 1, got "):
        InputType.convolutional_flat(28, sizes[0], 1)


def test_shapes_and_sizes():
    assert (ROWS.shape, ROWS.size) == ((48,), 48)
    assert (IMAGES.shape, IMAGES.size) == ((1, 6, 8), 48)
    assert (FLAT.shape, FLAT.size) == ((48,), 48)
    assert InputType.convolutional(2, 3, 4).shape == (4, 2, 3)


# ---- the preprocessors themselves


def test_rows_to_images_and_back_in_c_order(backend, order):
    rows = np.arange(2 * 24, dtype=np.float64).reshape(2, 24)
    images = rows.reshape(2, 3, 2, 4)
    buffers = nd.Buffers("float64")
    to_images, to_rows = FeedForwardToCnnPreProcessor(2, 4, 3), CnnToFeedForwardPreProcessor(2, 4, 3)
    for preprocessor, given, made in ((to_images, rows, images), (to_rows, images, rows)):
        np.testing.assert_array_equal(
            nd.to_host(preprocessor.pre_process(as_input(backend, given, order), 2, buffers)), made
        )
        np.testing.assert_array_equal(nd.to_host(preprocessor.backprop(as_input(backend, made, order), 2)), given)
        np.testing.assert_array_equal(
            nd.to_host(preprocessor.pre_process(as_input(backend, made, order), 2, buffers)), made
        )


@pytest.mark.parametrize(
    ("preprocessor", "shape", "message"),
    [
        (FeedForwardToCnnPreProcessor(2, 4, 3), (5, 23), r"FeedForwardToCnn.*expected \[N, 24\], got \[5, 23\]"),
        (FeedForwardToCnnPreProcessor(2, 4, 3), (5, 3, 4, 2), r"expected \[N, 3, 2, 4\], got \[5, 3, 4, 2\]"),
        (FeedForwardToCnnPreProcessor(2, 4, 3), (5, 3, 8), r"expected \[N, 24\], got \[5, 3, 8\]"),
        (CnnToFeedForwardPreProcessor(2, 4, 3), (5, 23), r"CnnToFeedForward.*expected \[N, 24\], got \[5, 23\]"),
        (CnnToFeedForwardPreProcessor(2, 4, 3), (5, 3, 4, 2), r"expected \[N, 3, 2, 4\], got \[5, 3, 4, 2\]"),
    ],
)
def test_what_does_not_fit_a_preprocessor(preprocessor, shape, message, backend):
    with pytest.raises(nd.ShapeError, match=message):
        preprocessor.pre_process(nd.zeros(*shape), shape[0], nd.Buffers("float32"))


def test_a_network_takes_flat_rows_and_images_alike(backend):
    net = MultiLayerNetwork(conf_of(FLAT, CONV, OUT)).init()
    x = np.random.default_rng(0).normal(size=(2, 1, 6, 8)).astype(np.float32)
    np.testing.assert_array_equal(nd.to_host(net.output(x)), nd.to_host(net.output(x.reshape(2, 48))))


# ---- time series and volumes

SERIES = np.arange(2 * 3 * 4, dtype=np.float64).reshape(2, 3, 4)  # [N, C, T]
STEPS = np.array([SERIES[n, :, t] for t in range(4) for n in range(2)])  # row n + t * N
VOLUMES = np.arange(2 * 24, dtype=np.float64).reshape(2, 2, 3, 2, 2)
OTHER_KINDS = {
    "series-to-rows": (RnnToFeedForwardPreProcessor(), SERIES, STEPS),
    "rows-to-series": (FeedForwardToRnnPreProcessor(), STEPS, SERIES),
    "series-to-images": (RnnToCnnPreProcessor(1, 3, 1), SERIES, STEPS.reshape(8, 1, 1, 3)),
    "images-to-series": (CnnToRnnPreProcessor(1, 3, 1), STEPS.reshape(8, 1, 1, 3), SERIES),
    "volumes-to-rows": (Cnn3DToFeedForwardPreProcessor(3, 2, 2, 2), VOLUMES, VOLUMES.reshape(2, 24)),
    "rows-to-volumes": (FeedForwardToCnn3DPreProcessor(3, 2, 2, 2), VOLUMES.reshape(2, 24), VOLUMES),
}


@pytest.mark.parametrize("name", OTHER_KINDS)
def test_series_and_volumes_change_shape_and_back(name, backend, order):
    preprocessor, given, made = OTHER_KINDS[name]
    buffers = nd.Buffers("float64")
    found = preprocessor.pre_process(as_input(backend, given, order), 2, buffers)
    np.testing.assert_array_equal(nd.to_host(found), made)
    np.testing.assert_array_equal(nd.to_host(preprocessor.backprop(as_input(backend, made, order), 2)), given)


def test_masks_follow_the_shapes(backend):
    mask = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0]])  # [N, T]
    rows = np.array([[1.0], [1.0], [1.0], [0.0], [0.0], [0.0]])
    for preprocessor, given, made in (
        (RnnToFeedForwardPreProcessor(), mask, rows),
        (FeedForwardToRnnPreProcessor(), rows, mask),
        (RnnToCnnPreProcessor(1, 3, 1), mask, rows.reshape(6, 1, 1, 1)),
        (CnnToRnnPreProcessor(1, 3, 1), rows.reshape(6, 1, 1, 1), mask),
        (CnnToFeedForwardPreProcessor(2, 2, 1), rows.reshape(6, 1, 1, 1), rows),
        (FeedForwardToCnnPreProcessor(2, 2, 1), rows, rows.reshape(6, 1, 1, 1)),
    ):
        np.testing.assert_array_equal(nd.to_host(preprocessor.feed_forward_mask(as_input(backend, given), 2)), made)


def test_a_time_step_counts_where_a_place_of_its_image_does(backend):
    images = np.zeros((6, 1, 2, 2))  # [T * N, 1, H, W]
    images[0, 0, 1, 0] = images[3, 0, 0, 1] = images[4] = 1.0
    found = CnnToRnnPreProcessor(2, 2, 3).feed_forward_mask(as_input(backend, images), 2)
    np.testing.assert_array_equal(nd.to_host(nd.copy(found)), [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])


@pytest.mark.parametrize(
    ("preprocessor", "shape", "message"),
    [
        (CnnToFeedForwardPreProcessor(2, 2, 1), (5, 1, 2, 2), r"\[N, 1, 1, 1\], got \[5, 1, 2, 2\]"),
        (CnnToFeedForwardPreProcessor(2, 2, 1), (5, 1, 1, 2), r"\[N, 1, 1, 1\], got \[5, 1, 1, 2\]"),
        (Cnn3DToFeedForwardPreProcessor(3, 2, 2, 2), (2, 1, 3, 1, 1), r"\[N, 1, 1, 1, 1\], got \[2, 1, 3, 1, 1\]"),
    ],
)
def test_a_mask_of_places_cannot_be_one_of_rows(preprocessor, shape, message):
    message = rf"{type(preprocessor).__name__}: a mask must say .* {message}: rows have no places\. Pool globally"
    with pytest.raises(nd.ShapeError, match=message):
        preprocessor.feed_forward_mask(nd.ones(*shape), shape[0])


@pytest.mark.parametrize("preprocessor", [FeedForwardToRnnPreProcessor(), CnnToRnnPreProcessor(1, 3, 1)])
def test_rows_that_are_no_time_steps(preprocessor):
    x = nd.zeros(7, 3) if isinstance(preprocessor, FeedForwardToRnnPreProcessor) else nd.zeros(7, 1, 1, 3)
    with pytest.raises(nd.ShapeError, match="rows must be time steps of 2 examples, got 7 rows"):
        preprocessor.pre_process(x, 2, nd.Buffers("float32"))
