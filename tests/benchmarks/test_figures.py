"""What the suite makes of its times: ratios, means, the worst case, tables. By hand; no PyTorch, no process but one."""

import math
import pathlib

import pytest

FOLDER = pathlib.Path(__file__).parent.parent.parent / "benchmarks"


@pytest.fixture(autouse=True)
def scripts(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))


def result(network, batch, mode="training", **milliseconds):
    who = {name.replace("_", "-"): {"median_ms": each, "best_ms": each / 2} for name, each in milliseconds.items()}
    return {"network": network, "batch": batch, "mode": mode, "who": who}


RESULTS = [
    result("lenet", 1, ndwright=2.0, torch=4.0, torch_channels_last=1.0, torch_compile=0.1),
    result("lenet", 16, ndwright=1.0, ndwright_numpy=4.0, torch=8.0, torch_channels_last=9.0),
    result("mlp-adam", 64, ndwright=1.0, torch=2.0),
    result("mlp-sgd", 64, ndwright=2.0, torch=1.0),
    result("mlp-nadam", 64, ndwright=1.0, torch=0.01),
    result("simple-rnn-32-64-5", 16, ndwright=1.0, torch=0.01, products_alone=0.5),
    result("lenet", 16, "inference", ndwright=1.0, torch=3.0),
]


def test_the_better_format_and_the_default_one():
    from figures import better_format, default_format, ratios

    found = ratios(RESULTS, "training", better_format)
    assert found == [("lenet", 1, 0.5), ("lenet", 16, 8.0), ("mlp-adam", 64, 2.0), ("mlp-sgd", 64, 0.5)]
    found = ratios(RESULTS, "training", default_format)
    assert found == [("lenet", 1, 2.0), ("lenet", 16, 2.0), ("mlp-adam", 64, 2.0), ("mlp-sgd", 64, 0.5)]
    assert ratios(RESULTS, "inference", better_format) == [("lenet", 16, 3.0)]


def test_the_mean_is_geometric_and_a_family_counts_once():
    from figures import better_format, mean, ratios

    found = ratios(RESULTS, "training", better_format)
    assert mean(found) == pytest.approx((0.5 * 8.0 * math.sqrt(2.0 * 0.5)) ** (1 / 3))
    assert mean(found[2:]) == pytest.approx(1.0)
    assert math.isnan(mean([]))


def test_figures_name_the_worst_case_of_every_mode():
    from figures import figures

    training, alone, inference, _ = figures(RESULTS).splitlines()[2:]
    assert training.endswith("/ ndwright | 4 | 1.59 | 2.83 | 0.50 (lenet, batch 1) |")
    assert alone.endswith("without oneDNN | 4 | 1.59 | 1.41 | 0.50 (mlp-sgd, batch 64) |")
    assert inference.endswith("/ ndwright | 1 | 3.00 | 3.00 | 3.00 (lenet, batch 16) |")


def test_tables_have_a_column_for_everybody_who_took_part():
    from figures import table

    head, _, first, second, *others = table(RESULTS, "training").splitlines()
    names = (
        "ndwright, ms | ndwright-numpy, ms | torch, ms | torch-channels-last, ms | torch-compile, ms | products-alone"
    )
    assert head.startswith(f"| training | batch | {names}, ms | best of torch")
    assert first == "| lenet | 1 | 2 |  | 4 | 1 | 0.1 |  | 0.50 | 2.00 |"
    assert second == "| lenet | 16 | 1 | 4 | 8 | 9 |  |  | 8.00 | 2.00 |"
    assert len(others) == 4
    assert "compile" not in table(RESULTS, "inference")


def test_what_is_left_out_is_said():
    from figures import notes

    assert "mlp, count as one" in notes()
    assert "adabelief Adam, nadam NAdam" in notes()
    assert "simple-rnn-32-64-5" in notes()


ECHO = """
from asking import answer_all, answers_questions, arguments_given
import os

def fail():
    raise SystemExit("cannot")

if answers_questions():
    say = lambda *what: (arguments_given(), os.environ["SAID"], what)
    answer_all({"say": say, "fail": fail, "end": lambda: os._exit(3)})
"""


