"""Transforms of ported programs against what Java 1.0.0-M2.1 computes."""

import pytest

import nd
from nn.dl4j import (
    DataType,
    Transforms,
)
from tests.cases.java_arrays import array, e, holds, m, u, v, w, x, y
from tests.cells import every_row

ELEMENTWISE = {
    "abs": (x, [[2.5, 1.5, 0.5], [0, 0.5, 1.5]]),
    "acos": (u, [[1.4706289056333368, 1.0471975511965979], [0.45102681179626236, 1.8754889808102941]]),
    "asin": (u, [[0.1001674211615598, 0.5235987755982989], [1.1197695149986342, -0.3046926540153975]]),
    "atan": (u, [[0.09966865249116204, 0.4636476090008061], [0.7328151017865066, -0.2914567944778671]]),
    "atanh": (u, [[0.10033534773107558, 0.5493061443340548], [1.4722194895832204, -0.30951960420311175]]),
    "ceil": (x, [[-2, -1, 0], [0, 1, 2]]),
    "ceiling": (x, [[-2, -1, 0], [0, 1, 2]]),
    "cos": (u, [[0.9950041652780258, 0.8775825618903728], [0.6216099682706644, 0.955336489125606]]),
    "cosh": (u, [[1.0050041680558035, 1.1276259652063807], [1.4330863854487745, 1.0453385141288605]]),
    "elu": (x, [[-0.9179150013761012, -0.7768698398515702, -0.3934693402873666], [0, 0.5, 1.5]]),
    "expm1": (u, [[0.10517091807564771, 0.6487212707001282], [1.4596031111569499, -0.2591817793182821]]),
    "floor": (x, [[-3, -2, -1], [0, 0, 1]]),
    "hardSigmoid": (x, [[0, 0.19999999552965164, 0.3999999985098839], [0.5, 0.6000000014901161, 0.8000000044703484]]),
    "hardTanh": (x, [[-1, -1, -0.5], [0, 0.5, 1]]),
    "hardTanhDerivative": (e, [1, 1, 1, 1, 0, 0, 0]),
    "identity": (x, [[-2.5, -1.5, -0.5], [0, 0.5, 1.5]]),
    "leakyRelu": (x, [[-0.025, -0.015, -0.005], [0, 0.5, 1.5]]),
    "log": (v, [0, 0.6931471805599453, 1.0986122886681098, 1.3862943611198906]),
    "log1p": (u, [[0.09531017980432493, 0.4054651081081644], [0.6418538861723947, -0.35667494393873245]]),
    "neg": (x, [[2.5, 1.5, 0.5], [0, -0.5, -1.5]]),
    "relu": (x, [[0, 0, 0], [0, 0.5, 1.5]]),
    "relu6": (lambda: array([-12.5, 2.5, 7.5]), [0, 2.5, 6]),
    "reverse": (m, [[6, 4, 5], [2, 1, 3]]),
    "round": (x, [[-3, -2, -1], [0, 1, 2]]),
    "sigmoidDerivative": (
        e,
        [0.19661193324148185, 0.25, 0.25, 0.19661193324148185, 0.07010371654510807, 0.07010371654510815,
         0.002466509291359931],
    ),
    "sign": (x, [[-1, -1, -1], [0, 1, 1]]),
    "sin": (u, [[0.09983341664682815, 0.479425538604203], [0.7833269096274834, -0.29552020666133955]]),
    "sinh": (u, [[0.10016675001984403, 0.5210953054937474], [1.0265167257081753, -0.3045202934471426]]),
    "softPlus": (
        x,
        [[0.07888973429254956, 0.20141327798275246, 0.4740769841801067],
         [0.6931471805599453, 0.9740769841801067, 1.7014132779827524]],
    ),
    "softmax": (
        x,
        [[0.09003057317038046, 0.24472847105479764, 0.6652409557748219],
         [0.14024438316608848, 0.23122389762214907, 0.6285317192117624]],
    ),
    "softsign": (x, [[-0.7142857142857143, -0.6, -0.3333333333333333], [0, 0.3333333333333333, 0.6]]),
    "softsignDerivative": (x, [[0.08163265306122448, 0.16, 0.4444444444444444], [1, 0.4444444444444444, 0.16]]),
    "step": (x, [[0, 0, 0], [0, 1, 1]]),
    "tan": (u, [[0.10033467208545055, 0.5463024898437905], [1.2601582175503392, -0.30933624960962325]]),
    "timesOneMinus": (x, [[-8.75, -3.75, -0.75], [0, 0.25, -0.75]]),
}  # fmt: skip


@every_row("name", ELEMENTWISE)
def test_a_function_of_every_element(name, backend):
    make, expected = ELEMENTWISE[name]
    function, given = getattr(Transforms, name), make()
    for dup in ((), (True,)):
        holds(function(given, *dup), expected)
        holds(given, make())
    assert function(given, False) is given  # which is Java's way to say: in place
    holds(given, expected)


