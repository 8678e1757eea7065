"""Ops and their executioner against the rows in tests/cases/ops.py."""

import functools
import json
import math
from pathlib import Path

import numpy as np
import pytest

import nd
from nd import ops
from nd.execution.executioner import add_hook, exec, execRandom, remove_hook
from nd.ops import OPS, Op, RandomOp
from tests.cases.ops import CASES, HAND, IDS, RANDOM, ROWS, real
from tests.cases.ops_of_networks import OF_SEVERAL
from tests.cells import every_row
from tests.stand_ins import TOLERANCE, as_input, make_backend

KINDS = {"ActivationOp", "Broadcast", "Comparison", "Distribution", "IndexReduction", "Op", "Pairwise", "RandomOp"}
KINDS |= {"ActivationBp", "Pooling2D", "Pooling2DDerivative", "Reduction", "Transform"}
COARSE = {"float32": {"rtol": 1e-4, "atol": 1e-4}, "float64": {"rtol": 1e-6, "atol": 1e-6}}
PRIMITIVES = "abs add copy cos div exp log max_pairwise min_pairwise mul neg oneminus pow pow_pairwise rdiv reciprocal "
PRIMITIVES += "relu rsub sign sin softmax sqrt square sub tanh broadcastadd broadcastmul"

every_case = pytest.mark.parametrize(("name", "case"), ROWS, ids=IDS)


def make_inputs(case, dtype):
    """x and, where the op has one, y: arrays in float64 but exact in `dtype`, or a number."""
    rng = np.random.default_rng(5)
    draw = case.draw or real
    x = draw(rng, case.shape).astype(dtype).astype("float64")
    if not isinstance(case.y, tuple):
        return x, case.y
    return x, draw(rng, case.y).astype(dtype).astype("float64")


def make_op(name, case, x, y, **more):
    return OPS[name](x, *(() if y is None else (y,)), **case.parameters, **more)


def on(backend, value, order, dtype):
    return as_input(backend, value, order, dtype) if isinstance(value, np.ndarray) else value


def tolerance(case, dtype):
    return (COARSE if case.coarse else TOLERANCE)[dtype]


def expected_of(case, x, y):
    return np.asarray(case.oracle(x) if y is None else case.oracle(x, y))


def test_every_op_has_a_name_and_a_case():
    assert list(OPS) == sorted(OPS)
    assert set(OPS) == set(CASES) | set(RANDOM) | set(OF_SEVERAL)
    found = {
        cls.__name__
        for cls in (getattr(ops, name) for name in ops.__all__)
        if isinstance(cls, type) and issubclass(cls, Op)
    }
    assert {cls.__name__ for cls in OPS.values()} == found - KINDS
    assert len(set(OPS.values())) == len(OPS)
    assert {name for name, op in OPS.items() if op.random} == set(RANDOM)


@every_case
def test_value(backend, dtype, order, name, case):
    x, y = make_inputs(case, dtype)
    first, second = on(backend, x, order, dtype), on(backend, y, order, dtype)
    op = make_op(name, case, first, second)
    z = exec(op)
    expected = expected_of(case, x, y)
    assert op.z is z
    assert backend.is_array(z)
    assert backend.dtype_name(z) == (case.dtype or dtype)
    assert z.shape == expected.shape
    np.testing.assert_allclose(backend.to_host(z), expected, **tolerance(case, dtype))
    np.testing.assert_array_equal(backend.to_host(first), x)
    if y is not None:
        np.testing.assert_array_equal(backend.to_host(second) if isinstance(y, np.ndarray) else second, y)


@every_case
@pytest.mark.quick_rows(every=2)
def test_in_place_and_into_another_array(backend, name, case):
    x, y = make_inputs(case, "float64")
    expected = expected_of(case, x, y)
    first, second = on(backend, x, "c", "float64"), on(backend, y, "c", "float64")
    z = backend.full(expected.shape, 9, case.dtype or "float64", "f")
    assert exec(make_op(name, case, first, second, z=z)) is z
    np.testing.assert_array_equal(backend.to_host(first), x)
    np.testing.assert_allclose(backend.to_host(z), expected, **tolerance(case, "float64"))
    if expected.shape == x.shape and not case.dtype:
        own = backend.copy(first)
        assert exec(make_op(name, case, own, second, z=own)) is own
        np.testing.assert_allclose(backend.to_host(own), expected, **tolerance(case, "float64"))


