"""The benchmark of the GPU, as far as it can be tested without one: counting, tables, sections, messages."""

import json
import os
import pathlib
import subprocess
import sys
import types

import pytest

ROOT = pathlib.Path(__file__).parent.parent.parent
FOLDER = ROOT / "benchmarks"


@pytest.fixture(autouse=True)
def _scripts(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))


# ---- the floor


def test_operations_by_hand():
    from lenet_floor import work

    forward = 2 * (288_000 + 1_600_000 + 400_000 + 5_000)
    assert work(1, training=False).operations == forward == 4_586_000
    assert work(1, training=True).operations == 3 * forward - 2 * 288_000 == 13_182_000
    assert work(64, training=True).operations == 843_648_000


def test_bytes_by_hand():
    from lenet_floor import work

    read_and_written = (784 + 2880) + (2880 + 800) + (800 + 500) + (500 + 10)
    assert work(1, training=False).bytes == 4 * (read_and_written + 431_080) == 1_760_936
    backward = (784 + 2880) + (2880 + 800 + 2880) + (800 + 500 + 800) + (500 + 10 + 500)
    assert read_and_written + backward + 10 == 22_498
    assert work(3, training=True).bytes == 4 * (3 * 22_498 + 4 * 431_080) == 7_167_256


def test_the_layers_are_those_of_the_network():
    from lenet_floor import LENET
    from networks import NETWORKS

    assert sum(layer.parameters for layer in LENET) == NETWORKS["lenet"].conf().layout().length
    assert [before.outputs for before in LENET[:-1]] == [after.inputs for after in LENET[1:]]


def test_the_floor_is_the_longer_of_arithmetic_and_memory():
    from lenet_floor import Work, floor_ms

    assert floor_ms(Work(4_000, 100), operations_per_s=2e6, bytes_per_s=1e6) == 2.0
    assert floor_ms(Work(4_000, 9_000), operations_per_s=2e6, bytes_per_s=1e6) == 9.0


# ---- the clock


class Event:
    """An event of a device whose clock shows how many steps it has done, three milliseconds each."""

    done = 0

    def record(self):
        self.at = 3.0 * Event.done

    def synchronize(self):
        pass


def stepping(name, order):
    def step():
        Event.done += 1
        order.append(name)

    return step


def test_times_are_per_step_and_contenders_take_turns():
    import gpu_clock

    events, order = gpu_clock.Events(Event, lambda before, after: after.at - before.at), []
    found = gpu_clock.measure(stepping("x", order), 8, events)
    assert (found.device, len(order)) == (3.0, 8)
    assert 0 <= found.host <= found.wall
    order.clear()
    blocks = gpu_clock.in_turn({name: (stepping(name, order), events) for name in "ab"}, 2, 1e-9)
    assert [len(blocks[name]) for name in "ab"] == [2, 2]
    assert all(block.device == 3.0 for each in blocks.values() for block in each)
    turn, calibration = gpu_clock.WARM_STEPS + 3, 2 * gpu_clock.WARM_STEPS
    assert "".join(order) == "a" * calibration + "b" * calibration + ("a" * turn + "b" * turn) * 2


def profiled(name, device, microseconds=0.0, label=False):
    span = types.SimpleNamespace(elapsed_us=lambda: microseconds)
    kind = types.SimpleNamespace(name=device)
    return types.SimpleNamespace(name=name, device_type=kind, time_range=span, is_user_annotation=label)


def test_kernels_copies_and_launches_are_told_apart():
    import gpu_clock

    events = [
        profiled("gemm", "CUDA", 30.0),
        profiled("max_pool", "CUDA", 10.0),
        profiled("Memcpy HtoD (Pinned -> Device)", "CUDA", 99.0),
        profiled("Memset (Device)", "CUDA", 99.0),
        profiled("Optimizer.step#SGD.step", "CUDA", 99.0),
        profiled("a name", "CUDA", 99.0, label=True),
        profiled("cudaLaunchKernelExC", "CPU"),
        profiled("cuGraphLaunch", "CPU"),
        profiled("aten::mm", "CPU", 99.0),
    ]
    assert gpu_clock.counted(events, 2) == {"kernels": 1.0, "copies": 1.0, "launches": 1.0, "busy_ms": 0.02}


# ---- what is printed and written


def blocks(*milliseconds):
    import gpu_clock

    return [gpu_clock.Block(each, each + 0.5, each / 2) for each in milliseconds]


