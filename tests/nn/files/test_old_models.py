"""Model zips of old releases as networks: Java's ramps, arrays of every type, reading and writing again."""

import json
import struct
import warnings
import zipfile

import numpy as np
import pytest

import nd
from nd import serde
from nd.activations import Identity, LeakyReLU, ReLU, Sigmoid, Softmax, Tanh
from nd.losses import LossMCXENT, LossMSE, LossNegativeLogLikelihood
from nn import (
    CnnToFeedForwardPreProcessor,
    DenseLayer,
    Dropout,
    ModelFile,
    ModelFileWarning,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    NormalDistribution,
    OutputLayer,
)
from optimize import Nesterovs, RmsProp, WeightDecay

OF_OLD = [
    f"regression/{release}/{release}_ModelSerializer_Regression_{model}.zip"
    for release in ("050", "071")
    for model in ("CNN_1", "MLP_1", "MLP_2")
]
RUNNABLE = [*OF_OLD, "LenetMnist/Model_RANDOM_INIT_UNTRAINED.zip", "MLPMoon/Model_RANDOM_INIT_UNTRAINED.zip"]


def load(reference, release, model):
    return MultiLayerNetwork.load(
        reference / "regression" / release / f"{release}_ModelSerializer_Regression_{model}.zip"
    )


def host(x):
    return nd.to_host(nd.copy(x))


# ---- what Java's own regression tests ask of these files


@pytest.mark.parametrize("name", OF_OLD)
def test_parameters_and_state_are_ramps(name, reference, backend):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        net = MultiLayerNetwork.load(reference / name)
    ramp = np.arange(1, net.num_params() + 1, dtype=np.float32)[None]
    np.testing.assert_array_equal(host(net.params()), ramp)
    np.testing.assert_array_equal(host(net.updater_state()), ramp)
    assert (net.iteration_count, net.epoch_count, net.conf.base.seed) == (0, 0, 12345)


@pytest.mark.parametrize("release", ["050", "071"])
def test_a_perceptron(release, reference):
    dense, output = load(reference, release, "MLP_1").conf.layers
    assert (dense.activation, dense.n_in, dense.n_out, dense.weight_init) == (ReLU(), 3, 4, "xavier")
    assert (output.activation, output.n_in, output.n_out, output.loss) == (Softmax(), 4, 5, LossMCXENT())
    for layer in (dense, output):
        assert layer.updater == Nesterovs(0.15, 0.9)
        assert (layer.drop_out, layer.regularization_of(bias=False)) == (None, ())


@pytest.mark.parametrize("release", ["050", "071"])
def test_a_perceptron_with_everything(release, reference):
    net = load(reference, release, "MLP_2")
    dense, output = net.conf.layers
    assert net.conf.optimization_algo == "conjugate_gradient"
    assert (dense.activation, dense.n_in, dense.n_out) == (LeakyReLU(), 3, 4)
    assert (output.activation, output.n_in, output.n_out, output.loss) == (Identity(), 4, 5, LossMSE())
    for layer in (dense, output):
        assert layer.updater == RmsProp(0.15, 0.96, 1e-8)
        assert layer.weight_init == NormalDistribution(0.1, 1.2)
        assert (layer.drop_out, layer.l1, layer.l2) == (Dropout(0.6), 0.1, None)
        assert layer.weight_decay == WeightDecay(0.2, apply_lr=False)
        assert layer.regularization_of(bias=True) == ()
    clipped = ("none", 1.0) if release == "050" else ("clip_element_wise_absolute_value", 1.5)  # 0.5 wrote None
    assert (dense.gradient_normalization, dense.gradient_normalization_threshold) == clipped


@pytest.mark.parametrize(("release", "mode"), [("050", "truncate"), ("071", "same")])
def test_a_convolutional_network(release, mode, reference):
    conf = load(reference, release, "CNN_1").conf
    convolution, pooling, output = conf.layers
    assert (convolution.activation, convolution.n_in, convolution.n_out) == (Tanh(), 3, 3)
    assert (convolution.kernel_size, convolution.stride, convolution.padding) == ((2, 2), (1, 1), (0, 0))
    assert (convolution.updater, convolution.weight_init) == (RmsProp(0.15, 0.96, 1e-8), "relu")
    assert (pooling.pooling_type, pooling.kernel_size, pooling.stride) == ("max", (2, 2), (1, 1))
    assert {convolution.convolution_mode, pooling.convolution_mode} == {mode}
    assert (output.activation, output.n_in, output.loss) == (Sigmoid(), 26 * 26 * 3, LossNegativeLogLikelihood())
    between = {} if release == "050" else {2: CnnToFeedForwardPreProcessor(28, 28, 3)}
    assert dict(conf.preprocessors) == between


