"""What the times of many networks say: a table of each mode, and the figures, geometric means and the worst case."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from contenders import OURS, OURS_ALONE, WHO
from networks import CLOSEST, NETWORKS

Result = dict[str, Any]
DEFAULT, CHANNELS_LAST = "torch", "torch-channels-last"
MIDDLE = (16, 256)
"""The smallest and the largest minibatch of the second mean."""


class Ratio(NamedTuple):
    """How many times as long as we PyTorch takes on one network and minibatch."""

    network: str
    batch: int
    value: float


def better_format(who: dict[str, Any]) -> float | None:
    """Return the better of PyTorch's two memory formats beside ours, as it is installed."""
    return _ratio(who, OURS, (DEFAULT, CHANNELS_LAST))


def default_format(who: dict[str, Any]) -> float | None:
    """Return PyTorch's default format beside ours without oneDNN, which is ours where there is none."""
    return _ratio(who, OURS_ALONE if OURS_ALONE in who else OURS, (DEFAULT,))


def _ratio(who: dict[str, Any], ours: str, theirs: Sequence[str]) -> float | None:
    times = [who[each]["median_ms"] for each in theirs if each in who]
    return min(times) / who[ours]["median_ms"] if times and ours in who else None


AIMS: dict[str, Callable[[dict[str, Any]], float | None]] = {
    "the better of PyTorch's default and channels_last / ndwright": better_format,
    "PyTorch's default / ndwright without oneDNN": default_format,
}
"""Figure -> how it is computed of one network and minibatch."""


def ratios(results: Iterable[Result], mode: str, aim: Callable[[dict[str, Any]], float | None]) -> list[Ratio]:
    """Return the ratios of the networks that count."""
    found = []
    for each in results:
        value = aim(each["who"]) if each["mode"] == mode and NETWORKS[each["network"]].counts else None
        if value is not None:
            found.append(Ratio(each["network"], each["batch"], value))
    return found


def mean(found: Iterable[Ratio]) -> float:
    """Return the geometric mean; the networks of a family count as one."""
    groups: dict[tuple[str, int], list[float]] = defaultdict(list)
    for network, batch, value in found:
        groups[NETWORKS[network].family or network, batch].append(math.log(value))
    return math.exp(sum(sum(logs) / len(logs) for logs in groups.values()) / len(groups)) if groups else math.nan


def figures(results: Sequence[Result]) -> str:
    """Return a Markdown table of means and worst cases, a line for each mode and aim."""
    least, most = MIDDLE
    heads = ["", "measured", "geometric mean", f"at {least} to {most}", "worst case"]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for mode in dict.fromkeys(each["mode"] for each in results):
        for name, aim in AIMS.items():
            found = ratios(results, mode, aim)
            if found:
                worst = min(found, key=lambda each: each.value)
                middle = [each for each in found if least <= each.batch <= most]
                cells = [f"{mode}: {name}", str(len(found)), f"{mean(found):.2f}", f"{mean(middle):.2f}"]
                lines.append(f"| {' | '.join(cells)} | {worst.value:.2f} ({worst.network}, batch {worst.batch}) |")
    return "\n".join(lines)


def notes() -> str:
    """Return what is not in the figures, and why."""
    families = sorted({case.family for case in NETWORKS.values() if case.family})
    closest = ", ".join(f"{name} {theirs}" for name, theirs in CLOSEST.items())
    apart = ", ".join(name for name, case in NETWORKS.items() if not case.counts and not case.family)
    return (
        f"Networks of one family, {', '.join(families)}, count as one. Not counted: {apart};\n"
        f"and updaters that PyTorch does not have, beside the closest that it has: {closest}.\n"
        "PyTorch's compiler does not count."
    )


def table(results: Sequence[Result], mode: str) -> str:
    """Return a Markdown table of one mode: milliseconds of everybody, and what the figures are made of."""
    mine = [each for each in results if each["mode"] == mode]
    who = [each for each in WHO if any(each in result["who"] for result in mine)]
    heads = [mode, "batch", *(f"{each}, ms" for each in who), "best of torch / ours", "torch / ours without oneDNN"]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for each in mine:
        times = [f"{each['who'][one]['median_ms']:.3g}" if one in each["who"] else "" for one in who]
        found = [aim(each["who"]) for aim in AIMS.values()]
        shares = ["" if value is None else f"{value:.2f}" for value in found]
        lines.append(f"| {' | '.join([each['network'], str(each['batch']), *times, *shares])} |")
    return "\n".join(lines)
