"""ImageData: pictures in files, from a list."""

from __future__ import annotations

from nd import ConfigurationError, DataError
from nd.dataset.order import EpochOrder
from nd.files.reading import opening, read_at_most

from .layers import State
from .picture_layer import PictureLayer
from .pictures import MOST_BYTES, picture_bytes, read_picture_list
from .records import Example


class ImageData(PictureLayer):
    """Pictures in files and their labels, as a list has them, from the first again behind the last one.

    Notes
    -----
    Tops are data ``[N, C, H, W]``, blue before green before red, and label ``[N]``. `root_folder` stands before every
    path of the list, as it is. With `shuffle` every epoch has another order; with `rand_skip` the first minibatch
    begins at one of the first `rand_skip` pictures, drawn.
    Source: BVLC Caffe, image_data_layer.cpp. Differs: Pillow decodes and scales, a pixel may differ by 1; nothing is
    read ahead.
    """

    tops = (2, 2)

    def open(self) -> None:
        settings = self.message.image_data_param
        self.batch = self.positive("batch_size", settings.batch_size)
        self._size = (settings.new_height, settings.new_width)
        if bool(settings.new_height) != bool(settings.new_width):
            raise ConfigurationError(f"expected new_height and new_width, or 0 for both, got {list(self._size)}.")
        source = self.path(settings.source)
        self._listed = read_picture_list(source, settings.root_folder)
        if not self._listed:
            raise DataError(f"{source}: must list pictures, got none.")
        self._color = settings.is_color
        self.transformed_by(self.message.transform_param)
        self._order = EpochOrder(len(self._listed), self.draws.next_long() if settings.shuffle else None)
        self._order.begin()
        self._cursor = self.draws.next_int(settings.rand_skip) if settings.rand_skip else 0
        if settings.rand_skip > len(self._listed):
            raise ConfigurationError(
                f"rand_skip must be at most the number of pictures, {len(self._listed)}, got {settings.rand_skip}."
            )
        self.shapes()

    def ahead(self) -> Example:
        return self._example(self._cursor)

    def examples(self, n: int) -> list[Example]:
        found = []
        for _ in range(n):
            found.append(self._example(self._cursor))
            self._cursor += 1
            if self._cursor == len(self._listed):
                self._cursor = 0
                self._order.begin()
        return found

    def state(self) -> State:
        return {"cursor": self._cursor, "order": self._order.state()}

    def restore(self, state: State) -> None:
        self._order.restore(state.get("order"))
        self._cursor = self.place(state, "cursor", len(self._listed) - 1)

    def _example(self, place: int) -> Example:
        listed = self._listed[int(self._order.numbers(place, place + 1)[0])]
        path = self.path(listed.path)
        with opening("ImageData", path) as file:
            content = read_at_most(file, MOST_BYTES)
        pixels, shape = picture_bytes(content, self._color, *self._size, path)
        return Example(pixels, shape, listed.label)