@pytest.mark.parametrize("name", OF_SEVERAL)
def test_ops_of_several_arrays(backend, dtype, order, name):
    shapes, make, oracle = OF_SEVERAL[name]
    rng = np.random.default_rng(6)
    values = {key: rng.normal(size=shape).astype(dtype) for key, shape in shapes.items()}
    arrays = {key: as_input(backend, value, order, dtype) for key, value in values.items()}
    op = make(OPS[name], **arrays)
    assert all(any(one is given for one in op.inputs) for given in (op.x, op.y))
    expected = oracle(**values)
    np.testing.assert_array_equal(backend.to_host(exec(op)), expected)
    z = backend.full(op.z.shape, 9.0, dtype)
    assert exec(make(functools.partial(OPS[name], z=z), **arrays)) is z
    np.testing.assert_array_equal(backend.to_host(z), expected)


@every_row(("name", "x", "parameters", "expected"), HAND)
def test_values_by_hand(backend, dtype, name, x, parameters, expected):
    z = exec(name, backend.asarray(x, dtype), **parameters)
    np.testing.assert_allclose(backend.to_host(z), expected, rtol=1e-6)


@pytest.mark.parametrize("name", PRIMITIVES.split())
def test_primitives_write_straight_into_z(monkeypatch, name):
    case = CASES[name][0]
    x, y = make_inputs(case, "float32")
    backend = make_backend("numpy")
    with nd.use_backend(backend):
        first, second = on(backend, x, "c", "float32"), on(backend, y, "c", "float32")
        z, written = backend.full(x.shape, 0.0, "float32"), []
        real_assign = backend.assign
        monkeypatch.setattr(
            backend, "assign", lambda target, source: written.append(name) or real_assign(target, source)
        )
        assert exec(make_op(name, case, first, second, z=z)) is z
    assert written == ([name] if name == "copy" else [])


def test_ops_by_name_by_class_and_as_instance(backend):
    x = backend.asarray([[-1.0, 2.0], [3.0, -4.0]], "float32")
    for z in (
        exec("relu", x),
        exec("RELU", x),
        exec(ops.RectifiedLinear, x),
        exec(ops.RectifiedLinear(x)),
        exec("max_pairwise", x, 0.0),
    ):
        assert backend.to_host(z).tolist() == [[0.0, 2.0], [3.0, 0.0]]
    assert backend.to_host(exec("sum", x, dimension=0, keep_dims=True)).tolist() == [[2.0, -2.0]]


def test_a_number_from_a_reduction_goes_into_the_next_op(backend, dtype):
    total = exec("sum", backend.asarray([3.0, 1.0], dtype))
    assert total.shape == ()
    assert backend.item(exec("sqrt", total)) == 2.0


def test_hooks_see_every_op_until_they_are_removed(backend):
    seen = []

    def hook(op):
        seen.append((op.who, backend.to_host(op.z).tolist()))

    x = backend.asarray([1.0, -2.0], "float32")
    add_hook(hook)
    try:
        exec("abs", x)
        execRandom(ops.DropOut(x, p=1.0))
    finally:
        remove_hook(hook)
    exec("neg", x)
    remove_hook(hook)
    assert seen == [("Abs", [1.0, 2.0]), ("DropOut", [1.0, -2.0])]


def test_an_op_is_heard_once_and_calls_of_functions_too(backend):
    """In a block that was entered before there was a hook, and in blocks within it."""
    seen = []

    def hook(op):
        seen.append(op.who)

    with nd.use_backend(backend):
        x = backend.asarray([[1.0, -2.0]], "float32")
        with nd.use_backend(backend):
            add_hook(hook)
            try:
                for run in (
                    lambda: exec("softmax", x),
                    lambda: execRandom(ops.DropOut(x, p=0.5)),
                    lambda: nd.absolute(x),
                ):
                    run()
                with nd.use_backend(backend):
                    nd.exp(x)
            finally:
                remove_hook(hook)
            nd.exp(x)
        add_hook(hook)
        remove_hook(hook)
        nd.exp(x)
    assert seen == ["SoftMax", "DropOut", "Abs", "Exp"]


# ---- wrong calls


def test_random_and_other_ops_are_not_mixed_up(backend):
    x = backend.full((2, 2), 1.0, "float32")
    with pytest.raises(
        nd.DTypeError, match=r"exec: expected an op that draws nothing, got DropOut\. Use nd\.execRandom"
    ):
        exec(ops.DropOut(x))
    with pytest.raises(
        nd.DTypeError, match=r"execRandom: expected an op that draws random numbers, got Abs\. Use nd\.exec"
    ):
        execRandom(ops.Abs(x))


