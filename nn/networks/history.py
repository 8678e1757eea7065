"""History: scores and rates of a call of fit, epoch by epoch."""

from __future__ import annotations

import math
from typing import Any

import nd
from nd.arguments import shown
from nd.checks import UnknownKeyError, suggestion
from nd.classes import NamesSuggested
from nd.state import within
from nd.typing import Array
from optimize.step import StepResult

_CELLS = 256  # scores that are made room for at once, on a device
COLUMNS = ("score", "learning_rate", "validation_score", "validation_accuracy")
"""Names of the lists of a `History` beside those of metrics."""

_add_score = nd.Elementwise(lambda total, loss, divisor, penalty: nd.assign(total, total + (loss / divisor + penalty)))


class History(NamesSuggested):
    """Result of `fit`: lists with a number for every complete epoch of the call.

    Attributes
    ----------
    epochs : list of int
        The epochs' numbers within the call, 0-based. A call that goes on from a checkpoint has those before it too.
    score : list of float
        The mean over the epoch's minibatches of the score that each had before its update, as `network.score()`;
        where an epoch is one minibatch, its score.
    learning_rate : list of float
        In force at the epoch's last step, of the first parameters that have one; NaN where none has.
    validation_score, validation_accuracy : list of float
        Of `validation_data` after the epoch, the score with penalties; empty without such data, and the accuracy also
        where the network does not tell classes apart.
    validation_metrics : dict of str -> list of float
        Of the `metrics` that fit was given, by name; of a network with several outputs ``"output_metric"``.
    monitor : str or None
        The column by which `patience` and `restore_best` know the best epoch; None without them.
    best_epoch : int or None
        The number of that epoch, by `monitor`.
    stopped : str or None
        The reason that `stop_training` was given, or that of `patience`; None where fit went through all epochs.

    Notes
    -----
    On a device that computes while the host goes on, `score` waits for it when it is looked at, and fit does not. Can
    be pickled and copied. ``pandas.DataFrame(history.to_dict())`` is a table.
    """

    def __init__(self, epoch: int = 0, scored: tuple[float, int] | None = None) -> None:
        self.learning_rate: list[float] = []
        self.validation_score: list[float] = []
        self.validation_accuracy: list[float] = []
        self.validation_metrics: dict[str, list[float]] = {}
        self.monitor: str | None = None
        self.best_epoch: int | None = None
        self.stopped: str | None = None
        self._first = epoch
        self._scores: list[Any] = []  # floats, then (total on a device, minibatches) that nobody has asked for
        self._backend: Any = None
        self._free: list[Array] = []  # zeros on it
        self._sum, self._minibatches = scored or (0.0, 0)  # of the epoch that runs
        self._closed = 0  # minibatches of the last epoch that is over
        self._total: Array | None = None

    @property
    def epochs(self) -> list[int]:
        """The numbers of the epochs within the call, 0-based."""
        return list(range(self._first, self._first + len(self._scores)))

    @property
    def score(self) -> list[float]:
        """The score of every epoch."""
        waiting = len(self._scores)
        while waiting and type(self._scores[waiting - 1]) is tuple:
            waiting -= 1
        if waiting < len(self._scores):
            with within(self._backend):
                self._scores[waiting:] = [nd.item(total) / count for total, count in self._scores[waiting:]]
        return self._scores

    def _add_step(self, result: StepResult) -> None:
        """Add the score of a minibatch, which may still lie on a device."""
        self._minibatches += 1
        if result.known_score is not None:
            self._sum += result.known_score
            return
        if self._total is None:
            self._total = self._cell(result.loss)
        _add_score(self._total, result.loss, result.divisor, result.penalty)

    def _cell(self, like: Array) -> Array:
        """Return a zero on the current backend."""
        if self._backend is None:
            self._backend = nd.backend()
        if not self._free:
            memory = nd.zeros(_CELLS, dtype=nd.dtype_name(like))
            self._free = [nd.reshape_view(memory[at : at + 1], ()) for at in range(_CELLS)]
        return self._free.pop()

    def _scored(self, result: StepResult | None = None) -> tuple[float, int] | None:
        """Return the sum of the scores of the epoch that runs, and of how many minibatches; None if it is not finite.

        `result` is that of a minibatch that `_add_step` has not had.
        """
        sums = [self._sum]
        if self._total is not None:
            sums.append(nd.item(self._total))
        if result is not None:
            sums.append(result.score)
        total, count = float(sum(sums)), self._minibatches + (result is not None)
        return (total, count) if math.isfinite(total) else None

    @property
    def _next_epoch(self) -> int:
        """The number of the epoch that runs, or comes next."""
        return self._first + len(self._scores)

    def _reopened(self) -> tuple[float, int] | None:
        """Return the result of `_scored` for the last epoch, as if it were not closed."""
        total = self.score[-1] * self._closed
        return (total, self._closed) if math.isfinite(total) else None

    def _end_epoch(self, learning_rate: float) -> None:
        """Close an epoch."""
        count = self._closed = self._minibatches
        if self._total is None:
            self._scores.append(self._sum / count if count else float("nan"))
        else:
            if self._sum:
                nd.addi(self._total, self._sum)
            self._scores.append((self._total, count))
            self._total = None
        self.learning_rate.append(learning_rate)
        self._sum, self._minibatches = 0.0, 0

    def _column(self, name: str) -> list[float]:
        """Return the list of that name itself, that of a metric by the metric's; a new one where there is none yet."""
        return getattr(self, name) if name in COLUMNS else self.validation_metrics.setdefault(name, [])

    def _level(self) -> None:
        """Write NaN where the epoch that was closed has no number, in columns of data that fit has no more."""
        for values in (self.validation_score, self.validation_accuracy, *self.validation_metrics.values()):
            if values:
                values += [math.nan] * (len(self) - len(values))

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the lists that are not empty by name, all of one length; a metric's is ``"validation_f1"``."""
        columns = {name: list(getattr(self, name)) for name in COLUMNS if getattr(self, name)}
        metrics = {f"validation_{name}": list(values) for name, values in self.validation_metrics.items() if values}
        return {"epochs": self.epochs, **columns, **metrics}

    # ---- in checkpoints

    def _before(self, stop: int, scored: tuple[float, int] | None = None) -> History:
        """Return a history of its own of the epochs before number `stop`; what lies on a device is not waited for.

        `scored` is the sum of the scores of the epoch that follows these, and of how many minibatches.
        """
        count = max(0, stop - self._first)
        history = History(self._first, scored)
        history._scores, history._backend = self._scores[:count], self._backend
        for name in (*COLUMNS[1:], *self.validation_metrics):
            history._column(name)[:] = self._column(name)[:count]
        return history

    def _written(self) -> dict[str, Any]:
        """Return the epochs as plain values."""
        columns = {name: [*map(_plain, getattr(self, name))] for name in COLUMNS}
        metrics = {name: [*map(_plain, values)] for name, values in self.validation_metrics.items()}
        return {"first": self._first, **columns, "metrics": metrics}

    @staticmethod
    def _read(written: Any) -> History:
        """Return the history of the epochs that `_written` wrote.

        Raises
        ------
        TypeError, ValueError, KeyError, AttributeError
            It is nothing of that kind.
        """
        history = History(written["first"])
        if type(written["first"]) is not int or written["first"] < 0:
            raise ValueError("first must be a number of epochs")
        for name in COLUMNS:
            history._column(name)[:] = map(_number, written[name])
        for name, values in written["metrics"].items():
            history.validation_metrics[name] = [*map(_number, values)]
        lengths = {len(values) for values in history.to_dict().values()}
        if len(lengths) > 1 or len(history.score) != len(history.learning_rate):
            raise ValueError("all lists must be of one length")
        return history

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_scores": list(self.score), "_backend": None, "_total": None, "_free": []}

    def __len__(self) -> int:
        return len(self._scores)

    def __getitem__(self, key: object) -> Any:  # with a KeyError NumPy takes a history for one object, no sequence
        columns = [*COLUMNS, "epochs", "validation_metrics"]
        known = isinstance(key, str) and key in columns
        remedy = f"Write history.{key}." if known else suggestion("attribute", key, columns).strip()
        raise UnknownKeyError(
            f"History: columns must be read as attributes, got [{shown(key)}]. {remedy or 'to_dict() has all of them.'}"
        )

    def __repr__(self) -> str:
        columns = self.to_dict()
        columns.pop("epochs")
        last = ", ".join(f"{name} {values[-1]:.4g}" for name, values in columns.items())
        epochs = f"History of {len(self)} epoch{'' if len(self) == 1 else 's'}"
        best = f"; the best by {self.monitor}: {self.best_epoch}" if self.best_epoch is not None else ""
        stopped = f"; stopped: {self.stopped}" if self.stopped is not None else ""
        return f"<{epochs}{', the last: ' + last if last else ''}{best}{stopped}>"


def _plain(value: float) -> float | str:
    """Return a number as JSON has it: what is not finite as a text."""
    return value if math.isfinite(value) else str(value)


def _number(written: object) -> float:
    if type(written) is not float and written not in ("nan", "inf", "-inf"):
        raise ValueError(f"expected a number, got {written!r:.50}")
    return float(written)
