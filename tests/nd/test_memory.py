import threading

import numpy as np
import pytest

import nd


def same_memory(first, second):
    """Tell whether what is written into one array shows in the other."""
    nd.fill(first, 1)
    nd.fill(second, 2)
    return bool(np.any(nd.to_host(first) == 2))


@pytest.fixture
def workspace():
    return nd.Workspace("float32")


@pytest.mark.parametrize("shape", [(4, 3), (4, 2, 5), (4, 3, 2, 5), (4,)])
def test_inside_a_name_is_the_same_memory_in_every_step(backend, dtype, shape):
    workspace = nd.Workspace(dtype)
    scope = workspace.scope()
    with workspace:
        first = scope("z", shape)
    with workspace:
        second = scope("z", shape)
        assert scope("z", shape) is second is first
    assert (second.shape, nd.dtype_name(second)) == (shape, dtype)


def test_outside_every_array_is_fresh(backend, workspace):
    scope = workspace.scope()
    with workspace:
        inside = scope("z", (4, 3))
    first, second = scope("z", (4, 3)), scope("z", (4, 3))
    assert not same_memory(first, second)
    assert not same_memory(first, inside)
    assert (first.shape, nd.dtype_name(first)) == ((4, 3), "float32")


def test_it_is_outside_again_after_the_outermost_block(backend, workspace):
    scope = workspace.scope()
    with workspace:
        with workspace:
            inner = scope("z", (2, 2))
        assert scope("z", (2, 2)) is inner
    assert not same_memory(scope("z", (2, 2)), inner)


def test_it_is_outside_again_after_an_error(backend, workspace):
    scope = workspace.scope()
    with workspace:
        inside = scope("z", (2, 2))

    def fail():
        raise RuntimeError("in the middle of a step")

    with pytest.raises(RuntimeError, match="in the middle of a step"), workspace:
        fail()
    assert not same_memory(scope("z", (2, 2)), inside)


@pytest.mark.parametrize("axes", [(), (3,), (3, 2, 2)])
def test_a_smaller_batch_is_a_view_of_the_larger_ones_memory(backend, workspace, axes):
    scope = workspace.scope()
    with workspace:
        large = scope("z", (5, *axes))
        small = scope("z", (2, *axes))
        assert small.shape == (2, *axes)
        nd.fill(large, 1.0)
        nd.fill(small, 2.0)
        assert np.count_nonzero(nd.to_host(large) == 2.0) == np.prod((2, *axes))
        assert scope("z", (5, *axes)) is large
        assert scope("z", (2, *axes)) is small


def test_a_larger_batch_replaces_the_memory(backend, workspace):
    scope = workspace.scope()
    with workspace:
        small = scope("z", (2, 3))
        large = scope("z", (5, 3))
        assert not same_memory(large, small)
        small_again = scope("z", (2, 3))
        assert same_memory(large, small_again)
        assert scope("z", (5, 3)) is large


def test_growing_keeps_one_memory_however_the_dtype_is_named(backend, workspace):
    scope = workspace.scope()
    with workspace:
        scope("z", (2, 3), "float32")
        large = scope("z", (5, 3))
        assert same_memory(large, scope("z", (2, 3), "float32"))


def test_names_do_not_share(backend, workspace):
    scope = workspace.scope()
    with workspace:
        assert not same_memory(scope("z", (2, 3)), scope("a", (2, 3)))


def test_scopes_do_not_share(backend, workspace):
    first, second = workspace.scope(), workspace.scope()
    with workspace:
        assert not same_memory(first("z", (2, 3)), second("z", (2, 3)))


def test_dtypes_do_not_share(backend, workspace):
    scope = workspace.scope()
    with workspace:
        floats, integers = scope("z", (2, 3)), scope("z", (2, 3), "int32")
        assert not same_memory(floats, integers)
        assert scope("z", (2, 3)) is floats
        assert scope("z", (2, 3), "int32") is integers
    assert (nd.dtype_name(floats), nd.dtype_name(integers)) == ("float32", "int32")


@pytest.mark.parametrize("shape", [(0, 3), (2, 0), (3, 1, 1)])
def test_thin_shapes(backend, workspace, shape):
    scope = workspace.scope()
    with workspace:
        assert scope("z", shape).shape == shape
        assert scope("z", (4, *shape[1:])).shape == (4, *shape[1:])


def test_inside_the_batch_is_innermost_on_numpy(workspace):
    with nd.use_backend("numpy"), workspace:
        array = workspace.scope()("z", (4, 3, 2))
    assert array.strides == (4, 2 * 4 * 4, 4 * 4)


def test_one_thread_at_a_time_is_inside(workspace):
    entered = threading.Event()

    def enter():
        with workspace:
            entered.set()

    with workspace:
        other = threading.Thread(target=enter)
        other.start()
        assert not entered.wait(0.05)
    other.join(5.0)
    assert entered.is_set()
