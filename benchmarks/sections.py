"""The parts of RESULTS.md: whoever writes one leaves the others as they are."""

from __future__ import annotations

import re

ON_GPU = "## On a GPU"
"""How headings of sections begin that are measured on a GPU."""
BY_HAND = "## Where the time goes"
"""Where that begins which is written by hand, up to the end."""


def section(text: str, heading: str) -> str:
    """Return a section with its heading, up to the next heading of two signs; nothing where there is none."""
    found = re.search(rf"^{re.escape(heading)}$.*?(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    return found.group().rstrip() if found else ""


def kept(text: str) -> list[str]:
    """Return what no benchmark of the CPU writes: the sections of GPUs, and what is written by hand."""
    headings = re.findall(rf"^{re.escape(ON_GPU)}.*$", text, re.MULTILINE)
    return [part for part in (*(section(text, each) for each in headings), by_hand(text)) if part]


def by_hand(text: str) -> str:
    """Return what is written by hand."""
    return text[text.index(BY_HAND) :].rstrip() if BY_HAND in text else ""


def with_section(text: str, heading: str, new: str) -> str:
    """Return the text with a section put in the place of the one before, else before what is written by hand."""
    old = section(text, heading)
    if old:
        return text.replace(old, new.rstrip())
    hand = by_hand(text)
    before = text[: text.index(hand)] if hand else text
    return "\n\n".join(part for part in (before.rstrip(), new.rstrip(), hand) if part) + "\n"
