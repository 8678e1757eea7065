"""The package ndwright: the four by one name, and what it says where one of them is another's."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import backends
import nd
import ndwright
import nn
import optimize
from ndwright.__main__ import main
from tests.source_files import FLOORS, files

ROOT = pathlib.Path(__file__).parent.parent
PACKAGES = FLOORS[:-1]
OURS = {"backends": backends, "nd": nd, "optimize": optimize, "nn": nn}
TRIALS = """
import sys
before = set(sys.modules)
for name in sys.argv[1:]:
    try:
        __import__(name)
        print("imported")
    except ImportError as error:
        print(f"{error}")
    for new in {new for new in sys.modules if new.partition(".")[0] in %r} - before:
        del sys.modules[new]
""" % (FLOORS,)  # noqa: UP031  (braces)


def python(*arguments, folder, **settings):
    """Run Python where `folder` comes before all others; return exit code, and what it prints and complains of."""
    command = [sys.executable, *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **settings}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


# ---- the four by one name


def test_it_is_the_packages_themselves():
    assert {name: getattr(ndwright, name) for name in PACKAGES} == OURS
    assert {*PACKAGES, "__version__"} == set(ndwright.__all__) <= set(dir(ndwright))
    with pytest.raises(AttributeError, match="module 'ndwright' has no attribute 'mm'"):
        _ = ndwright.mm


def test_what_is_below_has_the_second_name_too():
    import ndwright.nn.layers
    from ndwright.nd.dataset import DataSet
    from ndwright.nn.layers.core.dense import DenseLayer

    assert DenseLayer is nn.DenseLayer
    assert DataSet is nd.dataset.DataSet
    assert ndwright.nn.layers is nn.layers
    assert nn.layers.__spec__.name == "nn.layers" == nn.layers.__name__
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'nn\.layerz'"):
        import ndwright.nn.layerz


def test_it_imports_nothing_before_it_is_asked_for(tmp_path):
    report = "import sys, ndwright; print(*sorted({'backends', 'nd', 'nn', 'numpy', 'optimize'} & set(sys.modules)))"
    assert python("-c", report, folder=tmp_path) == (0, "\n", "")
    assert python("-c", "import ndwright.nn; print(ndwright.nn.DenseLayer)", folder=tmp_path)[1].startswith("<class")


def test_what_every_floor_may_ask_imports_nothing_of_the_library():
    texts = [text for path, text in files("ndwright") if not path.endswith("__main__.py")]
    own = ("from .", "from importlib", "from __future__")
    lines = [line for text in texts for line in text.splitlines() if line.startswith(("import", "from"))]
    roots = {line.split()[1].partition(".")[0] for line in lines if not line.startswith(own)}
    assert roots <= sys.stdlib_module_names


def test_alone_it_prints_the_diagnosis(capsys):
    assert main([]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"ndwright {ndwright.__version__}, Python 3.")
    assert "backend numpy: usable" in said


def test_with_arguments_it_is_the_commands_of_nn(capsys):
    model = ROOT / "tests" / "cases" / "java_runs" / "train" / "updater_wd_Adam" / "model.zip"
    assert main(["summary", str(model)]) == 0
    assert "DenseLayer" in capsys.readouterr().out
    assert main(["summary", "nowhere.zip"]) == 1


# ---- another package comes first


def said_of(name, foreign, folder):
    """Return what each import says of which a package of that name is a part, where another one comes first."""
    tried = ["ndwright", *PACKAGES[PACKAGES.index(name) + 1 :]]
    status, out, errors = python("-c", TRIALS, *tried, folder=folder)
    assert (status, errors) == (0, "")
    return out.splitlines()


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("backends", "backends/__init__.py"),
        pytest.param("optimize", "optimize.py", marks=pytest.mark.slow),
        pytest.param("backends", "backends.py", marks=pytest.mark.slow),
        pytest.param("nd", "nd.py", marks=pytest.mark.slow),
        pytest.param("nd", "nd/__init__.py", marks=pytest.mark.slow),
        pytest.param("nn", "nn.py", marks=pytest.mark.slow),
        pytest.param("optimize", "optimize/__init__.py", marks=pytest.mark.slow),
    ],
)
@pytest.mark.slow
def test_a_users_own_file_is_named_by_all_that_would_import_it(name, file, tmp_path):
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_text("answer = 42\n")
    expected = (
        f"ndwright: the package '{name}' must be ours, {ROOT / name / '__init__.py'}, got {path}. Python looks in "
        f"{tmp_path} first: rename that one, or run Python from another folder."
    )
    said = said_of(name, file, tmp_path)
    assert len(said) >= 1
    assert set(said) == {expected}


def test_a_program_of_such_a_name_is_told_so(tmp_path):
    """It is imported by what it imports, and finds half of that: an AttributeError in place of an ImportError."""
    (tmp_path / "optimize.py").write_text("import nn\nnet = nn.MultiLayerNetwork\n")
    status, _, errors = python("optimize.py", folder=tmp_path)
    assert status == 1
    assert errors.splitlines()[-1].startswith("ImportError: ndwright: the package 'optimize' must be ours, ")


@pytest.mark.slow
def test_several_are_named_at_once(tmp_path):
    for name in PACKAGES:
        (tmp_path / f"{name}.py").write_text("")
    status, _, errors = python("-m", "ndwright", folder=tmp_path)
    message = errors.splitlines()[-1]
    assert status == 1
    assert [message.count(f"the package '{name}' must be ours") for name in PACKAGES] == [1, 1, 1, 1]
    assert len(message) < 2000


def test_a_folder_without_init_takes_the_place_of_an_editable_installation(tmp_path):
    """Whose finder comes after the folders: any folder of that name does, if only of data."""
    (tmp_path / "nd").mkdir()
    finder = (
        "import sys\nfrom importlib.machinery import PathFinder\n"
        "class Editable:\n"
        "    @staticmethod\n"
        f"    def find_spec(name, path=None, target=None): return PathFinder.find_spec(name, [{str(ROOT)!r}])\n"
        "sys.meta_path.append(Editable)\n"
    )
    _, _, errors = python("-c", f"{finder}import ndwright", folder=tmp_path, PYTHONPATH="")
    assert f"got {tmp_path / 'nd'}. Python looks in {tmp_path} first: rename" in errors


def test_a_module_made_by_a_program(tmp_path):
    program = "import sys, types; sys.modules['nd'] = types.ModuleType('nd')\nimport ndwright"
    assert (
        python("-c", program, folder=tmp_path)[2]
        .splitlines()[-1]
        .endswith(f"got a module without a file. Leave 'nd' out of sys.modules, and {ROOT} in sys.path.")
    )


# ---- another distribution came over ours

RECORDED = "{name}/__init__.py,,\n"


def distribution(site, name, package, direct_url=None):
    """Write what pip leaves of an installed distribution."""
    folder = site / f"{name}-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (folder / "RECORD").write_text(RECORDED.format(name=package))
    (folder / "top_level.txt").write_text(f"{package}\n")
    if direct_url:
        (folder / "direct_url.json").write_text(direct_url)


@pytest.fixture
def site(tmp_path):
    """A folder of installed packages: ours, whose `__init__.py` are their own, and those below them are not needed."""
    for name in FLOORS:
        (tmp_path / "site" / name).mkdir(parents=True)
        for path in (ROOT / name).glob("*.py") if name == "ndwright" else [ROOT / name / "__init__.py"]:
            shutil.copy(path, tmp_path / "site" / name)
    return tmp_path / "site"


def complaint(site):
    """Return what `import ndwright` says in such a folder, without what this Python has installed."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = [{str(site)!r}]; import ndwright"],
        capture_output=True, text=True, cwd=site.parent, check=False,
    )  # fmt: skip
    return done.stderr.splitlines()[-1] if done.returncode else ""


