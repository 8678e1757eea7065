"""Recorded computations: run again on new values they give what running them anew gives, to the bit, or are refused."""

import re
import threading
import tracemalloc

import numpy as np
import pytest

import nd
from backends.cpu import numpy_backend
from backends.cpu.numpy_backend import NumpyBackend
from nd.activations import ACTIVATIONS
from tests.cells import every_row
from tests.stand_ins import make_backend

ROWS, COLUMNS = 6, 8


@pytest.fixture(autouse=True)
def on_numpy():
    with nd.use_backend(NumpyBackend(threads=1)) as backend:
        yield backend


def into_slice(x, y):
    z = nd.zeros(ROWS + 3, COLUMNS, dtype=nd.dtype_name(x))
    nd.add(x, y, z[1 : ROWS + 1])
    z[0] = y[2]
    z[-2:, ::2] = 4.0
    z[:0] = z[ROWS + 3 :]  # slices of nothing
    return nd.multiply(z, 2.0)


def in_place(x, y):
    nd.muli(x, 0.5)
    nd.addi(x, y)
    nd.subi(x[1:3], 7.0)
    nd.divi(x, nd.sum(y, 0, True))
    x += y
    x[:, 2:4] *= 3
    return x


def scalars(x, y):
    total, top = nd.sum(x), nd.max(y)
    return nd.divide(nd.subtract(nd.multiply(x, total), nd.sqrt(nd.absolute(top))), nd.mean(y) + 3.0)


def softmax_by_hand(x, y):
    z = nd.exp(nd.subtract(x, nd.max(x, 1, True)))
    nd.divi(z, nd.sum(z, axis=1, keepdims=True))
    return nd.subtract(z, y, z)


def product(x, y, **transposed):
    c = nd.full(COLUMNS, COLUMNS, value=0.5, dtype=nd.dtype_name(x))
    return nd.gemm(x, y, c, transpose_a=True, alpha=0.3, beta=1.7)


def in_f_order(x, y):
    c = nd.create_uninitialized(ROWS, ROWS, dtype=nd.dtype_name(x), order="f")
    nd.gemm(x, y, c, transpose_b=True)
    return nd.tanh(c, c)


def rows_axpby(x, y):
    for row in range(ROWS):
        nd.axpby(0.3, x[row], nd.sum(x), y[row], nd.create_uninitialized(COLUMNS, dtype=nd.dtype_name(x)))
    return y


def many(x, y):
    flat, shape = [nd.concat([nd.reshape(each, (-1,))] * 100) for each in (x, y)], (ROWS * COLUMNS * 100,)
    return nd.axpby(nd.max(x), flat[0], -0.7, flat[1], nd.create_uninitialized(shape, dtype=nd.dtype_name(x)))


def permuted(x, y):
    image = nd.permute(nd.reshape(x, (2, 3, 2, 4)), (3, 0, 2, 1))
    other = nd.permute(nd.reshape(y, (2, 3, 2, 4)), (3, 0, 2, 1))
    z = nd.activation_like(image)
    nd.add(image, other, z)
    return nd.multiply(nd.sum(z, (0, 2)), nd.max(nd.sqrt(nd.square(z)), axis=(0, 2)))


def branches(x, y):
    positive, larger = nd.greater(x, 0.0), nd.greater_equal(x, y)
    return nd.where(positive, nd.where(larger, x, y), 0.25) + nd.multiply(y, positive)


def constants(x, y):
    steps = nd.reshape(nd.arange(COLUMNS, dtype=nd.dtype_name(x)), (1, COLUMNS))
    return nd.gemm(x, nd.eye(COLUMNS, nd.dtype_name(x))) + steps * y


def assigned(x, y):
    nd.assign(x[:, :3], nd.transpose(y)[:3, :ROWS].T)
    nd.fill(y[2:], 0.75)
    return nd.concat([nd.copy(x), y], axis=1)


def operators(x, y):
    return (2 - x) * y / 3 + x**2 - (-y) + abs(x) // 1 + (x > y) * 0.1


