"""A trace: the rows of one training step, and what there is to see of every layer and vertex."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from nd.arguments import Natural, NonNegative, Path, checked
from nd.files.writing import Target

from .rows import CHUNK, OP, PASSING, PYTHON, UPDATE, Row

if TYPE_CHECKING:
    from nd.execution.seen_arrays import SeenArray

    from .comparing import Difference


class NodeArrays(NamedTuple):
    """What there is to see of a layer or vertex in a step, of the minibatch as a whole.

    Of a step with several passes (segments of truncated backpropagation, iterations, a line search) those of the last.
    """

    name: str
    type: str
    """Class of its configuration."""
    activation: Any
    """``[N, ...]``: a `SeenArray`."""
    epsilon: Any
    """dL/d(activation), None where nothing comes back."""
    params: dict[str, Any]
    """Name -> parameter before the step."""
    gradients: dict[str, Any]
    """Name -> its gradient, summed over the examples; with a line search that of the score where it has led."""
    updated: dict[str, Any]
    """Name -> parameter after the step."""

    def arrays(self) -> Iterator[tuple[str, SeenArray]]:
        """Yield all of them, with names."""
        yield "activation", self.activation
        if self.epsilon is not None:
            yield "epsilon", self.epsilon
        for kind in ("params", "gradients", "updated"):
            for name, seen in getattr(self, kind).items():
                yield f"{kind}.{name}", seen


class Trace:
    """One training step, op by op: from `net.trace`, or from a file by `nn.trace.load`.

    Parameters
    ----------
    rows : sequence of Row
    seconds : float
    nodes : sequence of NodeArrays
    about : dict of str -> str

    Attributes
    ----------
    rows : list of Row
        The rows, of which those of thread 0 sum to `seconds`. An update is one row, which unfolds: ``row.rows``.
    ops : list of Row
        The calls of primitives in their order, those of the update too.
    seconds : float
        Wall time of the step, without the time that looking took.
    nodes : dict of str -> NodeArrays
        By the names of layers and vertices.
    about : dict of str -> str
        Network, backend, dtype, examples, iteration, score.

    Examples
    --------
    ::

        trace = net.trace(features, labels)
        print(trace)
        trace.ops[0].op, trace.ops[0].node, trace.ops[0].seconds, trace.ops[0].output
        trace.nodes["conv1"].activation.values
        trace.to_html("trace.html")
    """

    def __init__(self, rows: Sequence[Row], seconds: float, nodes: Sequence[NodeArrays], about: dict[str, str]) -> None:
        self.rows, self.seconds, self.about = list(rows), seconds, dict(about)
        self.nodes = {node.name: node for node in nodes}

    @property
    def ops(self) -> list[Row]:
        """The calls of primitives, in their order."""
        return [leaf for row in self.rows for leaf in row.leaves() if leaf.kind == OP]

    @property
    def rest(self) -> float:
        """The share of the wall time that is not spent in ops: Python, and what passes between nodes."""
        spent = sum(row.seconds for row in self.ops if row.thread == 0)
        return 1.0 - spent / self.seconds

    def memory(self) -> dict[str, dict[str, int]]:
        """Return bytes of every layer and vertex: activation, epsilon, parameters, gradients."""
        table = {}
        for name, node in self.nodes.items():
            table[name] = {
                "activation": node.activation.nbytes,
                "epsilon": 0 if node.epsilon is None else node.epsilon.nbytes,
                "parameters": sum(seen.nbytes for seen in node.params.values()),
                "gradients": sum(seen.nbytes for seen in node.gradients.values()),
            }
        return table

    @checked
    def compare(self, other: Trace, tolerance: NonNegative = 0.0) -> Difference | None:
        """Return the first place where the numbers of two traces part; None where they do not.

        Parameters
        ----------
        other : Trace
            Of the same network: on another backend, in another dtype, before a change of the code.
        tolerance : float
            Numbers part where they differ by more than it times the largest number of both arrays; 0: at all.

        Returns
        -------
        Difference or None
            The op with its node and phase, the index in its output, and both values. Where both steps consist of the
            same ops they are compared op by op; else the activations, epsilons, gradients and parameters of the layers
            are, in the order of the step.

        Raises
        ------
        ArgumentError
            It is no trace, or the tolerance is negative.
        ConfigurationError
            It is one of another network.
        ShapeError
            It is one of other sizes: of layers, or of the minibatch.
        """
        from .comparing import compare

        return compare(self, other, tolerance)

    @checked
    def save(self, target: Path) -> None:
        """Write the trace into a file, ``.npz``, which `nn.trace.load` reads: rows, and all arrays that are kept.

        Raises
        ------
        ConfigurationError
            The path does not end in ``.npz``.
        OSError
            The file cannot be written.
        """
        from .files import save

        save(self, target)

    @checked
    def to_html(self, target: Target, other: Trace | None = None, budget: Natural = 2_500_000) -> None:
        """Write a page for browsers: one file, which needs nothing else.

        Parameters
        ----------
        target : path or binary file object
            Ends in ``.html``.
        other : Trace, optional
            Shown beside it, row by row, with where the two part.
        budget : int
            Bytes that the pictures may take in the file. Of larger arrays the page has the first examples, channels
            and rows; it says how much.

        Raises
        ------
        ConfigurationError, ShapeError
            As `compare` does, and where the path has the ending of another kind of file.
        OSError
            The file cannot be written.
        """
        from .page import write_page

        write_page(self, other, target, budget)

    def __repr__(self) -> str:
        kind, examples = self.about.get("network", "network"), self.about.get("examples", "?")
        return f"Trace({kind}, {examples} examples, {len(self.ops)} ops, {1e3 * self.seconds:.2f} ms)"

    def __str__(self) -> str:
        lines = [_LINE("phase", "layer", "op", "in -> out", "bytes", "us")]
        lines += [_line(row) for row in self.rows]
        phases = {row.phase: 0.0 for row in self.rows}
        for row in self.rows:
            phases[row.phase] += row.seconds * (row.thread == 0)
        shares = ", ".join(f"{phase} {1e3 * seconds:.2f}" for phase, seconds in phases.items())
        lines.append(f"{1e3 * self.seconds:.3f} ms: {shares}; {100 * self.rest:.1f} % of it between the ops")
        return "\n".join(lines)


_LINE: Callable[..., str] = "{:9}{:20}{:26}{:56}{:>12}{:>11}".format


def _line(row: Row) -> str:
    names = {PASSING: "(passing on)", PYTHON: "(Python)", CHUNK: row.op, UPDATE: f"{row.op}, {len(row.rows)} rows"}
    shapes = " -> ".join(
        filter(None, (" ".join(map(_shape, row.seen_inputs[:3])), " ".join(map(_shape, row.seen_outputs[:2]))))
    )
    values = ", ".join(f"{name} {value:.6g}" for name, value in row.values.items())
    size = f"{row.nbytes:,}" if row.nbytes else ""
    cells = names.get(row.kind, row.op)[:25], (shapes or values)[:55], size, f"{1e6 * row.seconds:.1f}"
    return _LINE(row.phase, row.node[:19], *cells)


def _shape(seen: Any) -> str:
    return "x".join(map(str, seen.shape)) or "number"
