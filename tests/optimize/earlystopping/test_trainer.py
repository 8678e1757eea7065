"""The loop, with a model that has the scores that the test gives it."""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest

import nd
from nd.dataset import DataSet, ListDataSetIterator
from optimize import Listener
from optimize.earlystopping import (
    BestScoreEpochTerminationCondition,
    EarlyStoppingConfiguration,
    EarlyStoppingListener,
    EarlyStoppingTrainer,
    InMemoryModelSaver,
    InvalidScoreIterationTerminationCondition,
    IterationTerminationCondition,
    MaxEpochsTerminationCondition,
    MaxScoreIterationTerminationCondition,
    ScoreImprovementEpochTerminationCondition,
    TerminationReason,
)
from optimize.step import StepGuard

NAN = float("nan")
BATCHES = 2  # in an epoch


class Fake:
    """Its steps have given scores; an exception among them is raised."""

    conf = SimpleNamespace(
        optimization_algo="stochastic_gradient_descent",
        step_function=None,
        iterations=1,
        mini_batch=True,
        minimize=True,
        max_num_line_search_iterations=5,
    )

    def __init__(self, scores=(), listeners=()):
        self.scores, self.listeners = list(scores), list(listeners)
        self.steps, self.epoch_count, self.asked = 0, 0, 0
        self.iteration_count, self.batch_size, self.last_etl_ms = 0, 1, 0.0
        self.updater = SimpleNamespace(guard=StepGuard())

    def fit_batch(self, data):
        step = self.scores[self.steps] if self.steps < len(self.scores) else 1.0
        if isinstance(step, BaseException):
            raise step
        self.steps += 1
        self.last = step

    def stoppable(self):
        return nullcontext(lambda: None)

    def end_epoch(self, count=True):
        for listener in self.listeners:
            listener.on_epoch_end(self)
        self.epoch_count += count

    def score(self):
        self.asked += 1
        return self.last

    def clone(self):
        copy = Fake(self.scores)
        copy.steps, copy.epoch_count = self.steps, self.epoch_count
        return copy

    def _uncalled(self, *arguments):
        raise NotImplementedError

    compute_gradient_and_score = evaluate = do_evaluation = save = load = _uncalled


class Given:
    """Scores after the epochs, one after the other."""

    def __init__(self, *scores, minimize=True):
        self.scores, self.minimize_score = iter(scores), minimize

    def calculate_score(self, model):
        return next(self.scores)


class Resets(ListDataSetIterator):
    def __init__(self):
        super().__init__([DataSet([[1.0]], [[1.0]])] * BATCHES)
        self.resets = 0

    def reset(self):
        self.resets += 1
        super().reset()

    def async_supported(self):
        return False


def fit(model, *epoch_conditions, scores=(), minimize=True, data=None, listener=None, **settings):
    conf = EarlyStoppingConfiguration(
        score_calculator=Given(*scores, minimize=minimize), epoch_termination_conditions=epoch_conditions, **settings
    )
    return EarlyStoppingTrainer(conf, model, data or Resets(), listener).fit()


# ---- epochs


def test_the_best_model_is_returned_and_not_the_last():
    model = Fake()
    result = fit(model, ScoreImprovementEpochTerminationCondition(2), scores=[5.0, 3.0, 4.0, 3.0])
    assert result.termination_reason is TerminationReason.EPOCH_TERMINATION
    assert result.termination_details.startswith("ScoreImprovementEpochTerminationCondition(")
    assert result.score_vs_epoch == {0: 5.0, 1: 3.0, 2: 4.0, 3: 3.0}
    assert (result.best_model_epoch, result.best_model_score, result.total_epochs) == (1, 3.0, 4)
    assert (result.best_model.steps, model.steps) == (2 * BATCHES, 4 * BATCHES)
    assert (result.best_model.epoch_count, model.epoch_count) == (1, 4)  # the best model's as in Java
    assert result.error is None


