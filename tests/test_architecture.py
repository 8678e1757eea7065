"""The rules of the code, by reading the source: who imports whom, sizes, docstrings, what is private.

A rule is a function of a file's path and text that yields what is wrong. `BAD` shows every rule a file that breaks it.
"""

import ast
import functools
import gc
import importlib
import pathlib
import re

import pytest

from nn.terms import CALLED_LATE
from tests import copied_functions, private_names
from tests import source_files as source
from tests.cases.architecture import NUMPY_IN_ND
from tests.cells import every_row
from tests.copied_functions import copies_no_function
from tests.private_names import reads_no_private_attribute
from tests.rooms import HEIGHT, refused_arrows
from tests.source_files import FLOORS, FUNCTIONS, ROOT, class_table, classes, files, last_name, library, of_kind, parse

LAST_LINES, LAST_FUNCTION_LINES, LAST_NESTING = 400, 50, 3
NUMERIC_LIBRARIES = {"array_api_compat", "array_api_strict", "torch", "cupy", "cupyx", "cupy_backends"}
DRAWERS = {"data2", "helper", "helpers", "tmp", "util", "utils"}
OF_THE_DISTRIBUTION = ("ndwright.__version__", "ndwright.origins.")
"""What every floor may ask: it imports nothing, and says whose the floors below are when they are not ours."""
CUDA_WORDS = ("__" + "global__", "__" + "device__", "block" + "Idx", "thread" + "Idx")


# ---- imports


@functools.cache
def imports(path, text):
    """Return line and absolute dotted name of everything that a file imports, in functions too."""
    package, found = path.removesuffix(".py").split("/")[:-1], []
    for node in of_kind(text, ast.Import, ast.ImportFrom, ast.Call):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*start, *([node.module] if node.module else [])])
            found += [(node.lineno, f"{base}.{alias.name}") for alias in node.names]
        elif isinstance(node, ast.Call) and last_name(node.func) in ("__import__", "import_module"):
            found += [(node.lineno, named.value) for named in node.args[:1] if isinstance(named, ast.Constant)]
    return found


def imports_only_what_is_below(path, text):
    floor = path.split("/")[0]
    above = set(FLOORS[FLOORS.index(floor) + 1 :])
    for line, name in imports(path, text):
        if name.split(".")[0] in above and not name.startswith(OF_THE_DISTRIBUTION):
            yield f"{path}:{line}: {floor} imports {name}"


def imports_only_lower_rooms(path, text):
    """Inside nn; what methods call in upper rooms is listed in nn/terms/__init__.py."""
    for line, name in refused_arrows(path, text, imports) if path.startswith("nn/") else ():
        yield f"{path}:{line}: imports {name}"


def checks_by_names_that_are_there(path, text):
    """What is imported for type checkers alone is nothing that `nd.arguments.checked` could check by."""
    blocks = filter(_for_type_checkers, of_kind(text, ast.If))
    late = {alias.asname or alias.name for block in blocks for alias in _aliases(block)}
    for function in of_kind(text, *FUNCTIONS):
        if "checked" in map(last_name, function.decorator_list):
            for argument in (node for node in source.walk(function.args) if getattr(node, "annotation", None)):
                if late & {node.id for node in source.walk(argument.annotation) if isinstance(node, ast.Name)}:
                    yield f"{path}:{argument.lineno}: {function.name} cannot check {argument.arg}"


def _for_type_checkers(node):
    return last_name(node.test) == "TYPE_CHECKING"


def _aliases(node):
    return [alias for inner in source.walk(node) if isinstance(inner, ast.ImportFrom) for alias in inner.names]


def names_no_array_library(path, text):
    floor = path.split("/")[0]
    refused = set(NUMERIC_LIBRARIES) if floor != "backends" else set()
    refused |= {"numpy", "backends"} if floor in ("nn", "optimize") else set()
    refused |= {"numpy"} if floor == "nd" and path not in NUMPY_IN_ND else set()
    for line, name in imports(path, text):
        if name.split(".")[0] in refused:
            yield f"{path}:{line}: imports {name}"


def names_no_backend(path, text):
    """Above backends/, no concrete backend, and cupy not even as a string."""
    if path.startswith("backends/"):
        return
    for line, name in imports(path, text):
        if name.startswith(("backends.cuda", "backends.cpu")):
            yield f"{path}:{line}: imports {name}"
    texts = set(_docstrings(source.nodes(text)))
    for node in of_kind(text, ast.Constant, ast.Attribute, ast.Name, ast.Subscript):
        word = node.value if isinstance(node, ast.Constant) and node not in texts else last_name(node)
        if isinstance(word, str) and ("cupy" in word.lower() or word == "NumpyBackend"):
            yield f"{path}:{node.lineno}: names {word!r}"


