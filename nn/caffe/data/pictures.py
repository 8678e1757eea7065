"""Pictures in files, through Pillow: arrays ``[C, H, W]`` of 0 to 255, blue before green before red."""

from __future__ import annotations

import io
import warnings
from typing import Any, NamedTuple

import nd
from nd import FormatError
from nd.arguments import Natural, checked
from nd.extras import optional
from nd.files.reading import Source, name_of, opening, read_at_most
from nd.typing import Array

MOST_BYTES = 1 << 30
"""Of a picture's file, and of a list of files."""
_DAMAGES = (
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    OSError,
    SyntaxError,
    TypeError,
    ValueError,
)
"""What Pillow raises of damaged files; some of its decoders raise a SyntaxError."""


class ListedPicture(NamedTuple):
    """A line of a list of pictures."""

    path: str
    label: int


@checked
def read_picture(source: Source, color: bool | None = True, height: Natural = 0, width: Natural = 0) -> Array:
    """Return the picture in a file ``[C, H, W]``, float32, on the current backend.

    Parameters
    ----------
    source : path or binary file object
        A file of any kind that Pillow reads.
    color : bool, optional
        Three channels (blue, green, red), or one of shades of grey; None takes what the file has.
    height, width : int
        The size to which it is brought, in pixels; 0 keeps its own. Both or neither.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    FormatError
        It is damaged, no picture, or larger than a picture can be.
    ConfigurationError
        The package Pillow is not installed.

    Notes
    -----
    Source: BVLC Caffe, util/io.cpp. Differs: Pillow decodes, scales and turns colours to grey, where Caffe has OpenCV:
    a pixel may differ by 1.
    """
    name = name_of(source)
    with opening("read_picture", source) as file:
        content = read_at_most(file, MOST_BYTES)
    return decode_picture(content, color, height, width, name)


def decode_picture(
    content: bytes, color: bool | None = True, height: int = 0, width: int = 0, who: str = "decode_picture"
) -> Array:
    """Return the picture that the bytes of a file are; arguments and errors as `read_picture`."""
    content, shape = picture_bytes(content, color, height, width, who)
    return nd.reshape(nd.create(memoryview(content), "float32"), shape)


def picture_bytes(
    content: bytes, color: bool | None = True, height: int = 0, width: int = 0, who: str = "decode_picture"
) -> tuple[bytes, tuple[int, ...]]:
    """Return the pixels of the picture that the bytes of a file are, a byte each, and its shape ``[C, H, W]``."""
    library = optional("read_picture", "PIL.Image", "Pillow", "caffe")
    if bool(height) != bool(width):
        raise nd.ConfigurationError(f"{who}: expected height and width, or 0 for both, got {height} and {width}.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", library.DecompressionBombWarning)
            with library.open(io.BytesIO(content)) as picture:
                return _pixels(picture, color, (width, height), library)
    except (*_DAMAGES, library.DecompressionBombError, library.DecompressionBombWarning) as error:
        raise FormatError(f"{who}: expected the file of a picture, got {error}. Is it damaged?") from error


@checked
def read_picture_list(source: Source, root_folder: str = "") -> list[ListedPicture]:
    """Return the paths and labels of a list of pictures: a line for each, with a space between.

    Parameters
    ----------
    source : path or binary file object
        What an ImageData layer has as `source`.
    root_folder : str
        Put before every path, as it is: ``"pictures/"``.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    FormatError
        A line has no label; with its number.
    """
    listed = []
    for number, line in read_lines("read_picture_list", source):
        path, _, label = line.rpartition(" ")
        if not path or not label.removeprefix("-").isdecimal() or not label.isascii():
            raise FormatError(f"{name_of(source)}:{number}: expected a path and a whole number, got {line[:80]!r}.")
        listed.append(ListedPicture(root_folder + path, int(label)))
    return listed


def read_lines(who: str, source: Source) -> list[tuple[int, str]]:
    """Return the lines of a list of files that are not empty, with their numbers.

    Raises
    ------
    FormatError
        It is not UTF-8, or longer than a list can be.
    """
    with opening(who, source) as file:
        content = read_at_most(file, MOST_BYTES)
    try:
        lines = content.decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise FormatError(f"{name_of(source)}: expected a list of files in UTF-8, got {error}.") from error
    return [(number, line.strip()) for number, line in enumerate(lines, 1) if line.strip()]


def _pixels(picture: Any, color: bool | None, size: tuple[int, int], library: Any) -> tuple[bytes, tuple[int, ...]]:
    """Return the pixels of a Pillow picture, at another size if that is not 0."""
    is_grey = picture.mode in ("1", "L", "I", "F", "I;16") if color is None else not color
    shown = picture.convert("L" if is_grey else "RGB")
    if size != (0, 0):
        across, down = shown.width / size[0], shown.height / size[1]
        shown = shown.transform(
            size, library.Transform.AFFINE, (across, 0, 0, 0, down, 0), library.Resampling.BILINEAR
        )  # as OpenCV's: of the four pixels nearby, also where it makes a picture smaller
    planes = shown.split()[::-1]  # red last
    return b"".join(plane.tobytes() for plane in planes), (len(planes), shown.height, shown.width)
