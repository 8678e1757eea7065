"""Estimators of nn.sklearn within what scikit-learn makes of estimators: pipelines, searches, ensembles."""

import importlib
import pickle
import signal
import sys
import threading

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="the extra sklearn is not installed")

import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits, load_iris
from sklearn.ensemble import AdaBoostClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils.class_weight import compute_class_weight

import nd
from nn import AutoEncoder, NeuralNetConfiguration
from nn.sklearn import NetworkClassifier, NetworkRegressor, NetworkTransformer
from optimize import Sgd

X, Y = load_iris(return_X_y=True)
SCALED = (X - X.mean(0)) / X.std(0)
NUMBERS = SCALED @ np.array([3.0, -1.0, 0.5, 2.0]) + 40.0
SMALL = {"hidden_layer_sizes": (8,), "random_state": 0}


def whole(**change):
    """Return parameters for gradient descent over all examples at once, which does not see their order."""
    return {"updater": Sgd(0.5), "batch_size": 10_000, "hidden_layer_sizes": (), "tol": 0.0, "alpha": 3.0, **change}


# ---- pipelines, searches, ensembles


def test_pipeline():
    fitted = make_pipeline(StandardScaler(), NetworkClassifier(**SMALL)).fit(X, Y)
    np.testing.assert_array_equal(
        fitted.predict_proba(X), NetworkClassifier(**SMALL).fit(SCALED, Y).predict_proba(SCALED)
    )
    assert fitted.score(X, Y) > 0.9
    copied = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copied.predict_proba(X), fitted.predict_proba(X))


def test_cross_validate():
    estimator = make_pipeline(StandardScaler(), NetworkClassifier(random_state=0))
    scores = cross_validate(estimator, X, Y, cv=3, scoring=["accuracy", "neg_log_loss", "roc_auc_ovr"])
    assert scores["test_accuracy"].min() > 0.85
    assert scores["test_roc_auc_ovr"].min() > 0.95
    folds = KFold(3, shuffle=True, random_state=0)  # the rows are in order of class
    assert cross_validate(NetworkRegressor(random_state=0), SCALED, NUMBERS, cv=folds)["test_score"].min() > 0.9


@pytest.mark.slow
def test_grid_search_in_two_processes():
    """The same scores as in this one."""
    grid = {"networkclassifier__hidden_layer_sizes": [(4,), (8, 4)], "networkclassifier__alpha": [0.1, 3.0]}
    estimator = make_pipeline(StandardScaler(), NetworkClassifier(random_state=0, max_iter=5))
    apart, here = (GridSearchCV(estimator, grid, cv=3, n_jobs=jobs).fit(X, Y) for jobs in (2, 1))
    np.testing.assert_allclose(apart.cv_results_["mean_test_score"], here.cv_results_["mean_test_score"], rtol=1e-12)
    np.testing.assert_allclose(apart.predict_proba(X), here.predict_proba(X), rtol=1e-9)
    assert apart.best_params_ == here.best_params_


def test_grid_search_over_arrays_of_numpy():
    grid = {"alpha": np.array([0.5, 3.0]), "batch_size": np.array([50, 150]), "early_stopping": np.array([False, True])}
    found = GridSearchCV(NetworkClassifier(**SMALL, max_iter=2), grid, cv=2, error_score="raise").fit(SCALED, Y)
    assert len(found.cv_results_["params"]) == 8


def test_calibrated_classifier():
    estimator = CalibratedClassifierCV(NetworkClassifier(**SMALL), cv=3).fit(SCALED, Y)
    np.testing.assert_allclose(estimator.predict_proba(SCALED).sum(1), 1.0)
    assert estimator.score(SCALED, Y) > 0.9


