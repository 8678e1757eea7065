"""Which nets a solver trains and tests: its fields that name or hold nets, and the states that they are in."""

from __future__ import annotations

import os
from typing import Any

from nd import ConfigurationError
from nd.arguments import checked

from .files import read_net
from .schema import Message, check_kind, new
from .upgrade import upgrade_net

_TRAIN_FIELDS = ("train_net_param", "train_net", "net_param", "net")


@checked
def net_to_train(solver: Message, folder: str | os.PathLike[str] = "") -> Message:
    """Return the net that a solver trains, in the state that it has in training.

    Parameters
    ----------
    solver : SolverParameter
        Of the newest schema.
    folder : path
        From which files of nets are named; Caffe's is the working directory.

    Returns
    -------
    NetParameter
        Upgraded, not filtered. Its state is TRAIN, under what the net itself says, under `train_state`; stages of all
        of them.

    Raises
    ------
    ConfigurationError
        Not exactly one of `net`, `net_param`, `train_net` and `train_net_param` is there.
    FileNotFoundError, FormatError
        As for `read_net`.
    """
    check_kind("net_to_train", solver, "SolverParameter")
    given = [field for field in _TRAIN_FIELDS if solver.HasField(field)]
    if len(given) != 1:
        raise ConfigurationError(
            f"net_to_train: expected exactly one of {', '.join(_TRAIN_FIELDS)}, got {', '.join(given) or 'none'}."
        )
    state = solver.train_state if solver.HasField("train_state") else None
    return _in_state(_net(getattr(solver, given[0]), folder), "TRAIN", state)


@checked
def nets_to_test(solver: Message, folder: str | os.PathLike[str] = "") -> list[Message]:
    """Return the nets that a solver tests, in their states; arguments as `net_to_train`.

    Returns
    -------
    list of NetParameter
        Those of `test_net_param`, then of `test_net`, then the net in `net_param` or `net`, once for each number of
        `test_iter` that is left. States are TEST, under what a net itself says, under its `test_state`.

    Raises
    ------
    ConfigurationError
        There is not one number in `test_iter` for each net, not as many of `test_state`, or no `test_interval`.
    FileNotFoundError, FormatError
        As for `read_net`.
    """
    check_kind("nets_to_test", solver, "SolverParameter")
    own: list[Any] = [*solver.test_net_param, *solver.test_net]
    general: list[Any] = [getattr(solver, field) for field in ("net_param", "net") if solver.HasField(field)][:1]
    count = len(solver.test_iter) if general else len(own)
    if len(solver.test_iter) < len(own) or count != len(solver.test_iter):
        raise ConfigurationError(
            f"nets_to_test: test_iter must be one number for each net, got {list(solver.test_iter)} for {len(own)} of "
            f"test_net and test_net_param. Numbers beyond those are for net or net_param."
        )
    states = list(solver.test_state) or [None] * count
    if len(states) != count:
        raise ConfigurationError(
            f"nets_to_test: test_state must be there once for each of {count} nets, got {len(states)}."
        )
    if count and solver.test_interval <= 0:
        raise ConfigurationError(
            f"nets_to_test: test_interval must be > 0 where nets are tested, got {solver.test_interval}."
        )
    nets = [*own, *general * (count - len(own))]
    return [_in_state(_net(net, folder), "TEST", state) for net, state in zip(nets, states, strict=True)]


def _net(given: Any, folder: str | os.PathLike[str]) -> Message:
    return read_net(os.path.join(folder, given)) if isinstance(given, str) else upgrade_net(given)


def _in_state(net: Message, phase: str, state: Message | None) -> Message:
    """Return a net with its state between a phase, which it may override, and a state, which may override it."""
    merged = new("NetState", phase=phase)
    merged.MergeFrom(net.state)
    if state is not None:
        merged.MergeFrom(state)
    net.state.CopyFrom(merged)
    return net
