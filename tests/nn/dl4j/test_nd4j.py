"""Nd4j of ported programs against what Java 1.0.0-M2.1 computes: arrays that are made, joined and multiplied."""

import math

import numpy as np
import pytest

import nd
from nn.dl4j import (
    DataType,
    Nd4j,
)
from tests.cases.java_arrays import NAN, D, array, holds, m, s, t


def test_types_of_what_is_created(backend):
    made = {
        "double": Nd4j.createFromArray(1.0, 2.0), "int": Nd4j.createFromArray(1, 2),
        "long": Nd4j.createFromArray(1 << 40),
        "boolean": Nd4j.createFromArray(True, False), "rows": Nd4j.createFromArray([[1, 2.0], [3, 4]]),
        "scalar": Nd4j.scalar(2.5), "int scalar": Nd4j.scalar(2),
        "long scalar": Nd4j.scalar(3000000000), "boolean scalar": Nd4j.scalar(True),
        "typed": Nd4j.scalar(D, 2), "typed int": Nd4j.scalar(DataType.INT, 2.7), "booleans": Nd4j.create([True, False]),
        "empty": Nd4j.empty(D), "list": Nd4j.create([1, 2, 3]), "kept": Nd4j.createFromArray(array([1, 2], "int64")),
    }  # fmt: skip
    assert {name: (nd.dtype_name(each), each.shape) for name, each in made.items()} == {
        "double": ("float64", (2,)), "int": ("int32", (2,)), "long": ("int64", (1,)), "boolean": ("bool", (2,)),
        "rows": ("float64", (2, 2)), "scalar": ("float64", ()), "int scalar": ("int32", ()),
        "long scalar": ("int64", ()), "boolean scalar": ("bool", ()), "typed": ("float64", ()),
        "typed int": ("int32", ()),
        "booleans": ("bool", (2,)), "empty": ("float64", (0,)), "list": ("float32", (3,)), "kept": ("int64", (2,)),
    }  # fmt: skip
    assert nd.item(made["typed int"]) == 2
    assert Nd4j.dataType() is Nd4j.defaultFloatingPointType() is DataType.FLOAT
    assert Nd4j.order() == "c"


def test_forms_of_create(backend):
    numbers = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    holds(Nd4j.create(numbers, [2, 3], "f"), [[1, 3, 5], [2, 4, 6]])
    holds(Nd4j.create(numbers, 3, 2), [[1, 2], [3, 4], [5, 6]])
    holds(Nd4j.create(numbers[:4], "c"), numbers[:4])
    holds(Nd4j.create([[1.0, 2.0], [3.0, 4.0]], "f"), [[1, 2], [3, 4]])
    holds(Nd4j.create([s(), s()], 2, 3), [[3, 1, 2], [3, 1, 2]])
    of_whole = Nd4j.create([1, 2, 3, 4], [2, 2], DataType.INT)
    assert nd.dtype_name(of_whole) == "int32"
    holds(of_whole, [[1, 2], [3, 4]])
    zeros = [
        Nd4j.create([2, 3], "f"), Nd4j.create(2, 3, "f"), Nd4j.create([2, 3], D), Nd4j.zeros([2, 3], D),
        Nd4j.create(DataType.INT, [2, 3], "f"), Nd4j.createUninitialized(D, 2, 3),
    ]  # fmt: skip
    assert [(nd.dtype_name(each), each.shape) for each in zeros] == [
        (dtype, (2, 3)) for dtype in ("float32", "float32", "float64", "float64", "int32", "float64")
    ]
    assert (Nd4j.zeros([]).shape, Nd4j.create(m().shape).shape) == ((), (2, 3))
    whole = Nd4j.valueArrayOf([2], 3, DataType.INT)
    assert (nd.dtype_name(whole), nd.dtype_name(Nd4j.valueArrayOf(2, 3.0))) == ("int32", "float32")
    with pytest.raises(nd.ShapeError, match=r"reshape: arguments must fit each other"):
        Nd4j.create([1.0, 2.0, 3.0], [2, 3])
    with pytest.raises(nd.ShapeError, match=r"a shape must be of whole numbers, got \[2, 3.5\]"):
        Nd4j.zeros(2, 3.5)


