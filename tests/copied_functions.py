"""The rule that no function is written twice."""

import ast
import functools

from tests.source_files import FUNCTIONS, library, nodes

LEAST = 50
"""Characters of a body from which on it stands once."""


def _dumped(function, body):
    """Return statements as text, with names of parameters by their position: so a copy with other names is one."""
    arguments = [node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)]
    places = {name: f"_{place}" for place, name in enumerate(arguments)}
    names = [node for statement in body for node in ast.walk(statement) if isinstance(node, ast.Name)]
    named = [(node, node.id) for node in names if node.id in places]
    for node, name in named:
        node.id = places[name]
    text = "\n".join(map(ast.dump, body))
    for node, name in named:
        node.id = name
    return text


@functools.cache
def bodies(text):
    """Return the functions of a file with their bodies as text, but short ones and those that only raise."""
    pairs = []
    for node in (node for node in nodes(text) if isinstance(node, FUNCTIONS)):
        body = node.body[1:] if ast.get_docstring(node) else node.body
        code = "\n".join(map(ast.unparse, body))
        if len(code) >= LEAST and not (len(body) == 1 and isinstance(body[0], ast.Raise)):
            pairs.append((node, _dumped(node, body)))
    return pairs


@functools.cache
def _first_places():
    """Body -> where the library has it first."""
    places = {}
    for path, text in library():
        for node, body in bodies(text):
            places.setdefault(body, f"{path}:{node.lineno}")
    return places


def copies_no_function(path, text):
    """A body stands once: in a base class, or in a module that all its users import."""
    places = dict(_first_places())
    for node, body in bodies(text):
        place = f"{path}:{node.lineno}"
        if places.setdefault(body, place) != place:
            yield f"{place}: {node.name} is a copy of {places[body]}"


REFUSED = [
    ("nd/x.py", "def f(a, b):\n    return g(a, h(b)) + i(a, 'twelve letters', more=b)\n" * 2),
    ("nn/x.py", 'def f(a):\n    """Do."""\n    do(a)\n    return a["a very long key that nobody else has"]\n'
                'def g(b):\n    do(b)\n    return b["a very long key that nobody else has"]\n'),
    ("nn/x.py", "class A:\n  def f(self, it):\n    self.one = it.value_of('one')\n    return it.wholly('all')\n"
                "class B:\n  def g(self, x):\n    self.one = x.value_of('one')\n    return x.wholly('all')\n"),
]  # fmt: skip
