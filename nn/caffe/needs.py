"""Which layers of a net go backward, and to which of their bottoms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .layers import layer_class
from .schema import Message

if TYPE_CHECKING:
    from .assembly import Assembly, LayerPlan


@dataclass(frozen=True)
class WaysBack:
    """What a net's backward pass consists of.

    Attributes
    ----------
    layers : list of bool
        Of every layer whether it goes backward.
    bottoms : list of list of bool
        Of every layer to which bottoms.
    params : list of list of bool
        Of every layer which parameters get a gradient.
    """

    layers: list[bool]
    bottoms: list[list[bool]]
    params: list[list[bool]]


def ways_back_of(net: Assembly) -> WaysBack:
    """Return who goes backward: a sweep in the order of the layers, one against it, and `force_backward`.

    Notes
    -----
    Source: BVLC Caffe, net.cpp, Net::Init.
    """
    blobs = [False] * len(net.blobs)
    ways = WaysBack([], [], [])
    for plan, in_file in zip(net.layers, net.net.layer, strict=True):
        _forward(plan, in_file, blobs, ways)
    _prune(net, ways)
    if net.net.force_backward:
        _force(net, blobs, ways)
    return ways


def _forward(plan: LayerPlan, in_file: Message, blobs: list[bool], ways: WaysBack) -> None:
    """Say what a layer needs by what is below it: something to train there, or in itself.

    By the net's own message statistics count as trained, unless it says otherwise.
    """
    given = plan.message.propagate_down
    below = [blobs[blob] for blob in plan.bottoms]
    learned = [multiplier != 0.0 for multiplier in _rates(plan.message, plan)]
    needs = any(below) or any(multiplier != 0.0 for multiplier in _rates(in_file, plan))
    ways.layers.append(needs)
    ways.bottoms.append(list(given) if given else below)
    ways.params.append(learned)
    for blob in plan.tops if needs else ():
        blobs[blob] = True


def _rates(message: Message, plan: LayerPlan) -> list[float]:
    """Return lr_mult of all parameters of a layer as a message of it says, 1 where that says none."""
    given = message.param
    return [given[place].lr_mult if place < len(given) else 1.0 for place in range(len(plan.params))]


def _prune(net: Assembly, ways: WaysBack) -> None:
    """Take back what no loss depends on, and what `propagate_down` cuts off; by names, as layers in place share one."""
    under_loss: set[str] = set()
    skipped: set[str] = set()
    for number, plan in reversed(list(enumerate(net.layers))):
        tops = _names(net, plan.tops)
        weighed = any(weight != 0.0 for weight in plan.loss_weights)
        contributes = weighed or any(name in under_loss for name in tops)
        skips = all(name in skipped for name in tops)
        if ways.layers[number] and skips:
            ways.layers[number] = False
            ways.bottoms[number] = [False] * len(plan.bottoms)
        if not contributes:
            ways.layers[number] = False
        for place, name in enumerate(_names(net, plan.bottoms)):
            if contributes:
                under_loss.add(name)
            else:
                ways.bottoms[number][place] = False
            if not ways.bottoms[number][place]:
                skipped.add(name)


def _names(net: Assembly, blobs: Sequence[int]) -> list[str]:
    """Return the names of blobs; those that are automatic have one for each, as no layer reads them."""
    return [net.blobs[blob].name for blob in blobs]


def _force(net: Assembly, blobs: list[bool], ways: WaysBack) -> None:
    """Have everything go backward, but to the bottoms that layers refuse: labels."""
    for number, plan in enumerate(net.layers):
        ways.layers[number] = True
        refused = () if plan.conf is None else layer_class(plan.message.type).not_forced
        for place, blob in enumerate(plan.bottoms):
            allowed = place not in refused
            ways.bottoms[number][place] = ways.bottoms[number][place] or allowed
            blobs[blob] = blobs[blob] or ways.bottoms[number][place]
        ways.params[number] = [True] * len(plan.params)
