"""ZooModel: settings that the models of the zoo share, and the network of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import nd
from nd.arguments import Checked, Count, Long, Natural, checked
from nd.files.reading import Source
from nd.java_enums import JavaEnum
from optimize import Updater
from optimize.builder import Builder

from ..conf.graph import ComputationGraphConfiguration
from ..conf.multilayer import MultiLayerConfiguration
from ..conf.network import NeuralNetConfiguration
from ..conf.nodes import NetworkConfiguration
from ..networks.graph import ComputationGraph
from ..networks.multilayer import MultiLayerNetwork
from ..terms.input_type import InputType

if TYPE_CHECKING:
    from ..layers.convolution.convolution import ConvolutionLayer

Network = MultiLayerNetwork | ComputationGraph


class PretrainedType(JavaEnum):
    """Data that Deeplearning4j's files of weights were trained on."""

    CIFAR10 = "cifar10"
    IMAGENET = "imagenet"
    IMAGENETLARGE = "imagenetlarge"
    MNIST = "mnist"
    SEGMENT = "segment"
    VGGFACE = "vggface"


class ZooType(JavaEnum):
    """Kind of a model's network."""

    CNN = "cnn"
    RNN = "rnn"


class Pretrained(NamedTuple):
    """A file of Deeplearning4j's with a model's weights."""

    file: str
    """Name below `BASE_URL`."""
    checksum: int
    """Adler-32."""


class ModelMetaData(NamedTuple):
    """Facts on a model that Deeplearning4j's ``metaData()`` tells."""

    input_shape: tuple[tuple[int, ...], ...]
    """Of every input, without the axis of the minibatch."""
    num_outputs: int
    zoo_type: ZooType

    def use_mds(self) -> bool:
        """Tell whether the network trains on MultiDataSets."""
        return len(self.input_shape) > 1


BASE_URL = "https://dl4jdata.blob.core.windows.net/models/"
"""Place of Deeplearning4j's files of weights."""


