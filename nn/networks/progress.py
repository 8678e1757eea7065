"""The progress of calls of fit, as a checkpoint keeps it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import nd
from nd.dataset.iterator import MinibatchIterator
from nd.dataset.pre_processor import fetched
from nd.random import Random

from ..terms.java_form import JAVA_INT
from .history import History

if TYPE_CHECKING:
    from .network import Network
    from .training import Training


def second_call(who: str) -> nd.ConfigurationError:
    """Return the error for what would train a network while another call does."""
    return nd.ConfigurationError(
        f"{who}: one call at a time may train a network, got a second one while another runs, in another thread or in "
        "a listener. Wait for it, or train a copy: net.clone()."
    )


@dataclass(frozen=True, kw_only=True)
class Progress:
    """The point that a call of fit has reached.

    Parameters
    ----------
    fitting : {"", "iterator", "minibatch"}
        The kind of data that it was given; "" between two calls.
    epochs : int
        Of this call that are complete; for one minibatch, how often its steps were taken.
    within : bool
        Whether an epoch has begun that is not complete.
    steps : int
        Steps that were taken on the minibatch that comes next, where a minibatch has several.
    iterator : dict, optional
        The iterator's state after the last minibatch whose steps were all taken.
    obstacle : str
        The reason why there is none.
    iteration : int
        Of the network.
    random : (int, int), optional
        State of the network's generator.
    fetched : (int, int), optional
        The same before the minibatch that comes next was fetched, where it has been: for what is drawn for it.
    scored : (float, int), optional
        Sum of the scores of the minibatches that were trained on in the epoch that is not complete, and their number;
        None where the sum is not finite, or nobody wrote it down.
    segment : int
        Segments of the minibatch's series that were trained on, where it is trained on in segments.
    state : tuple of array
        Carried by the layers into the next segment; as it is read from JSON, the shapes of these.
    history : History, optional
        Of the call's epochs that are complete.
    best_epoch : int, optional
        Of the call, the epoch whose parameters are kept.
    best_params : array ``[1, n]``, optional
        These, on the host; they are not in the JSON.
    """

    fitting: str = ""
    epochs: int = 0
    within: bool = False
    steps: int = 0
    iterator: dict[str, Any] | None = None
    obstacle: str = ""
    iteration: int = 0
    random: tuple[int, int] | None = None
    fetched: tuple[int, int] | None = None
    scored: tuple[float, int] | None = None
    segment: int = 0
    state: tuple[Any, ...] = ()
    history: History | None = None
    best_epoch: int | None = None
    best_params: Any = None

    def to_json(self) -> dict[str, object]:
        """Return plain values; of the state the shapes."""
        values = asdict(replace(self, state=(), history=None, best_params=None))
        del values["best_params"]
        history = None if self.history is None else self.history._written()
        return {**values, "state": [list(array.shape) for array in self.state], "history": history}

    @staticmethod
    def from_json(values: object) -> Progress:
        """Read plain values.

        Raises
        ------
        FormatError
            One is missing, of another type, or out of range.
        """
        if not isinstance(values, dict):
            raise nd.FormatError(f"load_checkpoint: progress must be an object, got {values!r:.200}.")
        for name, (rule, is_valid) in _VALID.items():
            if not is_valid(values.get(name, _ABSENT.get(name))):
                raise nd.FormatError(f"load_checkpoint: {name} must be {rule}, got {values.get(name)!r:.200}.")
        by_name = {
            field.name: values.get(field.name, _ABSENT.get(field.name))
            for field in fields(Progress)
            if field.name in _VALID
        }
        scored = None if by_name["scored"] is None else tuple(by_name["scored"])
        state = tuple(map(tuple, by_name["state"]))
        history = None if by_name["history"] is None else History._read(by_name["history"])
        fetched = None if by_name["fetched"] is None else tuple(by_name["fetched"])
        changed = {
            "random": tuple(values["random"]),
            "fetched": fetched,
            "scored": scored,
            "state": state,
            "history": history,
        }
        return Progress(**{**by_name, **changed})


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value <= JAVA_INT


def _is_random(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(type(n) is int and 0 <= n < 1 << 64 for n in value)


def _is_scored(value: Any) -> bool:
    if value is None:
        return True
    listed = isinstance(value, list) and len(value) == 2
    return listed and type(value[0]) is float and math.isfinite(value[0]) and _is_count(value[1])


def _is_history(value: object) -> bool:
    try:
        return value is None or isinstance(History._read(value), History)
    except (AttributeError, KeyError, TypeError, ValueError):
        return False


def _are_shapes(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(shape, list) and all(map(_is_count, shape)) for shape in value)


_ABSENT: Mapping[str, object] = {"segment": 0, "state": []}
"""Defaults of fields that files of earlier releases lack."""
_COUNT = (f"an integer, 0 to {JAVA_INT}", _is_count)
_VALID: Mapping[str, tuple[str, Callable[[object], bool]]] = {
    "best_epoch": (f"null or {_COUNT[0]}", lambda value: value is None or _is_count(value)),
    "epochs": _COUNT,
    "fetched": ("null, or two integers, 0 to 2**64 - 1", lambda value: value is None or _is_random(value)),
    "fitting": ("'', 'iterator' or 'minibatch'", lambda value: value in ("", "iterator", "minibatch")),
    "history": ("null, or lists of numbers, all of one length", _is_history),
    "iteration": _COUNT,
    "iterator": ("an object or null", lambda value: value is None or isinstance(value, dict)),
    "obstacle": ("a text", lambda value: isinstance(value, str)),
    "random": ("two integers, 0 to 2**64 - 1", _is_random),
    "scored": ("null, or a finite number and a count", _is_scored),
    "segment": _COUNT,
    "state": ("a list of shapes", _are_shapes),
    "steps": _COUNT,
    "within": ("true or false", lambda value: isinstance(value, bool)),
}
"""Field -> the rule for it, in words and as a check."""


class Draws:
    """Fetches minibatches for a call of fit, which draw from the network's generator, after a checkpoint the same.

    Parameters
    ----------
    network : Network

    Attributes
    ----------
    before : (int, int) or None
        State of the generator when the minibatch began to be fetched that is trained on; None between two.
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        self.before: tuple[int, int] | None = None
        self._again: Random | None = None  # draws once more what was drawn for the minibatch that comes next

    def fetch(self, source: MinibatchIterator[Any]) -> Any:
        """Return the next minibatch."""
        if self._again is None:
            self.before = self.network.random.get_state()
        batch = fetched(source, self._again)
        self._again = None
        return batch

    def resume(self, awaited: Progress) -> None:
        """Have what was drawn for the minibatch that comes next drawn again; where steps were taken on it, apart."""
        if awaited.fetched is None:
            return
        generator = self.network.random
        if awaited.steps or awaited.segment:
            self._again, self.before = generator.copy(), awaited.fetched
            self._again.set_state(awaited.fetched)
        else:
            generator.set_state(awaited.fetched)


