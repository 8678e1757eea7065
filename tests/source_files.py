"""The source of the library, read and parsed once, for the rules of tests/test_architecture.py."""

import ast
import functools
import pathlib

ROOT = pathlib.Path(__file__).parent.parent
FLOORS = ("backends", "nd", "optimize", "nn", "ndwright")  # each may import those before it
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@functools.cache
def parse(text):
    return ast.parse(text)


@functools.cache
def files(*folders):
    paths = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    return [(path.relative_to(ROOT).as_posix(), path.read_text()) for path in paths]


def library():
    return files(*FLOORS)


def last_name(node):
    """Last part of a dotted name, without subscripts."""
    node = node.value if isinstance(node, ast.Subscript) else node
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


NO_NODES = {"arg", "attr", "ctx", "id", "kind", "module", "name", "op", "ops", "type_comment"}
"""Fields that hold texts, or what says nothing that the field's owner does not: there are millions."""


@functools.cache
def _fields(kind):
    return [name for name in kind._fields if name not in NO_NODES]


def children(node):
    """Return what ast.iter_child_nodes gives, without operators and contexts."""
    found = []
    for name in _fields(type(node)):
        value = getattr(node, name, None)
        if isinstance(value, list):
            found += [each for each in value if isinstance(each, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def walk(node):
    """Return what ast.walk gives, in its order, without operators and contexts."""
    found = [node]
    for each in found:
        found += children(each)
    return found


@functools.cache
def nodes(text):
    """Return all nodes of a file, as ast.walk gives them."""
    return walk(parse(text))


@functools.cache
def _by_kind(text):
    kinds = {}
    for node in nodes(text):
        kinds.setdefault(type(node), []).append(node)
    return kinds


def of_kind(text, *kinds):
    """Return the nodes of a file that are of these very classes."""
    return [node for kind in kinds for node in _by_kind(text).get(kind, ())]


@functools.cache
def classes(text):
    """Class name -> definition, of one file."""
    return {node.name: node for node in of_kind(text, ast.ClassDef)}


@functools.cache
def class_table():
    """Class name -> path, text and definition of all classes of the library that have it."""
    table = {}
    for path, text in library():
        for name, definition in classes(text).items():
            table.setdefault(name, []).append((path, text, definition))
    return table
