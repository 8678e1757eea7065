"""What results mean: what Java gets wrong is proven and has a name, everything else that differs is a failure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from .results import Result

RELEASES = ("1.0.0-M1.1", "1.0.0-M2.1")
DERIVATIVES = "derivatives"
"""The proof that is in the results: Java's gradient is not the derivative of Java's own score, and ours is."""


@dataclass(frozen=True)
class Fault:
    """Something that Java gets wrong.

    Parameters
    ----------
    name, reason : str
    applies : callable (result) -> bool
        Which networks meet with it, by their configuration.
    quantities : set of str
        What may differ there.
    proof : str
        Name of the proof in Proofs.java that must fail, or `DERIVATIVES`.
    releases : sequence of str
        Which have it.
    limit : float
        How large the distance may be.
    is_drawn : bool
        Whether networks that are compared meet with it. What only its proof shows excuses nothing.
    """

    name: str
    reason: str
    applies: Callable[[Result], bool]
    quantities: frozenset[str]
    proof: str
    releases: Sequence[str] = RELEASES
    limit: float = math.inf
    is_drawn: bool = True


@dataclass
class Verdict:
    """What was compared, what failed, and which of Java's faults were met.

    Parameters
    ----------
    networks : dict of str -> int
        Kind of network -> how many.
    worst : dict of str -> dict
        Kind of network -> quantity -> the largest distance among those that agree.
    failures : list of str
        Networks that differ where no fault explains it.
    met : dict of str -> set of str
        Name of a fault -> the networks that met with it.
    proven : set of str
        Names of the faults that derivatives prove.
    """

    networks: dict[str, int] = field(default_factory=dict)
    worst: dict[str, dict[str, float]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    met: dict[str, set[str]] = field(default_factory=dict)
    proven: set[str] = field(default_factory=set)


def kind_of(name: str) -> str:
    """Return what a network's name begins with: names of ours have hyphens, Java's have none."""
    return name.split("-" if "-" in name else "_")[0]


def judge(results: Iterable[Result], tolerances: Mapping[str, float], faults: Sequence[Fault]) -> Verdict:
    """Hold results against tolerances, and against the faults of a release."""
    verdict = Verdict()
    for result in results:
        kind = kind_of(result.name)
        verdict.networks[kind] = verdict.networks.get(kind, 0) + 1
        worst, unexplained = verdict.worst.setdefault(kind, {}), []
        for quantity, distance in result.distances.items():
            if distance <= tolerances.get(quantity, 0.0):
                worst[quantity] = max(worst.get(quantity, 0.0), distance)
            elif fault := _explanation(result, quantity, faults):
                verdict.met.setdefault(fault.name, set()).add(result.name)
                if result.derivatives_prove:
                    verdict.proven.add(fault.name)
            else:
                size = "" if math.isinf(distance) else f" differs by {distance:.1e}"
                unexplained.append(f"{quantity}{size}: {result.messages[quantity]}")
        if unexplained:
            verdict.failures.append(f"{result.name}: {'; '.join(unexplained)}")
    return verdict


def _explanation(result: Result, quantity: str, faults: Sequence[Fault]) -> Fault | None:
    """Return the first fault that explains a distance; None for none."""
    drawn = [fault for fault in faults if fault.is_drawn]
    for fault in drawn if result.conf is not None else ():
        if quantity in fault.quantities and result.distances[quantity] <= fault.limit and fault.applies(result):
            return fault
    return None


def faults_of(release: str, faults: Sequence[Fault]) -> list[Fault]:
    """Return the faults that a release has; of a release that nobody has looked at, all."""
    return [fault for fault in faults if release in fault.releases or release not in RELEASES]


def check_faults(
    release: str, faults: Sequence[Fault], proofs: Mapping[str, str], verdicts: Sequence[Verdict]
) -> list[str]:
    """Return what is wrong with the list of faults: not proven, not met with any more, not listed."""
    complaints = []
    for fault in faults:
        listed = fault in faults_of(release, faults)
        shown = bool(proofs.get(fault.proof)) or any(fault.name in verdict.proven for verdict in verdicts)
        if fault.proof != DERIVATIVES and fault.proof not in proofs:
            complaints.append(f"fault {fault.name!r}: Proofs.java has no {fault.proof!r}. Write it.")
        elif listed and not shown:
            complaints.append(f"fault {fault.name!r}: Java {release} does not show it any more. Take it out.")
        elif listed and fault.is_drawn and not any(fault.name in verdict.met for verdict in verdicts):
            complaints.append(f"fault {fault.name!r}: no network differs by it any more. Take it out.")
        elif not listed and shown:
            complaints.append(f"fault {fault.name!r}: Java {release} shows it too. Add the release.")
    unused = sorted(set(proofs) - {fault.proof for fault in faults})
    return complaints + [f"proof {name!r}: no fault has it. Take it out of Proofs.java." for name in unused]