def test_a_perceptron_of_05_computes(reference):
    """Its ramp by hand: W is 1..12 in f order, b 13..16, then 17..36 and 37..41."""
    net = load(reference, "050", "MLP_1")
    x = np.array([[0.01, 0.02, -0.03], [0.1, 0.0, -0.05]])
    numbers = np.arange(1.0, 42.0)
    hidden = np.maximum(x @ numbers[:12].reshape(3, 4, order="F") + numbers[12:16], 0.0)
    z = (hidden @ numbers[16:36].reshape(4, 5, order="F") + numbers[36:]) / 1.0
    raised = np.exp(z - z.max(1, keepdims=True))
    np.testing.assert_allclose(host(net.output(x)), raised / raised.sum(1, keepdims=True), rtol=1e-3, atol=1e-12)


def test_an_old_network_goes_on_training_from_its_state(reference):
    """One step of Nesterovs by hand: V = mu V - lr g, and the update is mu V_old - (1 + mu) V."""
    net = load(reference, "071", "MLP_1")
    net.set_params(host(net.params()) / 100.0)
    nd.fill(net.updater_state(), 0.5)
    before = host(net.params())
    x, y = np.ones((4, 3), np.float32), np.eye(5, dtype=np.float32)[:4]
    net.set_input(x)
    net.set_labels(y)
    net.compute_gradient_and_score()
    gradient = host(net.flattened_gradients()) / 4
    net.fit(x, y)
    velocity = 0.9 * 0.5 - 0.15 * gradient
    np.testing.assert_allclose(host(net.updater_state()), velocity, rtol=1e-5)
    np.testing.assert_allclose(host(net.params()), before - (0.9 * 0.5 - 1.9 * velocity), rtol=1e-5, atol=1e-6)
    assert net.iteration_count == 1


# ---- reading and writing again


def entries_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize("name", RUNNABLE)
def test_reading_and_writing_keeps_every_bit(name, reference, tmp_path):
    """Where Java wrote the newest form, its bytes; of older ones the numbers' bits, and the same bytes ever after."""
    MultiLayerNetwork.load(reference / name).save(tmp_path / "once.zip")
    MultiLayerNetwork.load(tmp_path / "once.zip").save(tmp_path / "twice.zip")
    theirs, once = entries_of(reference / name), entries_of(tmp_path / "once.zip")
    assert (tmp_path / "once.zip").read_bytes() == (tmp_path / "twice.zip").read_bytes()
    assert list(once) == list(theirs)
    for entry in ("coefficients.bin", "updaterState.bin"):
        if name in OF_OLD:
            found, expected = serde.from_bytes(once[entry]), serde.from_bytes(theirs[entry])
            assert (found.dtype, found.shape, found.tobytes()) == (expected.dtype, expected.shape, expected.tobytes())
        else:
            assert once[entry] == theirs[entry]


def test_an_old_network_is_written_in_the_newest_form(reference, tmp_path):
    """As Java's own fields of 1.0; nothing of the old form is left."""
    load(reference, "071", "MLP_2").save(tmp_path / "new.zip")
    assert ModelFile.read(tmp_path / "new.zip").version == "1.0.0-beta4+"
    ours = json.loads(entries_of(tmp_path / "new.zip")["configuration.json"])
    java = json.loads(entries_of(reference / "MLPMoon" / "Model_RANDOM_INIT_UNTRAINED.zip")["configuration.json"])
    assert ours.keys() == java.keys()
    for mine, theirs in zip(ours["confs"], java["confs"], strict=True):
        assert mine.keys() == theirs.keys()
        assert mine["layer"].keys() == theirs["layer"].keys() | {"timeDistributedFormat"}  # of 1.0.0-M1
    dense = ours["confs"][0]["layer"]
    assert dense["@class"] == "org.deeplearning4j.nn.conf.layers.DenseLayer"
    assert [found["@class"].rpartition(".")[2] for found in dense["regularization"]] == [
        "L1Regularization",
        "WeightDecay",
    ]
    assert dense["regularization"][1]["applyLR"] is False


# ---- the type of the numbers


def small():
    conf = NeuralNetConfiguration(seed=1, updater="nesterovs").list(
        DenseLayer(n_in=2, n_out=3), OutputLayer(n_in=3, n_out=2)
    )
    return MultiLayerNetwork(conf).init()


N = 2 * 3 + 3 + 3 * 2 + 2
HALVES = np.arange(N, dtype=np.float16)[None] / 4


