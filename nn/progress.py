"""How far calls of fit have come, as a checkpoint keeps it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

import nd

if TYPE_CHECKING:
    from .training import Training


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Where a call of fit stands.

    Parameters
    ----------
    fitting : {"", "iterator", "minibatch"}
        What it was given; "" between two calls.
    epochs : int
        Of this call that are complete; for one minibatch, how often its steps were taken.
    within : bool
        Whether an epoch has begun that is not complete.
    steps : int
        Steps that were taken on the minibatch that comes next, where a minibatch has several.
    iterator : dict, optional
        The iterator's state after the last minibatch whose steps were all taken.
    obstacle : str
        Why there is none.
    iteration : int
        Of the network.
    random : (int, int), optional
        State of the global generator.
    """

    fitting: str = ""
    epochs: int = 0
    within: bool = False
    steps: int = 0
    iterator: dict[str, Any] | None = None
    obstacle: str = ""
    iteration: int = 0
    random: tuple[int, int] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)

    @staticmethod
    def from_json(values: Any) -> Progress:
        """Read plain values.

        Raises
        ------
        FormatError
            One is missing, or of another type.
        """
        kinds = {
            "fitting": str, "epochs": int, "within": bool, "steps": int, "iterator": (dict, type(None)),
            "obstacle": str, "iteration": int, "random": list,
        }  # fmt: skip
        if not isinstance(values, dict):
            raise nd.FormatError(f"load_checkpoint: progress must be an object, got {values!r}.")
        for name, kind in kinds.items():
            if not isinstance(values.get(name), kind):  # type: ignore[arg-type]
                raise nd.FormatError(f"load_checkpoint: {name} must be {kind}, got {values.get(name)!r}.")
        if [type(number) for number in values["random"]] != [int, int]:
            raise nd.FormatError(f"load_checkpoint: random must be two integers, got {values['random']!r}.")
        known = {field.name: values[field.name] for field in fields(Progress)}
        return Progress(**{**known, "random": tuple(values["random"])})


class FitProgress:
    """What a network knows of its calls of fit.

    Attributes
    ----------
    call : Training or None
        The one that runs.
    awaited : Progress or None
        Of a checkpoint, for the next call to go on from.
    last : Progress
        Where the last call ended.
    epoch_over : bool
        The last minibatch of an epoch is trained on, and listeners are hearing of it; the epoch is not counted yet.
    """

    def __init__(self) -> None:
        self.call: Training | None = None
        self.awaited: Progress | None = None
        self.last = Progress()
        self.epoch_over = False

    def forget(self) -> None:
        """Where the last call ended means nothing any more."""
        if self.awaited is not None or self.last.within:
            self.awaited, self.last = None, Progress()

    def now(self) -> Progress:
        """Return what a checkpoint has to keep."""
        if self.call is not None:
            return self.call.progress()
        return self.awaited or self.last
