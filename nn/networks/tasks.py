"""Task: Java's summary of what a network is and is trained on. It is a plain value, and nothing is sent anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nd.arguments import Checked, Natural, checked
from nd.java_enums import JavaEnum

from ..layers.kinds import LayerType, layer_type
from .multilayer import MultiLayerNetwork
from .network import Network


class NetworkType(JavaEnum):
    """Kinds of networks."""

    COMPUTATIONAL_GRAPH = "computationalgraph"
    DENSE_NETWORK = "densenetwork"
    MULTILAYER_NETWORK = "multilayernetwork"


class ArchitectureType(JavaEnum):
    """Kinds of tasks, by the layers of a network."""

    CONVOLUTION = "convolution"
    RBM = "rbm"
    RECURRENT = "recurrent"
    UNKNOWN = "unknown"
    WORDVECTORS = "wordvectors"


_ARCHITECTURES = {
    LayerType.CONVOLUTIONAL: ArchitectureType.CONVOLUTION,
    LayerType.RECURRENT: ArchitectureType.RECURRENT,
    LayerType.RECURSIVE: ArchitectureType.RECURRENT,
}


@dataclass(frozen=True, kw_only=True)
class Task(Checked):
    """What a network is and is trained on, as Java's Heartbeat would have reported it.

    Parameters
    ----------
    network_type : NetworkType, optional
    architecture_type : ArchitectureType, optional
    num_features, num_labels, num_samples : int

    Notes
    -----
    Source: ND4J ``org.nd4j.linalg.heartbeat.reports.Task``. Nothing in this library reads or sends one.

    Examples
    --------
    >>> Task(num_features=784, num_labels=10).to_compact_string()
    'F: 784/L: 10/S: 0 '
    """

    network_type: NetworkType | None = None
    architecture_type: ArchitectureType | None = None
    num_features: Natural = 0
    num_labels: Natural = 0
    num_samples: Natural = 0

    def to_compact_string(self) -> str:
        """Return the numbers in a line."""
        return f"F: {self.num_features}/L: {self.num_labels}/S: {self.num_samples} "


@checked
def task_by_model(model: Network) -> Task:
    """Return the task of a network, by the first of its layers that decides it.

    An RBM, a convolution or a recurrent layer does; where there is none, as in a dense network, it is RECURRENT, Java's
    value to begin with.

    Notes
    -----
    Source: DL4J ``ModelSerializer.taskByModel``.
    """
    chain = isinstance(model, MultiLayerNetwork)
    kind = NetworkType.MULTILAYER_NETWORK if chain else NetworkType.COMPUTATIONAL_GRAPH
    confs = [node.conf for node in model.conf.nodes if chain or hasattr(node.conf, "innermost")]
    decided = (_architecture(conf) for conf in confs)
    default = ArchitectureType.RECURRENT if confs else ArchitectureType.UNKNOWN
    return Task(network_type=kind, architecture_type=next((one for one in decided if one is not None), default))


def _architecture(conf: Any) -> ArchitectureType | None:
    if type(conf).__name__ == "RBM":
        return ArchitectureType.RBM
    return _ARCHITECTURES.get(layer_type(conf))


def build_task(*data: object) -> Task:
    """Return an empty task, whatever data it is for: an iterator, a DataSet, or features and labels.

    Notes
    -----
    Source: ND4J ``TaskUtils.buildTask``, which has returned an empty one in every release.
    """
    return Task()