def test_boosting_weighs_examples():
    """AdaBoost hands over weights whose sum is 1, which leave the penalty as it is."""
    boosted = AdaBoostClassifier(NetworkClassifier(max_iter=10), n_estimators=2, random_state=0).fit(SCALED, Y)
    assert boosted.score(SCALED, Y) > 0.9
    alone, weighted = (NetworkClassifier(**SMALL, max_iter=3).fit(SCALED, Y, w) for w in (None, np.full(150, 1 / 150)))
    np.testing.assert_allclose(weighted.predict_proba(SCALED), alone.predict_proba(SCALED), rtol=1e-9)


def test_several_columns_of_classes():
    both = np.stack([Y, 2 - Y], 1)
    fitted = MultiOutputClassifier(NetworkClassifier(**SMALL)).fit(SCALED, both)
    assert (fitted.predict(SCALED) == both).mean() > 0.9


def test_clone_has_the_parameters_and_no_network():
    conf = NeuralNetConfiguration(updater="adam").list(AutoEncoder(n_in=4, n_out=2))
    estimator = NetworkTransformer(conf, alpha=0.5).fit(X / 8.0)
    copied = clone(estimator)
    assert copied.network == conf
    assert copied.get_params()["alpha"] == 0.5
    with pytest.raises(NotFittedError, match="not fitted yet"):
        copied.transform(X)


# ---- weights


@pytest.mark.parametrize(("kind", "y"), [(NetworkClassifier, Y), (NetworkRegressor, NUMBERS)])
def test_weights_are_repeated_rows(kind, y):
    weights = np.random.RandomState(1).randint(0, 4, 150)
    weighted = kind(random_state=0, **whole(hidden_layer_sizes=(5,))).fit(SCALED, y, weights)
    repeated = kind(random_state=0, **whole(hidden_layer_sizes=(5,))).fit(SCALED.repeat(weights, 0), y.repeat(weights))
    np.testing.assert_allclose(weighted.predict(SCALED), repeated.predict(SCALED), rtol=1e-9)
    np.testing.assert_allclose(weighted.loss_curve_, repeated.loss_curve_, rtol=1e-9)


def test_alpha_is_one_over_c_of_logistic_regression():
    """Trained to the end without hidden layers; biases are not penalised in either."""
    fitted = NetworkClassifier(random_state=0, max_iter=1500, **whole(tol=-1.0)).fit(SCALED, Y)
    reference = LogisticRegression(C=1.0 / 3.0, tol=1e-10, max_iter=10_000).fit(SCALED, Y)
    np.testing.assert_allclose(fitted.predict_proba(SCALED), reference.predict_proba(SCALED), atol=1e-5)


def test_alpha_is_twice_that_of_ridge():
    """On targets of mean 0 and deviation 1, whose squared errors count as a whole, half the squared weights."""
    made = whole(updater=Sgd(0.3), tol=-1.0)
    fitted = NetworkRegressor(random_state=0, max_iter=1200, **made).fit(SCALED, NUMBERS)
    reference = Ridge(alpha=1.5).fit(SCALED, (NUMBERS - NUMBERS.mean()) / NUMBERS.std())
    expected = reference.predict(SCALED) * NUMBERS.std() + NUMBERS.mean()
    np.testing.assert_allclose(fitted.predict(SCALED), expected, rtol=1e-6)


def test_weights_of_classes_hold_in_parts_that_lack_some():
    estimator = NetworkClassifier(random_state=0, class_weight={0: 4.0, 2: 0.5}, **whole())
    other = NetworkClassifier(random_state=0, **whole())
    for classes in ([0, 1], [1, 2]):
        rows = np.isin(Y, classes)
        factors = compute_class_weight({0: 4.0, 2: 0.5}, classes=np.arange(3), y=Y)[Y[rows]]
        estimator.partial_fit(SCALED[rows], Y[rows], classes=[0, 1, 2])
        other.partial_fit(SCALED[rows], Y[rows], classes=[0, 1, 2], sample_weight=factors)
    np.testing.assert_allclose(estimator.predict_proba(SCALED), other.predict_proba(SCALED), rtol=1e-12)