def test_larger_is_better_where_the_calculator_says_so():
    result = fit(Fake(), MaxEpochsTerminationCondition(3), scores=[0.5, 0.9, 0.7], minimize=False)
    assert (result.best_model_epoch, result.best_model_score) == (1, 0.9)


def test_a_score_that_is_nan_is_best_until_there_is_a_number():
    result = fit(Fake(), MaxEpochsTerminationCondition(4), scores=[NAN, 7.0, NAN, 8.0])
    assert (result.best_model_epoch, result.best_model_score) == (1, 7.0)
    result = fit(Fake(), MaxEpochsTerminationCondition(1), scores=[NAN])
    assert result.best_model_epoch == 0
    assert result.best_model.steps == BATCHES


def test_the_first_condition_that_is_met_is_named():
    conditions = BestScoreEpochTerminationCondition(2.0), MaxEpochsTerminationCondition(2)
    assert fit(Fake(), *conditions, scores=[3.0, 1.0]).termination_details == str(conditions[0])
    assert fit(Fake(), *conditions, scores=[3.0, 3.0]).termination_details == str(conditions[1])


def test_scores_and_epoch_conditions_every_n_epochs():
    result = fit(Fake(), MaxEpochsTerminationCondition(5), scores=[5.0, 4.0, 3.0], evaluate_every_n_epochs=3)
    assert result.score_vs_epoch == {0: 5.0, 3: 4.0, 6: 3.0}  # after epoch 4 nobody looks
    assert (result.best_model_epoch, result.total_epochs) == (6, 7)


def test_the_iterator_is_reset_before_every_epoch():
    data = Resets()
    fit(Fake(), MaxEpochsTerminationCondition(3), scores=[1.0] * 3, data=data)
    assert data.resets == 3


@pytest.mark.parametrize("data", [DataSet([[1.0]], [[1.0]]), [DataSet([[1.0]], [[1.0]])]])
def test_other_data_than_iterators(data):
    model = Fake()
    fit(model, MaxEpochsTerminationCondition(3), scores=[1.0] * 3, data=data)
    assert model.steps == 3


def test_data_that_can_be_read_once_last_for_an_epoch():
    def batches():
        yield DataSet([[1.0]], [[1.0]])

    assert fit(Fake(), MaxEpochsTerminationCondition(1), scores=[1.0], data=batches()).total_epochs == 1
    with pytest.raises(nd.DataError, match="can be read once"):
        fit(Fake(), MaxEpochsTerminationCondition(2), scores=[1.0], data=batches())


def test_empty_data():
    with pytest.raises(nd.DataError, match="must have at least one minibatch, got none"):
        fit(Fake(), MaxEpochsTerminationCondition(1), data=iter([]))


# ---- iterations


def test_an_iteration_condition_ends_in_the_middle_of_an_epoch():
    model = Fake([1.0, 1.0, 9.0, 1.0])
    result = fit(model, scores=[4.0], iteration_termination_conditions=MaxScoreIterationTerminationCondition(5.0))
    assert result.termination_reason is TerminationReason.ITERATION_TERMINATION
    assert result.termination_details == "MaxScoreIterationTerminationCondition(5.0)"
    assert (model.steps, result.total_epochs, result.best_model_epoch) == (3, 1, 0)
    assert result.best_model.steps == BATCHES
    assert model.epoch_count == 1  # the second was not finished


def test_without_a_score_there_is_no_best_model():
    old = InMemoryModelSaver()
    old.save_best_model(Fake(), 0.0)
    conditions = [InvalidScoreIterationTerminationCondition()]
    result = fit(Fake([NAN]), iteration_termination_conditions=conditions, model_saver=old)
    assert (result.best_model, result.best_model_epoch, result.total_epochs) == (None, -1, 0)
    assert result.best_model_score != result.best_model_score
    assert result.score_vs_epoch == {}


