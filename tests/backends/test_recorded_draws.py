"""Random draws on a recording: drawn again each time, as the computation without a recording draws them."""

import numpy as np
import pytest

import nd

DRAWS = {
    "dropout": lambda x: nd.execRandom(nd.ops.DropOut(x, p=0.5)),
    "normal": lambda x: x + nd.randn(4, 4, dtype="float64"),
    "uniform": lambda x: x + nd.rand(4, 4, dtype="float64"),
}


@pytest.mark.parametrize("name", DRAWS)
def test_random_draws_are_repeated_from_where_the_generator_stands(name):
    memory, run = np.random.default_rng(0).normal(size=(4, 4)), DRAWS[name]
    with nd.random.drawing(nd.random.Random(5)):
        expected = [np.array(run(memory.copy())) for _ in range(3)]
        state = nd.random.get_random().get_state()
    with nd.random.drawing(nd.random.Random(5)):
        program = nd.record(lambda: run(nd.traceable(memory)))
        found = [program.result.copy()]
    with nd.random.drawing(nd.random.Random(5)):  # another generator than the one that it was recorded with
        for _ in range(3):
            program.replay()
            found.append(program.result.copy())
        assert nd.random.get_random().get_state() == state
    assert len(np.unique(found[1:], axis=0)) == 3
    np.testing.assert_array_equal(found, [expected[0], *expected])


def test_draws_of_another_generator_than_the_threads_are_refused():
    memory, other = np.zeros((4, 4)), nd.random.Random(5)
    with pytest.raises(nd.NotRecorded, match=r"a recording holds draws of this thread's generator only\."):
        nd.record(lambda: nd.traceable(memory) + other.uniform(4))
