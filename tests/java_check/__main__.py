"""Hold this library against Deeplearning4j: python -m tests.java_check [--release 1.0.0-M2.1] [--keep FOLDER]."""

from __future__ import annotations

import argparse
import json
import logging
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from tests.source_files import ROOT

from . import caffe, graphs, keras, noise, ours, pretrained, report, series, theirs
from .contents import forgotten
from .faults import FAULTS
from .maven import Missing, Programs
from .parts import part_rows
from .rows import Row, mask_rows, random_rows
from .verdict import RELEASES, Verdict, check_faults, faults_of, judge

RANDOM_NETWORKS = RANDOM_GRAPHS = 200
RANDOM_SERIES = RANDOM_PRETRAINED = RANDOM_CAFFE_NETS = 100
NOT_THERE = 3
"""What the program ends with where Java, Maven or Deeplearning4j cannot be had."""


@contextmanager
def timed(what: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    print(f"{time.perf_counter() - start:6.1f} s  {what}", flush=True)


def opened_by_java(programs: Programs, folder: Path, release: str, rows: Sequence[Row]) -> Verdict:
    """Save networks, and have Java open, run and train them."""
    with timed("this library saves and trains its networks"):
        for row in rows:
            ours.save(row, folder / row.name)
    with timed("Java opens, runs and trains them"):
        programs.run("Check", folder)
    results = [ours.compare(row, folder / row.name) for row in rows]
    return judge(results, ours.TOLERANCES, faults_of(release, FAULTS))


def repeated(programs: Programs, folder: Path, release: str) -> Verdict:
    """Have Java run networks of its own, and repeat them."""
    with timed("Java runs networks of its own"):
        programs.run("Cases", folder)
    with timed("this library repeats them"):
        results = [theirs.repeat(case) for case in sorted(folder.iterdir())]
    return judge(results, theirs.TOLERANCES, faults_of(release, FAULTS))


def built_by_java(
    programs: Programs,
    family: ModuleType,
    folder: Path,
    release: str,
    rows: Sequence[graphs.Drawn | pretrained.Drawn | series.Drawn],
) -> Verdict:
    """Have Java build, run and train networks of ours from their configurations, and open them as they were saved."""
    what = family.__name__.rpartition(".")[2]
    with timed(f"this library saves and trains its {what}"):
        for row in rows:
            family.save(row, folder / row.name)
    with timed("Java builds, opens and trains them"):
        programs.run(family.PROGRAM, folder)
    with timed("this library opens Java's"):
        results = [family.compare(row, folder / row.name) for row in rows]
    return judge(results, family.TOLERANCES, faults_of(release, FAULTS))


def models_of_keras(programs: Programs, folder: Path) -> list[str]:
    """Have Java import models of Keras, where they are; return what is wrong."""
    reference = Path(os.environ.get("ND_REFERENCE_DIR") or ROOT.parent / "shared" / "reference") / "keras"
    if not reference.is_dir():
        print(f"models of Keras are not at {reference}: set ND_REFERENCE_DIR")
        return []
    with timed("Java imports models of Keras, and so does this library"):
        return keras.check(programs, folder, reference)


def tests_with_java(programs: Programs) -> int:
    """Run the tests that ask for Deeplearning4j's jars; return pytest's exit status."""
    command = [sys.executable, "-m", "pytest", "-m", "slow or not slow", "--needing=java_class_path", "tests/nn/cli"]
    environment = {**os.environ, "DL4J_CLASS_PATH": programs.class_path.read_text().strip()}
    with timed("tests run Java"):
        return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def check(release: str, folder: Path) -> int:
    """Do all of it in an empty folder; return how many things failed."""
    with timed(f"Maven compiles against Deeplearning4j {release}"):
        programs = Programs(release)
    with timed("networks are made"):
        rows = [*part_rows(), *mask_rows(), *random_rows(RANDOM_NETWORKS)]
        drawn, over_series = graphs.random_graphs(RANDOM_GRAPHS), series.random_series(RANDOM_SERIES)
        drawn += caffe.random_nets(RANDOM_CAFFE_NETS)
        noisy, unlabelled = list(noise.noise_rows()), pretrained.random_pretrained(RANDOM_PRETRAINED)
    missing = forgotten([*(row.conf for row in rows), *(each.graph.conf for each in drawn)])
    verdicts = (
        opened_by_java(programs, folder / "ours", release, rows),
        repeated(programs, folder / "javas", release),
        built_by_java(programs, graphs, folder / "graphs", release, drawn),
        built_by_java(programs, series, folder / "series", release, over_series),
        built_by_java(programs, noise, folder / "noise", release, noisy),
        built_by_java(programs, pretrained, folder / "pretrained", release, unlabelled),
    )
    proofs = json.loads((folder / "ours" / "proofs.json").read_text())["proofs"]
    print(report.table("Networks of ours, opened, run and trained by Java", verdicts[0], list(ours.TOLERANCES)))
    print(report.table("Networks of Java's in double precision, repeated", verdicts[1], list(theirs.TOLERANCES)))
    print(report.table("Graphs of ours in double precision, in Java", verdicts[2], list(graphs.TOLERANCES)))
    print(report.table("Networks over series of ours, the same", verdicts[3], list(series.TOLERANCES)))
    print(report.table("Networks with dropout and weight noise of ours, the same", verdicts[4], list(noise.TOLERANCES)))
    print(report.table("Networks with layers that are pretrained", verdicts[5], list(pretrained.TOLERANCES)))
    print(report.faults_met(release, FAULTS, verdicts))
    failures = [f"{part}: no network has one. Write a row." for part in missing]
    failures += check_faults(release, FAULTS, proofs, verdicts)
    failures += [failure for verdict in verdicts for failure in verdict.failures]
    failures += models_of_keras(programs, folder / "keras")
    failures += ["tests that run Java failed, see above"] * bool(tests_with_java(programs))
    print(report.failures(failures))
    return len(failures)


def main() -> int:
    parser = argparse.ArgumentParser(prog="java-check", description=__doc__.splitlines()[0])
    parser.add_argument("--release", default=RELEASES[-1], help="of Deeplearning4j")
    parser.add_argument("--keep", type=Path, help="an empty folder for all files, which stay there")
    settings = parser.parse_args()
    if settings.keep and settings.keep.exists() and any(settings.keep.iterdir()):
        parser.error(f"--keep must be an empty folder, got {settings.keep} with files in it. Name another one.")
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)  # of networks without an updater
    try:
        with tempfile.TemporaryDirectory(prefix="java-check-") as folder, warnings.catch_warnings(action="ignore"):
            return min(check(settings.release, settings.keep or Path(folder)), 1)  # numbers drawn may be extreme
    except (Missing, RuntimeError) as error:
        print(f"java-check: {error}", file=sys.stderr)
        return NOT_THERE if isinstance(error, Missing) else 1
    finally:
        logging.disable(before)


if __name__ == "__main__":
    sys.exit(main())
