"""Names of classes: every iterator over another one, or over DataSets, has those of what it reads."""

import copy
import inspect
import pickle

import numpy as np

import nd.dataset
from nd.dataset import (
    AsyncDataSetIterator,
    AsyncMultiDataSetIterator,
    DataSet,
    EarlyTerminationDataSetIterator,
    EarlyTerminationMultiDataSetIterator,
    EmnistDataSetIterator,
    ExistingDataSetIterator,
    ExistingMultiDataSetIterator,
    KFoldIterator,
    ListDataSetIterator,
    ListMultiDataSetIterator,
    MultiDataSetIteratorAdapter,
    MultiDataSetWrapperIterator,
    MultipleEpochsIterator,
    SamplingDataSetIterator,
    SingletonDataSetIterator,
    SingletonMultiDataSetIterator,
)
from nd.dataset.iterator import MinibatchIterator
from nd.dataset.multi_data_set import MultiDataSet
from tests.cells import every_row

NAMES = ("ant", "bee")


def data_set():
    made = DataSet(np.arange(12.0).reshape(6, 2), np.eye(2)[[0, 1, 0, 1, 1, 0]])
    made.class_names = NAMES
    return made


def base():
    return ListDataSetIterator(data_set(), 2)


def several():
    return MultiDataSetIteratorAdapter(base())


WRAPPERS = {
    AsyncDataSetIterator: lambda: AsyncDataSetIterator(base()),
    AsyncMultiDataSetIterator: lambda: AsyncMultiDataSetIterator(several()),
    EarlyTerminationDataSetIterator: lambda: EarlyTerminationDataSetIterator(base(), 2),
    EarlyTerminationMultiDataSetIterator: lambda: EarlyTerminationMultiDataSetIterator(several(), 2),
    ExistingDataSetIterator: lambda: ExistingDataSetIterator([data_set(), data_set()]),
    ExistingMultiDataSetIterator: lambda: ExistingMultiDataSetIterator(several()),
    KFoldIterator: lambda: KFoldIterator(2, data_set()),
    ListDataSetIterator: lambda: ListDataSetIterator([data_set(), data_set()], 3),
    MultiDataSetIteratorAdapter: several,
    MultiDataSetWrapperIterator: lambda: MultiDataSetWrapperIterator(several()),
    MultipleEpochsIterator: lambda: MultipleEpochsIterator(2, base()),
    SamplingDataSetIterator: lambda: SamplingDataSetIterator(data_set(), 2, 4),
    SingletonDataSetIterator: lambda: SingletonDataSetIterator(data_set()),
}
WITHOUT = {ListMultiDataSetIterator, SingletonMultiDataSetIterator}  # MultiDataSets know no names
READS = {"base", "data_set", "data_sets", "iterable"}
READS_FILES = {EmnistDataSetIterator}  # data_set is the name of one of its sets


def test_every_iterator_over_another_one_is_here():
    """A new one that takes an iterator or DataSets must keep their names too."""
    public = [getattr(nd.dataset, name) for name in nd.dataset.__all__]
    iterators = [one for one in public if inspect.isclass(one) and issubclass(one, MinibatchIterator)]
    over = {one for one in iterators if READS & set(inspect.signature(one.__init__).parameters)}
    assert over == set(WRAPPERS) | WITHOUT | READS_FILES


@every_row("wrapper", WRAPPERS, ids=lambda wrapper: wrapper.__name__)
def test_names_go_through(wrapper):
    iterator = WRAPPERS[wrapper]()
    assert iterator.class_names == NAMES
    while iterator.has_next():
        iterator.next()
    assert iterator.class_names == NAMES
    for copied in (copy.deepcopy(iterator), pickle.loads(pickle.dumps(WRAPPERS[wrapper]()))):
        assert copied.class_names == NAMES
    iterator.class_names = ["cat", "dog"]
    assert iterator.class_names == copy.deepcopy(iterator).class_names == ["cat", "dog"]


def test_lists_of_several_have_none_and_take_some():
    for made in WITHOUT:
        iterator = made(MultiDataSet([[[1.0]]], [[[1.0]]]))
        assert iterator.class_names is None
        iterator.class_names = NAMES
        assert iterator.class_names == NAMES


def test_parts_of_a_data_set_have_its_names():
    whole = data_set()
    parts = [whole.get_range(1, 3), whole.get([2, 0]), whole.copy(), *whole.batch_by(4), DataSet.merge([whole, whole])]
    assert [part.class_names for part in parts] == [NAMES] * len(parts)
    assert DataSet.merge([DataSet([[1.0]], [[1.0]])]).class_names is None
