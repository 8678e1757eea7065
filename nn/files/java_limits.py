"""What the newest Deeplearning4j cannot do with a network that it is given: open, run, train or save it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ..conf.nodes import sources_of
from ..terms.data_formats import channels_last
from .findings import JavaLimitWarning

if TYPE_CHECKING:
    from ..terms.input_type import InputType


RELEASE = "1.0.0-M2.1"
OPEN, RUN, TRAIN, SAVE = ("open",), ("run",), ("train",), ("save",)
_NORMS = ("MaxNormConstraint", "MinMaxNormConstraint", "UnitNormConstraint")
VECTORS = frozenset({"b", "bB", "bF", "bb", "beta", "fb", "g", "gamma", "log10stdev", "mean", "var"})
"""Parameters that have one axis in Java."""
_UNSHARED = ("LocallyConnected1D", "LocallyConnected2D")
_ACTIVATE_BY_SAME_DIFF = (*_UNSHARED, "RecurrentAttentionLayer")
_NOT_IN_SAME_DIFF = frozenset({
    "HardSigmoid", "Mish", "RReLU", "RationalTanh", "ReLU6", "RectifiedTanh", "SELU", "Swish", "ThresholdedReLU",
})  # fmt: skip
_BIASED = ("ConvolutionLayer", "Deconvolution3D", "DenseLayer", "OutputLayer", "SeparableConvolution2D")
"""Layers whose noise Java draws for a bias that they do not have."""
_NO_ARRAYS = ("ActivationLayer", "Cropping2D", "DropoutLayer", "PReLULayer")
"""Layers whose output is in the memory of their input."""


class Part(NamedTuple):
    """Something that a configuration is made of, and where.

    Attributes
    ----------
    part : object
    number : int
        Of the node that it belongs to.
    conf : NetworkConfiguration
    types : callable
        Returns the types of all nodes, None where they are not known.
    """

    part: Any
    number: int
    conf: Any
    types: Callable[[], Any]

    @property
    def node(self) -> Any:
        """The node that it belongs to."""
        return self.conf.nodes[self.number]

    def arriving(self) -> InputType | None:
        """Return the type of what comes into the node, None where it is not known."""
        types = self.types()
        return types[self.number].inputs[0] if types else None

    def has_channels_last(self) -> bool:
        """Tell whether what comes into the node has its channels in the last axis."""
        source, formats = sources_of(self.node)[0], self.conf.formats
        return channels_last(formats.inputs[-1 - source] if source < 0 else formats.behind[source])


@dataclass(frozen=True)
class JavaLimit:
    """Networks that Java cannot open, run, train or save.

    Parameters
    ----------
    name, reason : str
    cannot : tuple of {"open", "run", "train", "save"}
        The first of them that fails comes first.
    kinds : tuple of str
        Names of the classes of parts that it may be about, or of classes that they inherit from: a class that no
        network has is not imported.
    such : callable (Part) -> bool
        Whether it is about one of them.
    """

    name: str
    reason: str
    cannot: tuple[str, ...]
    kinds: tuple[str, ...]
    such: Callable[[Part], bool] = lambda part: True

    def applies(self, conf: object) -> bool:
        """Tell whether a network of that configuration meets with it."""
        return self in limits_in(conf, (self,))


def parts_in(value: object) -> Iterator[object]:
    """Yield a value, and everything inside of it."""
    yield value
    inside: Iterable[object] = ()
    if is_dataclass(value):
        inside = [getattr(value, field.name) for field in fields(value)]
    elif isinstance(value, Mapping):
        inside = value.values()
    elif isinstance(value, (tuple, list)):
        inside = value
    for each in inside:
        yield from parts_in(each)


def _names_of(part: object) -> set[str]:
    """Return the names of the classes that a part belongs to."""
    return {of_part.__name__ for of_part in type(part).__mro__}


def _is_over_vectors(norm: Any) -> bool:
    return not VECTORS.isdisjoint(norm.params or ()) and max(norm.dimensions or (1,)) > 0


def _has_norm_over_vectors(layer: Any) -> bool:
    return any(not _names_of(norm).isdisjoint(_NORMS) and _is_over_vectors(norm) for norm in layer.constraints or ())


def _has_norm_of_factors(layer: Any) -> bool:
    """Tell whether a norm holds the weights of a layer that multiplies number by number."""
    norms = [norm for norm in layer.constraints or () if not _names_of(norm).isdisjoint(_NORMS)]
    return any("W" in (norm.params or ()) and max(norm.dimensions or (1,)) > 0 for norm in norms)


def has_noisy_bias(layer: object) -> bool:
    """Tell whether a layer has noise that is drawn for its bias too."""
    return bool(getattr(getattr(layer, "weight_noise", None), "apply_to_biases", False))


def is_noisy(layer: object) -> bool:
    """Tell whether a layer has dropout, or noise of its weights."""
    return any(getattr(layer, name, None) is not None for name in ("drop_out", "weight_noise"))


def _is_first_over_images(part: Part) -> bool:
    conf = part.conf
    return part.part is conf.nodes[0].conf and "ConvolutionalType" in _names_of(getattr(conf, "input_type", None))


def _is_at_the_input(part: Part) -> bool:
    return part.part is part.conf.nodes[0].conf


def _is_at_an_input_of_places(part: Part) -> bool:
    kind = part.arriving()
    return _is_at_the_input(part) and kind is not None and len(kind.shape) > 1


def _is_wider_than_the_channels(part: Part) -> bool:
    channels = getattr(part.arriving(), "channels", None)
    return channels is not None and part.part.n // 2 >= channels


def _is_over_volumes(part: Part) -> bool:
    return "Convolutional3DType" in _names_of(part.arriving())


def _is_not_recurrent(part: Part) -> bool:
    return "RecurrentConf" not in _names_of(part.part.innermost)


def _reads_an_output(part: Part) -> bool:
    outputs, nodes = getattr(part.conf, "outputs", ()), part.conf.nodes
    reads = part.part is part.node.conf and any(source >= 0 for source in sources_of(part.node))
    return reads and any(nodes[source].name in outputs for source in sources_of(part.node) if source >= 0)


def _has_places(part: Part) -> bool:
    kind = part.arriving()
    return kind is not None and len(kind.shape) > 1


def _is_not_square(part: Part) -> bool:
    kind = part.arriving()
    return kind is not None and len(kind.shape) == 3 and kind.shape[1] != kind.shape[2]


def _wraps(name: str) -> Callable[[Part], bool]:
    """Return whether a layer is around one of a class."""
    return lambda part: name in _names_of(part.part.layer)


LIMITS = (
    JavaLimit("AdaBelief", "two arrays of state are taken where it has one", OPEN + TRAIN, ("AdaBelief",)),
    JavaLimit("BatchNormalization over volumes", "it takes rows, series and images alone", RUN + TRAIN,
              ("BatchNormalization",), _is_over_volumes),
    JavaLimit("Bidirectional in Bidirectional", "is not saved", SAVE, ("Bidirectional",),
              _wraps("Bidirectional")),
    JavaLimit("Bidirectional of LastTimeStep", "has no updater", OPEN + TRAIN, ("Bidirectional",),
              _wraps("LastTimeStep")),
    JavaLimit("CnnLossLayer of class numbers", "fails", TRAIN, ("CnnLossLayer",),
              lambda part: "LossSparseMCXENT" in _names_of(part.part.loss)),
    JavaLimit("Convolution1DLayer of series NWC", "fails", TRAIN, ("Convolution1DLayer",),
              lambda part: part.part.data_format == "NWC"),
    JavaLimit("FrozenLayerWithBackprop", "draws noise on its way back that its activations are without, or fails",
              TRAIN, ("FrozenLayerWithBackprop",), lambda part: is_noisy(part.part.innermost)),
    JavaLimit("IdentityLayer at the input", "fails", RUN + TRAIN, ("IdentityLayer",), _is_at_the_input),
    JavaLimit("L2NormalizeVertex in double precision", "fails for images and series", RUN, ("L2NormalizeVertex",),
              lambda part: part.conf.base.dtype == "float64" and _has_places(part)),
    JavaLimit("L2NormalizeVertex over some axes", "fails for images and series", TRAIN, ("L2NormalizeVertex",),
              lambda part: bool(part.part.dimension) and _has_places(part)),
    JavaLimit("LBFGS above frozen layers", "the gradient is taken for one of all parameters", TRAIN,
              ("FrozenLayer", "FrozenLayerWithBackprop"), lambda part: part.conf.optimization_algo == "lbfgs"),
    JavaLimit("LearnedSelfAttentionLayer", "fails", RUN, ("LearnedSelfAttentionLayer",)),
    JavaLimit("MaskLayer at the input", "fails but for rows: its output is in no memory of its own", RUN + TRAIN,
              ("MaskLayer",), _is_at_an_input_of_places),
    JavaLimit("MergeVertex of volumes NDHWC", "merges the depth", RUN, ("MergeVertex",),
              lambda part: _is_over_volumes(part) and part.has_channels_last()),
    JavaLimit("OCNNOutputLayer with dropout", "fails", TRAIN, ("OCNNOutputLayer",),
              lambda part: bool(part.part.drop_out)),
    JavaLimit("PReLULayer with shared axes", "fails", TRAIN, ("PReLULayer",), lambda part: bool(part.part.shared_axes)),
    JavaLimit("PoolHelperVertex", "fails for images that are not square", TRAIN, ("PoolHelperVertex",),
              lambda part: _is_not_square(part) and not part.has_channels_last()),
    JavaLimit("PoolHelperVertex, channels last", "takes a channel away in the place of a row", RUN,
              ("PoolHelperVertex",), Part.has_channels_last),
    JavaLimit("RBM", "there is none since release 1.0", OPEN, ("RBM",)),
    JavaLimit("RnnLossLayer of series NWC", "takes its input for the labels", RUN, ("RnnLossLayer",),
              lambda part: part.part.data_format == "NWC"),
    JavaLimit("RnnOutputLayer without a bias", "fails", RUN, ("RnnOutputLayer",), lambda part: not part.part.has_bias),
    JavaLimit("SimpleRnn of series NWC with dropout", "fails", TRAIN, ("SimpleRnn",),
              lambda part: bool(part.part.drop_out) and part.part.data_format == "NWC"),
    JavaLimit("SimpleRnn with layer normalisation", "fails", RUN, ("SimpleRnn",),
              lambda part: part.part.has_layer_norm),
    JavaLimit("SpaceToBatchLayer with dropout", "fails", TRAIN, ("SpaceToBatchLayer",),
              lambda part: bool(part.part.drop_out)),
    JavaLimit("SpatialDropout of RnnOutputLayer", "fails", TRAIN, ("RnnOutputLayer",),
              lambda part: "SpatialDropout" in _names_of(part.part.drop_out)),
    JavaLimit("SubsetVertex, channels last", "takes rows of images, steps of series", RUN, ("SubsetVertex",),
              Part.has_channels_last),
    JavaLimit("VariationalAutoencoder with weight noise", "fails", TRAIN, ("VariationalAutoencoder",),
              lambda part: part.part.weight_noise is not None),
    JavaLimit("activations of SameDiff layers", "are not all there", RUN, _ACTIVATE_BY_SAME_DIFF,
              lambda part: type(part.part.activation).__name__ in _NOT_IN_SAME_DIFF),
    JavaLimit("equal norms", "MinMaxNormConstraint fails where both are equal", TRAIN, ("MinMaxNormConstraint",),
              lambda part: part.part.min == part.part.max),
    JavaLimit("first layer of images", "fails where its output is in no memory of its own", RUN + TRAIN,
              _NO_ARRAYS, _is_first_over_images),
    JavaLimit("layers that are not recurrent", "inside of LastTimeStep and Bidirectional: fail", RUN,
              ("Bidirectional", "LastTimeStep"), _is_not_recurrent),
    JavaLimit("noise of no bias", "a layer without a bias fails where biases have noise", RUN, _BIASED,
              lambda part: not part.part.has_bias and has_noisy_bias(part.part)),
    JavaLimit("norm of a bias", "a bias is a vector, and a norm over its axis 1 fails", TRAIN, _NORMS,
              lambda part: _is_over_vectors(part.part)),
    JavaLimit("norm of a bias of LocallyConnected", "a bias is a vector, and a norm over its axis 1 fails", TRAIN,
              _UNSHARED, lambda part: _has_norm_over_vectors(part.part)),
    JavaLimit("norm of a scalar", "fails", TRAIN, _NORMS, lambda part: "r" in (part.part.params or ())),
    JavaLimit("norm of factors", "as they are opened they are a vector, and a norm over its axis 1 fails", TRAIN,
              ("ElementWiseMultiplicationLayer",), lambda part: _has_norm_of_factors(part.part)),
    JavaLimit("output that is read", "an output that another vertex reads: fails", TRAIN, ("LayerConf", "VertexConf"),
              _reads_an_output),
    JavaLimit("wide response normalisation", "fails: the window is wider than the channels", RUN,
              ("LocalResponseNormalization",), _is_wider_than_the_channels),
)  # fmt: skip
"""In the order of their names."""
LIMIT = {limit.name: limit for limit in LIMITS}


def limits_in(conf: Any, limits: Iterable[JavaLimit] = LIMITS) -> list[JavaLimit]:
    """Return those that networks of a configuration meet with, in their order."""
    limits, met = list(limits), set()
    types = cache(lambda: conf.node_types([None] * len(conf.input_names)))
    for number, node in enumerate(conf.nodes):
        for part in parts_in(node.conf):
            names = _names_of(part) if is_dataclass(part) else set()
            met |= {
                limit.name
                for limit in limits
                if not names.isdisjoint(limit.kinds) and limit.such(Part(part, number, conf, types))
            }
    return [limit for limit in limits if limit.name in met]


def warn_of_limits(conf: object) -> None:
    """Warn once of everything that Java cannot do with a network of a configuration."""
    by_verb: dict[str, list[str]] = {}
    for limit in limits_in(conf):
        by_verb.setdefault(" or ".join(limit.cannot), []).append(f"{limit.name}: {limit.reason}")
    if by_verb:
        said = "; ".join(f"cannot {verb} what is saved: {', '.join(names)}" for verb, names in by_verb.items())
        warnings.warn(
            f"save: Deeplearning4j {RELEASE} {said}. This library can; leave these out for Java.",
            JavaLimitWarning,
            stacklevel=5,
        )
