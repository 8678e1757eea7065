"""`benchmarks/lenet_gpu.py` as on a device, on the host CUDA: everything but PyTorch's own part, and no figure."""

import json
import os
import subprocess
import sys

import pytest

from tests.cuda_on_host.rehearsal import ROOT, WAYS

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("launches")]


@pytest.mark.parametrize("way", WAYS, ids=" ".join)
def test_it_measures_and_reports(way, tmp_path):
    (tmp_path / "mnist").mkdir()
    figures = tmp_path / "figures.json"
    command = [sys.executable, "-m", "tests.cuda_on_host.rehearsal", "--epochs", "1", "--json", str(figures), *way]
    environment = {**os.environ, "ND_DATA_DIR": str(tmp_path)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    report = json.loads(figures.read_text())
    (result,) = report["results"]
    contenders = ["ndwright", "ndwright, eager", "ndwright, fed from the host", "torch, eager"]
    assert list(result["who"])[:4] == contenders
    assert all(row["median_ms"] > 0 and row["kernels"] == 0 for row in result["who"].values())
    assert report["epochs"]["steps"] == 2
    compiled = [note for note in report["notes"] if "nothing is compiled in a rehearsal" in note]
    assert len(compiled) == (0 if "--no-compile" in way else 2)
    for name in contenders:
        assert name in done.stdout
