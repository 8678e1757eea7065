"""A model as its configuration tells it: layers, models within it, and how they are called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

INPUT = "InputLayer"


class Ref(NamedTuple):
    """An output of one use of a layer."""

    layer: str
    use: int = 0
    output: int = 0


class Use(NamedTuple):
    """One use of a layer.

    Attributes
    ----------
    inputs : tuple of Ref
    arguments : mapping of str -> object
        What else it is called with; outputs of other layers are `Ref`.
    """

    inputs: tuple[Ref, ...]
    arguments: Mapping[str, Any]


class Entry:
    """A layer of a model, or a model in it, with all its uses.

    Attributes
    ----------
    class_name : str
        In Keras 3's spelling, for inputs ``"InputLayer"``.
    written_class : str
        As the file spells it.
    name : str
    config : mapping of str -> object
        In Keras 3's spelling; empty for a model.
    uses : tuple of Use
    inner : Part or None
        The layers of a model.
    """

    def __init__(
        self, written_class: str, name: str, uses: tuple[Use, ...], modern: tuple[str, Mapping[str, Any]], inner: Any
    ) -> None:
        self.written_class, self.name, self.uses = written_class, name, uses
        self.class_name, self.config = modern
        self.inner: Part | None = inner

    @property
    def trainable(self) -> bool:
        """Whether its weights may change."""
        return bool(self.config.get("trainable", True))


class Part(NamedTuple):
    """A model, or a model in one.

    Attributes
    ----------
    is_sequential : bool
    entries : tuple of Entry
        In the order of the file, inputs among them.
    inputs, outputs : tuple of Ref
    begins : int
        Number of the first entry that Keras counts: 1 where the first one is an input that a chain does not show.
    """

    is_sequential: bool
    entries: tuple[Entry, ...]
    inputs: tuple[Ref, ...]
    outputs: tuple[Ref, ...]
    begins: int = 0


def layers_of(part: Part) -> Iterator[Entry]:
    """Yield the layers of a model and of the models in it, without inputs."""
    for entry in part.entries:
        if entry.inner is not None:
            yield from layers_of(entry.inner)
        elif entry.class_name != INPUT:
            yield entry
