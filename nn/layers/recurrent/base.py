"""Shared by layers that go through series step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import nd
from nd.typing import Array
from optimize.builder import Builder

from ...terms import data_formats
from ...terms.builder_names import of_parameter
from ...terms.distributions import Distribution
from ...terms.java_form import TIMED, JavaForm
from ...terms.weights import weight_init_of
from ..base import FeedForwardConf
from ..runtime import LayerRuntime, State
from ..series import SeriesConf, check_series


class RecurrentRuntime(LayerRuntime):
    """A layer of `n_out` units that carries arrays ``[N, n_out]`` from step to step."""

    state_names: ClassVar[tuple[str, ...]]
    """Names of these arrays in Java's maps of states."""

    def initial_state(self, examples: int) -> State:
        return tuple(nd.zeros(examples, self.conf.n_out, dtype=self.dtype) for _ in self.state_names)

    def check_series(self, x: Array) -> None:
        """Raise unless x is ``[N, n_in, T]``, with a step at least."""
        check_series(self.label, x, self.conf.n_in)


@dataclass(frozen=True, kw_only=True)
class RecurrentConf(SeriesConf):
    """A layer from series of n_in to series of n_out numbers.

    Parameters
    ----------
    n_in, n_out : int
        Numbers in and out per time step; n_in is inferred when the network has an input type.
    weight_init_recurrent : str or Distribution, optional
        Of the recurrent weights; without it they start as the others.
    data_format : {"NCW", "NWC"}, optional
        Order of the axes of what comes in and goes out; that of what comes in unless given.
    """

    weight_init_recurrent: str | Distribution | None = None
    data_format: str | None = None
    formats: ClassVar[tuple[str, ...]] = data_formats.SERIES
    gives_steps: ClassVar[bool] = True
    """Whether the activations lie step by step in Java's memory, in whose order a dropout behind them is drawn."""
    form: ClassVar[JavaForm] = FeedForwardConf.form.more(
        {"weightInitFnRecurrent": ("weight_init_recurrent", "weight init")}, TIMED
    ).formatted("rnnDataFormat")
    shape_fields: ClassVar[Mapping[str, object]] = FeedForwardConf.shape_fields
    builder_verbs: ClassVar[dict[str, Callable[..., Builder]]] = {
        **SeriesConf.builder_verbs,
        "constrain_input_weights": of_parameter("W"), "constrain_recurrent": of_parameter("RW"),
    }  # fmt: skip
    builder_names: ClassVar[dict[str, str]] = {
        **SeriesConf.builder_names, "input_weight_constraints": "constrain_input_weights",
        "recurrent_constraints": "constrain_recurrent",
    }  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(
            self, "weight_init_recurrent", weight_init_of(type(self).__name__, self.weight_init_recurrent)
        )
