"""What CONTRIBUTING.md says is done, in a copy of the tree, block by block: files, lines, commands, and a training."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parent.parent
PAGE = ROOT / "CONTRIBUTING.md"
COPIED = ("backends", "nd", "ndwright", "nn", "optimize", "tests", "pyproject.toml")
LISTS = (
    "Add a layer", "Add a vertex", "Add a layer of Caffe", "Add an activation", "Add a loss", "Add an updater",
    "Add an op", "Add a backend",
)  # fmt: skip
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def section(heading):
    """Return the text between a heading and the next one."""
    found = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    return found[1]


def blocks(heading):
    """Yield language, text, and the file that was named last before each block: of one that is written, the first."""
    text, path, start = section(heading), None, 0
    for found in BLOCK.finditer(text):
        prose = text[start : found.start()]
        named = re.findall(r"`([\w/]+\.py)`", prose)
        if named:
            path = named[0]
        start = found.end()
        yield found[1], found[2], path


def steps(heading):
    return [int(number) for number in re.findall(r"^(\d+)\. ", section(heading), re.MULTILINE)]


def edited(text, difference):
    """Return a file's text after a difference: lines with ' ' and '-' are there once, those with ' ' and '+' then."""
    lines = difference.splitlines(keepends=True)
    assert {line[0] for line in lines} <= set(" +-"), difference
    old = "".join(line[1:] for line in lines if line[0] != "+")
    new = "".join(line[1:] for line in lines if line[0] != "-")
    assert ("\n" + text).count("\n" + old) == 1, f"these lines must be there once:\n{old}"
    return ("\n" + text).replace("\n" + old, "\n" + new)[1:]


def is_file(language, text):
    return language == "python" and text.startswith('"""')


def run(folder, arguments):
    environment = {**os.environ, "PYTHONPATH": str(folder), "ND_BACKEND": "numpy"}
    environment.pop("PYTEST_ADDOPTS", None)
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return done.stdout


@pytest.fixture
def tree(tmp_path):
    """A copy of what the lists change."""
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("*.zip"))  # with its bytecode
        else:
            shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def follow(tree, heading):
    """Write the files and lines of a list; return its commands and its programs."""
    commands, programs = [], []
    for language, text, path in blocks(heading):
        if is_file(language, text):
            assert not (tree / path).exists()
            (tree / path).write_text(text)
        elif language == "diff":
            (tree / path).write_text(edited((tree / path).read_text(), text))
        elif language == "sh":
            commands += [line.split(" ", 1) for line in text.splitlines()]
        else:
            programs.append(text)
    return commands, programs


def words(arguments):
    """Split a command's arguments as a shell does."""
    return [quoted or plain for quoted, plain in re.findall(r'"([^"]*)"|(\S+)', arguments)]


@pytest.mark.parametrize("heading", LISTS)
def test_a_list_is_numbered_and_has_files_lines_commands_and_a_program(heading):
    numbers = steps(heading)
    assert numbers == list(range(1, len(numbers) + 1))
    kinds = {("file" if is_file(*block[:2]) else block[0]) for block in blocks(heading)}
    assert kinds >= {"diff", "sh", "python"}


def run_tests(tree, *arguments):
    out = run(tree, ["-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", "-v", *arguments])
    assert int(re.search(r"(\d+) passed", out)[1]) > 0


def run_program(tree, *arguments):
    run(tree, [*arguments])


PROGRAMS = {"pytest": run_tests, "python": run_program}


def check_printed(printed, programs):
    """Every program trains well enough, or prints cosh(1)."""
    numbers = [float(re.findall(r"[\d.]+", line)[-1].strip(".")) for line in printed.splitlines()]
    assert len(numbers) == programs
    assert min(numbers) > 0.9


def merged(commands):
    """Return one command for several: a file without -k is run whole."""
    paths, chosen = [], []
    for arguments in commands:
        where = [each for each in arguments if each.startswith("tests/")]
        paths += [path for path in where if path not in paths]
        wholly = [pathlib.PurePath(path).stem for path in where]
        chosen += [f"({arguments[arguments.index('-k') + 1]})"] if "-k" in arguments else wholly
    return [*paths, "-k", " or ".join(dict.fromkeys(chosen))]


@pytest.mark.slow
def test_all_lists_followed_in_one_tree_give_what_they_say(tree):
    """Their tests in two processes, their programs in one; and what they write keeps the rules of the code."""
    followed = [follow(tree, heading) for heading in LISTS]
    for program, arguments in (command for made, _ in followed for command in made):
        if program == "python":
            run_program(tree, *words(arguments))
    commands = [words(arguments) for made, _ in followed for program, arguments in made if program == "pytest"]
    elsewhere = [each for each in commands if "--backend=plain" in each]
    assert len(elsewhere) == 2
    rules = [["tests/test_architecture.py", "tests/test_on_demand.py", "tests/optimize/test_torch_formulas.py"]]
    run_tests(tree, *merged(rules + [each for each in commands if each not in elsewhere]))
    run_tests(tree, "--backend=plain", *merged(elsewhere))
    programs = [program for _, programs in followed for program in programs]
    check_printed(run(tree, ["-c", "\n".join(programs)]), len(LISTS))


@pytest.mark.slow
@pytest.mark.parametrize("heading", LISTS)
def test_a_list_alone_gives_what_it_says(heading, tree):
    """Word for word."""
    commands, programs = follow(tree, heading)
    assert len(commands) >= 2
    for program, arguments in commands:
        PROGRAMS[program](tree, *words(arguments))
    check_printed(run(tree, ["-c", *programs]), 1)


def test_every_path_is_there_or_is_made():
    text = PAGE.read_text()
    made = {path for heading in LISTS for language, block, path in blocks(heading) if is_file(language, block)}
    named = set(re.findall(r"[`(]((?:backends|docs|nd|nn|optimize|tests)/[\w/.]+\.\w+)", text))
    assert len(named) > 15
    assert {path for path in named if not (ROOT / path).is_file()} == made
    folders = re.findall(r"(?:^|[ `])((?:backends|nd|nn|optimize|tests)/[\w/]+)[` \n]", text)
    assert all((ROOT / folder).is_dir() for folder in folders)


def test_every_target_is_in_the_makefile():
    targets = set(re.findall(r"`make ([\w -]+)`", PAGE.read_text()))
    known = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert {target for named in targets for target in named.split()} <= known


@pytest.mark.parametrize(
    ("difference", "result"),
    [
        (" b\n+x\n", "a\nb\nx\nc\n"),
        ("+x\n b\n", "a\nx\nb\nc\n"),
        ("-b\n+x\n", "a\nx\nc\n"),
        (" a\n+x\n b\n", "a\nx\nb\nc\n"),
    ],
)
def test_differences(difference, result):
    assert edited("a\nb\nc\n", difference) == result


@pytest.mark.parametrize("difference", [" d\n+x\n", " a\n+x\n c\n"])
def test_lines_that_are_not_there(difference):
    with pytest.raises(AssertionError, match="must be there once"):
        edited("a\nb\nc\n", difference)
