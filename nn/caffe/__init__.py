"""nn.caffe: Caffe's Net and solvers, and its files: texts and messages of all schemas, snapshots, databases, means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nd.on_demand import names_on_demand

if TYPE_CHECKING:
    from . import proto
    from .binary import UnknownField, unknown_fields
    from .blob import Blob
    from .blobs import array_to_blobproto, blobproto_to_array, shape_equals
    from .data.databases import DatumDatabase, write_database
    from .data.datums import array_to_datum, datum_to_array
    from .data.hdf5_data import read_hdf5_data, read_hdf5_list
    from .data.mean_files import read_mean, write_mean
    from .data.mnist_databases import write_mnist_databases
    from .data.pictures import ListedPicture, read_picture, read_picture_list
    from .files import read_message, read_net, read_solver, write_message
    from .filter import filter_net, state_meets_rule, with_state
    from .layers.python import Layer
    from .net import Net
    from .snapshots import SavedBlob, SavedLayer, SavedState, read_state, read_weights, write_state, write_weights
    from .solver import Solver, get_solver
    from .solver_nets import net_to_train, nets_to_test
    from .splits import insert_splits
    from .text import parse_text, print_text
    from .upgrade import upgrade_net, upgrade_solver
    from .weights import CopyReport
else:
    __getattr__, __dir__ = names_on_demand(
        __name__,
        {
            "binary": "UnknownField unknown_fields",
            "blob": "Blob",
            "blobs": "array_to_blobproto blobproto_to_array shape_equals",
            "data.databases": "DatumDatabase write_database",
            "data.datums": "array_to_datum datum_to_array",
            "data.hdf5_data": "read_hdf5_data read_hdf5_list",
            "data.mean_files": "read_mean write_mean",
            "data.mnist_databases": "write_mnist_databases",
            "data.pictures": "ListedPicture read_picture read_picture_list",
            "files": "read_message read_net read_solver write_message",
            "filter": "filter_net state_meets_rule with_state",
            "layers.python": "Layer",
            "net": "Net",
            "snapshots": "SavedBlob SavedLayer SavedState read_state read_weights write_state write_weights",
            "solver": "Solver get_solver",
            "solver_nets": "net_to_train nets_to_test",
            "splits": "insert_splits",
            "text": "parse_text print_text",
            "upgrade": "upgrade_net upgrade_solver",
            "weights": "CopyReport",
        },
        modules="proto",
    )

__all__ = [
    "Blob",
    "CopyReport",
    "DatumDatabase",
    "Layer",
    "ListedPicture",
    "Net",
    "SavedBlob",
    "SavedLayer",
    "SavedState",
    "Solver",
    "UnknownField",
    "array_to_blobproto",
    "array_to_datum",
    "blobproto_to_array",
    "datum_to_array",
    "filter_net",
    "get_solver",
    "insert_splits",
    "net_to_train",
    "nets_to_test",
    "parse_text",
    "print_text",
    "proto",
    "read_hdf5_data",
    "read_hdf5_list",
    "read_mean",
    "read_message",
    "read_net",
    "read_picture",
    "read_picture_list",
    "read_solver",
    "read_state",
    "read_weights",
    "shape_equals",
    "state_meets_rule",
    "unknown_fields",
    "upgrade_net",
    "upgrade_solver",
    "with_state",
    "write_database",
    "write_mean",
    "write_message",
    "write_mnist_databases",
    "write_state",
    "write_weights",
]
