"""What is printed: a table of the worst distances, Java's faults by name, what failed."""

from __future__ import annotations

from collections.abc import Sequence

from .verdict import Fault, Verdict

SHOWN = 200
"""Failures that are printed, at most."""


def table(title: str, verdict: Verdict, quantities: Sequence[str]) -> str:
    """Return the worst distance of every kind of network and quantity."""
    widths = {name: max(11, len(name) + 2) for name in quantities}
    lines = [f"\n{title}", f"{'':23}{'networks':>9}" + "".join(f"{name:>{widths[name]}}" for name in quantities)]
    for kind, count in sorted(verdict.networks.items()):
        worst = verdict.worst[kind]
        texts = {name: f"{worst[name]:.1e}" if name in worst else "-" for name in quantities}
        cells = [f"{texts[name]:>{widths[name]}}" for name in quantities]
        lines.append(f"{kind:23}{count:9}" + "".join(cells))
    return "\n".join([*lines, f"{'all':23}{sum(verdict.networks.values()):9}"])


def faults_met(release: str, faults: Sequence[Fault], verdicts: Sequence[Verdict]) -> str:
    """Return which of Java's faults were met, and by how many networks."""
    lines = [f"\nFaults of Java {release}, each proven by Java alone:"]
    for fault in faults:
        count = sum(len(verdict.met.get(fault.name, ())) for verdict in verdicts)
        if count:
            lines.append(f"{count:5} x {fault.name}: {fault.reason}")
    return "\n".join(lines)


def failures(texts: Sequence[str]) -> str:
    """Return what failed, one thing a line."""
    if not texts:
        return "\nNothing else differs."
    more = [f"... and {len(texts) - SHOWN} more"] if len(texts) > SHOWN else []
    return "\n".join([f"\n{len(texts)} failed:", *texts[:SHOWN], *more])
