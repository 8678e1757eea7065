"""Net: Caffe's layers and blobs from a file, run forward and backward from any layer to any other."""

from __future__ import annotations

import copy
import os
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

import nd
from nd.arguments import Natural, checked, shown
from nd.classes import ExplainedType
from nd.files.reading import ending_of
from nd.files.writing import Target
from nd.random import Random
from nd.state import Restoring

from ..files.hdf5 import ENDINGS
from ..files.serializer import OTHER_MODELS, refuse_settings
from .assembly import Assembly
from .configuration import Training
from .data.layers import DataLayer, data_layer_class
from .filter import filter_net, with_state
from .messages import message_with_blobs, take_blobs
from .opening import arguments_of, message_of
from .running import RunningNet
from .schema import Message, kind_of
from .snapshots import write_weights
from .splits import insert_splits
from .summaries import summary_of
from .twins import restore, state_of
from .weights import CopyReport, copy_weights, own_memory, share_weights

if TYPE_CHECKING:
    from ..networks.graph import ComputationGraph
    from ..trace.trace import Trace


class Net(RunningNet, metaclass=ExplainedType):
    """Caffe's Net: layers in the order of their file.

    Parameters
    ----------
    source : path, text of a prototxt, or NetParameter
        A text has a brace in it.
    *settings
        The next four without their names: weights, phase, level, stages, or as in pycaffe phase, level, stages,
        weights.
    weights : path, optional
        A .caffemodel or .caffemodel.h5 to copy weights from.
    phase : {"TRAIN", "TEST"}, optional
        Caffe's 0 and 1 too. Without it TEST; of a message that of its own state.
    level : int, optional
        0 without it.
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

    A net can be pickled and copied: parameters, diffs, blobs, generator, and where its layers of data are, which open
    their sources again. A copy shares nothing, has no callbacks and no solver; its first pass must go forward.

    Threads take turns, pass by pass. What `forward` and `backward` return is the net's memory, that of `forward_all` a
    copy: threads with arrays of their own call that.
    """

    @checked
    def __init__(
        self,
        source: Any,
        *settings: Any,
        weights: Any = None,
        phase: Any = None,
        level: int | None = None,
        stages: Sequence[str] | None = None,
        dtype: str = "float32",
        seed: int | None = None,
        folder: str | os.PathLike[str] = "",
        training: Training | None = None,
    ) -> None:
        told = arguments_of(settings, {"weights": weights, "phase": phase, "level": level, "stages": stages})
        weights, phase, level, stages = (told[name] for name in ("weights", "phase", "level", "stages"))
        message = message_of(source)
        if phase is not None or level or stages or kind_of(source) != "NetParameter":
            message = with_state(message, "TEST" if phase is None else phase, level or 0, stages or ())
        random = Random(time.time_ns() % 2**31 if seed is None else seed)

        def open_data(layer: Message, label: str, its_phase: str) -> DataLayer:
            return data_layer_class(layer.type)(layer, label, its_phase, dtype, random, os.fspath(folder))

        self.set_up(insert_splits(filter_net(message, "Net"), "Net"), open_data, dtype, random, folder, training)
        with self._at_work():
            take_blobs(self)
        if weights is not None:
            self.copy_from(weights)

    def set_up(
        self,
        message: Message,
        open_data: Callable[[Message, str, str], DataLayer],
        dtype: str,
        random: Random,
        folder: str | os.PathLike[str],
        training: Training | None = None,
    ) -> None:
        """Make what a net consists of, of a message that is filtered and has its splits; for the library itself."""
        self.message, self.folder = message, folder
        RunningNet.__init__(self, Assembly(message, dtype, open_data), dtype, random, training)
        self._made = frozenset([*vars(self), "_made"])

    def summary(self) -> str:
        """Return a table of the layers: type, shapes, parameters and their multipliers, and what is to be known."""
        return summary_of(self)

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
        if not isinstance(features, (list, tuple)) or len(features) != len(self.assembly.inputs):
            raise nd.DTypeError(
                f"trace: features must be a list of {len(self.assembly.inputs)} array(s), of the tops of all layers "
                f"that bring data, got {shown(features)}. Leave it out to have what comes next."
            )
        with self._at_work():
            own_memory(self)
        return self.network.trace(features, None, recorded, budget)

    # ---- copies

    def given_attributes(self) -> dict[str, Any]:
        """Return the attributes that somebody has given the net: copies have them too."""
        return {name: value for name, value in vars(self).items() if name not in self._made}

    def __getstate__(self) -> dict[str, Any]:
        return state_of(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        restore(self, state)

    def __copy__(self) -> Self:
        return copy.deepcopy(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        twin = memo[id(self)] = type(self).__new__(type(self))
        with Restoring(), self.network.engine.on_backend():
            twin.__setstate__(copy.deepcopy(self.__getstate__(), memo))
        return twin

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
        with self._at_work():
            return copy_weights("copy_from", self, source, mode)

    def share_with(self, other: Net) -> None:
        """Use another net's memory for the parameters of the layers of the same names; raise ShapeError if they differ.

        Diffs stay apart. A net that shares its weights computes, but cannot be trained by a solver.
        """
        if not isinstance(other, Net):
            raise nd.DTypeError(f"share_with: other must be a Net, got {shown(other)}. Make one, or call copy_from.")
        with self._at_work():
            share_weights("share_with", self, other)

    @checked
    def to_proto(self, write_diff: bool = False) -> Message:
        """Return the net as a NetParameter: layers as they run, their parameters, and gradients where wanted."""
        with self._at_work():
            return message_with_blobs(self, write_diff)

    @checked
    def save(self, target: Target, write_diff: bool = False, **settings: Any) -> None:
        """Write a .caffemodel; names in ``.h5`` get HDF5, in ``.onnx`` and ``.keras`` a model of ONNX and of Keras.

        These compute what `to_computation_graph` gives; `settings` are theirs, see `nn.onnx.write_onnx`.
        """
        if ending_of(target) in OTHER_MODELS:
            self.to_computation_graph().save(target, **settings)
            return
        refuse_settings(target, settings)
        write_weights(self.to_proto(write_diff), target)

    @checked
    def save_hdf5(self, target: Target, write_diff: bool = False) -> None:
        """Write the parameters as HDF5; raise ConfigurationError unless the name ends in ``.h5``."""
        if ending_of(target) not in ENDINGS:
            raise nd.ConfigurationError(
                f"save_hdf5: the name of the file must end in .h5, got {target!r}. Or call save."
            )
        write_weights(self.to_proto(write_diff), target)

    def load_hdf5(self, source: Any) -> CopyReport:
        """Copy weights from an HDF5 file."""
        return self.copy_from(source)

    def to_computation_graph(self, **settings: Any) -> ComputationGraph:
        """Return the net as a Deeplearning4j graph with the same outputs: see `nn.caffe.to_graph.convert_net`."""
        from .to_graph import to_computation_graph  # and layers that a net does not need

        return to_computation_graph(self, **settings)
