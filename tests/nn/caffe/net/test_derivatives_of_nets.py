"""The gradients of whole small nets against central differences, of every parameter and every input."""

import numpy as np
import pytest

pytest.importorskip("google.protobuf", reason="the extra caffe is not installed")

import nd
from nn.caffe.net import Net
from tests.cases.caffe_small_nets import inputs, layer, product
from tests.cells import every_row

STEP = 1e-6
FILL = "weight_filler { type: 'gaussian' std: 0.5 } bias_filler { type: 'gaussian' std: 0.5 }"
CONV = f"convolution_param {{ num_output: 3 kernel_size: 2 {FILL} }}"


def pictures():
    """Convolution, scaling in place, activation in place, pooling, normalisation, two products, two losses."""
    text = inputs(data=(3, 2, 5, 5), label=(3,)) + layer("conv", "Convolution", "data", "conv", CONV)
    text += layer("scale", "Scale", "conv", "conv", "scale_param { bias_term: true filler { value: 1.5 } }")
    text += layer("act", "TanH", "conv", "conv") + layer("norm", "LRN", "conv", "norm", "lrn_param { local_size: 3 }")
    text += layer("pool", "Pooling", "norm", "pool", "pooling_param { pool: AVE kernel_size: 2 stride: 2 }")
    text += product("ip1", "pool", "ip1", 4) + layer("sig", "Sigmoid", "ip1", "ip1") + product("ip2", "ip1", "ip2", 3)
    text += layer("loss", "SoftmaxWithLoss", "ip2 label", "loss", "loss_weight: 0.7")
    return text + layer("other", "Reduction", "norm", "other", "loss_weight: -0.3 reduction_param { operation: SUMSQ }")


def siamese():
    """Two branches with one set of weights, a blob that three layers read, and a top that nobody wants."""
    named = "".join(f"param {{ name: '{name}' }} " for name in ("w", "b"))
    text = inputs(a=(4, 3), b=(4, 3)) + product("one", "a", "fa", 2, named) + product("two", "b", "fb", 2, named)
    text += layer("sum", "Eltwise", "fa fb", "sum", "eltwise_param { coeff: 1 coeff: -2 }")
    text += layer("cat", "Concat", "sum fa", "cat") + layer("unused", "Sigmoid", "cat", "unused")
    text += layer("silent", "Silence", "unused", "")
    return (
        text
        + layer("loss", "EuclideanLoss", "fa fb", "loss")
        + layer("more", "Reduction", "cat", "more", "loss_weight: 2 reduction_param { operation: SUMSQ coeff: 0.1 }")
    )


def places():
    """Shapes that change on the way: slices, flattening, reshaping, tiles, in-place layers behind views."""
    text = inputs(data=(2, 4, 3)) + layer("cut", "Slice", "data", "left right", "slice_param { axis: 1 }")
    text += layer("flat", "Flatten", "left", "flat") + layer("exp", "Exp", "flat", "flat", "exp_param { scale: 0.5 }")
    text += layer("again", "Reshape", "flat", "again", "reshape_param { shape { dim: 0 dim: 2 dim: -1 } }")
    text += layer("elu", "ELU", "right", "right") + layer(
        "mul", "Eltwise", "again right", "mul", "eltwise_param { operation: PROD }"
    )
    text += layer("tile", "Tile", "mul", "tile", "tile_param { axis: 2 tiles: 2 }") + product("ip", "tile", "ip", 2)
    return text + layer("loss", "Reduction", "ip", "loss", "loss_weight: 1 reduction_param { operation: SUMSQ }")


@every_row("text", [pictures(), siamese(), places()], ids=["pictures", "siamese", "places"])
def test_every_gradient_is_a_difference_quotient(text):
    net = Net("force_backward: true\n" + text, seed=7, dtype="float64", phase="TRAIN")
    rng = np.random.default_rng(5)
    arrays = {name: rng.normal(size=net.blobs[name].shape) for name in net.inputs}
    if "label" in arrays:
        arrays["label"] = np.array([0.0, 2.0, 1.0])
    net.forward(**arrays)
    loss = net.loss
    net.backward()
    varied = [(net.blobs[name].data, np.copy(net.blobs[name].diff)) for name in net.inputs if name != "label"]
    varied += [(blob.data, np.copy(blob.diff)) for blob in net.learnable_params]
    assert net.forward_to(len(net.layers) - 1) == loss
    for values, gradient in varied:
        assert np.any(gradient)
        for at in np.ndindex(*values.shape):
            before = values[at]
            quotient = 0.0
            for sign in (1.0, -1.0):
                values[at] = before + sign * STEP
                quotient += sign * net.forward_to(len(net.layers) - 1) / (2.0 * STEP)
            values[at] = before
            np.testing.assert_allclose(gradient[at], quotient, rtol=1e-5, atol=1e-7)


def test_a_recorded_step_and_a_pass_by_hand_have_one_gradient():
    net = Net(pictures(), seed=7, dtype="float64", phase="TRAIN")
    rng = np.random.default_rng(6)
    net.blobs["data"].data, net.blobs["label"].data = rng.normal(size=(3, 2, 5, 5)), [2, 0, 1]
    net.forward_backward()
    by_hand, loss = [np.copy(blob.diff) for blob in net.param_blobs], net.loss
    recorded, _ = net.steps.take(1)
    assert recorded == pytest.approx(loss, rel=1e-12)
    for blob, expected in zip(net.param_blobs, by_hand, strict=True):
        np.testing.assert_allclose(nd.to_host(blob.diff), expected, rtol=1e-9, atol=1e-13)


@every_row("text", [pictures(), siamese(), places()], ids=["pictures", "siamese", "places"])
@pytest.mark.slow
def test_looking_at_blobs_changes_nothing(text, backend):
    """Arrays asked for before, between and after the layers, in any order, are what passes compute without."""
    rng = np.random.default_rng(8)
    for _ in range(2):
        plain, looked = (Net("force_backward: true\n" + text, seed=7, dtype="float64", phase="TRAIN") for _ in range(2))
        for _ in range(2):
            arrays = {name: rng.normal(size=plain.blobs[name].shape) for name in plain.inputs}
            if "label" in arrays:
                arrays["label"] = rng.integers(3, size=3)
            plain.forward(**arrays)
            plain.backward()
            for name, values in arrays.items():
                looked.blobs[name].data = values
            numbers = range(len(looked.layers))
            loss = sum(look_around(looked, rng, looked.forward_from_to, at) for at in numbers)
            for at in reversed(numbers):
                look_around(looked, rng, looked.backward_from_to, at)
            assert loss == pytest.approx(plain.loss, rel=1e-12)
            for one, other in zip(all_arrays(plain), all_arrays(looked), strict=True):
                if backend.name.startswith("array_api"):  # PyTorch's sums depend on where memory begins
                    np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)
                else:
                    np.testing.assert_array_equal(one, other)


def look_around(net, rng, run, at):
    """Ask for some arrays, run, and ask for others."""
    ask_for_some(net, rng)
    result = run(at, at)
    ask_for_some(net, rng)
    return result


def ask_for_some(net, rng):
    for name in rng.choice(list(net.blobs), size=rng.integers(3)):
        getattr(net.blobs[name], rng.choice(["data", "diff"]))


def all_arrays(net):
    """Copies of all arrays, by the net itself: nobody else asks."""
    blobs = [*net.blobs.values(), *net.param_blobs]
    return [nd.to_host(nd.copy(blob.read(which))) for blob in blobs for which in ("data", "diff")]
