"""What computes what: conditions in order, signatures that stand once, tables whose rows are all there, tiers."""

import ast
import importlib
import inspect
from typing import NamedTuple

import numpy as np
import pytest

from backends.base import Backend
from backends.cpu.numpy_backend import NumpyBackend
from backends.cpu.table import TABLE as ON_NUMPY
from backends.cuda.table import TABLE as ON_CUPY
from backends.dispatch import Choice, always, dispatching, primitive
from backends.generic.window import Window
from backends.needed import Needed
from backends.powers import Powers
from backends.reporting import REPORTED
from tests.cells import every_row
from tests.source_files import FUNCTIONS, files, nodes

PRIMITIVES = {name: getattr(Backend, name) for name in dir(Backend) if hasattr(getattr(Backend, name), "choices")}
"""Of a tuple of arguments; the other methods are ordinary."""
CHOICES = (Choice(always, id),)
TABLES = {"cupy": ON_CUPY, "numpy": ON_NUMPY}
FIRST = {"backend", "self"}


class Numbers(NamedTuple):
    """Arguments of the primitive that these tests make."""

    x: int
    y: int = 5


def total(backend, given):
    """Add."""
    return "generic", given.x + given.y


def example():
    """Return a class whose primitive has two choices, and the list of the conditions that were asked."""
    asked = []

    def above(limit):
        return lambda backend, given: asked.append(limit) or given.x > limit

    choices = (
        Choice(above(10), lambda backend, given: ("first", given.x)),
        Choice(above(1), lambda backend, given: ("second", given.y)),
    )

    class Plain:
        total = primitive(Numbers, total)

    @dispatching({"total": choices})
    class Choosing(Plain):
        pass

    return Choosing, asked


@every_row(
    ("x", "result", "asked"),
    [(11, ("first", 11), [10]), (2, ("second", 5), [10, 1]), (0, ("generic", 5), [10, 1])],
)
def test_the_first_choice_that_holds_computes_else_the_generic_one(x, result, asked):
    kind, seen = example()
    assert kind().total(x) == result
    assert seen == asked


def test_what_a_primitive_has_inherited_stays_as_it_was():
    kind, asked = example()
    assert kind.__base__().total(11, y=2) == ("generic", 13)
    assert asked == []


def test_choices_of_a_class_come_before_those_of_the_class_it_derives_from():
    kind, asked = example()

    @dispatching({"total": (Choice(lambda backend, given: given.y == 0, lambda backend, given: "third"),)})
    class Further(kind):
        pass

    assert [Further().total(11, 0), Further().total(11, 1)] == ["third", ("first", 11)]
    assert asked == [10]


def test_arguments_by_name_and_what_is_no_argument():
    kind, _ = example()
    assert kind().total(y=7, x=2) == ("second", 7)
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        kind().total(1, z=3)


def test_an_ordinary_method_comes_before_the_table_and_reaches_it_by_super():
    kind, _ = example()

    class Own(kind):
        def total(self, x, y=0):
            return "own", *super().total(x, y)

    assert Own().total(11) == ("own", "first", 11)


def test_choices_of_an_ordinary_method_take_its_arguments():
    class Plain:
        def total(self, x, y=5):
            """Add."""
            return "generic", x + y

    @dispatching({"total": (Choice(lambda backend, x, y=5: y > x, lambda backend, x, y=5: ("chosen", x, y)),)})
    class Choosing(Plain):
        pass

    assert Choosing().total(1) == ("chosen", 1, 5)
    assert Choosing().total(1, y=2) == ("chosen", 1, 2)
    assert Choosing().total(3, 2) == Plain().total(3, 2) == ("generic", 5)
    assert (Choosing.total.__doc__, list(inspect.signature(Choosing.total).parameters)) == ("Add.", ["self", "x", "y"])


def test_an_implementation_is_given_the_backend():
    class Plain:
        itself = primitive(Numbers, lambda backend, given: backend)

    backend = Plain()
    assert backend.itself(1) is backend


# ---- the primitives of Backend


@every_row("name", sorted(PRIMITIVES))
def test_every_primitive_has_the_signature_of_its_arguments_and_a_docstring(name):
    for method in (PRIMITIVES[name], primitive(PRIMITIVES[name].arguments, PRIMITIVES[name].generic, *CHOICES)):
        parameters = inspect.signature(method).parameters
        arguments = inspect.signature(method.arguments).parameters
        assert list(parameters) == ["self", *arguments]
        assert [each.default for each in parameters.values()][1:] == [each.default for each in arguments.values()]
        assert method.__doc__
        assert method.__doc__ == method.generic.__doc__
        assert method.__name__ == name
    assert PRIMITIVES[name].choices == ()
    assert method.choices == CHOICES


