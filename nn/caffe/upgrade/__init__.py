"""Messages of old files as those of the newest schema: nets in five steps, solvers in one."""

from __future__ import annotations

import os

from nd import ConfigurationError
from nd.arguments import checked
from nd.files.reading import checked_path

from ..schema import Message, check_kind, new
from .inputs import upgrade_batch_norms, upgrade_inputs
from .v0 import upgrade_v0
from .v1 import upgrade_data_layers, upgrade_v1

NET_STEPS = (upgrade_v0, upgrade_data_layers, upgrade_v1, upgrade_inputs, upgrade_batch_norms)
"""Each changes a net in place where it has something of its kind, and tells what has no successor."""

SOLVER_TYPES = ("SGD", "Nesterov", "AdaGrad", "RMSProp", "AdaDelta", "Adam")
"""In the order of the numbers that the field solver_type has."""


@checked
def upgrade_net(net: Message, who: str = "upgrade_net") -> Message:
    """Return a NetParameter as the newest schema has it; of one that is so already, an equal one.

    In this order: layers of V0 to V1, transformations out of data layers, V1 to V2, the fields `input` to an Input
    layer, BatchNorm's three parameters to those that no solver changes.

    Parameters
    ----------
    net : NetParameter
        Not changed.
    who : str
        For messages: the name of the file.

    Raises
    ------
    ConfigurationError
        The net is of both kinds, or has padding that no convolution or pooling takes.

    Notes
    -----
    What a layer says that its type has no field for is left out, with a warning.
    Source: BVLC Caffe, util/upgrade_proto.cpp.
    """
    check_kind(who, net, "NetParameter")
    upgraded = new("NetParameter")
    upgraded.CopyFrom(net)
    return upgrade_net_in_place(upgraded, who)


def upgrade_net_in_place(net: Message, who: str) -> Message:
    """Upgrade a net that nobody else has; see `upgrade_net`."""
    for step in NET_STEPS:
        step(net, who)
    return net


@checked
def upgrade_solver(solver: Message, path: str | os.PathLike[str] | None = None, who: str = "upgrade_solver") -> Message:
    """Return a SolverParameter as the newest schema has it, its nets too.

    Parameters
    ----------
    solver : SolverParameter
        Not changed.
    path : path, optional
        Of its file: it names snapshots where the solver does not, ``lenet_solver`` for ``lenet_solver.prototxt``. So
        does a `snapshot_prefix` that is a folder: snapshots lie in there under that name.
    who : str
        For messages.

    Raises
    ------
    ConfigurationError
        Both `type` and its predecessor `solver_type` are there, or a net of it cannot be upgraded.
    """
    check_kind(who, solver, "SolverParameter")
    upgraded = new("SolverParameter")
    upgraded.CopyFrom(solver)
    if upgraded.HasField("solver_type"):
        if upgraded.HasField("type"):
            raise ConfigurationError(
                f"{who}: expected type or its predecessor solver_type, got both: {upgraded.type!r} and "
                f"{SOLVER_TYPES[upgraded.solver_type]!r}. Leave solver_type out."
            )
        upgraded.type = SOLVER_TYPES[upgraded.solver_type]
        upgraded.ClearField("solver_type")
    if path is not None:
        _name_snapshots(upgraded, checked_path(who, path))
    for field in ("train_net_param", "net_param"):
        if upgraded.HasField(field):
            upgrade_net_in_place(getattr(upgraded, field), f"{who}: {field}")
    for position, net in enumerate(upgraded.test_net_param):
        upgrade_net_in_place(net, f"{who}: test_net_param[{position}]")
    return upgraded


def _name_snapshots(solver: Message, path: str) -> None:
    name = os.path.splitext(path)[0]
    if not solver.HasField("snapshot_prefix"):
        solver.snapshot_prefix = name
    elif os.path.isdir(solver.snapshot_prefix):
        solver.snapshot_prefix = os.path.join(solver.snapshot_prefix, os.path.basename(name))
