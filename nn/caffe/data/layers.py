"""Base of the layers that bring data, and the table of their types."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from typing import Any, ClassVar

import nd
from nd import ConfigurationError, DataError, NdError
from nd.checks import suggestion
from nd.dataset.java_random import JavaRandom
from nd.part import undefined
from nd.random import Random
from nd.typing import Array, HostArray

from ..layers.base import Counts, Shape
from ..schema import Message, message_class

DATA_LAYERS = {
    "Data": "database_layer:Data",
    "DummyData": "dummy_data:DummyData",
    "HDF5Data": "hdf5_layer:HDF5Data",
    "ImageData": "image_layer:ImageData",
    "Input": "input_layer:Input",
    "MemoryData": "memory_data:MemoryData",
}
"""Type -> module and class, sorted."""

State = dict[str, Any]
Tops = Sequence[Array | HostArray]


def data_layer_class(kind: str) -> type[DataLayer]:
    """Return the class of a type, ``data_layer_class("HDF5Data")``.

    Raises
    ------
    ConfigurationError
        There is no such type.
    """
    if kind not in DATA_LAYERS:
        known = ", ".join(DATA_LAYERS)
        raise ConfigurationError(
            f"nn.caffe: unknown type of data layer {kind!r}.{suggestion('type', kind, DATA_LAYERS)} Known are {known}."
        )
    module, name = DATA_LAYERS[kind].split(":")
    layer: type[DataLayer] = getattr(import_module(f".{module}", __package__), name)
    return layer


def _opened_again(kind: type[DataLayer], message: bytes, label: str, phase: str, dtype: str, folder: str) -> DataLayer:
    """Return a layer that was pickled, at its beginning; what it draws with is part of its state."""
    return kind(message_class("LayerParameter").FromString(message), label, phase, dtype, Random(1), folder)


class DataLayer:
    """A layer that brings data: no bottoms, and tops that are inputs of the net.

    A type writes `open`, `shapes` and `read`, and `state` and `restore` where `read` depends on what was read before.

    Parameters
    ----------
    message : LayerParameter
        ``message.data_param`` has the settings; `message.top` names the tops.
    label : str
        Of the layer in messages: ``"layer 0 'mnist' (Data)"``.
    phase : {"TRAIN", "TEST"}
    dtype : str
        Of the tops.
    random : Random
        A layer that draws has a generator of its own on the host, whose seed are the next two numbers of this one. One
        that does not draw leaves it as it is.
    folder : str
        What relative paths begin from; without one the working directory, as in Caffe.

    Raises
    ------
    ConfigurationError
        A setting cannot be, or the number of tops is not the type's.
    FileNotFoundError, FormatError, DataError
        What it reads is not there, damaged, or empty.

    Attributes
    ----------
    outputs : int
        Tops.
    """

    tops: ClassVar[Counts] = (1, 1)
    """Fewest and most tops; None for any number."""

    def __init__(self, message: Message, label: str, phase: str, dtype: str, random: Random, folder: str = "") -> None:
        self.message, self.label, self.phase, self.dtype = message, label, phase, dtype
        self.outputs, self._random, self._folder, self._is_closed = len(message.top), random, folder, False
        with self.told():
            self._check_counts()
            self.open()

    def top_shapes(self) -> list[Shape]:
        """Return the shapes of the tops of the next minibatch; ``()`` for one whose shape the layer does not say."""
        with self.told():
            return self.shapes()

    def next(self) -> Tops | None:
        """Return the arrays of the next minibatch, one for each top; None where what lies in the blobs stays.

        Arrays are the current backend's, or the host's. They are for reading: they may be the layer's own.
        """
        with self.told():
            return self.read()

    def get_state(self) -> State:
        """Return what `set_state` of a layer of this message takes to go on with the same bits: numbers and lists."""
        drawn = {"drawn": self.draws.get_state()} if "draws" in vars(self) else {}
        return {**self.state(), **drawn}

    def set_state(self, state: State) -> None:
        """Go on where `get_state` was called.

        Raises
        ------
        DataError
            The state is one of another layer.
        """
        with self.told():
            if not isinstance(state, dict):
                raise DataError(f"a state must be a dict of get_state, got {state!r}.")
            self.restore(state)
            if "draws" in vars(self):
                self.draws.set_state(state.get("drawn"))  # type: ignore[arg-type]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the message and the place: whoever reads it opens the source again."""
        told = (self.message.SerializeToString(), self.label, self.phase, self.dtype, os.fspath(self._folder))
        return _opened_again, (type(self), *told), self.pickled()

    def pickled(self) -> dict[str, Any]:
        """Return what there is beside the message: the place, and arrays that came from the caller."""
        return {"place": self.get_state()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.set_state(state["place"])

    def close(self) -> None:
        """Let go of files and arrays; a closed layer reads no more."""
        self.release()
        self._is_closed = True

    # ---- written by a type

    def open(self) -> None:
        """Read the settings, and open what is read."""

    def shapes(self) -> list[Shape]:
        """Return the shapes of the tops of the next minibatch."""
        undefined(self, "shapes()", "the shapes of the tops of the next minibatch")

    def read(self) -> Tops | None:
        """Return the arrays of the next minibatch, or None."""
        undefined(self, "read()", "the arrays of the next minibatch")

    def state(self) -> State:
        """Return the place of the reader and the order."""
        return {}

    def restore(self, state: State) -> None:
        """Take the place of the reader and the order out of a state."""

    def release(self) -> None:
        """Let go of files and arrays."""

    # ---- for types

    @cached_property
    def draws(self) -> JavaRandom:
        """The layer's own generator; a layer that draws asks for it in `open`."""
        high, low = (int(u * (1 << 24)) for u in nd.to_host(self._random.uniform(2)).tolist())
        return JavaRandom((high << 24) + low)

    def path(self, name: str) -> str:
        """Return a path that a setting names, from the folder on where it is relative."""
        return os.path.join(self._folder, name)

    def positive(self, name: str, value: int) -> int:
        """Return a setting that must be positive; raise ConfigurationError otherwise."""
        if value < 1:
            raise ConfigurationError(f"{name} must be >= 1, got {value}. Set it.")
        return value

    def place(self, state: State, name: str, most: int) -> int:
        """Return a number of a state; raise DataError where it is none up to `most`."""
        value = state.get(name)
        if type(value) is not int or not 0 <= value <= most:
            raise DataError(
                f"{name} of a state must be 0 to {most}, got {value!r}. Is it the state of another layer, or has the "
                "source changed?"
            )
        return value

    def one_or_each(self, name: str, count: int, or_none: bool = False) -> None:
        """Raise ConfigurationError unless a setting is there once or for every top, or not at all where it may."""
        allowed = sorted({1, self.outputs, *((0,) if or_none else ())})
        if count not in allowed:
            times = " or ".join(map(str, allowed))
            raise ConfigurationError(f"{name} must be there {times} times, for {self.outputs} top(s), got {count}.")

    @contextmanager
    def told(self) -> Iterator[None]:
        """Say of an error which layer it is from."""
        try:
            if self._is_closed:
                raise ConfigurationError("a closed layer reads no more. Make another one of its message.")
            yield
        except NdError as error:
            raise type(error)(f"{self.label}: {error}") from error
        except OSError as error:
            raise type(error)(error.errno, f"{self.label}: {error.strerror}", error.filename) from error

    def _check_counts(self) -> None:
        fewest, most = self.tops
        if self.message.bottom:
            raise ConfigurationError(f"a layer that brings data has no bottoms, got {', '.join(self.message.bottom)}.")
        if self.outputs < fewest or (most is not None and self.outputs > most):
            wanted = f"at least {fewest}" if most is None else f"{fewest}" if fewest == most else f"{fewest} to {most}"
            raise ConfigurationError(f"expected {wanted} top(s), got {self.outputs}: {', '.join(self.message.top)}.")
