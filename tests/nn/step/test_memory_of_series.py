"""Memory of networks over series: as much after a thousand segments of varying length as after the first ones."""

import subprocess
import sys

import pytest

FEW_MB = 8
PROGRAM = """
import os
import numpy as np
import nd
from nd.dataset import DataSet
from nn import LSTM, InputType, MultiLayerNetwork, NeuralNetConfiguration, RnnOutputLayer

nd.set_backend("numpy")
conf = NeuralNetConfiguration(seed=1, updater="adam").list(
    LSTM(n_out=32, activation="tanh"), LSTM(n_out=32, activation="tanh"),
    RnnOutputLayer(n_out=5, loss="mcxent", activation="softmax"),
    input_type=InputType.recurrent(8), backprop_type="truncated_bptt", tbptt_fwd_length=20, tbptt_exact=EXACT,
)
net, rng = MultiLayerNetwork(conf).init(), np.random.default_rng(0)

def megabytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6

def train(segments):
    done = net.iteration_count + segments
    while net.iteration_count < done:
        n, t = rng.integers(1, 9), rng.integers(1, 70)
        labels = np.moveaxis(np.eye(5, dtype=np.float32)[rng.integers(0, 5, (n, t))], 2, 1)
        net.fit_batch(DataSet(rng.normal(size=(n, 8, t)).astype(np.float32), labels))

train(1000)
before = megabytes()
train(1000)
print(megabytes() - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("exact", [True, False])
def test_it_stays_flat_over_segments_of_many_lengths(exact):
    program = PROGRAM.replace("EXACT", str(exact))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=600)
    assert float(done.stdout) < FEW_MB