@pytest.fixture
def report():
    import lenet_gpu

    timed = {"ndwright": blocks(2.0, 1.0, 9.0), "torch, eager": blocks(5.0, 6.0, 4.0)}
    result = lenet_gpu.result("lenet training step", 64, 0.5, timed)
    result["who"]["ndwright"].update(kernels=21.0, copies=2.0, launches=4.0, busy_ms=0.75)
    return {
        "date": "2001-02-03", "device": "A Device", "versions": {"cupy": "14.0", "torch": "2.1"}, "tf32": False,
        "inference": False, "command": "python benchmarks/lenet_gpu.py --batch 64 --write", "results": [result],
        "ceilings": {"bytes_per_s": 3.21e12, "operations_per_s": 4.56e13}, "notes": ["A note."],
        "epochs": {"epochs": 3, "batch": 64, "steps": 2814, "seconds": 4.0, "score": 0.1},
    }  # fmt: skip


def test_medians_ratios_and_what_could_not_be_counted(report):
    from gpu_report import table

    torch = report["results"][0]["who"]["torch, eager"]
    assert torch == {
        "median_ms": 5.0, "best_ms": 4.0, "wall_ms": 5.5, "host_ms": 2.5, "floor_share": 0.1, "ratio": 2.5,
    }  # fmt: skip
    head, _, ours, theirs = table(report["results"]).splitlines()
    assert head.endswith("| median ms | best ms | wall ms | host ms | busy ms | kernels | copies | launches "
                         "| of the floor | ratio |")  # fmt: skip
    assert ours == "| lenet training step | 64 | ndwright | 2 | 1 | 2.5 | 1 | 0.75 | 21 | 2 | 4 | 25 % | 1.00 |"
    assert theirs == "| lenet training step | 64 | torch, eager | 5 | 4 | 5.5 | 2.5 | ? | ? | ? | ? | 10 % | 2.50 |"


def test_the_section_says_where_when_and_how(report):
    from gpu_report import section_text

    text = section_text(report)
    assert text.startswith("## On a GPU\n\n2001-02-03, A Device; cupy 14.0, torch 2.1; float32, no TF32.\n")
    for part in (
        "a large copy 3,210 GB/s read and written, cuBLAS's matrix product 45.6 TFLOP/s",
        "Made by `python benchmarks/lenet_gpu.py --batch 64 --write`.",
        "4.00 s on the host's clock, 2814 steps, 45,024 images/s",
    ):
        assert part in text
    assert text.endswith("\n\nA note.")
    other = section_text({**report, "tf32": True, "inference": True, "epochs": None})
    assert other.startswith("## On a GPU: predictions, TF32 allowed\n")
    assert "epochs of MNIST" not in other


def test_how_to_measure_it_again():
    import lenet_gpu

    chosen = lenet_gpu.parse(["--batch", "16", "64", "--tf32", "--epochs", "3", "--json", "somewhere"])
    assert lenet_gpu.command(chosen) == "python benchmarks/lenet_gpu.py --batch 16 64 --tf32 --epochs 3 --write"


def test_a_run_writes_json_and_its_section(report, monkeypatch, tmp_path, capsys):
    import lenet_gpu

    results, found = tmp_path / "RESULTS.md", tmp_path / "found.json"
    results.write_text("# Results\n\n## Steps\n\nOLD\n\n## Where the time goes\n\nBY HAND\n")
    monkeypatch.setattr(lenet_gpu, "RESULTS", results)
    monkeypatch.setattr(lenet_gpu, "what_is_missing", lambda: "")
    monkeypatch.setattr(lenet_gpu, "measured", lambda chosen: report)
    monkeypatch.setattr(lenet_gpu.who, "allow_tf32", lambda allowed: None)
    for _ in range(2):
        assert lenet_gpu.main(["--json", str(found), "--write"]) == 0
    assert json.loads(found.read_text()) == report
    text = results.read_text()
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert headings == ["# Results", "## Steps", "## On a GPU", "## Where the time goes"]
    assert text.startswith("# Results\n\n## Steps\n\nOLD\n\n## On a GPU\n\n2001")
    assert text.endswith("A note.\n\n## Where the time goes\n\nBY HAND\n")
    assert "| 64 | ndwright | 2 |" in capsys.readouterr().out


