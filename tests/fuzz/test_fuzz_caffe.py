"""Mutants of Caffe's files: each is read or raises a typed error, within seconds and bounded memory; nothing else.

Of HDF5 the contents are damaged, not the structure: libhdf5 itself crashes on 2 of 400 files with a damaged structure.
"""

import io
import os
import shutil
from functools import partial

import h5py
import lmdb
import numpy as np
import pytest

import nd
from nn.caffe import (
    DatumDatabase,
    SavedState,
    array_to_blobproto,
    array_to_datum,
    datum_to_array,
    filter_net,
    insert_splits,
    parse_text,
    read_net,
    read_solver,
    read_state,
    read_weights,
    unknown_fields,
    write_message,
    write_state,
)
from tests.cases.caffe_nets import LENET, SOLVER, V0, V1
from tests.sweeps import share

from .mutator import damaged_bytes, generator
from .surveys import check

FAST = {"databases": 100, "hdf5": 60, "nets": 200, "pictures": 150, "solvers": 150, "states": 300, "weights": 300}
SLOW = int(os.environ.get("FUZZ", share(20000)))
SEED = os.environ.get("FUZZ_SEED", "ndwright")
ISOLATED = 100  # each takes a process
WORDS = (
    "{", "}", "<", ">", "[", "]", ":", ",", ";", '"', "'", "#", "\\", "-", "inf", "nan", "1e999", "9" * 20, "0x",
    "layer {", "layers { layer {", "name:", "input_dim: 3", "include {", "TRAIN", "bottom: 'data'", "\0", "é", "\n",
    "stage: 'a'", "clip_param { }", "type: 'BatchNorm'", "loss_weight: nan", "{ " * 3000, "[" * 3000, "other { a: 1 }",
)  # fmt: skip
"""What is put into texts."""
PARTS = ("data", "diff", "history", "iter", "current_step", "learned_net", "0", "1", "é")
"""Of paths in HDF5."""


def weights():
    """A net with blobs of all kinds, as bytes."""
    net = parse_text(LENET, "NetParameter")
    for layer in (net.layer[2], net.layer[4]):
        layer.blobs.append(array_to_blobproto(np.arange(12, dtype="float32").reshape(3, 4), np.ones((3, 4), "float32")))
        layer.blobs.append(array_to_blobproto(np.arange(3.0)))
    net.layer[6].blobs.add(num=1, channels=1, height=1, width=2, data=[1.0, 2.0])
    return net.SerializeToString()


def state():
    content = io.BytesIO()
    write_state(SavedState(7, "a.caffemodel", 1, [np.ones((2, 3), "float32"), np.arange(3.0)]), content)
    return content.getvalue()


def picture(folder):
    from PIL import Image

    content = io.BytesIO()
    Image.fromarray(np.arange(192, dtype="uint8").reshape(8, 8, 3)).save(content, "png")
    return content.getvalue()


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """Kind -> contents that mutants are made of."""
    folder = tmp_path_factory.mktemp("originals")
    examples = [array_to_datum(np.full((3, 4, 4), value, "float32"), 1) for value in (7.0, 0.5)]
    examples[0].encoded = False
    encoded = type(examples[0])(encoded=True, data=picture(folder), label=3)
    return {
        "databases": [datum.SerializeToString() for datum in (*examples, encoded)],
        "hdf5": [state()],
        "nets": [text.encode() for text in (LENET, V1, V0)],
        "pictures": [encoded.SerializeToString()],
        "solvers": [SOLVER.encode()],
        "states": [state()],
        "weights": [weights(), parse_text(V1, "NetParameter").SerializeToString()],
    }


def damaged_text(content, rng, others):
    """Bytes damaged, or words put in, taken out or exchanged."""
    if rng.random() < 0.3:
        return damaged_bytes(content, rng, others)
    words = content.decode().split(" ")
    for _ in range(rng.choice((1, 1, 2, 5))):
        at = rng.randrange(len(words))
        edit = rng.choice(("in", "out", "other", "twice"))
        if edit == "out":
            words[at] = ""
        elif edit == "twice":
            words[at:at] = words[at : at + rng.choice((1, 5, 50))]
        else:
            words[at : at + (edit == "other")] = [rng.choice(WORDS)]
    return " ".join(words).encode()


