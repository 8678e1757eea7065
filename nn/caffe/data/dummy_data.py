"""DummyData: tops that fillers fill."""

from __future__ import annotations

from typing import Any

import nd
from nd import ConfigurationError
from nd.random import Random
from nd.typing import Array

from ..fillers import check_filler, fill_blob
from ..layers.base import Shape
from ..schema import Message, new
from .layers import DataLayer, State

_LEGACY = ("num", "channels", "height", "width")
_STATE, _MOST = ("root", "node"), (1 << 64) - 1  # of the generator


class DummyData(DataLayer):
    """Tops of any shapes, filled by one filler for all, or one for each; with zeros where there is none.

    Notes
    -----
    A constant filler fills its top once, all others anew for every minibatch. Shapes are those of `shape`, or of the
    older num, channels, height and width, once for all tops or for each. Source: BVLC Caffe, dummy_data_layer.cpp.
    """

    tops = (1, None)

    def open(self) -> None:
        settings = self.message.dummy_data_param
        self._shapes = self._shapes_of(settings)
        self.one_or_each("data_filler", len(settings.data_filler), or_none=True)
        fillers = self._for_each(list(settings.data_filler) or [new("FillerParameter")])
        for filler in fillers:
            check_filler(filler, "data_filler")
        self._fillers: list[Message] = fillers
        self._kept: list[Array | None] = [None] * self.outputs
        self._drawn = any(filler.type != "constant" for filler in fillers)
        self._generator = Random(self.draws.next_long() or 1 if self._drawn else 1)

    def shapes(self) -> list[Shape]:
        return self._shapes

    def read(self) -> list[Array]:
        return [self._top(number) for number in range(self.outputs)]

    def state(self) -> State:
        return dict(zip(_STATE, self._generator.get_state(), strict=True)) if self._drawn else {}

    def restore(self, state: State) -> None:
        if self._drawn:
            root, node = (self.place(state, name, _MOST) for name in _STATE)
            self._generator.set_state((root, node))

    def _top(self, number: int) -> Array:
        kept, filler = self._kept[number], self._fillers[number]
        if not nd.is_array(kept):  # not filled yet, or of another backend
            kept = nd.create_uninitialized(*self._shapes[number], dtype=self.dtype)
            fill_blob(kept, filler, self._generator, f"top {number}")
            if filler.type == "constant":
                self._kept[number] = kept
        return kept

    def _shapes_of(self, settings: Message) -> list[Shape]:
        legacy = {name: list(getattr(settings, name)) for name in _LEGACY}
        if not any(legacy.values()):
            self.one_or_each("shape", len(settings.shape))
            return self._for_each([tuple(shape.dim) for shape in settings.shape])
        if settings.shape:
            raise ConfigurationError(
                "shape must stand alone, got num, channels, height or width beside it. Leave these out."
            )
        for name, numbers in legacy.items():
            self.one_or_each(name, len(numbers))
        return list(zip(*(self._for_each(numbers) for numbers in legacy.values()), strict=True))

    def _for_each(self, given: list[Any]) -> list[Any]:
        return given if len(given) > 1 else given * self.outputs
