"""Article 0: solvers, optimizers, terminations, line search."""

import nd
import nn.dl4j as dl4j
import optimize
from nd.dataset import DataSet
from nn import RBM, MultiLayerNetwork, NeuralNetConfiguration, OptimizationAlgorithm, OutputLayer
from optimize import BackTrackLineSearch, ConvexOptimizer, EpsTermination, Sgd, Solver, ZeroDirection
from optimize.solvers import OPTIMIZERS
from optimize.solvers.base import BaseOptimizer
from optimize.terminations import DEFAULT_TERMINATIONS
from tests.cases.articles.fixtures import X1, Y1, Hears, computed, heard_by, host, line, near, refused, small


def solver(net, *listeners):
    return Solver.Builder().configure(net.conf).listeners(*listeners).model(net).build()


def ready(**calls):
    return computed(small(**calls), X1, Y1)


# %% 41 | `new Solver.Builder().configure().listeners().model().build()` | the same | `tests/optimize/test_solver.py`
net, listener = ready(), Hears()
made = Solver.Builder().configure(net.conf).listeners(listener).model(net).build()
assert made.model is net
assert list(made.listeners) == [listener]

# %% 42 | `solver.optimize()` | the same | `tests/optimize/test_solver.py`
net = ready()
before = host(net.params()).copy()
gradient = host(net.flattened_gradients()).copy()
solver(net).optimize()
near(net.params(), before - 0.01 * gradient / 4.0)

# %% 43 | `Solver`: conf, listeners, model, optimizer, stepFunction | the same | `tests/nn/dl4j/test_article_names.py`
net = ready()
made = solver(net)
assert made.conf is net.conf
assert made.model is net
assert made.optimizer.model is net
assert made.stepFunction is made.step_function

# %% 44 | `Solver.getOptimizer()`: a switch over four algorithms | a table: `optimize.solvers.OPTIMIZERS` |
# [inside/fit.md](inside/fit.md#from-fit-to-the-step)
assert set(OPTIMIZERS) == {algorithm.value.lower() for algorithm in OptimizationAlgorithm}

# %% 45 | default branch: "No optimizer found" | an error with the four names | `tests/optimize/test_solver.py`
with refused(nd.ChoiceError, "optimi"):
    NeuralNetConfiguration(optimization_algo="annealing").list(OutputLayer(n_in=1, n_out=1, loss="mse"))

# %% 46 | `Solver.setListeners(...)` | the same
made, listener = solver(ready()), Hears()
made.set_listeners(listener)
made.optimize()
assert "iteration_done" in listener.names

# %% 47 | `Solver.Builder.listener(varargs)` | the same | `tests/nn/dl4j/test_article_names.py`
one, two = Hears(), Hears()
assert list(Solver.Builder().model(ready()).listener(one, two).build().listeners) == [one, two]

# %% 48 | `StepFunctions.createStepFunction(conf.getStepFunction())` | `.stepFunction(...)` by class or by name |
# `tests/optimize/test_step_functions.py`
by_class = small(stepFunction=dl4j.GradientStepFunction()).conf
assert by_class.step_function == small(stepFunction="gradient").conf.step_function == "gradient"

# %% 49 | `DefaultStepFunction`: params + step * direction | the same | `tests/optimize/test_step_functions.py`
params = nd.ones(1, 2)
dl4j.DefaultStepFunction().step(params, nd.create([[2.0, 4.0]]), 0.5)
assert params.tolist() == [[2.0, 3.0]]

# %% 50 | `GradientStepFunction`: params + direction | the same | `tests/optimize/test_step_functions.py`
params = nd.ones(1, 2)
dl4j.GradientStepFunction().step(params, nd.create([[2.0, 4.0]]), 0.5)
assert params.tolist() == [[3.0, 5.0]]

# %% 51 | `NegativeDefaultStepFunction`: params - step * direction | the same |
# `tests/optimize/test_step_functions.py`
params = nd.ones(1, 2)
dl4j.NegativeDefaultStepFunction().step(params, nd.create([[2.0, 4.0]]), 0.5)
assert params.tolist() == [[0.0, -1.0]]

# %% 52 | `NegativeGradientStepFunction`: params - direction | the same | `tests/optimize/test_step_functions.py`
params = nd.ones(1, 2)
dl4j.NegativeGradientStepFunction().step(params, nd.create([[2.0, 4.0]]), 0.5)
assert params.tolist() == [[-1.0, -3.0]]

