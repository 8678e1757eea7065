"""A picture of a network in the language of Graphviz: ``dot -Tsvg network.dot``."""

from __future__ import annotations

from .diagram import Box, Diagram

_COLOURS = {"input": "#eceff2", "layer": "#dce9f7", "vertex": "#fdebc8"}
_HEAD = ["digraph network {", '  node [shape=box, style="filled,rounded", fontname="Helvetica", fontsize=11];']


def dot_of(diagram: Diagram) -> str:
    """Return the picture; boxes are called n0, n1, ..., their names are in the labels. Colours are those of the SVG."""
    boxes = [f"  n{number} [{_attributes(box)}];" for number, box in enumerate(diagram.boxes)]
    arrows = [f"  n{first} -> n{last};" for first, last in diagram.arrows]
    return "\n".join([*_HEAD, *boxes, *arrows, "}", ""])


def _attributes(box: Box) -> str:
    label = "\\n".join(_escaped(line) for line in (box.name, *box.lines))
    attributes = [f'label="{label}"', f'fillcolor="{_COLOURS[box.kind]}"']
    attributes += ['color="#14743b"', "penwidth=2.5"] if box.is_output else []
    attributes += ['style="filled,rounded,dashed"'] if box.is_frozen else []
    return ", ".join(attributes)


def _escaped(text: str) -> str:
    """Escape quotes and backslashes; control characters and halves of surrogate pairs are replaced."""
    plain = "".join(letter if letter.isprintable() else "\ufffd" for letter in text)
    return plain.replace("\\", "\\\\").replace('"', '\\"')
