"""Pictures in files, decoded by Pillow: turned as they were taken, in the channels and the size that are wanted."""

from __future__ import annotations

import importlib
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Protocol

import numpy as np

from nd.dataset.images.as_opencv import cropped, resized, with_channels
from nd.extras import optional

INTERPOLATIONS = ("bicubic", "bilinear", "box", "hamming", "lanczos", "nearest")
_MODES = {1: "L", 3: "RGB", 4: "RGBA"}
_TURNS = {
    2: "FLIP_LEFT_RIGHT", 3: "ROTATE_180", 4: "FLIP_TOP_BOTTOM", 5: "TRANSPOSE", 6: "ROTATE_270", 7: "TRANSVERSE",
    8: "ROTATE_90",
}  # fmt: skip
"""Orientation of Exif -> what turns such a picture upright."""
_ORIENTATION = 0x0112
_SMALL = 1 << 18  # bytes
_WITH_EXIF = ("exif", "xmp", "XML:com.adobe.xmp", "Raw profile type exif")


class Unreadable(Exception):
    """A file is no picture, or one that cannot be decoded; the text says what it is instead."""


class Decoder(Protocol):
    """Decodes the pictures of an iterator."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height and width of all pictures."""

    def __call__(self, path: str) -> Any:
        """Return a picture, an array [H, W, C] of the host, in any thread; raise Unreadable or OSError."""


def need_pillow(who: str) -> Any:
    """Return Pillow's module of pictures, with all its formats imported; raise ConfigurationError without it.

    What a thread imports while another one forks would be locked for ever in the child.
    """
    module = optional(who, "PIL.Image", "Pillow", "images")
    module.init()
    return module


def opened(path: str) -> Any:
    """Return the first picture of a file, decoded and turned upright.

    Raises
    ------
    Unreadable
        It is no picture, a damaged one, or one so large that Pillow takes it for an attack.
    OSError
        The system cannot read the file.
    """
    image_module = importlib.import_module("PIL.Image")
    with _file(path) as file:
        try:
            image = image_module.open(file)
            image.load()
        except image_module.UnidentifiedImageError:
            size = file.seek(0, 2)
            raise Unreadable(f"{size} bytes that are no picture" if size else "an empty file") from None
        except MemoryError:
            raise
        except OSError as error:
            if error.errno is not None:  # of the system; Pillow's own have none
                raise
            raise Unreadable(str(error)) from error
        except Exception as error:  # decoders raise whatever their formats make them stumble on
            raise Unreadable(f"{type(error).__name__}: {error}") from error
    if image.format == "PPM" and image.mode == "I":  # Pillow holds a grey one of more than 8 bits so, 0 to 65535
        return image_module.fromarray(np.asarray(image).astype(np.uint16))
    return _upright(image, image_module)


