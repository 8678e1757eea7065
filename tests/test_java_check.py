"""What judges this library against Java: it sees what differs, what is missing, and what is excused without need."""

import dataclasses
import math
import os

import numpy as np
import pytest

from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from tests.java_check import graphs, ours, report, theirs
from tests.java_check.__main__ import NOT_THERE, RANDOM_GRAPHS, main
from tests.java_check.contents import forgotten
from tests.java_check.faults import FAULTS
from tests.java_check.maven import Crashed, Missing, Programs
from tests.java_check.parts import part_rows
from tests.java_check.results import Result, distance, java_error
from tests.java_check.rows import dense_row
from tests.java_check.verdict import DERIVATIVES, Fault, Verdict, check_faults, judge

TOLERANCES = {"output": 1e-5}
NETWORK = NeuralNetConfiguration(seed=1, dtype="float64").list(DenseLayer(n_in=2, n_out=2), OutputLayer(n_out=2))
FAULT = Fault("thing", "is wrong", lambda result: True, frozenset({"output"}), "a proof")
RELEASE = "1.0.0-M2.1"


def result(**distances):
    return Result("kind-name", NETWORK, distances, dict.fromkeys(distances, "1 for Java's 2"))


# ---- distances


def test_a_distance_is_relative_to_javas_largest_number():
    assert distance([1.0, 2.0, 100.0], [1.0, 2.5, 100.0]) == (0.005, "2 for Java's 2.5")


@pytest.mark.parametrize(
    ("one", "other", "message"),
    [
        (None, [1.0], "this library has none"),
        ([1.0], None, "Java has none"),
        ([1.0, 2.0], [1.0], "2 numbers for Java's 1"),
        ([math.nan, 1.0], [0.0, 1.0], "not finite on one side only"),
        ([0.0, 1.0], [math.inf, 1.0], "not finite on one side only"),
    ],
)
def test_what_cannot_be_compared_is_infinitely_far(one, other, message):
    assert distance(one, other) == (math.inf, message)


def test_numbers_that_are_finite_on_neither_side_agree():
    assert distance([math.nan], [math.nan]) == (0.0, "")


# ---- verdicts


def test_a_distance_within_the_tolerance_is_in_the_table():
    verdict = judge([result(output=1e-6), result(output=2e-6)], TOLERANCES, [])
    assert verdict.failures == []
    assert verdict.worst == {"kind": {"output": 2e-6}}
    assert verdict.networks == {"kind": 2}
    lines = report.table("title", verdict, ["output"]).split("\n")
    assert lines[-2].split() == ["kind", "2", "2.0e-06"]


@pytest.mark.parametrize("far", [2e-5, math.inf, math.nan])
def test_a_distance_beyond_it_fails(far):
    (failure,) = judge([result(output=far)], TOLERANCES, []).failures
    assert failure.startswith("kind-name: output")
    assert failure.endswith("1 for Java's 2")


def test_what_has_no_tolerance_fails_wherever_it_is_not_exact():
    assert len(judge([result(opens=math.inf), result(opens=0.0)], TOLERANCES, []).failures) == 1


def test_a_fault_excuses_its_own_quantities_up_to_its_limit():
    limited = Fault("thing", "is wrong", lambda result: True, frozenset({"output"}), "a proof", limit=1e-3)
    verdict = judge([result(output=1e-4), result(output=1e-2), result(params=1e-4)], TOLERANCES, [limited])
    assert verdict.met == {"thing": {"kind-name"}}
    unexplained = [failure.split(":")[1] for failure in verdict.failures]
    assert unexplained == [" output differs by 1.0e-02", " params differs by 1.0e-04"]


def test_a_fault_excuses_the_networks_that_it_applies_to():
    of_others = Fault("thing", "is wrong", lambda result: result.name == "other", frozenset({"output"}), "a proof")
    assert len(judge([result(output=1.0)], TOLERANCES, [of_others]).failures) == 1


# ---- faults


def met(*, proven=()):
    return Verdict(met={"thing": {"kind-name"}}, proven=set(proven))


def test_a_fault_that_is_proven_and_met_is_right():
    assert check_faults(RELEASE, [FAULT], {"a proof": "fails"}, [Verdict(), met()]) == []


@pytest.mark.parametrize(
    ("fault", "proofs", "verdict", "complaint"),
    [
        (FAULT, {"a proof": ""}, met(), "does not show it any more"),
        (FAULT, {"a proof": "fails"}, Verdict(), "no network differs by it any more"),
        (FAULT, {}, met(), "Proofs.java has no 'a proof'"),
        (FAULT, {"a proof": "fails", "other": "fails"}, met(), "proof 'other': no fault has it"),
    ],
)
def test_a_fault_that_passes_is_reported(fault, proofs, verdict, complaint):
    (text,) = check_faults(RELEASE, [fault], proofs, [verdict])
    assert complaint in text


