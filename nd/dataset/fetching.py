"""Ways in which loops fetch minibatches: ahead in a thread, with a generator, or without a trace in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from nd.dataset.iterator import DataSetIterator, MinibatchIterator
from nd.random import Random, get_random, use_random

Item = TypeVar("Item")


def may_read_ahead(source: MinibatchIterator[Any]) -> bool:
    """Tell whether another thread may read minibatches ahead: not where they are drawn from this thread's generator."""
    return source.async_supported() and not source.draws()


def reading_ahead(source: MinibatchIterator[Any]) -> Any:
    """Return an iterator that reads another one ahead in a thread, of the same kind."""
    if isinstance(source, DataSetIterator):
        from .async_iterator import AsyncDataSetIterator

        return AsyncDataSetIterator(source)
    from .multi_iterators import AsyncMultiDataSetIterator

    return AsyncMultiDataSetIterator(source)  # type: ignore[arg-type]


def fetched(source: MinibatchIterator[Any], generator: Random | None) -> Any:
    """Return the next minibatch; what is drawn for it comes from a generator, if one is given."""
    if generator is None:
        return source.next()
    with use_random(generator):
        return source.next()


def looked_at(data: Iterable[Item]) -> Iterator[Item]:
    """Yield minibatches to look at them: what is drawn for them leaves no trace in the generator in force.

    So evaluation on data that are augmented does not change what a network draws when it is trained on.
    """
    if not isinstance(data, MinibatchIterator) or not data.draws():
        yield from data
        return
    generator, items = get_random().copy(), iter(data)
    while True:
        with use_random(generator):  # no block reaches over a yield, which may never come back
            try:
                item = next(items)
            except StopIteration:
                return
        yield item
