"""The report is one file that needs nothing else; drawn by a stand-in, and by matplotlib where it is installed."""

import base64
import html.parser
import importlib.util
import io
import re
import struct
import sys
import zlib
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest

import nd
from nd.dataset import DataSet
from nn import ConvolutionLayer, DenseLayer, InputType, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import HtmlReportListener, Sgd
from optimize.listeners.html_report import first_filters, page
from tests.optimize.test_listener_hooks import FEATURES, LABELS, batches, network


def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png(side=3):
    header = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + bytes(side) for _ in range(side)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def decoded(image):
    """Return a PNG's width and height, after its checksums and the length of its pixels were compared."""
    stream = io.BytesIO(image)
    assert stream.read(8) == b"\x89PNG\r\n\x1a\n"
    chunks = []
    while (head := stream.read(8)) != b"":
        length, kind = struct.unpack(">I4s", head)
        content = stream.read(length)
        assert stream.read(4) == struct.pack(">I", zlib.crc32(kind + content))
        chunks.append((kind, content))
    width, height, depth, colour = struct.unpack(">IIBB", chunks[0][1][:10])
    samples = {0: 1, 2: 3, 6: 4}[colour] * depth // 8
    pixels = zlib.decompress(b"".join(content for kind, content in chunks if kind == b"IDAT"))
    assert len(pixels) == height * (1 + width * samples)
    assert chunks[-1][0] == b"IEND"
    return width, height


class Figure(mock.MagicMock):
    """Stands in for matplotlib's: notes the calls, and saves a small image."""

    made = []

    def __init__(self, **settings):
        super().__init__()
        Figure.made.append(self)

    def savefig(self, stream, **settings):
        stream.write(png())

    def _get_child_mock(self, **settings):
        return mock.MagicMock(**settings)


@pytest.fixture(params=["stand-in", *(["matplotlib"] if importlib.util.find_spec("matplotlib") else [])])
def drawing(request, monkeypatch):
    if request.param == "stand-in":
        monkeypatch.setattr(Figure, "made", [])
        figure = SimpleNamespace(Figure=Figure)
        monkeypatch.setitem(sys.modules, "matplotlib", SimpleNamespace(figure=figure))
        monkeypatch.setitem(sys.modules, "matplotlib.figure", figure)
    return request.param


