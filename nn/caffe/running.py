"""RunningNet: a net's passes, whole ones and from any layer to any other, as Caffe and pycaffe run them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import nd
from nd.arguments import checked
from nd.checks import check_choice
from nd.random import Random, drawing
from nd.state import Restoring
from nd.typing import Array

from .assembly import Assembly
from .batches import forward_all, forward_backward_all
from .configuration import Training
from .data.memory_data import MemoryData
from .debugging import DebugLines
from .filter import PHASES
from .passes import LayerCallback
from .recorded import RecordedSteps
from .structure import NetStructure

NOTHING_BACK = (
    "backward: no layer of the net goes backward, so that no diff changes: there is neither a loss nor anything to "
    "train. Write force_backward: true into the net for gradients of what has none."
)


class RunningNet(NetStructure):
    """The layers of a net as they run, by hand or in a solver's steps; parameters as NetStructure.

    Attributes
    ----------
    steps : RecordedSteps
        What a solver's steps are taken by.
    loss : float
        The weighted sum of the losses of the last forward pass.
    """

    def __init__(self, assembly: Assembly, dtype: str, random: Random, training: Training | None = None) -> None:
        super().__init__(assembly, dtype, random, training)
        self._training = [plan.message.phase == PHASES["TRAIN"] for plan in self._plans]
        self.steps = RecordedSteps(self)
        self._debug = DebugLines(self)
        self._debug.switch(bool(assembly.net.debug_info))
        self.loss = 0.0

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        network = self.network
        with network.lock, Restoring(), network.engine.on_backend(), network.backend.quiet(), drawing(self.random):
            yield

    # ---- as pycaffe runs a net

    @checked
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
        self._check_blobs("forward", blobs)
        if inputs:
            self._check_names("forward", "inputs", inputs, self.inputs)
        with self.network.lock:  # no other thread's arrays come between
            for name, values in inputs.items():
                self.blobs[name].write("data", values)
            self.forward_from_to(first, last)
        tops = self.outputs if end is None else self.top_names[self._plans[last].name]
        return {name: self.blobs[name].data for name in dict.fromkeys([*tops, *(blobs or ())])}

    @checked
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
        self._check_blobs("backward", diffs)
        if epsilons:
            names = self.outputs if start is None else self.top_names[self._plans[first].name]
            self._check_names("backward", "outputs", epsilons, names)
        with self.network.lock:
            for name, values in epsilons.items():
                self.blobs[name].write("diff", values)
            self.backward_from_to(first, last)
        bottoms = self.inputs if end is None else self.bottom_names[self._plans[last].name]
        return {name: self.blobs[name].diff for name in dict.fromkeys([*bottoms, *(diffs or ())])}

    def _span(self, who: str, start: Any, end: Any, first: int, last: int) -> tuple[int, int]:
        return (
            first if start is None else self._layer_number(who, start),
            last if end is None else self._layer_number(who, end),
        )

    def _check_blobs(self, who: str, names: Sequence[str] | None) -> None:
        for name in names or ():
            check_choice(who, "blob", name, self.blobs)

    @staticmethod
    def _check_names(who: str, kind: str, given: dict[str, Any], names: Sequence[str]) -> None:
        if set(given) != set(names):
            raise nd.ConfigurationError(
                f"{who}: arrays must be given for all {kind} or for none, {list(names)}, got {list(given)}."
            )

    @checked
    def forward_all(self, blobs: Sequence[str] | None = None, **inputs: Any) -> dict[str, Array]:
        """Run any number of rows forward, a minibatch after the other; return outputs and further `blobs` of all rows.

        Parameters
        ----------
        blobs : sequence of str, optional
        **inputs : array ``[N, ...]``
            Rows for all blobs of `inputs`. Zeros fill up the last minibatch; what comes of them is left out.

        Raises
        ------
        ConfigurationError
            Other inputs are given than there are.
        ShapeError
            They have not equally many rows, do not fit, or a blob has not a row for each.
        """
        return forward_all(self, blobs or (), inputs)

    @checked
    def forward_backward_all(
        self, blobs: Sequence[str] | None = None, diffs: Sequence[str] | None = None, **arrays: Any
    ) -> tuple[dict[str, Array], dict[str, Array]]:
        """Run any number of rows forward and back; return data of outputs and `blobs`, diffs of inputs and `diffs`.

        Parameters
        ----------
        blobs, diffs : sequence of str, optional
        **arrays : array ``[N, ...]``
            Rows for all blobs of `inputs`, and diffs for all of `outputs` or none. Otherwise as `forward_all`.
        """
        return forward_backward_all(self, blobs or (), diffs or (), arrays)

    def set_input_arrays(self, data: Any, labels: Any) -> None:
        """Give arrays to the first layer, which must be MemoryData; see `MemoryData.reset`."""
        first = self.layers[0] if self.layers else None
        if not isinstance(first, MemoryData):
            raise nd.ConfigurationError(
                f"set_input_arrays: the first layer must be MemoryData, got {getattr(first, 'label', 'none')}."
            )
        with self._at_work():
            first.reset(data, labels)

    # ---- as Caffe does

    @checked
    def forward_from_to(self, start: int, end: int) -> float:
        """Run layers start .. end, both included; return the weighted sum of their losses."""
        first, last = self._layer_number("forward_from_to", start), self._layer_number("forward_from_to", end)
        with self._at_work():
            passes = partial(self._passes.forward, first, last, self._training)
            (self.loss,) = nd.run_tasks([passes], light=True)  # which holds the BLAS to as many threads as there may be
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
        first, last = self._layer_number("backward_from_to", start), self._layer_number("backward_from_to", end)
        if not any(self.layer_need_backward):
            warnings.warn(NOTHING_BACK, stacklevel=2)
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
            for blob in self.learnable_params:  # which may lie in another net's memory
                nd.subi(blob.read("data"), blob.read("diff"))

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
