"""Schedules that Java cannot read: taken out of its JSON, and put back into it."""

from __future__ import annotations

from typing import Any

from nd import FormatError
from optimize.schedules import SCHEDULES

Json = dict[str, Any]

NOT_IN_JAVA = {schedule.__name__ for schedule in SCHEDULES.values() if not schedule.in_java}
_FIXED = "org.nd4j.linalg.schedule.FixedSchedule"
_PLAIN = {"learningRateSchedule": "learningRate", "momentumISchedule": "momentum"}


def take_own(document: Any, path: str = "") -> Json:
    """Put what Java can read in the place of every schedule that it cannot; return path -> schedule.

    That is what a ramp leads to, and the initial value of what Java does not have: a plain number for the rate of an
    updater, else a FixedSchedule.
    """
    found: Json = {}
    if not isinstance(document, (dict, list)):
        return found
    key: Any
    for key, value in list(document.items() if isinstance(document, dict) else enumerate(document)):
        here = f"{path}/{key}"
        if not _not_in_java(value):
            found |= take_own(value, here)
            continue
        found[here], document[key] = value, _for_java(value)
        if isinstance(document, dict) and key in _PLAIN and document[key]["@class"] == _FIXED:
            document[_PLAIN[key]] = document.pop(key)["value"]
    return found


def _for_java(schedule: Json) -> Json:
    while "baseSchedule" in schedule:
        schedule = schedule["baseSchedule"]
    return {"@class": _FIXED, "value": schedule["initialValue"]} if _not_in_java(schedule) else schedule


def _not_in_java(value: Any) -> bool:
    return isinstance(value, dict) and str(value.get("@class", "")).rpartition(".")[2] in NOT_IN_JAVA


def put_own(document: Any, taken: Any) -> None:
    """Put back what `take_own` returned; raise FormatError where a path leads nowhere."""
    if not isinstance(taken, dict):
        raise FormatError(f"configuration: expected path -> schedule, got {str(taken)[:100]}.")
    for path, value in taken.items():
        *steps, last = path.split("/")[1:] or [""]
        parent = document
        for step in steps:
            inside = dict(enumerate(parent)) if isinstance(parent, list) else parent
            key: Any = int(step) if isinstance(parent, list) and step.isdigit() else step
            parent = inside.get(key) if isinstance(inside, dict) else None
        if not isinstance(parent, dict) or not (last in parent or _PLAIN.get(last) in parent):
            raise FormatError(f"configuration: expected a place for a schedule at {path!r}, got none.")
        parent[last] = value