@pytest.mark.parametrize("wrong", [3, None, int])
def test_what_is_no_op(backend, wrong):
    with pytest.raises(nd.DTypeError, match="exec: expected an op, a class of ops or a name, got"):
        exec(wrong)
    with pytest.raises(nd.DTypeError, match="execRandom: expected an op that draws random numbers, got"):
        execRandom(wrong)


def test_unknown_names_and_left_over_arguments(backend):
    x = backend.full((2,), 1.0, "float32")
    with pytest.raises(nd.ChoiceError, match=r"exec: unknown op 'sigmod', expected one of .*Did you mean 'sigmoid'\?"):
        exec("sigmod", x)
    with pytest.raises(nd.DTypeError, match=r"exec: Abs must come without arguments, got \['z'\]"):
        exec(ops.Abs(x), z=x)


def test_results_of_another_shape_or_dtype(backend):
    x = backend.full((2, 3), 1.0, "float32")
    with pytest.raises(nd.ShapeError, match=r"Abs: z must be \[2, 3\], got \[3, 2\]\. Leave z out"):
        ops.Abs(x, z=backend.full((3, 2), 0.0, "float32"))
    with pytest.raises(nd.ShapeError, match=r"Sum: z must be \[3\], got \[2\]"):
        ops.Sum(x, dimension=0, z=backend.full((2,), 0.0, "float32"))
    with pytest.raises(nd.DTypeError, match="Exp: z must be float32, got float64"):
        ops.Exp(x, z=backend.full((2, 3), 0.0, "float64"))
    with pytest.raises(nd.DTypeError, match="IMax: z must be int64, got float32"):
        ops.IMax(x, 1, z=backend.full((2,), 0.0, "float32"))


def test_inputs_that_do_not_fit(backend):
    x, y = backend.full((2, 3), 1.0, "float32"), backend.full((3,), 1.0, "float32")
    with pytest.raises(nd.ShapeError, match=r"Add: y must be \[2, 3\] as x, got \[3\]\. For a vector .* Broadcast"):
        ops.Add(x, y)
    with pytest.raises(nd.DTypeError, match="Add: y must be float32 as x, got float64"):
        ops.Add(x, backend.full((2, 3), 1.0, "float64"))
    with pytest.raises(nd.DTypeError, match=r"Sub: y must be an array of numbers, got '1'\. Make one with nd\.create"):
        ops.Sub(x, "1")
    with pytest.raises(nd.DTypeError, match="Exp: x must be an array of numbers, got "):
        ops.Exp([1.0])
    with pytest.raises(
        nd.ShapeError, match=r"BroadcastAdd: y must be \[2\] along dimension 0 of x \[2, 3\], got \[3\]"
    ):
        ops.BroadcastAdd(x, y, dimension=0)
    with pytest.raises(nd.DTypeError, match="BroadcastMul: y must be float32 as x, got float64"):
        ops.BroadcastMul(x, backend.full((3,), 1.0, "float64"))


@pytest.mark.parametrize("dimension", [2, -3, (0, 0), (0, -2)])
def test_axes_that_x_does_not_have(backend, dimension):
    with pytest.raises(nd.ShapeError, match=r"Sum: dimension must name different axes of x \[2, 3\], got "):
        ops.Sum(backend.full((2, 3), 1.0, "float32"), dimension)


def test_positions_are_along_one_axis(backend):
    with pytest.raises(nd.ArgumentError, match=r"IMax: dimension must be an integer or None, got \(0, 1\)"):
        ops.IMax(backend.full((2, 3), 1.0, "float32"), (0, 1))


@pytest.mark.parametrize("name", ["abs", "add"])
def test_arrays_of_another_backend(backend, name):
    other = make_backend("strict" if backend.name.startswith("numpy") else "numpy")
    foreign = other.full((2,), 1.0, "float32")
    args = (foreign,) if name == "abs" else (backend.full((2,), 1.0, "float32"), foreign)
    with pytest.raises(nd.BackendError, match=rf"(Abs|Add): the backend is '{backend.name}', got an array of"):
        exec(name, *args)


@pytest.mark.parametrize("p", [0.0, -0.5, 1.5, float("nan")])
def test_probabilities_to_retain(backend, p):
    x = backend.full((2,), 1.0, "float32")
    for op in (ops.DropOut, ops.DropOutInverted, ops.AlphaDropOut):
        with pytest.raises(
            nd.ConfigurationError,
            match=rf"{op.__name__}: (p, the probability to retain .* \(0, 1\]|p must be a number), got",
        ):
            op(x, p)


