"""Which layers of a net are there: rules on its state, that is phase, level and stages."""

from __future__ import annotations

from collections.abc import Sequence

from nd import ConfigurationError
from nd.arguments import checked
from nd.checks import check_choice

from .naming import layer_text
from .schema import Message, check_kind, new

PHASES = {"TRAIN": 0, "TEST": 1}


@checked
def with_state(net: Message, phase: str | int, level: int = 0, stages: str | Sequence[str] = ()) -> Message:
    """Return a copy of a net in a state: the phase and the level are set, the stages added to those that it has.

    Raises
    ------
    ChoiceError
        The phase is neither ``"TRAIN"`` nor ``"TEST"`` (0 and 1 to Caffe, which do too).
    """
    check_kind("with_state", net, "NetParameter")
    changed = new("NetParameter")
    changed.CopyFrom(net)
    name = next((name for name, number in PHASES.items() if phase == number and not isinstance(phase, bool)), phase)
    number = PHASES[check_choice("nn.caffe", "phase", name, PHASES)]
    added = [stages] if isinstance(stages, str) else stages
    changed.state.MergeFrom(new("NetState", phase=number, level=level, stage=added))
    return changed


@checked
def filter_net(net: Message, who: str = "filter_net") -> Message:
    """Return a net without the layers whose rules its state does not meet.

    A layer with `include` rules is there if at least one is met, one with `exclude` rules if none is, any other always.
    Rules stay on the layers that are kept: filtering again changes nothing.

    Parameters
    ----------
    net : NetParameter
        Of the newest schema; its own `state` counts, which by default is the phase TEST at level 0, without stages.
    who : str
        For messages.

    Raises
    ------
    ConfigurationError
        A layer has rules of both kinds.

    Notes
    -----
    Source: BVLC Caffe, Net::FilterNet. Bottoms whose layer is left out are no matter here.
    """
    check_kind(who, net, "NetParameter")
    filtered = new("NetParameter")
    filtered.CopyFrom(net)
    filtered.ClearField("layer")
    kept = [layer for position, layer in enumerate(net.layer) if _is_there(net.state, layer, position, who)]
    filtered.layer.extend(kept)
    return filtered


def state_meets_rule(state: Message, rule: Message) -> bool:
    """Tell whether a NetState meets all conditions of a NetStateRule; a rule without any is always met."""
    check_kind("state_meets_rule", state, "NetState")
    check_kind("state_meets_rule", rule, "NetStateRule")
    stages = set(state.stage)
    return not (
        (rule.HasField("phase") and rule.phase != state.phase)
        or (rule.HasField("min_level") and state.level < rule.min_level)
        or (rule.HasField("max_level") and state.level > rule.max_level)
        or not stages.issuperset(rule.stage)
        or not stages.isdisjoint(rule.not_stage)
    )


def _is_there(state: Message, layer: Message, position: int, who: str) -> bool:
    if layer.include and layer.exclude:
        raise ConfigurationError(
            f"{who}: {layer_text(position, layer)}: expected include rules or exclude rules, got {len(layer.include)} "
            f"and {len(layer.exclude)}. State one kind; conditions within a rule hold together."
        )
    if layer.include:
        return any(state_meets_rule(state, rule) for rule in layer.include)
    return not any(state_meets_rule(state, rule) for rule in layer.exclude)