def test_softmax_of_a_vector(backend):
    holds(Transforms.softmax(v()), [0.03205860328008499, 0.08714431874203257, 0.23688281808991013, 0.6439142598879724])


WITH_NUMBERS = {
    "log of base 2": (v, lambda a, *dup: Transforms.log(a, 2.0, *dup), [0, 1, 1.5849625007211563, 2]),
    "leakyRelu": (x, lambda a, *dup: Transforms.leakyRelu(a, 0.3, *dup), [[-0.75, -0.45, -0.15], [0, 0.5, 1.5]]),
    "leakyReluDerivative": (
        e, lambda a, *dup: Transforms.leakyReluDerivative(a, 0.3, *dup), [0.3, 1, 1, 1, 1, 0.3, 1],
    ),
    "eluDerivative": (
        x, lambda a, *dup: Transforms.eluDerivative(a, y(), *dup),
        [[0.0820849986238988, 0.44626032029685964, -0.3032653298563167], [4, 0.25, 1.5]],
    ),
    "pow": (v, lambda a, *dup: Transforms.pow(a, 0.5, *dup), [1, 1.4142135623730951, 1.7320508075688772, 2]),
    "pow of an array": (v, lambda a, *dup: Transforms.pow(a, w(), *dup), [1, 1, 27, 0.25]),
    "max": (x, lambda a, *dup: Transforms.max(a, 0.2, *dup), [[0.2, 0.2, 0.2], [0.2, 0.5, 1.5]]),
    "max of an array": (x, lambda a, *dup: Transforms.max(a, y(), *dup), [[1, 2, -0.5], [4, 0.5, 1.5]]),
    "min": (x, lambda a, *dup: Transforms.min(a, 0.2, *dup), [[-2.5, -1.5, -0.5], [0, 0.2, 0.2]]),
    "min of an array": (x, lambda a, *dup: Transforms.min(a, y(), *dup), [[-2.5, -1.5, -0.5], [0, 0.25, 1.5]]),
    "mpow": (
        lambda: array([[1, 2], [3, 4]]), lambda a, *dup: Transforms.mpow(a, 3, *dup), [[37, 54], [81, 118]],
    ),
}  # fmt: skip


@every_row("name", WITH_NUMBERS)
def test_a_function_of_every_element_and_something_else(name, backend):
    make, function, expected = WITH_NUMBERS[name]
    given = make()
    holds(function(given), expected)
    holds(given, make())
    assert function(given, False) is given
    holds(given, expected)


def test_angles_and_products_of_vectors(backend):
    holds(Transforms.atan2(v(), w()), [1.1071487177940904, 0, 0.7853981633974483, -0.24497866312686414])
    holds(Transforms.dot(v(), w()), 7)
    holds(Transforms.dot(x(), y()), -2.875)
    holds(Transforms.cross(array([1, 2, 3]), array([4, 5, 6.5])), [-2, 5.5, -3])
    holds(Transforms.cross(array([[1, 2, 3], [1, 0, 0]]), array([[4, 5, 6.5], [0, 1, 0]])), [[-2, 5.5, -3], [0, 0, 1]])
    holds(Transforms.mpow(array([[1, 2], [3, 4]]), 0), [[1, 0], [0, 1]])


def test_comparisons_and_logic_are_of_bool(backend):
    first, second = array([1, 0, 1, 0], "bool"), array([1, 1, 0, 0], "bool")
    found = {
        "ge": (Transforms.greaterThanOrEqual(x(), y()), [[0, 0, 1], [0, 1, 1]]),
        "ge, False": (Transforms.greaterThanOrEqual(x(), y(), False), [[0, 0, 1], [0, 1, 1]]),
        "le": (Transforms.lessThanOrEqual(x(), y()), [[1, 1, 1], [1, 0, 1]]),
        "and": (Transforms.and_(first, second), [1, 0, 0, 0]),
        "or": (Transforms.or_(first, second), [1, 1, 1, 0]),
        "xor": (Transforms.xor(first, second), [0, 1, 1, 0]),
        "not": (Transforms.not_(first), [0, 1, 0, 1]),
        "not by its name": (getattr(Transforms, "not")(first), [0, 1, 0, 1]),
        "and of numbers": (getattr(Transforms, "and")(v(), w()), [1, 0, 1, 1]),
        "or of numbers": (getattr(Transforms, "or")(v(), w()), [1, 1, 1, 1]),
        "xor of numbers": (Transforms.xor(v(), w()), [0, 1, 0, 0]),
        "not of numbers": (Transforms.not_(w()), [0, 1, 0, 0]),
    }
    for made, expected in found.values():
        assert nd.dtype_name(made) == "bool"
        holds(made, expected)