URL = '{"url": "file:///home/me/my%20wheels/x.whl", "archive_info": {}}'


def test_a_package_that_was_written_over_ours(site):
    distribution(site, "ndwright", "ndwright", URL)
    assert complaint(site) == ""
    (site / "nn" / "__init__.py").write_text("from .theirs import Module\n")
    distribution(site, "neural", "nn")
    ours = site / "nn" / "__init__.py"
    assert complaint(site) == (
        f"ImportError: ndwright: the package 'nn' must be ours, got another one, written over {ours}. "
        "Run: pip uninstall neural, then pip install --force-reinstall --no-deps '/home/me/my wheels/x.whl'."
    )
    shutil.rmtree(site / "neural-1.0.dist-info")
    ours.unlink()  # as pip uninstall neural does
    assert complaint(site) == (
        f"ImportError: ndwright: the package 'nn' must have {ours}, got no such file. "
        "Run: pip install --force-reinstall --no-deps '/home/me/my wheels/x.whl'."
    )
    shutil.rmtree(ours.parent)
    assert f"must have {ours}, got no such file. Run: pip install" in complaint(site)


def test_a_checkout_has_its_files_from_git(site):
    (site / "nd" / "__init__.py").unlink()
    assert complaint(site).endswith("Take it from a copy of ndwright again; in a git checkout: git checkout -- nd.")


def test_another_distribution_that_comes_first(site, tmp_path):
    first = tmp_path / "first"
    (first / "backends").mkdir(parents=True)
    (first / "backends" / "__init__.py").write_text("")
    distribution(first, "theirs", "backends")
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = {[str(first), str(site)]}; import ndwright"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stderr.endswith("It belongs to theirs. Run: pip uninstall theirs, or use another environment.\n")


@pytest.mark.parametrize(
    ("origin", "source"),
    [
        (None, "ndwright"),
        ('{"url": "file:///src/ndwright", "dir_info": {}}', "/src/ndwright"),
        ('{"url": "https://x.org/n.git", "vcs_info": {"vcs": "git", "commit_id": "ab"}}', "git+https://x.org/n.git"),
    ],
)
@pytest.mark.slow
def test_the_files_come_from_where_pip_had_them(origin, source, site):
    distribution(site, "ndwright", "ndwright", origin)
    (site / "nn" / "__init__.py").unlink()
    assert complaint(site).endswith(f"Run: pip install --force-reinstall --no-deps {source}.")