def test_the_benchmarks_of_the_cpu_leave_what_is_measured_on_gpus(monkeypatch, tmp_path):
    import results

    file = tmp_path / "RESULTS.md"
    gpu = "## On a GPU\n\nA TABLE\n\n## On a GPU: predictions\n\nANOTHER"
    file.write_text(f"# Results\n\nOLD\n\n## Steps\n\nOLD\n\n{gpu}\n\n## Where the time goes\n\n## Sub\n\nBY HAND\n")
    monkeypatch.setattr(results, "RESULTS", file)
    monkeypatch.setattr(results, "run", lambda *arguments: [])
    monkeypatch.setattr(results, "of_networks", lambda rounds: ["FIGURES"])
    monkeypatch.setattr(sys, "argv", ["results.py"])
    for module in (results.memory_cpu, results.epoch_cpu, results.import_time):
        monkeypatch.setattr(module, "table", lambda found: "NEW")
    for _ in range(2):
        results.main()
    text = file.read_text()
    assert "OLD" not in text
    assert (text.count("NEW"), text.count("FIGURES")) == (3, 1)
    assert text.endswith(f"NEW\n\n{gpu}\n\n## Where the time goes\n\n## Sub\n\nBY HAND\n")


# ---- what is missing


def only_line(before="", **environment):
    """Return what the benchmark says when it cannot run: one line, and the exit code 2."""
    block = f"import sys; {before} sys.path.insert(0, sys.argv.pop(1)); import lenet_gpu; sys.exit(lenet_gpu.main())"
    done = subprocess.run(
        [sys.executable, "-c", block, str(FOLDER)],
        capture_output=True, text=True, check=False, cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    return done.stderr


def test_without_cupy():
    said = only_line("sys.modules['cupy'] = None;")
    assert said.startswith("lenet_gpu: cupy: CuPy must be installed")


def test_no_device(cupy):
    said = only_line(CUDA_VISIBLE_DEVICES="-1", HOST_CUDA_DEVICES="0")
    assert said.startswith("lenet_gpu: cupy: a CUDA device must be visible, got none")


def test_without_pytorch_or_one_that_sees_no_device(cupy, monkeypatch, capsys):
    import lenet_gpu

    monkeypatch.setitem(sys.modules, "torch", None)
    assert lenet_gpu.main([]) == 2
    assert "PyTorch must be importable, got" in capsys.readouterr().err
    blind = types.SimpleNamespace(__version__="2.0+cpu", cuda=types.SimpleNamespace(is_available=lambda: False))
    monkeypatch.setitem(sys.modules, "torch", blind)
    assert lenet_gpu.main([]) == 2
    assert capsys.readouterr().err.startswith("lenet_gpu: PyTorch must see the CUDA device, got torch 2.0+cpu that")


def test_epochs_need_the_files(monkeypatch, tmp_path):
    from gpu_epochs import epochs

    for setting in (None, str(tmp_path)):
        notes = []
        monkeypatch.delenv("ND_DATA_DIR", raising=False)
        if setting:
            monkeypatch.setenv("ND_DATA_DIR", setting)
        assert epochs(None, 3, notes) is None
        assert notes == ["Epochs of MNIST: left out, for ND_DATA_DIR names no folder with mnist/ in it."]


# ---- who is timed


def us():
    """Return the three ways in which ours is timed, after two steps: the second one is captured."""
    import gpu_contenders as who

    backends = {graphs: who.make_backend(graphs, tf32=False) for graphs in (True, False)}
    everybody = {who.CAPTURED: who.ours(backends[True], 2)[0], who.EAGER: who.ours(backends[False], 2)[0]}
    everybody[who.FED] = who.ours(backends[True], 2, from_host=True)[0]
    for each in everybody.values():
        for _ in range(2):
            each.step()
    return everybody


def test_ours_computes_the_same_every_way_and_leaves_the_environment(cupy, monkeypatch):
    import gpu_contenders as who

    monkeypatch.setenv("ND_CUDA_GRAPH", "1")
    monkeypatch.delenv("ND_TF32", raising=False)
    everybody = us()
    assert (os.environ["ND_CUDA_GRAPH"], os.environ.get("ND_TF32")) == ("1", None)
    who.check_all(everybody, training=False, tf32=False)
    assert everybody[who.CAPTURED].output().shape == (2, 10)


def test_ours_runs_as_graphs_or_not(launches):
    import gpu_contenders as who

    launched = {}
    for name, each in us().items():
        launches.clear()
        each.step()
        launched[name] = launches.taken().count("graph")
    assert launched == {who.CAPTURED: 2, who.EAGER: 0, who.FED: 2}


def test_who_computes_another_loss_is_not_timed():
    import gpu_contenders as who

    def contender(*losses):
        left = list(losses)
        return who.Contender(lambda: left.pop(0), lambda: None, lambda: None, "cupy")

    with pytest.raises(SystemExit, match=r"x computes loss 2\.1 on the same weights, we 2\.0"):
        who.check_all({who.CAPTURED: contender(2.0, 2.0), "x": contender(2.0, 2.1)}, training=True, tf32=False)
    who.check_all({who.CAPTURED: contender(2.0), "x": contender(2.01)}, training=False, tf32=True)