def has_no_cuda_text(path, text):
    for number, line in enumerate(text.splitlines(), 1):
        if not path.startswith("backends/") and any(word in line for word in CUDA_WORDS):
            yield f"{path}:{number}: CUDA text"


# ---- docstrings


def _docstrings(inside):
    """Yield the docstring nodes among the nodes of a file, those of attributes included."""
    for node in inside:
        for statement in getattr(node, "body", []) if not isinstance(node, (ast.Lambda, ast.IfExp)) else []:
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                yield statement.value


def _documents(definition, method, table):
    """Tell whether a class or one of its bases documents a method, or makes it of a function, which has a docstring."""
    for member in definition.body:
        if isinstance(member, FUNCTIONS) and member.name == method and ast.get_docstring(member):
            return True
        if isinstance(member, ast.Assign) and method in map(last_name, member.targets):
            return True
    bases = [other for base in definition.bases for _, _, other in table.get(last_name(base), [])]
    return any(_documents(base, method, table) for base in bases if base is not definition)


def is_documented(path, text):
    """The module, its public classes and functions, and their public methods that override no documented one."""
    tree = parse(text)
    if not ast.get_docstring(tree):
        yield f"{path}:1: the module has no docstring"
    public = [n for n in tree.body if isinstance(n, (*FUNCTIONS, ast.ClassDef)) and not n.name.startswith("_")]
    for node in public:
        if not ast.get_docstring(node):
            yield f"{path}:{node.lineno}: {node.name} has no docstring"
        for member in node.body if isinstance(node, ast.ClassDef) else []:
            if not isinstance(member, FUNCTIONS) or member.name.startswith("_"):
                continue
            if not _documents(node, member.name, class_table()):
                yield f"{path}:{member.lineno}: {node.name}.{member.name} has no docstring"


# ---- sizes and habits


def is_no_long_file(path, text):
    lines = len(text.splitlines())
    if lines > LAST_LINES:
        yield f"{path}: {lines} lines, at most {LAST_LINES}"


def has_no_long_function(path, text):
    for node in of_kind(text, *FUNCTIONS):
        body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
        lines = node.end_lineno - body[0].lineno
        if lines > LAST_FUNCTION_LINES:
            yield f"{path}:{node.lineno}: {node.name} has {lines} lines, at most {LAST_FUNCTION_LINES}"


LEVELS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Match)


def _depth(node):
    """Levels of if, for, while, with, try and match below a node; elif is none, an inner function has its own."""
    deepest = 0
    for child in source.children(node):
        if isinstance(child, (*FUNCTIONS, ast.ClassDef, ast.expr)):  # there are no levels in expressions
            continue
        is_elif = isinstance(node, ast.If) and [child] == node.orelse and child.col_offset == node.col_offset
        deepest = max(deepest, _depth(child) + (isinstance(child, LEVELS) and not is_elif))
    return deepest


def has_no_deep_nesting(path, text):
    for node in of_kind(text, *FUNCTIONS):
        if _depth(node) > LAST_NESTING:
            yield f"{path}:{node.lineno}: {node.name} nests {_depth(node)} levels, at most {LAST_NESTING}"


def is_no_drawer(path, text):
    if pathlib.PurePath(path).stem in DRAWERS:
        yield f"{path}: a name that does not say what is inside"


def asserts_nothing(path, text):
    yield from (f"{path}:{n.lineno}: assert" for n in of_kind(text, ast.Assert))


def says_what_an_array_is(path, text):
    """There is one type of arrays, in backends/typing.py; an alias of Any says nothing."""
    for node in of_kind(text, ast.Assign, ast.AnnAssign):
        targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
        is_any = last_name(node.value) == "Any"
        if is_any and any("Array" in (last_name(target) or "") for target in targets):
            yield f"{path}:{node.lineno}: an array that is Any"


def has_no_bare_except(path, text):
    bare = (node for node in of_kind(text, ast.ExceptHandler) if node.type is None)
    yield from (f"{path}:{node.lineno}: bare except" for node in bare)


def matches_what_it_expects_to_be_raised(path, text):
    for node in of_kind(text, ast.Call):
        is_raises = last_name(node.func) == "raises"
        if is_raises and "match" not in [keyword.arg for keyword in node.keywords]:
            yield f"{path}:{node.lineno}: pytest.raises without match"


