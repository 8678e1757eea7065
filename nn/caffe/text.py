"""Messages as texts: prototxt."""

from __future__ import annotations

import codecs
import re
import warnings
from typing import Any, Literal

from nd import FormatError
from nd.arguments import checked
from nd.checks import suggestion
from nd.extras import optional

from ..files.findings import ModelFileWarning
from .schema import Message, check_message, message_class
from .schema.counting import check_brackets
from .schema.unknown_names import UnknownName, unknown_names, without

MOST_LISTED = 10
"""Of what a message lists of one kind."""
_PLACE = re.compile(r"\d+:\d+ : ")
_COMMENT = re.compile(r"""(?:[^#"']|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')*#""")
"""Matches a line in which a comment begins: what is between quotes begins none."""


@checked
def parse_text(text: str, kind: str, unknown: Literal["refuse", "drop"] = "refuse", who: str = "text") -> Message:
    """Return the message that a text is, nothing upgraded.

    Parameters
    ----------
    text : str
    kind : str
        ``"NetParameter"``, ``"SolverParameter"``, or another message of Caffe's.
    unknown : {"refuse", "drop"}
        What to do with fields that Caffe does not have, as forks of it do: refuse the text, or read the rest and warn.
    who : str
        For messages: the name of the file.

    Raises
    ------
    FormatError
        The text is none of such a message; with line and column, which begin with 1.
    """
    message, library = message_class(kind)(), _library()
    text = text.removeprefix("\ufeff")  # the mark of the encoding, which open() leaves in
    check_brackets(text, who)
    if unknown == "drop":
        dropped = unknown_names(text, message.DESCRIPTOR)
        text = without(text, dropped)
        _warn_of(dropped, who)
    try:
        library.Parse(text, message)
    except library.ParseError as error:
        raise _refused(text, message, error, who) from error
    except (OverflowError, RecursionError, UnicodeError, ValueError) as error:
        raise FormatError(f"{who}: expected the text of a {kind}, got {error}.") from error
    check_complete(message, who)
    return message


def print_text(message: Message) -> str:
    """Return a message as a text, one field a line; a single-precision number has as many digits as it needs."""
    check_message("print_text", message)
    return _library().MessageToString(message, as_utf8=True)


def decoded(content: bytes, who: str) -> str:
    """Return the characters of a text; comments may be in whatever encoding their author had.

    Raises
    ------
    FormatError
        Something else than a comment is no UTF-8; with line and column.
    """
    content = content.removeprefix(codecs.BOM_UTF8)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        lines = content.decode("utf-8", "surrogateescape").split("\n")
    for number, line in enumerate(lines, 1):
        strange = re.search("[\udc80-\udcff]", line)
        if strange is not None and _COMMENT.match(line[: strange.start()]) is None:
            raise FormatError(
                f"{who}:{number}:{strange.start() + 1}: expected UTF-8, got the byte "
                f"0x{ord(strange.group()) - 0xDC00:02x}. Save the file as UTF-8; comments may have any encoding."
            )
    return "\n".join(lines).encode("utf-8", "replace").decode("utf-8")


def check_complete(message: Message, who: str) -> None:
    """Raise FormatError where a field is not there that its message must have (min and max of a clip_param)."""
    if not message.IsInitialized():
        missing = ", ".join(message.FindInitializationErrors()[:MOST_LISTED])
        raise FormatError(f"{who}: expected every field that must be there, got none of {missing}. Add it.")


def _library() -> Any:
    return optional("nn.caffe", "google.protobuf.text_format", "protobuf", "caffe")


def _refused(text: str, message: Message, error: Any, who: str) -> FormatError:
    """Return the error for a text; if the reason are names that Caffe has not, it names all of them."""
    line, column = error.GetLine(), error.GetColumn()
    names = unknown_names(text, message.DESCRIPTOR)
    if any((name.line, name.column) == (line, column) for name in names):
        return _names_refused(names, who)
    return FormatError(
        f"{who}:{line or 1}:{column or 1}: expected the text of a {message.DESCRIPTOR.name}, got this error there: "
        f"{_PLACE.sub('', str(error), count=1).replace('caffe.', '')}"
    )


def _names_refused(names: list[UnknownName], who: str) -> FormatError:
    first = names[0]
    more = f" and {_listed(names[1:])}" if names[1:] else ""
    hint = suggestion("field", first.name, first.allowed)
    return FormatError(
        f"{who}:{first.line}:{first.column}: expected a field of {first.message}, got {first.name!r}, which Caffe does "
        f"not have{more}.{hint} Where a fork of Caffe has the field, unknown='drop' reads the rest."
    )


def _warn_of(dropped: list[UnknownName], who: str) -> None:
    if dropped:
        warnings.warn(
            f"{who}: fields that Caffe does not have are left out: {_listed(dropped)}.", ModelFileWarning, stacklevel=4
        )


def _listed(names: list[UnknownName]) -> str:
    listed = [f"{name.name!r} of {name.message} at {name.line}:{name.column}" for name in names[:MOST_LISTED]]
    more = len(names) - len(listed)
    return ", ".join([*listed, *([f"and {more} more"] if more else [])])
