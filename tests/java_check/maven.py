"""Java and Maven: whether they are there, the programs compiled, a program run."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

JAVA_PROJECT = Path(__file__).parent.parent / "java"
OLDEST_JAVA = 11


class Missing(Exception):
    """Something that has to be installed is not there."""


class Crashed(RuntimeError):
    """Native code ended a program: ND4J's does so once in a while, in a program that ran before and runs again."""


class Programs:
    """The programs in tests/java, compiled against one release of Deeplearning4j."""

    def __init__(self, release: str) -> None:
        _check_java()
        self.target = JAVA_PROJECT / f"target-{release}"
        self.class_path = self.target / "class_path.txt"
        if self._is_stale():
            _compile(
                "mvn", "-q", "-B", f"-Djavacpp.platform={_platform()}", f"-Ddl4j.version={release}",
                f"-Dout={self.target.name}", f"-Dmdep.outputFile={self.class_path}",
                "compile", "dependency:build-classpath",
            )  # fmt: skip
            self.class_path.touch()

    def _is_stale(self) -> bool:
        sources = [JAVA_PROJECT / "pom.xml", *JAVA_PROJECT.rglob("src/**/*.java")]
        newest = max(path.stat().st_mtime for path in sources)
        return not self.class_path.exists() or self.class_path.stat().st_mtime < newest

    def run(self, program: str, folder: Path) -> None:
        """Run a program on a folder, with one thread: networks are small, and threads wait for each other."""
        class_path = os.pathsep.join([str(self.target / "classes"), self.class_path.read_text().strip()])
        where = f"-XX:ErrorFile={self.target / 'crash.log'}"
        command = "java", where, "-XX:-CreateCoredumpOnCrash", "-cp", class_path, f"ndwright.{program}", str(folder)
        try:
            _run(*command, OMP_NUM_THREADS="1")
        except Crashed as crash:
            print(f"{crash}\nOnce more.", flush=True)
            _run(*command, OMP_NUM_THREADS="1")


def _check_java() -> None:
    found = _version("java", "-version", r'version "(?:1\.)?(\d+)')
    if int(found or 0) < OLDEST_JAVA:
        got = f"Java {found}" if found else "none"
        raise Missing(
            f"needs Java {OLDEST_JAVA} or later, got {got}. Install a JDK (Debian: apt-get install default-jdk)."
        )
    if _version("javac", "-version", r"javac (\d+)") is None:
        raise Missing("needs a JDK, got Java without javac. Install a JDK (Debian: apt-get install default-jdk).")
    if _version("mvn", "-version", r"Apache Maven (\S+)") is None:
        raise Missing("needs Maven, got none. Install it (Debian: apt-get install maven).")


def _version(program: str, option: str, pattern: str) -> str | None:
    """Return what a program says that it is, None where it is not there."""
    if shutil.which(program) is None:
        return None
    said = subprocess.run([program, option], capture_output=True, text=True, check=False)
    found = re.search(pattern, said.stdout + said.stderr)
    return found.group(1) if found else None


def _platform() -> str:
    """Return what JavaCPP calls this machine."""
    system = {"Darwin": "macosx", "Windows": "windows"}.get(platform.system(), "linux")
    machine = platform.machine().lower().replace("amd64", "x86_64").replace("aarch64", "arm64")
    return f"{system}-{machine}"


def _compile(*command: str) -> None:
    """Run Maven; raise Missing where it cannot fetch what the project needs."""
    try:
        _run(*command)
    except RuntimeError as error:
        if re.search(r"Could not transfer artifact|Unknown host", str(error)):
            raise Missing(f"Maven cannot fetch Deeplearning4j. Is its repository within reach?\n{error}") from error
        raise


def _run(*command: str, **environment: str) -> None:
    """Run a command in the Java project; raise RuntimeError with the end of what it printed if it fails."""
    done = subprocess.run(
        command, cwd=JAVA_PROJECT, env={**os.environ, **environment}, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
    )  # fmt: skip
    if done.returncode:
        said = "\n".join(done.stdout.splitlines()[-30:])
        kind = Crashed if "A fatal error has been detected by the Java Runtime" in done.stdout else RuntimeError
        raise kind(f"{command[0]} ended with {done.returncode}:\n{said}")