def imports_no_private_name(path, text):
    """Tests ask for what is public, or reach through their subject's own module."""
    for line, name in imports(path, text):
        *packages, last = name.split(".")
        if packages and packages[0] in FLOORS and last.startswith("_") and not last.startswith("__"):
            yield f"{path}:{line}: imports {name}"


def says_why_it_patches_a_private_name(path, text):
    """A comment in the line or above it, or the test's docstring."""
    lines = text.splitlines()
    for function in (node for node in of_kind(text, *FUNCTIONS) if not ast.get_docstring(node)):
        for call in (node for node in source.walk(function) if isinstance(node, ast.Call) and _patches_private(node)):
            if "#" not in lines[call.lineno - 1] and not lines[call.lineno - 2].strip().startswith("#"):
                yield f"{path}:{call.lineno}: {function.name} patches a private name, and does not say why"


def _patches_private(call):
    names = [argument.value for argument in call.args if isinstance(argument, ast.Constant)]
    private = any(isinstance(name, str) and re.fullmatch(r"(.*\.)?_(?!_)\w+", name) for name in names)
    return (
        private and last_name(call.func) == "setattr" and last_name(getattr(call.func, "value", call)) == "monkeypatch"
    )


LIBRARY_RULES = [
    asserts_nothing, checks_by_names_that_are_there, copies_no_function, has_no_bare_except, has_no_cuda_text,
    has_no_deep_nesting, has_no_long_function, imports_only_lower_rooms, imports_only_what_is_below, is_documented,
    is_no_drawer, is_no_long_file, names_no_array_library, names_no_backend, reads_no_private_attribute,
    says_what_an_array_is,
]  # fmt: skip
TEST_RULES = [
    imports_no_private_name, is_no_drawer, is_no_long_file, matches_what_it_expects_to_be_raised,
    says_why_it_patches_a_private_name,
]  # fmt: skip
SCRIPT_RULES = [has_no_bare_except, has_no_cuda_text, has_no_deep_nesting, has_no_long_function, is_no_long_file]

BAD = {  # rule -> files that break it, each once
    asserts_nothing: [("nd/x.py", "def f():\n    assert True")],
    checks_by_names_that_are_there: [
        ("nn/x.py", "if TYPE_CHECKING:\n    from a import B\n@checked\ndef f(self, b: B | None): ..."),
    ],
    copies_no_function: copied_functions.REFUSED,
    has_no_bare_except: [("nn/x.py", "try:\n    pass\nexcept:\n    pass")],
    has_no_cuda_text: [("optimize/x.py", f"KERNEL = 'extern {CUDA_WORDS[0]} void k()'")],
    has_no_deep_nesting: [
        ("nd/x.py", "def f():\n for a in b:\n  if a:\n   with a:\n    while a:\n     pass"),
        ("nd/x.py", "def f():\n try:\n  pass\n except E:\n  if a:\n   pass\n  else:\n   for a in b:\n    if a: pass"),
    ],
    has_no_long_function: [("nd/x.py", 'def f():\n    """Do."""\n' + "    a = 1\n" * (LAST_FUNCTION_LINES + 2))],
    imports_no_private_name: [
        ("tests/x.py", "from nd.arrays.creation import _made"),
        ("tests/x.py", "def test_it():\n    import nn.layers._inner"),
    ],
    imports_only_lower_rooms: [
        ("nn/layers/x.py", "def f():\n    from ..files import json"),
        ("nn/conf/x.py", "if TYPE_CHECKING:\n    from ..networks.core import NetworkCore"),
        ("nn/terms/x.py", "import nn"),
        ("nn/cli/x.py", "from ..pictures.svg import draw"),
    ],
    imports_only_what_is_below: [
        ("backends/x.py", "import nd"),
        ("nd/dataset/x.py", "def f():\n    from nn.layers import base"),
        ("optimize/updaters/x.py", "import nn.conf as c"),
        ("nd/x.py", "import importlib\nimportlib.import_module('optimize')"),
        ("nn/x.py", "import ndwright"),
    ],
    is_documented: [
        ("nd/x.py", "x = 1"),
        ("nd/x.py", '"""M."""\ndef f():\n    pass'),
        ("nd/x.py", '"""M."""\nclass A:\n  """A."""\n  def f(self):\n    pass\n  def _g(self):\n    pass'),
    ],
    is_no_drawer: [("nd/utils.py", ""), ("tests/helpers.py", "")],
    is_no_long_file: [("nd/x.py", "\n" * (LAST_LINES + 1))],
    matches_what_it_expects_to_be_raised: [("tests/x.py", "with pytest.raises(ValueError):\n    f()")],
    names_no_array_library: [
        ("nn/x.py", "def f():\n    import numpy as np"),
        ("optimize/solvers/x.py", "from backends.errors import ShapeError"),
        ("nd/create.py", "from numpy import zeros"),
        ("nd/serde.py", "import cupy"),
        ("nn/x.py", "import array_api_compat.numpy"),
    ],
    reads_no_private_attribute: private_names.REFUSED,
    says_why_it_patches_a_private_name: [
        ("tests/x.py", "def test_it(monkeypatch):\n    monkeypatch.setattr(nd, '_made', 1)"),
        ("tests/x.py", "def test_it(monkeypatch):\n    monkeypatch.setattr('nd.arrays._made', 1)"),
    ],
    says_what_an_array_is: [
        ("nd/x.py", "Array = Any"),
        ("backends/x.py", "import typing as t\nNumpyArray: t.TypeAlias = t.Any"),
    ],
    names_no_backend: [
        ("nd/x.py", "from backends.cuda.cupy_backend import Kernels"),
        ("nd/x.py", "fast = name == 'cupy'"),
        ("nn/x.py", "isinstance(a, backends.NumpyBackend)"),
    ],
}
GOOD = '''"""M."""
import nd
class A:
    """A."""
    def f(self):
        """Do it with cupy."""
        for a in b:
            if a: pass
            elif b:
                with a: pass
class B(A):
    def f(self): pass
'''


