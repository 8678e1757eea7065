"""The backtracking line search and the conditions that end a search, by hand."""

import math

import pytest

import nd
import nn.dl4j  # noqa: F401  whose names are asked for here
from optimize import LineGradientDescent
from optimize.line_search import BackTrackLineSearch, Trial
from optimize.terminations import EpsTermination, Norm2Termination, ZeroDirection
from tests.optimize.test_line_search_optimizers import Function, bowl, conf

# ---- the line search


def trials(function, slope, first=1.0, **settings):
    """Return the steps that are tried on a line, and the step that is taken."""
    tried = []

    def evaluate(step):
        tried.append(step)
        return function(step), nd.create([0.0])

    start = Trial(0.0, function(0.0), nd.create([-slope], "float64"))
    found = BackTrackLineSearch(**settings).search(evaluate, start, nd.create([1.0], "float64"), first)
    return tried, found.step


def test_a_good_step_is_taken_at_once():
    assert trials(lambda t: (t - 1.0) ** 2, -2.0) == ([1.0], 1.0)


def test_the_second_step_is_at_the_bottom_of_a_parabola():
    tried, step = trials(lambda t: 10.0 * (t - 0.2) ** 2, -4.0)
    assert tried == [1.0, pytest.approx(0.2)]
    assert step == tried[1]


def test_a_parabola_shortens_by_ten_at_most_and_by_two_at_least():
    tried, _ = trials(lambda t: 1000.0 * (t - 0.01) ** 2, -20.0)
    assert tried[1] == pytest.approx(0.1)
    tried, _ = trials(lambda t: -t if t < 0.9 else 1.0, -1.0)  # the parabola's lowest is at 1/4
    assert tried[1] == pytest.approx(0.25)
    tried, _ = trials(lambda t: -1e-6 * t if t < 0.9 else 1e-12, -1e-6)
    assert tried[1] == pytest.approx(0.5)


def test_a_cubic_through_three_points():
    """f = 3000 t^3 - t: a parabola leads from 1 to 0.1, a cubic through both to its lowest point 1 / sqrt(9000)."""
    tried, step = trials(lambda t: 3000.0 * t**3 - t, -1.0)
    assert tried == [1.0, pytest.approx(0.1), pytest.approx(1.0 / math.sqrt(9000.0))]
    assert step == tried[-1]


def test_what_is_not_finite_makes_the_step_five_times_shorter():
    tried, step = trials(lambda t: math.nan if t > 0.1 else -t, -1.0)
    assert tried == [1.0, pytest.approx(0.2), pytest.approx(0.04)]
    assert step == tried[-1]


def test_out_of_evaluations_the_best_step_is_taken_or_none():
    assert trials(lambda t: -1e-9 * t, -1.0, max_iterations=3)[1] == 1.0
    tried, step = trials(lambda t: t, -1.0, max_iterations=3)
    assert (len(tried), step) == (3, 0.0)


def test_steps_that_change_nothing_are_not_tried():
    tried, step = trials(lambda t: t, -1.0, max_iterations=100, rel_tol_x=1e-3)
    assert min(tried) >= 1e-3
    assert step == 0.0
    assert trials(lambda t: -t, 1.0) == ([], 0.0)  # not downwards
    with pytest.raises(nd.ConfigurationError, match="max_iterations must be >= 1, got 0"):
        BackTrackLineSearch(0)


# ---- termination


def test_terminations_by_hand():
    gradient = nd.create([0.3, -0.4])
    assert EpsTermination().terminate(1.0, 1.0 + 0.9e-5, gradient)
    assert not EpsTermination().terminate(1.0, 1.0 + 1.1e-5, gradient)
    assert not EpsTermination().terminate(0.0, 0.0, gradient)
    assert EpsTermination(eps=1.0, tolerance=0.5).terminate(0.0, 0.3, gradient)
    assert Norm2Termination(gradient_tolerance=0.51).terminate(1.0, 2.0, gradient)
    assert not Norm2Termination(0.49).terminate(1.0, 2.0, gradient)
    assert ZeroDirection().terminate(1.0, 2.0, nd.zeros(3))
    assert not ZeroDirection().terminate(1.0, 2.0, gradient)


def test_a_condition_ends_the_steps_on_a_minibatch():
    model = Function(bowl, [1.0, 1.0, 1.0])
    LineGradientDescent(conf(), model, terminations=[EpsTermination(tolerance=10.0)]).optimize(50)
    assert model.iteration_count == 1


def test_the_longest_step():
    assert trials(lambda t: -t, -1.0, step_max=0.25) == ([0.25], 0.25)
    assert trials(lambda t: -t, -1.0, step_max=4.0) == ([1.0], 1.0)
    search = BackTrackLineSearch()
    search.setStepMax(2.0)
    assert search.step_max == 2.0
    with pytest.raises(nd.ConfigurationError, match=r"BackTrackLineSearch: step_max must be > 0, got 0\.0"):
        search.setStepMax(0.0)
