"""Networks whose channels come last: Java's runs, and the same networks with the channels first."""

import io
import json
import zipfile

import numpy as np
import pytest

import nd
from nd.dataset import DataSet
from nn import (
    ActivationLayer,
    BatchNormalization,
    Cnn3DLossLayer,
    CnnLossLayer,
    ComputationGraph,
    ComputationGraphConfiguration,
    Convolution1DLayer,
    Convolution3D,
    ConvolutionLayer,
    DenseLayer,
    FineTuneConfiguration,
    FrozenLayer,
    GlobalPoolingLayer,
    InputType,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    PReLULayer,
    RnnOutputLayer,
    Subsampling1DLayer,
    SubsamplingLayer,
    TransferLearning,
    ZeroPadding3DLayer,
)
from nn.dl4j import CNN2DFormat
from nn.terms.data_formats import inward, outward
from optimize import Adam, Listener, Sgd
from tests.java_runs import FEW, OUTPUT, PARAMETERS, Run, distance

RUNS = sorted(path.parent.name for path in (FEW / "formats").glob("*/conf.json"))


@pytest.fixture(params=RUNS)
def run(request):
    return Run(FEW / "formats" / request.param)


# ---- Java's


def test_arrays_have_javas_shapes(run):
    net = run.network()
    out = net.output(run.x, features_mask=run.xm, labels_mask=run.ym)
    assert out.shape == run.out.shape == run.y.shape
    net.set_input(run.x)
    net.set_labels(run.y)
    np.testing.assert_array_equal(nd.to_host(net.get_input()), run.x)
    np.testing.assert_array_equal(nd.to_host(net.get_labels()), run.y)


def test_activations_between_are_javas():
    run = Run(FEW / "formats" / "images")
    for number, ours in enumerate(run.network().feed_forward(run.x)):
        theirs = run.arrays[f"act{number}"]
        assert ours.shape == theirs.shape
        assert distance(ours, theirs) < OUTPUT


def test_parameters_after_training_are_javas(run):
    net = run.network()
    for _ in run.fits:
        net.fit(run.data())
    assert distance(net.params(), run.params1) < PARAMETERS
    assert distance(run.output_of(net), run.out1) < OUTPUT


def test_a_zip_goes_back_as_it_came(run):
    net, written = MultiLayerNetwork.load(run.folder / "model.zip"), io.BytesIO()
    net.save(written)
    with zipfile.ZipFile(run.folder / "model.zip") as theirs, zipfile.ZipFile(written) as ours:
        for entry in ("coefficients.bin", "updaterState.bin"):
            assert ours.read(entry) == theirs.read(entry)
        java, own = (json.loads(archive.read("configuration.json")) for archive in (theirs, ours))
    for document in (java, own):
        for conf in document["confs"]:
            conf["iterationCount"] = 0  # Java's are all 0
    assert own == java


def test_users_configure_them_as_in_java():
    conf = NeuralNetConfiguration(seed=12345, updater=Adam(0.01), activation="tanh").list(
        ConvolutionLayer(n_out=3, kernel_size=(3, 3), convolution_mode="same"),
        BatchNormalization(),
        SubsamplingLayer("max", kernel_size=(2, 2), stride=(2, 2)),
        ConvolutionLayer(n_out=4, kernel_size=(2, 2), activation="relu"),
        DenseLayer(n_out=6),
        OutputLayer(n_out=4, loss="mcxent", activation="softmax"),
        input_type=InputType.convolutional(6, 5, 2, CNN2DFormat.NHWC),
    )
    java = MultiLayerConfiguration.from_json((FEW / "formats" / "images" / "conf.json").read_text())
    assert conf.preprocessors == java.preprocessors
    assert [layer.data_format for layer in conf.layers] == ["NHWC"] * 4 + [None] * 2
    assert conf.layers[0] == java.layers[0]
    assert conf.input_type.shape == (6, 5, 2)
    builder = ConvolutionLayer.Builder(3, 3).nOut(3).dataFormat(CNN2DFormat.NHWC)
    assert builder.build().data_format == "NHWC"


# ---- the same network with the channels first

