"""docs/articles.md: every item of the articles has a row; what is there runs, what is not says why."""

import re

import pytest

from tests.articles import DECLINED, FILES, FOLDER, PAGE, items_of, run, written
from tests.cells import run_all

COUNTS = {
    "Article 0: fit()": 134,
    "Article 1: backprop()": 58,
    "Articles 2 and 4: LeNet": 63,
    "Article 3: Caffe's Net": 36,
    "Beyond the articles": 30,
}
"""Heading -> items that the article names, numbered from 1."""
BESIDES = (
    "before_backward_", "ShareTrainedLayersWith", "CopyTrainedLayersFrom", "ToProto", "StateMeetsRule", "decay_mult",
    "layers share by name", "layer_need_backward", "rnnTimeStep", "contrastive divergence", "LegacyPooling2D",
    "UpdaterBlock", "GradientUpdater", "paramTable", "WorkspaceMode", "ModelLossFunction", "EPS_THRESHOLD",
    "dataType()", "DL4JInvalidInputException", "getNumIterations", "feedForwardToLayer(int, boolean)",
    "createTransform", "DropOutInverted", "layerConf", "getStateBuffer", "gradientViews", "reshape", "IsMax",
    "Net<Dtype>", "outputs, in order",
)  # fmt: skip
"""What the last table names, in its order."""
FEWEST_WORDS = 4
"""In a reason."""
LONGEST = 300
"""Characters of a row: the page is read on a screen."""
HEADINGS = pytest.mark.parametrize("heading", FILES)


def code_of(heading):
    return [item for item in items_of(heading) if item.present]


@HEADINGS
def test_every_item_has_a_row(heading):
    assert [item.number for item in items_of(heading)] == [str(number) for number in range(1, COUNTS[heading] + 1)]


def test_what_stands_beside_the_articles_has_a_row():
    names = [item.name for item in items_of("Beyond the articles")]
    assert [beside for beside, name in zip(BESIDES, names, strict=True) if beside not in name] == []


@HEADINGS
@pytest.mark.quick_rows(2)
def test_what_is_here_runs(heading):
    run_all("items", {f"{item.number}: {item.name}": lambda item=item: run(item) for item in code_of(heading)})


@HEADINGS
def test_what_is_here_is_asserted(heading):
    plain = re.compile(r"^\s*(assert|near\(|with refused\()", re.MULTILINE)
    assert [item.number for item in code_of(heading) if not plain.search(item.code)] == []
    assert [item.number for item in code_of(heading) if item.here.startswith(DECLINED)] == []


@HEADINGS
def test_what_is_not_here_says_why(heading):
    absent = [item for item in items_of(heading) if not item.present]
    assert [item.number for item in absent if item.reason is None] == []
    assert [item.number for item in absent if len((item.reason or "").split()) < FEWEST_WORDS] == []
    assert [item.number for item in absent if item.shown] == []


@HEADINGS
def test_rows_are_short_and_whole(heading):
    rows = [item.row for item in items_of(heading)]
    assert [row for row in rows if len(row) > LONGEST or row.count(" | ") != 3] == []
    assert [item.number for item in items_of(heading) if not item.name or not item.here] == []


def test_the_page_has_the_items_of_the_table():
    assert written(PAGE.read_text()) == PAGE.read_text(), "write it anew: python -m tests.articles"


def test_every_file_of_items_is_read():
    named = {stem for stems in FILES.values() for stem in stems}
    assert named == {path.stem for path in FOLDER.glob("*.py")} - {"__init__", "fixtures"}