DROPPED = {
    "DropOut": "0 0 inf inf -inf -inf 0 0 -1 -1 -1 0 0 0 0 0",
    "DropOutInverted": "0 0 inf inf -inf -inf 0 0 -2 -2 -2 0 0 0 0 0",
}
"""Of ND4J 1.0.0-M1.1 with seed 1 and p = 0.5."""


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", DROPPED)
def test_what_goes_is_zero_whatever_it_was(backend, name):
    inf = math.inf
    x = backend.asarray([inf] * 4 + [-inf] * 4 + [-1.0] * 4 + [math.nan] * 4, "float32")
    expected = [float(text) for text in DROPPED[name].split()]
    z = backend.full((16,), 7.0, "float32")
    for given in (None, z):
        nd.random.set_seed(1)
        found = backend.to_host(execRandom(getattr(ops, name)(x, p=0.5, z=given)))
        assert found.tolist() == expected
        assert not np.signbit(found[found == 0.0]).any()
    assert backend.to_host(z).tolist() == expected


@pytest.mark.filterwarnings("error")
def test_alpha_drop_out_of_infinity(backend):
    """What goes is one number, not NaN; the draws are others than those of DropOut."""
    nd.random.set_seed(1)
    x = backend.asarray([math.inf] * 8, "float32")
    found = backend.to_host(execRandom(ops.AlphaDropOut(x, p=0.5)))
    gone = found[np.isfinite(found)]
    assert 0 < len(gone) < 8
    a = 1.0 / math.sqrt(0.5 + 1.7580993408473766**2 * 0.25)
    np.testing.assert_allclose(gone, 0.5 * a * -1.7580993408473766, rtol=1e-6)


def test_parameters_of_distributions(backend):
    z = backend.full((2,), 1.0, "float32")
    with pytest.raises(nd.ConfigurationError, match=r"BernoulliDistribution: p, .* in \[0, 1\], got 1\.5"):
        ops.BernoulliDistribution(z, p=1.5)
    with pytest.raises(nd.ConfigurationError, match="BinomialDistribution: trials must be >= 0, got -1"):
        ops.BinomialDistribution(z, trials=-1)
    with pytest.raises(nd.ConfigurationError, match=r"GaussianDistribution: std must be >= 0, got -1\.0"):
        ops.GaussianDistribution(z, std=-1.0)
    with pytest.raises(nd.ConfigurationError, match=r"UniformDistribution: low must be <= high, got 1\.0 and 0\.0"):
        ops.UniformDistribution(z, low=1.0, high=0.0)


def test_random_ops_are_marked():
    assert all(issubclass(op, RandomOp) is op.random for op in OPS.values())


@pytest.mark.parametrize("hook", [None, "print", 3])
def test_a_hook_must_be_a_function(hook):
    with pytest.raises(nd.ArgumentError, match=rf"add_hook: hook must be a function, got {hook!r}"):
        nd.add_hook(hook)
    nd.exec(nd.ops.Abs(nd.ones(2)))


def test_numbers_of_ops_are_java_s():
    java = json.loads((Path(__file__).parent.parent / "cases" / "java_op_numbers.json").read_text())["numbers"]
    java = {name.removesuffix("Op"): number for name, number in java.items()}
    java["LegacyDropOutInverted"] = 44  # of 0.9.1
    ours = {op.__name__: vars(op).get("java_number") for op in OPS.values()}
    assert ours == {name: java.get(name) for name in ours}
    assert nd.ops.DropOutInverted(nd.ones(2), p=0.5).op_num == 2
    assert nd.ops.Add(nd.ones(2), 1.0).op_num is None


def test_extra_arguments_of_ops():
    z = nd.zeros(2, 3)
    assert nd.ops.DropOutInverted(z, p=0.25).extra_args == nd.ops.AlphaDropOut(z, p=0.25).extra_args == (0.25,)
    assert nd.ops.GaussianDistribution(z, 1.0, 2.0).extra_args == (1.0, 2.0)
    assert nd.ops.UniformDistribution(z, -1.0, 2.0).extra_args == (-1.0, 2.0)
    assert nd.ops.BinomialDistribution(z, 3, 0.5).extra_args == (3, 0.5)
    assert nd.ops.BernoulliDistribution(z, 0.125).extra_args == (0.125,)
    assert nd.ops.Sum(z).extra_args == ()
