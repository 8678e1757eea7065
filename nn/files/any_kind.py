"""Configurations of either kind of network: a chain of layers, or a graph."""

from __future__ import annotations

from nd import FormatError, NdError

from ..conf.nodes import NetworkConfiguration
from .findings import Finding, Unsupported
from .graph_json import graph_from_json, graph_of_document
from .json import network_from_json, network_of_document, reader, warn_of_dropped
from .json_fields import parse
from .json_values import Json
from .legacy import modernise


def any_network_from_json(text: str, strict: bool = True) -> NetworkConfiguration:
    """Read a configuration of either kind."""
    return graph_from_json(text, strict) if is_graph(text) else network_from_json(text, strict)


def is_graph(text: str) -> bool:
    """Tell whether a configuration is that of a graph."""
    document = parse(text)
    return isinstance(document, dict) and "vertices" in document and "confs" not in document


def network_document(text: str) -> tuple[Json, Json]:
    """Return the configuration of any kind of network, parsed, and the same in 1.0's form; warn of dropped fields.

    Raises
    ------
    FormatError
        It is no configuration of a network.
    """
    document = parse(text)
    confs = document.get("confs") if isinstance(document, dict) else None
    is_graph = isinstance(document, dict) and "vertices" in document and "networkInputs" in document
    if not (is_graph or (isinstance(confs, list) and confs)):
        raise FormatError(
            "configuration: expected 'confs' of a MultiLayerConfiguration, or 'vertices' and 'networkInputs' of a "
            "ComputationGraphConfiguration, got neither. Is it another kind of file?"
        )
    modern, dropped = reader(modernise)(document)
    warn_of_dropped(dropped)
    return document, modern


def unsupported_in(document: Json) -> list[Finding]:
    """Return the parts of a network's configuration, in 1.0's form, that this library does not have."""
    try:
        reader(network_of_document if isinstance(document.get("confs"), list) else graph_of_document)(document)
    except Unsupported as error:
        return error.findings
    except FormatError:
        raise
    except NdError as error:
        return [Finding((), error)]
    return []
