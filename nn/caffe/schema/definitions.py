"""Reading the .proto files of this folder, as a description that the protobuf library takes.

What protoc would write is not needed: these files are simple, with one definition in a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib import resources
from typing import Any

from nd import FormatError
from nd.extras import optional

OF_CAFFE = ("base", "data_layers", "element_layers", "layers", "old", "net")
"""BVLC's schema, in the order in which its files build on one another."""
FILES = (*OF_CAFFE, "forks")
"""All of them: what forks of Caffe add comes last."""
_FIELD = re.compile(
    r"(?P<label>optional|required|repeated) (?P<type>[\w.]+) (?P<name>\w+) = (?P<number>\d+)"
    r"(?: \[(?:default = (?P<default>[^\]]+)|packed = true)\])?;"
)
_VALUE = re.compile(r"(?P<name>\w+) = (?P<number>\d+);")
_BLOCK = re.compile(r"(?P<kind>message|enum) (?P<name>\w+) {")
_MORE = re.compile(r"extend (?P<name>\w+) {")
"""More fields of a message that is there: ordinary ones here, by whose names texts and programs know them."""
_HEADER = re.compile(r'syntax = "proto2";|package \w+;|import "\w+\.proto";')


def file_descriptor(package: str, files: Sequence[str] = FILES) -> Any:
    """Return files of this folder as one FileDescriptorProto of the protobuf library."""
    library = optional("nn.caffe", "google.protobuf.descriptor_pb2", "protobuf", "caffe")
    description = library.FileDescriptorProto(name="nn/caffe/schema.proto", package=package, syntax="proto2")
    for name in files:
        text = resources.files(__package__).joinpath(f"{name}.proto").read_text(encoding="utf-8")
        add_definitions(description, text, f"{name}.proto")
    _resolve(description)
    return description


def add_definitions(description: Any, text: str, who: str) -> None:
    """Add what the text of a .proto file defines to a FileDescriptorProto; types keep the names of the text.

    Raises
    ------
    FormatError
        A line has another form than those that the files of this folder use.
    """
    blocks = [description]
    for number, line in _lines(text):
        block = _BLOCK.fullmatch(line)
        if block is not None:
            blocks.append(_nested(blocks[-1], block["kind"], block["name"]))
        elif (extended := _extended(description, line)) is not None:
            blocks.append(extended)
        elif line == "}" and len(blocks) > 1:
            blocks.pop()
        elif not (_HEADER.fullmatch(line) or _added(blocks[-1], line)):
            raise FormatError(f"{who}:{number}: expected a definition, got {line!r}.")


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.partition("//")[0].strip()
        if bare:
            yield number, bare


def _extended(description: Any, line: str) -> Any:
    """Return the message that a line adds fields to, None for another line, or where it is not there."""
    more = _MORE.fullmatch(line)
    named = (message for message in description.message_type if more is not None and message.name == more["name"])
    return next(named, None)


def _nested(outer: Any, kind: str, name: str) -> Any:
    if kind == "enum":
        return outer.enum_type.add(name=name)
    return (outer.nested_type if hasattr(outer, "nested_type") else outer.message_type).add(name=name)


def _added(block: Any, line: str) -> bool:
    """Add the field of a message, or the value of an enumeration; False where the line is neither."""
    if hasattr(block, "field"):
        field = _FIELD.fullmatch(line)
        return field is not None and _added_field(block.field.add(), field)
    value = _VALUE.fullmatch(line) if hasattr(block, "value") else None
    if value is not None:
        block.value.add(name=value["name"], number=int(value["number"]))
    return value is not None


def _added_field(description: Any, field: re.Match[str]) -> bool:
    description.name, description.number = field["name"], int(field["number"])
    description.label = description.Label.Value(f"LABEL_{field['label'].upper()}")
    scalar = f"TYPE_{field['type'].upper()}"
    if scalar in description.Type.keys():  # noqa: SIM118  an enumeration of protobuf, which is no mapping
        description.type = description.Type.Value(scalar)
    else:
        description.type_name = field["type"]
    if field["default"] is not None:
        description.default_value = field["default"].strip('"')
    if "packed = true" in field.group():
        description.options.packed = True
    return True


def _resolve(description: Any) -> None:
    """Say of every field that is no scalar whether it holds a message or an enumeration, with the full name."""
    package = f".{description.package}"
    outer = {enum.name: f"{package}.{enum.name}" for enum in description.enum_type}
    for message in description.message_type:
        outer |= {f"{message.name}.{enum.name}": f"{package}.{message.name}.{enum.name}" for enum in message.enum_type}
    for message in description.message_type:
        inner = {enum.name: f"{package}.{message.name}.{enum.name}" for enum in message.enum_type}
        for field in (one for one in message.field if one.type_name):
            enum = inner.get(field.type_name) or outer.get(field.type_name)
            field.type = field.Type.Value("TYPE_ENUM" if enum else "TYPE_MESSAGE")
            field.type_name = enum or f"{package}.{field.type_name}"