def calls_of(function, text):
    return [node for node in of_kind(text, ast.Call) if last_name(node.func) == function]


def broken(rule, sources):
    return [fault for path, text in sources for fault in rule(path, text)]


RULES = [(FLOORS, LIBRARY_RULES), (("tests",), TEST_RULES), (("examples", "benchmarks"), SCRIPT_RULES)]


@pytest.mark.parametrize(("folders", "rules"), RULES, ids=[where[-1] for where, _ in RULES])
def test_the_code_keeps_the_rules(folders, rules):
    gc.collect()
    gc.disable()  # millions of nodes, all of which stay
    try:
        faults = {rule.__name__: broken(rule, files(*folders)) for rule in rules}
    finally:
        gc.freeze()  # nor are they looked at whenever a later test collects
        gc.enable()
    assert {name: found for name, found in faults.items() if found} == {}


@every_row(
    ("rule", "bad"), [pytest.param(rule, bad, id=rule.__name__) for rule, all_bad in BAD.items() for bad in all_bad]
)
def test_every_rule_can_be_broken(rule, bad):
    assert len(broken(rule, [bad])) == 1


def test_every_rule_lets_good_code_pass():
    assert set(BAD) == {*LIBRARY_RULES, *TEST_RULES, *SCRIPT_RULES}
    assert [fault for rule in BAD if rule is not is_documented for fault in rule("nn/good.py", GOOD)] == []
    table = {name: [("nn/good.py", GOOD, definition)] for name, definition in classes(GOOD).items()}
    assert all(_documents(definition, "f", table) for definition in classes(GOOD).values())


def test_a_copy_of_another_files_function_is_refused():
    long = copied_functions.says_much
    path, text = next(
        (path, text) for path, text in library() if any(long(f) for f, _ in copied_functions.bodies(text))
    )
    assert broken(copies_no_function, [("nn/copy.py", text)])
    assert not broken(copies_no_function, [(path, text)])


def test_a_class_reads_its_own_private_attributes():
    assert not broken(reads_no_private_attribute, [("nn/good.py", private_names.ALLOWED)])


def test_the_rooms_of_nn_are_those_of_the_rule():
    rooms = {path.split("/")[1] for path, _ in files("nn") if path.count("/") > 1}
    assert sorted(HEIGHT) == sorted(rooms)


def test_what_is_called_late_is_there_and_called():
    assert list(CALLED_LATE) == sorted(CALLED_LATE)
    assert all(hasattr(importlib.import_module(module), name) for name, module in CALLED_LATE.items())
    called = [call.args[0].value for _, text in files("nn") for call in calls_of("late", text)]
    assert sorted(called) == sorted(CALLED_LATE)  # each by one method


def test_cuda_text_lies_in_backends():
    assert [f for f in (*FLOORS, "examples", "benchmarks") if list((ROOT / f).rglob("*.cu"))] == ["backends"]


def test_the_list_of_host_modules_is_not_stale():
    importers = [path for path, text in files("nd") for _, name in imports(path, text) if name.startswith("numpy")]
    assert set(importers) == NUMPY_IN_ND
