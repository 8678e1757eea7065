"""scikit-learn's own checks of estimators, none of which is expected to fail."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("sklearn", reason="the extra sklearn is not installed")

from sklearn.utils.estimator_checks import check_estimator, estimator_checks_generator

from nn import AutoEncoder, NeuralNetConfiguration
from nn.sklearn import NetworkClassifier, NetworkRegressor, NetworkTransformer

ESTIMATORS = {kind.__name__: kind for kind in (NetworkClassifier, NetworkRegressor, NetworkTransformer)}
QUICK = (
    "check_do_not_raise_errors_in_init_or_set_param", "check_estimator_cloneable", "check_estimator_repr",
    "check_no_attributes_set_in_init", "check_fit_score_takes_y", "check_sample_weight_equivalence_on_dense_data",
    "check_all_zero_sample_weights_error", "check_estimator_sparse_array", "check_estimators_nan_inf",
    "check_estimators_pickle", "check_fit2d_1sample", "check_dict_unchanged", "check_n_features_in_after_fitting",
    "check_classifiers_one_label", "check_classifiers_multilabel_output_format_predict", "check_regressor_multioutput",
    "check_transformer_preserve_dtypes", "check_requires_y_none", "check_class_weight_classifiers",
)  # fmt: skip
"""Of those that take little time; the slow test below carries out all."""
WITHOUT = {"check_classifiers_multilabel_output_format_decision_function"}
"""Of a method that these estimators do not have."""


@pytest.mark.parametrize("name", ESTIMATORS)
def test_checks_of_estimators_that_take_little_time(name):
    for estimator, check in estimator_checks_generator(ESTIMATORS[name](), mark=None):
        if getattr(check, "func", check).__name__ in QUICK:
            check(estimator)


@pytest.mark.slow
@pytest.mark.parametrize("name", ESTIMATORS)
def test_no_check_fails(name):
    """With array API dispatch, which SciPy asks for when it is imported: so in a process of its own."""
    program = (
        "from sklearn.utils.estimator_checks import check_estimator\nimport nn.sklearn\n"
        f"for found in check_estimator(nn.sklearn.{name}(), on_fail=None):\n"
        "    print(found['check_name'], found['status'], repr(found['exception']))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    lines = [line.split(None, 2) for line in done.stdout.splitlines()]
    assert len(lines) > 40
    assert [line for line in lines if line[1] != "passed" and line[0] not in WITHOUT] == []


def encoder(n_in, n_out):
    return NeuralNetConfiguration(updater="adam", pretrain=True).list(AutoEncoder(n_in=n_in, n_out=5))


@pytest.mark.slow
@pytest.mark.parametrize(
    "estimator",
    [
        NetworkClassifier(early_stopping=True, dropout=0.1, validation_fraction=0.3),
        NetworkRegressor(updater="nesterovs", hidden_layer_sizes=(9, 5), scale_targets=False, learning_rate="constant"),
        NetworkTransformer(pretrain=False, fine_tune=True),
        NetworkTransformer(fine_tune=True, kind="rbm", max_iter=3),
        NetworkTransformer(encoder),
    ],
    ids=["early", "rates", "supervised", "both", "own"],
)  # fmt: skip
def test_other_parameters_pass_the_checks_too(estimator):
    failed = [found for found in check_estimator(estimator, on_fail=None, on_skip=None) if found["status"] == "failed"]
    random = RANDOM if estimator.early_stopping else set()
    assert [found["check_name"] for found in failed if found["check_name"] not in random] == []


RANDOM = {"check_sample_weight_equivalence_on_dense_data"}
"""What is held out of repeated rows is not what is held out of weighted ones."""
