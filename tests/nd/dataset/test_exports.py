"""Names that nd.dataset imports when they are asked for."""

import ast
import inspect
import subprocess
import sys

import pytest

import nd.dataset


def test_every_name_is_there_and_listed():
    for name in nd.dataset.__all__:
        assert getattr(nd.dataset, name).__name__ == name
        assert name in dir(nd.dataset)
    assert list(nd.dataset.ON_DEMAND) == sorted(set(nd.dataset.ON_DEMAND) & set(nd.dataset.__all__))
    with pytest.raises(AttributeError, match=r"module 'nd\.dataset' has no attribute 'CvsDataSetIterator'"):
        nd.dataset.CvsDataSetIterator


def test_type_checkers_see_what_is_imported_on_demand():
    tree = ast.parse(inspect.getsource(nd.dataset))
    shown = next(node for node in tree.body if isinstance(node, ast.If)).body
    assert {alias.name: node.module.split(".")[-1] for node in shown for alias in node.names} == nd.dataset.ON_DEMAND


def test_they_are_not_imported_before():
    code = "import sys, nd.dataset as d; print({f'nd.dataset.{m}' for m in d.ON_DEMAND.values()} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert found.strip() == "set()"
