"""Nets of one layer, with inputs and outputs of another implementation: those whose type is in LAYERS."""

import functools

import numpy as np
import pytest

import nd

pytest.importorskip("google.protobuf", reason="the extra caffe is not installed")

from nn.caffe import read_net, read_weights
from nn.caffe.layers import LAYERS, layer_class
from nn.caffe.layers.base import CaffeLayerConf, check_counts
from nn.vertices import VertexContext
from tests.cells import run_all
from tests.layers_at_work import memory_of_gradients

CLOSE = {"rtol": 1e-5, "atol": 1e-6}  # of numbers near 1


def layers_of(path):
    """Return the one layer that computes, and the blobs of others: the inputs."""
    net = read_net(path)
    inputs = [top for layer in net.layer if layer.type == "Input" for top in layer.top]
    (layer,) = (layer for layer in net.layer if layer.type != "Input")
    assert set(layer.bottom) <= set(inputs)
    return layer


def tops_of(layer, weights, bottoms):
    """Run a layer's class in TEST on float32 arrays; return its tops."""
    shapes = tuple(x.shape for x in bottoms)
    probe = layer_class(layer.type)(CaffeLayerConf(layer, "TEST", shapes), "layer 'probe'", "float32")
    check_counts(probe)
    tops = tuple(map(tuple, probe.top_shapes(shapes)))
    conf = CaffeLayerConf(layer, "TEST", shapes, tuple(probe.blobs(shapes)), tops)
    at_work = conf.runtime(conf, f"layer {layer.name!r}", "float32")
    params = memory_of_gradients(at_work)
    assert len(params) == len(weights)
    for (name, view), blob in zip(params.items(), weights, strict=True):
        assert tuple(view.shape) == tuple(blob.data.shape), name
        nd.assign(view, blob.data)
    needs = (False,) * len(bottoms)
    ctx = VertexContext(False, nd.Buffers("float32"), (None,) * len(bottoms), needs, {})
    found, _, _ = at_work.propagate([nd.create(x, "float32") for x in bottoms], (), params, ctx)
    found = list(found) if at_work.outputs != 1 else [found]
    assert [tuple(top.shape) for top in found] == list(tops)
    return [nd.to_host(top) for top in found]


def check_net(path):
    layer, weights = layers_of(path), []
    model = path.with_suffix(".caffemodel")
    if model.exists():
        (saved,) = read_weights(model)
        weights = [saved.blobs[number] for number in sorted(saved.blobs)]
    with np.load(path.with_suffix(".npz")) as arrays:
        bottoms = [arrays[f"in_{name}"] for name in layer.bottom]
        for name, top in zip(layer.top, tops_of(layer, weights, bottoms), strict=True):
            np.testing.assert_allclose(top, arrays[f"out_{name}"], **CLOSE)


def test_every_net_gives_the_other_implementations_numbers(caffe_reference):
    paths = sorted((caffe_reference / "layers").glob("*.prototxt"))
    assert len(paths) >= 20
    known = [path for path in paths if layers_of(path).type in LAYERS]
    assert len(known) >= 10
    run_all("nets", {path.stem: functools.partial(check_net, path) for path in known})