def test_numbers_in_a_row(backend):
    holds(Nd4j.linspace(1, 12, 12), [1, 2, 3, 4, 5, 6, 7.0000005, 8, 9, 10, 11, 12], rtol=1e-8)
    holds(
        Nd4j.linspace(-3.0, 2.5, 7, DataType.FLOAT),
        [-3, -2.0833333, -1.1666665, -0.25, 0.6666668, 1.5833333, 2.5],
        rtol=3e-8,
    )
    sixths = [0, 0.16666666666666666, 0.3333333333333333, 0.5, 0.6666666666666666, 0.8333333333333334, 1]
    holds(Nd4j.linspace(0.0, 1.0, 7, D), sixths, rtol=1e-16)
    holds(Nd4j.linspace(0, 10, 5, DataType.INT), [0, 2, 5, 7, 10])
    holds(Nd4j.linspace(2, 7, 1), 2)
    assert Nd4j.linspace(0, 1, 0).shape == (0,)
    holds(Nd4j.linspace(DataType.FLOAT, 0.5, 1.0, 3), [0.5, 1.5, 2.5])
    holds(Nd4j.linspace(DataType.INT, 0, 10, 5), [0, 5, 10, 15, 20, 25, 30, 35, 40, 45])
    for ends, expected in {
        (3,): [0, 1, 2], (2.5,): [0, 1, 2], (1, 4): [1, 2, 3], (0.5, 3.2): [0.5, 1.5, 2.5],
        (0, 1, 0.3): [0, 0.3, 0.6, 0.9],
        (0, 10, 3): [0, 3, 6, 9], (6, 0, -2): [6, 4, 2], (5, 0, -2): [5, 3], (0, 2, 1.5): [0, 1.5], (2, 2): [],
    }.items():  # fmt: skip
        holds(Nd4j.arange(*ends), expected)
    with pytest.raises(nd.ArgumentError, match=r"arange: the step must lead from 5 to 0, got 1"):
        Nd4j.arange(5, 0)


def test_special_matrices(backend):
    holds(Nd4j.diag(s()), [[3, 0, 0], [0, 1, 0], [0, 0, 2]])
    holds(Nd4j.diag(array([[1, 2]])), [[1, 0], [0, 2]])
    holds(Nd4j.diag(array([[1], [2]])), [[1, 0], [0, 2]])
    holds(Nd4j.diag(Nd4j.scalar(2.0)), [[2]])
    holds(Nd4j.diag(array([[1, 2], [3, 4]])), [1, 4])
    holds(Nd4j.tri(3), [[1, 0, 0], [1, 1, 0], [1, 1, 1]])
    holds(Nd4j.tri(2, 3), [[1, 1], [1, 1]])
    holds(Nd4j.tri(2, 3, 1), [[1, 1, 0], [1, 1, 1]])
    holds(Nd4j.triu(nd.ones(3, 3), 1), [[0, 1, 1], [0, 0, 1], [0, 0, 0]])
    columns, rows = Nd4j.meshgrid(array([1, 2, 3]), array([4, 5]))
    holds(columns, [[1, 2, 3], [1, 2, 3]])
    holds(rows, [[4, 4, 4], [5, 5, 5]])
    with pytest.raises(nd.ShapeError, match=r"diag: expected a vector or a square matrix, got \[2, 3\]"):
        Nd4j.diag(m())


def test_joining(backend):
    holds(Nd4j.stack(0, s(), s()), [[3, 1, 2], [3, 1, 2]])
    holds(Nd4j.stack(1, [s(), s()]), [[3, 3], [1, 1], [2, 2]])
    holds(Nd4j.stack(-1, s(), s()), [[3, 3], [1, 1], [2, 2]])
    holds(Nd4j.stack(1, m(), m()), [[[3, 1, 2], [3, 1, 2]], [[5, 4, 6], [5, 4, 6]]])
    holds(Nd4j.pile([m(), m()]), [[[3, 1, 2], [5, 4, 6]]] * 2)
    holds(Nd4j.concat(-1, m(), m()), [[3, 1, 2, 3, 1, 2], [5, 4, 6, 5, 4, 6]])
    holds(Nd4j.hstack(array([[1], [2]]), array([[3], [4]])), [[1, 3], [2, 4]])
    holds(Nd4j.vstack(array([1, 2]), array([[3, 4]])), [[1, 2], [3, 4]])
    holds(Nd4j.toFlattened("f", m(), s()), [3, 5, 1, 4, 2, 6, 3, 1, 2])
    with pytest.raises(nd.ShapeError, match=r"expandDims: expected an axis in -1 .. 1, got 2"):
        Nd4j.stack(2, s(), s())