@dataclass(frozen=True, kw_only=True)
class ZooModel(Checked):
    """A known architecture: `conf` gives its configuration, `init` a network, `init_pretrained` one with weights.

    Parameters
    ----------
    num_classes : int
        Outputs of the network. `conf` and `init` need it; the file of `init_pretrained` has its own.
    seed : int
        Of the weights and of dropout.
    input_shape : (channels, width, height)
        Of one image, in the order in which Deeplearning4j's classes read it. The network's features are
        ``[N, channels, height, width]`` all the same.
    updater : str or Updater
    unused : dict
        Java's settings of memory, ``cacheMode``, ``workspaceMode`` and ``cudnnAlgoMode``: they have no effect in this
        library, and are written into files.

    Raises
    ------
    ConfigurationError
        A setting is out of its range.

    Notes
    -----
    Source: ``org.deeplearning4j.zoo.ZooModel``.
    """

    num_classes: Natural = 0
    seed: Long = 1234
    input_shape: Sequence[Count] = (3, 224, 224)
    updater: str | Updater = "sgd"
    unused: Mapping[str, Any] = field(default_factory=dict, repr=False)

    pretrained: ClassVar[Mapping[str, Pretrained]] = {}
    """Deeplearning4j's files of weights, by what they were trained on."""
    network: ClassVar[type[Network]] = ComputationGraph
    zoo_type: ClassVar[ZooType] = ZooType.CNN
    axes: ClassVar[tuple[str, ...]] = ("channels", "width", "height")
    """Of `input_shape`."""
    algorithm: ClassVar[str] = "PREFER_FASTEST"
    """Java's default of ``cudnnAlgoMode``."""
    builder_unused: ClassVar[dict[str, str]] = {
        "cache_mode": "cacheMode",
        "cudnn_algo_mode": "cudnnAlgoMode",
        "workspace_mode": "workspaceMode",
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        shape = tuple(self.input_shape) or self._usual_shape()
        if len(shape) != len(self.axes):
            raise nd.ConfigurationError(
                f"{type(self).__name__}: input_shape must be ({', '.join(self.axes)}), got {shape}. "
                f"Give {len(self.axes)} numbers."
            )
        object.__setattr__(self, "input_shape", shape)

    @classmethod
    def Builder(cls) -> Builder:
        """Start DL4J's fluent style: ``VGG16.Builder().numClasses(10).build()``."""
        return Builder(cls)

    # ---- networks

    def conf(self) -> MultiLayerConfiguration | ComputationGraphConfiguration:
        """Return the configuration, layer for layer Deeplearning4j's.

        Raises
        ------
        ConfigurationError
            `num_classes` is not given, or images of this size are too small for the layers.
        ShapeError
            Nothing of such an image comes out of a layer.
        """
        raise NotImplementedError

    def init(self) -> Any:
        """Return a network of the configuration, with weights drawn from the seed: `network` is its class."""
        return self.network(self.conf()).init()  # type: ignore[arg-type]

    @checked
    def init_pretrained(
        self, path: Source | None = None, pretrained_type: str | None = None, checksum: bool = True
    ) -> Any:
        """Return a network with the weights of a file.

        Parameters
        ----------
        path : path or binary file object, optional
            Of one of Deeplearning4j's files, or of a network that was saved. Without it that which Java has downloaded,
            in the folder ``.deeplearning4j/models`` at home. Nothing is downloaded. A PretrainedType in its place is
            the argument behind.
        pretrained_type : str, optional
            What the weights were trained on, one of `PretrainedType`; without it any of those that there is a file of.
        checksum : bool
            Compare the file with the Adler-32 checksums that Deeplearning4j knows. False: compare instead every shape
            of the network's parameters with those of this model; this is also done where Deeplearning4j has no file.

        Raises
        ------
        ConfigurationError
            There is no path, and no file of Java's: the message says which file of which address is meant. Or
            Deeplearning4j has no weights of this model.
        ChoiceError
            It has none of that type.
        FormatError
            The checksum is another, the file has no such network, or is damaged.
        ShapeError
            Parameters have other shapes.

        Notes
        -----
        Files of Deeplearning4j's are networks of their own: names of layers and the number of classes are the file's.
        Source: ``ZooModel.initPretrained``. Differs: Java downloads the file, and deletes one with another checksum.
        """
        from .pretrained import restore

        if isinstance(path, PretrainedType):  # Java's argument
            path, pretrained_type = None, path
        return restore(self, path, pretrained_type, checksum)

    # ---- what there is

    def pretrained_available(self, pretrained_type: str) -> bool:
        """Tell whether Deeplearning4j has weights that were trained on such data."""
        return self.pretrained_file(pretrained_type) is not None

    @checked
    def pretrained_file(self, pretrained_type: str) -> Pretrained | None:
        """Return the file with weights that were trained on such data, None where there is none.

        Raises
        ------
        ChoiceError
            It is not one of `PretrainedType`.
        """
        who = f"{type(self).__name__}.pretrained_type"
        known = [one.value for one in PretrainedType]
        return self.pretrained.get(nd.checks.check_choice(who, "data", str(pretrained_type).lower(), known))

    def pretrained_url(self, pretrained_type: str) -> str | None:
        """Return the address of Deeplearning4j's file, None where there is none."""
        known = self.pretrained_file(pretrained_type)
        return None if known is None else BASE_URL + known.file

    def pretrained_checksum(self, pretrained_type: str) -> int:
        """Return the Adler-32 checksum of Deeplearning4j's file, 0 where there is none."""
        known = self.pretrained_file(pretrained_type)
        return 0 if known is None else known.checksum

    def meta_data(self) -> ModelMetaData:
        """Return the shape of the input, the number of outputs, and the kind of network."""
        return ModelMetaData((tuple(self.input_shape),), 1, self.zoo_type)

    def model_name(self) -> str:
        """Return the name of the folder that Deeplearning4j has its files in."""
        return type(self).__name__.lower()

    def model_type(self) -> type[Network]:
        """Return the class of the network."""
        return self.network

    # ---- for the models

    def with_classes_of(self, of_file: NetworkConfiguration) -> Self:
        """Return a copy with a network's number of classes, unless there is one."""
        if self.num_classes:
            return self
        last = [node.conf for node in of_file.nodes if node.conf.param_specs()][-1:]
        return replace(self, num_classes=self._classes_of(getattr(last[0], "n_out", 0) if last else 0))

    def as_restored(self, network: Any) -> Any:
        """Return a network that has been read, or a changed one."""
        return network

    def _classes_of(self, n_out: int) -> int:
        """Return the number of classes, from the size of the last layer with parameters."""
        return n_out

    def _usual_shape(self) -> tuple[int, ...]:
        """Return the input shape where an empty one is given."""
        return ()

    def _classes(self) -> int:
        if not self.num_classes:
            raise nd.ConfigurationError(
                f"{type(self).__name__}: num_classes must be at least 1, got 0. "
                f"Say {type(self).__name__}(num_classes=...)."
            )
        return self.num_classes

    def _settings(self, **settings: Any) -> NeuralNetConfiguration:
        """Return the network's settings, Java's of memory among them."""
        workspace = self.unused.get("workspaceMode")
        named = {"cacheMode": self.unused.get("cacheMode")}
        named |= dict.fromkeys(("inferenceWorkspaceMode", "trainingWorkspaceMode"), workspace)
        unused = {key: value for key, value in named.items() if value is not None}
        return NeuralNetConfiguration(**{"seed": self.seed, "updater": self.updater, "unused": unused, **settings})

    def _images(self) -> InputType:
        channels, width, height = self.input_shape
        return InputType.convolutional(height, width, channels)

    def _flat_images(self) -> InputType:
        channels, width, height = self.input_shape
        return InputType.convolutional_flat(height, width, channels)

    def _convolution(self, kernel_size: int | tuple[int, int], n_out: int, **settings: Any) -> ConvolutionLayer:
        from ..layers import ConvolutionLayer

        return ConvolutionLayer(kernel_size=kernel_size, n_out=n_out, unused=self._algorithm(), **settings)

    def _algorithm(self) -> dict[str, Any]:
        """Return cuDNN's choice of algorithms, as layers of Java's keep it; that of Java's own default is not kept."""
        mode = self.unused.get("cudnnAlgoMode", self.algorithm)
        return {} if mode == "PREFER_FASTEST" else {"cudnnAlgoMode": mode}
