"""Memory for parameters and activations: asked for before it is taken, once for every shape."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING

import nd
from nd.checks import describe_shape

from .nodes import sources_of

if TYPE_CHECKING:
    from .nodes import NetworkConfiguration, NodeTypes

Shape = tuple[int, ...]
BYTES = {"float32": 4, "float64": 8}
"""Of a number."""


def check_parameters(conf: NetworkConfiguration, parameters: int) -> None:
    """Raise SizeError where parameters and their gradient fit into no memory of this size."""
    needed = 2 * parameters * BYTES[conf.dtype]
    nd.backend().check_memory(
        "init", needed, f"{parameters:,} parameters and their gradient", "Make the layers smaller: summary() has them."
    )


class Keeping(Enum):
    """What a pass keeps beside the activations of the node that it is at, and what comes into it."""

    NOTHING = "nothing"
    INPUTS = "inputs"
    """What comes into nodes with weights to learn, whose gradients need it."""
    EVERYTHING = "everything"


def check_activations(
    conf: NetworkConfiguration, shapes: Sequence[Shape], types: Sequence[NodeTypes], rows: int, keeping: Keeping
) -> None:
    """Raise SizeError where the activations of a pass fit into no memory of this size.

    Counted is what must be there at the same time, whatever is given back between.

    Parameters
    ----------
    conf : NetworkConfiguration
    shapes : sequence of tuple of int
        Of the features of every input.
    types : sequence of NodeTypes
        Of all nodes, for such features.
    rows : int
        Examples that are computed at the same time.
    keeping : Keeping
    """
    size, examples = BYTES[conf.dtype], _examples(conf, rows)
    made = [size * n * math.prod(of_node.output.sizes) for n, of_node in zip(examples, types, strict=True)]
    features = [size * rows * math.prod(shape[1:]) for shape in shapes]
    arriving = [
        {source: made[source] if source >= 0 else features[-1 - source] for source in sources_of(node)}
        for node in conf.nodes
    ]
    needed = [own + sum(sources.values()) for own, sources in zip(made, arriving, strict=True)]
    for number, node in enumerate(conf.nodes):
        looks_at = getattr(node.conf, "looks_at", None)  # of attention
        needed[number] += 0 if looks_at is None else size * examples[number] * looks_at(types[number].inputs)
    largest = max(range(len(needed)), key=needed.__getitem__)
    shape = describe_shape((examples[largest], *types[largest].output.shape))
    remedy = "Give fewer examples at once, or make the layers smaller: summary() has them."
    check = nd.backend().check_memory
    check(conf.nodes[largest].label, needed[largest], f"activations {shape} and what they are made of", remedy)
    kept: dict[int, int] = dict(enumerate(made)) if keeping is Keeping.EVERYTHING else {}
    for node, sources in zip(conf.nodes, arriving, strict=True):
        if keeping is Keeping.INPUTS and any(spec.trainable for spec in node.conf.param_specs()):
            kept |= sources
    check("activations", sum(kept.values()), f"those of all layers for {rows} examples", remedy)


def _examples(conf: NetworkConfiguration, rows: int) -> list[int]:
    """Return of how many examples the activations of every node are."""
    examples: list[int] = []
    for node in conf.nodes:
        arriving = [rows if source < 0 else examples[source] for source in sources_of(node)]
        examples_of = getattr(node.conf, "examples_of", None)  # of vertices
        examples.append(arriving[0] if examples_of is None else examples_of(arriving))
    return examples
