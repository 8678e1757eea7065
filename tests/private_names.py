"""The rule that private attributes are read within their folder only."""

import ast
import functools

from tests.source_files import FUNCTIONS, class_table, classes, last_name, library, of_kind, walk

LIBRARIES = {"array_api_compat", "array_api_strict", "cupy", "cupyx", "cupy_backends", "numpy"}
OF_NAMED_TUPLES = {"_asdict", "_field_defaults", "_fields", "_make", "_replace"}  # which are public
BY_TEXT = {"attrgetter", "delattr", "getattr", "hasattr", "setattr"}


def is_private(name):
    return isinstance(name, str) and name.startswith("_") and not name.startswith("__") and name.isidentifier()


# ---- whose a name is


@functools.cache
def _defined(definition):
    """Return the names in a class's body: methods, classes, attributes with a value, and the fields of a dataclass."""
    names = {member.name for member in definition.body if isinstance(member, (*FUNCTIONS, ast.ClassDef))}
    for member in definition.body:
        targets = getattr(member, "targets", []) + ([member.target] if _gives_value(member, definition) else [])
        names |= {name.id for target in targets for name in walk(target) if isinstance(name, ast.Name)}
    return names


def _gives_value(member, definition):
    """Tell whether an annotated name in a class's body is more than a declaration of what other classes give it."""
    if not isinstance(member, ast.AnnAssign) or member.value is not None:
        return isinstance(member, ast.AnnAssign)
    makers = [*definition.bases, *(getattr(maker, "func", maker) for maker in definition.decorator_list)]
    return last_name(member.annotation) != "ClassVar" and bool(
        {"NamedTuple", "dataclass"} & set(map(last_name, makers))
    )


@functools.cache
def _stored(definition):
    """Return the names that a class's methods give to attributes of their first parameter."""
    stores = set()
    for method in (member for member in definition.body if isinstance(member, FUNCTIONS)):
        for node in walk(method):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _is_self(node.value, method):
                stores.add(node.attr)
    return stores


def _is_self(node, method):
    names = [argument.arg for argument in [*method.args.posonlyargs, *method.args.args]]
    return isinstance(node, ast.Name) and bool(names) and node.id == names[0] and not _is_static(method)


def _is_static(method):
    return any(last_name(decorator) == "staticmethod" for decorator in method.decorator_list)


def _bases(path, text, definition):
    """Yield path and definition of a class's bases in the library, by name: the file's own class if it has one."""
    for base in definition.bases:
        name = last_name(base)
        here = classes(text).get(name, definition) if isinstance(base, ast.Name) else definition
        for where, source, other in [(path, text, here)] if here is not definition else class_table().get(name, []):
            if other is not definition:
                yield where, other
                yield from _bases(where, source, other)


@functools.cache
def owned_names(path, text, definition):
    """Return a class's own private names, with those of its bases in the same folder.

    What a base of another folder stores is that base's, though a subclass stores it too; hooks in the body are its own.
    """
    bases = list(_bases(path, text, definition))
    foreign = {
        name for where, base in bases if _folder(where) != _folder(path) for name in _stored(base) | _defined(base)
    }
    family = [definition, *(base for where, base in bases if _folder(where) == _folder(path))]
    hooks = {name for member in family for name in _defined(member)}
    return hooks | {name for member in family for name in _stored(member)} - foreign


# ---- who reads


def reads_no_private_attribute(path, text):
    """What begins with an underscore is read in its own folder only, where a class stores or defines it.

    What other folders read, subclasses there too, has a public name; nor does a string stand for a private name there.
    """
    own = _of_folder(_folder(path)) | _of_file(path, text)
    for node in of_kind(text, ast.Attribute):
        if _is_looked_at(node) and node.attr not in own:
            yield f"{path}:{node.lineno}: reads {ast.unparse(node)}"
    for node in of_kind(text, ast.Call, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Subscript):
        for name in _named_by_text(node):
            if name not in own and name in _all_private():
                yield f"{path}:{node.lineno}: names {name!r}"


def _folder(path):
    return path.rpartition("/")[0]


@functools.cache
def _of_folder(folder):
    """Return the private names of the classes in the files of a folder."""
    inside = [(path, text) for path, text in library() if _folder(path) == folder]
    return frozenset(name for path, text in inside for name in _of_file(path, text))


@functools.cache
def _of_file(path, text):
    definitions = of_kind(text, ast.ClassDef)
    return frozenset(name for definition in definitions for name in owned_names(path, text, definition))


def _is_looked_at(node):
    if not is_private(node.attr) or node.attr in OF_NAMED_TUPLES:
        return False
    return ast.unparse(node.value).split(".")[0] not in LIBRARIES


# ---- by text


@functools.cache
def _all_private():
    """Return the private attributes of all classes of the library."""
    definitions = [definition for places in class_table().values() for _, _, definition in places]
    return {
        name for definition in definitions for name in _stored(definition) | _defined(definition) if is_private(name)
    }


def _named_by_text(node):
    """Return the private names among strings that are handed to getattr and its kin, listed, or keys of ``vars``."""
    parts = []
    if isinstance(node, ast.Call) and last_name(node.func) in BY_TEXT:
        parts = node.args
    elif isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        parts = [] if "" in [getattr(part, "value", None) for part in node.elts] else node.elts  # endings, not names
    elif isinstance(node, ast.Dict):
        parts = [key for key in node.keys if key is not None]
    elif isinstance(node, ast.Subscript):
        parts = [node.slice]
    return [part.value for part in parts if isinstance(part, ast.Constant) and is_private(part.value)]


REFUSED = [
    ("nd/x.py", "def f(net):\n    return net._made"),
    ("nd/x.py", "def f(self):\n    return self._made"),
    ("nn/x.py", "class A:\n    def f(self, other):\n        self._own = other._own + other._other"),
    ("nn/x.py", "class A:\n    def f(self):\n        return self._nowhere"),
    ("nn/x.py", "class A:\n    _declared: int\n    def f(self):\n        return self._declared"),
    ("nn/files/x.py", "def f(net):\n    return net._checked_layer(0)"),
    (
        "nn/x.py",
        "from .core import NetworkCore\nclass A(NetworkCore):\n    def f(self):\n        self._data_types = None",
    ),
    ("nn/x.py", "NOT_COPIED = {'_data_types', 'state'}"),
    ("nn/x.py", "def f(net):\n    return getattr(net, '_data_types')"),
    ("nn/x.py", "def f(net):\n    vars(net)['_data_types'] = None"),
]
ALLOWED = """
def f(net):
    return net._own
class A:
    __slots__ = ("_own",)
    def __init__(self):
        self._own = 1
    def __eq__(self, other):
        return isinstance(other, A) and self._own == other._own
    def merge(self, batch: "A"):
        self._own += batch._own
    @classmethod
    def of(cls):
        new = cls()
        new._own = 2
        twin = copy.copy(new)
        return twin._own
class B(A):
    def f(self):
        return self._own
    def names(self):
        return [f"of{ending}" for ending in ("", "_own")]
"""