STACKS = {
    "images": (
        (InputType.convolutional, (6, 5, 2), "NHWC"),
        lambda: (
            ConvolutionLayer(n_out=3, kernel_size=(3, 2)), BatchNormalization(), PReLULayer(shared_axes=()),
            SubsamplingLayer("avg"), GlobalPoolingLayer("max"), OutputLayer(n_out=4, loss="mcxent"),
        ),
        (4,),
    ),
    "image outputs": (
        (InputType.convolutional, (6, 5, 2), "NHWC"),
        lambda: (
            FrozenLayer(ConvolutionLayer(n_out=3, kernel_size=(3, 3), convolution_mode="same")),
            ConvolutionLayer(n_out=2, kernel_size=(1, 1)), CnnLossLayer(loss="mcxent", activation="softmax"),
        ),
        (2, 6, 5),
    ),
    "series": (
        (InputType.recurrent, (4, 7), "NWC"),
        lambda: (
            Convolution1DLayer(n_out=5, kernel_size=3, convolution_mode="same"), BatchNormalization(),
            Subsampling1DLayer("max", kernel_size=3, convolution_mode="same"), DenseLayer(n_out=6, activation="tanh"),
            RnnOutputLayer(n_out=3, loss="mcxent"),
        ),
        (3, 7),
    ),
    "pooled series": (
        (InputType.recurrent, (4, 7), "NWC"),
        lambda: (
            Convolution1DLayer(n_out=5, kernel_size=2), GlobalPoolingLayer("avg"), OutputLayer(n_out=4, loss="mcxent"),
        ),
        (4,),
    ),
    "volumes": (
        (InputType.convolutional3d, (4, 5, 3, 2), "NDHWC"),
        lambda: (
            Convolution3D(n_out=2, kernel_size=2, convolution_mode="same"),
            Cnn3DLossLayer(loss="mse", activation="sigmoid"),
        ),
        (2, 4, 5, 3),
    ),
}  # fmt: skip


def pair(name, **settings):
    """Return the network with the channels first and last, data for both, and the format."""
    (make, sizes, last), layers, out = STACKS[name]
    base = NeuralNetConfiguration(seed=3, updater=Adam(0.02), **settings)
    first = MultiLayerNetwork(base.list(*layers(), input_type=make(*sizes))).init()
    other = MultiLayerNetwork(base.list(*layers(), input_type=make(*sizes, data_format=last))).init()
    rng = np.random.default_rng(5)
    x = rng.normal(size=(3, *make(*sizes).shape)).astype(np.float32)
    y = np.moveaxis(np.eye(out[0], dtype=np.float32)[rng.integers(0, out[0], (3, *out[1:]))], -1, 1)
    return first, other, x, y, last


def turned(array):
    """Return a copy with the channels last, in NumPy's own memory order."""
    return np.ascontiguousarray(np.moveaxis(array, 1, -1)) if array.ndim > 2 else array


def assert_same_parameters(first, last):
    """Of one pair: only a PReLULayer has its parameter in the format's order, in Java too."""
    for key, expected in first.param_table().items():
        place, name = key.split("_")
        expected = nd.to_host(expected)
        shaped = isinstance(first.conf.layers[int(place)], PReLULayer)
        expected = np.moveaxis(expected, 0, -1) if shaped else expected
        np.testing.assert_array_equal(nd.to_host(last.get_param(key)), expected, err_msg=name)


@pytest.mark.parametrize("name", STACKS)
@pytest.mark.quick_rows(2)
def test_only_the_data_are_turned(name, backend, tmp_path):
    first, last, x, y, last_format = pair(name)
    assert last.conf.formats.inputs == (last_format,)
    other, labels = turned(x), turned(y)
    assert_same_parameters(first, last)
    np.testing.assert_array_equal(nd.to_host(last.output(other)), turned(nd.to_host(first.output(x))))
    for ours, theirs in zip(last.feed_forward(other), first.feed_forward(x), strict=True):
        np.testing.assert_array_equal(nd.to_host(ours), turned(nd.to_host(theirs)))
    seen = nd.to_host(last.activate_selected_layers(0, 0, other))
    np.testing.assert_array_equal(seen, turned(nd.to_host(first.activate_selected_layers(0, 0, x))))
    for _ in range(3):
        first.fit(x, y)
        last.fit(other, labels)
        assert last.score() == first.score()
    assert_same_parameters(first, last)
    last.save(tmp_path / "net.zip")
    again = MultiLayerNetwork.load(tmp_path / "net.zip")
    assert (again.conf.layers, again.conf.preprocessors) == (last.conf.layers, last.conf.preprocessors)
    assert again.conf.input_type == last.conf.input_type
    np.testing.assert_array_equal(nd.to_host(again.output(other)), nd.to_host(last.output(other)))
    _, below = last.calculate_gradients(other, labels)
    np.testing.assert_array_equal(nd.to_host(below), turned(nd.to_host(first.calculate_gradients(x, y)[1])))


