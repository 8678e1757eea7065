"""The walk-throughs in docs/inside: their Python runs, and what it prints stands below it.

`python -m tests.inside` runs all pages and writes what they print, and the pictures that they draw, into the
repository; the tests compare the same with what is there.
"""

import contextlib
import io
import os
import pathlib
import re
import sys
import tempfile

from tests.source_files import ROOT

FOLDER = ROOT / "docs" / "inside"
PAGES = sorted(FOLDER.glob("*.md"))
PICTURES = FOLDER / "pictures"
DIAGRAMS = ("sequenceDiagram", "classDiagram")
"""What is printed and begins so, is a diagram in Mermaid's language, which GitHub draws."""
BELOW = r"(?P<below>\n```(?:text|mermaid)\n.*?^```\n)?"
STEP = re.compile(rf"^```python\n(?P<code>.*?)^```\n{BELOW}", re.DOTALL | re.MULTILINE)


def program_of(text):
    """Return all Python of a page as one program, each line where the page has it."""
    lines, number = [], 0
    for step in STEP.finditer(text):
        first = text.count("\n", 0, step.start("code"))
        lines += [""] * (first - number)
        lines += step["code"].splitlines()
        number = len(lines)
    return "\n".join(lines) + "\n"


def printed_by(page, text):
    """Run a page's Python in its order, with the names of the steps before; return the page with what each prints."""
    names = {"__name__": "__main__"}

    def run(step):
        out = io.StringIO()
        first = text.count("\n", 0, step.start("code"))
        with contextlib.redirect_stdout(out):
            exec(compile("\n" * first + step["code"], str(page), "exec"), names)
        printed = out.getvalue()
        language = "mermaid" if printed.startswith(DIAGRAMS) else "text"
        below = f"\n```{language}\n{printed}```\n" if printed else ""
        return f"```python\n{step['code']}```\n{below}"

    return STEP.sub(run, text)


def main():
    """Write what the pages print into them, and their pictures beside them."""
    PICTURES.mkdir(exist_ok=True)
    for page in PAGES:
        with tempfile.TemporaryDirectory() as folder:
            before = pathlib.Path.cwd()
            os.chdir(folder)
            try:
                page.write_text(printed_by(page, page.read_text()))
            finally:
                os.chdir(before)
            for picture in sorted(pathlib.Path(folder).glob("*.png")):
                (PICTURES / picture.name).write_bytes(picture.read_bytes())


if __name__ == "__main__":
    sys.exit(main())
