"""Methods of data sets that exist for Java's sake, with the numbers that Java has.

What is expected was printed by ``DataSet`` of 1.0.0-M2.1 with these arrays, in double precision.
"""

import numpy as np
import pytest

import nd
from nn.dl4j import DataSet, MultiDataSet

X = [[1, -2, 3.5], [4, 5, 6], [7, 8, -9], [2, 2, 2]]
Y = [[1, 0], [0, 1], [0, 1], [1, 0]]


def data():
    return DataSet(np.array(X, "float64"), np.array(Y, "float64"))


def changed(method, *arguments):
    changed = data()
    assert getattr(changed, method)(*arguments) is None
    return changed


def test_numbers_of_examples():
    assert data().exampleSums().tolist() == [2.5, 15, 6, 6]
    np.testing.assert_allclose(data().exampleMeans(), [2.5 / 3, 5, 2, 2], rtol=1e-15)
    assert data().exampleMaxs().tolist() == [3.5, 6, 8, 2]
    assert (data().outcome(), data().get(1).outcome()) == (0, 1)
    assert (data().id(), data().isEmpty()) == ("", False)
    assert MultiDataSet([X], [Y]).isEmpty() is False
    series = DataSet(np.ones((2, 3, 4)), np.ones((2, 2, 4)))
    assert series.exampleSums().tolist() == [[3] * 4] * 2


def test_normalize():
    expected = [
        [-1.091089451179962, -1.4190484946389204, 0.5010667310928438],
        [0.2182178902359924, 0.4730161648796401, 0.9367769320431428],
        [1.5275252316519468, 1.2839010189590232, -1.677484273658651],
        [-0.6546536707079772, -0.33786868919974294, 0.23964061052266444],
    ]
    np.testing.assert_allclose(changed("normalize").features, expected, rtol=1e-14)
    alike = DataSet(np.array([[2.0, 1.0], [2.0, 3.0]]), np.ones((2, 1)))
    alike.normalize()
    assert alike.features.tolist() == [[0, -1], [0, 1]]


def test_ranges():
    expected = [[-1, -1, 1.5], [0.5, 1.1, 2], [2, 2, -1], [-0.5, 0.2, 1.2]]
    np.testing.assert_allclose(changed("scaleMinAndMax", -1, 2).features, expected, rtol=1e-14)
    assert changed("squishToRange", 0, 5).features.tolist() == [[1, 0, 3.5], [4, 5, 5], [5, 5, 0], [2, 2, 2]]
    halves = DataSet(np.array([[0.125, -0.125, 0.375, -0.375, 2.5]]), np.ones((1, 1)))
    halves.roundToTheNearest(2)
    np.testing.assert_allclose(halves.features, [[0.13, -0.12, 0.38, -0.37, 2.5]], rtol=1e-14)
    with pytest.raises(nd.DataError, match=r"scaleMinAndMax: every column must have two different numbers, got 2\.0"):
        DataSet([[2.0, 1.0], [2.0, 3.0]], [[1], [1]]).scaleMinAndMax(0, 1)


def test_rows_and_columns():
    row = DataSet(np.full((1, 3), 9.0), np.array([[1.0, 0.0]]))
    with_row = changed("addRow", row, 1)
    assert with_row.features.tolist() == [X[0], [9, 9, 9], *X[2:]]
    assert with_row.labels.tolist() == [Y[0], [1, 0], *Y[2:]]
    assert changed("addFeatureVector", [[1], [2], [3], [4]]).features[:, 3].tolist() == [1, 2, 3, 4]
    assert changed("addFeatureVector", [[1, 2, 3]], 2).features.tolist() == [*X[:2], [1, 2, 3], X[3]]
    with pytest.raises(nd.DataError, match=r"addRow: example must be 0\.\.3, got 9"):
        data().addRow(row, 9)
    with pytest.raises(nd.ShapeError, match=r"addFeatureVector: columns must be \[4, 'n'\], got \[1, 3\]"):
        data().addFeatureVector([[1, 2, 3]])
    named = changed("setColumnNames", ["a", "b", "c"])
    assert (data().getColumnNames(), named.getColumnNames()) == ([], ["a", "b", "c"])


def test_labels():
    three = changed("setNewNumberOfLabels", 3)
    assert three.labels.tolist() == [[0, 0, 0]] * 4
    three.setOutcome(1, 2)
    assert three.labels.tolist() == [[0, 0, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0]]
    assert changed("setOutcome", 0, 1).labels.tolist() == [[0, 1], *Y[1:]]
    with pytest.raises(nd.DataError, match=r"setOutcome: label must be 0\.\.1, got 5"):
        data().setOutcome(0, 5)


def test_parts():
    assert [part.features.tolist() for part in data().batchByNumLabels()] == [X[:2], X[2:]]
    assert [part.numExamples() for part in data().dataSetBatches(3)] == [3, 1]
    assert [part.numExamples() for part in data().sortAndBatchByNumLabels()] == [2, 2]
    assert [part.labels.tolist() for part in data().iterator()] == [[row] for row in Y]
    data().detach()
    data().migrate()


def test_shapes():
    flat = DataSet(np.array(X), np.array(Y)).reshape(4, 3)
    assert flat.features.tolist() == X
    with pytest.raises(nd.ShapeError, match=r"DataSet\.reshape: rows and columns must hold 12 numbers of 4 examples"):
        data().reshape(2, 6)
    data().validate()
    wrong = data()
    wrong.labels = wrong.labels[:2]
    with pytest.raises(nd.ShapeError, match="expected as many labels as features"):
        wrong.validate()