COMPUTATIONS = {
    "0-d scalars": scalars,
    "another dtype and back": lambda x, y: nd.astype(nd.astype(x, "float64") * 0.1, "float32") + nd.astype(y, "int32"),
    "argmax": lambda x, y: nd.argmax(x + y, axis=1),
    "argmax compared": lambda x, y: nd.backend().equal(nd.argmax(x), nd.argmax(y)),
    "assignments": assigned,
    "axpby of long vectors": many,
    "axpby of rows": rows_axpby,
    "comparison as numbers": lambda x, y: nd.sum(nd.greater(x, y, nd.activation_like(x)), 1),
    "constants": constants,
    "dot": lambda x, y: nd.dot(nd.reshape(x, (-1,)), nd.reshape(y, (-1,))),
    "elementwise": lambda x, y: nd.log(nd.add(nd.power(nd.exp(nd.tanh(x)), y), nd.maximum(x, nd.minimum(y, 1)), x), y),
    "elementwise with a python scalar": lambda x, y: nd.subtract(1, nd.multiply(x, 0.1, y), y),
    "gemm": lambda x, y: nd.gemm(x, y, transpose_b=True),
    "gemm added to": product,
    "gemm into f order": in_f_order,
    "in place": in_place,
    "input itself": lambda x, y: x,
    "largest minus own sum": lambda x, y: nd.max(x, 0) - nd.sum(y, 0) * nd.sum(x, 0),
    "methods": lambda x, y: x.sum(axis=0) * y.max() + x.mean(axis=0) - y.std(axis=0) + x.T.clip(0, 1)[0, :1],
    "operators": operators,
    "ops": lambda x, y: nd.exec(nd.ops.IMax(nd.exec("mul", x, y), dimension=1)) + nd.exec("sum", y, dimension=1),
    "permuted": permuted,
    "reductions": lambda x, y: nd.sum(x, 0, True) * nd.max(y, 1, True) + nd.mean(x, axis=(0, 1)) - nd.sum(y, (0, 1)),
    "reshaped copy": lambda x, y: nd.reshape(nd.transpose(x), (4, 12)) * nd.reshape(y, (4, 12)),
    "slices": into_slice,
    "softmax": lambda x, y: nd.backend().softmax(x, 0) * y,
    "softmax by hand": softmax_by_hand,
    "sum into": lambda x, y: nd.sum_into(x, 0, nd.zeros(COLUMNS, dtype=nd.dtype_name(x))) + nd.mean(y, axis=0),
    "where": branches,
}


LAYOUTS = {"c": np.copy, "f": np.asfortranarray, "strided": lambda values: np.repeat(values, 3, axis=1)[:, ::3]}


def two_inputs(seed, dtype):
    return [each.astype(dtype) for each in np.random.default_rng(seed).normal(size=(2, ROWS, COLUMNS))]


def assert_replays(run, dtype, layout, batches=3):
    """Record once; on every fresh batch of values the replay and the computation anew leave the same bits."""
    memory = [LAYOUTS[layout](values) for values in two_inputs(0, dtype)]
    first = [LAYOUTS[layout](values) for values in two_inputs(0, dtype)]
    with np.errstate(all="ignore"):
        program, expected = nd.record(lambda: run(*map(nd.traceable, memory))), run(*first)
        for batch in range(batches + 1):
            np.testing.assert_array_equal(program.result, expected)
            assert (type(program.result), program.result.dtype) == (np.ndarray, np.asarray(expected).dtype)
            np.testing.assert_array_equal(np.signbit(program.result), np.signbit(expected))
            for kept, wanted in zip(memory, first, strict=True):
                np.testing.assert_array_equal(kept, wanted)
            fresh = two_inputs(batch + 1, dtype)
            first = [LAYOUTS[layout](values) for values in fresh]
            for kept, values in zip(memory, fresh, strict=True):
                kept[...] = values
            program.replay()
            expected = run(*first)


@every_row("layout", LAYOUTS)
@every_row("name", COMPUTATIONS)
def test_replays_equal_running_anew_to_the_bit(name, dtype, layout):
    assert_replays(COMPUTATIONS[name], dtype, layout)


@every_row("name", [name for name, kind in ACTIVATIONS.items() if not kind.draws])
def test_activations_and_their_derivatives(name, dtype):
    activation = ACTIVATIONS[name]()

    def run(z, epsilon):
        a = activation.value(z)
        return nd.concat([a, activation.backprop(z, a, epsilon)])

    assert_replays(run, dtype, "f")


@pytest.mark.parametrize("order", ["c", "f"])
def test_a_product_that_the_workers_share(order, monkeypatch):
    monkeypatch.setattr(numpy_backend, "LEAST_PRODUCT", 1)
    x, y = np.zeros((7, 5)), np.zeros((5, 9))
    with nd.use_backend(NumpyBackend(threads=3)):
        program = nd.record(
            lambda: nd.gemm(
                nd.traceable(x), nd.traceable(y), nd.create_uninitialized(7, 9, dtype="float64", order=order)
            )
        )
    rng = np.random.default_rng(0)
    x[:], y[:] = rng.normal(size=x.shape), rng.normal(size=y.shape)
    program.replay()
    np.testing.assert_allclose(program.result, np.einsum("ij,jk->ik", x, y), rtol=1e-13)