class Reader(html.parser.HTMLParser):
    """The headings, images and texts of a page, and everything that it refers to."""

    def __init__(self, text):
        super().__init__()
        self.headings, self.images, self.texts, self.refers, self.open = [], [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        for name, value in attributes:
            if name in ("src", "href", "srcset", "data", "action"):
                self.refers.append(value)
        if tag == "img":
            kind, _, content = dict(attributes)["src"].partition(",")
            assert kind == "data:image/png;base64"
            self.images.append(base64.b64decode(content, validate=True))

    def handle_data(self, data):
        if self.open[-1:] == ["h2"]:
            self.headings.append(data)
        elif self.open[-1:] == ["pre"]:
            self.texts.append(data)

    def handle_endtag(self, tag):
        while self.open.pop() != tag:
            pass


def assert_is_whole(text):
    """Nothing is loaded from elsewhere."""
    found = Reader(text)
    assert all(value.startswith("data:") for value in found.refers)
    without_images = re.sub(r'src="data:[^"]*"', "", text)
    assert not re.search(r"https?:|//|@import|url\(|<script|<link|<iframe", without_images)
    assert all(min(decoded(image)) >= 3 for image in found.images)
    return found


def convolutional(n_out=5):
    conf = NeuralNetConfiguration(seed=1, updater=Sgd(0.1)).list(
        ConvolutionLayer(n_out=n_out, kernel_size=3, activation="relu"),
        OutputLayer(n_out=2, activation="softmax"),
        input_type=InputType.convolutional_flat(6, 6, 1),
    )
    return MultiLayerNetwork(conf).init()


IMAGES = np.random.default_rng(5).normal(size=(12, 36)).astype(np.float32)


@pytest.mark.usefixtures("drawing")
def test_the_report(tmp_path):
    net, path = convolutional(), tmp_path / "report.html"
    listener = HtmlReportListener(path, DataSet(IMAGES, LABELS), frequency=2, title="a <b> & c")
    net.set_listeners(listener)
    net.fit(DataSet(IMAGES, LABELS), epochs=5)
    assert (listener.iterations, len(listener.scores)) == ([0, 2, 4], 3)
    text = path.read_text(encoding="utf-8")
    found = assert_is_whole(text)
    assert found.headings == ["Score", "Confusion matrix", "Filters of the first layer"]
    assert len(found.images) == 3
    assert "last " in found.texts[0]
    assert net.evaluate(DataSet(IMAGES, LABELS)).stats() == found.texts[1]
    assert found.texts[2] == "5 shown"
    assert "<title>a &lt;b&gt; &amp; c</title>" in text
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.usefixtures("drawing")
def test_without_data_and_without_filters(tmp_path):
    net, path = network(), tmp_path / "report.html"
    net.set_listeners(HtmlReportListener(path, every_n_epochs=2))
    net.fit(batches(), epochs=1)
    assert assert_is_whole(path.read_text()).headings == ["Score"]


@pytest.mark.usefixtures("drawing")
def test_it_is_also_written_on_the_way(tmp_path, monkeypatch):
    net, written = network(), []
    listener = HtmlReportListener(tmp_path / "r.html", every_n_epochs=2)
    monkeypatch.setattr(listener, "write", lambda model: written.append(model.iteration_count))
    net.set_listeners(listener)
    net.fit(batches(), epochs=5)
    assert written == [6, 12, 15]


def test_what_is_drawn(drawing, tmp_path):
    if drawing != "stand-in":
        return  # drawn, and looked at above
    net = network()
    listener = HtmlReportListener(tmp_path / "r.html", DataSet(FEATURES, LABELS), frequency=1)
    net.set_listeners(listener)
    net.fit(batches())
    curve, confusion = (figure.add_subplot.return_value for figure in Figure.made)
    curve.plot.assert_called_once_with([0, 1, 2], listener.scores)
    shown = confusion.text.call_args_list
    counts = net.evaluate(DataSet(FEATURES, LABELS)).confusion.counts
    assert {(call.args[1], call.args[0]): int(call.args[2]) for call in shown} == dict(np.ndenumerate(counts))


def test_filters():
    net = convolutional(n_out=70)
    found = first_filters(net)
    assert len(found) == 64
    np.testing.assert_array_equal(found[7], nd.to_host(net.get_param("0_W"))[7, 0])
    conf = NeuralNetConfiguration(seed=1).list(DenseLayer(n_in=9, n_out=2), OutputLayer(n_in=2, n_out=2))
    dense = MultiLayerNetwork(conf).init()
    np.testing.assert_array_equal(first_filters(dense)[1].ravel(), nd.to_host(dense.get_param("0_W"))[:, 1])
    assert first_filters(network()) == []  # 3 inputs are no square


def test_a_page_by_itself():
    found = assert_is_whole(page("t", [("<h>", png(4), "1 < 2"), ("x", png(5), "")]))
    assert found.headings == ["<h>", "x"]
    assert [decoded(image) for image in found.images] == [(4, 4), (5, 5)]
    assert found.texts == ["1 < 2"]


@pytest.mark.usefixtures("drawing")
def test_a_folder_that_is_not_there(tmp_path):
    net = network()
    net.set_listeners(HtmlReportListener(tmp_path / "nowhere" / "r.html"))
    with pytest.raises(FileNotFoundError, match=r"HtmlReportListener: the folder must exist, got none"):
        net.fit(batches())


def test_without_the_package(monkeypatch, tmp_path):
    for name in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(nd.ConfigurationError, match=r"matplotlib, got none\. .* pip install .matplotlib>=3\.8"):
        HtmlReportListener(tmp_path / "r.html")


@pytest.mark.parametrize("name", ["frequency", "every_n_epochs"])
def test_settings(name, tmp_path):
    with pytest.raises(nd.ConfigurationError, match=f"HtmlReportListener: {name} must be an integer >= 1( or None)?,"):
        HtmlReportListener(tmp_path / "r.html", **{name: 0})
