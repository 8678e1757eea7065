"""The items of the articles about Deeplearning4j's source: read from tests/cases/articles, shown in docs/articles.md.

A file of cases is Python in cells. A cell begins with ``# %% number | item | here | shown`` (over several comments if
it is long), followed by lines that run what the item names. A cell without lines is an item that is not there: what
stands under "here" is then the reason. `python -m tests.articles` writes the tables of the page anew.
"""

import functools
import re
import sys
from typing import NamedTuple

from tests.source_files import ROOT

PAGE = ROOT / "docs" / "articles.md"
FOLDER = ROOT / "tests" / "cases" / "articles"
FILES = {
    "Article 0: fit()": ("fit_configuration", "fit_loop", "fit_solver", "fit_step", "fit_ops"),
    "Article 1: backprop()": ("backprop",),
    "Articles 2 and 4: LeNet": ("lenet_init", "lenet_step"),
    "Article 3: Caffe's Net": ("net",),
    "Beyond the articles": ("beyond",),
}
"""Heading on the page -> files of cases, in their order."""
DECLINED = "not here: "
HEAD = "| # | in the article | here | shown |\n|---|---|---|---|\n"
MARK = "# %% "
TABLE = re.compile(rf"^{re.escape(HEAD)}(?:\|.*\n)*", re.MULTILINE)
ITSELF = "`tests/test_articles.py`"
"""Where an item is shown that says no other place."""


class Item(NamedTuple):
    """A cell of a file of cases."""

    number: str
    name: str
    here: str
    shown: str
    path: str
    line: int
    code: str

    @property
    def present(self):
        return bool(self.code.strip())

    @property
    def reason(self):
        """Why it is not there; None where it is."""
        return self.here.removeprefix(DECLINED) if self.here.startswith(DECLINED) else None

    @property
    def row(self):
        shown = self.shown or (ITSELF if self.present else "")
        return f"| {self.number} | {self.name} | {self.here} | {shown} |".replace("|  |", "| |")


@functools.cache
def parts_of(stem):
    """Return a file's imports, and its cells."""
    path = FOLDER / f"{stem}.py"
    head, *cells = re.split(rf"^(?={re.escape(MARK)})", path.read_text(), flags=re.MULTILINE)
    line, items = head.count("\n") + 1, []
    for cell in cells:
        lines = cell.splitlines()
        comments = next((number for number, text in enumerate(lines) if not text.startswith("#")), len(lines))
        said = " ".join(text.removeprefix(MARK).removeprefix("# ") for text in lines[:comments])
        fields = [field.strip() for field in f"{said} ".split(" | ")]
        number, name, here, shown = [*fields, "", ""][:4]
        items.append(Item(number, name, here, shown, str(path), line + comments, "\n".join(lines[comments:])))
        line += len(lines)
    return head, items


def items_of(heading):
    """Return the items of an article, in their order."""
    return [item for stem in FILES[heading] for item in parts_of(stem)[1]]


def run(item):
    """Run an item's lines, with the imports of its file."""
    head = next(parts_of(stem)[0] for stems in FILES.values() for stem in stems if item in parts_of(stem)[1])
    names = {"__name__": "cell"}
    exec(compile(head, item.path, "exec"), names)
    exec(compile("\n" * (item.line - 1) + item.code, item.path, "exec"), names)


def written(text):
    """Return the page with the tables of the cases under its headings."""
    for heading in FILES:
        table = HEAD + "".join(f"{item.row}\n" for item in items_of(heading))
        start = text.index(f"## {heading}\n")
        found = TABLE.search(text, start)
        text = text[: found.start()] + table + text[found.end() :]
    return text


if __name__ == "__main__":
    sys.exit(PAGE.write_text(written(PAGE.read_text())) and None)
