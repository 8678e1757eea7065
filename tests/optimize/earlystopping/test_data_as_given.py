"""Early stopping, its score calculators and listeners take the data that fit takes."""

import numpy as np
import pytest

from nd.dataset import DataSet
from optimize import EvaluativeListener, HtmlReportListener
from optimize.earlystopping import DataSetLossCalculator, EarlyStoppingTrainer, MaxEpochsTerminationCondition
from tests.optimize.earlystopping.test_with_networks import CALCULATORS, X, Y, conf_of, host, network

GIVEN = {
    "a pair": lambda: (X, Y),
    "lists": lambda: (X.tolist(), Y.tolist()),
    "pairs": lambda: [(X, Y)],
    "a tuple of pairs": lambda: ((X, Y),),
    "data sets": lambda: [DataSet(X, Y)],
}


@pytest.mark.parametrize("name", GIVEN)
@pytest.mark.quick_rows(2)
def test_what_fit_takes_is_taken(name, tmp_path):
    net, data = network(), GIVEN[name]
    for calculator in CALCULATORS:
        expected = CALCULATORS[calculator](DataSet(X, Y)).calculate_score(net)
        assert CALCULATORS[calculator](data()).calculate_score(net) == expected
    trained, stopped = network(), network()
    trained.fit(X, Y, epochs=2)
    conf = conf_of(DataSetLossCalculator(data()), MaxEpochsTerminationCondition(2))
    EarlyStoppingTrainer(conf, stopped, data()).fit()
    np.testing.assert_array_equal(host(stopped.params()), host(trained.params()))
    heard = []
    trained.set_listeners(
        EvaluativeListener(data(), 1, callback=lambda *told: heard.append(told)),
        HtmlReportListener(tmp_path / "report.html", data=data()),
    )
    trained.fit(X, Y)
    assert heard
    assert (tmp_path / "report.html").exists()
