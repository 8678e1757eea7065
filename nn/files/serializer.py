"""DL4J 1.0 model zips: configuration.json, coefficients.bin, updaterState.bin."""

from __future__ import annotations

import importlib
import json
import os
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import nd
from nd import FormatError, serde
from nd.arguments import checked
from nd.files.reading import Source, ending_of, name_of
from nd.files.writing import Target, check_ending

from ..terms import late
from .archive import MODEL_ZIP, has_entry, read_bytes, read_text, read_vector, reading, with_entry, write_archive
from .exchange import is_array_file, read_array_file, write_array_file
from .findings import warn_of
from .json_fields import parse
from .kinds import ARRAYS, CAFFEMODEL, KERAS, ONNX, PROTOTXT, kind_of_file
from .lost_schedules import warn_of_lost
from .older_weights import turn_older_weights
from .own_settings import ENTRY, give_names, names_of, read, written

if TYPE_CHECKING:
    from types import ModuleType

    from ..conf.nodes import NetworkConfiguration
    from ..networks.graph import ComputationGraph
    from ..networks.multilayer import MultiLayerNetwork
    from ..networks.network import Network

CONFIGURATION = "configuration.json"
COEFFICIENTS = "coefficients.bin"
NO_PARAMS = "noParams.marker"
UPDATER_STATE = "updaterState.bin"
NORMALIZER = "normalizer.bin"
ONNX_ENDING, KERAS_ENDING = ".onnx", ".keras"
OTHER_MODELS = {
    KERAS_ENDING: ("a model of Keras", lambda: late("write_keras")),
    ONNX_ENDING: ("a model of ONNX", lambda: late("write_onnx")),
}
"""Ending of names -> what is written, and what returns its writer."""

_MOST_NORMALIZER = 64 << 20  # bytes
_NORMALIZER_HEADER = b"\x00\x0aNORMALIZER"


def write_model(
    network: Network,
    path: Target,
    save_updater: bool = True,
    normalizer: object = None,
    **settings: Any,
) -> None:
    """Write a network as Java's ``ModelSerializer`` does, so that Deeplearning4j opens the file, or as another kind.

    Parameters
    ----------
    network : MultiLayerNetwork or ComputationGraph
    path : path or binary file object
        A file is replaced only when the new one is complete. A file object is written to where it stands, and
        need not be seekable. Names in ``.npz`` and ``.safetensors`` give a file of named arrays, see
        `nn.files.exchange`, in ``.onnx`` and ``.keras`` a model, see `nn.onnx.write_onnx`, `nn.keras.write_keras`.
    save_updater : bool
        Also write the updater's state, so that training can continue.
    normalizer : normalizer of `nd.dataset`, optional
        Normalizer of the network's data; kept beside it, see `restore_normalizer`.
    **settings
        Of a model of ONNX, see `nn.onnx.write_onnx`; one of Keras has `input_types`, the other kinds have none.

    Raises
    ------
    ConfigurationError
        The path has the ending of another kind of file, there is a normalizer for a kind that has no place for it, or
        ONNX or Keras cannot say a part of the network.
    OSError
        The file cannot be written; one that was there before is untouched.
    NumericError
        A step that a device has not told of yet was not taken.

    Warns
    -----
    JavaLimitWarning
        The newest Deeplearning4j cannot open, run, train or save what is in the model zip: one warning for the file,
        which is written.

    Notes
    -----
    Settings without a place in DL4J 1.0 (`iterations`, `step_function`, `terminations`, `lbfgs_memory`, `tbptt_exact`,
    schedules that it does not have, names of classes, the input type) go into an entry of our own, ``ndwright.json``,
    where there is any. Java reads the initial value of such a schedule. Source: DL4J ``ModelSerializer.writeModel``.
    """
    if ending_of(path) in OTHER_MODELS:
        what, writer = OTHER_MODELS[ending_of(path)]
        _refuse_normalizer(what, path, normalizer)
        writer()(network, path, **settings)
        return
    refuse_settings(path, settings)
    if is_array_file(path):
        _refuse_normalizer("a file of named arrays", path, normalizer)
        write_array_file(network, path, save_updater)  # type: ignore[arg-type]
        return
    check_ending("save", path, MODEL_ZIP)  # before the parameters are packed
    conf = network.conf.with_counts(network.iteration_count, network.epoch_count).as_initialised()
    text, document, needed = written(conf, names_of(network))
    more = {ENTRY: json.dumps(document).encode()} if needed else {}
    if normalizer is not None:
        more[NORMALIZER] = _normalizers().normalizer_to_bytes(normalizer)
    write_entries(network, path, text, save_updater, more)
    from .java_limits import warn_of_limits  # which programs that save nothing do not need

    warn_of_limits(conf)


