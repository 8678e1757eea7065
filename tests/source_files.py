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


def children(node):
    """Return what ast.iter_child_nodes gives, in a third of the time: there are millions."""
    found = []
    for value in vars(node).values():
        if isinstance(value, ast.AST):
            found.append(value)
        elif isinstance(value, list):
            found += [each for each in value if isinstance(each, ast.AST)]
    return found


def walk(node):
    """Return what ast.walk gives, in its order."""
    found = [node]
    for each in found:
        found += children(each)
    return found


@functools.cache
def nodes(text):
    """Return all nodes of a file, as ast.walk gives them."""
    return walk(parse(text))


@functools.cache
def classes(text):
    """Class name -> definition, of one file."""
    return {node.name: node for node in nodes(text) if isinstance(node, ast.ClassDef)}


@functools.cache
def class_table():
    """Class name -> path, text and definition of all classes of the library that have it."""
    table = {}
    for path, text in library():
        for name, definition in classes(text).items():
            table.setdefault(name, []).append((path, text, definition))
    return table
