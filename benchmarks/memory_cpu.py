"""Measure the peak memory of a process that trains LeNet, ours and PyTorch's, and how it grows afterwards."""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys

STEPS, MORE_STEPS = 20, 1000
PEERS = ("ndwright", "torch", "torch-channels-last")


def train(who: str, batch: int, steps: int) -> tuple[float, float]:
    """Train in this process; return its peak in MB, and by how many MB it grew over `steps` further steps."""
    from contenders import contender

    step = contender(who, "lenet", batch).train
    for _ in range(STEPS):
        step()
    before = peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    for _ in range(steps):
        step()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return before, peak - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=512, help="images per step, default: 512")
    parser.add_argument("--peer", nargs="*", choices=PEERS[1:], default=PEERS[1:], help="default: both memory formats")
    parser.add_argument("--steps", type=int, default=MORE_STEPS, help=f"further steps of ours, default: {MORE_STEPS}")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--inside", choices=PEERS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inside:
        print(json.dumps(train(arguments.inside, arguments.batch, arguments.steps)))
        return
    found = {}
    for who in (PEERS[0], *arguments.peer):
        steps = arguments.steps if who == PEERS[0] else 0
        command = [sys.executable, __file__, "--inside", who, "--batch", str(arguments.batch), "--steps", str(steps)]
        found[who] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    ours = found[PEERS[0]][0]
    results = [
        {
            "who": who,
            "batch": arguments.batch,
            "peak_mb": peak,
            "ratio": peak / ours,
            "steps": arguments.steps,
            "grew_mb": grew,
        }
        for who, (peak, grew) in found.items()
    ]
    print(json.dumps(results, indent=2) if arguments.json else table(results))


def table(results: list[dict[str, float]]) -> str:
    """Return a Markdown table; the ratio says how much more than ours."""
    lines = ["| who | batch | peak MB | ratio | grew by, MB |", "|---|---|---|---|---|"]
    for each in results:
        grew = f"{each['grew_mb']:.2f} over {each['steps']:,} steps" if each["who"] == PEERS[0] else ""
        lines.append(f"| {each['who']} | {each['batch']} | {each['peak_mb']:.0f} | {each['ratio']:.2f} | {grew} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
