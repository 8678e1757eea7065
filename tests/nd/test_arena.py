"""Arenas: what was given back is handed out again, at the same addresses for the same requests."""

import random

import numpy as np
import pytest

import nd
from tests.stand_ins import make_backend

ALIGNED = 64  # elements of which a block has a multiple


def overlap(first, second):
    """Tell whether what is written into one array shows in the other."""
    nd.fill(first, 1)
    nd.fill(second, 2)
    return bool(np.any(nd.to_host(first) == 2))


def test_a_name_is_the_same_memory_until_it_is_given_back(backend, dtype):
    arena = nd.Arena(dtype)
    lease = nd.Lease(arena)
    first = lease("z", (4, 3))
    assert lease("z", (4, 3)) is first
    assert (first.shape, nd.dtype_name(first)) == ((4, 3), dtype)
    assert overlap(first, lease("z", (2, 3)))
    assert not overlap(first, lease("a", (4, 3)))
    assert not overlap(first, nd.Lease(arena)("z", (4, 3)))
    assert not overlap(first, lease("z", (4, 3), "int32"))
    arena.give_back(lease.blocks[:1])
    assert overlap(first, nd.Lease(arena)("b", (4, 3)))


def test_a_name_that_grows_leaves_its_first_memory_alone(backend):
    lease = nd.Lease(nd.Arena("float32"))
    small = lease("z", (2, 3))
    large = lease("z", (20, 30))
    assert not overlap(small, large)
    assert overlap(large, lease("z", (2, 3)))
    assert len(lease.blocks) == 2


@pytest.mark.parametrize("shape", [(), (0, 3), (2, 0), (3, 1, 1)])
def test_thin_shapes(backend, shape):
    assert nd.Lease(nd.Arena("float32"))("z", shape).shape == shape


def test_the_batch_is_innermost_on_numpy():
    with nd.use_backend("numpy"):
        assert nd.Lease(nd.Arena("float32"))("z", (4, 3, 2)).strides == (4, 2 * 4 * 4, 4 * 4)


def test_neighbours_that_are_free_are_one():
    arena = nd.Arena("float64")
    whole = arena.take(4 * ALIGNED, "float64")
    arena.give_back([whole])
    parts = [arena.take(ALIGNED, "float64") for _ in range(4)]
    for order in ((0, 1, 2, 3), (3, 2, 1, 0), (0, 2, 1, 3), (1, 3, 0, 2), (0, 2, 3, 1)):
        arena.give_back(parts[number] for number in order)
        assert arena.take(4 * ALIGNED, "float64") is whole
        arena.begin()
        assert [arena.take(ALIGNED, "float64") for _ in range(4)] == parts
    assert arena.size == 4 * ALIGNED * 8


def test_the_smallest_room_that_does_is_taken():
    arena = nd.Arena("float32")
    arena.give_back([arena.take(10 * ALIGNED, "float32")])
    large, _, small, _ = (arena.take(parts * ALIGNED, "float32") for parts in (4, 1, 2, 3))
    arena.give_back([large, small])
    assert arena.take(2 * ALIGNED, "float32").start == small.start
    assert arena.take(2 * ALIGNED, "float32").start == large.start


def test_what_is_taken_is_counted():
    arena = nd.Arena("float32")
    first, second = arena.take(ALIGNED, "float32"), arena.take(1, "bool")
    assert (arena.in_use, arena.peak, arena.size) == (4 * ALIGNED + ALIGNED,) * 3
    arena.give_back([first])
    assert (arena.in_use, arena.peak) == (ALIGNED, 5 * ALIGNED)
    arena.begin()
    assert (arena.in_use, arena.peak, second.bytes) == (0, 5 * ALIGNED, ALIGNED)


def computation(seed, scale):
    """Return requests and returns drawn at random: (elements, None), or (None, which of those that are taken)."""
    rng, taken = random.Random(seed), 0
    for _ in range(60):
        if taken and rng.random() < 0.45:
            taken -= 1
            yield None, rng.randrange(taken + 1)
        else:
            taken += 1
            yield rng.randrange(1, 500) * scale, None


