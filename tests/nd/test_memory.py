import numpy as np
import pytest

import nd
from tests.stand_ins import make_backend


def same_memory(first, second):
    """Tell whether what is written into one array shows in the other."""
    nd.fill(first, 1)
    nd.fill(second, 2)
    return bool(np.any(nd.to_host(first) == 2))


@pytest.mark.parametrize("shape", [(4, 3), (4, 2, 5), (4, 3, 2, 5), (4,)])
def test_a_name_is_the_same_memory_in_every_step(backend, dtype, shape):
    buffers = nd.Buffers(dtype)
    first = buffers("z", shape)
    second = buffers("z", shape)
    assert buffers("z", shape) is second is first
    assert (second.shape, nd.dtype_name(second)) == (shape, dtype)


def test_fresh_buffers_are_new_every_time(backend):
    buffers = nd.Buffers("float32")
    fresh = nd.fresh_buffers("float32")
    again = buffers("z", (4, 3))
    first, second = fresh("z", (4, 3)), fresh("z", (4, 3))
    assert not same_memory(first, second)
    assert not same_memory(first, again)
    assert (first.shape, nd.dtype_name(first)) == ((4, 3), "float32")
    assert nd.dtype_name(fresh("z", (4, 3), "int32")) == "int32"


@pytest.mark.parametrize("axes", [(), (3,), (3, 2, 2)])
def test_a_smaller_batch_is_a_view_of_the_larger_ones_memory(backend, axes):
    buffers = nd.Buffers("float32")
    large = buffers("z", (5, *axes))
    small = buffers("z", (2, *axes))
    assert small.shape == (2, *axes)
    nd.fill(large, 1.0)
    nd.fill(small, 2.0)
    assert np.count_nonzero(nd.to_host(large) == 2.0) == np.prod((2, *axes))
    assert buffers("z", (5, *axes)) is large
    assert buffers("z", (2, *axes)) is small


def test_a_larger_batch_replaces_the_memory(backend):
    buffers = nd.Buffers("float32")
    small = buffers("z", (2, 3))
    large = buffers("z", (5, 3))
    assert not same_memory(large, small)
    small_again = buffers("z", (2, 3))
    assert same_memory(large, small_again)
    assert buffers("z", (5, 3)) is large


def test_growing_keeps_one_memory_however_the_dtype_is_named(backend):
    buffers = nd.Buffers("float32")
    buffers("z", (2, 3), "float32")
    large = buffers("z", (5, 3))
    assert same_memory(large, buffers("z", (2, 3), "float32"))


def test_names_do_not_share(backend):
    buffers = nd.Buffers("float32")
    assert not same_memory(buffers("z", (2, 3)), buffers("a", (2, 3)))


def test_two_buffers_do_not_share(backend):
    first, second = nd.Buffers("float32"), nd.Buffers("float32")
    assert not same_memory(first("z", (2, 3)), second("z", (2, 3)))


def test_dtypes_do_not_share(backend):
    buffers = nd.Buffers("float32")
    floats, integers = buffers("z", (2, 3)), buffers("z", (2, 3), "int32")
    assert not same_memory(floats, integers)
    assert buffers("z", (2, 3)) is floats
    assert buffers("z", (2, 3), "int32") is integers
    assert (nd.dtype_name(floats), nd.dtype_name(integers)) == ("float32", "int32")


@pytest.mark.parametrize("shape", [(0, 3), (2, 0), (3, 1, 1)])
def test_thin_shapes(backend, shape):
    buffers = nd.Buffers("float32")
    assert buffers("z", shape).shape == shape
    assert buffers("z", (4, *shape[1:])).shape == (4, *shape[1:])


@pytest.mark.parametrize("make", [nd.Buffers, nd.fresh_buffers])
def test_the_batch_is_innermost_on_numpy(make):
    with nd.use_backend("numpy"):
        array = make("float32")("z", (4, 3, 2))
    assert array.strides == (4, 2 * 4 * 4, 4 * 4)


def test_where_addresses_are_recorded_outgrown_memory_stays_and_there_is_room(monkeypatch):
    """A captured step writes to where it wrote before, also after a larger minibatch."""
    buffers = nd.Buffers("float32")
    backend = make_backend("strict")
    monkeypatch.setattr(backend, "keeps_addresses", True, raising=False)
    sizes, empty = [], backend.empty
    monkeypatch.setattr(backend, "empty", lambda shape, *rest: sizes.append(shape) or empty(shape, *rest))
    with nd.use_backend(backend):
        small = buffers("z", (4, 3))
        large = buffers("z", (5, 3))
        assert not same_memory(large, small)
        assert same_memory(buffers("z", (8, 3)), large)
        assert sizes == [(12,), (24,)]
        buffers("z", (9, 3))
        assert sizes == [(12,), (24,), (48,)]
    assert len(buffers._kept) == 2


def test_a_dtype_must_be_named():
    with pytest.raises(nd.NdError, match="Buffers"):
        nd.Buffers(3)
