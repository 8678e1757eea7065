"""Python swallows what is raised within a finaliser or a weak reference's callback: the library has none in Python."""

import ast
import pathlib
import subprocess
import sys

import nd

ROOT = pathlib.Path(nd.__file__).parents[1]
PACKAGES = ("backends", "nd", "optimize", "nn")
SUSPECTS = {
    "CFUNCTYPE", "PYFUNCTYPE", "PyDLL", "TemporaryDirectory", "WeakKeyDictionary", "WeakMethod", "WeakSet",
    "WeakValueDictionary", "__del__", "finalize", "proxy", "atexit", "register_at_fork", "unraisablehook",
}  # fmt: skip
"""Names of what runs Python where an exception goes nowhere."""
OF_C = {"_ended.append", "self._ended.append", "_RULES.pop", "_told.discard", "self._inbox.put", "self._to_fill.put"}
"""Callbacks: methods of C's deques, dicts, sets and queues."""
ALLOWED = {
    ("backends/forks.py", "register_at_fork"): "the hooks of forks; what they wait for has an end",
    ("backends/interrupts.py", "register_at_fork"): "sets one attribute in the child",
    ("nd/dataset/fetch.py", "TemporaryDirectory"): "in a with block, which detaches its finaliser",
    ("nd/files/zips.py", "__del__"): "is C, in the place of zipfile's, which is Python",
    ("nn/cli/proof/java_side.py", "TemporaryDirectory"): "in a with block",
    ("nn/dl4j/file_iterators.py", "atexit"): "the program ends",
}
"""(file, name) -> why a Ctrl-C is not lost there."""


def names_of(node):
    """Yield the suspects that a node of the syntax tree names, and "ref" for a weak reference with a callback."""
    name = {ast.FunctionDef: "name", ast.Name: "id", ast.Attribute: "attr"}.get(type(node))
    if name is not None and getattr(node, name) in SUSPECTS:
        yield getattr(node, name)
    if isinstance(node, ast.Call) and len(node.args) == 2:
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called in ("ref", "ById", "_Handle") and ast.unparse(node.args[1]) not in OF_C:
            yield "ref"


def test_no_python_runs_where_a_ctrl_c_gets_lost():
    found = set()
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if not any(word in text for word in (*SUSPECTS, "weakref", "ById")):
                continue  # reading all of them takes seconds
            tree = ast.parse(text)
            found |= {(path.relative_to(ROOT).as_posix(), name) for node in ast.walk(tree) for name in names_of(node)}
    assert found == set(ALLOWED)


def test_the_search_finds_what_it_is_for():
    code = "class A:\n def __del__(self): pass\nweakref.ref(a, self.end)\nweakref.finalize(a, b)\nweakref.ref(a)\n"
    found = [name for node in ast.walk(ast.parse(code)) for name in names_of(node)]
    assert sorted(found) == ["__del__", "finalize", "ref"]


CALLED = """
import gc, sys, weakref
from backends.forks import ById, tell_of_forks
from backends.holders import Holders
from backends.cpu.workers import Workers
from nd.dataset import AsyncDataSetIterator, DataSet, ListDataSetIterator
from nd.files.zips import ZipFile
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
import io
import numpy as np

conf = NeuralNetConfiguration(seed=1, updater="adam").list(DenseLayer(n_in=2, n_out=3), OutputLayer(n_out=2))
net = MultiLayerNetwork(conf).init()
data = DataSet(np.ones((6, 2)), np.eye(2)[[0, 1] * 3])
net.fit(ListDataSetIterator(data, batch=3), epochs=2)
workers, iterator = Workers(2), AsyncDataSetIterator(ListDataSetIterator(data, batch=3))
workers.run([int, int])
iterator.next()
archive = ZipFile(io.BytesIO(), "w")
archive.close()
users, calls = Holders(), []
user = users.add()
sys.setprofile(lambda frame, event, _: event == "call" and calls.append(frame.f_code.co_qualname))
del archive
del workers
del iterator
del net
del user
gc.collect()
sys.setprofile(None)
print(calls)
"""


def test_the_end_of_objects_calls_no_python():
    done = subprocess.run(
        [sys.executable, "-c", CALLED], cwd=ROOT, check=True, capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "[]\n", done.stdout