def read_all_of_net(path, rng):
    net = read_net(path, rng.choice(("refuse", "drop")))
    assert not net.layers
    unknown_fields(net)
    insert_splits(filter_net(net))
    write_message(net, io.BytesIO(), as_text=True)
    write_message(net, io.BytesIO(), as_text=False)


def read_all_of_solver(path, rng):
    write_message(read_solver(path, rng.choice(("refuse", "drop"))), io.BytesIO())


def read_record(path, rng):
    """A database with the mutant as its only record."""
    with lmdb.open(str(path), map_size=1 << 20) as environment, environment.begin(write=True) as transaction:
        transaction.put(b"a", path.with_suffix(".bytes").read_bytes())
    try:
        for _, datum in DatumDatabase(path):
            datum_to_array(datum, rng.choice((None, True, False)))
    finally:
        shutil.rmtree(path)


def read_hdf5_contents(path, rng):
    """Files whose structure is right, with names, types and shapes that are not."""
    with h5py.File(path, "w") as file:
        for _ in range(rng.randrange(6)):
            name = "/".join(rng.choices(PARTS, k=2))
            shape = rng.choice(((), (0,), (1,), (2, 3), (1 << 40,), (1,) * 32))
            kind = rng.choice(("f4", "f8", ">f2", "i1", "u8", "S5", "O", "bool", "c8"))
            dtype = h5py.string_dtype() if kind == "O" else kind
            if name not in file:
                file.create_dataset(name, shape, dtype, chunks=(1024,) if shape == (1 << 40,) else None)
    read = rng.choice((read_state, read_weights))
    read(path)


READERS = {
    "databases": read_record,
    "hdf5": read_hdf5_contents,
    "nets": read_all_of_net,
    "pictures": read_record,
    "solvers": read_all_of_solver,
    "states": lambda path, rng: read_state(path),
    "weights": lambda path, rng: (read_weights(path), read_all_of_net(path, rng)),
}


def read(kind, originals, path, number):
    """Read a mutant."""
    rng = generator(SEED, f"caffe-{kind}-{number}")
    damage = damaged_text if kind in ("nets", "solvers") else damaged_bytes
    content = damage(rng.choice(originals[kind]), rng, originals[kind])
    if READERS[kind] is read_record:
        path = path.with_name(f"{path.name}-{number}")
        path.with_suffix(".bytes").write_bytes(content)
    else:
        path.write_bytes(content)
    READERS[kind](path, rng)


@pytest.mark.parametrize("kind", FAST)
@pytest.mark.quick_rows(every=3)
def test_mutants_are_read_or_raise_a_typed_error(kind, originals, tmp_path):
    check(kind, partial(read, kind, originals, tmp_path / "mutant"), FAST[kind])


@pytest.mark.slow
@pytest.mark.parametrize("kind", FAST)
def test_many_mutants_are_read_or_raise_a_typed_error(kind, originals, tmp_path):
    check(kind, partial(read, kind, originals, tmp_path / "mutant"), SLOW)


@pytest.mark.slow
def test_damaged_structures_of_hdf5_in_a_process_of_their_own(tmp_path):
    path, content, taken, crashed = tmp_path / "mutant.h5", io.BytesIO(), 0, 0
    with h5py.File(content, "w") as file:
        for name in ("data/conv1/0", "data/conv1/1", "data/ip/0"):
            file.create_dataset(name, data=np.arange(400, dtype="float32"), chunks=(50,), compression="gzip")
    for number in range(ISOLATED):
        rng = generator(SEED, f"caffe-structures-{number}")
        path.write_bytes(damaged_bytes(content.getvalue(), rng, [content.getvalue()]))
        try:
            taken += bool(read_weights(path, isolated=True))
        except nd.NdError as error:
            crashed += "got a crash" in str(error)
    print(f"{ISOLATED} mutants, {taken} taken, {crashed} crashed the process")
    assert 0 < taken < ISOLATED
