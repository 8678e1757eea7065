"""Files of weights: which is meant, whether it is that one, and whether it fits."""

import io
import zlib
from dataclasses import replace

import numpy as np
import pytest

import nd
from nn import GlobalPoolingLayer, zoo
from nn.zoo.zoo_model import Pretrained


@pytest.fixture(scope="module")
def lenet(tmp_path_factory):
    """A network, and the file that it was saved in."""
    net, path = zoo.LeNet(num_classes=3, input_shape=(1, 8, 8)).init(), tmp_path_factory.mktemp("zoo") / "lenet.zip"
    net.save(path)
    return net, path


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    return tmp_path


def same(one, other):
    np.testing.assert_array_equal(nd.to_host(one.params()), nd.to_host(other.params()))


def known(monkeypatch, path):
    """Let the file be the one that Deeplearning4j knows."""
    files = {"mnist": Pretrained("lenet_dl4j_mnist_inference.zip", zlib.adler32(path.read_bytes()))}
    monkeypatch.setattr(zoo.LeNet, "pretrained", files)


def test_a_file_with_the_known_checksum_is_read(lenet, monkeypatch):
    net, path = lenet
    known(monkeypatch, path)
    same(zoo.LeNet().init_pretrained(path), net)
    same(zoo.LeNet().init_pretrained(path, "mnist"), net)
    same(zoo.LeNet(num_classes=7).init_pretrained(str(path), zoo.PretrainedType.MNIST), net)
    with open(path, "rb") as file:
        same(zoo.LeNet().init_pretrained(file), net)
    same(zoo.LeNet().init_pretrained(io.BytesIO(path.read_bytes())), net)


@pytest.mark.parametrize("arguments", [(), (zoo.PretrainedType.MNIST,), (None, "MNIST")])
def test_the_file_that_java_has_downloaded_is_found(lenet, monkeypatch, home, arguments):
    net, path = lenet
    known(monkeypatch, path)
    folder = home / ".deeplearning4j" / "models" / "lenet"
    folder.mkdir(parents=True)
    (folder / "lenet_dl4j_mnist_inference.zip").write_bytes(path.read_bytes())
    same(zoo.LeNet().init_pretrained(*arguments), net)


def test_other_checksums_are_told(lenet):
    _, path = lenet
    adler = zlib.adler32(path.read_bytes())
    with pytest.raises(nd.FormatError, match=rf"lenet.zip must have the Adler-32 checksum 1906861161 .* got {adler}"):
        zoo.LeNet().init_pretrained(path)


def test_files_of_ones_own_are_compared_by_shapes(lenet):
    net, path = lenet
    same(zoo.LeNet(input_shape=(1, 8, 8)).init_pretrained(path, checksum=False), net)
    same(zoo.LeNet(num_classes=3, input_shape=(1, 8, 8)).init_pretrained(path, checksum=False), net)
    with pytest.raises(nd.ShapeError, match=r"got W \[500, 3\], b \[1, 3\] in the place of W \[500, 4\], b \[1, 4\]"):
        zoo.LeNet(num_classes=4, input_shape=(1, 8, 8)).init_pretrained(path, checksum=False)
    with pytest.raises(nd.ShapeError, match=r"got W \[200, 500\] in the place of W \[2450, 500\]\. Give the settings"):
        zoo.LeNet().init_pretrained(path, checksum=False)
    with pytest.raises(nd.ShapeError, match="must have the parameters of SimpleCNN"):
        zoo.SimpleCNN().init_pretrained(path)
    with pytest.raises(nd.FormatError, match="expected a ComputationGraph, got a MultiLayerNetwork"):
        zoo.VGG16().init_pretrained(path, checksum=False)


@pytest.mark.parametrize(
    ("model", "settings"),
    [
        (zoo.TinyYOLO, {"n_boxes": 2, "prior_boxes": [(1.0, 2.0), (2.0, 1.0)], "input_shape": (3, 32, 32)}),
        (zoo.UNet, {"input_shape": (1, 16, 16)}),
        (zoo.TextGenerationLSTM, {"total_unique_characters": 5}),
    ],
)
def test_the_number_of_classes_is_the_files(model, settings):
    """Compared as configurations: the networks are large."""
    conf = model(num_classes=4, **settings).conf()
    again = model(**settings).with_classes_of(conf).conf()
    assert [node.conf for node in again.nodes] == [node.conf for node in conf.nodes]


def test_the_file_of_another_network_is_no_detectors():
    other = zoo.SqueezeNet(num_classes=3, input_shape=(3, 64, 64)).conf()
    assert zoo.TinyYOLO().with_classes_of(other).num_classes == 1  # so that their shapes are compared


def test_without_a_file_the_address_is_told(home):
    with pytest.raises(
        nd.ConfigurationError, match=r"models/vgg16_dl4j_vggface_inference\.v1\.zip \(vggface\), and give"
    ):
        zoo.VGG16().init_pretrained(zoo.PretrainedType.VGGFACE)
    with pytest.raises(nd.ConfigurationError, match=r"darknet19_448_dl4j_inference\.v2\.zip \(imagenet\)"):
        zoo.Darknet19(input_shape=(3, 448, 448)).init_pretrained()
    with pytest.raises(nd.ConfigurationError, match="Deeplearning4j has no weights of this model"):
        zoo.AlexNet().init_pretrained()
    with pytest.raises(nd.ConfigurationError, match="got none of any kind for this model"):
        zoo.AlexNet().init_pretrained("alexnet.zip", "imagenet")
    with pytest.raises(nd.ChoiceError, match="unknown weights 'mnist', expected one of cifar10, imagenet, vggface"):
        zoo.VGG16().init_pretrained(None, "mnist")
    with pytest.raises(nd.ChoiceError, match=r"unknown data 'imagnet', expected one of .* Did you mean 'imagenet'"):
        zoo.VGG16().pretrained_url("imagnet")
    assert zoo.VGG16().pretrained_url("segment") is None
    assert zoo.VGG16().pretrained_checksum("segment") == 0


@pytest.mark.parametrize("content", [b"", b"PK", b"no zip at all"])
def test_damaged_files_are_told(tmp_path, content):
    path = tmp_path / "damaged.zip"
    path.write_bytes(content)
    for checksum in (True, False):
        with pytest.raises(nd.FormatError, match=r"damaged\.zip"):
            zoo.LeNet().init_pretrained(path, checksum=checksum)
    with pytest.raises(FileNotFoundError, match="absent"):
        zoo.LeNet().init_pretrained(tmp_path / "absent.zip")


def test_squeezenets_file_gives_rows(tmp_path):
    """Its pooling, of Keras' name, leaves axes of length 1: Java collapses them."""
    model = zoo.SqueezeNet(num_classes=4, input_shape=(3, 48, 48))
    conf = model.conf()
    pool = "global_average_pooling2d_5"
    vertices = {{"avg_pool": pool}.get(name, name): vertex for name, vertex in conf.vertices.items()}
    vertices[pool] = replace(vertices[pool], collapse_dimensions=False)
    inputs = {
        {"avg_pool": pool}.get(name, name): tuple({"avg_pool": pool}.get(one, one) for one in below)
        for name, below in conf.vertex_inputs.items()
    }
    shown = replace(conf, vertices=vertices, vertex_inputs=inputs)
    net = type(model.init())(shown).init()
    restored = model.as_restored(net)
    same(restored, net)
    x = np.ones((2, 3, 48, 48), np.float32)
    assert isinstance(restored.conf.vertices[pool], GlobalPoolingLayer)
    assert nd.to_host(restored.output(x)[0]).shape == (2, 4)
    assert model.as_restored(restored) is restored
