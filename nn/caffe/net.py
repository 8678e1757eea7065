"""Net: Caffe's layers and blobs from a file, run forward and backward from any layer to any other."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import nd
from nd.arguments import Natural, checked
from nd.classes import ExplainedType
from nd.files.writing import Target
from nd.random import Random, drawing
from nd.state import Restoring
from nd.typing import Array

from .assembly import Assembly
from .configuration import Training
from .data.layers import DataLayer, data_layer_class
from .debugging import DebugLines
from .files import read_net
from .filter import PHASES, filter_net, with_state
from .messages import message_with_blobs, take_blobs
from .passes import LayerCallback
from .recorded import RecordedSteps
from .schema import Message, check_kind, kind_of
from .snapshots import write_weights
from .splits import insert_splits
from .structure import NetStructure
from .text import parse_text
from .upgrade import upgrade_net
from .weights import CopyReport, copy_weights, own_memory, share_weights

if TYPE_CHECKING:
    from ..networks.graph import ComputationGraph
    from ..trace.trace import Trace


class Net(NetStructure, metaclass=ExplainedType):
    """Caffe's Net: layers in the order of their file.

    Parameters
    ----------
    source : path, text of a prototxt, or NetParameter
        A text has a brace in it.
    weights : path, optional
        A .caffemodel or .caffemodel.h5 to copy weights from. A phase may stand here and the weights behind it, as in
        pycaffe.
    phase : {"TRAIN", "TEST"}, optional
        Caffe's 0 and 1 too. Without it TEST; of a message that of its own state.
    level : int
    stages : sequence of str, optional
        With the phase the state by which layers are in or out: see `filter_net`.
    dtype : {"float32", "float64"}
    seed : int, optional
        Of fillers, dropout and shuffles; without it another one every time.
    folder : path
        From which files are named that the net reads; Caffe's is the working directory.
    training : Training, optional
        How a solver trains it: `get_solver` says it.

    Raises
    ------
    FileNotFoundError, FormatError
        As `read_net`.
    ConfigurationError, ShapeError
        Where Caffe ends the process; they name layer, blob and both shapes.

    Attributes
    ----------
    blobs : dict of str -> Blob
        In the order in which they come to be.
    params : dict of str -> list of ParamBlob
        Of the layers that have parameters.
    layers : list of CaffeLayer or DataLayer
    network : CaffeNetwork
        The layers as nodes: what a solver trains.
    random : Random
        The generator of everything that is drawn.
    steps : RecordedSteps
        What a solver's steps are taken by.
    loss : float
        The weighted sum of the losses of the last forward pass.

    Notes
    -----
    Source: BVLC Caffe, net.cpp, and pycaffe. Differs: the weight of a loss is kept apart from the diff with which the
    way back begins, and a layer in place whose backward pass needs what it overwrites has a copy.
    """

    @checked
    def __init__(
        self,
        source: Any,
        weights: Any = None,
        phase: Any = None,
        level: int = 0,
        stages: Sequence[str] | None = None,
        *,
        dtype: str = "float32",
        seed: int | None = None,
        folder: str | os.PathLike[str] = "",
        training: Training | None = None,
    ) -> None:
        if _is_phase(weights):
            weights, phase = phase, weights
        message = _message_of(source)
        if phase is not None or level or stages or kind_of(source) != "NetParameter":
            message = with_state(message, "TEST" if phase is None else phase, level, tuple(stages or ()))
        self.message = insert_splits(filter_net(message, "Net"), "Net")
        random = Random(time.time_ns() % 2**31 if seed is None else seed)
        self.folder = folder

        def open_data(layer: Message, label: str, its_phase: str) -> DataLayer:
            return data_layer_class(layer.type)(layer, label, its_phase, dtype, random, os.fspath(folder))

        super().__init__(Assembly(self.message, dtype, open_data), dtype, random, training)
        self._training = [plan.message.phase == PHASES["TRAIN"] for plan in self._plans]
        self.steps = RecordedSteps(self)
        self._debug = DebugLines(self)
        self._debug.switch(bool(self.message.debug_info))
        self.loss = 0.0
        with self._at_work():
            take_blobs(self)
        if weights is not None:
            self.copy_from(weights)

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        network = self.network
        with network.lock, Restoring(), network.engine.on_backend(), network.backend.quiet(), drawing(self.random):
            yield

    # ---- as pycaffe runs a net

    def forward(
        self, blobs: Sequence[str] | None = None, start: Any = None, end: Any = None, **inputs: Any
    ) -> dict[str, Array]:
        """Run layers forward; return the outputs by name, or the tops of `end`, and further `blobs`.

        Parameters
        ----------
        blobs : sequence of str, optional
        start, end : str or int, optional
            First and last layer, both included; by default all.
        **inputs : array of the shape of its blob
            Numbers for all blobs of `inputs`.

        Raises
        ------
        ConfigurationError, ChoiceError
            Other inputs are given than there are, or there is no such layer.
        ShapeError
            An array does not fit its blob.
        """
        first, last = self._span("forward", start, end, 0, len(self._plans) - 1)
        if inputs:
            self._check_names("forward", "inputs", inputs, self.inputs)
        for name, values in inputs.items():
            self.blobs[name].write("data", values)
        self.forward_from_to(first, last)
        tops = self.outputs if end is None else self.top_names[self._plans[last].name]
        return {name: self.blobs[name].data for name in dict.fromkeys([*tops, *(blobs or ())])}

    def backward(
        self, diffs: Sequence[str] | None = None, start: Any = None, end: Any = None, **epsilons: Any
    ) -> dict[str, Array]:
        """Take diffs back from layer `start` to `end`, both included; return those of the inputs, and further `diffs`.

        Parameters
        ----------
        diffs : sequence of str, optional
            Names of blobs.
        start, end : str or int, optional
            By default the last layer and the first; with an `end` the diffs of its bottoms are returned.
        **epsilons : array of the shape of its blob
            Diffs for all blobs of `outputs`, or of the tops of `start`.

        Raises
        ------
        ConfigurationError, ChoiceError, ShapeError
            As `forward`.
        """
        first, last = self._span("backward", start, end, len(self._plans) - 1, 0)
        if epsilons:
            names = self.outputs if start is None else self.top_names[self._plans[first].name]
            self._check_names("backward", "outputs", epsilons, names)
        for name, values in epsilons.items():
            self.blobs[name].write("diff", values)
        self.backward_from_to(first, last)
        bottoms = self.inputs if end is None else self.bottom_names[self._plans[last].name]
        return {name: self.blobs[name].diff for name in dict.fromkeys([*bottoms, *(diffs or ())])}

    def _span(self, who: str, start: Any, end: Any, first: int, last: int) -> tuple[int, int]:
        return (
            first if start is None else self.layer_number(who, start),
            last if end is None else self.layer_number(who, end),
        )

    @staticmethod
    def _check_names(who: str, kind: str, given: dict[str, Any], names: Sequence[str]) -> None:
        if set(given) != set(names):
            raise nd.ConfigurationError(
                f"{who}: arrays must be given for all {kind} or for none, {list(names)}, got {list(given)}."
            )

    # ---- as Caffe does

    @checked
    def forward_from_to(self, start: int, end: int) -> float:
        """Run layers start .. end, both included; return the weighted sum of their losses."""
        first, last = self.layer_number("forward_from_to", start), self.layer_number("forward_from_to", end)
        with self._at_work():
            self.loss = self._passes.forward(first, last, self._training)
        return self.loss

    def forward_from(self, start: int) -> float:
        """Run layers from that one on; return the weighted sum of their losses."""
        return self.forward_from_to(start, len(self._plans) - 1)

    def forward_to(self, end: int) -> float:
        """Run layers up to that one; return the weighted sum of their losses."""
        return self.forward_from_to(0, end)

    @checked
    def backward_from_to(self, start: int, end: int) -> None:
        """Take diffs back through layers start .. end, both included; from the middle on with what the diffs hold."""
        first, last = self.layer_number("backward_from_to", start), self.layer_number("backward_from_to", end)
        with self._at_work():
            self._whole_gradient()
            self._passes.backward(first, last)
            if first == len(self._plans) - 1 and last == 0:
                self._debug.after_backward()

    def backward_from(self, start: int) -> None:
        """Take diffs back from that layer to the first."""
        self.backward_from_to(start, 0)

    def backward_to(self, end: int) -> None:
        """Take diffs back from the last layer to that one."""
        self.backward_from_to(len(self._plans) - 1, end)

    def forward_backward(self) -> float:
        """Run all layers forward and backward; return the loss."""
        last = len(self._plans) - 1
        loss = self.forward_from_to(0, last)
        self.backward_from_to(last, 0)
        return loss

    def clear_param_diffs(self) -> None:
        """Make the gradients of all parameters zeros: backward passes add to them."""
        with self._at_work():
            nd.fill(self.network.flattened_gradients(), 0.0)

    def update(self) -> None:
        """Subtract their diffs from the parameters."""
        with self._at_work():
            self._whole_gradient()
            nd.subi(self.network.params(), self.network.engine.vectors.gradient)

    def reshape(self) -> None:
        """Give all blobs the shapes that follow from those of the inputs, without computing."""
        with self._at_work():
            self._passes.reshape(self.layers)

    def keep(self, *names: str) -> None:
        """Keep data and diffs of these blobs in a solver's steps, from the next one on; others' no longer.

        Losses and outputs are kept always, and everything by `forward` and `backward`. Without names nothing else is.
        Numbers stay what they are, to the bit. Raises ChoiceError for a name of no blob.
        """
        self.steps.keep(names)

    @checked
    def trace(self, features: Any = None, recorded: bool = False, budget: Natural = 1 << 28) -> Trace:
        """Trace one training step, op by op: what each was given and gave, in which layer and phase, and how long.

        Parameters
        ----------
        features : sequence of array, optional
            Of the tops of all layers that bring data. Without it the arrays that come next, which still come next.
        recorded, budget
            As of `nn.networks.Network.trace`, which says what is raised, too.

        Notes
        -----
        The step is that of a solver whose net this is, its update too; of another net the gradient is subtracted. It
        is taken by a copy.
        """
        if features is None:
            states = [layer.get_state() for layer in self.data_layers]
            features = self.steps.features()
            for layer, state in zip(self.data_layers, states, strict=True):
                layer.set_state(state)
        with self._at_work():
            own_memory(self)
        return self.network.trace(features, None, recorded, budget)

    # ---- callbacks

    def before_forward(self, function: LayerCallback) -> None:
        """Have a function called before every layer runs forward, with its number."""
        self.callbacks["before_forward"].append(function)

    def after_forward(self, function: LayerCallback) -> None:
        """Have a function called after every layer has run forward, with its number."""
        self.callbacks["after_forward"].append(function)

    def before_backward(self, function: LayerCallback) -> None:
        """Have a function called before every layer goes backward, with its number; also where it has nothing to do."""
        self.callbacks["before_backward"].append(function)

    def after_backward(self, function: LayerCallback) -> None:
        """Have a function called after every layer has gone backward, with its number."""
        self.callbacks["after_backward"].append(function)

    @property
    def debug_info(self) -> bool:
        """Whether every pass logs the mean absolute values of blobs and parameters."""
        return self._debug.on

    @debug_info.setter
    def debug_info(self, on: bool) -> None:
        self._debug.switch(bool(on))

    # ---- weights

    @checked
    def copy_from(self, source: Any, mode: str = "strict") -> CopyReport:
        """Copy the weights of the layers of the same names; return what became of them.

        Parameters
        ----------
        source : path, NetParameter, or Net
            A .caffemodel or .caffemodel.h5; several paths with commas between them are copied in their order.
        mode : {"strict", "skip", "reshape"}
            Of weights that do not fit: an error, left out, or taken where the number of elements is the same.

        Raises
        ------
        FileNotFoundError, FormatError
            As `read_weights`.
        ShapeError
            In strict mode: as many parameters, each of the net's shape, are not there.
        """
        return copy_weights("copy_from", self, source, mode)

    def share_with(self, other: Net) -> None:
        """Use another net's memory for the parameters of the layers of the same names; raise ShapeError if they differ.

        Diffs stay apart. A net that shares its weights computes, but cannot be trained by a solver.
        """
        share_weights("share_with", self, other)

    def to_proto(self, write_diff: bool = False) -> Message:
        """Return the net as a NetParameter: layers as they run, their parameters, and gradients where wanted."""
        with self._at_work():
            return message_with_blobs(self, write_diff)

    @checked
    def save(self, target: Target, write_diff: bool = False) -> None:
        """Write a .caffemodel; a name that ends in ``.h5`` gets HDF5."""
        write_weights(self.to_proto(write_diff), target)

    @checked
    def save_hdf5(self, target: Target, write_diff: bool = False) -> None:
        """Write the parameters as HDF5; the name must end in ``.h5``."""
        write_weights(self.to_proto(write_diff), target)

    def load_hdf5(self, source: Any) -> CopyReport:
        """Copy weights from an HDF5 file."""
        return self.copy_from(source)

    def to_computation_graph(self, **settings: Any) -> ComputationGraph:
        """Return the net as a Deeplearning4j graph with the same outputs: see `nn.caffe.to_graph.convert_net`."""
        from .to_graph import to_computation_graph  # and layers that a net does not need

        return to_computation_graph(self, **settings)


def _is_phase(given: object) -> bool:
    return (given in PHASES) if isinstance(given, str) else (type(given) is int and given in PHASES.values())


def _message_of(source: Any) -> Message:
    """Return the net that a path, a text or a message is, of the newest schema."""
    if isinstance(source, str) and "{" in source:
        return upgrade_net(parse_text(source, "NetParameter"))
    if isinstance(source, (str, os.PathLike)) or hasattr(source, "read"):
        return read_net(source)
    check_kind("Net", source, "NetParameter")
    return upgrade_net(source)