def test_a_fault_that_only_its_proof_shows_is_right_and_excuses_nothing():
    shown = dataclasses.replace(FAULT, is_drawn=False)
    assert check_faults(RELEASE, [shown], {"a proof": "fails"}, [Verdict()]) == []
    (text,) = check_faults(RELEASE, [shown], {"a proof": ""}, [Verdict()])
    assert "does not show it any more" in text
    assert len(judge([result(output=1.0)], TOLERANCES, [shown]).failures) == 1


def test_a_fault_of_another_release_is_reported_where_this_one_shows_it():
    of_old = Fault("thing", "is wrong", lambda result: True, frozenset({"output"}), "a proof", ("1.0.0-M1.1",))
    assert check_faults(RELEASE, [of_old], {"a proof": ""}, [Verdict()]) == []
    (text,) = check_faults(RELEASE, [of_old], {"a proof": "fails"}, [Verdict()])
    assert "shows it too" in text


def test_derivatives_prove_a_fault():
    of_gradients = Fault("thing", "is wrong", lambda result: True, frozenset({"gradient"}), DERIVATIVES)
    assert check_faults(RELEASE, [of_gradients], {}, [met(proven=["thing"])]) == []
    (text,) = check_faults(RELEASE, [of_gradients], {}, [met()])
    assert "does not show it any more" in text


def test_every_fault_has_a_name_of_its_own():
    names = [fault.name for fault in FAULTS]
    assert len(set(names)) == len(names)


# ---- files


@pytest.fixture
def answered(tmp_path):
    """A network of ours, and Java's answers, which are ours."""
    row = dense_row("kind-name", {})
    ours.save(row, tmp_path / row.name)
    for quantity in ours.TOLERANCES:
        (tmp_path / row.name / f"our_{quantity}.npy").rename(tmp_path / row.name / f"java_{quantity}.npy")
        copy(tmp_path / row.name, f"java_{quantity}", f"our_{quantity}")
    return row, tmp_path / row.name


def copy(folder, source, target, change=0.0):
    np.save(folder / f"{target}.npy", np.load(folder / f"{source}.npy") + change)


def failures(row, folder):
    return judge([ours.compare(row, folder)], ours.TOLERANCES, []).failures


def test_answers_that_are_ours_agree(answered):
    assert failures(*answered) == []


@pytest.mark.parametrize("quantity", sorted(ours.TOLERANCES))
def test_a_wrong_number_is_seen(answered, quantity):
    row, folder = answered
    copy(folder, f"our_{quantity}", f"java_{quantity}", change=1e-3)
    (failure,) = failures(row, folder)
    assert failure.startswith(f"kind-name: {quantity} differs by")


@pytest.mark.parametrize("quantity", sorted(ours.TOLERANCES))
def test_a_missing_file_is_seen(answered, quantity):
    row, folder = answered
    (folder / f"java_{quantity}.npy").unlink()
    assert failures(row, folder) == [f"kind-name: {quantity}: Java has none"]


def test_a_zip_that_java_does_not_open_is_seen(answered):
    row, folder = answered
    (folder / "error.txt").write_text(
        "open\na.b.Outer: none\n\tat a.b.C\nCaused by: a.b.Inner: no such class\n\tat a.b"
    )
    for quantity in ours.TOLERANCES:
        (folder / f"java_{quantity}.npy").unlink()
    assert java_error(folder) == ("opens", "a.b.Inner: no such class")
    assert failures(row, folder) == ["kind-name: opens: a.b.Inner: no such class"]


def test_a_network_that_is_not_finite_for_us_must_not_be_for_java(answered):
    row, folder = answered
    (folder / ours.UNTRAINED).write_text("NumericError: fit: the score must be finite.")
    (folder / "our_scores.npy").unlink()
    assert "In Java it is finite" in failures(row, folder)[0]
    copy(folder, "java_scores", "java_scores", change=math.nan)
    assert failures(row, folder) == []


