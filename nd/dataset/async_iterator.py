"""AsyncDataSetIterator: read ahead in another thread."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Sized
from types import TracebackType
from typing import cast

from backends.errors import DataError
from nd.dataset.checks import check_count
from nd.dataset.dataset import DataSet
from nd.dataset.iterator import DataSetIterator, State, position_of, refuse_num


class AsyncDataSetIterator(DataSetIterator):
    """Prefetch the minibatches of another iterator in a daemon thread; their order stays the same.

    Parameters
    ----------
    base : DataSetIterator
        Leave it alone while this iterator uses it: the thread stands up to `queue_size` + 1 minibatches further than
        what has been handed out.
    queue_size : int
        How many minibatches to hold ready.

    Raises
    ------
    DataError
        `queue_size` is less than 1.

    Notes
    -----
    An exception in the base comes out of `has_next` or `next`, as the object that it is and with its traceback, after
    the minibatches before it; it comes out again until `reset`.

    Stopping early loses nothing: what has been prefetched is handed out when this object is used again, after
    ``break`` as after `close`. Only `reset`, and dropping this object, discard it; the base then stands behind the
    discarded minibatches, so reset it before reading on from it directly. The thread ends with the data, at `close`
    (or the end of a ``with`` block), and when this object is garbage collected; a program may exit at any time.

    `state` is that of the base after the minibatch that was handed out last, whatever has been prefetched.

    `pre_processor` runs in the consumer's thread; one that is set on `base` is part of the prefetching.

    Source: org.deeplearning4j.datasets.iterator.AsyncDataSetIterator.

    Examples
    --------
    >>> from nd.dataset import ListDataSetIterator
    >>> base = ListDataSetIterator(DataSet([[1.0], [2.0], [3.0]]), batch=2)
    >>> with AsyncDataSetIterator(base) as iterator:
    ...     print([data_set.num_examples() for data_set in iterator])
    [2, 1]
    """

    def __init__(self, base: DataSetIterator, queue_size: int = 4) -> None:
        self._base = base
        self._base_lock = threading.Lock()
        self._channel = _Channel(check_count("AsyncDataSetIterator", "queue_size", queue_size, 1))
        self._thread: threading.Thread | None = None
        self._position: State | DataError | None = None  # None before anything was read
        weakref.finalize(self, self._channel.stop)

    def has_next(self) -> bool:
        """Tell whether a minibatch is left, waiting until the next one is ready."""
        self._start()
        return self._channel.wait_for_item()

    def next(self, num: int | None = None) -> DataSet:
        """Return the base's next minibatch.

        Raises
        ------
        DataError
            None is left, or `num` is given.
        """
        refuse_num(self, num)
        self._check_has_next()
        item, self._position = self._channel.take()
        return self._pre_processed(item)

    def reset(self) -> None:
        """Stop the thread, discard what it prefetched, and reset the base.

        Raises
        ------
        DataError
            The base cannot be reset; nothing is discarded then.
        """
        if self._base.reset_supported():
            self.close()
            self._base.reset()
            self._forget()
        else:
            self._base.reset()

    def state(self) -> State:
        if self._position is None:
            return self._base.state()
        if isinstance(self._position, DataError):
            raise self._position
        return self._position

    def restore(self, state: State) -> None:
        """Stop the thread, discard what it prefetched, and restore the base."""
        self.close()
        self._base.restore(state)
        self._forget()

    def _forget(self) -> None:
        self._channel.clear()
        self._position = None

    def close(self) -> None:
        """Stop the thread, after the minibatch that it is reading. Using this iterator again starts a new one."""
        self._channel.stop()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def batch(self) -> int:
        """Return the base's."""
        with self._base_lock:
            return self._base.batch()

    def total_outcomes(self) -> int:
        """Return the base's."""
        with self._base_lock:
            return self._base.total_outcomes()

    def input_columns(self) -> int:
        """Return the base's."""
        with self._base_lock:
            return self._base.input_columns()

    def reset_supported(self) -> bool:
        """Tell whether the base's `reset` works."""
        return self._base.reset_supported()

    def async_supported(self) -> bool:
        """Return False: it is asynchronous already."""
        return False

    def __len__(self) -> int:
        return len(cast(Sized, self._base))

    def __enter__(self) -> AsyncDataSetIterator:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _start(self) -> None:
        if self._channel.stopped:
            self.close()  # completes a close that Ctrl-C cut short
        if self._thread is None and self._channel.open():
            if self._position is None:
                self._position = position_of(self._base)
            # the thread knows the channel but not this object, so that dropping this object ends the thread
            self._thread = threading.Thread(
                target=_produce,
                args=(self._base, self._base_lock, self._channel),
                name="AsyncDataSetIterator",
                daemon=True,
            )
            self._thread.start()


_Item = tuple[DataSet, State | DataError]  # a minibatch, and where the base stands after it


class _Channel:
    """A bounded queue from one producer to one consumer. Either may stop it and resume later; nothing gets lost."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._changed = threading.Condition()
        self.clear()

    def clear(self) -> None:
        """Forget everything; only while there is no producer."""
        self._items: deque[_Item] = deque()
        self._stopped = False
        self._finished = False
        self._error: BaseException | None = None
        self._traceback: TracebackType | None = None

    @property
    def stopped(self) -> bool:
        return self._stopped

    def open(self) -> bool:
        """Undo `stop`; tell whether there may be more to produce."""
        with self._changed:
            self._stopped = False
            return not self._finished

    def stop(self) -> None:
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def put(self, item: _Item) -> bool:
        """Append the item once there is room, or once stopped; tell whether to go on producing."""
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or len(self._items) < self._capacity)
            self._items.append(item)
            if len(self._items) == 1:  # somebody may wait for it
                self._changed.notify_all()
            return not self._stopped

    def finish(self, error: BaseException | None = None) -> None:
        with self._changed:
            self._finished = True
            self._error = error
            self._traceback = None if error is None else error.__traceback__
            self._changed.notify_all()

    def wait_for_item(self) -> bool:
        """Wait for an item or the end; raise the producer's error when it is its turn."""
        with self._changed:
            self._changed.wait_for(lambda: self._items or self._finished or self._stopped)
            if self._items:
                return True
            if self._error is not None:
                # raising adds frames to the traceback: start from the producer's each time
                raise self._error.with_traceback(self._traceback)
            if not self._finished:
                raise DataError("AsyncDataSetIterator: expected a minibatch, got close() from another thread.")
            return False

    def take(self) -> _Item:
        with self._changed:
            item = self._items.popleft()
            if len(self._items) <= self._capacity // 2:  # then there is room for several in one go
                self._changed.notify_all()
            return item


def _produce(base: DataSetIterator, base_lock: threading.Lock, channel: _Channel) -> None:
    try:
        going_on = True
        while going_on:
            with base_lock:
                item = (base.next(), position_of(base)) if base.has_next() else None
            if item is None:
                break
            going_on = channel.put(item)
    except BaseException as error:  # also SystemExit: whatever the base raises is for the consumer to see
        channel.finish(error)
    else:
        if going_on:
            channel.finish()