# %% 53 | `getDefaultStepFunctionForOptimizer(...)` | the same: SGD subtracts the direction, line searches a step of
# it | `tests/optimize/test_step_functions.py`
params = nd.ones(1, 2)
solver(ready()).step_function(params, nd.ones(1, 2), 0.5)
assert params.tolist() == [[0.0, 0.0]]
params = nd.ones(1, 2)
solver(ready(optimizationAlgo=OptimizationAlgorithm.LINE_GRADIENT_DESCENT)).step_function(params, nd.ones(1, 2), 0.5)
assert params.tolist() == [[0.5, 0.5]]

# %% 54 | `iterationDone(model, iteration)` | the same, with the epoch | [inside/fit.md](inside/fit.md#the-loop)
net = small()
[(model, iteration, _)] = heard_by(net, X1, Y1).heard["iteration_done"]
assert model is net
assert iteration == 0

# %% 55 | inside `iterationDone`, the model's count is still this iteration's | the count is one more there; the
# argument is Java's | [java.md](java.md#what-differs-and-why)
heard = heard_by(small(), X1, Y1, epochs=2).heard["iteration_done"]
assert [(iteration, count) for _, iteration, count in heard] == [(0, 1), (1, 2)]

# %% 56 | `ConvexOptimizer` | the same: a protocol | `tests/optimize/test_solver.py`
for kind in OPTIMIZERS.values():
    assert callable(kind.optimize)
assert {"model", "optimize"} <= set(dir(ConvexOptimizer))

# %% 57 | `BaseOptimizer` | the base of the three that search along lines |
# `tests/optimize/test_line_search_optimizers.py`
lines = {name for name, kind in OPTIMIZERS.items() if issubclass(kind, BaseOptimizer)}
assert lines == {"conjugate_gradient", "lbfgs", "line_gradient_descent"}

# %% 58 | `StochasticGradientDescent extends BaseOptimizer` | a class of its own, with the same methods: it has no
# line search and needs none | `tests/optimize/test_solver.py`
sgd = solver(ready()).optimizer
assert type(sgd).__name__ == "StochasticGradientDescent"
assert not isinstance(sgd, BaseOptimizer)
assert all(hasattr(sgd, name) for name in dir(BaseOptimizer) if name in dir(ConvexOptimizer))

# %% 59 | `TerminationCondition.terminate(cost, old, otherParams)` | `terminate(score, old_score, gradient)` |
# [training.md](training.md)
assert EpsTermination().terminate(1.0, 1.0, nd.ones(3))
assert not EpsTermination().terminate(1.0, 2.0, nd.ones(3))

# %% 60 | `ZeroDirection`: asum is 0 | the same | [training.md](training.md)
assert ZeroDirection().terminate(1.0, 2.0, nd.zeros(3))
assert not ZeroDirection().terminate(1.0, 2.0, nd.create([0.0, -1.0]))

# %% 61 | `EpsTermination`: eps 1e-4, tolerance 1e-5 | the same | [training.md](training.md)
assert (EpsTermination().eps, EpsTermination().tolerance) == (1e-4, 1e-5)

# %% 62 | `cost == 0 && old == 0` | the same: no reason to end | `tests/optimize/test_line_search.py`
assert not EpsTermination().terminate(0.0, 0.0, nd.ones(3))

# %% 63 | eps and tolerance through `otherParams` | arguments of the constructor: `EpsTermination(eps, tolerance)` |
# [training.md](training.md)
assert EpsTermination(eps=0.0, tolerance=0.4).terminate(1.0, 1.5, nd.ones(3))  # 2 * 0.5 <= 0.4 * 2.5
assert not EpsTermination(eps=0.0, tolerance=0.39).terminate(1.0, 1.5, nd.ones(3))
assert EpsTermination(eps=1.0, tolerance=0.39).terminate(1.0, 1.5, nd.ones(3))

# %% 64 | `Arrays.asList(new ZeroDirection(), new EpsTermination())` | the same, the default |
# [training.md](training.md)
assert list(DEFAULT_TERMINATIONS) == [ZeroDirection(), EpsTermination()]

# %% 65 | `checkTerminalConditions(...)` in SGD, whose result nothing reads | not called: every step of `iterations`
# is taken, as in Java | `tests/optimize/test_solver.py`
net = small(iterations=4, learningRate=1e-12)
net.fit(X1, Y1)
assert net.iteration_count == 4
assert not net.get_optimizer().ended