def test_a_process_answers_fails_and_ends(tmp_path, monkeypatch):
    from asking import Failed, Process

    (tmp_path / "echo.py").write_text(ECHO)
    monkeypatch.setenv("PYTHONPATH", str(FOLDER))
    process = Process(str(tmp_path / "echo.py"), "a", environment={"SAID": "b"})
    assert process.ask("say", 1, None) == (["a"], "b", (1, None))
    with pytest.raises(Failed, match=r"echo.py a: (?s:.*)SystemExit: cannot"):
        process.ask("fail")
    assert process.ask("say", 2) == (["a"], "b", (2,))
    with pytest.raises(Failed, match="its process has ended with 3"):
        process.ask("end")
    process.close()


class Told:
    """Stands for a process: notes what it is asked."""

    def __init__(self, log, who, turns=(9.0, 1.0, 3.0, 2.0), busy=()):
        self.log, self.who, self.turns, self.busy = log, who, iter(turns), iter(busy)

    def ask(self, what, *arguments):
        self.log.append((self.who, what, *arguments))
        return next(self.turns), next(self.busy, 0.0)


def test_everybody_takes_turns_and_the_first_round_does_not_count():
    from session import Rules, in_turn

    log = []
    found = in_turn({who: Told(log, who) for who in "ab"}, "training", Rules(3, 0.01))
    assert found == {who: {"median_ms": 2.0, "best_ms": 1.0} for who in "ab"}
    assert log == [(who, "turn", "training", 0.01, 0.01) for _ in range(4) for who in "ab"]


def test_turns_that_others_disturb_are_taken_again():
    from session import TRIES, Rules, in_turn

    log = []
    player = Told(log, "a", [9.0, 80.0, 90.0, 2.0, *[70.0] * TRIES], [0.0, 0.9, 0.4, 0.1, *[1.0] * TRIES])
    assert in_turn({"a": player}, "training", Rules(2, 0.01)) == {"a": {"median_ms": 36.0, "best_ms": 2.0}}
    assert len(log) == 1 + 3 + TRIES


def test_numbers_that_differ_are_nothing_to_compare():
    import numpy as np
    from contenders import Numbers, check_numbers

    def numbers(loss=2.0, prediction=0.5, step=0.25, gradient=1.0, key="0_W"):
        W = np.array([[3.0, gradient]])
        return Numbers(loss, np.array([prediction]), {key: W}, [np.array([step])])

    check_numbers(numbers(), numbers(2.0 + 1e-6, 0.5 + 1e-6, 0.25 + 1e-6, 1.01), "torch")
    for other, message in [
        (numbers(loss=2.001), "torch computes loss 2.001"),
        (numbers(prediction=0.501), "torch predicts otherwise by up to 0.001"),
        (numbers(step=0.26), "torch predicts otherwise by up to 0.01"),
        (numbers(gradient=1.1), "torch has another gradient of 0_W, by 0.031"),
        (numbers(gradient=float("nan")), "torch has another gradient of 0_W, by nan"),
        (numbers(key="0_b"), r"torch has gradients of \['0_b'\], we of \['0_W'\]"),
    ]:
        with pytest.raises(SystemExit, match=message):
            check_numbers(numbers(), other, "torch")


def test_who_plays_what():
    from contenders import plays
    from networks import INFERENCE, STREAMED, TRAINING

    assert [plays("torch-channels-last", name, TRAINING) for name in ("lenet", "conv-3d", "causal-1d", "mlp-sgd")] == [
        True, True, False, False,
    ]  # fmt: skip
    assert plays("products-alone", "lstm-32-64-5", TRAINING)
    assert not any(plays("products-alone", "lstm-32-64-5", mode) for mode in (INFERENCE, STREAMED))
    assert not plays("products-alone", "bilstm-32-64-5", TRAINING)


