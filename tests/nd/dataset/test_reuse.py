import sys

import numpy as np

from nd.dataset import DigitsDataSetIterator
from nd.dataset.image_iterator import MOST_KEPT, ArrayPool


def test_an_array_comes_back_once_it_is_let_go():
    pool = ArrayPool()
    first = pool.take((3, 4))
    second = pool.take((3, 4))
    assert first is not second
    address = first.ctypes.data
    del first
    assert pool.take((3, 4)).ctypes.data == address


def test_a_view_holds_it():
    pool = ArrayPool()
    view = pool.take((3, 4)).T[1:]
    view[...] = 7.0
    others = [pool.take((3, 4)) for _ in range(2 * MOST_KEPT)]
    assert not any(np.shares_memory(view, other) for other in others)
    assert (view == 7.0).all()


def test_only_so_many_are_kept_and_shapes_do_not_mix():
    pool = ArrayPool()
    arrays = [pool.take((n,)) for n in range(1, 3 * MOST_KEPT)]
    assert [array.shape[0] for array in arrays] == list(range(1, 3 * MOST_KEPT))
    assert sum(sys.getrefcount(array) > 3 for array in arrays) == MOST_KEPT


def test_minibatches_that_are_kept_stay_what_they_were():
    kept = [batch.features for batch in DigitsDataSetIterator(100)]
    again = list(DigitsDataSetIterator(100))
    for features, batch in zip(kept, again, strict=True):
        np.testing.assert_array_equal(features, batch.features)
    assert len({features.ctypes.data for features in kept}) == len(kept)


def test_minibatches_that_are_let_go_use_the_same_memory():
    assert len({batch.features.ctypes.data for batch in DigitsDataSetIterator(100)}) <= 3
