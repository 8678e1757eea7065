"""MinibatchIterator and DataSetIterator, and what iterators over others share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from numbers import Number
from typing import Any, ClassVar, Self, TypeVar, cast

from backends.errors import DataError, DTypeError
from nd.classes import ExplainedABC, NamesSuggested, overridable
from nd.dataset.dataset import DataSet
from nd.dataset.examples import Examples
from nd.dataset.pre_processor import PreProcessor, draws, pre_processed
from nd.intake import is_holder

Batch = TypeVar("Batch", bound=Examples)
State = dict[str, Any]
"""Where an iterator stands, in values that JSON has."""
_POSITION = " Define state() and restore(state)."


@overridable
class MinibatchIterator(Iterator[Batch], NamesSuggested, metaclass=ExplainedABC):
    """Hand out minibatches: shared by iterators over DataSets and over MultiDataSets.

    Attributes
    ----------
    pre_processor : pre-processor, callable or None
        Called with a minibatch, and returns the one to hand out. It gets an object of its own, so it may assign new
        arrays to it; it must not write into the arrays, which other batches may share. An iterator over another one
        has its own, which gets the minibatch that the other's returned.
    class_names : sequence of str or None
        Of the classes in the order of the labels' columns, where they are known, as of labels that were texts. An
        iterator over another one, or over DataSets, has theirs unless it is given others.

    Notes
    -----
    ``for data_set in iterator`` starts where the iterator stands and resets it first only if nothing is left: the rule
    of Deeplearning4j's ``fit``. So the first epoch of a new iterator sees the order that the constructor drew.
    """

    kind: ClassVar[Any]
    """DataSet or MultiDataSet."""

    pre_processor: PreProcessor | None = None
    given_class_names: Sequence[str] | None = None

    @property
    def class_names(self) -> Sequence[str] | None:
        """Names of the classes, in the order of the labels' columns; None where they are not known."""
        if self.given_class_names is not None:
            return self.given_class_names
        return getattr(self.named_source(), "class_names", None)

    @class_names.setter
    def class_names(self, names: Sequence[str] | None) -> None:
        self.given_class_names = names

    def named_source(self) -> Any:
        """Return the iterator or DataSet that this one reads, which may know the names of the classes; None without."""
        return None

    @abstractmethod
    def has_next(self) -> bool:
        """Tell whether `next` has a minibatch to return."""

    @abstractmethod
    def next(self, num: int | None = None) -> Batch:
        """Return the next minibatch, of `num` examples instead of `batch()` where the iterator can do that.

        Raises
        ------
        DataError
            There is none left.
        """

    @abstractmethod
    def reset(self) -> None:
        """Go back to the beginning; an iterator that shuffles takes another order.

        Raises
        ------
        DataError
            The data can be read only once.
        """

    def batch(self) -> int:
        """Return the number of examples in a minibatch (the last one may have fewer).

        Raises
        ------
        DataError
            It is not known.
        """
        raise self._unable("batch", "knows it")

    def reset_supported(self) -> bool:
        """Tell whether `reset` works."""
        return True

    def async_supported(self) -> bool:
        """Tell whether another thread may read ahead (`AsyncDataSetIterator`): not where a pre-processor draws."""
        return not self.draws()

    def draws(self) -> bool:
        """Tell whether a pre-processor, its own or that of an iterator that it reads, draws random numbers."""
        return draws(self.pre_processor)

    def set_pre_processor(self, pre_processor: PreProcessor | None) -> None:
        """Have every minibatch go through `pre_processor` from now on, say a fitted normalizer; None ends that.

        Raises
        ------
        DTypeError
            It has no method ``pre_process`` and cannot be called.
        """
        if pre_processor is not None and not hasattr(pre_processor, "pre_process") and not callable(pre_processor):
            raise DTypeError(
                f"{type(self).__name__}.set_pre_processor: expected an object with pre_process(data_set), or a "
                f"callable, got {type(pre_processor).__name__}."
            )
        self.pre_processor = pre_processor

    def state(self) -> State:
        """Return where this iterator stands, for `restore`: numbers, strings, lists and dicts, as JSON holds them.

        Where minibatches are read ahead this is called after every one, so it should be small.

        Raises
        ------
        DataError
            It cannot say. A subclass that can defines both methods; checkpoints then continue within its epochs.
        """
        raise self._unable("state", "can say where it stands", _POSITION)

    def restore(self, state: State) -> None:
        """Stand where the iterator stood whose `state` this is: later minibatches and resets are those of that one.

        Raises
        ------
        DataError
            It cannot, or the state is of an iterator over other data.
        """
        raise self._unable("restore", "can go on where another stood", _POSITION)

    def _unable(self, method: str, what: str, remedy: str = "") -> DataError:
        return DataError(f"{type(self).__name__}.{method}: expected an iterator that {what}, got one without.{remedy}")

    def __iter__(self) -> Self:
        if not self.has_next():
            self.reset()
        return self

    def __next__(self) -> Batch:
        if not self.has_next():
            raise StopIteration
        return self.next()

    def __bool__(self) -> bool:
        """Be true, always: the number of batches may be 0 or unknown, and `has_next` says what is left."""
        return True

    def check_has_next(self) -> None:
        """Raise DataError where no minibatch is left."""
        if not self.has_next():
            raise DataError(f"{type(self).__name__}.next: expected a minibatch, got the end of the data. Call reset().")

    def pre_processed(self, minibatch: Batch) -> Batch:
        """Return a minibatch as it is handed out, from the pre-processor if there is one."""
        if self.pre_processor is None:
            return minibatch
        own = minibatch.map_arrays(lambda array: array)
        names, changed = own.class_names, pre_processed(type(self).__name__, self.pre_processor, own, self.kind)
        if names is not None and changed.class_names is None:  # it has made one of its own
            changed.class_names = names
        return changed


