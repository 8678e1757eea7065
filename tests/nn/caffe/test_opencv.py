"""Nets forward, beside OpenCV's dnn: of one layer with random settings, and random small ones. `make test-extras`."""

import itertools

import numpy as np
import pytest

import nd
from tests.cases.opencv_layers import DRAWERS
from tests.cases.opencv_nets import RandomNet

RELATIVE = 1e-5
"""Of the largest number of a blob."""
CASES, MANY = 6, 100
"""Of each type; and under the marker slow."""
NETS, MANY_NETS = 40, 600


def text_of(kind, drawn):
    """Return the net of a layer whose bottoms are inputs."""
    layers = []
    for at, shape in enumerate(drawn.bottoms):
        dims = " ".join(f"dim: {length}" for length in shape)
        name = f'name: "in{at}" type: "Input" top: "in{at}"'
        layers.append(f"layer {{ {name} input_param {{ shape {{ {dims} }} }} }}")
    bottoms = " ".join(f'bottom: "in{at}"' for at in range(len(drawn.bottoms)))
    tops = " ".join(f'top: "out{at}"' for at in range(drawn.tops))
    layers.append(f'layer {{ name: "out0" type: "{kind}" {bottoms} {tops} {drawn.settings} }}')
    return "\n".join(layers)


def numbers_for(kind, shape, rng, at, positive):
    """Return a bottom: numbers, of ROIPooling's second one rectangles."""
    if kind == "ROIPooling" and at:
        corners = np.sort(rng.integers(0, 17, (shape[0], 2, 2)), 1).reshape(shape[0], 4)
        return np.concatenate([np.zeros((shape[0], 1)), corners], 1).astype("float32")
    return (rng.uniform(0.5, 2.0, shape) if positive else rng.normal(0.0, 1.0, shape)).astype("float32")


def fill_weights(net, rng):
    """Draw all parameters, weights so that numbers stay about as large; variances and scale factors above 0."""
    kinds = {layer.name: layer.type for layer in net.message.layer}
    for name, blobs in net.params.items():
        for at, blob in enumerate(blobs):
            if kinds[name] == "BatchNorm" and at:
                blob.data = rng.uniform(0.5, 1.5, blob.shape)
            else:
                blob.data = rng.normal(0.0, max(1, np.prod(blob.shape[1:])) ** -0.5, blob.shape)


def opencvs_blobs(opencv, net, inputs, folder):
    """Return all blobs that OpenCV computes: by their names, of one written several times the last."""
    from nn.caffe import print_text

    text, model = folder / "net.prototxt", folder / "net.caffemodel"
    text.write_text(print_text(net.message), encoding="utf-8")
    net.save(model)
    theirs = opencv.dnn.readNetFromCaffe(str(text), str(model))
    theirs.enableFusion(False)  # which leaves nothing in blobs between
    theirs.enableWinograd(False)  # which is off by more than 1e-5
    for name, x in inputs.items():
        theirs.setInput(x, name)
    blobs = {}
    for layer in net.message.layer:
        if layer.type != "Input":  # up to there each time: what comes later may write into the memory of what is read
            (tops,) = theirs.forwardAndRetrieve([layer.name])
            blobs.update(zip(layer.top, tops, strict=False))  # MAX Pooling has places too; Split what somebody reads
    return blobs


def check(opencv, net, rng, folder, inputs):
    fill_weights(net, rng)
    expected = opencvs_blobs(opencv, net, inputs, folder)
    net.forward(**inputs)
    assert expected
    for name, array in expected.items():
        ours = nd.to_host(net.blobs[name].data)
        assert ours.shape == array.shape, name
        largest = max(1.0, float(np.abs(array).max())) if array.size else 1.0
        np.testing.assert_allclose(ours, array, rtol=0, atol=RELATIVE * largest, err_msg=name)


def check_layers(opencv, kind, numbers, folder):
    """Check some nets of a type; the message of a failure says the net."""
    from nn.caffe.net import Net

    drawers = itertools.cycle(DRAWERS[kind])
    for seed, drawer in zip(numbers, drawers, strict=False):
        rng = np.random.default_rng([seed, *kind.encode()])
        drawn = drawer(rng)
        text = text_of(kind, drawn)
        inputs = {
            f"in{at}": numbers_for(kind, shape, rng, at, drawn.positive) for at, shape in enumerate(drawn.bottoms)
        }
        try:
            check(opencv, Net(text, seed=1), rng, folder, inputs)
        except Exception as error:
            error.add_note(text)
            raise


def check_nets(opencv, numbers, folder):
    from nn.caffe.net import Net

    for seed in numbers:
        rng = np.random.default_rng([seed])
        drawn = RandomNet(rng, number_of_layers := int(rng.integers(2, 9)))
        inputs = {"data": numbers_for("", drawn.shapes["data"], rng, 0, False)}
        try:
            check(opencv, Net(drawn.text, seed=1), rng, folder, inputs)
        except Exception as error:
            error.add_note(f"{number_of_layers} layers:\n{drawn.text}")
            raise


@pytest.mark.parametrize("kind", sorted(DRAWERS))
def test_a_layer_computes_what_opencv_does(opencv, kind, tmp_path):
    check_layers(opencv, kind, range(CASES), tmp_path)


def test_nets_compute_what_opencv_does(opencv, tmp_path):
    check_nets(opencv, range(NETS), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(DRAWERS))
def test_layers_of_many_settings_compute_what_opencv_does(opencv, kind, tmp_path):
    check_layers(opencv, kind, range(CASES, MANY), tmp_path)


@pytest.mark.slow
def test_many_nets_compute_what_opencv_does(opencv, tmp_path):
    check_nets(opencv, range(NETS, MANY_NETS), tmp_path)