def test_what_always_writes_into_its_argument(backend):
    unit, normal, largest, tied, target = v(), m(), m(), array([1, 3, 3, 2]), v()
    assert Transforms.unitVec(unit) is unit
    holds(unit, [0.18257418583505536, 0.3651483716701107, 0.5477225575051661, 0.7302967433402214])
    holds(Transforms.unitVec(nd.zeros(3)), [0, 0, 0])
    holds(Transforms.unitVec(array([[3, 4]])), [[0.6, 0.8]])
    assert Transforms.normalizeZeroMeanAndUnitVariance(normal) is normal
    row = [0.7071017812219025, 0.7071034478689276, 0.7071042811953863]
    holds(normal, [[-each for each in row], row])
    holds(Transforms.normalizeZeroMeanAndUnitVariance(array([[1, 2], [1, 5]])), [[0, -row[1]], [0, row[1]]])
    assert Transforms.isMax(largest) is largest
    holds(largest, [[0, 0, 0], [0, 0, 1]])
    holds(Transforms.isMax(tied), [0, 1, 0, 0])
    assert Transforms.isMax(v(), target) is target
    holds(target, [0, 0, 0, 1])
    of_floats = Transforms.isMax(largest, DataType.FLOAT)
    assert nd.dtype_name(of_floats) == "float32"
    with pytest.raises(nd.ShapeError, match=r"unitVec: expected a vector, got \[2, 3\]"):
        Transforms.unitVec(m())


def test_distances(backend):
    assert {
        name: getattr(Transforms, name)(v(), w())
        for name in (
            "cosineSim", "cosineDistance", "euclideanDistance", "manhattanDistance", "hammingDistance",
            "jaccardDistance",
        )
    } == pytest.approx({
        "cosineSim": 0.34156502553198664, "cosineDistance": 0.6584349744680134, "euclideanDistance": 5.477225575051661,
        "manhattanDistance": 8.0, "hammingDistance": 0.75, "jaccardDistance": 0.7272727489471436,
    }, rel=1e-7)  # fmt: skip
    assert Transforms.cosineSim(x(), y()) == pytest.approx(-0.1765838185535368)
    assert Transforms.jaccardDistance(v(), array([2, 1, 3, 5])) == 0.25
    assert Transforms.euclideanDistance(nd.ones(1, 3), nd.ones(3)) == 0.0
    with pytest.raises(nd.ShapeError, match=r"euclideanDistance: expected arrays of one length, got \[3\] and \[2\]"):
        Transforms.euclideanDistance(nd.ones(3), nd.ones(2))


def test_distances_of_all_to_all(backend):
    holds(
        Transforms.allCosineSimilarities(m(), y(), 1),
        [[0.4665694748158435, 0.9524276764095181], [0.4973647313019938, 0.7989177556226311]],
    )
    holds(
        Transforms.allCosineDistances(m(), y(), 1),
        [[0.5334305251841565, 0.04757232359048191], [0.5026352686980062, 0.20108224437736888]],
    )
    holds(
        Transforms.allEuclideanDistances(m(), y(), 1),
        [[3.3541019662496847, 1.346291201783626], [7.88986691902975, 5.942432162002357]],
    )
    holds(
        Transforms.allEuclideanDistances(m(), y(), 0),
        [[2.23606797749979, 4.8541219597369, 4.949747468305833], [0, 3.881043674065006, 2.9154759474226504],
         [2.23606797749979, 5.75, 5.1478150704935]],
    )  # fmt: skip
    holds(Transforms.allManhattanDistances(m(), y(), 1), [[5.5, 2.25], [12.5, 9.25]])
    three = nd.concat([m(), y()[:1, :]], 0)
    holds(
        Transforms.allEuclideanDistances(three, y(), 1),
        [[3.3541019662496847, 1.346291201783626], [7.88986691902975, 5.942432162002357], [0, 4.00780488547035]],
    )


def test_whole_numbers_do_not_hold_fractions():
    whole = array([1, 2, 3], "int32")
    for call in (
        lambda: Transforms.pow(whole, 0.5, False), lambda: Transforms.max(whole, 2.5, False),
        lambda: Transforms.exp(whole, False), lambda: Transforms.log(whole, 2.0, False),
    ):  # fmt: skip
        with pytest.raises(nd.DTypeError, match=r"x must be of floats to hold the result, which is of \w+, got int32"):
            call()
        holds(whole, [1, 2, 3])
    assert Transforms.abs(whole, False) is whole


def test_powers_and_axes_that_cannot_be(backend):
    with pytest.raises(nd.ConfigurationError, match="mpow: exponent must be an integer >= 0, got -1"):
        Transforms.mpow(nd.ones(2, 2), -1)
    with pytest.raises(nd.ShapeError, match=r"mpow: expected a square matrix \[n, n\], got \[2, 3\]"):
        Transforms.mpow(m(), 0)
    for axes in ((), (7,), (-3,), (0.5,)):
        with pytest.raises(nd.ConfigurationError, match=r"distances need the axes .* of \[2, 3\], got"):
            Transforms.allEuclideanDistances(m(), m(), *axes)
    with pytest.raises(nd.ShapeError, match=r"vectors of one length along the axes \[1\], got 3 and 1"):
        Transforms.allManhattanDistances(m(), nd.ones(2, 1), 1)