class DataSetIterator(MinibatchIterator[DataSet]):
    """Hand out minibatches, DataSets. A subclass defines `has_next`, `next`, `reset` and `batch`.

    Attributes
    ----------
    pre_processor : DataSetPreProcessor, callable or None
        See `MinibatchIterator`, as for everything else that is not said here.

    Notes
    -----
    Source: org.nd4j.linalg.dataset.api.iterator.DataSetIterator.
    """

    kind = DataSet

    @abstractmethod
    def batch(self) -> int: ...

    def total_outcomes(self) -> int:
        """Return the number of outcomes, the labels' second axis; that of the iterator or DataSet that this one reads.

        Raises
        ------
        DataError
            It is not known.
        """
        return self._axis("total_outcomes", 1)

    def input_columns(self) -> int:
        """Return the number of inputs, the features' second axis; that of the iterator or DataSet that this one reads.

        Raises
        ------
        DataError
            It is not known.
        """
        return self._axis("input_columns", 0)

    def column_counts(self) -> tuple[int | None, int | None]:
        """Return the features' and the labels' second axis, None where this iterator does not know it by itself."""
        source = self.named_source()
        return source.column_counts() if isinstance(source, DataSet) else (None, None)

    def _axis(self, method: str, place: int) -> int:
        number, source = self.column_counts()[place], self.named_source()
        if number is None and isinstance(source, DataSetIterator):
            number = getattr(source, method)()
        if number is None:
            raise self._unable(method, "knows it")
        return number


class WrappingIterator(MinibatchIterator[Batch]):
    """Shared by iterators over another one, the base, whose size, abilities and position are theirs."""

    base: MinibatchIterator[Any]
    """The one whose minibatches are handed out."""

    def named_source(self) -> Any:
        return self.base

    def has_next(self) -> bool:
        return self.base.has_next()

    def next(self, num: int | None = None) -> Batch:
        """Return the base's next minibatch, of `num` examples where the base can do that.

        Raises
        ------
        DataError
            None is left, or it cannot be handed out.
        """
        self.check_has_next()
        return self.pre_processed(self.handed_on(self.base.next(num)))

    def handed_on(self, minibatch: Any) -> Batch:
        """Return a minibatch of the base as one of this iterator."""
        return minibatch

    def reset(self) -> None:
        self.base.reset()

    def batch(self) -> int:
        return self.base.batch()

    def reset_supported(self) -> bool:
        return self.base.reset_supported()

    def async_supported(self) -> bool:
        return self.base.async_supported() and super().async_supported()

    def draws(self) -> bool:
        return super().draws() or self.base.draws()

    def state(self) -> State:
        return self.base.state()

    def restore(self, state: State) -> None:
        self.base.restore(state)

    def __len__(self) -> int:
        return len(cast(Sized, self.base))


def refuse_num(iterator: MinibatchIterator[Any], num: int | None) -> None:
    """Raise DataError if a number of examples is asked of an iterator that cannot choose it."""
    if num is not None:
        raise DataError(
            f"{type(iterator).__name__}.next: expected no num, since the minibatches come as they are, got {num}. "
            "Set the size where they are made."
        )


