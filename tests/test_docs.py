"""README.md and the pages of docs/: their code runs as it stands there, their links and files are there."""

import re
import shutil

import numpy as np
import pytest

import nd
from nd.dataset import EarlyTerminationDataSetIterator, MnistDataSetIterator
from tests.cells import every_row
from tests.inside import PAGES as WALK_THROUGHS
from tests.source_files import ROOT
from tests.typed_blocks import PAGES, blocks_of

NAMING = [*PAGES, *WALK_THROUGHS]
LINKING = [*NAMING, ROOT / "CONTRIBUTING.md"]
FROM_JAVA = ROOT / "tests" / "cases" / "java_runs" / "train" / "updater_wd_Adam" / "model.zip"
MNIST = "MnistDataSetIterator"
FEW_BATCHES = 3
ACCURACY = 0.85


def named(pattern, pages):
    """Return what a pattern finds in pages, each once, with the page."""
    found = {(page, name): None for page in pages if page.is_file() for name in re.findall(pattern, page.read_text())}
    return [pytest.param(page, name, id=f"{page.name}:{name}") for page, name in found]


def anchors_of(page):
    """Return the names that GitHub gives to headings."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def run(page, block):
    names = {}
    exec(compile(block, str(page), "exec"), names)
    return names


BLOCKS = [pytest.param(page, text, id=f"{page.name}:{line}") for page in PAGES for line, text in blocks_of(page)]


def test_there_are_blocks_to_run():
    pages = {block.values[0].name for block in BLOCKS}
    assert len(BLOCKS) >= 15
    assert {"README.md", "training.md", "own_parts.md", "java.md"} <= pages


def test_every_block_is_found():
    """One that is indented, say, would not run."""
    assert sum(page.read_text().count("```python") for page in PAGES) == len(BLOCKS)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working directory of a block, with a model that Java wrote; what a block sets is set back."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(FROM_JAVA, tmp_path)
    yield
    nd.random.set_release("1.0.0-beta7")  # the default


@pytest.mark.parametrize(("page", "block"), [block for block in BLOCKS if MNIST not in block.values[1]])
@pytest.mark.usefixtures("folder")
def test_block(page, block, capsys):
    """Word for word."""
    check_block(page, block, capsys)


@pytest.mark.parametrize(("page", "block"), [block for block in BLOCKS if MNIST in block.values[1]])
@pytest.mark.usefixtures("folder", "mnist_folder")
def test_block_on_mnist(page, block, monkeypatch, capsys):
    """Word for word, but on a few minibatches."""

    def few(*arguments, **settings):
        return EarlyTerminationDataSetIterator(MnistDataSetIterator(*arguments, **settings), FEW_BATCHES)

    monkeypatch.setattr(nd.dataset, MNIST, few)
    check_block(page, block, capsys)


def check_block(page, block, capsys):
    names = run(page, block)
    printed = capsys.readouterr().out
    if "net" in names:
        assert all(np.isfinite(nd.to_host(array)).all() for array in parameters_of(names["net"]))
    for name, check in CHECKS.items():
        if name in names:
            check(names, printed, lambda: run(page, block))


def parameters_of(net):
    """Return the flat vector of a network, or the arrays of Caffe's Net."""
    return [blob.data for blob in net.learnable_params] if isinstance(net.params, dict) else [net.params()]


def of_lenet(names, printed, repeat):
    assert (names["again"].params() == names["net"].params()).all()
    assert names["net"].iteration_count == 3 * FEW_BATCHES
    assert "# of classes:    10" in printed


def of_checkpoints(names, printed, repeat):
    network = names["network"]
    assert (network.epoch_count, [each.epoch for each in names["saver"].checkpoints][-1]) == (10, 10)
    again = repeat()
    assert (again["network"].params() == network.params()).all()
    assert again["network"].iteration_count == network.iteration_count


def of_early_stopping(names, printed, repeat):
    assert names["result"].termination_details == "MaxEpochsTerminationCondition(5)"
    assert names["best"].epoch_count == names["result"].best_model_epoch == 4


def of_own_parts(names, printed, repeat):
    assert float(printed) > ACCURACY
    assert (names["same"].params() == names["own"].params()).all()


def of_transfer_learning(names, printed, repeat):
    assert len(names["net"].conf.layers) == 4
    assert float(printed) > ACCURACY


def of_transfer_of_graphs(names, printed, repeat):
    trained, graph = names["trained_graph"], names["graph"]
    for key in ("wide_W", "deep_W"):
        assert (graph.get_param(key) == trained.get_param(key)).all()
    assert float(printed) > ACCURACY


CHECKS = {
    "again": of_lenet,
    "saver": of_checkpoints,
    "best": of_early_stopping,
    "own": of_own_parts,
    "graph_helper": of_transfer_of_graphs,
    "helper": of_transfer_learning,
}
"""What holds after a block that makes that name."""


@pytest.mark.parametrize("name", CHECKS)
def test_every_check_has_its_block(name):
    assert sum(bool(re.search(rf"^(\w+, )*{name}(, \w+)* = ", block.values[1], re.MULTILINE)) for block in BLOCKS) == 1


@every_row(("page", "path"), named(r"`((?:examples|benchmarks|tests|backends|nn|nd|optimize)/[\w/.]+\.\w+)`", NAMING))
def test_files_that_a_page_names_are_there(page, path):
    assert (ROOT / path).is_file()


@every_row(("page", "link"), named(r"\]\((?!\w+:)([^)\s]+)\)", LINKING))
def test_links_lead_somewhere(page, link):
    path, _, anchor = link.partition("#")
    target = page.parent / path if path else page
    assert target.is_file()
    if anchor:
        assert anchor in anchors_of(target)