@pytest.mark.usefixtures("routing")
def test_weights_are_routed():
    weights = np.where(Y == 1, 0.0, 1.0)
    network = NetworkClassifier(**SMALL).set_fit_request(sample_weight=True)
    scaler = StandardScaler().set_fit_request(sample_weight=False)
    fitted = make_pipeline(scaler, network).fit(X, Y, sample_weight=weights)
    assert set(fitted.predict(X).tolist()) == {0, 2}
    requested = network.set_score_request(sample_weight=True)
    scores = cross_validate(requested, SCALED, Y, cv=3, params={"sample_weight": weights})
    assert scores["test_score"].min() > 0.95  # of the class that weighs nothing none is found
    network.set_partial_fit_request(classes=True, sample_weight=False)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


# ---- tables


def test_names_of_features():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    fitted = NetworkClassifier(**SMALL, max_iter=2).fit(table, Y)
    assert fitted.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.predict(table.rename(columns={"a": "z"}))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        fitted.predict(X)


def test_output_of_the_transformer_is_a_table_where_it_is_asked_for():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X / 8.0, columns=["a", "b", "c", "d"], index=np.arange(150) + 7)
    plain = NetworkTransformer(**SMALL, max_iter=2).fit(table)
    given = clone(plain).set_output(transform="pandas").fit_transform(table)
    assert given.index.tolist() == table.index.tolist()
    assert given.columns.tolist() == [f"networktransformer{number}" for number in range(8)]
    assert plain.get_feature_names_out().tolist() == given.columns.tolist()
    np.testing.assert_array_equal(given.to_numpy(), plain.transform(table))


# ---- the transformer


@pytest.mark.parametrize("kind", ["autoencoder", "rbm"])
def test_features_are_the_activations_of_what_was_pretrained(kind):
    """Beside the formula: sigmoid of the inputs times the weights, layer by layer."""
    fitted = NetworkTransformer(kind=kind, hidden_layer_sizes=(6, 3), max_iter=3, random_state=0).fit(X / 8.0)
    features = X / 8.0
    for layer in range(2):
        w, b = (nd.to_host(fitted.network_.get_param(f"{layer}_{name}")) for name in "Wb")
        features = 1.0 / (1.0 + np.exp(-(features @ w + b)))
    np.testing.assert_allclose(fitted.transform(X / 8.0), features, rtol=1e-10)
    first = NetworkTransformer(kind=kind, hidden_layer_sizes=(6, 3), layer=0, max_iter=3, random_state=0).fit(X / 8.0)
    assert first.transform(X / 8.0).shape == (150, 6)
    assert fitted.loss_curve_[-1] < fitted.loss_curve_[0]


def test_features_help_a_linear_model():
    x, y = load_digits(return_X_y=True)
    features = NetworkTransformer(activation="relu", pretrain=False, fine_tune=True, random_state=0)
    fitted = make_pipeline(MinMaxScaler(), features, LogisticRegression(max_iter=500)).fit(x[::3], y[::3])
    assert fitted.score(x[1::3], y[1::3]) > 0.95


def test_fine_tuning_takes_numbers_and_classes():
    for y, outputs in ((Y, 3), (NUMBERS, 1), (np.stack([Y > 0, Y > 1], 1).astype(int), 2)):
        fitted = NetworkTransformer(**SMALL, fine_tune=True, max_iter=3).fit(X / 8.0, y)
        assert nd.to_host(fitted.network_.output(X[:2] / 8.0)).shape == (2, outputs)
        assert fitted.transform(X / 8.0).shape == (150, 8)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "pca"}, "unknown kind 'pca', expected one of autoencoder, rbm"),
        ({"layer": "x"}, "unknown layer 'x', expected one of layer0"),
        ({"layer": 7}, r"layer must be in 0\.\.0, got 7"),
        ({"pretrain": False}, "pretrain or fine_tune must be True, got False for both"),
        ({"hidden_layer_sizes": ()}, r"hidden_layer_sizes must have a size, got none\. Give \(100,\), say"),
    ],
)
def test_wrong_parameters_of_the_transformer_are_told(change, message):
    with pytest.raises(nd.NdError, match=f"NetworkTransformer: {message}"):
        NetworkTransformer(**change).fit(X)