class Seated:
    """Stands for the process of a contender on a network."""

    def __init__(self, script, who, name, environment):
        self.who, self.name, self.environment, self.asked = who, name, environment, []

    def ask(self, what, *arguments):
        self.asked.append((what, *arguments))
        if what == "onednn":
            return ONEDNN[0]
        return self.numbers() if what == "numbers" else (1.0, 0.0)

    def numbers(self):
        import numpy as np
        from contenders import Numbers

        predictions = np.full(1, 2.0 if self.who in OFF else 1.0)
        return Numbers(1.0, predictions, {}, [])

    def close(self):
        self.asked.append(("close",))


ONEDNN, OFF = [""], set()


@pytest.fixture
def seated(monkeypatch):
    """Return a function that makes a session of stand-ins."""
    import session
    from contenders import WHO

    monkeypatch.setattr(session, "Process", Seated)
    monkeypatch.setitem(globals(), "ONEDNN", [""])
    monkeypatch.setitem(globals(), "OFF", set())
    return lambda name, who=WHO, **rules: session.Session(name, who, ["training"], session.Rules(1, 0.1, **rules))


def played(session, batch):
    return [list(each["who"]) for each in session.results(batch)]


def test_without_onednn_the_contender_that_does_without_it_stays_away(seated):
    assert played(seated("lenet"), 16) == [["ndwright", "torch", "torch-channels-last"]]
    assert played(seated("lenet", named=("ndwright-numpy",)), 16)[0][:2] == ["ndwright", "ndwright-numpy"]
    ONEDNN[0] = "oneDNN 3.2.0"
    assert played(seated("mlp-sgd"), 16) == [["ndwright", "ndwright-numpy", "torch"]]


def test_the_compiler_has_its_turn_at_the_usual_minibatch(seated):
    session = seated("lenet")
    assert [played(session, batch)[0][-1] for batch in (16, 64)] == ["torch-channels-last", "torch-compile"]
    assert played(seated("lenet", named=("torch-compile",)), 16)[0][-1] == "torch-compile"


def test_the_compiler_may_be_wrong_and_nobody_else(seated):
    OFF.add("torch-compile")
    session = seated("lenet")
    assert played(session, 64) == [["ndwright", "torch", "torch-channels-last"]]
    (note,) = session.left_out
    assert note.startswith(
        "torch-compile takes no part in lenet, batch 64: torch-compile, batch 64, predicts otherwise"
    )
    OFF.add("torch")
    with pytest.raises(SystemExit, match=r"torch, batch 64, predicts otherwise by up to 1\.0"):
        played(session, 64)


def test_only_one_setting_tells_ours_from_ours_without_onednn(seated):
    from contenders import ENVIRONMENTS

    assert ENVIRONMENTS["ndwright"] == {"ND_BACKEND": "numpy"}
    assert ENVIRONMENTS["ndwright-numpy"] == {"ND_BACKEND": "numpy", "ND_ONEDNN": "0"}


def test_the_suites_part_of_the_results(monkeypatch):
    import results

    suite = {
        "onednn": "oneDNN 3.2.0",
        "left_out": ["torch-compile takes no part in vgg"],
        "failures": ["lenet, batch 2: Traceback\nwhy"],
        "results": RESULTS,
    }
    monkeypatch.setattr(results, "run", lambda *arguments: suite)
    head, _, notes, means, left_out, failed, *tables = results.of_networks("5")
    assert ", oneDNN 3.2.0.\nMade by `make bench` in 0 minutes" in head
    assert "count as one" in notes
    assert means.count("\n") == 5
    assert (left_out, failed) == ("- torch-compile takes no part in vgg", "- Not measured: why")
    assert tables[::2] == ["## Training steps", "## Predictions"]
    assert tables[1].startswith("| training | batch")


def test_a_benchmark_that_prints_nothing_is_named(monkeypatch, tmp_path):
    import results

    (tmp_path / "silent.py").write_text("raise SystemExit(3)")
    monkeypatch.setattr(results, "HERE", tmp_path)
    with pytest.raises(SystemExit, match=r"silent\.py has ended with 3"):
        results.run("silent.py")
