"""Java's own networks whose layers came to this library later: their outputs and gradients, number by number."""

import numpy as np
import pytest

import nd
from nd import serde
from nn import ModelFile, MultiLayerNetwork

OUTPUT, GRADIENT = 1e-6, 1e-5


def distance(ours, theirs):
    return np.abs(nd.to_host(nd.copy(ours)) - theirs).max()


@pytest.fixture
def upsampling(reference):
    """1.0.0-alpha: Convolution 2x2, Upsampling2D 2, Convolution 2x2, Output; tanh, Same."""
    return reference / "regression" / "100a" / "upsampling"


def test_upsampling_predicts_as_java(upsampling):
    net = MultiLayerNetwork.load(upsampling / "net.bin")
    assert [type(layer).__name__ for layer in net.conf.layers] == [
        "ConvolutionLayer", "Upsampling2D", "ConvolutionLayer", "OutputLayer",
    ]  # fmt: skip
    assert net.conf.layers[1].size == (2, 2)
    assert distance(net.output(serde.load(upsampling / "in.bin")), serde.load(upsampling / "out.bin")) < OUTPUT


def test_the_gradient_through_upsampling_is_javas(upsampling):
    net = MultiLayerNetwork.load(upsampling / "net.bin")
    net.set_input(serde.load(upsampling / "in.bin"))
    net.set_labels(serde.load(upsampling / "labels.bin"))
    net.compute_gradient_and_score()
    assert distance(net.flattened_gradients(), serde.load(upsampling / "gradient.bin")) < GRADIENT


def test_the_synthetic_network_of_beta4_predicts_as_java(reference):
    """Convolution, Separable, Subsampling, ZeroPadding, Upsampling, Depthwise, Cropping, CnnLoss, one after another."""
    folder = reference / "regression" / "100b4"
    net = MultiLayerNetwork.load(folder / "SyntheticCNN_100b4.bin")
    x, expected = (serde.load(folder / f"SyntheticCNN_{end}_100b4.bin") for end in ("Input", "Output"))
    assert expected.shape == (4, 4, 11, 22)
    assert distance(net.output(x), expected) < OUTPUT


@pytest.mark.parametrize("name", ["100a/upsampling/net.bin", "100b4/SyntheticCNN_100b4.bin"])
def test_reading_and_writing_keeps_every_bit(name, reference, tmp_path):
    path = reference / "regression" / name
    MultiLayerNetwork.load(path).save(tmp_path / "again.zip")
    theirs, ours = ModelFile.read(path), ModelFile.read(tmp_path / "again.zip")
    assert nd.to_host(ours.params).tobytes() == nd.to_host(theirs.params).tobytes()
    if theirs.updater_state is not None:
        assert nd.to_host(ours.updater_state).tobytes() == nd.to_host(theirs.updater_state).tobytes()
    assert list(ours.param_table()) == list(theirs.param_table())
    assert ours.unsupported == theirs.unsupported == ()


def test_the_synthetic_network_is_written_as_java_wrote_it(reference, tmp_path):
    """Java's own fields; beta4 had not yet those that say where the channels are."""
    path = reference / "regression" / "100b4" / "SyntheticCNN_100b4.bin"
    MultiLayerNetwork.load(path).save(tmp_path / "again.zip")
    theirs, ours = ModelFile.read(path).document, ModelFile.read(tmp_path / "again.zip").document
    for before, after in zip(theirs["confs"], ours["confs"], strict=True):
        constants = before["layer"].keys() - {"activationFn"}  # M1 writes more of an activation's constants
        assert {key: after["layer"][key] for key in constants} == {key: before["layer"][key] for key in constants}
        assert {key: after[key] for key in before.keys() - {"layer"}} == {
            key: before[key] for key in before.keys() - {"layer"}
        }


def test_recurrent_networks_of_07_are_read_and_not_run(reference):
    path = reference / "regression" / "071" / "071_ModelSerializer_Regression_LSTM_1.zip"
    model = ModelFile.read(path)
    ramp = np.arange(1, 478, dtype=np.float32)[None]
    assert (nd.to_host(model.params) == ramp).all()
    assert (nd.to_host(model.updater_state) == ramp).all()
    assert [where for where, _ in model.unsupported] == ["confs[0].layer", "confs[1].layer"]
    with pytest.raises(nd.ConfigurationError, match=r"2 things are not supported(?s:.*)GravesLSTM(?s:.*)GravesBidir"):
        MultiLayerNetwork.load(path)