def run(arena, requests):
    """Return the places of all blocks; those that are taken at once must not overlap."""
    arena.begin()
    taken, places = [], []
    for length, returned in requests:
        if length is None:
            arena.give_back([taken.pop(returned)])
            continue
        block = arena.take(length, "float32")
        assert block.stop - block.start >= length
        for other in taken:
            assert other.chunk is not block.chunk or other.stop <= block.start or block.stop <= other.start
        taken.append(block)
        places.append((id(block.chunk), block.start, block.stop))
    return places


def test_the_same_requests_get_the_same_addresses_whatever_came_between():
    arena = nd.Arena("float32")
    first = {}
    for turn in range(4):
        for seed in range(8):
            places = run(arena, computation(seed, 1 + seed))
            assert first.setdefault(seed, places) == places, (turn, seed)


def test_memory_settles_while_sizes_vary():
    arena, rng = nd.Arena("float32"), random.Random(1)
    most = 0
    for _ in range(3):
        for scale in rng.sample(range(1, 65), 64):
            before = arena.peak
            run(arena, computation(3, scale))
            most = max(most, arena.peak, before)
    settled = arena.size
    for scale in range(1, 65):
        run(arena, computation(3, scale))
    assert arena.size == settled <= 3 * most


def test_growing_one_by_one_wastes_no_more():
    arena = nd.Arena("float32")
    for scale in range(1, 65):
        run(arena, computation(3, scale))
    assert arena.size <= 3 * arena.peak


@pytest.mark.parametrize("kind", ["float32", "float64", "int32", "uint8"])
def test_poison_shows_who_reads_on(backend, kind, monkeypatch):
    arena = nd.Arena(kind)
    lease = nd.Lease(arena)
    kept, read = (nd.fill(lease(name, (3, 2)), 0) for name in ("kept", "read"))
    monkeypatch.setattr(nd.Arena, "poisons", True)
    arena.give_back(lease.blocks[1:])
    assert not nd.to_host(kept).any()
    assert np.isnan(nd.to_host(read)).all() if "float" in kind else nd.to_host(read).all()
    arena.begin()
    assert nd.to_host(kept).all()


def test_arrays_that_may_share_memory(backend):
    flat = nd.zeros(12)
    first, second = flat[:6], flat[6:]
    assert nd.may_share_memory(flat, second)
    assert nd.may_share_memory(nd.reshape_view(first, (2, 3)), nd.transpose(nd.reshape_view(flat, (4, 3))))
    assert not nd.may_share_memory(first, second)
    assert not nd.may_share_memory(flat, nd.copy(flat))


def test_a_recording_may_ask_who_shares_memory():
    with nd.use_backend("numpy"):
        memory = nd.Lease(nd.Arena("float32"))
        x, answers = nd.traceable(nd.ones(3)), []

        def compute():
            y = nd.multiply(x, 2.0, memory("y", (3,)))
            answers[:] = [nd.may_share_memory(y, y[1:]), nd.may_share_memory(x, y)]
            return nd.add(y, 1.0)

        recording = nd.record(compute)
        nd.fill(x, 5.0)
        recording.replay()
    assert answers == [True, False]
    np.testing.assert_array_equal(recording.result, [11.0, 11.0, 11.0])


def test_memory_that_was_there_before_is_recorded_and_belongs_to_no_recording():
    with nd.use_backend("numpy"):
        arena = nd.Arena("float32")
        nd.Lease(arena)("y", (1000,))
        x = nd.traceable(nd.ones(1000))
        arena.begin()
        recording = nd.record(lambda: nd.add(nd.multiply(x, 2.0, nd.Lease(arena)("y", (1000,))), 1.0))
        assert recording.size == recording.result.nbytes


def test_a_backend_that_cannot_tell_says_that_memory_may_be_shared():
    strict = make_backend("strict")
    with nd.use_backend(strict):
        x, y = nd.zeros(2), nd.zeros(2)
    assert super(type(strict), strict).may_share_memory(x, y)


def test_a_dtype_must_be_named():
    with pytest.raises(nd.NdError, match="Arena"):
        nd.Arena(3)
