"""Draws come from the generator in force, so nobody reads ahead, and looking at data leaves no trace."""

import threading

import numpy as np
import pytest

from nd import ConfigurationError, DTypeError
from nd.dataset import (
    AsyncDataSetIterator,
    AsyncMultiDataSetIterator,
    CompositeDataSetPreProcessor,
    CompositeMultiDataSetPreProcessor,
    DataSet,
    MultiDataSetIteratorAdapter,
    MultipleEpochsIterator,
    NormalizerStandardize,
    NumpyDataSetIterator,
)
from nd.dataset.augmentation import Mixup, RandomFlip, RandomShift
from nd.dataset.pre_processor import looked_at, may_read_ahead
from nd.random import Random, get_random, use_random

PICTURES = np.random.default_rng(3).random((12, 1, 4, 4)).astype(np.float32)
LABELS = np.eye(3, dtype=np.float32)[np.arange(12) % 3]


def batches(pre_processor=None):
    iterator = NumpyDataSetIterator(PICTURES, LABELS, 4, seed=2)
    iterator.set_pre_processor(pre_processor)
    return iterator


def test_who_draws():
    assert RandomFlip().draws
    assert CompositeDataSetPreProcessor(NormalizerStandardize(), RandomFlip()).draws
    assert not CompositeDataSetPreProcessor(NormalizerStandardize()).draws
    plain = batches(NormalizerStandardize())
    assert (plain.draws(), plain.async_supported()) == (False, True)
    for drawing in (RandomFlip(), CompositeDataSetPreProcessor(Mixup())):
        base = batches(drawing)
        for iterator in (base, MultipleEpochsIterator(2, base), MultiDataSetIteratorAdapter(base)):
            assert (iterator.draws(), iterator.async_supported()) == (True, False)
    outer = MultipleEpochsIterator(2, batches())
    assert outer.async_supported()
    outer.set_pre_processor(RandomFlip())
    assert not outer.async_supported()


def test_an_iterator_of_ones_own_that_allows_it_is_not_read_ahead():
    class Own(NumpyDataSetIterator):
        def async_supported(self):
            return True

    own = Own(PICTURES, LABELS, 4)
    assert may_read_ahead(own)
    own.set_pre_processor(RandomFlip())
    assert not may_read_ahead(own)


def test_reading_ahead_behind_draws_is_refused():
    message = r"AsyncDataSetIterator: expected a base whose pre_processor draws no random numbers.*set_pre_processor\."
    with pytest.raises(ConfigurationError, match=message):
        AsyncDataSetIterator(batches(RandomFlip()))
    with pytest.raises(ConfigurationError, match="AsyncMultiDataSetIterator: expected a base whose pre_processor"):
        AsyncMultiDataSetIterator(MultiDataSetIteratorAdapter(batches(RandomFlip())))
    base = batches()
    with AsyncDataSetIterator(base) as iterator:
        base.set_pre_processor(RandomFlip())
        with pytest.raises(ConfigurationError, match=message):
            iterator.has_next()


def test_a_function_around_it_is_refused_where_another_thread_calls_it():
    iterator = AsyncDataSetIterator(batches(lambda data_set: RandomFlip().pre_process(data_set)))
    with iterator, pytest.raises(ConfigurationError, match="RandomFlip: must be called by the thread that trains"):
        iterator.next()
    assert threading.active_count() < 10


def test_set_on_the_outer_iterator_it_draws_in_ones_own_thread():
    with use_random(Random(5)):
        expected = [data_set.features.copy() for data_set in batches(RandomShift(0.5, 0.5))]
    with use_random(Random(5)), AsyncDataSetIterator(batches()) as iterator:
        iterator.set_pre_processor(RandomShift(0.5, 0.5))
        assert iterator.draws()
        found = [data_set.features.copy() for data_set in iterator]
    np.testing.assert_array_equal(found, expected)


def test_looking_leaves_no_trace():
    with use_random(Random(5)):
        before = get_random().get_state()
        seen = [data_set.features.copy() for data_set in looked_at(batches(RandomShift(0.5, 0.5)))]
        assert get_random().get_state() == before
        again = [data_set.features.copy() for data_set in looked_at(batches(RandomShift(0.5, 0.5)))]
        trained = [data_set.features.copy() for data_set in batches(RandomShift(0.5, 0.5))]
        assert get_random().get_state() != before
    np.testing.assert_array_equal(seen, again)
    np.testing.assert_array_equal(seen, trained)
    assert len(seen) == 3
    assert list(looked_at([1, 2])) == [1, 2]


def test_several_pre_processors_come_one_after_the_other():
    twice = CompositeDataSetPreProcessor(RandomFlip(1.0), RandomFlip(0.0, 1.0))
    np.testing.assert_array_equal(twice.pre_process(DataSet(PICTURES)).features, PICTURES[:, :, ::-1, ::-1])
    multi = DataSet(PICTURES).to_multi_data_set()
    CompositeMultiDataSetPreProcessor(RandomFlip(1.0)).pre_process(multi)
    np.testing.assert_array_equal(multi.features[0], PICTURES[..., ::-1])
    with pytest.raises(DTypeError, match="CompositeDataSetPreProcessor: expected objects with pre_process"):
        CompositeDataSetPreProcessor(3)


def test_two_threads_share_one():
    flip, results = RandomFlip(), {}

    def work(seed):
        with use_random(Random(seed)):
            results[seed] = [flip.transform(PICTURES).copy() for _ in range(200)]

    threads = [threading.Thread(target=work, args=(seed,)) for seed in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed, found in results.items():
        with use_random(Random(seed)):
            np.testing.assert_array_equal(found, [flip.transform(PICTURES).copy() for _ in range(200)])
