"""Pre-processors: change minibatches on their way out of an iterator, and may draw random numbers for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from backends.errors import DTypeError
from nd.classes import overridable
from nd.dataset.dataset import DataSet
from nd.random import Random, get_random, use_random

if TYPE_CHECKING:
    from nd.dataset.multi_data_set import MultiDataSet


@overridable
class DataSetPreProcessor(Protocol):
    """Protocol of pre-processors, set on an iterator: `nd.dataset.normalizers`, and classes ported from Java.

    A subclass may call its method ``preProcess``. One that draws random numbers has an attribute ``draws = True``, and
    draws from `nd.random.get_random()`: then it is called in the thread that trains, where that is the network's own
    generator, and nothing is read ahead. So a run that goes on from a checkpoint draws what it would have drawn.
    """

    def pre_process(self, data_set: DataSet) -> DataSet | None:
        """Change a DataSet; return it, or another one to hand out instead, or None for the one that was changed."""


@overridable
class MultiDataSetPreProcessor(Protocol):
    """Protocol of pre-processors of MultiDataSets, as `DataSetPreProcessor` of DataSets."""

    def pre_process(self, data_set: MultiDataSet) -> MultiDataSet | None:
        """Change a MultiDataSet; return it, or another to hand out instead, or None for the one that was changed."""


Item = TypeVar("Item")
PreProcessor = Callable[[Any], Any] | DataSetPreProcessor | MultiDataSetPreProcessor


def draws(pre_processor: object) -> bool:
    """Tell whether a pre-processor says that it draws random numbers."""
    return bool(getattr(pre_processor, "draws", False))


def pre_processed(who: str, pre_processor: PreProcessor, data_set: object, kind: type = DataSet) -> Any:
    """Return what a pre-processor returns for a data set of a `kind`, which it may change.

    DTypeError where a callable returned nothing of that kind, or a method ``pre_process`` neither that nor None.
    """
    pre_process = getattr(pre_processor, "pre_process", None)
    result = pre_processor(data_set) if pre_process is None else pre_process(data_set) or data_set  # type: ignore[operator]
    if not isinstance(result, kind):
        raise DTypeError(
            f"{who}: pre_processor must return a {kind.__name__}, got {type(result).__name__}. Return the "
            f"{kind.__name__} that it changed."
        )
    return result


# ---- fetching minibatches for which pre-processors may draw


def may_read_ahead(source: Any) -> bool:
    """Tell whether another thread may read an iterator ahead: not where this thread's generator is drawn from.

    Iterators of one's own may say that they support it, whatever their pre-processor does; so both are asked.
    """
    return bool(source.async_supported()) and not source.draws()


def fetched(source: Any, generator: Random | None) -> Any:
    """Return an iterator's next minibatch; what is drawn for it comes from a generator, if one is given."""
    if generator is None:
        return source.next()
    with use_random(generator):
        return source.next()


def looked_at(data: Iterable[Item]) -> Iterator[Item]:
    """Yield minibatches to look at them: what is drawn for them leaves no trace in the generator in force.

    So evaluation on data that are augmented does not change what a network draws when it is trained on.
    """
    draw = getattr(data, "draws", None)
    if draw is None or not draw():
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