def test_a_replay_by_hand():
    x, runs = np.array([1.0, -2.0, 4.0]), []

    def run():
        runs.append("once")
        return nd.multiply(nd.sum(nd.maximum(nd.traceable(x), 0.0)), nd.traceable(x))

    program = nd.record(run)
    result = program.result
    assert result.tolist() == [5.0, -10.0, 20.0]
    x[:] = [3.0, -1.0, 2.0]
    assert result.tolist() == [5.0, -10.0, 20.0]
    program.replay()
    assert program.result is result
    assert result.tolist() == [15.0, -5.0, 10.0]
    assert runs == ["once"]


def test_views_are_nothing_to_replay(on_numpy):
    x = nd.traceable(np.ones((4, 6)))
    view = lambda: nd.transpose(nd.reshape_view(x[1:3], (6, 2)))[:, ::2]  # noqa: E731
    recording, (result,) = on_numpy.recorder().record(lambda: [view()], nd.random.get_random())
    assert (recording.calls, result.shape) == ([], (2, 3))


def test_only_values_that_fit_the_memory_can_be_put_there():
    x = np.zeros((2, 3), "float32")
    program = nd.record(lambda: nd.multiply(nd.traceable(x), 2.0))
    with pytest.raises(ValueError, match="could not broadcast"):
        nd.assign(x, np.ones((3, 2)))
    nd.assign(x, np.full((2, 3), 0.1))
    program.replay()
    assert program.result.dtype == np.float32
    assert (program.result == 2 * np.float32(0.1)).all()


def test_other_backends_record_nothing_and_run_nothing():
    runs = []
    with nd.use_backend(make_backend("strict")):
        x = nd.ones(3)
        assert nd.traceable(x) is x
        assert nd.record(lambda: runs.append(1)) is None
    assert runs == []


# ---- refused


REFUSED = {
    "all finite": (lambda x: nd.all_finite(x), "a recording cannot hold __bool__ of an array."),
    "any": (lambda x: x if (x > 0).any() else -x, "a recording cannot hold __bool__ of an array."),
    "comparison of arrays": (lambda x: x if np.allclose(x, 0.0) else -x, "a recording cannot hold numpy.allclose."),
    "copy by a method": (lambda x: x.copy() * 2.0, "a method of an array copied it behind the recording's back."),
    "cumulative sum": (lambda x: x.cumsum(), "a recording cannot hold numpy.add.accumulate."),
    "elements one by one": (lambda x: sum(x[0]), "a recording holds slices of arrays only"),
    "elements through flat": (lambda x: x * x.flat[3], "a recording cannot hold an iterator over an array."),
    "fancy index": (lambda x: x[np.array([3, 1])] * 2.0, "a recording holds slices of arrays only"),
    "fancy mask": (lambda x: x[x > 0], "a recording holds slices of arrays only"),
    "fancy mask of nothing": (lambda x: x[x > 9.0], "a recording holds slices of arrays only"),
    "float": (lambda x: x * float(nd.sum(x)), "a recording cannot hold __float__ of an array."),
    "if": (lambda x: x if nd.sum(x) > 0 else -x, "a recording cannot hold __bool__ of an array."),
    "index": (
        lambda x: x * [1.0, 2.0, 3.0, 4.0][nd.argmax(x, 0)[0, ...]],
        "a recording cannot hold __index__ of an array.",
    ),
    "int": (lambda x: x * int(nd.sum(x)), "a recording cannot hold __int__ of an array."),
    "item": (lambda x: x * nd.item(nd.sum(x)), "a recording cannot hold a decision on a value."),
    "item by a method": (lambda x: x * nd.sum(x).item(), "a recording cannot hold item of an array."),
    "list": (lambda x: x * x.tolist()[0][0], "a recording cannot hold tolist of an array."),
    "bytes": (lambda x: x * len(x.tobytes()), "a recording cannot hold tobytes of an array."),
    "mask": (lambda x: x.__setitem__(x > 0, 0.0), "a recording holds assignments to slices only."),
    "mask of nothing": (lambda x: x.__setitem__(x > 9.0, 0.0), "a recording holds assignments to slices only."),
    "methods argmax": (lambda x: x * x.argmax(), "a recording cannot hold argmax of an array."),
    "methods argmin": (lambda x: x * x.argmin(), "a recording cannot hold argmin of an array."),
    "one element": (lambda x: x.__setitem__((0, 0), 1.0), "a recording holds assignments to slices only."),
    "outer product": (lambda x: np.multiply.outer(x, x), "a recording cannot hold numpy.multiply.outer."),
    "result a number": (lambda x: 2.5, "the result is float, nothing that the recording computes."),
    "result none": (lambda x: None, "the result is NoneType, nothing that the recording computes."),
    "result not traced": (lambda x: np.ones(3), "the result is ndarray, nothing that the recording computes."),
    "scalar": (lambda x: x * x[1, 2], "a recording holds slices of arrays only"),
    "sort in place": (lambda x: (x.sort(), x)[1], "a recording cannot hold sort of an array."),
    "trace": (lambda x: x * x.trace(), "a recording cannot hold trace of an array."),
    "svd": (lambda x: nd.svd(x)[1], "a recording cannot hold numpy.svd."),
    "to host": (lambda x: nd.to_host(x), "a recording cannot hold a copy to the host."),
    "two results": (lambda x: np.modf(x)[0], "a recording cannot hold numpy.modf.__call__."),
}
TARGETS = {
    "add": lambda plain, x: nd.add(x, 1.0, plain),
    "assign": lambda plain, x: nd.assign(plain, x),
    "axpby": lambda plain, x: nd.axpby(1.0, x[0], 1.0, plain[0], nd.copy(x[0])),
    "gemm": lambda plain, x: nd.gemm(x, x, plain),
    "gemm, f order": lambda plain, x: nd.gemm(x, x, plain.T),
    "in place": lambda plain, x: plain.__iadd__(x),
    "long axpby": lambda plain, x: nd.axpby(1.0, nd.traceable(np.ones(5000)), 1.0, np.ones(5000), np.ones(5000)),
    "sum into": lambda plain, x: nd.sum_into(x, 0, plain[0]),
}


