"""Type checkers read the Python of the pages and name the page; `make lint` runs them."""

from tests.source_files import ROOT
from tests.typed_blocks import FOLDER, blocks_of, named_by_page, written


def test_what_is_said_of_a_file_names_the_page():
    pages = {"own_parts_7.py": "docs/own_parts.md", "parts_7.py": "docs/parts.md"}
    said = f"{FOLDER}/own_parts_7.py:9: error\n.mypy_cache/blocks/parts_7.py:8: error\nFound 2 errors in 2 files"

    assert named_by_page(said, pages) == "docs/own_parts.md:9: error\ndocs/parts.md:8: error\nFound 2 errors in 2 files"


def test_lines_are_the_pages(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A page\n\n```python\nx = 1\ny = 2\n```\n\n```sh\nls\n```\n")

    assert list(blocks_of(page)) == [(4, "\n\n\nx = 1\ny = 2\n")]


def test_every_page_with_python_and_every_example_is_read(tmp_path):
    pages = written(tmp_path)

    assert {path.name for path in tmp_path.iterdir()} == set(pages)
    assert {f"examples/{path.name}" for path in (ROOT / "examples").glob("*.py")} <= set(pages.values())
    assert {"README.md", "docs/java.md", "docs/own_parts.md"} <= set(pages.values())
