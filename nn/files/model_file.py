"""ModelFile: the contents of any Deeplearning4j model zip, even of one whose layers ndwright cannot run."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import nd
from nd import ConfigurationError, FormatError
from nd.checks import check_choice
from nd.files.reading import Source
from nd.typing import Array

from ..conf.graph_order import stored_order, topological_order
from ..terms.params import ParamSpec
from .any_kind import network_document, unsupported_in
from .archive import has_entry, read_text, read_vector, reading
from .findings import path_text
from .json_fields import Json, class_of, size
from .legacy import detect_version
from .param_tables import param_specs_of, param_specs_of_vertex
from .serializer import COEFFICIENTS, CONFIGURATION, NO_PARAMS, UPDATER_STATE, read_normalizer

MULTI_LAYER, GRAPH = "MultiLayerNetwork", "ComputationGraph"
_MOST_STATES = 3
"""Numbers that an updater keeps for each parameter, at most (AMSGrad)."""


@dataclass(frozen=True)
class LayerDescription:
    """A layer or vertex of a file.

    Parameters
    ----------
    name : str
        "0", "1", ... in a MultiLayerNetwork, else the vertex's name: the beginning of its parameters' names.
    kind : str
        Java's class without its package: "DenseLayer", "MergeVertex". A vertex that holds a layer has the layer's.
    n_in, n_out : int, optional
        None where the layer has none.
    n_params : int, optional
        None for a class that Deeplearning4j does not have.
    """

    name: str
    kind: str
    n_in: int | None
    n_out: int | None
    n_params: int | None


@dataclass(frozen=True, eq=False)
class ModelFile:
    """A Deeplearning4j model zip of any release since 0.5, read without building a network.

    Parameters
    ----------
    kind : {"MultiLayerNetwork", "ComputationGraph"}
    version : str
        The oldest release with this form of configuration, one of `nn.files.legacy.VERSIONS`.
    document : dict
        The configuration as it stands in the file.
    configuration : dict
        The same in 1.0's form.
    params, updater_state : array ``[1, n]``, or None
        On the current backend, of float32 or float64; None where the file has none.
    normalizer_bytes : bytes, optional
        Content of ``normalizer.bin``, whatever it is.

    Notes
    -----
    Make one with `ModelFile.read`. Source: DL4J ``ModelSerializer``, ``ModelGuesser``.
    """

    kind: str
    version: str
    document: Json
    configuration: Json
    params: Array | None
    updater_state: Array | None
    normalizer_bytes: bytes | None

    @classmethod
    def read(cls, path: Source) -> ModelFile:
        """Read a file.

        Parameters
        ----------
        path : path or binary file object

        Raises
        ------
        FileNotFoundError
            There is no such file.
        FormatError
            It is no model zip, is truncated or corrupt, has unsafe entries, or does not fit its own configuration.

        Warns
        -----
        ModelFileWarning
            The file says something that Java 1.0 drops on reading.

        Notes
        -----
        No array is read past the size that the configuration calls for. Where a class is not Deeplearning4j's own,
        nothing says how many parameters there are: then the length of the file bounds them.
        """
        return reading("ModelFile.read", path, _read)

    # ---- counters

    @property
    def iteration_count(self) -> int:
        """Steps that the network was trained for; 0 before release 0.8, which did not keep it."""
        return self._count("iterationCount")

    @property
    def epoch_count(self) -> int:
        """Epochs that the network was trained for; 0 before 1.0.0-alpha."""
        return self._count("epochCount")

    def _count(self, key: str) -> int:
        confs = self.configuration.get("confs") if self.kind == MULTI_LAYER else None
        confs = confs or [{}]
        count = self.configuration.get(key, confs[0].get(key, 0) if isinstance(confs[0], dict) else 0)
        return size({key: count}, key)

    @property
    def dtype(self) -> str:
        """Element type of the parameters as they are computed with: "float32" or "float64"."""
        if self.params is not None:
            return nd.dtype_name(self.params)
        return "float64" if self.configuration.get("dataType") == "DOUBLE" else "float32"

    # ---- layers

    @cached_property
    def layers(self) -> tuple[LayerDescription, ...]:
        """The layers or vertices, in the order of their parameters."""
        return tuple(_described(name, fields, specs) for name, fields, specs in _parts(self.configuration))

    def param_table(self) -> dict[str, Array]:
        """Return name -> array in its own shape: "0_W" of a MultiLayerNetwork, "fc1_W" of a graph's vertex "fc1".

        Views of `params`, in the order of the vector.

        Raises
        ------
        ConfigurationError
            A class is not Deeplearning4j's own, so that nothing says where its parameters lie.
        FormatError
            The file has not as many parameters as its configuration calls for.
        """
        table: dict[str, Array] = {}
        start = 0
        for name, fields, specs in _parts(self.configuration):
            if specs is None:
                raise ConfigurationError(
                    f"param_table: where the parameters of {name!r} ({class_of(fields)}) lie is unknown."
                )
            for spec in specs:
                stop = start + spec.length
                if self.params is None or self.params.shape[1] < stop:
                    have = 0 if self.params is None else self.params.shape[1]
                    raise FormatError(f"param_table: expected at least {stop:,} parameters, got {have:,}.")
                table[f"{name}_{spec.name}"] = nd.reshape_view(self.params[0, start:stop], spec.shape, spec.order)
                start = stop
        return table

    def get_param(self, key: str) -> Array:
        """Return one parameter, ``"0_W"``; raise ChoiceError for an unknown key."""
        table = self.param_table()
        return table[check_choice("get_param", "parameter", key, table)]

    @cached_property
    def unsupported(self) -> tuple[tuple[str, str], ...]:
        """Obstacles to running the network in ndwright: JSON path in 1.0's form, and why.

        Empty when `nn.load` can open the file.
        """
        return tuple((path_text(finding.path), str(finding.error)) for finding in unsupported_in(self.configuration))


def _read(path: object, archive: zipfile.ZipFile) -> ModelFile:
    document, modern = network_document(read_text(path, archive, CONFIGURATION))
    kind = MULTI_LAYER if isinstance(modern.get("confs"), list) else GRAPH
    specs = [specs for _, _, specs in _parts(modern)]
    n = None if None in specs else sum(spec.length for of_layer in specs for spec in of_layer or ())
    params = state = None
    if n != 0 and not has_entry(archive, NO_PARAMS):
        params = nd.as_array(read_vector(path, archive, COEFFICIENTS, n))
    if has_entry(archive, UPDATER_STATE):
        most = _MOST_STATES * (0 if params is None else params.shape[1])
        state = nd.as_array(read_vector(path, archive, UPDATER_STATE, None, most))
    return ModelFile(
        kind, detect_version(document), document, modern, params, state, read_normalizer(path, archive, check=False)
    )


def _parts(document: Json) -> list[tuple[str, Json, list[ParamSpec] | None]]:
    """Return name, fields and parameters of every layer or vertex, in the order of the vector."""
    if isinstance(document.get("confs"), list):
        layers = [conf.get("layer") if isinstance(conf, dict) else None for conf in document["confs"]]
        return [(str(index), *_specs(layer, param_specs_of)) for index, layer in enumerate(layers)]
    vertices = document["vertices"]
    names = [name for name in vertex_order(document) if name in vertices]
    return [(name, *_specs(vertices[name], param_specs_of_vertex)) for name in names]


def _specs(fields: Any, of: Callable[[Json], list[ParamSpec]]) -> tuple[Json, list[ParamSpec] | None]:
    """Return a layer or vertex and its parameters, None for a class that nothing is known of."""
    class_of(fields)
    try:
        return fields, of(fields)
    except FormatError:
        raise
    except ConfigurationError:
        return fields, None


def vertex_order(document: Json) -> list[str]:
    """Return inputs and vertices of a graph in the order of the vector: as the file says, or as Java would sort them.

    Raises
    ------
    FormatError
        The document is no graph.
    """
    inputs, vertices, before = (document.get(key) for key in ("networkInputs", "vertices", "vertexInputs"))
    if not isinstance(inputs, list) or not isinstance(vertices, dict) or not isinstance(before, dict):
        raise FormatError("configuration: a graph must have networkInputs, vertices and vertexInputs.")
    edges = {name: before.get(name) or [] for name in vertices}
    lists = [inputs, *edges.values()]
    if not all(isinstance(names, list) and all(isinstance(name, str) for name in names) for names in lists):
        raise FormatError("configuration: networkInputs and vertexInputs must be lists of names.")
    return stored_order(document, inputs, list(vertices), edges) or topological_order(inputs, edges)


def _described(name: str, fields: Json, specs: list[ParamSpec] | None) -> LayerDescription:
    conf = fields.get("layerConf")
    inner = conf["layer"] if isinstance(conf, dict) and isinstance(conf.get("layer"), dict) else fields
    ends = [inner.get(key, inner.get(other)) for key, other in (("nin", "nIn"), ("nout", "nOut"))]
    n_in, n_out = (size if type(size) is int and size > 0 else None for size in ends)
    return LayerDescription(
        name, class_of(inner), n_in, n_out, None if specs is None else sum(spec.length for spec in specs)
    )
