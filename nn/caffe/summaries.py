"""Summaries of nets: a row for every layer, and totals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nd.checks import describe_shape

from ..networks.tables import table

if TYPE_CHECKING:
    from .assembly import LayerPlan
    from .net import Net

_HEADINGS = ("", "layer", "type", "bottoms", "tops", "backward", "parameters", "lr_mult", "decay_mult", "")
STATISTICS = "statistics, written by forward passes and not by the solver: lr_mult is 0"


def summary_of(net: Net) -> str:
    """Return a row for every layer, in the order in which they run; see `Net.summary`."""
    rows: list[Sequence[str]] = [_HEADINGS]
    for number, plan in enumerate(net.assembly.layers):
        params = [net.assembly.params[index] for index in plan.params]
        rows.append((
            str(number),
            plan.name,
            str(plan.message.type),
            ", ".join(net._blob_at(blob).name for blob in plan.bottoms),
            ", ".join(f"{net._blob_at(blob).name} {describe_shape(net._blob_at(blob).shape)}" for blob in plan.tops),
            "yes" if net.layer_need_backward[number] else "no",
            f"{sum(net.param_blobs[index].count for index in plan.params):,}" if params else "",
            " ".join(f"{param.lr_mult:g}" for param in params),
            " ".join(f"{param.decay_mult:g}" for param in params),
            "; ".join(_remarks(net, plan)),
        ))  # fmt: skip
    total = sum(blob.count for blob in net.learnable_params)
    return "\n".join([
        table(rows, right=(0, 6)),
        f"phase {net.phase}, inputs {', '.join(net.inputs) or 'none'}, outputs {', '.join(net.outputs) or 'none'}",
        f"parameters: {total:,}, memory of tops: {net.memory_used:,} bytes",
    ])  # fmt: skip


def _remarks(net: Net, plan: LayerPlan) -> list[str]:
    """Say what the columns do not: losses, memory that is another's, numbers that no solver trains."""
    remarks = [f"loss, weight {weight:g}" for weight in plan.loss_weights if weight != 0.0]
    if set(plan.tops) & set(plan.bottoms):
        remarks.append("in place")
    params = [net.assembly.params[index] for index in plan.params]
    if any(not param.spec.learned for param in params):
        remarks.append(STATISTICS)
    for param in params:
        if param.owner is not None:
            owner = net.assembly.params[param.owner]
            remarks.append(f"parameter {param.place} is {param.name!r} of {net.assembly.layers[owner.layer].name!r}")
    return remarks