@pytest.fixture
def repeatable(tmp_path):
    """A network as Java writes it, which this library ran."""
    folder, net = tmp_path / "case", MultiLayerNetwork(NETWORK).init()
    x, y = np.random.default_rng(1).normal(size=(4, 2)), np.eye(2)[[0, 1, 1, 0]]
    data = ours.DataSet(x, y)
    arrays = {"x": x, "y": y, "java_params0": ours.host(net.params()), "java_output0": ours.output(net, data)}
    arrays |= {"java_score": np.array(net.score(data)), "java_gradient": theirs.gradient(net, data)}
    arrays |= {"java_scores": ours.fit(net, data, 4), "java_params": ours.host(net.params())}
    folder.mkdir()
    (folder / "conf.json").write_text(NETWORK.to_json())
    net.save(folder / "model.zip")
    arrays["java_output"] = ours.output(net, data)
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    return folder


def test_what_this_library_ran_is_repeated(repeatable):
    distances = theirs.repeat(repeatable).distances
    assert set(distances) == set(theirs.TOLERANCES)
    assert max(distances.values()) == 0.0


@pytest.mark.parametrize(
    ("name", "quantities"),
    [
        ("output0", {"output"}), ("score", {"score"}), ("gradient", {"gradient"}), ("scores", {"scores"}),
        ("params", {"params", "zip"}), ("output", {"zip output"}),
    ],
)  # fmt: skip
def test_a_wrong_number_of_javas_is_seen(repeatable, name, quantities):
    copy(repeatable, f"java_{name}", f"java_{name}", change=1e-6)
    off = {quantity for quantity, far in theirs.repeat(repeatable).distances.items() if far > 1e-7}
    assert off == quantities


def test_a_configuration_that_is_not_read_is_seen(repeatable):
    (repeatable / "conf.json").write_text("{}")
    (failure,) = judge([theirs.repeat(repeatable)], theirs.TOLERANCES, FAULTS).failures
    assert failure.startswith("case: read: FormatError")


# ---- what is needed


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of NumPy's, where numbers drawn are extreme
def test_nothing_is_forgotten():
    drawn = graphs.random_graphs(RANDOM_GRAPHS)
    assert forgotten([*(row.conf for row in part_rows()), *(each.graph.conf for each in drawn)]) == []
    assert "layer DenseLayer" in forgotten([])


def program(folder, name, text):
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{text}'\n")
    path.chmod(0o755)


@pytest.mark.skipif(os.name == "nt", reason="the programs are shell scripts")
def test_what_is_missing_is_said(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Missing, match=r"needs Java 11 or later, got none\. Install"):
        Programs(RELEASE)
    program(tmp_path, "java", 'openjdk version "1.8.0_402"')
    with pytest.raises(Missing, match=r"needs Java 11 or later, got Java 8\. Install"):
        Programs(RELEASE)
    program(tmp_path, "java", 'openjdk version "17.0.15" 2025-04-15')
    with pytest.raises(Missing, match="needs a JDK, got Java without javac"):
        Programs(RELEASE)
    program(tmp_path, "javac", "javac 17.0.15")
    with pytest.raises(Missing, match="needs Maven, got none"):
        Programs(RELEASE)


@pytest.mark.skipif(os.name == "nt", reason="the programs are shell scripts")
def test_a_crash_of_native_code_is_tried_once_more(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    programs = object.__new__(Programs)  # compiled already
    programs.target, programs.class_path = tmp_path, tmp_path / "class_path.txt"
    programs.class_path.write_text("jars\n")
    crash = "A fatal error has been detected by the Java Runtime Environment: SIGSEGV"
    program(
        tmp_path, "java", f"{crash}'; test -e {tmp_path}/second && exit 0; touch {tmp_path}/second; exit 134; echo '"
    )
    programs.run("Check", tmp_path)
    assert crash in capsys.readouterr().out
    program(tmp_path, "java", f"{crash}'; exit 134; echo '")
    with pytest.raises(Crashed, match="java ended with 134"):
        programs.run("Check", tmp_path)
    (tmp_path / "second").unlink()
    program(
        tmp_path, "java", f"an exception'; test -e {tmp_path}/second && exit 0; touch {tmp_path}/second; exit 1; echo '"
    )
    with pytest.raises(RuntimeError, match="java ended with 1"):
        programs.run("Check", tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="the programs are shell scripts")
def test_what_maven_cannot_fetch_is_missing_too(tmp_path, monkeypatch, capsys):
    program(tmp_path, "java", 'openjdk version "17.0.15" 2025-04-15')
    program(tmp_path, "javac", "javac 17.0.15")
    program(
        tmp_path,
        "mvn",
        "Apache Maven 3.9.9'; test $1 = -version && exit 0; echo 'Could not transfer artifact'; exit 1; echo '",
    )
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr("sys.argv", ["java-check", "--release", "0.0"])
    assert main() == NOT_THERE
    assert "java-check: Maven cannot fetch Deeplearning4j" in capsys.readouterr().err
