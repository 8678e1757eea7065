"""Prefetching: read ahead in another thread, and AsyncDataSetIterator."""

from __future__ import annotations

import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Self

from backends.errors import ConfigurationError, DataError
from nd.arguments import Count, checked
from nd.dataset.dataset import DataSet
from nd.dataset.iterator import (
    Batch,
    DataSetIterator,
    MinibatchIterator,
    State,
    WrappingIterator,
    position_of,
    refuse_num,
)
from nd.interrupts import Held, tell_of_forks


class Prefetching(WrappingIterator[Batch]):
    """Shared by iterators that read another one ahead; see `AsyncDataSetIterator`."""

    def __init__(self, base: MinibatchIterator[Batch], queue_size: int) -> None:
        self.base = base
        self._check_base()
        self._base_lock = threading.RLock()
        self._channel = _Channel(queue_size, type(self).__name__, self)
        self._thread: threading.Thread | None = None
        self._begun_at: State | DataError | None = None  # where the base stood; None before anything was read
        self._last: _Item | None = None  # the item that was handed out last
        tell_of_forks(self)

    def _check_base(self) -> None:
        """Raise ConfigurationError where the thread would have to draw: its generator is no network's."""
        if self.base.draws():
            raise ConfigurationError(
                f"{type(self).__name__}: expected a base whose pre_processor draws no random numbers, got one that "
                "does, which another thread cannot repeat. Set it on this iterator instead: set_pre_processor."
            )

    def has_next(self) -> bool:
        """Tell whether a minibatch is left, waiting until the next one is ready."""
        self._start()
        self._channel.drop(self._last)  # completes a `next` that Ctrl-C cut short
        return self._channel.wait_for_item()

    def next(self, num: int | None = None) -> Batch:
        refuse_num(self, num)
        self.check_has_next()
        self._last = self._channel.first()  # and so it is handed out, whether or not Ctrl-C comes before the next line
        self._channel.drop(self._last)
        return self.pre_processed(self._last[0])

    def reset(self) -> None:
        """Stop the thread, discard its minibatches, and reset the base; nothing is discarded where it cannot be."""
        if self.base.reset_supported():
            self.close()
            self.base.reset()
            self._forget()
        else:
            self.base.reset()

    def state(self) -> State:
        position = self._begun_at if self._last is None else self._last[1]
        if position is None:
            return self.base.state()
        if isinstance(position, DataError):
            raise position
        return position

    def restore(self, state: State) -> None:
        """Stop the thread, discard its minibatches, and restore the base."""
        self.close()
        self.base.restore(state)
        self._forget()

    def __getstate__(self) -> dict[str, object]:
        """Return the state of a copy, which begins behind the last minibatch handed out, with a thread of its own.

        DataError: the base cannot say where it stands.
        """
        position = self.state()
        self.close()  # the base must stand still while it is copied; prefetched minibatches stay
        return {
            "base": self.base,
            "queue_size": self._channel.capacity,
            "position": position,
            "pre_processor": self.pre_processor,
            "class_names": self.given_class_names,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        Prefetching.__init__(self, state["base"], state["queue_size"])
        self.restore(state["position"])
        self.pre_processor, self.class_names = state["pre_processor"], state["class_names"]

    def _forget(self) -> None:
        self._channel.clear()
        self._last = self._begun_at = None

    def close(self) -> None:
        """Stop the thread, after the minibatch that it is reading. Using this iterator again starts a new one."""
        self._channel.stop()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        left = _LEFT.get(id(self.base))
        if left is not None:
            left.join()

    # ---- forks

    def before_fork(self, deadline: float) -> Callable[[], object] | None:
        """Wait for the minibatch that the thread reads."""
        taken = self._base_lock.acquire(timeout=max(0.0, deadline - time.monotonic()))
        return self._base_lock.release if taken else None

    def in_child(self, stood_still: bool) -> None:
        """In a forked child there is no thread, and minibatches that it has read are handed out before it reads on."""
        self._base_lock = threading.RLock()
        self._channel.connect(self)
        _LEFT.clear()
        if self._thread is None:
            return
        self._channel.stop()  # using this iterator then starts a thread of the child's
        if not stood_still:
            who = type(self).__name__
            self._channel.finish(DataError(
                f"{who}: the source must stand between two minibatches when a process forks, got one that was being "
                "read. Make the iterator and its source in the child."
            ))  # fmt: skip

    def batch(self) -> int:
        with self._base_lock:
            return self.base.batch()

    def async_supported(self) -> bool:
        """Return False: it is asynchronous already."""
        return False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None or issubclass(kind, Exception):
            self.close()
        else:  # Ctrl-C does not wait long for a slow source: the thread ends by itself, and who reads on waits for it
            self._channel.stop()
            if self._thread is not None:
                for key in [key for key, thread in _LEFT.items() if not thread.is_alive()]:
                    del _LEFT[key]
                _LEFT[id(self.base)] = self._thread
                self._thread.join(AT_ONCE)

    def _start(self) -> None:
        if self._channel.stopped:
            self.close()  # completes a close that Ctrl-C cut short
        if self._thread is None:
            self._check_base()  # a pre-processor may have come since
        if self._thread is None and self._channel.open():
            self.close()  # another iterator's thread may still read
            self._channel.open()
            if self._begun_at is None:
                self._begun_at = position_of(self.base)
            # the thread knows the channel but not this object, so that dropping this object ends the thread
            thread = threading.Thread(
                target=_produce,
                args=(self.base, self._base_lock, self._channel),
                name=type(self).__name__,
                daemon=True,
            )
            _THREADS.add(thread)
            with Held():
                thread.start()
                self._thread = thread


AT_ONCE = 0.1  # seconds
_LEFT: dict[int, threading.Thread] = {}
"""id of a base -> the thread that read from it when Ctrl-C came; it keeps the base alive as long as it reads."""
_THREADS: set[threading.Thread] = set()
"""Threads that read, and some that have ended, which the next one forgets: Python runs code of its own at the end of a
Thread object, and a Ctrl-C that came then in the main thread would get lost."""
_Item = tuple[Any, State | DataError]  # a minibatch, and where the base stands after it


class _Channel:
    """A bounded queue from one producer to one consumer. Either may stop it and resume later; nothing gets lost.

    Ctrl-C may come between any two operations of the consumer, so none of them holds a lock, which would stay locked:
    their shared state is changed by one operation at a time. A wake-up says only that it is worth to look again,
    and none is ever missed, whoever swallows one.
    """

    def __init__(self, capacity: int, who: str, owner: object) -> None:
        self.capacity, self._who = capacity, who
        self.clear()
        self.connect(owner)

    def connect(self, owner: object) -> None:
        """Begin without waiting threads; when the owner is gone the producer is woken, by C alone, and ends."""
        self._to_read: SimpleQueue[Any] = SimpleQueue()  # wake-ups of the consumer
        self._to_fill: SimpleQueue[Any] = SimpleQueue()  # and of the producer
        self._owner = weakref.ref(owner, self._to_fill.put)

    def clear(self) -> None:
        """Forget everything; only while there is no producer."""
        self._items: deque[_Item] = deque()
        self.stopped = False
        self._finished = False
        self._error: BaseException | None = None
        self._traceback: TracebackType | None = None

    def open(self) -> bool:
        """Undo `stop`; tell whether there may be more to produce."""
        self.stopped = False
        return not self._finished

    def stop(self) -> None:
        self.stopped = True
        self._to_read.put(None)
        self._to_fill.put(None)

    def put(self, item: _Item) -> None:
        """Append the item."""
        self._items.append(item)
        _wake(self._to_read)

    def wait_for_room(self) -> bool:
        """Wait until there is room, or until stopped; tell whether to go on producing."""
        while self._is_wanted() and len(self._items) > self.capacity:
            self._to_fill.get()
        return self._is_wanted()

    def _is_wanted(self) -> bool:
        return not self.stopped and self._owner() is not None

    def finish(self, error: BaseException | None = None) -> None:
        self._error = error
        self._traceback = None if error is None else error.__traceback__
        self._finished = True
        self._to_read.put(None)

    def wait_for_item(self) -> bool:
        """Wait for an item or the end; raise the producer's error when it is its turn."""
        while not (self._items or self._finished or self.stopped):
            self._to_read.get()
        if self._items:
            return True
        if self._error is not None:
            # raising adds frames to the traceback: start from the producer's every time
            raise self._error.with_traceback(self._traceback)
        if not self._finished:
            raise DataError(f"{self._who}: expected a minibatch, got close() from another thread.")
        return False

    def first(self) -> _Item:
        return self._items[0]

    def drop(self, item: _Item | None) -> None:
        """Take the first item away if it is this one."""
        if self._items and self._items[0] is item:
            self._items.popleft()
        if len(self._items) <= self.capacity // 2 + 1:  # then there is room for several in one go
            _wake(self._to_fill)


def reads_ahead() -> bool:
    """Tell whether the thread that asks reads minibatches ahead."""
    return threading.current_thread() in _THREADS


def _wake(wake_ups: SimpleQueue[None]) -> None:
    if wake_ups.empty():
        wake_ups.put(None)


def _produce(base: MinibatchIterator[Any], base_lock: threading.RLock, channel: _Channel) -> None:
    try:
        _THREADS.difference_update([thread for thread in tuple(_THREADS) if not thread.is_alive()])
        left = True
        while left and channel.wait_for_room():
            with base_lock:  # so that a fork finds the base and what has been read of it together
                left = base.has_next()
                channel.put((base.next(), position_of(base))) if left else channel.finish()
    except BaseException as error:  # also SystemExit: whatever the base raises is for the consumer to see
        channel.finish(error)


class AsyncDataSetIterator(Prefetching[DataSet], DataSetIterator):
    """Prefetch the minibatches of another iterator in a daemon thread; their order stays the same.

    Parameters
    ----------
    base : DataSetIterator
        Leave it alone while this iterator uses it: the thread stands up to `queue_size` + 1 minibatches further than
        the last one handed out.
    queue_size : int
        Number of minibatches held ready.

    Raises
    ------
    ArgumentError
        `base` is no DataSetIterator, or `queue_size` is less than 1.
    ConfigurationError
        A pre-processor of `base` draws random numbers, now or when reading begins. Set it on this iterator.

    Notes
    -----
    An exception in the base comes out of `has_next` or `next`, as the object that it is and with its traceback, after
    the minibatches before it; it comes out again until `reset`.

    Stopping early loses nothing: prefetched minibatches are handed out when this object is used again, after
    ``break`` as after `close`. Only `reset`, and dropping this object, discard it; the base then stands behind the
    discarded minibatches, so reset it before reading on from it directly. The thread ends with the data, at `close`
    (or the end of a ``with`` block), and when this object is garbage collected; a program may exit at any time. Where
    Ctrl-C ends the ``with`` block and the base is slow, the thread ends with the minibatch that it is reading; another
    iterator over the base waits for that.

    `state` is that of the base after the minibatch that was handed out last, whatever has been prefetched.

    `pre_processor` runs in the consumer's thread; one that is set on `base` is part of the prefetching.

    Source: org.deeplearning4j.datasets.iterator.AsyncDataSetIterator. Differs: without a queue_size 4 minibatches are
    prefetched, in Java 8, which hold twice the memory and are no faster.

    Examples
    --------
    >>> from nd.dataset import ListDataSetIterator
    >>> base = ListDataSetIterator(DataSet([[1.0], [2.0], [3.0]]), batch=2)
    >>> with AsyncDataSetIterator(base) as iterator:
    ...     print([data_set.num_examples() for data_set in iterator])
    [2, 1]
    """

    @checked
    def __init__(self, base: DataSetIterator, queue_size: Count = 4) -> None:
        super().__init__(base, queue_size)

    def _axis(self, method: str, place: int) -> int:
        with self._base_lock:
            return super()._axis(method, place)
