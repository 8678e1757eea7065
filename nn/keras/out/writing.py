"""Writing networks as files of Keras 3."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import nd
from nd.arguments import checked
from nd.extras import optional
from nd.files.writing import FileKind, Target, check_ending, replacing

from ...files.findings import ModelFileWarning
from ...files.serializer import refuse_settings
from ...networks.multilayer import MultiLayerNetwork
from ...networks.network import Network
from ...terms.input_type import InputType
from .archive import write_model
from .compiled import compile_config
from .drawing import Drawing

KERAS_FILE = FileKind("a model of Keras", (".keras",))


@checked
def write_keras(
    network: Network, path: Target, input_types: Sequence[InputType | None] | None = None, **settings: Any
) -> None:
    """Write a network as a file of Keras 3, which `network.save` does under names that end in ``.keras``.

    Parameters
    ----------
    network : MultiLayerNetwork or ComputationGraph
    path : path or binary file object
        A file is replaced only when the new one is complete.
    input_types : sequence of InputType or None, optional
        One for each input, of networks whose configuration has none, as those of Java's files: where a layer cannot be
        said without sizes.
    **settings
        Of files of other kinds, which are refused.

    Raises
    ------
    ConfigurationError
        Keras cannot say a part of the network, or sizes are not known; the message names all of them. Or the package
        h5py is not installed.
    OSError
        The file cannot be written; one that was there before is untouched.

    Warns
    -----
    ModelFileWarning
        The model computes the same, but the file has no place for something of the network's training: one warning for
        the file, which is written.

    Notes
    -----
    The model takes and gives the arrays of ``net.output(x)``. In between the channels are last, as Keras' backends for
    CPUs want them. A network of layers in a row is a Sequential, any other a Functional. Source: Keras 3,
    ``saving_lib``.
    """
    check_ending("save", path, KERAS_FILE)
    refuse_settings(path, settings)
    optional("save", "h5py", "h5py", "keras")
    with network.lock, nd.use_backend(network.backend):
        drawing = Drawing(network, input_types)
        drawing.draw()
        described = {
            "name": type(network).__name__,
            "is_chain": isinstance(network, MultiLayerNetwork),
            "compile_config": compile_config(drawing),
        }
    with replacing("save", path, KERAS_FILE) as file:
        write_model(file, drawing.draft, drawing.inputs, drawing.outputs, described)
    if drawing.draft.lost:
        warnings.warn(
            f"save: Keras has no place for {len(drawing.draft.lost)} settings of the network's training, and the file "
            f"lacks them: {'; '.join(drawing.draft.lost)}. Save a .zip, too, to train on from it.",
            ModelFileWarning,
            stacklevel=5,
        )
