"""Nets, solvers and other messages in files, as texts or as bytes."""

from __future__ import annotations

from typing import Literal

from nd import FormatError
from nd.arguments import checked
from nd.files.reading import Source, ending_of, name_of, opening, read_at_most
from nd.files.writing import FileKind, Target, replacing

from .binary import parse_binary, to_bytes
from .schema import Message, check_message, kind_of
from .text import decoded, parse_text, print_text
from .upgrade import upgrade_net_in_place, upgrade_solver

HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"
MOST_BYTES, MOST_CHARACTERS = 2**31 - 1, 1 << 28
"""Of a binary file, which is the limit of the format; of a text, which is a thousand times the longest known one."""
TEXT_ENDINGS = (".prototxt", ".pbtxt", ".txt")
BINARY_ENDINGS = {"NetParameter": ".caffemodel", "SolverState": ".solverstate"}
"""Message -> the ending of its binary files; that of others is .binaryproto, which is allowed for these too."""
_TEXT = FileKind("a message of Caffe as text", TEXT_ENDINGS)
_BINARY = ".binaryproto"
_SNIFFED = 4096  # bytes


@checked
def read_net(source: Source, unknown: Literal["refuse", "drop"] = "refuse") -> Message:
    """Read a net, ``lenet.prototxt`` or ``lenet.caffemodel``, and upgrade it to the newest schema.

    Parameters
    ----------
    source : path or binary file object
        A text or a binary file: its content tells.
    unknown : {"refuse", "drop"}
        What to do with fields of a text that Caffe does not have, as forks of it do: refuse the text, or read the rest
        and warn. In binary files such fields are kept, and a warning names them by number.

    Returns
    -------
    NetParameter
        A message of the protobuf library; its layers are in the field `layer`, whatever the file's schema is.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    FormatError
        It is damaged, or another kind of file; for a text with line and column.
    ConfigurationError
        The net cannot be upgraded (see `upgrade_net`), or the package protobuf is not installed.
    """
    return upgrade_net_in_place(message_in("read_net", source, "NetParameter", unknown), name_of(source))


@checked
def read_solver(source: Source, unknown: Literal["refuse", "drop"] = "refuse") -> Message:
    """Read a solver, ``lenet_solver.prototxt``, and upgrade it to the newest schema.

    Arguments and errors as `read_net`. A solver that does not say where its snapshots go puts them beside its file,
    under the file's name.

    Returns
    -------
    SolverParameter
    """
    solver = message_in("read_solver", source, "SolverParameter", unknown)
    name = name_of(source)
    return upgrade_solver(solver, None if name.startswith("<") else name, name)


@checked
def read_message(source: Source, kind: str, unknown: Literal["refuse", "drop"] = "refuse") -> Message:
    """Read a message of any kind (``"SolverState"``, ``"BlobProto"``, ...) as it is in the file, nothing upgraded.

    Parameters
    ----------
    source : path or binary file object
        A text or a binary file: its content tells.
    kind : str
        Name of the message.
    unknown : {"refuse", "drop"}
        As for `read_net`.

    Raises
    ------
    FileNotFoundError, FormatError
        As for `read_net`.
    ChoiceError
        Caffe has no such message.
    """
    return message_in("read_message", source, kind, unknown)


def message_in(who: str, source: Source, kind: str, unknown: Literal["refuse", "drop"] = "refuse") -> Message:
    """Return what `read_message` does; errors about the source name the function that was called."""
    name = name_of(source)
    with opening(who, source) as file:
        content = read_at_most(file, MOST_BYTES + 1)
    if content.startswith(HDF5_SIGNATURE):
        raise FormatError(f"{name}: expected a {kind}, got a file of HDF5. Read it with read_weights or read_state.")
    if not is_text(content):
        _check_length(name, "a binary file", len(content), MOST_BYTES)
        return parse_binary(content, kind, name)
    _check_length(name, "a text", len(content), MOST_CHARACTERS)
    return parse_text(decoded(content, name), kind, unknown, name)


@checked
def write_message(message: Message, target: Target, as_text: bool | None = None) -> None:
    """Write a message, as text or as bytes.

    Parameters
    ----------
    message : NetParameter, SolverParameter or another message
    target : path or binary file object
        Its ending tells what is written: ``.prototxt`` (and ``.pbtxt``, ``.txt``) a text, another one bytes. A file
        that was there is replaced when the new one is complete.
    as_text : bool, optional
        Decides instead of the ending.

    Raises
    ------
    ConfigurationError
        The message lacks a field that it must have, is longer than 2 GiB, or the ending is another kind's.
    OSError
        The file cannot be written.
    """
    check_message("write_message", message)
    is_for_text = ending_of(target) in TEXT_ENDINGS if as_text is None else as_text
    content = print_text(message).encode() if is_for_text else to_bytes(message, "write_message")
    kind = kind_of(message)
    binary = FileKind(f"a {kind} of Caffe as bytes", (BINARY_ENDINGS.get(kind, _BINARY), _BINARY))
    with replacing("write_message", target, _TEXT if is_for_text else binary) as file:
        file.write(content)


def is_text(content: bytes) -> bool:
    """Tell a text from a binary message: the beginning of the latter always has control characters, the former none."""
    return not any(byte < 9 or 13 < byte < 32 for byte in content[:_SNIFFED])


def _check_length(name: str, what: str, length: int, most: int) -> None:
    if length > most:
        raise FormatError(f"{name}: {what} must have at most {most:,} bytes, got more.")
