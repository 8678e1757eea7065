"""Mutants of real files: each loads or raises a typed error, within seconds and bounded memory; nothing else.

A few hundred of each kind run always, 20,000 with ``-m slow``; ``make fuzz FUZZ=100000`` runs as many as are asked for.
"""

import io
import os
import zipfile

import pytest

import nd
from nd import serde
from nn import ModelFile, MultiLayerConfiguration, MultiLayerNetwork
from tests.sweeps import share

from .mutator import damaged_bytes, damaged_json, generator
from .surveys import check

FAST = {"arrays": 2000, "configurations": 200, "entries": 100, "zips": 300}
SLOW = int(os.environ.get("FUZZ", share(20000)))
SEED = os.environ.get("FUZZ_SEED", "ndwright")
SOURCES = (
    "regression/050/050_ModelSerializer_Regression_MLP_1.zip",
    "regression/050/050_ModelSerializer_Regression_MLP_2.zip",
    "regression/071/071_ModelSerializer_Regression_CG_LSTM_1.zip",
    "regression/071/071_ModelSerializer_Regression_CNN_1.zip",
    "regression/071/071_ModelSerializer_Regression_LSTM_1.zip", "regression/100b4/SyntheticCNN_100b4.bin",
    "MLPMoon/Model_RANDOM_INIT_UNTRAINED.zip",
)  # fmt: skip
ARRAYS = ("MLPMoon/flattenedGradients.bin", "MLPMoon/predictions/output_1_0.bin", "regression/100a/upsampling/out.bin")


@pytest.fixture(scope="module")
def files(reference):
    """Java's zips, and the same stored without compression: there damage reaches what is inside."""
    packed = [(reference / name).read_bytes() for name in SOURCES]
    return packed + [_packed(io.BytesIO(), _unpacked(content)).getvalue() for content in packed]


@pytest.fixture(scope="module")
def archives(files):
    return [_unpacked(content) for content in files[: len(SOURCES)]]


@pytest.fixture(scope="module")
def arrays(reference, archives):
    alone = [(reference / name).read_bytes() for name in ARRAYS]
    inside = [content for entries in archives for name, content in entries.items() if name.endswith(".bin")]
    return [content[:4000] for content in alone if len(content) < 100_000] + inside


def _unpacked(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _packed(path, entries):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


def _open(path):
    """Read a file in both ways; what one refuses the other may still take."""
    refused = []
    for read in (lambda: MultiLayerNetwork.load(path), lambda: _whole(ModelFile.read(path))):
        try:
            read()
        except (nd.NdError, OSError) as error:
            refused.append(error)
    if len(refused) == 2:
        raise refused[0]


def _whole(model):
    model.unsupported, model.layers, model.iteration_count, model.epoch_count, model.dtype
    return model.param_table()


def array_mutant(number, arrays, archives, files, path):
    rng = generator(SEED, f"arrays-{number}")
    data = damaged_bytes(rng.choice(arrays), rng, arrays)
    serde.from_bytes(data)


def configuration_mutant(number, arrays, archives, files, path):
    rng = generator(SEED, f"configurations-{number}")
    texts = [entries["configuration.json"] for entries in archives]
    text = damaged_json(rng.choice(texts), rng, texts).decode("utf-8", "replace")
    MultiLayerConfiguration.from_json(text, strict=rng.random() < 0.5)


def entry_mutant(number, arrays, archives, files, path):
    rng = generator(SEED, f"entries-{number}")
    entries = dict(rng.choice(archives))
    for name in rng.sample(sorted(entries), rng.choice((1, 1, 2))):
        texts = name.endswith(".json")
        others = [each[name] for each in archives if name in each]
        entries[name] = (damaged_json if texts else damaged_bytes)(entries[name], rng, others)
    _open(_packed(path, entries))


def zip_mutant(number, arrays, archives, files, path):
    rng = generator(SEED, f"zips-{number}")
    path.write_bytes(damaged_bytes(rng.choice(files), rng, files))
    _open(path)


KINDS = {"arrays": array_mutant, "configurations": configuration_mutant, "entries": entry_mutant, "zips": zip_mutant}


def check_all(kind, count, *originals):
    check(kind, lambda number: KINDS[kind](number, *originals), count)


@pytest.mark.parametrize("kind", KINDS)
def test_mutants_load_or_raise_a_typed_error(kind, arrays, archives, files, tmp_path):
    check_all(kind, FAST[kind], arrays, archives, files, tmp_path / "mutant.zip")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many_mutants_load_or_raise_a_typed_error(kind, arrays, archives, files, tmp_path):
    check_all(kind, SLOW, arrays, archives, files, tmp_path / "mutant.zip")


def test_a_mutant_comes_back_by_its_number(files):
    first, again = (damaged_bytes(files[0], generator(SEED, "zips-7"), files) for _ in range(2))
    assert first == again != files[0]
    assert damaged_bytes(files[0], generator(SEED, "zips-8"), files) != first
