"""Data that nothing takes, in all methods of the census of data: the same errors everywhere, and nothing trained."""

import numpy as np
import pytest

import nd
from tests.cells import every_row
from tests.kinds_of_data import Tensor, pandas_frame, polars_frame
from tests.nn.networks.test_census_of_data import NETWORKS, OF_DATA, OF_FEATURES, X, Y, cells, chain, has

WRONG = {
    "a tensor of a device": (lambda: Tensor(X, (2, 0)), nd.DTypeError, r"on a device .* Give x\.cpu\(\)"),
    "a text column": (
        lambda: pandas_frame(X).assign(kind="a", shade="b"),
        nd.DTypeError,
        r"got 'a' .* in 'kind', 'shade'\. Leave them out, x\[\['c0', 'c1', 'c2', 'c3'\]\], or make",
    ),
    "a date column": (
        lambda: pandas_frame(X).assign(day=np.array(["2020-01-01"] * 6, "datetime64[s]")),
        nd.DTypeError,
        r"dtype datetime.* in 'day'",
    ),
    "text": (lambda: "abc", nd.DTypeError, "must be features|features: expected numbers, got"),
    "a sparse matrix": (
        lambda: pytest.importorskip("scipy.sparse").csr_matrix(X),
        nd.DTypeError,
        r"got a sparse csr_matrix \[6, 4\]\. Give x\.toarray\(\)",
    ),
    "a table that is not read": (
        lambda: polars_frame(X).lazy(),
        nd.DTypeError,
        r"got a LazyFrame\. Give x\.collect\(\)",
    ),
    "a mask array": (lambda: np.ma.masked_array(X, X > 0), nd.DTypeError, "got a masked array. Fill it"),
}


@pytest.mark.parametrize("name", WRONG)
def test_refused_everywhere(name):
    make, error, message = WRONG[name]
    for kind, build in NETWORKS.items():
        net = build()
        for method, call in (*OF_FEATURES.items(), *((name, call) for name, call in OF_DATA.items())):
            if not has(net, method):
                continue
            given = (make(),) if method in OF_FEATURES else (make(), Y)
            with pytest.raises(error, match=message):
                call(net, *given)
            assert net.iteration_count == 0, (kind, method)


@every_row(("kind", "method"), cells(OF_DATA))
def test_features_alone_are_refused(kind, method):
    net = NETWORKS[kind]()
    for x in (X, X.tolist(), pandas_frame(X), Tensor(X)):
        with pytest.raises((nd.DataError, nd.DTypeError), match=r"features need labels|data must be|needs labels"):
            OF_DATA[method](net, x)


@pytest.mark.parametrize("make", [pandas_frame, polars_frame])
def test_missing_values_are_refused_as_nan_is(make):
    holes = X.copy()
    holes[1, 2] = np.nan
    with pytest.raises(nd.DataError, match="features must be finite, got NaN"):
        chain().evaluate(make(holes), Y)
    frame = pytest.importorskip("polars").DataFrame({"a": [1, None], "b": [True, False]})
    np.testing.assert_array_equal(nd.to_host(nd.create(frame)), [[1.0, 1.0], [np.nan, 0.0]])
    frame = pytest.importorskip("pandas").DataFrame({"a": [1, None], "b": [2, 3]}).astype("Int64")
    np.testing.assert_array_equal(nd.to_host(nd.create(frame)), [[1.0, 2.0], [np.nan, 3.0]])