def assert_refused(run, message):
    memory = np.random.default_rng(0).normal(size=(4, 4))
    here = nd.backend()
    with pytest.raises(nd.NotRecorded, match=re.escape(message)):
        nd.record(lambda: run(nd.traceable(memory)))
    assert nd.backend() is here
    assert float(nd.traceable(memory).sum()) == memory.sum()  # nothing records any more


@every_row("name", REFUSED)
def test_what_depends_on_a_value_or_is_not_known_is_refused(name):
    assert_refused(*REFUSED[name])


@pytest.mark.parametrize("name", TARGETS)
def test_results_in_memory_that_is_not_traced_are_refused(name):
    write, plain = TARGETS[name], np.zeros((4, 4))
    assert_refused(lambda x: (write(plain, x), x)[1], "a result in an array that is not traceable.")


def test_other_errors_end_the_recording_too():
    x = nd.traceable(np.ones(3))
    with pytest.raises(nd.ShapeError, match="the inner axes must agree"):
        nd.record(lambda: nd.gemm(nd.reshape(x, (1, 3)), nd.reshape(x, (1, 3))))
    assert float(x.sum()) == 3.0


# ---- threads and memory


def test_programs_are_recorded_and_run_in_threads_at_once():
    meet, wrong = threading.Barrier(2, timeout=20), []

    def user(name):
        memory = np.zeros((ROWS, COLUMNS))
        run = COMPUTATIONS[name]
        with nd.use_backend(NumpyBackend(threads=1)):
            for seed in range(30):
                meet.wait()
                program = nd.record(lambda: run(nd.traceable(memory), nd.traceable(memory)))
                memory[...] = fresh = two_inputs(seed, "float64")[0]
                meet.wait()
                program.replay()
                other = fresh.copy()
                if not np.array_equal(program.result, run(other, other)):
                    wrong.append((name, seed))

    threads = [threading.Thread(target=user, args=(name,)) for name in ("softmax by hand", "slices")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert not any(thread.is_alive() for thread in threads)
    assert wrong == []


def test_what_another_thread_does_is_not_recorded():
    x, others = np.ones(3), np.ones(3)

    def run():
        thread = threading.Thread(target=nd.muli, args=(nd.traceable(others), 2.0))
        thread.start()
        thread.join(20)
        return nd.add(nd.traceable(x), 1.0)

    program = nd.record(run)
    program.replay()
    assert others.tolist() == program.result.tolist() == [2.0] * 3


SIDE = 512  # squared, 1 MB of float32


def large(x, y):
    z = nd.multiply(nd.exp(nd.subtract(x, nd.max(x, 1, True))), 0.5)
    nd.divi(z, nd.sum(z, axis=1, keepdims=True))
    c = nd.gemm(z, y, nd.create_uninitialized(SIDE, SIDE, order="f"), transpose_b=True)
    nd.axpby(0.5, nd.reshape(z, (-1,)), nd.max(z), nd.reshape(y, (-1,)), nd.reshape(x, (-1,)))
    nd.assign(x, nd.greater(c, 0.0) * nd.tanh(c.T))
    x[1:, ::2] = nd.astype(y, "float64")[1:, ::2]
    return nd.add(x, nd.gemm(c, y), c)


def peak(run):
    tracemalloc.start()
    run()
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


def test_a_replay_makes_no_large_array():
    x, y = np.random.default_rng(0).normal(size=(2, SIDE, SIDE)).astype("float32")
    program = nd.record(lambda: large(nd.traceable(x), nd.traceable(y)))
    program.replay()
    assert peak(lambda: nd.run_tasks([program.replay])) < 1 << 16  # as networks do: with small buffers of ufuncs
    assert peak(lambda: large(x, y)) > 4 * SIDE * SIDE
