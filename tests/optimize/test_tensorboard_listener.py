"""What is written for TensorBoard: through a stand-in, and through tensorboardX where it is installed."""

import importlib.util
import struct
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import nd
from optimize import TensorBoardListener
from tests.optimize.test_listener_hooks import batches, network


class Writer:
    """Stands in for tensorboardX.SummaryWriter."""

    made = []

    def __init__(self, log_dir):
        self.log_dir, self.scalars, self.histograms, self.closed = log_dir, [], [], False
        self.made.append(self)

    def add_scalar(self, tag, value, step):
        assert isinstance(value, (int, float))
        self.scalars.append((tag, step, value))

    def add_histogram(self, tag, values, step):
        self.histograms.append((tag, step, np.array(values)))

    def close(self):
        self.closed = True


@pytest.fixture
def writers(monkeypatch):
    monkeypatch.setattr(Writer, "made", [])
    monkeypatch.setitem(sys.modules, "tensorboardX", SimpleNamespace(SummaryWriter=Writer))
    return Writer.made


def test_scalars_and_histograms_at_their_frequencies(writers, backend, tmp_path):
    net = network()
    net.set_listeners(TensorBoardListener(tmp_path, frequency=2, histogram_frequency=4))
    net.fit(batches(), epochs=2)
    writer = writers.pop()
    assert not writers
    assert (writer.log_dir, writer.closed) == (str(tmp_path), True)
    steps = {}
    for tag, step, _ in writer.scalars + writer.histograms:
        steps.setdefault(tag, []).append(step)
    keys = ("0_W", "0_b", "1_W", "1_b")
    assert steps == {
        **{key: [0, 2, 4] for key in ("score", "epoch", "samples_per_iteration")},
        **{f"{kind}/{key}": [0, 4] for kind in ("parameters", "updates", "update_ratio") for key in keys},
    }
    assert [value for tag, _, value in writer.scalars if tag == "epoch"] == [0, 0, 1]


def test_what_the_histograms_are_of(writers, tmp_path):
    net = network()
    before = np.array(nd.to_host(net.get_param("0_W")))
    net.set_listeners(TensorBoardListener(tmp_path, histogram_frequency=1))
    net.fit(batches(12))
    found = {tag: values for tag, _, values in writers[0].histograms}
    np.testing.assert_array_equal(found["parameters/0_W"], nd.to_host(net.get_param("0_W")))
    np.testing.assert_allclose(found["updates/0_W"], before - found["parameters/0_W"], rtol=1e-4, atol=1e-7)
    ratio = {tag: value for tag, _, value in writers[0].scalars}["update_ratio/0_W"]
    norms = [np.linalg.norm(found[f"{kind}/0_W"]) for kind in ("updates", "parameters")]
    assert ratio == pytest.approx(norms[0] / norms[1])


def test_a_second_fit_goes_on_with_a_writer_of_its_own(writers, tmp_path):
    net = network()
    net.set_listeners(TensorBoardListener(tmp_path, frequency=1, histogram_frequency=None))
    net.fit(batches())
    net.fit(batches())
    assert [[step for tag, step, _ in writer.scalars if tag == "score"] for writer in writers] == [[0, 1, 2], [3, 4, 5]]
    assert all(writer.closed and writer.histograms == [] for writer in writers)


def test_other_iterations_ask_for_nothing(writers, tmp_path):
    listener = TensorBoardListener(tmp_path, frequency=5, histogram_frequency=5)
    listener.iteration_done(None, 3, 0)
    assert writers == []
    assert not any(listener.wants(hook, 0) for hook in ("on_forward_pass", "on_gradient_calculation"))


def test_without_the_package(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    with pytest.raises(nd.ConfigurationError, match=r"tensorboardX, got none\. .* pip install .tensorboardX>=2\.6"):
        TensorBoardListener(tmp_path)


@pytest.mark.parametrize("name", ["frequency", "histogram_frequency"])
def test_settings(name, tmp_path):
    with pytest.raises(nd.ConfigurationError, match=f"TensorBoardListener: {name} must be an integer >= 1( or None)?,"):
        TensorBoardListener(tmp_path, **{name: 0})


def records(path):
    """Yield the events of a file: length, its checksum, the event, its checksum."""
    content = path.read_bytes()
    while content:
        (length,) = struct.unpack_from("<Q", content)
        yield content[12 : 12 + length]
        content = content[16 + length :]


if importlib.util.find_spec("tensorboardX"):

    @pytest.mark.filterwarnings("ignore::DeprecationWarning")
    def test_the_file_that_tensorboardx_writes(tmp_path):
        from tensorboardX.proto.event_pb2 import Event

        net = network()
        net.set_listeners(TensorBoardListener(tmp_path, frequency=1, histogram_frequency=2))
        net.fit(batches())
        (path,) = tmp_path.iterdir()
        found = {}
        for record in records(path):
            event = Event.FromString(record)
            for value in event.summary.value:
                found.setdefault(value.tag, {})[event.step] = value
        assert sorted(found["score"]) == [0, 1, 2]
        assert found["score"][2].simple_value == pytest.approx(net.score(), rel=1e-6)
        assert sorted(found["parameters/0_W"]) == [0, 2]
        assert found["parameters/0_W"][0].histo.num == 12
