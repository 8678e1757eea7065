"""Where two traces part: a planted change, other dtypes and backends, files; and that equal ones do not."""

import numpy as np
import pytest

import nd
import nn.trace
from backends.cpu.numpy_backend import NumpyBackend
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import Adam
from tests.nn.trace.networks import EVERY, dense, graph, images, pooled, rows
from tests.step_plans import split_small_minibatches


def deep():
    """So many layers that a step has more than fifty ops."""
    layers = [DenseLayer(n_in=6, n_out=6, activation="relu") for _ in range(6)]
    conf = NeuralNetConfiguration(seed=3, updater=Adam(0.01)).list(
        *layers, OutputLayer(n_in=6, n_out=3, activation="softmax")
    )
    return MultiLayerNetwork(conf).init()


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.quick_rows(1)
def test_equal_steps_do_not_part(name):
    make, data = EVERY[name]
    one, other = make().trace(data()), make().trace(data())
    assert one.compare(other) is None
    assert make().trace(data(), recorded=True).compare(other) is None  # which consists of other ops


@pytest.fixture
def one_ulp():
    """Return a backend that changes one element of one op of a step, its place and the numbers there."""
    changed = {}

    class Planted(NumpyBackend):
        calls = 0

        def relu_back(self, a, epsilon, out=None):
            result = NumpyBackend.relu_back(self, a, epsilon, out)
            Planted.calls += 1
            if Planted.calls % 6 == 4:  # of six layers the fourth one back, in every step
                place = tuple(int(number) for number in np.argwhere(result)[-1])
                before = float(result[place])
                result[place] = np.nextafter(result[place], np.float32(np.inf))
                changed.update(place=place, values=(before, float(result[place])))
            return result

    return Planted(), changed


def test_one_ulp_in_one_of_fifty_ops_is_found(one_ulp):
    backend, changed = one_ulp
    with nd.use_backend("numpy"):
        clean = deep().trace(rows(16))
    with nd.use_backend(backend):
        planted = deep().trace(rows(16))
    assert len(clean.ops) >= 50
    found = clean.compare(planted)
    assert (found.op, found.node, found.phase, found.array) == ("relu_back", "2", "backward", "result")
    assert found.index == changed["place"]
    assert found.values == changed["values"]
    assert found.count == 1
    assert found.largest == pytest.approx(abs(np.subtract(*changed["values"])))
    assert clean.ops[found.number].op == "relu_back"
    assert f"op {found.number}, relu_back of 2 (backward), result{list(changed['place'])}" in str(found)
    assert planted.compare(clean).values == changed["values"][::-1]
    assert clean.compare(planted, tolerance=1e-3) is None


def test_dtypes_part_by_rounding_alone():
    single, double = dense().trace(rows()), dense("float64").trace(rows())
    assert single.compare(double, tolerance=1e-5) is None
    found = single.compare(double, tolerance=1e-12)
    assert found.phase in ("step", "forward")
    assert found.values[0] == pytest.approx(found.values[1], rel=1e-5)


@pytest.mark.slow
def test_numpy_and_the_strict_backend_have_the_same_numbers(strict):
    for make, data in EVERY.values():
        with nd.use_backend("numpy"):
            expected = make().trace(data())
        with nd.use_backend(strict):
            found = make().trace(data())
        assert expected.compare(found, tolerance=2e-6) is None
        assert found.compare(expected, tolerance=2e-6) is None


@pytest.fixture
def strict():
    from tests.stand_ins import make_backend

    return make_backend("strict")


def test_steps_of_other_ops_are_compared_by_layers(monkeypatch):
    whole = dense().trace(rows())
    net = dense()
    split_small_minibatches(monkeypatch)
    parts = net.trace(rows())
    assert whole.compare(parts, tolerance=1e-5) is None  # parts are joined
    net.get_param("1_W")[2, 1] += 0.5
    found = whole.compare(net.trace(rows()), tolerance=1e-5)
    assert (found.node, found.op, found.phase, found.number) == ("1", "activation", "forward", None)
    assert "activation of 1 (forward), activation[0, " in str(found)


def test_parameters_that_part_show_in_the_first_op_with_them():
    net, other = dense(), dense()
    other.get_param("0_b")[0, 3] = 1.0
    found = net.trace(rows()).compare(other.trace(rows()))
    assert (found.op, found.node, found.index, found.count) == ("add", "0", (0, 3), 8)
    assert found.values[1] - found.values[0] == pytest.approx(1.0)


def test_numbers_beyond_the_budget():
    net, other = pooled(), pooled()
    one, same = net.trace(images(), budget=0), other.trace(images(), budget=0)
    assert one.compare(same) is None  # bytes are compared by their hashes
    other.get_param("2_W")[0, 0] += 1.0
    found = one.compare(other.trace(images(), budget=0))
    assert (found.node, found.op) == ("2", "gemm")


def test_numbers_that_part_where_no_sample_reaches():
    def wide(count):
        conf = NeuralNetConfiguration(seed=1).list(
            DenseLayer(n_in=6, n_out=900, activation="identity"), OutputLayer(n_out=3, activation="softmax")
        )
        net = MultiLayerNetwork(conf).init()
        net.get_param("0_b")[0, 899] = count
        return net.trace(rows(), budget=0)

    found = wide(0.0).compare(wide(7.0))
    assert (found.node, found.op, found.index, found.values) == ("0", "add", None, None)
    assert str(found).endswith("differs; its numbers are beyond the budget of a trace")


def test_a_file_holds_the_trace(tmp_path):
    trace = pooled().trace(images())
    trace.save(tmp_path / "trace.npz")
    again = nn.trace.load(tmp_path / "trace.npz")
    assert str(again) == str(trace)
    assert again.about == trace.about
    assert again.memory() == trace.memory()
    assert again.compare(trace) is None
    for row, other in zip(trace.ops, again.ops, strict=True):
        assert (row.number, row.began, row.values) == (other.number, other.began, other.values)
        for seen, read in zip(row.seen_outputs, other.seen_outputs, strict=True):
            np.testing.assert_array_equal(seen.values, read.values)
            assert seen.content.histogram == read.content.histogram
    other = pooled()
    other.get_param("2_b")[0, 0] = 1.0
    assert again.compare(other.trace(images())).node == "2"


def test_a_file_of_samples(tmp_path):
    trace = dense().trace(rows(), budget=0)
    trace.save(tmp_path / "trace.npz")
    again = nn.trace.load(tmp_path / "trace.npz")
    assert not again.ops[0].seen_outputs[0].is_kept
    assert again.compare(trace) is None


def test_wrong_files_and_traces(tmp_path):
    trace = dense().trace(rows())
    with pytest.raises(nd.ConfigurationError, match=r"save: a trace needs a name that ends in \.npz, got"):
        trace.save(tmp_path / "trace.txt")
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    with pytest.raises(nd.FormatError, match="expected a trace, got a file without one"):
        nn.trace.load(tmp_path / "other.npz")
    with pytest.raises(nd.ConfigurationError, match="both traces must be of the same network, got layers 0, 1"):
        trace.compare(graph().trace(rows()))
    with pytest.raises(nd.ArgumentError, match="compare: other must be a Trace, got 5"):
        trace.compare(5)
    (tmp_path / "trace.npz").write_bytes(b"no zip")
    with pytest.raises(nd.FormatError, match="Is it truncated, or another kind"):
        nn.trace.load(tmp_path / "trace.npz")