def test_conditions_that_need_no_score_do_not_ask_for_it():
    class After(IterationTerminationCondition):
        needs_score = False
        calls = 0

        def terminate(self, last_score):
            self.calls += 1
            assert last_score != last_score
            return self.calls == 3

    model = Fake()
    fit(model, scores=[1.0], iteration_termination_conditions=[After()])
    assert (model.steps, model.asked) == (3, 0)


def test_the_epoch_is_over_if_the_last_minibatch_ends_training():
    hooks = Hooks()
    model = Fake([1.0, 9.0], [hooks])
    fit(model, iteration_termination_conditions=MaxScoreIterationTerminationCondition(5.0))
    assert model.epoch_count == 1
    assert hooks.calls == ["start", "end", "close"]


# ---- errors


@pytest.mark.parametrize("error", [ValueError("no such thing"), OSError("gone"), nd.ShapeError("of another kind")])
def test_an_error_in_a_step_ends_training_with_the_best_model_so_far(error):
    conditions = [InvalidScoreIterationTerminationCondition()]
    result = fit(
        Fake([1.0, 1.0, 1.0, error]), scores=[4.0], iteration_termination_conditions=conditions, save_last_model=True
    )
    assert result.termination_reason is TerminationReason.ERROR
    assert result.termination_details == f"{type(error).__name__}: {error}"
    assert result.error is error
    assert (result.total_epochs, result.best_model_epoch, result.best_model.steps) == (1, 0, BATCHES)


@pytest.mark.parametrize(
    "condition", [InvalidScoreIterationTerminationCondition(), MaxScoreIterationTerminationCondition(5.0)]
)
def test_a_step_that_is_not_finite_is_for_the_condition(condition):
    error = nd.NumericError("fit: the score must be finite")
    result = fit(Fake([1.0, error]), iteration_termination_conditions=[condition])
    assert result.termination_reason is TerminationReason.ITERATION_TERMINATION
    assert result.termination_details == str(condition)
    assert result.error is error


def test_a_step_that_is_not_finite_is_an_error_without_the_condition():
    error = nd.NumericError("fit: the score must be finite")
    result = fit(Fake([1.0, error]), MaxEpochsTerminationCondition(5))
    assert result.termination_reason is TerminationReason.ERROR
    assert result.termination_details == "NumericError: fit: the score must be finite"


def test_what_the_device_says_at_the_end_of_the_epoch_counts_too():
    """The steps look sound until somebody asks."""

    class Guard(StepGuard):
        asked = 0

        def check(self, model):
            self.asked += 1
            if self.asked == 2:  # the first time nothing was trained
                raise nd.NumericError("fit: the gradient must be finite")

    model = Fake()
    model.updater = SimpleNamespace(guard=Guard())
    result = fit(model, iteration_termination_conditions=[InvalidScoreIterationTerminationCondition()])
    assert result.termination_reason is TerminationReason.ITERATION_TERMINATION
    assert (model.steps, result.total_epochs) == (BATCHES, 0)


def test_ctrl_c_is_handed_on_and_listeners_are_closed():
    hooks = Hooks()
    with pytest.raises(KeyboardInterrupt, match="now"):
        fit(Fake([1.0, KeyboardInterrupt("now")], [hooks]), MaxEpochsTerminationCondition(5))
    assert hooks.calls == ["start", "close"]


def test_errors_of_savers_and_calculators_are_handed_on():
    class Full(InMemoryModelSaver):
        def save_best_model(self, model, score):
            raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        fit(Fake(), MaxEpochsTerminationCondition(5), scores=[1.0], model_saver=Full())


# ---- listeners


class Hooks(Listener):
    def __init__(self):
        self.calls = []

    def on_epoch_start(self, model):
        self.calls.append("start")

    def on_epoch_end(self, model):
        self.calls.append("end")

    def close(self):
        self.calls.append("close")