def refuse_settings(path: object, settings: Mapping[str, object]) -> None:
    """Raise ConfigurationError where there are settings of ONNX for a file of another kind."""
    if settings:
        raise nd.ConfigurationError(
            f"save: {', '.join(settings)} must be for a model of ONNX, whose name ends in .onnx, got {path!r}. Leave "
            "it out."
        )


def _refuse_normalizer(kind: str, path: Any, normalizer: object) -> None:
    if normalizer is not None:
        raise nd.ConfigurationError(
            f"save: {kind} has no place for a normalizer, got {type(normalizer).__name__} for {os.fspath(path)!r}. "
            "Save it by its own method, or the network as a .zip."
        )


def write_entries(
    network: Network,
    path: Target,
    configuration: str,
    save_updater: bool,
    more: Mapping[str, bytes] = MappingProxyType({}),
    compressed: bool = True,
) -> None:
    """Write a network with that configuration, Java's JSON, and more entries."""
    network.params()
    entries = {CONFIGURATION: _read_back(configuration, more.get(ENTRY)).encode()}
    network.updater.guard.check(network)
    with nd.use_backend(network.backend):
        if network.num_params():
            entries[COEFFICIENTS] = serde.to_bytes(network.params(), "c")
        else:
            entries.update({COEFFICIENTS: b"", NO_PARAMS: b""})
        if save_updater and network.updater_state().shape[1]:
            entries[UPDATER_STATE] = serde.to_bytes(network.updater_state(), "c")
    write_archive("save", path, {**entries, **more}, compressed)


def check_saveable(network: Network) -> None:
    """Raise ConfigurationError where a file could not hold the network: a part of one's own is not registered, say."""
    text, document, _ = written(network.conf, names_of(network))
    _read_back(text, json.dumps(document).encode())


def _read_back(text: str, beside: bytes | None) -> str:
    """Return a configuration's text; raise ConfigurationError if no loader would read the same from it."""
    try:
        again, _, _ = written(*read(text, None if beside is None else json.loads(beside)))
    except nd.NdError as error:
        raise nd.ConfigurationError(f"save: what is written must be readable, got: {error}") from error
    if again != text:
        raise nd.ConfigurationError(
            "save: the configuration must be read as it is written, got another, so nothing was saved. Let parts of "
            "your own keep the fields that they are given."
        )
    return text


@checked
def load(
    path: Source, load_updater: bool = True, strict: bool = True, configuration: Source | None = None
) -> MultiLayerNetwork | ComputationGraph:
    """Read a network of either kind from a file of `save` or of Java, a model of ONNX, or one of Keras.

    Parameters and errors as `restore_model`.
    """
    return restore_model(path, load_updater, strict, configuration=configuration)


def restore_multi_layer_network(path: Source, load_updater: bool = True, strict: bool = True) -> MultiLayerNetwork:
    """Read a MultiLayerNetwork, see `restore_model`; FormatError where the file has a ComputationGraph."""
    from ..networks.multilayer import MultiLayerNetwork

    return restore_model(path, load_updater, strict, MultiLayerNetwork)


