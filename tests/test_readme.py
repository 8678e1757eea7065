"""The README's code runs as it stands there."""

import pathlib
import re

import numpy as np
import pytest

import nd.dataset
from nd.dataset import EarlyTerminationDataSetIterator, MnistDataSetIterator

README = pathlib.Path(__file__).parent.parent / "README.md"
BLOCKS = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
FEW_BATCHES = 3
ACCURACY = 0.85


def test_there_are_blocks_to_run():
    assert len(BLOCKS) >= 3


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_block(number, monkeypatch, tmp_path, mnist_folder, capsys):
    """Word for word, but on a few minibatches of MNIST."""

    def few(*arguments, **settings):
        return EarlyTerminationDataSetIterator(MnistDataSetIterator(*arguments, **settings), FEW_BATCHES)

    monkeypatch.setattr(nd.dataset, "MnistDataSetIterator", few)
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(compile(BLOCKS[number], str(README), "exec"), names)
    if "net" in names:
        assert np.isfinite(nd.to_host(names["net"].params())).all()
    if "again" in names:
        assert (names["again"].params() == names["net"].params()).all()
        assert names["net"].iteration_count == 3 * FEW_BATCHES
        assert "# of classes:    10" in capsys.readouterr().out
    if "saver" in names:
        network = names["network"]
        assert (network.epoch_count, [each.epoch for each in names["saver"].checkpoints][-1]) == (10, 10)
        exec(compile(BLOCKS[number], str(README), "exec"), again := {})
        assert (again["network"].params() == network.params()).all()
        assert again["network"].iteration_count == network.iteration_count
    if "best" in names:
        assert names["result"].termination_details == "MaxEpochsTerminationCondition(5)"
        assert names["best"].epoch_count == names["result"].best_model_epoch == 4
    if "own" in names:
        assert float(capsys.readouterr().out) > ACCURACY
        assert (names["same"].params() == names["own"].params()).all()
    if "helper" in names:
        assert len(names["net"].conf.layers) == 4
        assert float(capsys.readouterr().out) > ACCURACY


@pytest.mark.parametrize(
    "path", re.findall(r"`((?:examples|benchmarks|tests|nn|nd|optimize)/[\w/.]+\.\w+)`", README.read_text())
)
def test_files_that_it_names_are_there(path):
    assert (README.parent / path).is_file()
