"""README.md and the pages of docs/ are easy to read: purpose and example first, short sentences, no riddles."""

import pathlib
import re
from itertools import takewhile

import pytest

ROOT = pathlib.Path(__file__).parent.parent
DOCS = sorted((ROOT / "docs").glob("*.md"))
INSIDE = sorted((ROOT / "docs" / "inside").glob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "DESCRIPTION.md", ROOT / "CONTRIBUTING.md", *DOCS, *INSIDE]
MOST_WORDS = 30
"""In a sentence."""
MEAN_WORDS = 16
"""In the sentences of a page."""
FIRST_LINES = 25
"""Before which the first example begins."""
RIDDLES = (
    "anybody", "everybody", "nobody", "somebody", "whatever", "whoever", "whom",
    "all the same", "goes on to the bit", "its business", "the way back", "what comes in", "what is said",
)  # fmt: skip
"""Words for which there is always a plainer one: of the field, or the name of what is meant."""

BLOCK = re.compile(r"^ *```.*?^ *```\n?", re.DOTALL | re.MULTILINE)
NOT_PROSE = re.compile(r"\s*(\||#|$)")
ITEM = re.compile(r"^\s*(?:[-*]|\d+\.) ")
LINK = re.compile(r"\]\([^)]*\)")
CODE = re.compile(r"`[^`]*`")
END = re.compile(r"(?<=[.!?])[\"')*]*\s+(?=[\w`\"'(\[*])")


def of_pages(pages):
    return pytest.mark.parametrize("page", [pytest.param(page, id=page.name) for page in pages])


def paragraphs(text):
    """Yield each paragraph and item of a list in one line, without headings, tables and code."""
    lines = []
    for line in [*BLOCK.sub("\n", text).splitlines(), ""]:
        if lines and (NOT_PROSE.match(line) or ITEM.match(line)):
            yield " ".join(" ".join(lines).split())
            lines = []
        if not NOT_PROSE.match(line):
            lines.append(ITEM.sub("", line, count=1))


def sentences(text):
    """Return the sentences of a text; code within a sentence is one word, and a link is its text."""
    plain = [LINK.sub("]", CODE.sub("`code`", paragraph)) for paragraph in paragraphs(text)]
    return [sentence for paragraph in plain for sentence in END.split(paragraph)]


def words(sentence):
    return len(sentence.split())


@of_pages([ROOT / "README.md", *DOCS])
def test_a_page_opens_with_heading_purpose_and_example(page):
    lines = page.read_text().splitlines()
    assert lines[0].startswith("# ")
    assert lines[1] == ""
    purpose = "\n".join(takewhile(str.strip, lines[2:]))
    assert not re.match(r"[#|`>*-]|\d+\.", purpose)
    assert sentences(purpose)
    example = next(number for number, line in enumerate(lines, 1) if line.startswith("```"))
    assert example <= FIRST_LINES


@of_pages(PAGES)
def test_sentences_are_short(page):
    found = sentences(page.read_text())
    assert [sentence for sentence in found if words(sentence) > MOST_WORDS] == []
    assert sum(map(words, found)) / len(found) <= MEAN_WORDS


@of_pages(PAGES)
def test_there_are_no_riddles(page):
    text = BLOCK.sub("\n", page.read_text()).lower()
    assert [word for word in RIDDLES if re.search(rf"\b{word}\b", text)] == []


def test_prose_is_told_from_the_rest():
    text = "# A heading.\n\nOne line\nand `a. B` [two](x.md).\n\n```\nNo. Code.\n```\n\n| a | b. |\n- Item.\n- Is it?\n"
    assert list(paragraphs(text)) == ["One line and `a. B` [two](x.md).", "Item.", "Is it?"]
    assert sentences("It has `a. B` and [two words](x.md). It ends! (Or does it?) Yes.") == [
        "It has `code` and [two words].", "It ends!", "(Or does it?", "Yes.",
    ]  # fmt: skip
