"""The Python of README.md, of docs/ and of examples/ under two type checkers: `python -m tests.typed_blocks`.

mypy takes it with ``--strict``, Pyright as it is. What they say names the page and its line.
"""

import json
import os
import re
import subprocess
import sys

from tests.inside import PAGES as WALK_THROUGHS
from tests.inside import program_of
from tests.source_files import ROOT

PAGES = [ROOT / "README.md", ROOT / "DESCRIPTION.md", *sorted((ROOT / "docs").glob("*.md"))]
FOLDER = ROOT / ".mypy_cache" / "blocks"
"""Where each of them is a file of its own: always the same place, so that mypy goes on from what it knows."""
EXAMPLES = [*sorted((ROOT / "examples").glob("*.py")), ROOT / "tests" / "cases" / "typed_program.py"]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"


def blocks_of(page):
    """Yield line and text of a page's Python, after as many empty lines as the page has before it."""
    text = page.read_text()
    for found in BLOCK.finditer(text):
        line = text.count("\n", 0, found.start(1))
        yield line + 1, "\n" * line + found[1]


def written(folder):
    """Write every block, walk-through and example into a file of its own; return file name -> page."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.py"):
        old.unlink()
    blocks = [(page, line, text) for page in PAGES for line, text in blocks_of(page)]
    programs = [(page, 1, program_of(page.read_text())) for page in WALK_THROUGHS]
    examples = [(example, 1, example.read_text()) for example in EXAMPLES]
    pages = {}
    for path, line, text in [*blocks, *programs, *examples]:
        inside = "inside_" if path in WALK_THROUGHS else ""
        name = f"{inside}{path.stem.lower()}_{line}.py"
        (folder / name).write_text(text)
        pages[name] = str(path.relative_to(ROOT))
    return pages


def named_by_page(said, pages):
    """Return what a checker says, with the pages in the place of the files."""
    file = rf"[^\s\"]*\b({'|'.join(map(re.escape, pages))})\b"
    return re.sub(file, lambda found: pages[found[1]], said)


def mypy(pages):
    """Start mypy: strictly, on the blocks and the examples, not on what they import."""
    settings = FOLDER / "mypy.ini"
    settings.write_text(
        f"[mypy]\nstrict = True\nmypy_path = {ROOT}\npython_version = {VERSION}\n"
        f"ignore_missing_imports = True\nfollow_imports = silent\ncache_dir = {FOLDER / 'cache'}\n"
    )
    return started("mypy", "--config-file", settings, *(FOLDER / name for name in pages))


def pyright(pages):
    """Start Pyright on the same files."""
    settings = {
        "include": list(pages),
        "exclude": [],
        "extraPaths": [str(ROOT)],
        "pythonVersion": VERSION,
        "reportMissingImports": "none",
        "reportMissingModuleSource": "none",
    }
    (FOLDER / "pyrightconfig.json").write_text(json.dumps(settings))
    return started("pyright", "--project", FOLDER, "--pythonpath", sys.executable)


def started(*command):
    return subprocess.Popen(
        [sys.executable, "-m", *map(str, command)],
        cwd=ROOT,
        env={**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def main():
    """Run both at once; return 1 if one of them has found an error."""
    pages = written(FOLDER)
    runs = {checker.__name__: checker(pages) for checker in (mypy, pyright)}
    for name, run in runs.items():
        print(f"{name}: {named_by_page(run.communicate()[0], pages).strip()}")
    return int(any(run.returncode for run in runs.values()))


if __name__ == "__main__":
    sys.exit(main())
