"""Random arrays of Nd4j against what Java 1.0.0-M2.1 draws."""

import numpy as np
import pytest

import nd
from nn.dl4j import (
    ConstantDistribution,
    DataType,
    LogNormalDistribution,
    Nd4j,
    NormalDistribution,
    Random,
    TruncatedNormalDistribution,
    UniformDistribution,
)
from tests.cases.java_arrays import D, holds, m
from tests.cells import every_row

UNIFORM = [0.09423792, 0.6771476, 0.023267388, 0.50311685, 0.08031201, 0.6156454]
OF_SEED_12 = [[0.3233614, 0.8089589], [0.89697194, 0.12078738]]
WIDER = [[-0.6230483, 1.7085905], [-0.90693045, 1.0124674]]
NORMAL = [-2.1729832, 0.7729353, -2.0496624, -0.04262806, 0.42695847, -1.8219357]
FOUR_NORMAL = [[2.1501975, -0.8828491], [0.31673807, -0.017319117]]
OTHER_NORMAL = [[5.300395, -0.7656982], [1.6334761, 0.9653618]]
UNIFORM_2_3, NORMAL_2_3 = np.reshape(UNIFORM, (2, 3)), np.reshape(NORMAL, (2, 3))
UNIFORM_F, NORMAL_F = np.reshape(UNIFORM, (3, 2)).T, np.reshape(NORMAL, (3, 2)).T

DRAWS = {  # what is drawn after getRandom().setSeed(7), and what nextFloat() answers then
    "rand(2, 3)": (lambda rng: Nd4j.rand(2, 3), UNIFORM_2_3, 6),
    "rand(5)": (lambda rng: Nd4j.rand(5), UNIFORM[:5], 5),
    "rand(DOUBLE, 2, 3)": (lambda rng: Nd4j.rand(D, 2, 3), UNIFORM_2_3, 6),
    "rand('c', 2, 3)": (lambda rng: Nd4j.rand("c", 2, 3), UNIFORM_2_3, 6),
    "rand('f', 2, 3)": (lambda rng: Nd4j.rand("f", 2, 3), UNIFORM_F, 6),
    "rand(FLOAT, [2, 3], 'f')": (lambda rng: Nd4j.rand(DataType.FLOAT, [2, 3], "f"), UNIFORM_F, 6),
    "rand(seed, [2, 2])": (lambda rng: Nd4j.rand(12, [2, 2]), OF_SEED_12, None),
    "rand([2, 2], seed)": (lambda rng: Nd4j.rand([2, 2], 12), OF_SEED_12, None),
    "rand([2, 3], rng)": (lambda rng: Nd4j.rand([2, 3], rng), UNIFORM_2_3, 6),
    "rand(rng, 2, 3)": (lambda rng: Nd4j.rand(rng, 2, 3), UNIFORM_2_3, 6),
    "rand(2, 3, rng)": (lambda rng: Nd4j.rand(2, 3, rng), UNIFORM_2_3, 6),
    "rand([2, 2], -1, 3, rng)": (lambda rng: Nd4j.rand([2, 2], -1, 3, rng), WIDER, 4),
    "rand(-1, 3, rng, 2, 2)": (lambda rng: Nd4j.rand(-1.0, 3.0, rng, 2, 2), WIDER, 4),
    "rand(uniform)": (lambda rng: Nd4j.rand([2, 2], UniformDistribution(-1, 3)), WIDER, 4),
    "rand(normal)": (lambda rng: Nd4j.rand(NormalDistribution(1, 2), 2, 2), OTHER_NORMAL, 4),
    "rand(createNormal)": (lambda rng: Nd4j.rand([2, 2], Nd4j.getDistributions().createNormal(1, 2)), OTHER_NORMAL, 4),
    "rand(truncated)": (
        lambda rng: Nd4j.rand([2, 2], TruncatedNormalDistribution(1, 2)), [[1, -0.7656982], OTHER_NORMAL[1]], 4,
    ),
    "rand(log normal)": (
        lambda rng: Nd4j.rand([2, 2], LogNormalDistribution(1, 0.5)),
        [[7.965333, 1.7481804], [3.1847348, 2.6948445]], 4,
    ),
    "rand(constant)": (lambda rng: Nd4j.rand([2, 2], ConstantDistribution(1.5)), [[1.5, 1.5], [1.5, 1.5]], 0),
    "rand(array)": (lambda rng: Nd4j.rand(m()), UNIFORM_2_3, 6),
    "rand(array, seed)": (lambda rng: Nd4j.rand(nd.zeros(2, 2), 12), OF_SEED_12, None),
    "rand(array, -1, 3, rng)": (lambda rng: Nd4j.rand(nd.zeros(2, 2), -1, 3, rng), WIDER, 4),
    "rand(array, normal)": (lambda rng: Nd4j.rand(nd.zeros(2, 2), NormalDistribution(1, 2)), OTHER_NORMAL, 4),
    "randn(2, 3)": (lambda rng: Nd4j.randn(2, 3), NORMAL_2_3, 6),
    "randn('f', 2, 3)": (lambda rng: Nd4j.randn("f", 2, 3), NORMAL_F, 6),
    "randn(DOUBLE, 2, 2)": (lambda rng: Nd4j.randn(D, 2, 2), FOUR_NORMAL, 4),
    "randn(seed, [2, 2])": (
        lambda rng: Nd4j.randn(12, [2, 2]), [[1.1986443, 0.47243962], [-0.90618956, 0.44811884]], None,
    ),
    "randn([2, 2], rng)": (lambda rng: Nd4j.randn([2, 2], rng), FOUR_NORMAL, 4),
    "randn(rng, 2, 2)": (lambda rng: Nd4j.randn(rng, 2, 2), FOUR_NORMAL, 4),
    "randn(1, 2, [2, 2], rng)": (lambda rng: Nd4j.randn(1, 2, [2, 2], rng), OTHER_NORMAL, 4),
    "randn(1, 2, array, rng)": (lambda rng: Nd4j.randn(1, 2, nd.zeros(2, 2), rng), OTHER_NORMAL, 4),
    "randn(array)": (lambda rng: Nd4j.randn(m()), NORMAL_2_3, 6),
    "bernoulli": (lambda rng: Nd4j.randomBernoulli(0.3, 2, 4), [[1, 0, 1, 0], [1, 0, 0, 1]], 8),
    "bernoulli of an array": (lambda rng: Nd4j.randomBernoulli(0.3, m()), [[1, 0, 1], [0, 1, 0]], 6),
    "binomial": (lambda rng: Nd4j.randomBinomial(5, 0.4, 2, 4), [[2, 3, 2, 3], [4, 2, 2, 3]], 8),
    "exponential": (
        lambda rng: Nd4j.randomExponential(2.0, 2, 3),
        [[1.1809663, 0.19493298, 1.8803513], [0.34346643, 1.260918, 0.24254206]], 0,
    ),
}  # fmt: skip


