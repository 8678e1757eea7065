"""Nets of Caffe as models of Keras: what is read back computes what Caffe did."""

import numpy as np

import nd
from nn.caffe.net import Net
from nn.keras import graph_of


def test_lenets_answers_to_digits(caffe_reference, tmp_path):
    digits = np.load(caffe_reference / "lenet" / "mnist100_ip2.npz")
    net = Net(caffe_reference / "lenet" / "lenet.prototxt", caffe_reference / "lenet" / "lenet_iter_10000.caffemodel")
    net.save(tmp_path / "lenet.keras")
    found = graph_of(tmp_path / "lenet.keras", isolated=False).output(np.float32(digits["images"][:, None] / 256.0))
    found = found[0] if isinstance(found, list) else found
    powers = np.exp(digits["ip2"] - digits["ip2"].max(1, keepdims=True))
    np.testing.assert_allclose(nd.to_host(found), powers / powers.sum(1, keepdims=True), rtol=1e-3, atol=1e-5)
