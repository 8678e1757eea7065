"""Network: what all kinds of networks are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from nd.arguments import Natural, answer_calls, checked, shown
from nd.files.writing import Target

from ..terms import late
from ..terms.input_type import InputType
from .inside import Inside
from .intake import minibatch
from .pretrainable import Pretrainable
from .saving import Saved
from .streaming import Streaming

if TYPE_CHECKING:
    from ..conf.nodes import NetworkConfiguration
    from ..trace.trace import Trace


INNER = frozenset({"check_saveable", "compute_gradient_and_score", "fit_batch"})
"""Methods that the library itself calls, in every step: they are not looked at when a call fails."""


class Network(Pretrainable, Inside, Streaming, Saved):
    """Shared by all networks: training, prediction, a look inside, files and copies, a picture.

    Whatever a class of networks calls a method, a call that does not fit it is refused with what is meant.
    """

    def __init_subclass__(cls, **settings: object) -> None:
        super().__init_subclass__(**settings)
        answer_calls(cls, INNER)

    def __init__(self, conf: NetworkConfiguration, params: object = None) -> None:
        super().__init__(conf)
        if params is not None:
            self.init(params)

    @checked
    def layer_size(self, layer: int | str) -> int:
        """Return the n_out of a layer, by its number, in a graph by its name; 0 for one that has none."""
        return self._size_of(self._checked_layer("layer_size", layer), "n_out")

    @checked
    def layer_input_size(self, layer: int | str) -> int:
        """Return the n_in of a layer, by its number, in a graph by its name; 0 for one that has none."""
        return self._size_of(self._checked_layer("layer_input_size", layer), "n_in")

    def _size_of(self, node: int, name: str) -> int:
        return getattr(self.conf.nodes[node].conf, name, None) or 0

    __iter__: ClassVar[None] = None

    def __getitem__(self, key: object) -> Any:
        from nd.calls import not_indexed  # which programs without mistakes do not need

        raise not_indexed(self, "layers must be asked for by get_layer", key, f"Write net.get_layer({shown(key)}).")

    def summary(self, *input_types: InputType | None) -> str:
        """Return a table of the network: what it consists of, shapes, parameters."""
        raise NotImplementedError

    @checked
    def picture(self, target: Target, kind: str | None = None) -> None:
        """Draw the network: a box for every input, layer and vertex, with its type, shape and parameters.

        Parameters
        ----------
        target : path or binary file object
            Ends in ``.svg``, which any browser shows, or in ``.dot`` or ``.gv``, which Graphviz reads.
        kind : {"svg", "dot", "gv"}, optional
            In the place of the ending; of a file object "svg" without it.

        Raises
        ------
        ChoiceError
            The ending is another one.
        OSError
            The file cannot be written.

        Notes
        -----
        Arrows go from top to bottom, and behind no box. Shapes are there where the configuration has input types.
        Neither parameters nor another program are needed. Differs: Java has no such method.
        """
        late("write_picture")(self.conf, target, kind)

    @checked
    def trace(self, data: object, labels: object = None, recorded: bool = False, budget: Natural = 1 << 28) -> Trace:
        """Trace one training step, op by op: what each was given and gave, in which layer and phase, and how long.

        The step is taken by a copy: parameters, counters and the generator stay as they are, and listeners hear
        nothing. Its numbers are those of `fit`, to the bit.

        Parameters
        ----------
        data, labels
            A minibatch, as `fit_batch` takes it.
        recorded : bool
            Time the calls of the recording that `fit` replays, with its workers side by side. By default the step runs
            as in eager mode, one part of the minibatch after the other.
        budget : int
            Bytes of arrays that are kept, 256 MiB by default. Of arrays beyond it the trace has a sample, smallest and
            largest number, mean and histogram.

        Raises
        ------
        ConfigurationError
            `init` has not been called, an output has no loss, or with `recorded` the step is not recorded as calls.
        ShapeError, DTypeError
            The data do not fit the network.
        NumericError
            The score or the gradient is not finite.

        Notes
        -----
        The step is taken several times: times are those of the fastest step, in which nobody looked at arrays. On a
        device that computes while the host goes on they are those of the host. Differs: Java has no such method.
        """
        self.engine.check_made()
        copy = self.clone()
        taken = minibatch(copy, "trace", data, labels, learn=not copy.iteration_count)
        traced: Trace = late("trace_step")(copy, taken, recorded, budget)
        return traced