class FitProgress:
    """The calls of fit of one network: the one that runs, and the point that the last one reached.

    Attributes
    ----------
    call : Training or None
        The one that runs.
    of_layer : Training or None
        The one that runs and pretrains a layer.
    thread : int or None
        The identifier of the thread that it began in.
    awaited : Progress or None
        Of a checkpoint, for the next call to go on from.
    last : Progress
        The end of the last call.
    epoch_over : bool
        The last minibatch of an epoch is trained on, and listeners are hearing of it; the epoch is not counted yet.
    stop_reason : str or None
        The reason why the call that runs is to stop.
    stoppable : bool
        Another loop runs that listeners may stop.
    """

    def __init__(self) -> None:
        self.call: Training | None = None
        self.of_layer: Training | None = None
        self.thread: int | None = None
        self.awaited: Progress | None = None
        self.last = Progress()
        self.epoch_over = False
        self.stop_reason: str | None = None
        self.stoppable = False

    def forget(self) -> None:
        """Forget the end of the last call: training went on without fit."""
        if self.awaited is not None or self.last.within:
            self.awaited, self.last = None, Progress()

    def now(self) -> Progress:
        """Return the progress that a checkpoint has to keep."""
        if self.call is not None:
            return self.call.progress()
        return self.awaited or self.last