def test_the_networks_listeners_hear_of_epochs():
    hooks = Hooks()
    fit(Fake(listeners=[hooks]), MaxEpochsTerminationCondition(2), scores=[1.0, 1.0])
    assert hooks.calls == ["start", "end", "start", "end", "close"]


class Diary(EarlyStoppingListener):
    def __init__(self):
        self.lines = []

    def on_start(self, conf, model):
        self.lines.append(("start", type(conf).__name__, model.steps))

    def on_epoch(self, epoch, score, conf, model):
        self.lines.append((epoch, score, model.steps))

    def on_completion(self, result):
        self.lines.append(result)


@pytest.mark.parametrize("last", [1.0, ValueError("gone")])
def test_the_listener_of_early_stopping(last):
    diary = Diary()
    steps = [1.0] * (3 * BATCHES - 1) + [last]
    condition = MaxEpochsTerminationCondition(5)
    result = fit(Fake(steps), condition, scores=range(9), evaluate_every_n_epochs=2, listener=diary)
    expected = [("start", "EarlyStoppingConfiguration", 0), (0, 0, BATCHES)]
    if last == 1.0:
        expected += [(2, 1, 3 * BATCHES), (4, 2, 5 * BATCHES)]
    assert diary.lines == [*expected, result]


# ---- savers


def test_the_last_model_is_kept_if_asked():
    saver = InMemoryModelSaver()
    fit(Fake(), MaxEpochsTerminationCondition(3), scores=[1.0, 2.0, 3.0], model_saver=saver)
    assert saver.get_latest_model() is None
    fit(Fake(), MaxEpochsTerminationCondition(3), scores=[1.0, 2.0, 3.0], model_saver=saver, save_last_model=True)
    assert (saver.get_best_model().steps, saver.get_latest_model().steps) == (BATCHES, 3 * BATCHES)


def test_the_last_model_is_kept_when_an_iteration_condition_ends_training():
    saver = InMemoryModelSaver()
    conditions = [MaxScoreIterationTerminationCondition(5.0)]
    steps = [1.0, 1.0, 9.0]
    fit(Fake(steps), scores=[1.0], iteration_termination_conditions=conditions, model_saver=saver, save_last_model=True)
    assert (saver.get_best_model().steps, saver.get_latest_model().steps) == (BATCHES, 3)


def test_training_may_go_on():
    """A second call starts anew: conditions, scores, best model."""
    model = Fake()
    conf = EarlyStoppingConfiguration(
        score_calculator=Given(3.0, 2.0, 9.0, 8.0), epoch_termination_conditions=[MaxEpochsTerminationCondition(2)]
    )
    trainer = EarlyStoppingTrainer(conf, model, Resets())
    assert trainer.fit().score_vs_epoch == {0: 3.0, 1: 2.0}
    result = trainer.fit()
    assert result.score_vs_epoch == {0: 9.0, 1: 8.0}
    assert (result.best_model_score, model.epoch_count) == (8.0, 4)


# ---- what is refused


def test_the_trainer_says_what_it_needs():
    conf = EarlyStoppingConfiguration(
        score_calculator=Given(), epoch_termination_conditions=MaxEpochsTerminationCondition(1)
    )
    with pytest.raises(nd.ConfigurationError, match="conf must be an EarlyStoppingConfiguration, got 'x'"):
        EarlyStoppingTrainer("x", Fake(), Resets())
    with pytest.raises(nd.ConfigurationError, match="model must be an EarlyStoppingModel, got 3"):
        EarlyStoppingTrainer(conf, 3, Resets())
    with pytest.raises(
        nd.ConfigurationError, match="train_iterator must be a DataSet or a MultiDataSet or an iterable"
    ):
        EarlyStoppingTrainer(conf, Fake(), 3)
    with pytest.raises(nd.ConfigurationError, match="listener must be an EarlyStoppingListener"):
        EarlyStoppingTrainer(conf, Fake(), Resets(), Hooks())
