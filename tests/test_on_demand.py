"""Packages whose names are imported when they are asked for: complete, and as if everything were imported at once."""

import ast
import copy
import importlib
import pathlib
import pickle
import subprocess
import sys

import pytest

import nn
from nd.activations import ACTIVATIONS, Softmax
from nd.on_demand import ClassTable, names_on_demand
from nn.layers import LAYERS, DenseLayer
from tests import type_imports
from tests.cells import every_row
from tests.sweeps import rows_of

ROOT = pathlib.Path(__file__).parent.parent
FLOORS = ("nd", "nn", "optimize")
PACKAGES = sorted(
    ".".join(path.relative_to(ROOT).parts[:-1])
    for floor in FLOORS
    for path in (ROOT / floor).rglob("__init__.py")
    if "names_on_demand(" in path.read_text()
)
CLASSES = {  # table -> package
    "ACTIVATIONS": "nd.activations",
    "LAYERS": "nn.layers",
    "LOSSES": "nd.losses",
    "NORMALIZERS": "nd.dataset.normalizers",
    "OPS": "nd.ops",
    "OPTIMIZERS": "optimize.solvers",
    "UPDATERS": "optimize.updaters",
    "VERTICES": "nn.vertices",
}


def in_a_process(code):
    """Run a program with its own modules, and return what it prints."""
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT).stdout


# ---- the three lists of names


def lists(package):
    """Return what type checkers import, what is imported on demand (module -> names), and `__all__`."""
    tree = ast.parse(type_imports.path_of(package).read_text())
    imported = {}
    for node in next(node for node in tree.body if isinstance(node, ast.If)).body:
        assert all(alias.asname in (None, alias.name) for alias in node.names)
        names = [alias.name for alias in node.names]
        names = importlib.import_module(f"{package}.{node.module}").__all__ if names == ["*"] else names
        imported.setdefault(node.module, set()).update(names)
    names, modules = type_imports.names_on_demand_of(package)
    table = {module: of_module.split() for module, of_module in names.items()}
    if modules:
        table[None] = modules.split()
    return imported, table, importlib.import_module(package).__all__


def test_the_packages_are_there():
    assert {"nd", "nd.dataset", "nd.evaluation", "nn", "nn.layers", "optimize", "optimize.listeners"} <= set(PACKAGES)


@every_row("package", PACKAGES)
def test_type_checkers_see_what_there_is(package):
    imported, table, public = lists(package)
    modules = set(table.pop(None, [])) | imported.pop(None, set())
    assert {module: sorted(names) for module, names in imported.items()} == table  # sorted, too
    assert list(table) == sorted(table)
    assert {name for names in table.values() for name in names} <= set(public)
    assert [name for name in public if not hasattr(importlib.import_module(package), name)] == []
    assert all(importlib.import_module(f"{package}.{name}") for name in modules)


@pytest.mark.parametrize("package", type_imports.PACKAGES)
def test_the_imports_are_those_of_the_table(package):
    written = type_imports.BLOCK.search(type_imports.path_of(package).read_text())[0]
    assert written == type_imports.imports_of(package), "`make format`, or `python -m tests.type_imports`, writes them"


@every_row("package", PACKAGES)
def test_star_and_dir_give_all_names(package):
    names = {}
    exec(f"from {package} import *", names)
    module = importlib.import_module(package)
    assert set(module.__all__) <= set(names) & set(dir(module))
    assert [name for name in module.__all__ if getattr(module, name) is not names[name]] == []


@every_row("package", PACKAGES)
def test_dir_gives_what_a_program_imports_alone(package):
    module = importlib.import_module(package)
    modules = lists(package)[1].get(None, [])
    assert {name for name in dir(module) if name[:2] != "__"} == {*module.__all__, *modules}


def test_dir_gives_the_names_before_they_are_imported():
    code = "import nn, sys; print('Dense' in dir(nn), 'DenseLayer' in dir(nn), 'nn.layers.core.dense' in sys.modules)"
    assert in_a_process(code) == "False True False\n"


def test_nothing_is_imported_before():
    packages = (
        "nd.activations", "nd.dataset", "nd.evaluation", "nd.losses", "nd.ops", "nn", "nn.layers", "nn.vertices",
        "optimize", "optimize.listeners", "optimize.updaters",
    )  # fmt: skip
    loaded = set(in_a_process(f"import sys, {', '.join(packages)}; print(*sys.modules)").split())
    for package in packages:
        _, table, _ = lists(package)
        waiting = {f"{package}.{module}" for module in table if module is not None}
        assert loaded & waiting <= set(packages)


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="module 'nn' has no attribute 'DenseLayr'"):
        _ = nn.DenseLayr
    with pytest.raises(ImportError, match="cannot import name 'DenseLayr' from 'nn'"):
        from nn import DenseLayr  # noqa: F401
    assert not hasattr(nn, "__wrapped__")


