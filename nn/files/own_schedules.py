"""Schedules that Java cannot read: taken out of its JSON, and put back into it."""

from __future__ import annotations

from typing import Any

from nd import FormatError
from optimize.schedules import SCHEDULES

Json = dict[str, Any]

NOT_IN_JAVA = {schedule.__name__ for schedule in SCHEDULES.values() if not schedule.in_java}
_FIXED = "org.nd4j.linalg.schedule.FixedSchedule"
_PLAIN = {"learningRateSchedule": "learningRate", "momentumISchedule": "momentum"}


def take_own(document: object, path: str = "") -> Json:
    """Replace every schedule that Java cannot read by one that it can; return path -> schedule.

    For a ramp that is the schedule it leads to, else the initial value: a plain number for the rate of an
    updater, otherwise a FixedSchedule.
    """
    schedules: Json = {}
    if not isinstance(document, (dict, list)):
        return schedules
    key: Any
    for key, value in list(document.items() if isinstance(document, dict) else enumerate(document)):
        path_to_value = f"{path}/{_escaped(str(key))}"
        if not _not_in_java(value):
            schedules |= take_own(value, path_to_value)
            continue
        for_java = value
        while "baseSchedule" in for_java:
            for_java = for_java["baseSchedule"]
        if _not_in_java(for_java):
            for_java = {"@class": _FIXED, "value": for_java["initialValue"]}
        schedules[path_to_value], document[key] = value, for_java
        if isinstance(document, dict) and key in _PLAIN and document[key]["@class"] == _FIXED:
            document[_PLAIN[key]] = document.pop(key)["value"]
    return schedules


def _not_in_java(value: object) -> bool:
    return isinstance(value, dict) and str(value.get("@class", "")).rpartition(".")[2] in NOT_IN_JAVA


def _escaped(key: str) -> str:
    """Return a key as a step of a path, as in a JSON pointer: names of vertices may have slashes."""
    return key.replace("~", "~0").replace("/", "~1")


def _unescaped(step: str) -> str:
    return step.replace("~1", "/").replace("~0", "~")


def put_own(document: object, taken: object) -> None:
    """Put back the schedules that `take_own` returned; raise FormatError where a path leads nowhere."""
    if not isinstance(taken, dict):
        raise FormatError(f"configuration: expected path -> schedule, got {str(taken)[:100]}.")
    for path, value in taken.items():
        *steps, last = path.split("/")[1:] or [""]
        last = _unescaped(last)
        parent = document
        for step in steps:
            inside = dict(enumerate(parent)) if isinstance(parent, list) else parent
            key = int(step) if isinstance(parent, list) and step.isdigit() else _unescaped(step)
            parent = inside.get(key) if isinstance(inside, dict) else None
        if not isinstance(parent, dict) or not (last in parent or _PLAIN.get(last) in parent):
            raise FormatError(f"configuration: expected a place for a schedule at {path!r}, got none.")
        parent[last] = value
