"""MultiLayerNetwork: a network whose layers follow one another."""

from __future__ import annotations

from typing import Any, ClassVar

import nd
from nd.arguments import checked

from ..conf.network import MultiLayerConfiguration
from ..layers.runtime import LayerRuntime
from .inside import Inside
from .saving import Saved
from .trainable import Trainable

_HEADINGS = ("layer", "type", "in -> out", "parameters")
"""Of the columns of `summary`."""


class Network(Trainable, Inside, Saved):
    """Shared by all networks: training, prediction, a look inside, files and copies."""


class MultiLayerNetwork(Network):
    """A network whose layers follow one another.

    Parameters
    ----------
    conf : MultiLayerConfiguration
    params : array ``[1, n]``, optional
        As in Java, `init` is called with them.

    Notes
    -----
    The network owns one parameter vector and one gradient vector, ``[1, n]``; layers get views. It stays on the
    backend on which `init` ran, and takes data from the host or from that backend. What draws in training draws from
    `random`, its own generator, in any thread. Threads take turns, step by step; a second `fit` while another thread's
    runs is refused. Source: DL4J ``MultiLayerNetwork``. Differs: in Java a thread has one generator.
    """

    @checked
    def __init__(self, conf: MultiLayerConfiguration, params: Any = None) -> None:
        super().__init__(conf)
        if params is not None:
            self.init(params)

    java_names: ClassVar[dict[str, str]] = {
        "clear_layer_mask_arrays": "clear_masks", "gradients_view_array": "flattened_gradients",
        "input_mini_batch_size": "batch_size", "nlayers": "n_layers", "set_layer_mask_arrays": "set_masks",
        "set_parameters": "set_params",
    }  # fmt: skip

    def clone(self) -> MultiLayerNetwork:
        """Return an independent copy: configuration, parameters, counters, state of updater, optimizer, generator."""
        params, state = self.params(), self.updater_state()
        with self.lock, self.on_backend():
            self.updater.watch.give_up(self)
            twin = MultiLayerNetwork(self.conf.with_counts(self.iteration_count, self.epoch_count))
            twin.make(params, self.random.copy())
            twin.class_names = self.class_names
            nd.assign(twin.updater_state(), state)
            if self.solver is not None:
                twin.current_solver().optimizer.set_state(self.solver.optimizer.get_state())
        return twin

    @checked
    def get_layer(self, index: int | str) -> LayerRuntime:
        """Return a layer at work, by number or name: ``net.get_layer(0).pre_output(x)``.

        Raises
        ------
        ConfigurationError, ChoiceError
            There is no such layer.
        """
        self.check_init()
        if isinstance(index, str):
            names = self.layer_names
            index = names.index(nd.checks.check_choice("get_layer", "layer", index, names))
        if not 0 <= index < len(self.layers):
            raise nd.ConfigurationError(f"get_layer: index must be 0..{len(self.layers) - 1}, got {index}.")
        return self.layers[index]

    def summary(self) -> str:
        """Return a table: layer, type, shapes in and out, parameters, and their total."""
        return _summary(self.conf)


def _summary(conf: MultiLayerConfiguration) -> str:
    """Return a row for every layer, and the total number of parameters."""
    types = conf.layer_types()
    rows = [_HEADINGS]
    total = 0
    for index, layer in enumerate(conf.layers):
        count = sum(spec.length for spec in layer.param_specs())
        total += count
        if types:
            flow = f"{types[index][0]!r} -> {types[index][1]!r}"
        else:  # only the layers with parameters know their sizes
            n_in, n_out = (getattr(layer.innermost, name, None) for name in ("n_in", "n_out"))
            flow = f"{n_in} -> {n_out}" if n_in is not None else "same -> same"
        rows.append((f"{index} {layer.name or ''}".strip(), type(layer).__name__, flow, f"{count:,}"))
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=False)) for row in rows]
    lines = [f"{line}  {row[-1].rjust(widths[-1])}" for line, row in zip(lines, rows, strict=True)]
    rule = "-" * len(lines[0])
    return "\n".join([lines[0], rule, *lines[1:], rule, f"total parameters: {total:,}"])
