"""Java's own networks whose layers came to this library later: their outputs and gradients, number by number."""

from pathlib import Path

import numpy as np
import pytest

import nd
from nd import serde
from nd.activations import Sigmoid, SoftSign, Tanh
from nn import ComputationGraph, Dropout, ModelFile, MultiLayerNetwork
from optimize import RmsProp

OUTPUT, GRADIENT = 1e-6, 1e-5
CASES = Path(__file__).parent.parent / "cases"


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


@pytest.mark.parametrize(("name", "kind"), [("LSTM_1", MultiLayerNetwork), ("CG_LSTM_1", ComputationGraph)])
def test_recurrent_networks_of_07_answer_as_java(name, kind, reference, tmp_path):
    """What M2.1 and M1.1 answer with parameters times 0.002, with these files and with what is saved again here."""
    net = kind.load(reference / "regression" / "071" / f"071_ModelSerializer_Regression_{name}.zip")
    ramp = np.arange(1, 478, dtype=np.float32)[None]
    for vector in (net.params(), net.updater_state()):
        np.testing.assert_array_equal(nd.to_host(nd.copy(vector)), ramp)
    graves, both, _ = (node.conf for node in net.conf.nodes)
    assert [(type(layer).__name__, layer.n_in, layer.n_out) for layer in (graves, both)] == [
        ("GravesLSTM", 3, 4), ("GravesBidirectionalLSTM", 4, 4),
    ]  # fmt: skip
    assert (graves.activation, both.activation) == (Tanh(), SoftSign())
    for layer in (graves, both):
        assert (layer.gate_activation, layer.forget_gate_bias_init) == (Sigmoid(), 1.0)
        assert (layer.updater, layer.drop_out) == (RmsProp(0.15, 0.96), Dropout(0.6))
    net.save(tmp_path / "again.zip")
    with np.load(CASES / "java_old_series.npz") as java:
        for each in (net, kind.load(tmp_path / "again.zip")):
            each.set_params(0.002 * ramp)
            output = each.output(java["x"])
            assert distance(output[0] if isinstance(output, (list, tuple)) else output, java["out"]) < OUTPUT
