"""How to call nn.caffe."""

from __future__ import annotations

import os
import tempfile
from typing import Any

import numpy as np

from nn.caffe import (
    Net,
    SavedState,
    array_to_blobproto,
    array_to_datum,
    parse_text,
    proto,
    write_database,
    write_mean,
    write_message,
    write_state,
    write_weights,
)

PICTURE = np.arange(12.0, dtype=np.float32).reshape(3, 2, 2)


def _net() -> Any:
    return parse_text("layer { name: 'a' type: 'Input' top: 'a' } layer { name: 'b' bottom: 'a' }", "NetParameter")


_SMALL = """layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 2 dim: 3 } } }
layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip" inner_product_param { num_output: 2 } }
layer { name: "loss" type: "Reduction" bottom: "ip" top: "loss" loss_weight: 1
  reduction_param { axis: 1 } }"""


def _solver() -> Any:
    said = 'base_lr: 0.1 lr_policy: "fixed" test_iter: 1 test_interval: 10'
    return parse_text(f"{said} net_param {{ {_SMALL} }}", "SolverParameter")


def _new(folder: Any) -> str:
    """Return the name of a folder that is not there."""
    return os.path.join(tempfile.mkdtemp(dir=folder), "new")


def _saved(folder: Any, name: str, write: Any, value: Any) -> Any:
    path = folder / name
    write(value, path)
    return path


def _database(folder: Any) -> str:
    path = _new(folder)
    write_database(path, [(b"a", array_to_datum(PICTURE))])
    return path


def _picture(folder: Any) -> Any:
    from PIL import Image

    path = folder / "picture.png"
    Image.fromarray(np.zeros((4, 4), np.uint8)).save(path)
    return path


def _list(folder: Any, line: str) -> Any:
    path = folder / "list.txt"
    path.write_text(line)
    return path


def _hdf5(folder: Any) -> Any:
    import h5py

    path = folder / "data.h5"
    with h5py.File(path, "w") as file:
        file["data"] = PICTURE
    return path


CAFFE: dict[str, Any] = {
    "nn.caffe.DatumDatabase": lambda folder: {"path": _database(folder)},
    "nn.caffe.Net": {"source": _SMALL},
    "nn.caffe.Net.backward": lambda folder: {"start": "data", "end": "data"},
    "nn.caffe.Net.backward_from": {"start": 0},
    "nn.caffe.Net.backward_from_to": {"start": 0, "end": 0},
    "nn.caffe.Net.bottom_ids": {"layer": 1},
    "nn.caffe.Net.copy_from": lambda folder: {"source": _saved(folder, "w.caffemodel", write_weights, _net())},
    "nn.caffe.Net.forward_all": {"data": np.ones((3, 3), np.float32)},
    "nn.caffe.Net.forward_backward_all": {"data": np.ones((3, 3), np.float32)},
    "nn.caffe.Net.forward_from": {"start": 0},
    "nn.caffe.Net.forward_from_to": {"start": 0, "end": 1},
    "nn.caffe.Net.forward_to": {"end": 1},
    "nn.caffe.Net.load_hdf5": lambda folder: {"source": _saved(folder, "w.caffemodel.h5", write_weights, _net())},
    "nn.caffe.Net.save": lambda folder: {"target": folder / "n.caffemodel"},
    "nn.caffe.Net.save_hdf5": lambda folder: {"target": folder / "n.caffemodel.h5"},
    "nn.caffe.Net.share_with": lambda folder: {"other": Net(_SMALL)},
    "nn.caffe.Net.top_ids": {"layer": 1},
    "nn.caffe.Solver.add_callback": {"on_start": lambda: None, "on_gradients_ready": lambda: None},
    "nn.caffe.Solver.set_action_function": {"function": lambda: "none"},
    "nn.caffe.Solver": lambda folder: {"param": _solver()},
    "nn.caffe.array_to_blobproto": {"data": PICTURE},
    "nn.caffe.array_to_datum": {"array": PICTURE},
    "nn.caffe.blobproto_to_array": lambda folder: {"blob": array_to_blobproto(PICTURE)},
    "nn.caffe.datum_to_array": lambda folder: {"datum": array_to_datum(PICTURE)},
    "nn.caffe.filter_net": lambda folder: {"net": _net()},
    "nn.caffe.get_solver": lambda folder: {"source": _solver()},
    "nn.caffe.insert_splits": lambda folder: {"net": _net()},
    "nn.caffe.net_to_train": lambda folder: {"solver": proto.SolverParameter(net_param=_net())},
    "nn.caffe.nets_to_test": lambda folder: {"solver": proto.SolverParameter(net_param=_net())},
    "nn.caffe.parse_text": {"text": "name: 'a'", "kind": "NetParameter"},
    "nn.caffe.print_text": lambda folder: {"message": _net()},
    "nn.caffe.read_hdf5_data": lambda folder: {"path": _hdf5(folder), "tops": ("data",)},
    "nn.caffe.read_hdf5_list": lambda folder: {"source": _list(folder, "a.h5")},
    "nn.caffe.read_mean": lambda folder: {"source": _saved(folder, "m.binaryproto", write_mean, PICTURE)},
    "nn.caffe.read_message": lambda folder: {
        "source": _saved(folder, "n.prototxt", write_message, _net()), "kind": "NetParameter",
    },
    "nn.caffe.read_net": lambda folder: {"source": _saved(folder, "n.prototxt", write_message, _net())},
    "nn.caffe.read_picture": lambda folder: {"source": _picture(folder)},
    "nn.caffe.read_picture_list": lambda folder: {"source": _list(folder, "a.png 1")},
    "nn.caffe.read_solver": lambda folder: {
        "source": _saved(folder, "s.prototxt", write_message, proto.SolverParameter(net="n")),
    },
    "nn.caffe.read_state": lambda folder: {
        "source": _saved(folder, "s.solverstate", write_state, SavedState(1, "w", 0, [PICTURE])),
    },
    "nn.caffe.read_weights": lambda folder: {"source": _saved(folder, "w.caffemodel", write_weights, _net())},
    "nn.caffe.shape_equals": lambda folder: {"blob": array_to_blobproto(PICTURE), "shape": (3, 2, 2)},
    "nn.caffe.state_meets_rule": lambda folder: {"state": proto.NetState(), "rule": proto.NetStateRule()},
    "nn.caffe.unknown_fields": lambda folder: {"message": _net()},
    "nn.caffe.upgrade_net": lambda folder: {"net": _net()},
    "nn.caffe.upgrade_solver": lambda folder: {"solver": proto.SolverParameter()},
    "nn.caffe.with_state": lambda folder: {"net": _net(), "phase": "TRAIN"},
    "nn.caffe.write_database": lambda folder: {"path": _new(folder), "records": [(b"a", array_to_datum(PICTURE))]},
    "nn.caffe.write_mean": lambda folder: {"mean": PICTURE, "target": folder / "m.binaryproto"},
    "nn.caffe.write_message": lambda folder: {"message": _net(), "target": folder / "n.prototxt"},
    "nn.caffe.write_state": lambda folder: {
        "state": SavedState(1, "w", 0, [PICTURE]), "target": folder / "s.solverstate",
    },
    "nn.caffe.write_weights": lambda folder: {"net": _net(), "target": folder / "w.caffemodel"},
}  # fmt: skip
