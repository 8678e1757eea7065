"""What type checkers read of nn.dl4j: its classes are the library's, with the names that the table gives them.

At run time ``nn.dl4j.DenseLayer`` is ``nn.DenseLayer``. To a type checker it is a class below that, which has Java's
names of its methods, so that they are known where nn.dl4j is imported, and only there.
"""

from __future__ import annotations

import inspect
from typing import Any

import nn.dl4j
from nn.conf.graph_builder import GraphSettings
from nn.conf.list_builder import ListSettings
from tests.source_files import ROOT

from .builders import builder_stub, built_by, has_builder
from .classes import ClassStub, is_listed

PATH = ROOT / "nn" / "dl4j" / "__init__.pyi"
HEAD = '''"""Types of nn.dl4j. `python -m tests.dl4j_stubs` writes them, and so does `make format`."""
# mypy: disable-error-code="assignment, metaclass, misc, override, type-arg"
# A Builder is a class here, of which the library has a function; classes that are abstract or generic there are so too.

'''
BUILDERS = {GraphSettings: "_BuilderOfGraph", ListSettings: "_BuilderOfList"}
"""Settings that a Builder goes on with -> its name in the stub."""


class Stub:
    """Collects the stubs of classes, those that are asked for on the way too."""

    def __init__(self) -> None:
        self.names: dict[type, str] = {}
        self.aliases: dict[str, str] = {}
        self.others: dict[str, Any] = {}
        for name in nn.dl4j.__all__:
            value = getattr(nn.dl4j, name)
            if not is_listed(value):
                self.others[name] = value
            elif value in self.names:
                self.aliases[name] = self.names[value]
            else:
                self.names[value] = name
        self.waiting = [*self.names]
        self.modules = {"typing"}

    def stub_name(self, kind: Any) -> str | None:
        """Return the name of a class that has Java's names; one that nn.dl4j does not have gets an underscore."""
        if not is_listed(kind):
            return None
        if kind not in self.names:
            self.names[kind] = f"_{kind.__qualname__.replace('.', '_')}"
            self.waiting.append(kind)
        return self.names[kind]

    def builder_name(self, kind: type) -> str:
        """Return the name of the Builder of a class."""
        return f"_BuilderOf{self.stub_name(kind)}"

    def classes(self) -> list[str]:
        """Return the lines of all classes and their Builders."""
        lines: list[str] = []
        while self.waiting:
            kind = self.waiting.pop(0)
            name = self.names[kind]
            one = ClassStub(kind, name, self.stub_name)
            if has_builder(kind):
                one.builder = self.builder_name(kind)
                base = next((base for base in kind.__mro__[1:] if is_listed(base) and has_builder(base)), None)
                base_name = self.builder_name(base) if base else ""
                lines += ["", *builder_stub(one.builder, kind, built_by(kind, self.stub_name), base, base_name)]
            lines += ["", *one.write()]
            self.modules |= one.modules
        for settings, name in BUILDERS.items():
            lines += ["", *builder_stub(name, settings, built_by(settings, self.stub_name), None, "")]
        return lines


def other(name: str, value: Any) -> str:
    """Return the line of what has no names in the table."""
    module = getattr(value, "__module__", None)
    found = inspect.getattr_static(__import__(module, fromlist=["*"]), name, None) if module else None
    if found is value and module != "nn.dl4j":
        return f"from {module} import {name} as {name}"
    if isinstance(value, type) and module == "nn.dl4j":
        fields = {field: one for field, one in vars(value).items() if field[0] != "_"}
        return "\n".join([f"class {name}:", *(f"    {field}: typing.Any" for field in fields)])
    if isinstance(value, type):
        return f"from {module} import {value.__name__} as {name}"
    if inspect.isfunction(value):
        return f"def {name}(*arguments: typing.Any, **named: typing.Any) -> typing.Any: ..."
    return f"{name}: typing.Any"


def stub() -> str:
    """Return the text of the stub."""
    made = Stub()
    classes = made.classes()
    lines = [f"import {module}" for module in sorted(made.modules)]
    lines += ["", *(other(name, value) for name, value in sorted(made.others.items())), *classes, ""]
    lines += [f"{name} = {known}" for name, known in sorted(made.aliases.items())]
    lines += ["", "__all__ = [", *(f'    "{name}",' for name in nn.dl4j.__all__), "]"]
    return HEAD + "\n".join(lines) + "\n"


def write() -> None:
    """Write the stub into its file."""
    PATH.write_text(stub(), encoding="utf-8")