def test_rows_of_flattened_images_are_in_the_formats_order():
    base = NeuralNetConfiguration(seed=1)
    conf = base.list(OutputLayer(n_out=2, loss="mse"), input_type=InputType.convolutional(3, 2, 4, "NHWC"))
    net, x = MultiLayerNetwork(conf).init(), np.random.default_rng(1).normal(size=(5, 3, 2, 4)).astype(np.float32)
    z = x.reshape(5, -1) @ nd.to_host(net.get_param("0_W")) + nd.to_host(net.get_param("0_b"))
    expected = np.exp(z) / np.exp(z).sum(1, keepdims=True)
    np.testing.assert_allclose(nd.to_host(net.output(x)), expected, rtol=1e-5)


def test_evaluation_prediction_and_masks(backend):
    first, last, x, y, _ = pair("image outputs")
    mask = (np.random.default_rng(2).random((3, 1, 6, 5)) < 0.6).astype(np.float32)
    sets = DataSet(x, y, None, mask), DataSet(turned(x), turned(y), None, turned(mask))
    ours, theirs = last.evaluate(sets[1]), first.evaluate(sets[0])
    assert ours.confusion == theirs.confusion
    np.testing.assert_array_equal(nd.to_host(last.predict(turned(x))), nd.to_host(first.predict(x)))
    assert last.score(sets[1]) == first.score(sets[0])
    for net, data in ((first, sets[0]), (last, sets[1])):
        net.fit(data, validation_data=data)
    np.testing.assert_array_equal(nd.to_host(first.params()), nd.to_host(last.params()))
    numbers = y.argmax(1)
    assert last.score((turned(x), numbers)) == first.score((x, numbers))
    weighted = [net.fit(a, numbers, class_weight={0: 2.0}) for net, a in ((first, x), (last, turned(x)))]
    assert weighted[0].score == weighted[1].score


def test_masks_of_series(backend):
    first, last, x, y, _ = pair("series")
    mask = np.float32([[1] * 7, [1] * 4 + [0] * 3, [1] * 2 + [0] * 5])
    for _ in range(2):
        first.fit(DataSet(x, y, mask, mask))
        last.fit(DataSet(turned(x), turned(y), mask, mask))
    np.testing.assert_array_equal(nd.to_host(first.params()), nd.to_host(last.params()))


def test_listeners_see_activations_as_users_do():
    shapes = []

    class Looking(Listener):
        def on_forward_pass(self, model, activations):
            shapes.extend(tuple(each.shape) for each in activations)

    _, last, x, y, _ = pair("image outputs")
    last.set_listeners(Looking())
    last.fit(turned(x), turned(y))
    assert shapes == [(3, 6, 5, 2), (3, 6, 5, 3), (3, 6, 5, 2), (3, 6, 5, 2)]


@pytest.mark.parametrize("layer", ["convolution", "activation"])
def test_a_softmax_goes_over_the_channels(layer):
    activation = "softmax" if layer == "convolution" else "identity"
    more = [ActivationLayer("softmax")] if layer == "activation" else []
    conf = NeuralNetConfiguration(seed=2, dtype="float64", updater=Sgd(0.1)).list(
        ConvolutionLayer(n_out=3, kernel_size=(2, 2), activation=activation), *more,
        CnnLossLayer(loss="mse", activation="identity"), input_type=InputType.convolutional(3, 3, 2, "NHWC"),
    )  # fmt: skip
    net, rng = MultiLayerNetwork(conf).init(), np.random.default_rng(7)
    x, y = rng.normal(size=(2, 3, 3, 2)), rng.random((2, 2, 2, 3))
    np.testing.assert_allclose(nd.to_host(net.output(x)).sum(-1), 1.0, rtol=1e-12)
    net.set_input(x)
    net.set_labels(y)
    net.compute_gradient_and_score()
    gradient, params = nd.to_host(net.flattened_gradients()).copy() / 2, nd.to_host(net.params()).copy()
    for place in range(0, params.size, 5):
        scores = []
        for step in (1e-6, -1e-6):
            params[0, place] += step
            net.set_params(params)
            scores.append(net.score((x, y)))
            params[0, place] -= step
        assert (scores[0] - scores[1]) / 2e-6 == pytest.approx(gradient[0, place], abs=1e-8)