# ---- what comes in between


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals need the main thread")
@pytest.mark.parametrize("warm", [False, True])
def test_ctrl_c_leaves_an_estimator_that_works(warm):
    made = {**SMALL, "max_iter": 10_000, "tol": -1.0, "warm_start": True}
    estimator = NetworkClassifier(**{**made, "max_iter": 2}).fit(SCALED, Y) if warm else NetworkClassifier(**made)
    estimator.set_params(max_iter=10_000)
    timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        estimator.fit(SCALED, Y)
    timer.join()
    if warm:
        assert (estimator.n_iter_, len(estimator.loss_curve_)) == (2, 2)
        assert estimator.predict(SCALED).shape == (150,)
    else:
        with pytest.raises(NotFittedError, match="not fitted yet"):
            estimator.predict(SCALED)
    assert estimator.set_params(max_iter=30).fit(SCALED, Y).score(SCALED, Y) > 0.9
    assert estimator.network_.learning_rates() == {0: 0.02, 1: 0.02}


def test_threads_predict_at_once():
    fitted = NetworkClassifier(**SMALL, max_iter=3).fit(SCALED, Y)
    parts = [SCALED[number::4] for number in range(4)]
    expected = [fitted.predict_proba(part) for part in parts]
    wrong = []

    def ask(number):
        answers = [fitted.predict_proba(parts[number]) for _ in range(30)]
        wrong.extend(number for answer in answers if not np.array_equal(answer, expected[number]))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# ---- what is refused, and what is not


def test_without_scikit_learn_the_extra_is_named(monkeypatch):
    for name in ("sklearn", "sklearn.base"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "nn.sklearn")
    with pytest.raises(
        nd.ConfigurationError, match=r"nn\.sklearn: needs the package scikit-learn, got none\. Install it: pip"
    ):
        importlib.import_module("nn.sklearn")


def test_labels_may_come_sparse():
    sparse = pytest.importorskip("scipy.sparse")
    labels = np.stack([Y > 0, Y > 1], 1).astype(int)
    plain = NetworkClassifier(**SMALL, max_iter=2).fit(SCALED, labels)
    other = NetworkClassifier(**SMALL, max_iter=2).fit(SCALED, sparse.csr_matrix(labels))
    np.testing.assert_array_equal(other.predict(SCALED), plain.predict(SCALED))
    with pytest.raises(TypeError, match="dense data is required"):
        plain.predict(sparse.csr_matrix(SCALED))


@pytest.mark.parametrize("kind", [NetworkClassifier, NetworkRegressor, NetworkTransformer])
def test_one_example_is_enough_and_nan_is_refused(kind):
    fitted = kind(max_iter=1).fit(SCALED[:1], Y[:1])
    answer = fitted.transform if kind is NetworkTransformer else fitted.predict
    assert np.isfinite(answer(SCALED)).all()
    with pytest.raises(ValueError, match="contains NaN"):
        answer(SCALED * np.nan)
    with pytest.raises(ValueError, match="could not convert string to float"):
        fitted.fit([["a", "b"]], [0])
    assert fitted.n_features_in_ == 4  # of the call before


def test_targets_out_of_range_are_told():
    with pytest.raises(nd.DataError, match="y must have a range whose square is finite"):
        NetworkRegressor().fit(SCALED, NUMBERS * 1e200)
    with pytest.raises(nd.ChoiceError, match="NetworkRegressor: unknown scale_targets 'no'"):
        NetworkRegressor(scale_targets="no").fit(SCALED, NUMBERS)
    large = NetworkRegressor(**SMALL, max_iter=2).fit(SCALED.astype("float32"), NUMBERS * 1e30)
    assert np.isfinite(large.predict(SCALED.astype("float32"))).all()
