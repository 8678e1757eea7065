"""Small arrays of which Java 1.0.0-M2.1 was asked, and how its answers are compared with."""

import math

import numpy as np

import nd
from nn.dl4j import DataType

D = DataType.DOUBLE
NAN = math.nan


def array(values, dtype="float64"):
    return nd.create(values, dtype)


def x():
    return array([[-2.5, -1.5, -0.5], [0, 0.5, 1.5]])


def y():
    return array([[1, 2, -0.5], [4, 0.25, 1.5]])


def u():
    return array([[0.1, 0.5], [0.9, -0.3]])


def v():
    return array([1, 2, 3, 4])


def w():
    return array([2, 0, 3, -1])


def m():
    return array([[3, 1, 2], [5, 4, 6]])


def s():
    return array([3, 1, 2])


def t():
    return nd.reshape(array(list(range(1, 13))), (2, 3, 2))


def e():
    return array([-1, -0.0, 0, 1, 2.5, -2.5, 6])


def holds(found, expected, **tolerance):
    found, expected = (nd.to_host(each) if nd.is_array(each) else np.asarray(each) for each in (found, expected))
    assert found.shape == expected.shape
    np.testing.assert_allclose(
        found.astype(float), expected.astype(float), **{"rtol": 1e-7, "atol": 1e-12, **tolerance}
    )
