"""The walk-throughs in docs/inside: the Python prints what stands below it, and draws the pictures beside it."""

import re

import numpy as np
import pytest
from matplotlib.image import imread

from tests.inside import FOLDER, PAGES, PICTURES, STEP, printed_by, program_of

SHADE = 3 / 255
TABLE = "| the article | here | where |"


LONG = {"net.md"}  # which takes seconds


def of_pages(test):
    return pytest.mark.parametrize("page", [pytest.param(page, id=page.name) for page in PAGES])(test)


def test_there_are_five():
    assert {page.name for page in PAGES} >= {"fit.md", "backprop.md", "lenet.md", "loop.md", "net.md"}


@pytest.mark.parametrize(
    "page", [pytest.param(page, id=page.name, marks=[pytest.mark.slow] * (page.name in LONG)) for page in PAGES]
)
@pytest.mark.quick_rows("fit.md", "backprop.md", "loop.md")
def test_a_page_prints_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = page.read_text()

    assert printed_by(page, text) == text
    for picture in tmp_path.glob("*.png"):  # a rounding of other processors may move a shade
        assert np.abs(imread(picture) - imread(PICTURES / picture.name)).max() <= SHADE, picture.name
    shown = re.findall(r"\]\(pictures/([\w.]+)\)", text)
    assert sorted(shown) == sorted(picture.name for picture in tmp_path.glob("*.png"))


@of_pages
def test_a_page_begins_with_the_articles_names(page):
    text = page.read_text()
    assert TABLE in text[: STEP.search(text).start()]


@of_pages
def test_what_is_printed_is_kept_by_no_other_block(page):
    text = page.read_text()
    below = text.count("```text") + text.count("```mermaid")
    assert below == sum(step["below"] is not None for step in STEP.finditer(text))
    assert text.count("```python") == len(STEP.findall(text))


def test_a_program_has_its_lines_where_the_page_has_them():
    text = "# A\n\n```python\nx = 1\n```\n\n```text\n1\n```\n\nand\n\n```python\ny = 2\n```\n"

    assert program_of(text) == "\n\n\nx = 1" + "\n" * 10 + "y = 2\n"


def test_what_a_page_prints_is_put_below_it(tmp_path):
    page = tmp_path / "page.md"
    text = "# A\n\n```python\nx = 1\n```\n\n```python\nprint(x)\n```\n\n```text\n2\n```\n"

    assert printed_by(page, text) == text.replace("2", "1")


def test_every_picture_is_shown():
    shown = {name for page in PAGES for name in re.findall(r"\]\(pictures/([\w.]+)\)", page.read_text())}
    assert shown == {path.name for path in PICTURES.glob("*")}


def test_the_folder_has_pages_and_pictures_alone():
    assert {path.name for path in FOLDER.iterdir()} == {*(page.name for page in PAGES), PICTURES.name}