def _file(path: str) -> BinaryIO:
    """Return an open file; a small one is in memory, with fewer calls of the system, each of which changes threads."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        content = os.read(handle, _SMALL)
    finally:
        os.close(handle)
    return io.BytesIO(content) if len(content) < _SMALL else open(path, "rb")


def _upright(image: Any, image_module: Any) -> Any:
    """Return a picture turned as its Exif says; one whose Exif cannot be read as it is, as viewers show it."""
    if image.format != "TIFF" and not any(key in image.info for key in _WITH_EXIF):
        return image
    try:
        turn = _TURNS.get(image.getexif().get(_ORIENTATION))
    except Exception:  # whatever damaged Exif makes its parser stumble on
        return image
    return image if turn is None else image.transpose(getattr(image_module.Transpose, turn))


def _of_eight_bits(image: Any, image_module: Any) -> Any:
    """Return a picture whose channels have 8 bits, the upper ones of 16; raise Unreadable where they have 32."""
    if image.mode.startswith("I;16"):
        return image_module.fromarray((np.asarray(image) >> 8).astype(np.uint8))
    if image.mode in ("I", "F"):
        raise Unreadable(f"a picture of 32 bits a channel (Pillow's mode {image.mode})")
    if image.mode == "P" and "transparency" in image.info:
        return image.convert("RGBA")  # of which the colours are taken; Pillow warns of the direct way
    return image


def _converted(image: Any, mode: str) -> Any:
    if image.mode == mode:
        return image
    try:
        return (image.convert("RGB") if image.mode == "LAB" else image).convert(mode)
    except ValueError as error:
        raise Unreadable(f"a picture of Pillow's mode {image.mode}: {error}") from error


@dataclass(frozen=True)
class PillowDecoder:
    """Decodes pictures to [H, W, C] of bytes.

    Parameters
    ----------
    channels : {1, 3, 4}
        Grey, colours, or colours and opacity.
    channel_order : {"rgb", "bgr"}
    size : (int, int)
        Height and width.
    resize : {"stretch", "crop", "pad"}
        What becomes of pictures of another shape.
    interpolation : str
        One of `INTERPOLATIONS`.
    """

    channels: int
    channel_order: str
    size: tuple[int, int]
    resize: str
    interpolation: str

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height and width."""
        return (self.channels, *self.size)

    def __call__(self, path: str) -> Any:
        image_module = importlib.import_module("PIL.Image")
        image = _converted(_of_eight_bits(opened(path), image_module), _MODES[self.channels])
        height, width = self.size
        if image.size != (width, height):
            image = self._resized(image, image_module)
        pixels = np.asarray(image)
        if pixels.ndim == 2:
            return pixels[:, :, None]
        return pixels if self.channel_order == "rgb" else pixels[:, :, _blue_first(self.channels)]

    def _resized(self, image: Any, image_module: Any) -> Any:
        (height, width), (columns, rows) = self.size, image.size
        how = getattr(image_module.Resampling, self.interpolation.upper())
        if self.resize == "stretch":
            return image.resize((width, height), how)
        if self.resize == "crop":
            across = min(columns, max(1, rows * width // height))
            down = min(rows, max(1, columns * height // width))
            left, top = (columns - across) // 2, (rows - down) // 2
            return image.crop((left, top, left + across, top + down)).resize((width, height), how)
        factor = min(width / columns, height / rows)
        inner = (max(1, round(columns * factor)), max(1, round(rows * factor)))
        canvas = image_module.new(image.mode, (width, height))
        canvas.paste(image.resize(inner, how), ((width - inner[0]) // 2, (height - inner[1]) // 2))
        return canvas


def _blue_first(channels: int) -> Sequence[int] | slice:
    return [2, 1, 0, 3] if channels == 4 else slice(None, None, -1)


@dataclass(frozen=True)
class OpenCVDecoder:
    """Decodes pictures as DataVec's NativeImageLoader does: [H, W, C] of 0 to 255, those of 16 bits of 0 to 65535.

    Parameters
    ----------
    height, width, channels : int
        0: as they are in the file.
    crop : bool
        Whether the middle of the longer side is taken first.
    transform : object, optional
        Changes the picture before all else: ``transform(picture [C, H, W])``.

    Notes
    -----
    Colours are BGR, opacity is left out, and palettes are colours. Differs: colours of 16 bits have 8, and grey of 9 to
    15 bits has 16, since Pillow reads no others.

    Source: org.datavec.image.loader.NativeImageLoader; OpenCV 4.5.
    """

    height: int = 0
    width: int = 0
    channels: int = 0
    crop: bool = False
    transform: Any = None

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height and width."""
        return self.channels, self.height, self.width

    def __call__(self, path: str) -> Any:
        picture = _as_opencv_reads(opened(path))
        if self.transform is not None:
            changed = np.asarray(self.transform.transform(picture.transpose(2, 0, 1))).transpose(1, 2, 0)
            most = np.iinfo(picture.dtype).max
            picture = np.clip(np.rint(changed), 0, most).astype(picture.dtype)
        if self.channels:
            picture = with_channels(picture, self.channels)
        if self.crop:
            picture = cropped(picture)
        return resized(picture, self.height, self.width) if self.height and self.width else picture


def _as_opencv_reads(image: Any) -> Any:
    """Return a picture [H, W, C] in grey, of 8 or 16 bits, or as BGR."""
    if image.mode.startswith("I;16"):
        return np.asarray(image)[:, :, None].astype(np.uint16)
    if image.mode in ("1", "L", "LA"):
        return np.asarray(_converted(image, "L"))[:, :, None]
    image_module = importlib.import_module("PIL.Image")
    return np.asarray(_converted(_of_eight_bits(image, image_module), "RGB"))[:, :, ::-1]
