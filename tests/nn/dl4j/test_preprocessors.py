"""Pre-processors made of others, as Deeplearning4j 1.0.0-M2.1 applies them."""

import pytest

import nd
from nd.dataset import DataSetPreProcessor
from nn.dl4j import DataSet
from nn.dl4j.iterators import ListDataSetIterator
from nn.dl4j.preprocessors import CombinedPreProcessor, CompositeDataSetPreProcessor


def two():
    return DataSet([[0.0, 1.0], [2.0, 3.0]], [[1.0], [0.0]])


def features(data_sets):
    return [data_set.features.ravel().tolist() for data_set in data_sets]


class Add:
    def pre_process(self, data_set):
        data_set.features = data_set.features + 1


def multiply(data_set):
    return DataSet(data_set.features * 10, data_set.labels)


def empty(data_set):
    return DataSet(data_set.features[:0])


def test_pre_processors_one_after_the_other():
    assert features([CompositeDataSetPreProcessor(Add(), multiply).preProcess(two())]) == [[10, 20, 30, 40]]
    assert features([CompositeDataSetPreProcessor(True, Add(), multiply).preProcess(two())]) == [[10, 20, 30, 40]]
    combined = CombinedPreProcessor.Builder().addPreProcessor(Add()).addPreProcessor(0, multiply).build()
    assert features([combined.preProcess(two())]) == [[1, 11, 21, 31]]
    assert features([CombinedPreProcessor.Builder().build().preProcess(two())]) == [[0, 1, 2, 3]]
    iterator = ListDataSetIterator(two().asList(), 2)
    iterator.setPreProcessor(combined)
    for _ in range(2):
        assert features(iterator) == [[1, 11, 21, 31]]


def test_an_empty_data_set_ends_them():
    calls = []

    class Noting:
        def pre_process(self, data_set):
            calls.append(data_set)

    for stop in (True, False):
        CompositeDataSetPreProcessor(stop, empty, Noting()).preProcess(two())
    assert len(calls) == 1


@pytest.mark.parametrize("wrong", [lambda data_set: None, lambda data_set: 3])
def test_a_callable_returns_a_data_set_as_an_iterators_does(wrong):
    iterator = ListDataSetIterator(two().asList(), 2)
    iterator.setPreProcessor(wrong)
    for who, call in (
        ("CompositeDataSetPreProcessor", lambda: CompositeDataSetPreProcessor(wrong).preProcess(two())),
        ("ListDataSetIterator", iterator.next),
    ):
        with pytest.raises(nd.DTypeError, match=f"^{who}: pre_processor must return a DataSet, got (NoneType|int)"):
            call()


def test_what_is_given_is_changed():
    given = two()
    assert CompositeDataSetPreProcessor(Add(), Add()).preProcess(given) is given
    assert features([given]) == [[2, 3, 4, 5]]


def test_what_is_no_pre_processor():
    for wrong in (
        lambda: CombinedPreProcessor.Builder().addPreProcessor(None),
        lambda: CompositeDataSetPreProcessor(3),
    ):
        with pytest.raises(nd.DTypeError, match="pre_process"):
            wrong()
    with pytest.raises(nd.ConfigurationError, match="index must be 0 to 0, got 1"):
        CombinedPreProcessor.Builder().addPreProcessor(1, Add())
    for given in ((), (0, Add(), Add())):
        with pytest.raises(nd.ConfigurationError, match=f"an index and one, got {len(given)} arguments"):
            CombinedPreProcessor.Builder().addPreProcessor(*given)


def test_those_of_your_own_in_javas_spelling():
    class Double(DataSetPreProcessor):
        def preProcess(self, data_set):
            data_set.setFeatures(data_set.getFeatures() * 2)

    iterator = ListDataSetIterator(two().asList(), 2)
    iterator.setPreProcessor(Double())
    assert features(iterator) == [[0, 2, 4, 6]]
    assert features([CompositeDataSetPreProcessor(Double(), Double()).preProcess(two())]) == [[0, 4, 8, 12]]
