"""A training step of a network as an ONNX model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import nd
from nd import ConfigurationError
from nd.activations import Identity
from nd.extras import optional

from ...terms.data_formats import axes_inward, channels_last
from ..draft import WORDS, onnx_package
from ..out.node_draft import NotInOnnx
from ..signature import shape_of, types_of
from ..writing import checked_versions
from .differentiation import Differentiation
from .draft import TrainingDraft
from .drawing import TrainingDrawing
from .losses import Compared, scored, seeded
from .parameters import NEW, Parameters
from .refusals import OPSET, refusals
from .schedules import Counters
from .tensors import Tensor
from .update import penalty_score
from .updaters import Updating

if TYPE_CHECKING:
    from ...networks.network import Network
    from ...terms.input_type import InputType

Sizes = list[Any]
"""Of an input or output: numbers, and names of those that are free."""


def training_model(
    network: Network,
    opset: int = OPSET,
    ir_version: int | None = None,
    input_types: Sequence[InputType | None] | None = None,
    masks: bool = False,
) -> Any:
    """Return one training step of a network as an onnx.ModelProto.

    Parameters
    ----------
    network : MultiLayerNetwork or ComputationGraph
    opset : int
        Of the file, 18 at least.
    ir_version : int, optional
        Of the file's form, see `nn.onnx.writing.onnx_model`.
    input_types : sequence of InputType or None, optional
        Of the network's inputs, where its configuration does not say them.
    masks : bool
        Refused: a step takes none.

    Raises
    ------
    ConfigurationError
        The step cannot be said; all reasons are named at once.

    Notes
    -----
    Inputs are the features by the names of the network's inputs, ``labels`` (of several outputs ``labels_NAME``),
    ``iteration``, and every parameter and state of its updater, ``0_W`` and ``0_W/M``, say, which begin as the network
    has them: defaults of inputs that need not be given. Outputs are ``score``, the network's outputs in training, and
    for each of the others the one of the next step, ``0_W/new``. The numbers are those of `fit`.
    """
    if opset < OPSET:
        raise ConfigurationError(f"save: a training step needs opset {OPSET} or more, got {opset}. Leave opset out.")
    if masks:
        raise ConfigurationError("save: a training step must be without masks, got masks=True. Leave it out.")
    ir_version = checked_versions(onnx_package("save"), opset, ir_version)
    with network.lock, nd.use_backend(network.backend):
        step = _Step(network, TrainingDraft(opset, network.dtype), input_types)
        step.write()
    return step.model(opset, ir_version)


class _Step:
    """What is written, one part after the other."""

    def __init__(self, network: Network, draft: TrainingDraft, input_types: Sequence[InputType | None] | None) -> None:
        self.network, self.draft, self.conf = network, draft, network.conf
        self.inputs: dict[str, tuple[str, Sizes]] = {}
        self.labels: dict[str, tuple[str, Sizes]] = {}
        self.outputs: dict[str, tuple[str, Sizes]] = {}
        self.seen: dict[str, tuple[str, Sizes]] = {}
        self.refused = list(refusals(self.conf))
        unknown = [None] * len(self.conf.input_names)
        self.types = types_of(self.conf, unknown if input_types is None else input_types)
        self.at = Updating(self._counters(), network.dtype)
        self.parameters = Parameters(network, draft)
        self.refused += self.parameters.refused

    def write(self) -> None:
        """Add everything to the draft; raise ConfigurationError with all that cannot be said."""
        of_nodes = self.parameters.of_nodes()
        drawing = TrainingDrawing(self.network, self.draft, self.types, of_nodes)
        try:
            drawing.draw()
        except ConfigurationError:
            if not drawing.refused:
                raise
        self.refused += drawing.refused
        self._raise_refused()
        self._name_inputs(drawing)
        shapes = self._shapes(drawing.outputs)
        self.refused += [
            f"{name}: the sizes of an output are not known" for name in drawing.outputs if name not in shapes
        ]
        self._raise_refused()
        self.seen = {name: (self.network.dtype, shapes[name]) for name in drawing.outputs}
        wanted = list(dict.fromkeys(of_nodes.values()))
        differentiation = Differentiation(self.draft, _known(shapes), wanted)
        losses, seeds = self._losses(drawing, shapes)
        found = differentiation.gradients(seeds, wanted)
        self.refused += [f"{op}: {reason}" for op, reason in differentiation.refused.items()]
        self._raise_refused()
        keys = {each.tensor.name: each.key for each in self.parameters.all}
        gradients = {keys[name]: gradient for name, gradient in found.items()}
        gradients |= {keys[of_nodes[key]]: step for key, step in drawing.steps.items()}
        self._update(losses, gradients)

    def _raise_refused(self) -> None:
        if self.refused:
            raise ConfigurationError(
                "save: a training step in ONNX must be able to say every part of the network, got "
                f"{len(self.refused)} that it cannot: {'; '.join(self.refused)}."
            )

    # ---- inputs

    def _counters(self) -> Counters:
        iteration = self._counter("iteration", self.network.iteration_count)
        return Counters(iteration, lambda: self._counter("epoch", self.network.epoch_count))

    def _counter(self, name: str, count: int) -> Tensor:
        """Make a counter an input with the network's own as its default; return it in float64."""
        if name not in self.draft.tensors:
            helper = optional("save", "onnx.helper", "onnx", "onnx")
            taken = self.draft.name(name)
            self.draft.tensors[taken] = helper.make_tensor(taken, WORDS["int64"], [], [count])
            self.inputs[taken] = ("int64", [])
        self.draft.scope = name
        return self.draft.tensor(name, "int64").cast("float64")

    def _name_inputs(self, drawing: TrainingDrawing) -> None:
        dtype = self.network.dtype
        features: dict[str, tuple[str, Sizes]] = {
            name: (dtype, list(shape_of(self.conf, number, kind)))
            for number, (name, kind) in enumerate(zip(drawing.inputs, self.types, strict=True))
        }
        self.inputs = features | self.inputs
        self.inputs |= {name: (dtype, list(shape)) for name, shape in self.parameters.inputs.items()}

    def _shapes(self, outputs: Sequence[str]) -> dict[str, Sizes]:
        """Return the sizes of all tensors that are drawn, as ONNX infers them."""
        onnx = onnx_package("save")
        model = self._model_of(
            onnx.helper, dict.fromkeys(outputs, (self.network.dtype, None)), self.draft.opset, bare=True
        )
        inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
        known: dict[str, Sizes] = {name: list(tensor.dims) for name, tensor in self.draft.tensors.items()}
        for info in [*inferred.graph.value_info, *inferred.graph.input, *inferred.graph.output]:
            if info.type.tensor_type.HasField("shape"):
                known[info.name] = [_size(each) for each in info.type.tensor_type.shape.dim]
        return known

    # ---- losses and update

    def _losses(self, drawing: TrainingDrawing, shapes: Mapping[str, Sizes]) -> tuple[list[Tensor], dict[str, Tensor]]:
        """Return the summed losses of all outputs, and the gradients that the way back begins with."""
        losses: list[Tensor] = []
        seeds: dict[str, Tensor] = {}
        numbers, formats = self.conf.output_nodes, self.conf.formats.outputs
        for number, kind, seen in zip(numbers, formats, drawing.outputs, strict=True):
            node, p = self.conf.nodes[number], self.draft.tensor(drawing.tensor_of(number))
            wanted = "labels" if len(numbers) == 1 else f"labels_{node.name}"
            labels = self.draft.name(wanted)
            self.labels[labels] = (self.network.dtype, shapes[seen])
            self.draft.scope = labels
            y, rank = self.draft.tensor(labels), len(shapes[seen])
            y = y.transpose(*axes_inward(kind, rank)) if channels_last(kind) and rank > 2 else y
            layer: Any = node.conf.innermost
            try:
                given = self._compared(y, p, _channels(shapes, p), rank)
                losses.append(scored(layer.loss, given))
                name, seed = seeded(layer.loss, given)
                seeds[name] = seeds[name] + seed if name in seeds else seed
            except NotInOnnx as error:
                self.refused.append(f"{node.label}: {error}")
        return losses, seeds

    def _compared(self, y: Tensor, p: Tensor, n_out: int, rank: int) -> Compared:
        """Return labels and output; where the activation was computed in another order of axes, in that order."""
        axis = 1
        maker: Any = next((node for node in self.draft.nodes if p.name in node.output), None)
        if p.name not in self.draft.activations and maker is not None and maker.op_type == "Transpose":
            order = list(maker.attribute[0].ints)
            y, p = y.transpose(*(order.index(place) for place in range(rank))), self.draft.tensor(maker.input[0])
            axis = order[1]
        activation, z = self.draft.activations.get(p.name, (Identity(), p))
        return Compared(y, p, n_out, rank, axis, activation, z)

    def _update(self, losses: Sequence[Tensor], gradients: Mapping[str, Tensor]) -> None:
        self.draft.scope = "score"
        score = losses[0].op("Sum", *losses[1:]) if len(losses) > 1 else losses[0]
        examples = None
        if self.conf.mini_batch:
            lengths = self.draft.tensor(next(iter(self.labels))).op("Shape", start=0, end=1, dtype="int64")
            examples = lengths.op("Squeeze", lengths.ints(0)).cast(self.network.dtype)
            score = score / examples
        for parameter in self.parameters.all if self.conf.scores_penalties else ():
            penalty = penalty_score(self.at, parameter)
            score = score if penalty is None else score + penalty
        self._give("score", score, [])
        self.outputs |= self.seen
        for name, tensor in self.parameters.after(self.at, gradients, examples).items():
            self._give(f"{name}{NEW}", tensor, self.inputs[name][1])
        self.draft.scope = "iteration"
        iteration = self.draft.tensor("iteration", "int64")
        self._give(f"iteration{NEW}", iteration + iteration.like(1), [])

    def _give(self, name: str, tensor: Tensor, sizes: Sizes) -> None:
        """Make a tensor an output, by that name if no layer has it."""
        self.outputs[self.draft.node("Identity", [tensor.name], name)] = (tensor.dtype, sizes)

    # ---- the model

    def model(self, opset: int, ir_version: int) -> Any:
        """Return the model."""
        model = self._model_of(onnx_package("save").helper, self.outputs, opset)
        model.ir_version = ir_version
        return model

    def _model_of(self, helper: Any, outputs: Mapping[str, tuple[str, Any]], opset: int, bare: bool = False) -> Any:
        """Return a model of what is drawn; a bare one has no defaults of inputs in it."""
        first = {name: told for name, told in self.inputs.items() if name not in self.draft.tensors} | self.labels
        inputs, outputs_ = (
            [helper.make_tensor_value_info(name, WORDS[dtype], sizes) for name, (dtype, sizes) in given.items()]
            for given in (first | self.inputs, outputs)  # features and labels, then what has defaults
        )
        name = f"{type(self.network).__name__}TrainingStep"
        tensors = [tensor for key, tensor in self.draft.tensors.items() if not bare or key not in self.inputs]
        graph = helper.make_graph(self.draft.nodes, name, inputs, outputs_, tensors)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], producer_name="ndwright")


def _size(dimension: Any) -> int | str | None:
    """Return the number or the name of a TensorShapeProto.Dimension."""
    word = dimension.WhichOneof("value")
    return None if word is None else getattr(dimension, word)


def _known(shapes: Mapping[str, Sizes]) -> dict[str, list[int | None]]:
    return {name: [size if isinstance(size, int) else None for size in sizes] for name, sizes in shapes.items()}


def _channels(shapes: Mapping[str, Sizes], p: Tensor) -> int:
    sizes = shapes.get(p.name, [])
    if len(sizes) < 2 or not isinstance(sizes[1], int):
        raise NotInOnnx("the number of its outputs is not known. Give input_types")
    return sizes[1]
