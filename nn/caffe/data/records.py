"""Records of databases as pixels and labels, most of them without a message for each."""

from __future__ import annotations

from typing import NamedTuple

from nd.dataset.picture_batches import Chunk
from nd.extras import optional
from nd.files.varints import varint

from ..binary import parse_binary
from ..layers.base import Shape
from ..schema import Message, message_class
from .datums import datum_numbers

_DATA_TAG = b"\x22"  # of field 4, bytes
_MOST_TAILS = 1 << 16


class Example(NamedTuple):
    """A picture, and its number."""

    pixels: Chunk
    shape: Shape
    label: int


class RecordReader:
    """Turns the bytes of records, which are Datums, into examples.

    Parameters
    ----------
    color : bool, optional
        How pictures in files are decoded: see `read_picture`.
    who : str
        The database, for messages.

    Notes
    -----
    Most records of a database differ in their pixels and their label only. Bytes before the pixels that are those of
    the record before mean the same again, and so does what follows them and has been seen before. Only other records
    are parsed.
    """

    def __init__(self, color: bool | None, who: str) -> None:
        self._color, self._who = color, who
        self._head, self._end = b"", 0  # bytes up to the pixels, and how many they are with these
        self._shape: Shape = ()
        self._labels: dict[bytes, int] = {}  # what follows the pixels -> label

    def example(self, key: bytes, record: bytes) -> Example:
        """Return the example of a record.

        Raises
        ------
        FormatError
            It is no Datum, has not as many numbers as its shape says, or the file of a picture in it is damaged.
        """
        end = self._end
        if end and len(record) >= end and record.startswith(self._head):
            label = self._labels.get(record[end:])
            if label is not None:
                return Example(record[len(self._head) : end], self._shape, label)
        return self._parsed(f"{self._who}: record {key!r}", record)

    def _parsed(self, who: str, record: bytes) -> Example:
        datum = parse_binary(record, "Datum", who)
        pixels, shape = datum_numbers(datum, self._color, who)
        if not datum.encoded and datum.data:
            self._learn(record, datum, shape)
        return Example(pixels, shape, datum.label)

    def _learn(self, record: bytes, datum: Message, shape: Shape) -> None:
        """Remember what stands around the pixels, if each side is a message by itself: then any pixels may be there.

        A message in pieces that are messages means what these mean one after the other.
        """
        tag = _DATA_TAG + varint(len(datum.data))
        start = record.find(tag + datum.data)
        end = start + len(tag) + len(datum.data)
        before, behind = (message_class("Datum")() for _ in range(2))
        try:
            before.MergeFromString(record[:start])
            behind.MergeFromString(record[end:])
        except optional("nn.caffe", "google.protobuf.message", "protobuf", "caffe").DecodeError:
            return
        if start < 0 or any(part.HasField("data") or part.float_data for part in (before, behind)):
            return
        head = record[: start + len(tag)]
        if head != self._head or end != self._end or len(self._labels) >= _MOST_TAILS:
            self._labels = {}
        self._head, self._end, self._shape = head, end, shape
        self._labels[record[end:]] = datum.label
