"""The rule that nobody outside its class reads a private attribute."""

import ast

from tests.source_files import FUNCTIONS, last_name, parse

NUMERIC_LIBRARIES = {"array_api_compat", "array_api_strict", "cupy", "cupyx", "cupy_backends"}
OF_NAMED_TUPLES = {"_asdict", "_fields", "_make", "_replace"}  # which are public
SELVES = {"cls", "self"}


def reads_no_private_attribute(path, text):
    """What begins with an underscore is read in its own class only; a class reads its own of other instances too."""
    yield from (f"{path}:{node.lineno}: reads {ast.unparse(node)}" for node in _strangers(parse(text), set()))


def _strangers(node, own):
    for child in ast.iter_child_nodes(node):
        inside = own | _private_names(child) if isinstance(child, ast.ClassDef) else own
        if isinstance(child, ast.Attribute) and child.attr.startswith("_") and not child.attr.startswith("__"):
            value = child.value
            of_self = isinstance(value, ast.Name) and value.id in SELVES
            of_super = isinstance(value, ast.Call) and last_name(value.func) == "super"
            of_library = ast.unparse(value).split(".")[0] in ("numpy", *NUMERIC_LIBRARIES)
            if not (of_self or of_super or of_library or child.attr in inside | OF_NAMED_TUPLES):
                yield child
        yield from _strangers(child, inside)


def _private_names(definition):
    """Return the names that a class gives to its attributes and methods."""
    selves = SELVES
    found = {
        node.attr
        for node in ast.walk(definition)
        if isinstance(node, ast.Attribute) and last_name(node.value) in selves
    }
    found |= {member.name for member in definition.body if isinstance(member, FUNCTIONS)}
    targets = [target for member in definition.body for target in getattr(member, "targets", [])]
    targets += [member.target for member in definition.body if isinstance(member, ast.AnnAssign)]
    return found | {last_name(target) for target in targets}


REFUSED = [
    ("nd/x.py", "def f(net):\n    return net._made"),
    ("nn/x.py", "class A:\n    def f(self, other):\n        self._own = other._own + other._other"),
]
