"""Nets that Caffe trained: LeNet on digits, cifar10_quick on three pictures."""

import numpy as np
import pytest

import nd

pytest.importorskip("google.protobuf", reason="the extra caffe is not installed")

from nn.caffe import read_picture
from nn.caffe.net import Net

MEAN = np.array([113.9, 123.0, 125.3], np.float32)[:, None, None]  # blue, green, red of CIFAR-10's pictures
CLASSES = {"dog10": 5, "cat10": 3, "truck10": 9}


def lenet(folder, **settings):
    return Net(folder / "lenet" / "lenet.prototxt", folder / "lenet" / "lenet_iter_10000.caffemodel", **settings)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_blobs_of_lenet_are_those_of_another_implementation(caffe_reference, dtype):
    net, expected = lenet(caffe_reference, dtype=dtype), np.load(caffe_reference / "lenet" / "lenet_blobs.npz")
    net.blobs["data"].reshape(*expected["input"].shape)
    net.forward(data=expected["input"])
    for name in ("conv1", "pool2", "ip2", "prob"):
        np.testing.assert_allclose(nd.to_host(net.blobs[name].data), expected[name], rtol=1e-5, atol=1e-5)


def test_logits_of_a_hundred_digits(caffe_reference):
    net, expected = lenet(caffe_reference, dtype="float64"), np.load(caffe_reference / "lenet" / "mnist100_ip2.npz")
    images = expected["images"][:, None] * 0.00390625
    net.blobs["data"].reshape(*images.shape)
    net.forward(data=images)
    np.testing.assert_allclose(nd.to_host(net.blobs["ip2"].data), expected["ip2"], rtol=1e-5, atol=1e-5)
    assert (nd.to_host(net.blobs["prob"].data).argmax(1) == expected["labels"]).mean() >= 0.98


def test_lenet_knows_the_digits_of_mnist(caffe_reference, mnist_folder):
    from nd.dataset import MnistDataSetIterator

    net = lenet(caffe_reference)
    right, loss, examples = 0, 0.0, 0
    for batch in MnistDataSetIterator(1000, train=False):
        images = nd.to_host(batch.features).reshape(-1, 1, 28, 28) * np.float32(255 * 0.00390625)
        labels = nd.to_host(batch.labels).argmax(1)
        net.blobs["data"].reshape(*images.shape)
        prob = nd.to_host(net.forward(data=images)["prob"]).astype(float)
        right += int((prob.argmax(1) == labels).sum())
        loss -= float(np.log(prob[np.arange(len(labels)), labels]).sum())
        examples += len(labels)
    assert (examples, right) == (10_000, 9_914)
    assert loss / examples == pytest.approx(0.02727, abs=1e-5)


def test_cifar10_quick_sees_a_dog_a_cat_and_a_truck(caffe_reference):
    folder = caffe_reference / "cifar10_quick"
    net = Net(folder / "cifar10_quick.prototxt", folder / "cifar10_quick_iter_5000_v1.caffemodel")
    net.blobs["data"].reshape(1, 3, 32, 32)
    for name, expected in CLASSES.items():
        picture = nd.to_host(read_picture(folder / f"{name}.png")).astype(np.float32)
        assert net.forward(data=(picture - MEAN)[None])["prob"].argmax() == expected
