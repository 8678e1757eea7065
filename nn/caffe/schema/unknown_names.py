"""Fields in texts that a message does not have: where they stand, and the text without them.

The protobuf library can leave such fields out, but does not say which; this pass reads names and brackets, no values.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

_TOKEN = re.compile(
    r"""(?P<blank>\s+|\#[^\n]*)|(?P<name>[A-Za-z_]\w*)|(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')"""
    r"""|(?P<number>[\d.][\w.+-]*)|(?P<open>[{<])|(?P<close>[}>])|(?P<mark>.)"""
)


class UnknownName(NamedTuple):
    """A field that its message does not have."""

    name: str
    message: str
    """``"LayerParameter"``."""
    allowed: list[str]
    """The fields that it has."""
    line: int
    column: int
    """Both begin with 1."""
    start: int
    end: int
    """Where in the text the field begins, and where what follows it does."""


class _Frame(NamedTuple):
    """An open bracket: the message that it is of, if that is known, and the unknown field whose value it is."""

    descriptor: Any
    unknown: re.Match[str] | None
    is_list: bool


def unknown_names(text: str, descriptor: Any) -> list[UnknownName]:
    """Return the fields of a text that messages do not have, in order; those inside of such a field are not told.

    Parameters
    ----------
    text : str
        Read as far as its brackets make sense: what is wrong besides, the protobuf library says.
    descriptor : Descriptor
        Of the message that the text is.
    """
    return _Pass(text, descriptor).names


def without(text: str, names: list[UnknownName]) -> str:
    """Return a text with blanks in the place of fields, so that everything else keeps its line and column."""
    pieces, done = [], 0
    for name in names:
        pieces += [text[done : name.start], re.sub(r"[^\n]", " ", text[name.start : name.end])]
        done = name.end
    return "".join([*pieces, text[done:]])


class _Pass:
    """One pass over a text."""

    def __init__(self, text: str, descriptor: Any) -> None:
        self.text = text
        self.names: list[UnknownName] = []
        self.tokens = [token for token in _TOKEN.finditer(text) if token.lastgroup != "blank"]
        self.at = 0
        self.frames = [_Frame(descriptor, None, False)]
        while self.at < len(self.tokens) and self._step():
            pass

    def _step(self) -> bool:
        """Read a field, an item or a bracket; return False where the text makes no sense."""
        token, frame = self.tokens[self.at], self.frames[-1]
        self.at += 1
        if token.group() in (",", ";"):
            return True
        if token["close"] or token.group() == "]":
            return self._close(token)
        if token["open"]:  # an item of a list
            self.frames.append(_Frame(frame.descriptor, None, False))
            return frame.is_list
        if frame.is_list:  # a number or a text in it
            return True
        return bool(token["name"]) and self._field(token, frame)

    def _close(self, token: re.Match[str]) -> bool:
        frame = self.frames.pop()
        if frame.unknown is not None:
            self._note(frame.unknown, self.frames[-1].descriptor, token.end())
        return bool(self.frames)

    def _field(self, name: re.Match[str], frame: _Frame) -> bool:
        fields = {} if frame.descriptor is None else frame.descriptor.fields_by_name
        field = fields.get(name.group()) if fields else None
        unknown = name if frame.descriptor is not None and field is None else None
        if self._looking_at(":"):
            self.at += 1
        if self.at == len(self.tokens):
            return False
        value = self.tokens[self.at]
        if value["open"] or value.group() == "[":
            self.at += 1
            self.frames.append(_Frame(field.message_type if field else None, unknown, value.group() == "["))
            return True
        end = self._skip_scalar()
        if unknown is not None:
            self._note(unknown, frame.descriptor, end)
        return True

    def _skip_scalar(self) -> int:
        """Skip a number, a name, or texts beside one another; return where it ends."""
        if self._looking_at("-"):
            self.at += 1
        is_text = self.at < len(self.tokens) and self.tokens[self.at]["text"] is not None
        self.at += 1
        while is_text and self.at < len(self.tokens) and self.tokens[self.at]["text"] is not None:
            self.at += 1
        return self.tokens[min(self.at, len(self.tokens)) - 1].end()

    def _looking_at(self, mark: str) -> bool:
        return self.at < len(self.tokens) and self.tokens[self.at].group() == mark

    def _note(self, name: re.Match[str], descriptor: Any, end: int) -> None:
        if self._looking_at(",") or self._looking_at(";"):  # it belongs to the field, and may not stand alone
            end = self.tokens[self.at].end()
            self.at += 1
        line = self.text.count("\n", 0, name.start()) + 1
        column = name.start() - (self.text.rfind("\n", 0, name.start()) + 1) + 1
        allowed = sorted(field.name for field in descriptor.fields)
        self.names.append(UnknownName(name.group(), descriptor.name, allowed, line, column, name.start(), end))
