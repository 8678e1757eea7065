"""MultiDataSets with Java's constructors."""

import numpy as np
import pytest

from nd import DTypeError
from nn.dl4j import (
    AsyncMultiDataSetIterator,
    CombinedMultiDataSetPreProcessor,
    CompositeDataSetPreProcessor,
    CompositeMultiDataSetPreProcessor,
    DataSet,
    ImageMultiPreProcessingScaler,
    IteratorMultiDataSetIterator,
    MultiDataSet,
    SingletonMultiDataSetIterator,
)

X = np.arange(12.0, dtype=np.float32).reshape(6, 2)


def sample():
    return MultiDataSet([X, X + 100], [X[:, :1]])


def test_regrouped():
    iterator = IteratorMultiDataSetIterator(iter(sample().batch_by(4)), 3)
    found = list(iterator)
    assert [each.numExamples() for each in found] == [3, 3]
    assert MultiDataSet.merge(found) == sample()
    assert iterator.batch() == 3


def test_read_ahead():
    with AsyncMultiDataSetIterator(SingletonMultiDataSetIterator(sample()), 2, True, 0) as iterator:
        assert iterator.hasNext()
        assert iterator.next() == sample()


class Add:
    def pre_process(self, data_set):
        data_set.setFeatures(0, data_set.getFeatures(0) + 1)


def double(data_set):
    return MultiDataSet([x * 2 for x in data_set.features], data_set.labels)


@pytest.mark.parametrize(
    "pre_processor",
    [
        CompositeMultiDataSetPreProcessor(Add(), double),
        CombinedMultiDataSetPreProcessor.Builder().addPreProcessor(double).addPreProcessor(0, Add()).build(),
    ],
)
def test_pre_processors_one_after_the_other(pre_processor):
    found = pre_processor.preProcess(sample())
    np.testing.assert_array_equal(found.features[0], (X + 1) * 2)
    np.testing.assert_array_equal(found.features[1], (X + 100) * 2)


def test_a_pre_processor_that_returns_something_else():
    with pytest.raises(DTypeError, match="CompositeMultiDataSetPreProcessor: pre_processor must return a MultiDataSet"):
        CompositeMultiDataSetPreProcessor(lambda data_set: DataSet(X)).preProcess(sample())
    for wrong, other, given in (
        (CompositeMultiDataSetPreProcessor(), CompositeDataSetPreProcessor, DataSet(X)),
        (CompositeDataSetPreProcessor(double), CompositeMultiDataSetPreProcessor, sample()),
    ):
        with pytest.raises(DTypeError, match=rf"\.pre_process: expected a .* take {other.__name__}\."):
            wrong.preProcess(given)
    with pytest.raises(DTypeError, match=r"CombinedMultiDataSetPreProcessor: expected objects with pre_process"):
        CombinedMultiDataSetPreProcessor.Builder().addPreProcessor(3)


@pytest.mark.parametrize(
    ("arguments", "indices", "span", "largest"),
    [
        ((0,), [0], (0, 1), 255),
        ((0, 2), [0, 2], (0, 1), 255),
        ((0, 1, 2), [0, 1, 2], (0, 1), 255),
        ((-1.0, 1.0, [1]), [1], (-1, 1), 255),
        ((0.0, 2.0, 4, [0, 1]), [0, 1], (0, 2), 15),
    ],
)
def test_images(arguments, indices, span, largest):
    found = ImageMultiPreProcessingScaler(*arguments)
    assert found.indices == indices
    ends = [np.array([[0.0, float(largest)]], np.float32) for _ in range(3)]
    np.testing.assert_allclose(found.transform_features(ends)[indices[0]], [span], atol=1e-6)
