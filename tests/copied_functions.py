"""The rule that no function is written twice."""

import ast
import functools

from tests.source_files import FUNCTIONS, library, of_kind, walk

LEAST = 50
"""Characters of a body from which on it stands once."""


def _dumped(function, body):
    """Return statements as text, with names of parameters by their position: so a copy with other names is one."""
    arguments = [node.arg for node in walk(function.args) if isinstance(node, ast.arg)]
    places = {name: f"_{place}" for place, name in enumerate(arguments)}
    names = [node for statement in body for node in walk(statement) if isinstance(node, ast.Name)]
    named = [(node, node.id) for node in names if node.id in places]
    for node, name in named:
        node.id = places[name]
    text = "\n".join(map(ast.dump, body))
    for node, name in named:
        node.id = name
    return text


def _body(function):
    return function.body[1:] if ast.get_docstring(function) else function.body


@functools.cache
def bodies(text):
    """Return the functions of a file with their bodies as text."""
    return [(node, _dumped(node, _body(node))) for node in of_kind(text, *FUNCTIONS)]


def says_much(function):
    """Tell whether a body is no short one, nor one that only raises."""
    body = _body(function)
    only_raises = len(body) == 1 and isinstance(body[0], ast.Raise)
    return not only_raises and len("\n".join(map(ast.unparse, body))) >= LEAST


@functools.cache
def _first_places():
    """Body -> where the library has it first."""
    places = {}
    for path, text in library():
        for node, body in bodies(text):
            places.setdefault(body, (f"{path}:{node.lineno}", node))
    return places


def copies_no_function(path, text):
    """A body stands once: in a base class, or in a module that all its users import."""
    places = dict(_first_places())
    for node, body in bodies(text):
        here = f"{path}:{node.lineno}"
        place, first = places.setdefault(body, (here, node))
        if place != here and says_much(node) and says_much(first):
            yield f"{here}: {node.name} is a copy of {place}"


REFUSED = [
    ("nd/x.py", "def f(a, b):\n    return g(a, h(b)) + i(a, 'twelve letters', more=b)\n" * 2),
    ("nn/x.py", 'def f(a):\n    """Do."""\n    do(a)\n    return a["a very long key that nobody else has"]\n'
                'def g(b):\n    do(b)\n    return b["a very long key that nobody else has"]\n'),
    ("nn/x.py", "class A:\n  def f(self, it):\n    self.one = it.value_of('one')\n    return it.wholly('all')\n"
                "class B:\n  def g(self, x):\n    self.one = x.value_of('one')\n    return x.wholly('all')\n"),
]  # fmt: skip
