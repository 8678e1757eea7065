"""Networks of DL4J's zoo: built, counted, trained; their memory stays flat."""

import pathlib
import subprocess
import sys

import numpy as np
import pytest

import nd
from backends.cpu.numpy_backend import NumpyBackend
from nd.dataset import DataSet
from nn import ComputationGraph
from optimize import Listener, Sgd
from tests.cases.zoo import inception_resnet_v1, resnet50
from tests.step_plans import recorded

ROOT = pathlib.Path(__file__).parent.parent.parent
MEGABYTE = 1024  # KB
JAVA = [
    (resnet50, 1000, 224, 25_636_712),
    (resnet50, 10, 160, 23_608_202),
    (inception_resnet_v1, 1000, 160, 16_209_368),
    (inception_resnet_v1, 10, 160, 15_954_938),
]
"""Network, classes, size of the images, and ``numParams()`` in DL4J 1.0.0-M2.1."""


@pytest.mark.parametrize(("make", "classes", "size", "parameters"), JAVA)
@pytest.mark.quick_rows(every=2)
def test_there_are_as_many_parameters_as_in_java(make, classes, size, parameters):
    conf = make(classes, size)
    assert sum(spec.length for node in conf.nodes for spec in node.conf.param_specs()) == parameters


def images(size, n=2, classes=5):
    rng = np.random.default_rng(size)
    return DataSet(rng.normal(size=(n, 3, size, size)).astype(np.float32), np.eye(classes, dtype=np.float32)[:n])


@pytest.mark.slow
@pytest.mark.parametrize(("make", "size"), [(resnet50, 160), (inception_resnet_v1, 128)])
def test_recorded_steps_are_those_of_nodes_one_by_one(make, size):
    """In float64, and slowly: with batch normalization over so few numbers rounding errors grow from node to node."""

    class Looks(Listener):
        def on_forward_pass(self, model, activations):
            pass

    found = []
    for listeners in ((), (Looks(),)):
        with nd.use_backend(NumpyBackend(threads=1)):
            net = ComputationGraph(make(5, size, weight_init="relu", updater=Sgd(1e-4), dtype="float64")).init()
            net.set_listeners(*listeners)
            for _ in range(2):
                net.fit_batch(images(size, 3))
            assert recorded(net.engine.gradients) == [0 if listeners else 1]
            found.append((net.score(), nd.to_host(net.params()).copy()))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-7)
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-6, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "size"), [("resnet50", 160), ("inception_resnet_v1", 96)])
def test_fifty_steps_and_predictions_take_no_memory(name, size):
    """Of minibatches of two sizes, in turn."""
    program = f"""
import resource, sys
sys.path.insert(0, {str(ROOT)!r})
import nd
from nn import ComputationGraph
from tests.cases import zoo
from tests.nn.test_zoo import images
nd.set_backend("numpy")
net = ComputationGraph(zoo.{name}(5, {size})).init()
batches = [images({size}), images({size}, 1)]
def run(steps):
    for number in range(steps):
        data = batches[number % 2]
        net.fit_batch(data)
        net.output(data.features)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before = run(6)
print(run(50) - before)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 2 * MEGABYTE
