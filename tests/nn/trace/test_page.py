"""The page of a trace: one file, every layer, pictures within the budget; in a browser without an error."""

import base64
import io
import json
import re
import shutil
import subprocess

import numpy as np
import pytest

import nd
from nn.trace import load
from tests.absent import NoBrowser
from tests.nn.trace.networks import EVERY, dense, graph, images, pooled, rows

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


def page_of(trace, **settings):
    file = io.BytesIO()
    trace.to_html(file, **settings)
    return file.getvalue().decode()


def data_of(text):
    """Return what the page was made of."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])


def numbers_of(array):
    """Return the numbers of a picture."""
    picture = array["pic"]
    parts = np.frombuffer(base64.b64decode(picture["data"]), "<u2").astype(float)
    return (picture["low"] + (picture["high"] - picture["low"]) * parts / 65534).reshape(picture["shape"])


@pytest.mark.parametrize("name", EVERY)
def test_a_page_needs_nothing_else(name):
    make, data = EVERY[name]
    text = page_of(make().trace(data()))
    assert not re.search(r"https?://|src=|@import|url\(", text)
    assert re.findall(r'href="([^"]*)"', text) == ["data:,"]  # no icon
    assert "__TRACE__" not in text


def test_it_has_every_layer_and_row():
    trace = graph().trace(rows())
    data = data_of(page_of(trace))
    (shown,) = data["traces"]
    assert [node["name"] for node in shown["nodes"]] == ["left", "right", "sum", "out"]
    assert [row["id"] for row in shown["rows"]] == [row.number for row in trace.rows]
    assert sum(row["s"] for row in shown["rows"]) == pytest.approx(trace.seconds)
    assert data["difference"] == ""


def test_pictures_are_the_arrays():
    trace = pooled().trace(images())
    data = data_of(page_of(trace))
    arrays = dict(data["traces"][0]["nodes"][0]["arrays"])
    shown, expected = data["arrays"][arrays["params.W"]], trace.nodes["0"].params["W"].values
    np.testing.assert_allclose(numbers_of(shown), expected, atol=1e-4)
    assert shown["shape"] == [4, 2, 3, 3]
    low, high = expected.min(), expected.max()
    assert shown["hist"] == np.histogram(expected.astype(float), 32, (low, high))[0].tolist()


def test_pictures_keep_to_the_budget_and_say_so():
    trace = pooled().trace(images(64))
    told, texts = [], []
    for budget in (0, 20_000, 200_000):
        texts.append(page_of(trace, budget=budget))
        told.append(data_of(texts[-1])["budget"])
        assert told[-1]["used"] <= budget == told[-1]["given"]
        used = sum(len(one["pic"]["data"]) for one in data_of(texts[-1])["arrays"] if one["pic"])
        assert used == told[-1]["used"]
    assert told[0]["whole"] == 0 < told[1]["whole"] < told[2]["whole"]
    assert len(texts[0]) < len(texts[1]) < len(texts[2])


def test_numbers_that_are_not_finite_do_not_break_the_page():
    net, data = dense(), rows()
    trace = net.trace(data)
    content = trace.nodes["0"].activation.content
    spoiled = content._replace(mean=float("nan"), not_finite=1, values=np.where(content.values > 0, np.inf, 0.5))
    trace.nodes["0"].activation.content = spoiled._replace(sample=spoiled.values, digest="another")
    shown = data_of(page_of(trace))
    array = shown["arrays"][dict(shown["traces"][0]["nodes"][0]["arrays"])["activation"]]
    assert array["mean"] is None
    assert array["nf"] == 1


def test_two_traces_are_side_by_side():
    one, net = dense().trace(rows()), dense()
    net.get_param("1_b")[0, 1] = 0.25
    data = data_of(page_of(one, other=net.trace(rows())))
    assert len(data["traces"]) == 2
    assert "softmax of 1 (forward)" in data["difference"]
    parts = {int(number): largest for number, largest in data["parts"].items()}
    first = next(row.number for row in one.ops if row.op == "softmax")
    assert min(parts) == first
    assert parts[first] > 0
    assert data_of(page_of(one, other=one))["difference"] == "Both have the same numbers."


def test_a_page_from_a_file(tmp_path):
    trace = dense().trace(rows())
    trace.save(tmp_path / "trace.npz")
    load(tmp_path / "trace.npz").to_html(tmp_path / "trace.html")
    assert data_of((tmp_path / "trace.html").read_text()) == data_of(page_of(trace))


def test_a_name_of_another_kind_of_file(tmp_path):
    with pytest.raises(nd.ConfigurationError, match="to_html: expected a name for a page for browsers"):
        dense().trace(rows()).to_html(tmp_path / "trace.png")


# ---- in a browser


@pytest.fixture(scope="module")
def browser():
    """Return a function that opens a page and returns its document, and what was said on the console."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        raise NoBrowser(f"no browser: none of {', '.join(BROWSERS)} is installed")

    def opened(path, fragment=""):
        command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0"]
        command += [f"--user-data-dir={path.parent / 'profile'}", "--virtual-time-budget=20000", "--dump-dom"]
        done = subprocess.run([*command, path.as_uri() + fragment], capture_output=True, text=True, timeout=300)
        return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]

    return opened


@pytest.mark.slow
def test_lenet_in_a_browser(browser, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend("benchmarks")
    from networks import make

    net, data = make("lenet", 64)
    trace, path = net.trace(data), tmp_path / "trace.html"
    trace.to_html(path)
    assert path.stat().st_size < 5_000_000
    document, console = browser(path)
    assert console == []
    assert 'data-ready="yes"' in document
    assert re.findall(r'data-layer="([^"]*)"', document) == list(trace.nodes) == ["0", "1", "2", "3", "4", "5"]
    assert document.count("<canvas") >= 30
    assert "columns of im2col" in document
    assert f'id="row{trace.rows[-1].number}"' in document


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
def test_two_traces_in_a_browser(browser, tmp_path, name):
    make, data = EVERY[name]
    one, net = make().trace(data()), make()
    net.fit_batch(data())
    path = tmp_path / "trace.html"
    one.to_html(path, other=net.trace(data()))
    update = next(row for row in one.rows if row.kind == "update")
    document, console = browser(path, f"#row{update.number}")
    assert console == []
    assert 'data-ready="yes"' in document
    assert "They part first at" in document
    assert "corrected rate" in document
    assert re.findall(r'data-layer="([^"]*)"', document) == list(one.nodes)


@pytest.mark.slow
def test_an_error_on_the_console_is_seen(browser, tmp_path):
    path = tmp_path / "broken.html"
    path.write_text("<script>nowhere()</script>")
    assert "nowhere is not defined" in browser(path)[1][0]