@every_row("name", DRAWS)
def test_random_numbers(name, backend):
    draw, expected, count = DRAWS[name]
    generator = Nd4j.getRandom()
    generator.setSeed(7)
    holds(draw(generator), expected, rtol=1e-6, atol=1e-6)
    if count is not None:
        found = generator.get_state()
        generator.setSeed(7)
        if count:
            generator.uniform(count)
        assert found == generator.get_state()


def test_an_array_is_filled_in_the_order_of_its_memory(backend):
    target = nd.transpose(nd.zeros(3, 2))
    Nd4j.getRandom().setSeed(7)
    assert Nd4j.rand(target) is target
    if hasattr(target, "flags"):  # the strict stand-in has no orders
        holds(target, UNIFORM_F, rtol=1e-6, atol=1e-6)


def test_random_arrays_that_are_refused(backend):
    with pytest.raises(
        nd.ArgumentError, match=r"rand: beside the shape there may be a seed or two numbers, got \[1, 2, 3\]"
    ):
        Nd4j.rand([2, 2], 1, 2, 3)
    with pytest.raises(nd.ShapeError, match=r"randn: a shape must be of whole numbers, got \[2, 0.5\]"):
        Nd4j.randn(2, 0.5)


def test_shuffling(backend):
    rows = nd.reshape(Nd4j.arange(1, 13), (6, 2))
    several = [nd.copy(rows), nd.multiply(rows, 10.0)]
    Nd4j.shuffle(several, Random(42), 1)
    expected = np.array([[7, 8], [5, 6], [3, 4], [1, 2], [11, 12], [9, 10]])
    holds(several[0], expected)
    holds(several[1], 10 * expected)
    Nd4j.shuffle(rows, Random(42), 0)
    holds(rows, [[2, 1], [4, 3], [6, 5], [8, 7], [10, 9], [12, 11]])
    vector, blocks = Nd4j.arange(1, 8), nd.reshape(Nd4j.arange(1, 17), (4, 2, 2))
    Nd4j.shuffle(vector, Random(42), 0)
    holds(vector, [1, 3, 2, 7, 6, 5, 4])
    Nd4j.shuffle(blocks, Random(42), 1, 2)
    holds(blocks[:, 0, 0], [5, 1, 13, 9])
    with pytest.raises(nd.ShapeError, match=r"shuffle: the dimensions must leave one axis, of one length, got \[1\]"):
        Nd4j.shuffle(blocks, Random(42), 1)
    for axes in ((7,), (-3,), (0.5,)):
        with pytest.raises(nd.ShapeError, match=r"shuffle: the dimensions must be axes of \[6, 2\], got"):
            Nd4j.shuffle(rows, Random(42), *axes)
    with pytest.raises(nd.ArgumentError, match="shuffle: expected an array or a list of arrays, got an empty list"):
        Nd4j.shuffle([], 1)
