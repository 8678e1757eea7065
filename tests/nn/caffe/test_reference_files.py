"""Files that Caffe wrote, and BVLC's own nets and solvers."""

import numpy as np
import pytest

import nd
from nn.caffe import (
    blobproto_to_array,
    filter_net,
    insert_splits,
    parse_text,
    print_text,
    proto,
    read_message,
    read_net,
    read_solver,
    read_weights,
    unknown_fields,
    upgrade_net,
    with_state,
    write_message,
)

LENET_SHAPES = {
    "conv1": [(20, 1, 5, 5), (20,)], "conv2": [(50, 20, 5, 5), (50,)], "ip1": [(500, 800), (500,)],
    "ip2": [(10, 500), (10,)],
}  # fmt: skip
CIFAR_SHAPES = {
    "conv1": [(32, 3, 5, 5), (1, 1, 1, 32)], "conv2": [(32, 32, 5, 5), (1, 1, 1, 32)],
    "conv3": [(64, 32, 5, 5), (1, 1, 1, 64)], "ip1": [(1, 1, 64, 1024), (1, 1, 1, 64)],
    "ip2": [(1, 1, 10, 64), (1, 1, 1, 10)],
}  # fmt: skip


@pytest.fixture(scope="module")
def texts(caffe_reference):
    found = sorted(caffe_reference.rglob("*.prototxt"))
    assert len(found) >= 60
    return found


def kind_of(path):
    """A solver has a learning rate, a net has not."""
    return "SolverParameter" if "base_lr" in path.read_text() else "NetParameter"


def is_used_once_each(net):
    """Whether every bottom is a top that no layer has used since it was written, as Caffe's Net wants it."""
    free = set()
    for layer in net.layer:
        if not free.issuperset(layer.bottom):
            return False
        free = (free - set(layer.bottom)) | set(layer.top)
    return True


def test_every_text_parses_prints_and_parses_again(texts):
    for path in texts:
        message = read_message(path, kind_of(path))
        assert message.ByteSize() > 0, path
        assert parse_text(print_text(message), kind_of(path)) == message, path
        assert type(message).FromString(message.SerializeToString()) == message, path


def test_every_net_is_upgraded_filtered_and_split(texts):
    nets = [path for path in texts if kind_of(path) == "NetParameter"]
    split = 0
    for path in nets:
        net = read_net(path)
        assert not net.layers, path
        assert not net.input, path
        assert upgrade_net(net) == net
        for phase, stages in (("TRAIN", ()), ("TEST", ("test-on-test",))):
            there = filter_net(with_state(net, phase, stages=stages))
            assert filter_net(there) == there, path
            got = insert_splits(there)
            assert insert_splits(got) == got, path
            assert is_used_once_each(got), path
            split += got != there
    assert split > 10


def test_every_solver_is_read(texts):
    solvers = [read_solver(path) for path in texts if kind_of(path) == "SolverParameter"]
    assert {"SGD", "AdaDelta", "Adam", "RMSProp"} <= {solver.type for solver in solvers}
    assert all(solver.base_lr > 0 and solver.snapshot_prefix for solver in solvers)


def shapes(path):
    return {layer.name: [tuple(blob.data.shape) for blob in layer.blobs.values()] for layer in read_weights(path)}


def test_trained_weights(caffe_reference):
    lenet = caffe_reference / "lenet" / "lenet_iter_10000.caffemodel"
    cifar = caffe_reference / "cifar10_quick" / "cifar10_quick_iter_5000_v1.caffemodel"
    assert shapes(lenet) == LENET_SHAPES
    assert shapes(cifar) == CIFAR_SHAPES
    assert [blob.is_legacy for layer in read_weights(cifar) for blob in layer.blobs.values()] == [True] * 10
    assert unknown_fields(read_net(lenet)) == unknown_fields(read_net(cifar)) == []


def test_the_weights_are_the_right_ones(caffe_reference):
    """A dense layer on what another implementation computed before it gives what that computed behind it."""
    folder = caffe_reference / "layers"
    case = np.load(folder / "inner_product_axis3.npz")
    (layer,) = read_weights(folder / "inner_product_axis3.caffemodel")
    x, expected = (case[next(name for name in case if name.startswith(kind))] for kind in ("in_", "out_"))
    weights = np.asarray(nd.to_host(layer.blobs[0].data), "float64")
    np.testing.assert_allclose(x.astype("float64") @ weights.T, expected, rtol=1e-5, atol=1e-6)


def test_an_old_net_in_the_newest_schema(caffe_reference, tmp_path):
    net = read_net(caffe_reference / "cifar10_quick" / "cifar10_quick_iter_5000_v1.caffemodel")
    assert [layer.type for layer in net.layer] == [
        "Data", "Convolution", "Pooling", "ReLU", "Convolution", "ReLU", "Pooling", "Convolution", "ReLU", "Pooling",
        "InnerProduct", "InnerProduct", "SoftmaxWithLoss",
    ]  # fmt: skip
    assert [(spec.lr_mult, spec.decay_mult) for spec in net.layer[1].param] == [(1.0, 1.0), (2.0, 1.0)]
    assert net.layer[0].transform_param.HasField("mean_file")
    assert not net.layer[0].data_param.HasField("mean_file")
    write_message(net, tmp_path / "new.caffemodel")
    again = read_net(tmp_path / "new.caffemodel")
    assert again == net
    first = blobproto_to_array(again.layer[1].blobs[0])
    assert np.isfinite(first).all()
    assert np.std(first) > 0
    assert isinstance(again, proto.NetParameter)
