"""Models that PyTorch's exporters wrote, with what onnxruntime computed of them."""

import collections

import numpy as np
import pytest

import nn

pytest.importorskip("onnx")


@pytest.fixture(scope="module")
def zoo(onnx_reference):
    return sorted((onnx_reference / "zoo").glob("*.onnx"))


def test_every_model_computes_what_onnxruntime_did(zoo):
    assert len(zoo) == 48
    classes = collections.Counter()
    for path in zoo:
        with np.load(path.with_suffix(".npz")) as arrays:
            x, wanted = arrays["x0"], [arrays[f"y{number}"] for number in range(len(arrays.files) - 1)]
        net = nn.load(path)
        for given, expected in zip(net.output(x), wanted, strict=True):
            np.testing.assert_allclose(given, expected, rtol=1e-5, atol=1e-5, err_msg=path.name)
        for given, expected in zip(net.output(x[:1]), wanted, strict=True):  # whatever batch size the file was made for
            np.testing.assert_allclose(given, expected[:1], rtol=1e-5, atol=1e-5, err_msg=path.name)
        classes.update(type(conf).__name__ for conf in net.conf.vertices.values())
    assert classes["OnnxVertex"] == 8  # the Gelu of the error function