# %% 66 | `BackTrackLineSearch(model, stepFunction, optimizer)` | `optimize.BackTrackLineSearch(max_iterations, ...)`
# | `tests/optimize/test_line_search.py`
start = optimize.line_search.Trial(0.0, 4.0, nd.create([4.0]))
found = BackTrackLineSearch().search(lambda t: ((2.0 - t) ** 2, nd.create([2.0 * (2.0 - t)])), start, nd.create([1.0]))
assert (found.step, found.cost) == (1.0, 1.0)

# %% 67 | `lineMaximizer.setStepMax(stepMax)` | `set_step_max` | `tests/optimize/test_line_search.py`
search = BackTrackLineSearch()
search.set_step_max(0.5)
start = optimize.line_search.Trial(0.0, 4.0, nd.create([4.0]))
found = search.search(lambda t: ((2.0 - t) ** 2, nd.create([2.0 * (2.0 - t)])), start, nd.create([1.0]))
assert found.step == 0.5

# %% 68 | `setMaxIterations(conf.getMaxNumLineSearchIterations())` | `.maxNumLineSearchIterations(n)` |
# `tests/optimize/test_line_search_optimizers.py`
net = ready(optimizationAlgo=OptimizationAlgorithm.LBFGS, maxNumLineSearchIterations=3)
assert net.conf.max_num_line_search_iterations == 3
assert dl4j.BackTrackLineSearch(max_iterations=3).getMaxIterations() == 3

# %% 69 | a `lineMaximizer` in every optimizer, in SGD too | in those that search along lines: SGD never uses its own
# | `tests/optimize/test_line_search_optimizers.py`
net = small(optimizationAlgo=OptimizationAlgorithm.LINE_GRADIENT_DESCENT)
net.fit(X1, Y1)
scores = [net.score(DataSet(X1, Y1))]
net.fit(X1, Y1)
assert net.score(DataSet(X1, Y1)) <= scores[0]

# %% 70 | `StochasticGradientDescent.optimize()`: gradientAndScore, step, listeners, count | the same order |
# [inside/loop.md](inside/loop.md)
heard = heard_by(small(), line()).names
assert heard == [
    "on_epoch_start", "on_forward_pass", "on_backward_pass", "on_gradient_calculation", "iteration_done", "on_epoch_end"
]  # fmt: skip

# %% 71 | `model.setParams(params)`, which does nothing for views | the step is taken in the vector itself |
# `tests/nn/networks/test_multilayer.py`
net = small()
vector = net.params()
net.fit(X1, Y1)
assert nd.may_share_memory(vector, net.params())
net.set_params(nd.ones(1, 7))
assert host(vector).tolist() == [[1.0] * 7]

# %% 72 | parameters that are no view: layers in pretraining | the layer's own part of the vector is trained |
# [pretraining.md](pretraining.md)
layers = RBM(n_in=1, n_out=2), OutputLayer(n_out=1, loss="mse", activation="identity")
net = MultiLayerNetwork(NeuralNetConfiguration(seed=1, updater=Sgd(0.1), pretrain=True).list(*layers)).init()
vector, before = net.params(), host(net.params()).copy()
net.pretrain_layer(0, X1)
assert nd.may_share_memory(vector, net.params())
assert (host(vector) != before).any()

# %% 73 | `getIterationCount()`, `incrementIterationCount()` | `net.iteration_count` |
# [inside/loop.md](inside/loop.md)
net = small()
net.fit(X1, Y1, epochs=2)
assert net.getIterationCount() == net.iteration_count == 2
net.iteration_count += 1
assert net.iteration_count == 3

# %% 74 | `gradientAndScore()`: a Pair | `net.gradient_and_score()` |
# [java.md](java.md#names-in-articles-about-the-source)
net = ready()
gradient, score = net.gradient_and_score()
assert score == net.score()
near(gradient.gradient(), net.flattened_gradients())

# %% 75 | `onGradientCalculation(model)` | the same: after backprop, before the step |
# [inside/fit.md](inside/fit.md#the-loop)
net = small()
before = host(net.params()).copy()
[(_, at_call)] = heard_by(net, X1, Y1).heard["on_gradient_calculation"]
near(at_call, before, 0.0)
assert (host(net.params()) != before).any()