def restore_computation_graph(path: Source, load_updater: bool = True, strict: bool = True) -> ComputationGraph:
    """Read a ComputationGraph, see `restore_model`; FormatError where the file has a MultiLayerNetwork."""
    from ..networks.graph import ComputationGraph

    return restore_model(path, load_updater, strict, ComputationGraph)


def restore_model(
    path: Source, load_updater: bool = True, strict: bool = True, kind: Any = None, configuration: Source | None = None
) -> Any:
    """Read a network on the current backend; no weights are drawn.

    Parameters
    ----------
    path : path or binary file object
        Of a file that any release of Deeplearning4j since 0.5 wrote; of named arrays, as `write_model` writes them; of
        an ONNX model, see `nn.onnx`; or of one of Keras, see `nn.keras`. The content tells which. Of a file object its
        position does not matter; one that cannot go back is read to its end, and a model zip.
    load_updater : bool
        Also take over the updater's state, if the file has it.
    strict : bool
        False: parts only for training that this library does not have (a dropout, a constraint, an updater of another
        kind) are left out with a `ModelFileWarning`. Parts that predictions depend on are always refused.
    kind : type, optional
        MultiLayerNetwork or ComputationGraph; without it whichever the file has.
    configuration : path or binary file object, optional
        Of weights that Keras saved alone: a file of what ``model.to_json()`` returned.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    FormatError
        It is no model zip, is truncated or corrupt, has unsafe entries, does not fit its own configuration, or has the
        other kind of network.
    ConfigurationError, ChoiceError
        The configuration asks for something that this library does not have. One thing has its own error; several
        are listed in one ConfigurationError, with their paths in the JSON.

    Warns
    -----
    ModelFileWarning
        The file says something that Java 1.0 drops on reading, and so does this library (learning rate schedules of
        0.x and rates of biases, say): one warning for the file. Or Java has lost the schedule of a learning rate: the
        network predicts, and to train it `set_learning_rate` must give it another.

    Notes
    -----
    The network computes in the type of the stored parameters, whatever the JSON says, as in Java. No entry is ever
    unpacked to disk, and none is read past the size that the configuration calls for. `updater.bin` and
    `preprocessor.bin`, objects of Java's own of releases before 0.5, are not read. Source: DL4J
    ``ModelSerializer.restoreMultiLayerNetwork``. Differs: parameters of 16 bits are read as float32, in which NumPy
    computes faster.
    """
    content = kind_of_file(path)
    if configuration is not None and content != KERAS:
        raise nd.ConfigurationError(
            f"load: a configuration goes with weights of Keras, got it with {name_of(path)!r}, another kind of file. "
            "Leave it out."
        )
    if content in ARRAYS and isinstance(path, (str, os.PathLike)):
        network = read_array_file(path, load_updater, strict, f".{content}")
    elif content == ONNX:
        network = late("graph_of")(path)
    elif content == KERAS:
        network = late("keras_graph_of")(path, configuration)
    elif content in (CAFFEMODEL, PROTOTXT):
        from .other_kinds import CAFFE  # which programs without wrong files do not need

        raise FormatError(f"{name_of(path)}: expected a model of this library's, got {CAFFE[content]}")
    else:
        return reading("load", path, lambda name, archive: restore(name, archive, load_updater, strict, kind))
    check_kind(name_of(path), type(network), kind)
    return network


def restore(
    path: str, archive: zipfile.ZipFile, load_updater: bool, strict: bool = True, kind: type[Network] | None = None
) -> Network:
    """Read a network, of that kind where one is given, from an open archive."""
    text = read_text(path, archive, CONFIGURATION)
    of_file = _kind_in(text)
    check_kind(path, of_file, kind)
    conf, names = read(text, read_own(path, archive), strict)
    warn_of_lost(conf.nodes)
    n = conf.layout().length
    if n:
        params = read_vector(path, archive, COEFFICIENTS, n)
        conf = replace(conf, base=replace(conf.base, dtype=str(params.dtype)))
    else:
        params = nd.zeros(1, 0, dtype=conf.base.dtype)
    network = of_file(conf).init(params)
    give_names(network, names)
    if load_updater and has_entry(archive, UPDATER_STATE):
        _restore_state(path, archive, network, strict)
    turn_older_weights(network, text)
    return network


