"""A blob: its shape, old names of axes, sums, what stays of it in another shape."""

import numpy as np
import pytest

pytest.importorskip("google.protobuf", reason="the extra caffe is not installed")

import nd
from nn.caffe.net import Net
from tests.cases import caffe_small_nets as nets
from tests.cases.caffe_small_nets import layer, product
from tests.cells import every_row


def a_blob(*shape):
    return Net(nets.inputs(x=shape) + layer("one", "ReLU", "x", "y"), dtype="float64").blobs["x"]


@every_row("shape", [(), (3,), (2, 3), (2, 3, 4, 5), (1, 2, 3, 4, 5)])
def test_what_a_blob_says_of_its_shape(shape):
    blob = a_blob(*shape)
    assert blob.shape == blob.data.shape == blob.diff.shape == shape
    assert (blob.count, blob.num_axes) == (int(np.prod(shape)), len(shape))
    if len(shape) > 4:
        with pytest.raises(
            nd.ShapeError, match=r"blob 'x': num, channels, height and width need at most four axes, got \["
        ):
            _ = blob.num
        return
    padded = (*shape, 1, 1, 1, 1)[:4]
    assert (blob.num, blob.channels, blob.height, blob.width) == padded


def test_elements_stay_where_there_are_as_many():
    blob = a_blob(2, 6)
    values = blob.data
    values[...] = np.arange(12.0).reshape(2, 6)
    blob.reshape(3, 4)
    np.testing.assert_array_equal(blob.data, np.arange(12.0).reshape(3, 4))
    assert np.shares_memory(values, blob.data)
    blob.reshape([12])
    assert blob.shape == (12,)
    blob.reshape(5, 5)
    assert blob.data.shape == blob.diff.shape == (5, 5)
    with pytest.raises(
        nd.ShapeError, match=r"blob 'x': a shape must have at most 32 axes, none negative.* got \[2, -1\]"
    ):
        blob.reshape(2, -1)
    with pytest.raises(nd.ShapeError, match="at most 32 axes"):
        blob.reshape(*[1] * 33)
    with pytest.raises(nd.ShapeError, match="2,147,483,647 elements"):
        blob.reshape(1 << 16, 1 << 16)


def test_sums():
    blob = a_blob(2, 2)
    blob.data, blob.diff = [[1, -2], [3, -4]], [[0.5, 0.5], [-1, 0]]
    assert (blob.asum_data(), blob.asum_diff()) == (10.0, 2.0)
    assert (blob.sumsq_data(), blob.sumsq_diff()) == (30.0, 1.5)


def test_arithmetic(backend):
    blob = a_blob(2, 2)
    blob.data, blob.diff = [[1, -2], [3, -4]], [[0.5, 0.5], [-1, 0]]
    values = blob.data
    blob.update()
    np.testing.assert_array_equal(nd.to_host(values), [[0.5, -2.5], [4, -4]])
    blob.scale_data(2.0)
    blob.scale_diff(-1.0)
    np.testing.assert_array_equal(nd.to_host(values), [[1, -5], [8, -8]])
    np.testing.assert_array_equal(nd.to_host(blob.diff), [[-0.5, -0.5], [1, 0]])


def test_a_blob_is_copied():
    blob, other = a_blob(2, 2), a_blob(4)
    blob.data, blob.diff = [[1, -2], [3, -4]], [[0.5, 0.5], [-1, 0]]
    with pytest.raises(nd.ShapeError, match=r"blob 'x': expected \[4\], got \[2, 2\]"):
        other.copy_from(blob)
    other.copy_from(blob, reshape=True)
    other.copy_from(blob, copy_diff=True)
    np.testing.assert_array_equal(other.data, blob.data)
    np.testing.assert_array_equal(other.diff, blob.diff)
    assert not np.shares_memory(other.data, blob.data)


def test_numbers_are_copied_in():
    blob = a_blob(2, 2)
    values = np.ones((2, 2))
    blob.data = values
    blob.data[0, 0] = 7.0
    assert values[0, 0] == 1.0
    blob.diff = 3
    np.testing.assert_array_equal(blob.diff, np.full((2, 2), 3.0))
    with pytest.raises(nd.ShapeError, match=r"blob 'x': expected \[2, 2\], got \[2\]\. Reshape the blob before"):
        blob.data = np.ones(2)
    assert repr(blob) == "<Blob 'x' [2, 2]>"


def test_a_parameter_keeps_its_shape():
    blob = Net(nets.inputs(x=(2, 3)) + product("ip", "x", "y", 4)).params["ip"][0]
    blob.reshape(4, 3)
    with pytest.raises(nd.ShapeError, match=r"blob 'ip\[0\]': a parameter must keep its shape \[4, 3\], got \[12\]"):
        blob.reshape(12)


@every_row("dtype", ["float32", "float64"])
def test_arrays_have_the_dtype_of_the_net(dtype):
    net = Net(nets.tiny(), seed=1, dtype=dtype)
    net.forward_backward()
    for blob in [*net.blobs.values(), *net.param_blobs]:
        assert nd.dtype_name(blob.data) == nd.dtype_name(blob.diff) == dtype
    assert net.to_proto().layer[1].blobs[0].double_data if dtype == "float64" else True
    assert net.memory_used == (8 if dtype == "float64" else 4) * (5 * 24 + 5 + 5000 + 1)


def test_arrays_outlive_the_net():
    net = Net(nets.tiny("force_backward: true"), seed=1, dtype="float64")
    net.forward_backward()
    views = [blob.data for blobs in net.params.values() for blob in blobs]
    views += [getattr(blob, which) for blob in net.blobs.values() for which in ("data", "diff")]
    sums = [float(np.sum(view)) for view in views]
    del net
    assert [float(np.sum(view)) for view in views] == sums
    assert np.any(sums)