def position_of(iterator: MinibatchIterator[Any]) -> State | DataError:
    """Return an iterator's state, or the error that says why it has none, for whoever asks."""
    try:
        return iterator.state()
    except DataError as error:
        return error.with_traceback(None)


def check_same(iterator: MinibatchIterator[Any], state: State, **own: object) -> None:
    """Raise DataError unless a state is of an iterator over data like `own`."""
    for name, expected in own.items():
        restored = state.get(name) if isinstance(state, dict) else state
        if type(restored) is not type(expected) or restored != expected:
            raise DataError(
                f"{type(iterator).__name__}.restore: {name} must be {expected!r}, got {restored!r}. "
                "Is the state of an iterator over other data?"
            )


def restored_count(iterator: MinibatchIterator[Any], state: State, name: str, most: int | None = None) -> int:
    """Return a whole number of a state; raise DataError if it is not there or out of range."""
    count = state.get(name) if isinstance(state, dict) else None
    if not isinstance(count, int) or isinstance(count, bool) or count < 0 or (most is not None and count > most):
        bounds = "0 or more" if most is None else f"0 to {most}"
        raise DataError(
            f"{type(iterator).__name__}.restore: {name} must be {bounds}, got {count!r}. "
            "Is the state of another kind of iterator?"
        )
    return count


def check_data_set(who: str, value: object, kind: type = DataSet) -> None:
    """Raise DTypeError unless it is a DataSet, or of another kind."""
    if not isinstance(value, kind):
        name = kind.__name__
        raise DTypeError(f"{who}: expected a {name}, got {type(value).__name__}. Wrap arrays as {name}(x, y).")


def as_minibatch(who: str, item: Any, kind: Any = DataSet) -> Any:
    """Return a DataSet, or another `kind`, as it is, and two arrays, features and labels, as one.

    DTypeError: it is neither.
    """
    if is_pair(item, holders=(list, tuple), unless=Number):
        return kind(*item)
    check_data_set(who, item, kind)
    return item


def is_features(data: object, kind: object = DataSet) -> bool:
    """Tell whether data are features alone, an array, a table or nested lists; for another `kind` a list of them."""
    if not isinstance(data, (list, tuple)) or not data:
        return is_holder(data)
    first = data[0][0] if isinstance(data[0], (list, tuple)) and data[0] else data[0]
    return isinstance(first, Number) or (kind is not DataSet and is_holder(data[0]))


def is_pair(data: Any, most: int = 2, holders: Any = tuple, unless: Any = ()) -> bool:
    """Tell whether data are a tuple (features, labels), and no tuple of minibatches.

    Parameters
    ----------
    data : object
    most : int
        Parts that it may have: a third are weights.
    holders : type or tuple of types
        What may stand in the place of a tuple.
    unless : type or tuple of types
        What the features must not be. With numbers in front it is a row; with a tuple, where no network takes several
        inputs, it is two minibatches.
    """
    return isinstance(data, holders) and 2 <= len(data) <= most and not isinstance(data[0], (Examples, unless))


def iterator_over(
    data: Iterable[object], several: bool = False, convert: Callable[[Any], Any] | None = None
) -> MinibatchIterator[Any]:
    """Return an iterator over the minibatches of an iterable: of MultiDataSets where `several`, or where it begins so.

    Parameters
    ----------
    data : iterable of DataSet or MultiDataSet
        Of one that is no sequence nobody looks at the first.
    several : bool
        Whether whoever reads them takes several features or labels.
    convert : callable, optional
        Returns the minibatch of an element.
    """
    from .multi_data_set import MultiDataSet

    if several or (isinstance(data, Sequence) and data and isinstance(data[0], MultiDataSet)):
        from .multi_iterators import ExistingMultiDataSetIterator

        return ExistingMultiDataSetIterator(data, convert)
    from .existing import ExistingDataSetIterator

    return ExistingDataSetIterator(data, convert)


def reading_ahead(source: MinibatchIterator[Any]) -> Any:
    """Return an iterator that reads another one ahead in a thread, of the same kind."""
    if isinstance(source, DataSetIterator):
        from .async_iterator import AsyncDataSetIterator

        return AsyncDataSetIterator(source)
    from .multi_iterators import AsyncMultiDataSetIterator

    return AsyncMultiDataSetIterator(source)  # type: ignore[arg-type]