@pytest.mark.parametrize("name", STACKS)
@pytest.mark.quick_rows(2)
def test_graphs_have_formats_of_inputs_and_outputs(name, backend, tmp_path):
    _, last, x, y, last_format = pair(name)
    graph, other, labels = ComputationGraph(ComputationGraphConfiguration.of_chain(last.conf)), turned(x), turned(y)
    graph.init(last.params())
    assert graph.conf.formats.inputs == (last_format,)
    np.testing.assert_array_equal(nd.to_host(graph.output(other)[0]), nd.to_host(last.output(other)))
    for vertex, expected in zip(graph.feed_forward(other).values(), last.feed_forward(other), strict=True):
        np.testing.assert_array_equal(nd.to_host(vertex), nd.to_host(expected))
    graph.fit(other, labels)
    last.fit(other, labels)
    np.testing.assert_array_equal(nd.to_host(graph.params()), nd.to_host(last.params()))
    graph.save(tmp_path / "graph.zip")
    again = type(graph).load(tmp_path / "graph.zip")
    np.testing.assert_array_equal(nd.to_host(again.output(other)[0]), nd.to_host(graph.output(other)[0]))


def test_layers_of_another_network_keep_their_format():
    _, last, x, _, _ = pair("images")
    edited = (
        TransferLearning.Builder(last)
        .fine_tune_configuration(FineTuneConfiguration(updater=Sgd(0.1), seed=1))
        .n_out_replace(5, 3, "xavier")
        .build()
    )
    assert edited.output(turned(x)).shape == (3, 3)
    assert edited.conf.formats.behind == ["NHWC"] * 4 + ["rows"] * 2


# ---- files without a format, and what cannot be


def test_the_input_type_of_older_files_has_no_format(tmp_path):
    first, _, x, _, _ = pair("images")
    first.save(tmp_path / "net.zip")
    with zipfile.ZipFile(tmp_path / "net.zip") as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    own = json.loads(entries["ndwright.json"])
    assert own["input_type"].pop("data_format") == "NCHW"
    entries["ndwright.json"] = json.dumps(own).encode()
    with zipfile.ZipFile(tmp_path / "older.zip", "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    again = MultiLayerNetwork.load(tmp_path / "older.zip")
    np.testing.assert_array_equal(nd.to_host(again.output(x)), nd.to_host(first.output(x)))


def test_formats_that_do_not_go_together_are_refused():
    base = NeuralNetConfiguration(seed=1)
    images, volumes = InputType.convolutional(6, 5, 2, "NHWC"), InputType.convolutional3d(4, 5, 3, 2, "NDHWC")
    with pytest.raises(nd.ConfigurationError, match=r"layer 1 \(ConvolutionLayer\): its input must be NCHW, .* NHWC"):
        base.list(ConvolutionLayer(n_out=2), ConvolutionLayer(n_out=2, data_format="NCHW"), input_type=images)
    with pytest.raises(nd.ConfigurationError, match=r"ZeroPadding3DLayer.*must be NCDHW.*Java has no other"):
        base.list(ZeroPadding3DLayer(1), input_type=volumes)
    with pytest.raises(nd.ConfigurationError, match=r"pooling_dimensions must be all axes but the channels of NHWC"):
        base.list(GlobalPoolingLayer(pooling_dimensions=(2, 3)), input_type=images)
    with pytest.raises(nd.ConfigurationError, match="InputType: data_format must be NCW or NWC, got 'NHWC'"):
        InputType.recurrent(3, 4, "NHWC")
    net = pair("images")[1]
    with pytest.raises(nd.ShapeError, match=r"expected input \[N, 6, 5, 2\], got \[3, 2, 6, 5\]"):
        net.output(np.zeros((3, 2, 6, 5)))


def test_the_first_layer_that_says_a_format_says_that_of_the_features():
    conf = NeuralNetConfiguration(seed=1).list(
        ActivationLayer("relu"),
        Convolution1DLayer(n_in=2, n_out=3, kernel_size=2, data_format="NWC"),
        RnnOutputLayer(n_in=3, n_out=2, loss="mse"),
    )
    assert (conf.formats.inputs, conf.formats.behind) == (("NWC",), ["NWC"] * 3)
    normalised = NeuralNetConfiguration(seed=1).list(BatchNormalization(n_in=2, n_out=2), *conf.layers[1:])
    read = MultiLayerConfiguration.from_json(normalised.to_json())  # which says NCHW of the normalisation
    assert read.formats.inputs == ("NWC",)
    assert read.layers == normalised.layers
    assert MultiLayerNetwork(conf).init().output(np.zeros((2, 5, 2))).shape == (2, 4, 2)


def test_views_there_and_back():
    x = np.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5)
    assert outward(x, "NHWC").shape == (2, 4, 5, 3)
    np.testing.assert_array_equal(inward(outward(x, "NHWC"), "NHWC"), x)
    assert outward(x, "NWC") is inward(x, "NCHW") is x
