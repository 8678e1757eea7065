"""Which names of a class are Java's, given by nn.dl4j if a test has imported that; and which fields it has."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from typing import Any


def is_javas(kind: type, name: str) -> bool:
    """Tell whether a class has a name from nn.dl4j."""
    value = inspect.getattr_static(kind, name)
    return "nn.dl4j.naming" in (getattr(value, "__module__", ""), type(value).__module__)


def own_names(kind: Any) -> list[str]:
    """Return the names that a class has without nn.dl4j, sorted."""
    return [name for name in dir(kind) if not is_javas(kind, name)]


def fields_of(kind: type) -> set[str]:
    """Return the fields that a class and its bases declare, or assign to self."""
    ours = [base for base in kind.__mro__ if base.__module__.partition(".")[0] in ("nd", "nn", "optimize")]
    return set().union(*map(_fields_of_its_own, ours))


@functools.cache
def _fields_of_its_own(kind: type) -> set[str]:
    body = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    assert isinstance(body, ast.ClassDef)
    return {ast.unparse(one.target) for one in body.body if isinstance(one, ast.AnnAssign)} | {
        node.attr for node in ast.walk(body)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name) and node.value.id == "self"
    }  # fmt: skip
