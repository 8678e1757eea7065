"""Normalizers in files, in the form of ND4J's ``NormalizerSerializer``."""

from __future__ import annotations

import io
import struct
from collections.abc import Mapping
from typing import Any, BinaryIO

from backends.errors import ConfigurationError, FormatError
from nd.arguments import checked
from nd.dataset.normalizers.any_normalizer import AnyNormalizer
from nd.files.reading import Source, name_of, opening, read_at_most
from nd.files.serde_buffers import CORRUPT, read_number, read_utf, utf_bytes
from nd.files.writing import FileKind, Target, replacing

_HEADER = "NORMALIZER"
_VERSION = 1
_JAVA_OBJECT = b"\xac\xed"
_MOST = 64 << 20  # bytes
_KIND = FileKind(
    "a normalizer in ND4J's form",
    (".bin",),
    {".zip": "Beside its model it is kept by net.save(path, normalizer=normalizer). "},
)
_CUSTOM = "CUSTOM"
_MULTI = "MULTI_"


@checked
def normalizer_to_bytes(normalizer: AnyNormalizer) -> bytes:
    """Return the bytes that ND4J's ``NormalizerSerializer`` writes: a file, or ``normalizer.bin`` in a model's.

    Raises
    ------
    DataError
        Nothing was fitted.
    """
    stream = io.BytesIO()
    stream.write(utf_bytes(_HEADER) + struct.pack(">i", _VERSION) + utf_bytes(normalizer.kind))
    normalizer.write_body(stream)
    return stream.getvalue()


@checked
def normalizer_from_bytes(data: bytes | bytearray | memoryview) -> AnyNormalizer:
    """Return the normalizer that `normalizer_to_bytes`, or ND4J's ``NormalizerSerializer``, wrote.

    Raises
    ------
    FormatError
        The bytes are truncated, corrupt or something else; also bytes of Java's serialization alone.
    ConfigurationError
        The normalizer is a class of somebody's own (CUSTOM).
    """
    if bytes(data[:2]) == _JAVA_OBJECT:
        raise FormatError(
            "normalizer_from_bytes: expected ND4J's normalizer format, got a serialized Java object, which only Java "
            "can read. Restore it there and write it with NormalizerSerializer.getDefault().write."
        )
    try:
        return _read(io.BytesIO(data))
    except FormatError as error:
        raise FormatError(f"normalizer_from_bytes: {error}") from error


def save_normalizer(normalizer: AnyNormalizer, path: Target) -> None:
    """Write a normalizer to a file that is there whole or not at all; see `Normalizer.save`."""
    content = normalizer_to_bytes(normalizer)
    with replacing(f"{type(normalizer).__name__}.save", path, _KIND) as stream:
        stream.write(content)


def load_normalizer(who: str, path: Source, wanted: Any) -> Any:
    """Return the normalizer of a file; see `Normalizer.load` and `MultiNormalizer.load`."""
    with opening(who, path) as stream:
        content = read_at_most(stream, _MOST + 1)
    if len(content) > _MOST:
        raise FormatError(f"'{name_of(path)}': a normalizer must have at most {_MOST:,} bytes, got more. {CORRUPT}")
    try:
        normalizer = normalizer_from_bytes(content)
    except (ConfigurationError, FormatError) as error:
        raise type(error)(f"'{name_of(path)}': {error}") from error
    if not isinstance(normalizer, wanted):
        other = (
            "for several inputs. MultiNormalizer" if normalizer.kind.startswith(_MULTI) else "for DataSets. Normalizer"
        )
        raise ConfigurationError(
            f"{who}: '{name_of(path)}': expected a {wanted.__name__}, got a {normalizer.kind} normalizer, which is "
            f"{other}.load reads it."
        )
    return normalizer


def _read(stream: BinaryIO) -> AnyNormalizer:
    kind = _read_kind(stream)
    try:
        normalizer = _classes()[kind].read_body(stream)
    except ConfigurationError as error:
        raise FormatError(f"{error} {CORRUPT}") from error
    if stream.read(1):
        raise FormatError(f"expected the end behind the {kind} normalizer, got more bytes. {CORRUPT}")
    return normalizer


def _read_kind(stream: BinaryIO) -> str:
    header = read_utf(stream, "the header")
    if header != _HEADER:
        raise FormatError(f"the header must be {_HEADER!r}, got {header[:32]!r}. {CORRUPT}")
    version = read_number(stream, ">i", "the version")
    if version != _VERSION:
        raise FormatError(f"the version must be {_VERSION}, got {version}. It is of a later ND4J, or corrupt.")
    kind = read_utf(stream, "the type")
    known = _classes()
    if kind == _CUSTOM:
        owner = read_utf(stream, "the class that reads it")
        raise ConfigurationError(
            f"normalizer_from_bytes: expected one of {', '.join(known)}, got a {kind} normalizer that {owner} reads. "
            "Make one of the known ones of its statistics."
        )
    if kind not in known:
        raise FormatError(f"the type must be one of {', '.join(known)}, got {kind[:32]!r}. {CORRUPT}")
    return kind


def _classes() -> Mapping[str, type[AnyNormalizer]]:
    from nd.dataset.normalizers import MULTI_NORMALIZERS, NORMALIZERS

    classes: list[type[AnyNormalizer]] = [*NORMALIZERS.values(), *MULTI_NORMALIZERS.values()]
    return {each.kind: each for each in reversed(classes)}  # that of DataSets where two have a kind