def test_repeating_and_widening(backend):
    holds(Nd4j.repeat(m(), 2), [[[3, 1, 2], [5, 4, 6]]] * 2)
    holds(Nd4j.repeat(s(), 2), [[3, 1, 2], [3, 1, 2]])
    holds(Nd4j.tile(m(), 1, 2), [[3, 1, 2, 3, 1, 2], [5, 4, 6, 5, 4, 6]])
    holds(Nd4j.tile(s(), 2), [3, 1, 2, 3, 1, 2])
    holds(Nd4j.pad(m(), 1, 2), [[0] * 7, [0, 0, 3, 1, 2, 0, 0], [0, 0, 5, 4, 6, 0, 0], [0] * 7])
    holds(Nd4j.pad(m(), [[1, 0], [0, 2]]), [[0] * 5, [3, 1, 2, 0, 0], [5, 4, 6, 0, 0]])
    holds(Nd4j.append(m(), 2, 9, 1), [[3, 1, 2, 9, 9], [5, 4, 6, 9, 9]])
    holds(Nd4j.append(m(), 1, 9, -1), [[3, 1, 2, 9], [5, 4, 6, 9]])
    holds(Nd4j.prepend(m(), 1, 9, 0), [[9, 9, 9], [3, 1, 2], [5, 4, 6]])
    holds(Nd4j.pullRows(m(), 1, 1, 0, 1), [[5, 4, 6], [3, 1, 2], [5, 4, 6]])
    holds(Nd4j.pullRows(m(), 0, [2, 0]), [[2, 3], [6, 5]])
    with pytest.raises(nd.ShapeError, match=r"tile: expected a count for each axis of \[2, 3\], got \[2\]"):
        Nd4j.tile(m(), 2)
    with pytest.raises(nd.ShapeError, match=r"pad: expected widths for each axis of \[2, 3\], got \[1\]"):
        Nd4j.pad(m(), 1)


def test_axes_of_length_one(backend):
    shapes = [Nd4j.expandDims(m(), axis).shape for axis in (0, 1, 2, -1)]
    assert shapes == [(1, 2, 3), (2, 1, 3), (2, 3, 1), (2, 1, 3)]
    assert Nd4j.squeeze(Nd4j.expandDims(m(), 2), -1).shape == Nd4j.squeeze(Nd4j.expandDims(m(), 0), 0).shape == (2, 3)
    with pytest.raises(nd.ShapeError, match=r"squeeze: axis 0 must have length 1, got \[2, 3\]"):
        Nd4j.squeeze(m(), 0)


def test_products(backend):
    holds(Nd4j.matmul(m(), m(), False, True, False), [[14, 31], [31, 77]])
    holds(Nd4j.matmul(m(), s()), [14, 31])
    holds(Nd4j.matmul(s(), s()), 14)
    assert Nd4j.matmul(nd.ones(2, 3, 4), nd.ones(2, 4, 5)).shape == (2, 3, 5)
    target = nd.zeros(2, 2)
    assert Nd4j.matmul(nd.ones(2, 3), nd.ones(3, 2), target) is target
    holds(target, [[3, 3], [3, 3]])
    holds(Nd4j.tensorMmul(t(), m(), [[1], [1]]), [[[16, 47], [22, 62]], [[52, 137], [58, 152]]])
    holds(Nd4j.getExecutioner().exec(nd.ops.Sum(m(), 0)), [8, 5, 8])
    holds(Nd4j.exec(nd.ops.UniformDistribution(nd.zeros(3), 2.0, 2.0)), [2, 2, 2])


def test_writing_into_arrays(backend):
    target, with_nan = m(), array([1, NAN, math.inf])
    Nd4j.copy(nd.ones(3, 2, dtype="float64"), target)
    holds(target, np.ones((2, 3)))
    Nd4j.clearNans(with_nan)
    holds(with_nan, [1, 1e-5, math.inf])


WRONG = {
    "create": lambda: Nd4j.create(), "linspace": lambda: Nd4j.linspace(0, 1), "scalar": lambda: Nd4j.scalar(),
    "valueArrayOf": lambda: Nd4j.valueArrayOf([2]), "arange": lambda: Nd4j.arange(0, 1, 2, 3),
    "tri": lambda: Nd4j.tri(1, 2, 3, 4),
    "gemm": lambda: Nd4j.gemm(m(), m(), False, True, 1.0, 0.0, 5),
    "matmul": lambda: Nd4j.matmul(m(), m(), False, True, False, True),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_too_few_and_too_many_arguments(name, backend):
    with pytest.raises(nd.ArgumentError, match=rf"^Nd4j\.{name}: expected .*, got"):
        WRONG[name]()
