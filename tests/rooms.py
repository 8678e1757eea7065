"""Rooms inside `nn`: which may import which. Rows from the lowest to the highest; a room imports from lower ones."""

import ast

from tests.source_files import last_name, nodes

ROOMS = (
    ("terms",),
    ("layers", "vertices"),
    ("conf",),
    ("step",),
    ("networks",),
    ("files",),
    ("caffe", "cli", "dl4j", "keras", "onnx", "pictures", "sklearn", "trace", "transferlearning", "zoo"),
)
HEIGHT = {room: height for height, rooms in enumerate(ROOMS) for room in rooms}
SIDEWAYS = {
    ("caffe", "trace"),  # a net is traced, too
    ("cli", "caffe"),  # a command converts nets of Caffe's
    ("cli", "keras"),  # and Keras' models
    ("cli", "onnx"),  # and writes files of ONNX
    ("keras", "onnx"),  # vertices of operators that no layer says
    ("cli", "trace"),  # a command reads saved traces
    ("vertices", "layers"),  # a vertex may hold a layer, and computes with the same arguments
    ("dl4j", "zoo"),  # the zoo's names, too
    ("dl4j", "nn"),  # hands out all of nn, with Java's spelling
}
TYPES_FROM_ABOVE = {
    "nn.conf.network.NeuralNetConfiguration",  # the defaults that a layer takes what is unset from
    "nn.trace.trace.Trace",  # what net.trace returns
}
"""What annotations may name; nothing is imported for them at run time."""


def room_of(name):
    """Return the room of a dotted name in nn; "nn" for what lies in none."""
    parts = name.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in HEIGHT else "nn"


def _for_types(text):
    """Return the lines of imports that only type checkers see."""
    blocks = [node for node in nodes(text) if isinstance(node, ast.If) and last_name(node.test) == "TYPE_CHECKING"]
    return {
        line.lineno for block in blocks for line in ast.walk(block) if isinstance(line, (ast.Import, ast.ImportFrom))
    }


def arrows(path, text, imports):
    """Yield line, room, room and name of what a file of nn imports from another room of nn."""
    own = room_of(path.removesuffix(".py").replace("/", "."))
    for line, name in imports(path, text):
        if name.split(".")[0] == "nn" and room_of(name) != own:
            yield line, own, room_of(name), name


def refused_arrows(path, text, imports):
    """Yield those that go upward, or sideways without being listed."""
    types = _for_types(text)
    for line, own, other, name in arrows(path, text, imports):
        listed = (own, other) in SIDEWAYS or (line in types and name in TYPES_FROM_ABOVE)
        if own != "nn" and not listed and HEIGHT.get(other, len(ROOMS)) >= HEIGHT[own]:
            yield line, name
