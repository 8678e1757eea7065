"""Annotations of the library's functions, as a stub elsewhere can say them."""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
import importlib.util
import pathlib
import typing
from collections.abc import Callable
from typing import Any

from tests.source_files import ROOT, parse


class Origin:
    """Where a name is defined: its module, its name there, and the value of a class."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name

    @property
    def value(self) -> Any:
        """What the name stands for, None where only type checkers know it."""
        return getattr(importlib.import_module(self.module), self.name, None)


@functools.cache
def bindings(module: str) -> dict[str, ast.stmt]:
    """Return name -> the statement at the top of a module, or below ``if TYPE_CHECKING``, that binds it."""
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    tree = parse(pathlib.Path(spec.origin).read_text(encoding="utf-8"))
    found: dict[str, ast.stmt] = {}
    for statement in [*tree.body, *(one for each in tree.body if isinstance(each, ast.If) for one in each.body)]:
        if isinstance(statement, (ast.ClassDef, ast.FunctionDef)):
            found[statement.name] = statement
        elif isinstance(statement, (ast.Import, ast.ImportFrom)):
            found |= {alias.asname or alias.name: statement for alias in statement.names}
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            found |= {ast.unparse(target): statement for target in targets}
    return found


def origin(module: str, name: str) -> Origin | None:
    """Return where a name of a module is defined; None where a star import, say, hides it."""
    statement = bindings(module).get(name)
    if not isinstance(statement, ast.ImportFrom):
        return None if statement is None else Origin(module, name)
    source = statement.module or ""
    if statement.level:
        package = module if _is_package(module) else module.rpartition(".")[0]
        for _ in range(statement.level - 1):
            package = package.rpartition(".")[0]
        source = f"{package}.{source}".rstrip(".")
    original = next(alias.name for alias in statement.names if (alias.asname or alias.name) == name)
    if source.partition(".")[0] in {"backends", "nd", "nn", "optimize"} and original in bindings(source):
        return origin(source, original)
    return Origin(source, original)


def _is_package(module: str) -> bool:
    return (ROOT / module.replace(".", "/") / "__init__.py").is_file()


class Translation(ast.NodeTransformer):
    """Rewrites an annotation of one module for the stub.

    Parameters
    ----------
    module : str
        Whose annotation it is.
    stub_name : callable
        Returns the stub's name of a class, None where the stub has none of its own.

    Attributes
    ----------
    modules : set of str
        That the stub has to import.
    named : set of str
        Names of the stub's own classes that stand in it.
    """

    def __init__(self, module: str, stub_name: Callable[[Any], str | None]) -> None:
        self.module, self.stub_name = module, stub_name
        self.modules: set[str] = set()
        self.named: set[str] = set()

    def text(self, annotation: Any) -> str:
        """Return an annotation for the stub."""
        written = annotation if isinstance(annotation, str) else _text(annotation)
        if written.startswith("*"):  # of several arguments, whose types a TypeVarTuple has
            return "typing.Any"
        return ast.unparse(self.visit(ast.parse(written, mode="eval").body))

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        """A text in an annotation is an annotation."""
        if isinstance(node.value, str):
            return self.visit(ast.parse(node.value, mode="eval").body)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """What stands in Literal stays; the metadata of Annotated goes."""
        root = ast.unparse(node.value)
        if root.endswith("Literal"):
            return ast.Subscript(self.visit(node.value), node.slice, node.ctx)
        value = self.visit(node.value)
        if any(isinstance(part, ast.Starred) for part in ast.walk(node.slice)):
            return _expression(f"{ast.unparse(value)}[typing.Any, ...]")
        if ast.unparse(value) in ("typing.Any", *self.named):  # the stub's classes are not generic
            return value
        return ast.Subscript(value, self.visit(node.slice), node.ctx)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """A path that begins with a module: ``np.ndarray``, ``nd.typing.Array``."""
        return _expression("typing.Any") if ast.unparse(node).split(".")[0] not in ("np", "nd") else self._path(node)

    def _path(self, node: ast.Attribute) -> ast.expr:
        path = ast.unparse(node)
        if path.startswith("np."):
            self.modules.add("numpy")
            return _expression(f"numpy.{path.removeprefix('np.')}")
        module, _, name = path.rpartition(".")
        found = origin(module, name)
        return self._of(found) if found else _expression("typing.Any")

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """A name of the module's."""
        name = node.id
        if name in ("Self", "Any"):
            return _expression(f"typing.{name}")
        found = origin(self.module, name)
        if found is None:
            return node if hasattr(builtins, name) else _expression("typing.Any")
        return self._of(found)

    def _of(self, found: Origin) -> ast.expr:
        value = found.value
        own = self.stub_name(value) if isinstance(value, type) else None
        if own is not None:
            self.named.add(own)
            return _expression(own)
        if type(value).__name__ in ("TypeVar", "ParamSpec"):
            return _expression("typing.Any")
        self.modules.add(found.module)
        return _expression(f"{found.module}.{found.name}")


def _text(annotation: Any) -> str:
    if annotation is None or annotation is type(None):
        return "None"
    if isinstance(annotation, typing.ForwardRef):  # in a named tuple
        return annotation.__forward_arg__
    return annotation.__qualname__ if isinstance(annotation, type) else str(annotation)


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body