@every_row("backend", list(TABLES))
def test_a_table_ends_where_a_choice_always_holds(backend):
    for name, choices in TABLES[backend].items():
        assert hasattr(Backend, name)
        assert choices
        assert always not in [choice.holds for choice in choices[:-1]]


@every_row("backend", list(TABLES))
def test_conditions_and_implementations_take_what_the_method_takes(backend):
    for name, choices in TABLES[backend].items():
        taken = {"given"} if name in PRIMITIVES else {*inspect.signature(getattr(Backend, name)).parameters} - FIRST
        for function in (part for choice in choices for part in choice if part is not always):
            parameters = parameters_of(function)
            named = {each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD} - FIRST
            takes_any = any(each.kind is each.VAR_POSITIONAL for each in parameters)
            assert named == taken or (takes_any and named < taken), function.__name__


def parameters_of(function):
    """Return the parameters of a function in a table; what is oneDNN's is there by its name, and takes no backend."""
    if function.__name__.startswith("onednn."):
        _, module, name = function.__name__.split(".")
        function = getattr(importlib.import_module(f"backends.onednn.{module}"), name)
    return inspect.signature(function).parameters.values()


def test_numpy_has_the_choices_of_its_table():
    chosen = {name: getattr(getattr(NumpyBackend, name), "choices", ()) for name in dir(NumpyBackend)}
    assert {name: choices for name, choices in chosen.items() if choices} == ON_NUMPY


def test_a_condition_of_the_table_decides(monkeypatch):
    """Of float64 NumPy convolves by rows where they are long, else by columns."""
    backend, chosen = NumpyBackend(threads=1), []
    choices = [Choice(holds, lambda *both, run=run: chosen.append(run.__name__)) for holds, run in ON_NUMPY["conv2d"]]
    monkeypatch.setattr(NumpyBackend, "conv2d", primitive(Backend.conv2d.arguments, Backend.conv2d.generic, *choices))
    for n, kernel, stride in ((64, (3, 3), 1), (1, (3, 3), 1), (64, (3, 3), 2), (1, (1, 1), 1)):
        window = Window((8, 8), kernel, (stride, stride))
        backend.conv2d(np.zeros((n, 2, 8, 8)), np.zeros((3, 2, *kernel)), None, window, None)
    assert chosen == ["by_rows", "by_columns", "by_columns", "pointwise"]


# ---- tiers


def of_its_own(kind):
    return {name for name in vars(kind) if not name.startswith("_")}


def test_a_tier_is_the_class_that_has_a_name_first():
    needed, powers, operators = map(of_its_own, (Needed, Powers, Backend))
    assert not needed & powers
    assert not (needed | powers) & operators
    methods = {name for name in needed if callable(getattr(Needed, name))}
    assert methods == {
        "asarray", "describe", "dtype", "from_host", "is_array", "may_share_memory", "memory_size",
        "random_raw", "synchronize", "to_host",
    }  # fmt: skip


def test_an_operator_has_a_body_and_a_power_may_lack():
    """The one generic implementation that raises is a way back that nobody comes from."""
    backend = Backend(np)
    assert (backend.recorder(), backend.lstm(*[None] * 6), backend.lrn(*[None] * 6)) == (None,) * 3
    with pytest.raises(NotImplementedError, match=r"^$"):
        backend.lrn_back(None, None, None)


# ---- no relays

RELAYS = {
    "backends/cuda/recorder.py: _Recorder.dropout_factors": "only the captured runs of a graph draw from the device",
    "backends/cuda/recorder.py: _Recorder.random_uniform": "only the captured runs of a graph draw from the device",
}
"""Methods that ask something and else leave the call to super(), and why that is no condition of a table."""
CONDITIONS = (ast.BoolOp, ast.If, ast.IfExp, ast.Match)


def relays(path, text):
    """Yield the methods of a file that have a condition and call the same primitive of super()."""
    for kind in (node for node in nodes(text) if isinstance(node, ast.ClassDef)):
        methods = (member for member in kind.body if isinstance(member, FUNCTIONS))
        for method in (method for method in methods if method.name in {*PRIMITIVES, *REPORTED}):
            relay = f"super().{method.name}("
            if relay in ast.unparse(method) and any(isinstance(node, CONDITIONS) for node in ast.walk(method)):
                yield f"{path}: {kind.name}.{method.name}"


def test_nothing_is_relayed_under_a_condition():
    sources = [each for each in files("backends") if each[0].startswith(("backends/cpu/", "backends/cuda/"))]
    assert len(sources) > 30
    assert {found for path, text in sources for found in relays(path, text)} == set(RELAYS)


def test_a_relay_is_found():
    text = "class A(B):\n def conv2d(self, x):\n  if x: return super().conv2d(x)\n def other(self): super().other()"
    assert list(relays("a.py", text)) == ["a.py: A.conv2d"]
