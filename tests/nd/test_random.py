"""The random generator and the ops that draw, against plain Python integers and against weights that Java wrote."""

import math
import struct
import zipfile

import numpy as np
import pytest

import nd
from nd import ops
from nd.execution.executioner import execRandom
from nd.random import Random, get_random
from tests.cases.ops import RANDOM, normals, truncated_normals
from tests.cells import every_row
from tests.java_runs import drawn_as_by
from tests.stand_ins import TOLERANCE, as_input, make_backend

MASK64, MASK32 = 2**64 - 1, 2**32 - 1
NORMAL_TOLERANCE = {"rtol": 2e-5, "atol": 5e-6}
"""float32 draws in every dtype: logarithm and cosine of a library may be an ulp or two apart."""


def single(value):
    """Round to float32."""
    return struct.unpack("f", struct.pack("f", value))[0]


class PlainGenerator:
    """specs/dl4j.md section 12, one Python integer after the other."""

    def __init__(self, seed):
        self.root = seed % 2**64
        self.node = self.root ^ 0xFFFFFFFFDEADBEEF

    def raw(self, i):
        s0 = self.root | ((i + 2) * ((self.node + 24243287) & MASK64) & MASK64)
        s1 = self.node ^ ((i + 2) * ((s0 + 723829) & MASK64) & MASK64)
        v = ((s0 ^ s1) & MASK32) * 0x9E3779BB & MASK32
        return rotl(v, 5) * 5 & MASK32

    def uniform(self, i):
        return single(float(self.raw(i))) * 2.0**-32

    def rewind(self, n):
        low, high = self.node & MASK32, self.node >> 32
        high ^= low
        left = rotl(low, 26) ^ high ^ (high << 9 & MASK32)
        self.node = (left | rotl(high, 13) << 32) ^ (n ^ 0xDEADBEEF)


def rotl(value, bits):
    return (value << bits & MASK32) | value >> (32 - bits)


@pytest.mark.parametrize("seed", [123, 1, -5, 2**63 - 1, -(2**63)])
def test_raw_bits_and_states(backend, seed):
    plain, mine = PlainGenerator(seed), Random(seed)
    for n in (1, 7, 64):
        assert mine.get_state() == (plain.root, plain.node)
        raw = backend.to_host(backend.random_raw(*mine.get_state(), n)).tolist()
        assert raw == [plain.raw(i) for i in range(n)]
        assert backend.to_host(mine.uniform(n)).tolist() == [plain.uniform(i) for i in range(n)]
        plain.rewind(n)


@every_row("name", RANDOM)
@every_row("shape", [(5, 7), (2, 3, 2, 3)])
def test_random_ops(backend, dtype, order, name, shape):
    parameters, oracle = RANDOM[name]
    count, x = math.prod(shape), np.random.default_rng(2).normal(size=shape).astype(dtype)
    plain, rng = PlainGenerator(77), Random(77)
    for _ in range(2):  # the second draw starts where the first one ended
        expected = oracle(x.ravel().astype("float64").tolist(), count, plain.uniform, **parameters)
        plain.rewind(count)
        reads = "dropout" in name or "merge" in name
        first = as_input(backend, x, order, dtype) if reads else backend.full(shape, 0.0, dtype, "f")
        z = execRandom(ops.OPS[name](first, **parameters), rng)
        assert backend.dtype_name(z) == dtype
        np.testing.assert_allclose(backend.to_host(z).ravel(), expected, **NORMAL_TOLERANCE)
        if reads:
            np.testing.assert_array_equal(backend.to_host(first), x)
    assert rng.get_state() == (plain.root, plain.node)


def test_outliers_of_both_halves(backend, dtype):
    plain = PlainGenerator(6)
    drawn = np.array(normals(601, plain.uniform))
    outside, second = np.abs(drawn) > 2.0, np.arange(601) >= 301
    assert np.any(outside & second)
    z = backend.to_host(Random(6).truncated_normal(601, dtype))
    np.testing.assert_allclose(z, truncated_normals(601, plain.uniform), **NORMAL_TOLERANCE)
    assert np.all(z[outside & ~second] == 0.0)
    assert np.count_nonzero(outside & ~second) > 0
    assert np.count_nonzero(z[outside & second]) > 0


@pytest.mark.parametrize("name", [name for name in RANDOM if "dropout" in name])
def test_dropout_in_place(backend, dtype, name):
    parameters, oracle = RANDOM[name]
    x = backend.full((4, 6), 2.0, dtype)
    assert execRandom(ops.OPS[name](x, z=x, **parameters), Random(9)) is x
    expected = oracle([2.0] * 24, 24, PlainGenerator(9).uniform, **parameters)
    np.testing.assert_allclose(backend.to_host(x).ravel(), expected, **TOLERANCE[dtype])


