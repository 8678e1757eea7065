"""The README is short, and leads to everything else. Its code is run by test_docs.py."""

import pathlib

from tests.cells import every_row

ROOT = pathlib.Path(__file__).parent.parent
README = ROOT / "README.md"
LAST_LINE = 120


def test_it_is_short():
    assert len(README.read_text().splitlines()) <= LAST_LINE


@every_row("page", sorted(page.name for page in (ROOT / "docs").glob("*.md")))
def test_it_links_to_every_page(page):
    assert f"](docs/{page})" in README.read_text()