def test_a_submodule_that_nobody_imported():
    code = "import nd; print(nd.evaluation.Evaluation.__module__, nd.serde.__name__, nd.exec(nd.ops.Sum(nd.ones(2))))"
    assert in_a_process(code) == "nd.evaluation.classification nd.serde 2.0\n"


def test_an_error_inside_of_a_module_stays_what_it_is(monkeypatch):
    get, _ = names_on_demand("nd", {"no_such_module": "name"})
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'nd\.no_such_module'"):
        get("name")


def test_objects_are_pickled_by_where_their_class_is_defined():
    layer = nn.DenseLayer(n_in=2, n_out=3)
    for made in (pickle.loads(pickle.dumps(layer)), copy.deepcopy(layer)):
        assert made == layer
        assert type(made) is DenseLayer
    code = f"import pickle; print(pickle.loads({pickle.dumps(layer)!r}).n_out)"
    assert in_a_process(code) == "3\n"


# ---- tables


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_tables_are_mappings_of_classes(name):
    table = getattr(importlib.import_module(CLASSES[name]), name)
    assert isinstance(table, ClassTable)
    assert len(table) == len(list(table)) == len(dict(table)) == len(list(table.values()))
    assert all(isinstance(value, type) for value in table.values())
    assert all(table[key] is value and key in table for key, value in table.items())
    assert all(value in table.values() for value in dict(table).values())


def test_a_table_knows_its_own_by_identity():
    class Softmax2(Softmax):
        pass

    Softmax2.__name__ = "Softmax"
    assert Softmax in ACTIVATIONS.values()
    assert [other in ACTIVATIONS.values() for other in (Softmax2, "Softmax", None, int)] == [False] * 4
    assert "relu" in ACTIVATIONS
    assert 1 not in ACTIVATIONS
    with pytest.raises(KeyError, match="softmx"):
        _ = ACTIVATIONS["softmx"]
    assert LAYERS.get("dense") is DenseLayer
    assert LAYERS.get("dens") is None
    assert repr(ClassTable("nd", {"a": "A"})) == "ClassTable('nd', {'a': 'A'})"


def test_a_table_of_places_says_what_modules_define():
    table = ClassTable("nd", {"a": "z:A", "b": "y:B", "c": "z:C"})
    assert list(table.class_names) == ["A", "B", "C"]
    assert table.modules({"x": "D", "z": "Z B"}) == {"x": "D", "y": "B", "z": "A B C Z"}


def test_asking_a_table_imports_nothing_else():
    code = (
        "import sys, nn\nfrom nn.layers import LAYERS\n"
        "print(len(LAYERS) > 40, 'none' in LAYERS, nn.DenseLayer in LAYERS.values(), LAYERS['dense'].__name__)\n"
        "print([name for name in sys.modules if name in ('nn.layers.capsules.capsules', 'nn.layers.losses.ocnn')])"
    )
    assert in_a_process(code) == "True False True DenseLayer\n[]\n"


def test_what_a_network_is_made_of_is_all_that_is_imported():
    """Recording and splitting ask whether layers are the library's own."""
    code = (
        "import sys, nd, nn\nfrom optimize import Sgd\n"
        "conf = nn.NeuralNetConfiguration(seed=1, updater=Sgd(0.1)).list(\n"
        "    nn.DenseLayer(n_in=2, n_out=2), nn.OutputLayer(n_in=2, n_out=2, activation='softmax'))\n"
        "net = nn.MultiLayerNetwork(conf).init()\n"
        "x = nd.zeros(4, 2)\n"
        "for step in range(4): net.fit(x, nd.eye(4)[:, :2])\n"
        "print('nn.layers.capsules.capsules' in sys.modules, 'optimize.listeners.tensorboard' in sys.modules)"
    )
    assert in_a_process(code) == "False False\n"


@pytest.mark.slow
def test_every_module_can_be_the_first():
    """Nothing depends on the order of imports, which is the user's now."""
    names = sorted(
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for floor in ("backends", *FLOORS)
        for path in (ROOT / floor).rglob("*.py")
        if path.stem not in ("__init__", "__main__")
    )
    code = (
        "import importlib, os, sys, numpy\n"
        "for name in sys.stdin.read().split():\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        importlib.import_module(name)\n"
        "        os._exit(0)\n"
        "    if os.waitpid(child, 0)[1]: print(name)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input="\n".join(rows_of(names)), capture_output=True, text=True, cwd=ROOT
    )
    assert (done.stdout, done.stderr) == ("", "")
