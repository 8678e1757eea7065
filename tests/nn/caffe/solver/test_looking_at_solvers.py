"""Whatever looks at a solver's steps changes no bit of them; blobs are there where they are kept, and say so else."""

import contextlib
import functools

import numpy as np
import pytest

import nd
from backends.cpu.numpy_backend import NumpyBackend
from nn.caffe.net import Net
from nn.caffe.solver import get_solver
from tests.cases.caffe_solvers import EVERYTHING, SETTINGS, least_squares, solver_text, write_everything
from tests.cells import every_row
from tests.nn.caffe.solver.test_resume import everything

STEPS = 3
TWO_THREADS = """
layer { name: "data" type: "DummyData" top: "data" top: "label" dummy_data_param {
  shape { dim: 96 dim: 3 dim: 16 dim: 16 } shape { dim: 96 } data_filler { type: "gaussian" }
  data_filler { value: 3 } } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv" convolution_param {
  num_output: 16 kernel_size: 3 weight_filler { type: "msra" } } }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
layer { name: "pool" type: "Pooling" bottom: "conv" top: "pool" pooling_param { kernel_size: 2 stride: 2 } }
layer { name: "ip" type: "InnerProduct" bottom: "pool" top: "ip" inner_product_param {
  num_output: 10 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" }
"""
"""Large enough for two workers."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_everything(tmp_path_factory.mktemp("looking"))


def small(**more):
    return solver_text(EVERYTHING, SETTINGS["Adam"] + " weight_decay: 0.01 clip_gradients: 1", **more)


def callbacks(solver):
    """Functions around every layer, which read what is there and write into nothing."""
    heard = []
    for name in ("before_forward", "after_forward", "before_backward", "after_backward"):
        getattr(solver.net, name)(lambda number, name=name: heard.append((name, number)))
    return heard


WAYS = {
    "callbacks": callbacks,
    "debug_info": lambda solver: setattr(solver.net, "debug_info", True),
    "keep": lambda solver: solver.net.keep(*solver.net.blobs),
    "nothing": lambda solver: None,
    "on_start": lambda solver: solver.add_callback(lambda: None, lambda: None),
}


@functools.cache
def trained(said, folder, way, eager, threads):
    with nd.use_backend(NumpyBackend(threads=threads)):
        solver = get_solver(said, folder=folder)
        (everything_at_once if way == "everything" else WAYS[way])(solver)
        with nd.eager() if eager else contextlib.nullcontext():
            losses = [solver.step(1) for _ in range(STEPS)]
        return losses, everything(solver)


def everything_at_once(solver):
    for way in WAYS.values():
        way(solver)


ALONE = [("large", 2, False, way, 1) for way in sorted(WAYS)] + [("small", 1, False, way, 2) for way in sorted(WAYS)]
AT_ONCE = [
    (net, threads, eager, "everything", size)
    for net in ("large", "small")
    for threads in (1, 2)
    for eager in (False, True)
    for size in (1, 2)
]


@every_row(("net", "threads", "eager", "way", "size"), ALONE + AT_ONCE)
@pytest.mark.slow
def test_looking_changes_nothing(net, threads, eager, way, size, folder):
    said = small(iter_size=size) if net == "small" else solver_text(TWO_THREADS, SETTINGS["SGD"], iter_size=size)
    found, expected = (trained(said, folder, *how, threads) for how in ((way, eager), ("nothing", False)))
    assert found[0] == expected[0]
    assert found[1] == expected[1]


def test_threads_agree_to_rounding(folder):
    said = solver_text(TWO_THREADS, SETTINGS["SGD"], iter_size=1)
    with nd.use_backend(NumpyBackend(threads=2)):
        solver = get_solver(said)
        solver.step(1)
        assert len(solver.net.network.engine.gradients.workers) == 2
    (one, _), (two, _) = (trained(said, folder, "nothing", False, threads) for threads in (1, 2))
    np.testing.assert_allclose(one, two, rtol=1e-4)


def test_callbacks_come_around_every_layer_that_computes(folder):
    solver = get_solver(small(), folder=folder)
    heard = callbacks(solver)
    solver.step(1)
    layers = [
        number for number, layer in enumerate(solver.net.layer_names) if layer not in ("pictures", "rows", "noise")
    ]
    forward = [(name, number) for number in layers for name in ("before_forward", "after_forward")]
    backward = [(name, number) for number in layers[::-1] for name in ("before_backward", "after_backward")]
    assert sorted(heard) == sorted(forward + backward)
    assert [each for each in heard if "forward" in each[0]] == forward


def test_blobs_that_are_not_kept_say_so(folder):
    solver = get_solver(small(), folder=folder)
    net = solver.net
    solver.step(1)
    for name in (*net.outputs, "data", "label", "row", "noise"):
        assert nd.is_array(net.blobs[name].data)
    for name in ("conv", "ip"):
        inner = next(blob for blob in net.blobs if blob.startswith(name))
        for read in (lambda blob: blob.data, lambda blob: blob.diff, lambda blob: blob.asum_data()):
            with pytest.raises(nd.ConfigurationError, match=rf"blob '{inner}': .* Call net\.keep\('{inner}'\)"):
                read(net.blobs[inner])
    net.keep("conv")
    with pytest.raises(nd.ConfigurationError, match="must be kept"):
        net.blobs["conv"].data
    solver.step(1)
    assert np.abs(net.blobs["conv"].data).sum() > 0
    net.keep()
    solver.step(1)
    with pytest.raises(nd.ConfigurationError, match="must be kept"):
        net.blobs["conv"].data
    net.forward()
    assert nd.is_array(net.blobs["conv"].data)
    with pytest.raises(nd.ChoiceError, match=r"unknown blob 'convv'.*Did you mean 'conv'"):
        net.keep("convv")


@every_row("dtype", ["float32", "float64"])
def test_kept_blobs_are_those_of_passes_by_hand(dtype, folder):
    """Data and diffs of every blob, and diffs of parameters, to rounding."""
    solver = get_solver(small(clip=1).replace("clip: 1", ""), folder=folder, dtype=dtype)
    by_hand = Net(solver.net.message, phase="TRAIN", folder=folder, dtype=dtype, seed=7)
    for one, other in zip(by_hand.param_blobs, solver.net.param_blobs, strict=True):
        one.data = other.data
    for layer, other in zip(by_hand.data_layers, solver.net.data_layers, strict=True):
        layer.set_state(other.get_state())
    by_hand.random.set_state(solver.net.random.get_state())
    solver.net.keep(*solver.net.blobs)
    gradient = []
    solver.add_callback(lambda: None, lambda: gradient.extend(np.array(b.diff) for b in solver.net.learnable_params))
    loss = solver.step(1)
    by_hand.clear_param_diffs()
    rtol = 1e-9 if dtype == "float64" else 2e-4
    np.testing.assert_allclose(by_hand.forward_backward(), loss, rtol=rtol)
    for name, blob in solver.net.blobs.items():
        for array in ("data", "diff"):
            mine, theirs = np.array(getattr(blob, array)), np.array(getattr(by_hand.blobs[name], array))
            if array == "diff" and not any(name in bottoms for bottoms in _going_back(by_hand)):
                continue
            scale = max(np.abs(theirs).max(), 1e-30)
            np.testing.assert_allclose(mine, theirs, rtol=0, atol=rtol * scale, err_msg=f"{array} of {name}")
    for mine, blob in zip(gradient, by_hand.learnable_params, strict=True):
        scale = max(np.abs(np.array(blob.diff)).max(), 1e-30)
        np.testing.assert_allclose(mine, blob.diff, rtol=0, atol=rtol * scale, err_msg=blob.name)


def _going_back(net):
    """Return of every layer the bottoms to which a gradient goes."""
    return [
        [name for name, goes in zip(names, flags, strict=True) if goes]
        for names, flags in zip(net.bottom_names.values(), net.bottom_need_backward, strict=True)
    ]


def test_several_losses_are_weighed():
    """The loss of a step is the sum of all, by their weights; an accuracy counts nothing."""
    layers = """
    layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip" inner_product_param { num_output: 2
      weight_filler { type: "gaussian" } } }
    layer { name: "one" type: "EuclideanLoss" bottom: "ip" bottom: "targets" top: "one" loss_weight: 2.5 }
    layer { name: "norm" type: "Reduction" bottom: "ip" top: "norm" loss_weight: 0.25
      reduction_param { operation: SUMSQ } }
    layer { name: "unweighed" type: "EuclideanLoss" bottom: "ip" bottom: "targets" top: "unweighed" loss_weight: 0 }
    """
    solver = get_solver(least_squares("SGD", layers=layers), dtype="float64")
    solver.net.keep("ip")
    loss = solver.step(1)
    blobs = {
        name: np.array(blob.data) for name, blob in solver.net.blobs.items() if name in ("ip", *solver.net.outputs)
    }
    ip, targets = blobs["ip"], np.array(solver.net.blobs["targets"].data)
    one, norm = ((ip - targets) ** 2).sum() / 8, (ip**2).sum()
    for name, value in (("one", one), ("norm", norm), ("unweighed", one)):
        np.testing.assert_allclose(blobs[name], value, rtol=1e-12)
    np.testing.assert_allclose(loss, 2.5 * one + 0.25 * norm, rtol=1e-12)


def test_the_loss_of_several_minibatches_is_their_mean():
    small, large = (get_solver(least_squares("SGD", iter_size=size), dtype="float64") for size in (1, 3))
    losses = [small.net.forward_backward() for _ in range(3)]
    np.testing.assert_allclose(large.step(1), np.mean(losses), rtol=1e-12)


def test_average_loss_smooths():
    plain, smooth = (get_solver(least_squares("SGD", average_loss=count)) for count in (1, 3))
    losses = [plain.step(1) for _ in range(5)]
    np.testing.assert_allclose(smooth.step(5), np.mean(losses[2:]), rtol=1e-6)
    assert np.isnan(smooth.step(0))
