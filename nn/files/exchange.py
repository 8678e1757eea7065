"""Networks as files of named arrays, .npz and .safetensors, for programs that know nothing of Deeplearning4j."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import nd
from nd import FormatError
from nd.files.archives import reading_arrays, write_arrays
from nd.files.reading import ending_of, once_each

from .lost_schedules import warn_of_lost
from .own_settings import give_names, names_of, read, written

if TYPE_CHECKING:
    from ..networks.network import Network

UPDATER_STATE = "updater_state"


ENDINGS = (".npz", ".safetensors")


def is_array_file(path: object) -> bool:
    """Tell whether a path is that of a file of named arrays."""
    return ending_of(path) in ENDINGS


def write_array_file(network: Network, path: str | os.PathLike[str], save_updater: bool = True) -> None:
    """Write the parameters under their names, ``"0_W"``, in their own shapes.

    Parameters
    ----------
    network : MultiLayerNetwork or ComputationGraph
    path : path
        Ends in ``.npz`` or ``.safetensors``; replaced only when the new file is complete.
    save_updater : bool
        Also write the updater's state, ``updater_state [1, m]``.

    Raises
    ------
    ChoiceError
        Another ending.
    ConfigurationError
        ``.safetensors`` without the package of that name.
    OSError
        The file cannot be written.

    Notes
    -----
    The metadata (in an .npz the array ``__metadata__``) hold DL4J's JSON as ``configuration``, and as ``settings`` what
    it has no place for. `read_array_file` makes the same network of it.
    """
    network.updater.guard.check(network)
    arrays = dict(network.param_table())
    if save_updater and network.updater_state().shape[1]:
        arrays[UPDATER_STATE] = network.updater_state()
    conf = network.conf.with_counts(network.iteration_count, network.epoch_count)
    text, document, _ = written(conf, names_of(network))
    with nd.use_backend(network.backend):
        write_arrays(path, arrays, {"configuration": text, "settings": json.dumps(document)})


def read_array_file(
    path: str | os.PathLike[str],
    load_updater: bool = True,
    strict: bool = True,
    kind: str = "",
    configuration: str | None = None,
) -> Network:
    """Read a file of `write_array_file`, on the current backend; no weights are drawn.

    Parameters
    ----------
    path : path
    load_updater, strict
        As for `nn.files.serializer.restore_model`.
    kind : {".npz", ".safetensors"}, optional
        By default what the path ends in.
    configuration : str, optional
        DL4J's JSON, for a file that has arrays alone; it counts for more than that of the file.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    FormatError
        It is damaged, holds other arrays, or no configuration.
    ConfigurationError, ChoiceError
        The configuration asks for something that this library does not have; another ending; a package is missing.
    """
    from .serializer import kind_of

    with reading_arrays(path, kind) as file:
        if configuration is None and "configuration" not in file.metadata:
            raise FormatError(
                f"expected metadata with 'configuration', got {sorted(file.metadata) or 'none'}. Was it saved by "
                "net.save? With the configuration as JSON beside it, python -m nn convert reads it."
            )
        settings = None if configuration is not None else file.metadata.get("settings")
        try:
            document = None if settings is None else json.loads(settings, object_pairs_hook=once_each)
        except (ValueError, RecursionError) as error:
            raise FormatError(f"settings must be JSON, got {error}.") from error
        conf, names = read(configuration or file.metadata["configuration"], document, strict)
        warn_of_lost(conf.nodes)
        layout, dtype = conf.layout(), conf.base.dtype
        arrays = [file.read(view.key, view.spec.shape, dtype) for view in layout.views]  # type: ignore[arg-type]
        vector = nd.zeros(1, layout.length, dtype=dtype)
        for view, array in zip(layout.views, arrays, strict=True):
            nd.assign(view.of(vector), array)
        network = kind_of(conf)(conf).init(vector)
        give_names(network, names)
        if load_updater and UPDATER_STATE in file.names:
            shape = tuple(network.updater_state().shape)
            network.set_updater_state(file.read(UPDATER_STATE, shape, dtype))  # type: ignore[arg-type]
    return network