def test_what_is_dropped_is_a_plain_zero(backend):
    x = backend.asarray([[-1.0, 1.0]] * 50, "float32")
    z = backend.to_host(execRandom(ops.DropOutInverted(x, p=0.5), Random(9)))
    assert set(np.abs(z).ravel().tolist()) == {0.0, 2.0}
    assert 30 < np.count_nonzero(z) < 70


def test_the_global_generator_is_the_default(backend):
    x = backend.full((3, 4), 1.0, "float32")
    nd.random.set_seed(31)
    first = backend.to_host(execRandom(ops.DropOut(x, p=0.5)))
    np.testing.assert_array_equal(backend.to_host(execRandom(ops.DropOut(x, p=0.5), Random(31))), first)
    assert get_random().get_state() != Random(31).get_state()


def test_same_bits_on_every_backend(backend, dtype):
    drawn = [
        Random(5).uniform(501, dtype),
        Random(5).bernoulli(501, dtype, 0.3),
        Random(5).binomial(501, dtype, 3, 0.3),
    ]
    normal = [Random(5).gaussian(501, dtype), Random(5).truncated_normal(501, dtype)]
    with nd.use_backend(make_backend("numpy")):
        wanted = [Random(5).uniform(501, dtype), Random(5).bernoulli(501, dtype, 0.3)]
        wanted.append(Random(5).binomial(501, dtype, 3, 0.3))
        wanted_normal = [Random(5).gaussian(501, dtype), Random(5).truncated_normal(501, dtype)]
    for mine, numpys in zip(drawn, wanted, strict=True):
        np.testing.assert_array_equal(backend.to_host(mine), numpys)
    for mine, numpys in zip(normal, wanted_normal, strict=True):
        np.testing.assert_allclose(backend.to_host(mine), numpys, rtol=1e-5, atol=1e-6)


def test_means_and_deviations(backend):
    n, rng = 20_000, Random(2024)
    uniform, normal, cut, coin, counts = (
        backend.to_host(draw).astype("float64")
        for draw in (
            rng.uniform(n, low=-1.0, high=3.0),
            rng.gaussian(n, mean=2.0, std=3.0),
            rng.truncated_normal(n, mean=2.0, std=3.0),
            rng.bernoulli(n, p=0.3),
            rng.binomial(n, trials=5, p=0.3),
        )
    )
    for drawn, mean, std in (
        (uniform, 1.0, 4.0 / math.sqrt(12.0)),
        (normal, 2.0, 3.0),
        (coin, 0.3, math.sqrt(0.21)),
        (counts, 1.5, math.sqrt(1.05)),
    ):
        assert drawn.mean() == pytest.approx(mean, abs=4.0 * std / math.sqrt(n))
        assert drawn.std() == pytest.approx(std, rel=0.03)
    assert uniform.min() >= -1.0
    assert uniform.max() <= 3.0
    assert np.abs(cut - 2.0).max() <= 6.0
    assert cut.mean() == pytest.approx(2.0, abs=0.1)


def test_dropout_keeps_the_expectation(backend):
    x = backend.full((100, 200), 1.0, "float32")
    dropped = backend.to_host(execRandom(ops.DropOutInverted(x, p=0.8), Random(4)))
    assert dropped.mean() == pytest.approx(1.0, abs=0.02)
    selu = backend.to_host(Random(4).gaussian(20_000)).reshape(100, 200)
    alpha = backend.to_host(execRandom(ops.AlphaDropOut(as_input(backend, selu), p=0.8), Random(5)))
    assert alpha.mean() == pytest.approx(0.0, abs=0.03)
    assert alpha.std() == pytest.approx(1.0, abs=0.03)


def test_seed_zero_is_the_time(monkeypatch):
    monkeypatch.setattr("nd.random.time.time_ns", lambda: 1_700_000_000_123_456_789)
    assert Random(0).get_state() == (1_700_000_000_123, 1298567341)
    assert Random().get_state() == (1_700_000_000_123, 1298567341)


def test_a_saved_state_continues(backend):
    rng = Random(8)
    rng.uniform(3)
    saved = rng.get_state()
    first = backend.to_host(rng.uniform(10)).tolist()
    rng.set_state(saved)
    assert backend.to_host(rng.uniform(10)).tolist() == first
    rng.set_seed(8)
    assert rng.get_state() == Random(8).get_state()


@pytest.mark.parametrize("draw", [nd.rand, nd.randn])
def test_shapes_are_filled_in_c_order(backend, dtype, draw):
    nd.random.set_seed(3)
    flat = backend.to_host(draw(6, dtype=dtype))
    nd.random.set_seed(3)
    drawn = draw(2, 3, dtype=dtype)
    assert backend.dtype_name(drawn) == dtype
    np.testing.assert_array_equal(backend.to_host(drawn), flat.reshape(2, 3))
    nd.random.set_seed(3)
    np.testing.assert_array_equal(backend.to_host(draw((2, 3), dtype=dtype)), flat.reshape(2, 3))


