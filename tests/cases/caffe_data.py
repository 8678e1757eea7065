"""Data layers by their text, and sources for them."""

import h5py
import numpy as np
from PIL import Image

from nd.random import Random
from nn.caffe import array_to_datum, parse_text, write_database
from nn.caffe.data.layers import data_layer_class

LABEL = "layer 0 'it'"


def data_layer(text, folder="", phase="TRAIN", seed=1, dtype="float32"):
    """Return a layer of a text without its name."""
    message = parse_text(f'name: "it" {text}', "LayerParameter")
    return data_layer_class(message.type)(message, LABEL, phase, dtype, Random(seed), str(folder))


def pictures(n, shape=(3, 6, 8), seed=2):
    """Return pictures ``[N, C, H, W]`` of bytes."""
    return np.random.default_rng(seed).integers(0, 256, (n, *shape), "uint8")


def write_sources(folder):
    """Write what the rows read: a database and pictures of 7 examples, two files of HDF5 of 5 and 4 rows."""
    values = pictures(7)
    write_database(folder / "db", [(b"%d" % n, array_to_datum(one, n)) for n, one in enumerate(values)])
    lines = []
    for number, picture in enumerate(values):
        Image.fromarray(picture[::-1].transpose(1, 2, 0)).save(folder / f"{number}.png")
        lines.append(f"{number}.png {number}\n")
    (folder / "pictures.txt").write_text("".join(lines))
    start = 0
    for name, rows in (("a.h5", 5), ("b.h5", 4)):
        with h5py.File(folder / name, "w") as file:
            numbers = np.arange(start, start + rows)
            file["data"] = numbers[:, None] * np.array([1.0, 10.0, 100.0])
            file["label"] = numbers
        start += rows
    (folder / "files.txt").write_text("a.h5\nb.h5\n")


_DATA = 'type: "Data" top: "data" top: "label" data_param { source: "db" batch_size: 3 backend: LMDB %s } %s'
_IMAGES = (
    'type: "ImageData" top: "data" top: "label" image_data_param { source: "pictures.txt" batch_size: 3 %s } '
    "transform_param { %s }"
)
_HDF5 = 'type: "HDF5Data" top: "data" top: "label" hdf5_data_param { source: "files.txt" batch_size: 4 %s }'
ROWS = {
    "Data": _DATA % ("", ""),
    "Data of one top": 'type: "Data" top: "data" data_param { source: "db" batch_size: 5 backend: LMDB }',
    "Data transformed": _DATA
    % ("rand_skip: 4", "transform_param { mirror: true crop_size: 4 mean_value: 9 scale: 2 }"),
    "DummyData": (
        'type: "DummyData" top: "a" top: "b" dummy_data_param { shape { dim: [2, 3] } data_filler { value: 7 } '
        'data_filler { type: "gaussian" } }'
    ),
    "DummyData of constants": 'type: "DummyData" top: "a" dummy_data_param { shape { dim: [2, 3] } }',
    "HDF5Data": _HDF5 % "",
    "HDF5Data shuffled": _HDF5 % "shuffle: true",
    "ImageData": _IMAGES % ("", ""),
    "ImageData shuffled": _IMAGES % ("shuffle: true rand_skip: 3", "mirror: true"),
    "Input": 'type: "Input" top: "a" top: "b" input_param { shape { dim: [2, 3] } shape { dim: 2 } }',
    "MemoryData": (
        'type: "MemoryData" top: "data" top: "label" memory_data_param { batch_size: 2 channels: 3 height: 6 width: 8 }'
    ),
}
"""What it is -> its text; the type stands first."""