def check_kind(path: object, of_file: type[Network], kind: type[Network] | None) -> None:
    """Raise FormatError unless a file has a network of the kind that is asked for, if one is."""
    if kind is not None and not issubclass(kind, of_file):
        raise FormatError(
            f"{path}: expected a {kind.__name__}, got a {of_file.__name__}. Read it with {of_file.__name__}.load, or "
            "either kind with nn.load."
        )


def kind_of(conf: NetworkConfiguration) -> Any:
    """Return the class of the networks of a configuration."""
    from ..conf.graph import ComputationGraphConfiguration
    from ..networks.graph import ComputationGraph
    from ..networks.multilayer import MultiLayerNetwork

    return ComputationGraph if isinstance(conf, ComputationGraphConfiguration) else MultiLayerNetwork


def _kind_in(text: str) -> Any:
    """Return the class of the networks of a configuration in a file, before it is read."""
    from ..networks.graph import ComputationGraph
    from ..networks.multilayer import MultiLayerNetwork
    from .any_kind import is_graph

    return ComputationGraph if is_graph(text) else MultiLayerNetwork


def read_own(path: object, archive: zipfile.ZipFile) -> Any:
    """Return the entry that this library has added to the archive, None where there is none."""
    return parse(read_text(path, archive, ENTRY)) if has_entry(archive, ENTRY) else None


def _restore_state(path: object, archive: zipfile.ZipFile, network: Network, strict: bool) -> None:
    n = network.updater_state().shape[1]
    if n == 0:
        return
    try:
        state = read_vector(path, archive, UPDATER_STATE, n)
    except FormatError as error:
        if strict:
            raise
        warn_of([str(error)], "the updater's state is left out")
    else:
        network.set_updater_state(nd.as_array(state, network.dtype))


# ---- normalizers


def add_normalizer_to_model(path: str | os.PathLike[str], normalizer: object) -> None:
    """Put a normalizer into a model zip, in the place of one that it has.

    Parameters
    ----------
    path : path
        Of a model zip of any kind of network. Replaced only when the whole file is written; its other entries stay
        as they are.
    normalizer : normalizer of `nd.dataset`

    Raises
    ------
    FormatError
        It is no zip, or a damaged one.
    OSError
        There is no such file, or it cannot be written; it is then untouched.

    Notes
    -----
    Source: DL4J ``ModelSerializer.addNormalizerToModel``.
    """
    with_entry("add_normalizer_to_model", path, NORMALIZER, _normalizers().normalizer_to_bytes(normalizer))


def restore_normalizer(path: Source) -> Any:
    """Return the normalizer of a model zip; None if it has none.

    Raises
    ------
    FormatError
        It is no zip, a damaged one, or its normalizer is none that this library knows.

    Notes
    -----
    Source: DL4J ``ModelSerializer.restoreNormalizerFromFile``.
    """
    content = reading("restore_normalizer", path, read_normalizer)
    return None if content is None else _normalizers().normalizer_from_bytes(content)


def read_normalizer(path: object, archive: zipfile.ZipFile, check: bool = True) -> bytes | None:
    """Return the bytes of an archive's normalizer, None if it has none; with `check` they must begin as such."""
    if not has_entry(archive, NORMALIZER):
        return None
    return read_bytes(path, archive, NORMALIZER, _MOST_NORMALIZER, _NORMALIZER_HEADER if check else b"")


def _normalizers() -> ModuleType:
    return importlib.import_module("nd.dataset.normalizers")