def test_the_first_weights_of_lenet_are_those_of_java(backend, reference):
    """conv1 of seed 123: 500 weights from N(0, 2 / (25 + 500)), which lie behind the 20 biases."""
    with zipfile.ZipFile(reference / "LenetMnist" / "Model_RANDOM_INIT_UNTRAINED.zip") as model:
        content = model.read("coefficients.bin")
    parameters = np.frombuffer(content[-431080 * 4 :], ">f4")
    assert parameters[:20].tolist() == [0.0] * 20
    drawn = backend.to_host(Random(123).gaussian(500, std=math.sqrt(2.0 / 525.0)))
    np.testing.assert_allclose(drawn, parameters[20:520], rtol=3e-7, atol=1e-9)
    assert np.mean(drawn == parameters[20:520]) > 0.99


# ---- what is refused, and leaves the generator as it was


@every_row("method", ["uniform", "gaussian", "truncated_normal", "bernoulli", "retained", "binomial"])
@every_row(
    ("arguments", "error", "message"),
    [
        ((-1,), nd.ShapeError, r"n must be in 0 \.\. 281,474,976,710,655, got -1"),
        ((1 << 63,), nd.ShapeError, rf"n must be in 0 \.\. 281,474,976,710,655, got {1 << 63}"),
        ((2.5,), nd.DTypeError, r"n must be an integer, got 2\.5"),
        (("3",), nd.DTypeError, "n must be an integer, got '3'"),
        ((3, "int32"), nd.ChoiceError, "unknown dtype 'int32', expected one of float32, float64"),
        ((3, "foo"), nd.ChoiceError, "unknown dtype 'foo', expected one of float32, float64"),
    ],
)
def test_a_refused_draw_moves_nothing(method, arguments, error, message, backend):
    rng = Random(3)
    with pytest.raises(error, match=rf"Random\.\w+: {message}"):
        getattr(rng, method)(*arguments)
    assert rng.get_state() == Random(3).get_state()
    np.testing.assert_array_equal(nd.to_host(rng.uniform(4)), nd.to_host(Random(3).uniform(4)))


@every_row("p", [-0.1, 1.5, float("nan"), float("inf")])
@every_row("method", ["bernoulli", "retained", "binomial", "dropout_factors"])
def test_p_is_a_probability(method, p, backend):
    rng = Random(3)
    given = (nd.zeros(2, 3),) if method == "dropout_factors" else (3,)
    with pytest.raises(nd.ConfigurationError, match=rf"Random\.{method}: p.* must be .*p <= 1, got {p}"):
        getattr(rng, method)(*given, p=p)
    assert rng.get_state() == Random(3).get_state()


@pytest.mark.parametrize(
    ("draw", "error", "message"),
    [
        (
            lambda rng: rng.uniform(3, "float32", 2.0, 1.0),
            nd.ConfigurationError,
            r"low must be <= high, got 2\.0 and 1\.0",
        ),
        (lambda rng: rng.gaussian(3, std=-1.0), nd.ConfigurationError, r"gaussian: std must be >= 0, got -1\.0"),
        (lambda rng: rng.truncated_normal(3, std=-1.0), nd.ConfigurationError, r"std must be >= 0, got -1\.0"),
        (lambda rng: rng.binomial(3, trials=-1), nd.ShapeError, r"trials must be in 0 \.\. .*, got -1"),
        (lambda rng: rng.binomial(3, trials=1.5), nd.DTypeError, r"trials must be an integer, got 1\.5"),
        (lambda rng: rng.binomial(1 << 30, trials=1 << 30), nd.ShapeError, "n times trials must be"),
        (lambda rng: rng.dropout_factors(nd.zeros(2), 0.0), nd.ConfigurationError, r"0 < p <= 1, got 0\.0"),
    ],
)
def test_other_numbers_are_checked(draw, error, message):
    rng = Random(3)
    with pytest.raises(error, match=message):
        draw(rng)
    assert rng.get_state() == Random(3).get_state()


@every_row("function", [nd.rand, nd.randn])
@every_row(
    ("shape", "keywords", "error", "message"),
    [
        ((3, -1), {}, nd.ShapeError, r"an axis must be in 0 \.\. .*, got -1"),
        (((3, -1),), {}, nd.ShapeError, r"an axis must be in 0 \.\. .*, got -1"),
        ((-3, -1), {}, nd.ShapeError, r"an axis must be in 0 \.\. .*, got -3"),
        ((2.0,), {}, nd.DTypeError, r"an axis must be an integer, got 2\.0"),
        ((1 << 40, 1 << 40), {}, nd.ShapeError, "n must be in"),
        ((2,), {"dtype": "int64"}, nd.ChoiceError, "unknown dtype 'int64', expected one of float32, float64"),
    ],
)
def test_shapes_are_checked_before_anything_is_drawn(function, shape, keywords, error, message, backend):
    state = get_random().get_state()
    with pytest.raises(error, match=message):
        function(*shape, **keywords)
    assert get_random().get_state() == state