def of_type(path, vector, document=None, state=None):
    """Write the small network with other arrays in it: arrays, or bytes as they shall stand in the file."""
    document = {**json.loads(small().conf.to_json()), **(document or {})}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("configuration.json", json.dumps(document))
        for name, content in (("coefficients.bin", vector), ("updaterState.bin", state)):
            if content is not None:
                archive.writestr(name, content if isinstance(content, bytes) else serde.to_bytes(content))
    return path


@pytest.mark.parametrize("half", ["HALF", "BFLOAT16"])
def test_sixteen_bits_are_computed_in_thirty_two(half, tmp_path):
    stored = HALVES if half == "HALF" else bfloat16_bytes(HALVES)
    net = MultiLayerNetwork.load(of_type(tmp_path / "half.zip", stored, {"dataType": half}, stored))
    assert net.dtype == nd.dtype_name(net.params()) == "float32"
    np.testing.assert_array_equal(host(net.params()), HALVES)
    np.testing.assert_array_equal(host(net.updater_state()), HALVES)
    net.save(tmp_path / "again.zip")
    assert json.loads(entries_of(tmp_path / "again.zip")["configuration.json"])["dataType"] == "FLOAT"


def utf(text):
    return struct.pack(">H", len(text)) + text.encode()


def bfloat16_bytes(array):
    """The format by hand: shape information of long integers, then the high halves of floats."""
    info = struct.pack(">8q", 2, *array.shape, 1, 1, 2048, 1, 99)
    highs = array.astype(">f4").tobytes()
    data = b"".join(highs[start : start + 2] for start in range(0, len(highs), 4))
    head = utf("MIXED_DATA_TYPES") + struct.pack(">q", 8) + utf("LONG")
    return head + info + utf("MIXED_DATA_TYPES") + struct.pack(">q", array.size) + utf("BFLOAT16") + data


@pytest.mark.parametrize("declared", ["FLOAT", "DOUBLE", None])
@pytest.mark.parametrize("stored", ["float32", "float64"])
def test_the_stored_type_counts_not_the_declared_one(declared, stored, tmp_path):
    """As in Java, which sets the configuration's type to that of coefficients.bin: old files do not declare any."""
    path = of_type(tmp_path / "net.zip", HALVES.astype(stored), {"dataType": declared})
    net = MultiLayerNetwork.load(path)
    assert net.dtype == net.conf.base.dtype == nd.dtype_name(net.params()) == stored
    assert nd.dtype_name(net.output(np.ones((1, 2)))) == stored


def test_integers_are_no_parameters(tmp_path):
    path = of_type(tmp_path / "net.zip", np.arange(N, dtype=np.int64)[None])
    with pytest.raises(nd.FormatError, match=r"coefficients\.bin must hold floating point numbers, got int64"):
        MultiLayerNetwork.load(path)


def test_bytes_behind_the_array_are_refused(tmp_path):
    path = of_type(tmp_path / "net.zip", serde.to_bytes(HALVES) + b"\x00")
    with pytest.raises(nd.FormatError, match=r"coefficients\.bin must hold one array and nothing else"):
        MultiLayerNetwork.load(path)


def test_an_updater_of_before_05_is_left_alone(tmp_path):
    path = of_type(tmp_path / "net.zip", HALVES)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("updater.bin", b"\xac\xed\x00\x05sr\x00\x00")
    assert not host(MultiLayerNetwork.load(path).updater_state()).any()


def test_counters_of_the_file(tmp_path):
    net = MultiLayerNetwork.load(of_type(tmp_path / "net.zip", HALVES, {"iterationCount": 7, "epochCount": 3}))
    assert (net.iteration_count, net.epoch_count) == (7, 3)
    file = ModelFile.read(tmp_path / "net.zip")
    assert (file.iteration_count, file.epoch_count) == (7, 3)


def test_what_java_drops_is_said_once_for_a_file(reference, tmp_path):
    entries = entries_of(reference / "regression" / "050" / "050_ModelSerializer_Regression_MLP_1.zip")
    document = json.loads(entries["configuration.json"])
    for conf in document["confs"]:
        next(iter(conf["layer"].values()))["learningRateSchedule"] = {"10": 0.01}
    with zipfile.ZipFile(tmp_path / "net.zip", "w") as archive:
        for name, content in {**entries, "configuration.json": json.dumps(document)}.items():
            archive.writestr(name, content)
    message = r"confs\[0\]\.layer\.learningRateSchedule; confs\[1\]\.layer\.learningRateSchedule"
    for read in (MultiLayerNetwork.load, ModelFile.read):
        with pytest.warns(ModelFileWarning, match=message) as warned:
            read(tmp_path / "net.zip")
        assert len(warned) == 1
