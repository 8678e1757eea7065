"""Nets of Caffe as models of ONNX: onnxruntime computes what the net does, and what Caffe did."""

import numpy as np
import onnx
import onnxruntime
import pytest

import nd
from nn.caffe.net import Net
from tests.nn.caffe.test_to_graph_nets import random_weights

CLOSE = {"rtol": 1e-5, "atol": 1e-5}


def session(net, path, **settings):
    net.save(path, **settings)
    onnx.checker.check_model(path, full_check=True)
    return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])


def test_lenets_answers_to_digits(caffe_reference, tmp_path):
    digits = np.load(caffe_reference / "lenet" / "mnist100_ip2.npz")
    net = Net(caffe_reference / "lenet" / "lenet.prototxt", caffe_reference / "lenet" / "lenet_iter_10000.caffemodel")
    runs = session(net, tmp_path / "lenet.onnx", opset=17)
    assert [one.name for one in runs.get_inputs()] == ["data"]
    assert [one.name for one in runs.get_outputs()] == ["prob"]
    (found,) = runs.run(None, {"data": np.float32(digits["images"][:, None] / 256.0)})
    powers = np.exp(digits["ip2"] - digits["ip2"].max(1, keepdims=True))
    np.testing.assert_allclose(found, powers / powers.sum(1, keepdims=True), rtol=1e-3, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["bvlc_reference_caffenet", "bvlc_googlenet"])
def test_models(caffe_reference, tmp_path, model):
    net = random_weights(caffe_reference / "prototxt" / f"models.{model}.deploy.prototxt", 1, 2)
    x = np.random.default_rng(0).normal(0.0, 1.0, net.blobs["data"].shape).astype("float32")
    (found,) = session(net, tmp_path / "net.onnx").run(None, {"data": x})
    np.testing.assert_allclose(found, net.forward(data=x)["prob"], **CLOSE)


def test_settings_are_for_onnx_alone(caffe_reference, tmp_path):
    net = Net(caffe_reference / "lenet" / "lenet.prototxt")
    with pytest.raises(nd.ConfigurationError, match=r"save: opset must be for a model of ONNX.*got .*net\.caffemodel"):
        net.save(tmp_path / "net.caffemodel", opset=17)