def test_empty_shapes_draw_nothing():
    assert nd.rand(3, 0).shape == nd.randn(3, 0).shape == (3, 0)
    assert nd.rand().shape == ()


@pytest.mark.parametrize("seed", [1.5, "5", None, 1 << 63, -(1 << 63) - 1])
def test_a_seed_is_an_integer_of_64_bits(seed):
    rng = Random(3)
    with pytest.raises(nd.ConfigurationError, match="set_seed: seed must"):
        rng.set_seed(seed)
    assert rng.get_state() == Random(3).get_state()


@pytest.mark.parametrize("op", [nd.ops.BernoulliDistribution, nd.ops.GaussianDistribution, nd.ops.BinomialDistribution])
def test_ops_on_integers_are_refused(op):
    state = get_random().get_state()
    with pytest.raises(nd.ChoiceError, match="unknown dtype 'int64', expected one of float32, float64"):
        nd.execRandom(op(nd.create([1, 2], dtype="int64")))
    assert get_random().get_state() == state


def test_a_block_puts_a_generator_in_force():
    outer, chosen = get_random(), Random(4)
    use = nd.random.use_random(chosen)
    with use:
        assert get_random() is chosen
        with use, nd.random.use_random(Random(5)):
            nd.random.set_random(outer)  # of the thread, not of the block
            assert get_random() is not chosen
        assert get_random() is chosen
    assert get_random() is outer


# ---- releases of Java


def test_uniform_numbers_of_newer_releases(backend):
    """What 1.0.0-M2.1 prints for ``Nd4j.rand(2, 5)`` and seed 5: whole multiples of 2^-23."""
    with drawn_as_by("1.0.0-M2.1"):
        generator = Random(5)
    assert (nd.to_host(generator.uniform(4)) * 2**23).tolist() == [4814051, 3399357, 2910249, 4382535]
    assert nd.to_host(generator.copy().uniform(3)).tolist() == nd.to_host(generator.uniform(3)).tolist()
    assert (nd.to_host(Random(5).uniform(4)) * 2**23).tolist() == [4814051.5, 3399357.25, 2910249.25, 4382536]


@pytest.mark.parametrize("draw", ["gaussian", "truncated_normal"])
def test_normal_numbers_follow_the_release(backend, draw):
    with drawn_as_by("1.0.0-M2.1"):
        generator = Random(3)
    cut, whole = (nd.to_host(getattr(each, draw)(4000)) for each in (generator, Random(3)))
    np.testing.assert_allclose(cut, whole, rtol=0, atol=2e-2)
    assert (cut != whole).any()


def test_decisions_follow_the_release(backend):
    """The first number of seed 5 is 4814051 * 2^-23, and half of 2^-23 more in older releases."""
    with drawn_as_by("1.0.0-M2.1"):
        newer = Random(5)
    cut, whole = 4814051 * 2.0**-23, 4814051.5 * 2.0**-23

    def first(generator, name, p):
        return nd.to_host(getattr(generator.copy(), name)(4, p=p))[0]

    def kept(generator, p):
        return nd.to_host(generator.copy().dropout_factors(nd.zeros(4), p))[0] > 0

    assert (first(newer, "bernoulli", cut), first(Random(5), "bernoulli", cut)) == (1, 0)
    assert (first(newer, "retained", whole), first(Random(5), "retained", whole)) == (1, 0)
    assert (kept(newer, whole), kept(Random(5), whole)) == (True, False)


@pytest.mark.parametrize("p", [0.0, 0, -0.5, 1.5, math.nan])
def test_a_dropout_that_cannot_be_is_refused_in_every_release(backend, p):
    with drawn_as_by("1.0.0-M2.1"):
        newer = Random(3)
    for generator in (newer, Random(3)):
        before = generator.get_state()
        with pytest.raises(nd.ConfigurationError, match="dropout_factors: p, the probability to retain, must be 0 < p"):
            generator.dropout_factors(nd.zeros(4), p)
        assert generator.get_state() == before


@pytest.mark.parametrize("release", ["", "M2", "1.0", "1.0.0-rc1", "2"])
def test_what_is_no_release(release):
    with pytest.raises(nd.ConfigurationError, match=r"set_release: release must be one such as '1\.0\.0-M2\.1', got"):
        nd.random.set_release(release)
