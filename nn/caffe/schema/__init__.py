"""Caffe's messages as classes of the protobuf library, made of the .proto files of this folder when first needed."""

from __future__ import annotations

import reprlib
import threading
from collections.abc import Iterator
from typing import Any, TypeAlias

from nd import ArgumentError, DTypeError
from nd.checks import check_choice
from nd.extras import optional

Message: TypeAlias = Any
"""An instance of one of these classes: what a message has are its fields, which no type checker knows."""

PACKAGE = "caffe"
_LOCK = threading.Lock()  # two threads would make two sets of classes, which do not mix
_MADE: dict[str, Any] = {}  # "messages" and "enums" -> name -> class


def message_class(name: str) -> Any:
    """Return the class of a message, ``message_class("NetParameter")``.

    Raises
    ------
    ChoiceError
        Caffe has no message of that name.
    ConfigurationError
        The package protobuf is not installed.
    """
    classes = _all()["messages"]
    return classes[check_choice("nn.caffe", "message", name, classes)]


def new(kind: str, /, **fields: object) -> Message:
    """Return a message with some of its fields set, ``new("NetState", level=1)``.

    Raises
    ------
    ArgumentError
        A value is of another type than its field, or out of its range.
    """
    try:
        return message_class(kind)(**fields)
    except (TypeError, ValueError) as error:
        got = ", ".join(f"{name}={reprlib.repr(value)}" for name, value in fields.items())
        raise ArgumentError(f"{kind}: every value must be one of its field, got {error} of {got}.") from error


def check_kind(who: str, message: object, kind: str) -> None:
    """Raise DTypeError unless an object is a message of that name."""
    if isinstance(message, message_class(kind)):
        return
    is_foreign = getattr(getattr(message, "DESCRIPTOR", None), "full_name", "") == f"{PACKAGE}.{kind}"
    remedy = f"Give proto.{kind}.FromString(message.SerializeToString())." if is_foreign else "Make one, or read it."
    got = "one of another library" if is_foreign else reprlib.repr(message) or f"an empty {kind_of(message)}"
    raise DTypeError(f"{who}: expected a message nn.caffe.proto.{kind}, got {got}. {remedy}")


def check_message(who: str, message: object) -> None:
    """Raise DTypeError unless an object is a message of the protobuf library."""
    if not hasattr(type(message), "ListFields"):
        raise DTypeError(f"{who}: expected a message, nn.caffe.proto.NetParameter say, got {reprlib.repr(message)}.")


def kind_of(message: Message) -> str:
    """Return the name of a message's class, ``"NetParameter"``; that of another object's class as it is."""
    return type(message).__name__


def fields_of(message: Message) -> Iterator[tuple[str, Message | list[Message]]]:
    """Yield the name and the value of every field of a message that is set and holds messages."""
    for field, value in message.ListFields():
        if field.message_type is not None:
            yield field.name, value


def submessages(message: Message, path: str = "") -> Iterator[tuple[str, Message]]:
    """Yield a message and all within, each with its path, ``layer[2] 'conv1'.blobs[0]``; the root's is empty."""
    yield path, message
    for name, value in fields_of(message):
        inner = f"{path}.{name}" if path else name
        if hasattr(value, "ListFields"):
            yield from submessages(value, inner)
            continue
        for position, item in enumerate(value):
            yield from submessages(item, f"{inner}[{position}]{_called(item)}")


def public_names() -> dict[str, Any]:
    """Return name -> class of every message, and name -> number of the phases."""
    return {**_all()["messages"], **_all()["values"]}


def _called(message: Message) -> str:
    """Return the name that a layer has, with a space before it."""
    has_name = any(field.name == "name" for field, _ in message.ListFields())
    return f" {message.name!r}" if has_name else ""


def _all() -> dict[str, Any]:
    with _LOCK:
        if not _MADE:
            _MADE.update(_make())
    return _MADE


def _make() -> dict[str, Any]:
    pools = optional("nn.caffe", "google.protobuf.descriptor_pool", "protobuf", "caffe")
    factory = optional("nn.caffe", "google.protobuf.message_factory", "protobuf", "caffe")
    from .definitions import file_descriptor

    description = file_descriptor(PACKAGE)
    pool = pools.DescriptorPool()  # of our own: a program may have Caffe's own caffe_pb2 in the common one
    pool.AddSerializedFile(description.SerializeToString())
    messages = {
        message.name: factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.{message.name}"))
        for message in description.message_type
    }
    values = {value.name: value.number for enum in description.enum_type for value in enum.value}
    return {"messages": messages, "values": values}
