"""Pictures of networks: everything is there, nothing overlaps, arrows go behind no box, texts are escaped."""

import io
import re
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest

import nd
from nn import (
    BatchNormalization,
    ComputationGraph,
    ConvolutionLayer,
    DenseLayer,
    ElementWiseVertex,
    FrozenLayer,
    InputType,
    MergeVertex,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    SubsamplingLayer,
)
from nn.conf.nodes import sources_of
from nn.pictures.diagram import diagram_of
from nn.pictures.dot import dot_of
from nn.pictures.layout import layout_of
from nn.pictures.svg import svg_of

SVG = "{http://www.w3.org/2000/svg}"
STEPS = 20  # points of a curve that are looked at
AWFUL = "<&\"'> ]]> \\ \x00\x0b\ud800 名前"


def conf_of(nodes, inputs, outputs):
    return NeuralNetConfiguration().graph(inputs, nodes, outputs)


def residual():
    nodes, last = {}, "image"
    for number in range(3):
        nodes[f"a{number}"] = ConvolutionLayer(n_out=3, kernel_size=(3, 3), convolution_mode="same"), last
        nodes[f"b{number}"] = ConvolutionLayer(n_out=3, kernel_size=(3, 3), convolution_mode="same"), f"a{number}"
        nodes[f"sum{number}"] = ElementWiseVertex("add"), f"b{number}", last
        last = f"sum{number}"
    nodes["answer"] = OutputLayer(n_out=2), last
    return conf_of(nodes, {"image": InputType.convolutional(6, 6, 3)}, "answer")


def dense_of_all_before():
    nodes, before = {}, ["x"]
    for number in range(7):
        nodes[f"d{number}"] = DenseLayer(n_out=4), *before
        before = [*before, f"d{number}"]
    nodes["y"] = OutputLayer(n_out=2), *before
    return conf_of(nodes, {"x": InputType.feed_forward(3)}, "y")


def at_random(seed):
    """Two inputs, two outputs; every sum has one to four inputs, any before it, some of them twice."""
    rng = np.random.default_rng(seed)
    known, nodes = ["u", "v"], {}
    for number in range(int(rng.integers(3, 30))):
        sources = [str(name) for name in rng.choice(known, int(rng.integers(1, 5)))]
        name = f"n{number}" + "x" * int(rng.integers(0, 30))
        nodes[name] = ElementWiseVertex("add"), *sources
        known.append(name)
    nodes["y"] = OutputLayer(n_out=2), known[-1]
    nodes["z"] = OutputLayer(n_out=3), known[-2]
    inputs = {name: InputType.feed_forward(4) for name in "uv"}
    return NeuralNetConfiguration().graph(inputs, nodes, ["y", "z"], allow_disconnected=True)


def chain():
    return NeuralNetConfiguration().list(
        ConvolutionLayer(n_out=4, kernel_size=(5, 5), activation="relu"),
        SubsamplingLayer("max", kernel_size=(2, 2), stride=(2, 2)),
        FrozenLayer(DenseLayer(n_out=7)),
        OutputLayer(n_out=2),
        input_type=InputType.convolutional_flat(28, 28, 1),
    )


CONFS = {"residual": residual(), "dense": dense_of_all_before(), "chain": chain()} | {
    f"random{seed}": at_random(seed) for seed in range(12)
}


# ---- what a file has


def rectangles(root):
    """Return name -> left, top, right, bottom of every box."""
    found = {}
    for group in root.iter(f"{SVG}g"):
        sizes = group.find(f"{SVG}rect").attrib
        x, y, width, height = (float(sizes[name]) for name in ("x", "y", "width", "height"))
        found[group.find(f"{SVG}text").text] = (x, y, x + width, y + height)
    return found


def points(path):
    """Return points along an SVG path of M, V and C."""
    found = []
    for command, numbers in re.findall(r"([MVC])([^MVC]*)", path):
        values = [float(number) for number in numbers.split()]
        if command == "C":
            (x, y), (a, b, c, d, e, f) = found[-1], values
            for step in range(1, STEPS + 1):
                t = step / STEPS
                s = 1 - t
                mix = (s**3, 3 * s * s * t, 3 * s * t * t, t**3)
                found.append(
                    tuple(sum(m * v for m, v in zip(mix, vs, strict=True)) for vs in ((x, a, c, e), (y, b, d, f)))
                )
        elif command == "V":
            x, y = found[-1]
            found += [(x, y + (values[0] - y) * step / STEPS) for step in range(1, STEPS + 1)]
        else:
            found.append(tuple(values))
    return found


def arrows(root):
    """Return first box, last box, and points, of every arrow."""
    paths = [path for path in root.iter(f"{SVG}path") if path.get("class") == "arrow"]
    return [(*path.find(f"{SVG}title").text.split(" → "), points(path.get("d"))) for path in paths]


def inside(point, box, margin):
    (x, y), (left, top, right, bottom) = point, box
    return left + margin < x < right - margin and top + margin < y < bottom - margin


@pytest.mark.parametrize("name", CONFS)
@pytest.mark.quick_rows(every=3)
def test_every_box_and_every_arrow_is_there(name):
    conf = CONFS[name]
    root = ElementTree.fromstring(svg_of(diagram_of(conf)))
    names = [*conf.input_names, *(getattr(node.conf, "name", None) or node.name for node in conf.nodes)]
    assert sorted(rectangles(root)) == sorted(names)
    expected = [
        (names[len(conf.input_names) + source if source >= 0 else -1 - source], names[len(conf.input_names) + number])
        for number, node in enumerate(conf.nodes)
        for source in sources_of(node)
    ]
    assert sorted((first, last) for first, last, _ in arrows(root)) == sorted(expected)


@pytest.mark.parametrize("name", CONFS)
@pytest.mark.quick_rows(every=3)
def test_no_box_overlaps_another_or_leaves_the_picture(name):
    root = ElementTree.fromstring(svg_of(diagram_of(CONFS[name])))
    boxes = list(rectangles(root).values())
    for number, (left, top, right, bottom) in enumerate(boxes):
        assert 0 < left < right < float(root.get("width"))
        assert 0 < top < bottom < float(root.get("height"))
        for other in boxes[:number]:
            assert right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top


@pytest.mark.parametrize("name", CONFS)
@pytest.mark.quick_rows(every=3)
def test_arrows_go_from_box_to_box_downwards_and_behind_none(name):
    root = ElementTree.fromstring(svg_of(diagram_of(CONFS[name])))
    boxes = rectangles(root)
    for first, last, way in arrows(root):
        assert way[0][1] == pytest.approx(boxes[first][3], abs=0.2)
        assert way[-1][1] == pytest.approx(boxes[last][1], abs=0.2)
        assert boxes[last][0] < way[-1][0] < boxes[last][2]
        assert all(before[1] <= after[1] + 1e-9 for before, after in pairwise(way))
        for box in boxes.values():
            assert not any(inside(point, box, 0.2) for point in way)


@pytest.mark.parametrize("make", [residual, dense_of_all_before, chain, lambda: at_random(3)])
def test_the_same_network_gives_the_same_text(make):
    for text_of in (svg_of, dot_of):
        assert text_of(diagram_of(make())) == text_of(diagram_of(make()))


# ---- what stands in the boxes


def lines_of(conf, name):
    return next(box.lines for box in diagram_of(conf).boxes if box.name == name)


def test_boxes_tell_types_shapes_and_parameters():
    conf = CONFS["chain"]
    assert lines_of(conf, "input") == ("input", "[N, 784]")
    assert lines_of(conf, "layer0") == (
        "behind FeedForwardToCnnPreProcessor", "ConvolutionLayer: 5x5, ReLU", "[N, 4, 24, 24]", "104 parameters"
    )  # fmt: skip
    assert lines_of(conf, "layer1") == ("SubsamplingLayer: max, 2x2, stride 2x2", "[N, 4, 12, 12]")
    assert lines_of(conf, "layer2")[1:] == ("FrozenLayer of DenseLayer: Sigmoid", "[N, 7]", "4,039 parameters")
    assert lines_of(CONFS["residual"], "sum0") == ("ElementWiseVertex: add", "[N, 3, 6, 6]")


def test_a_layer_that_applies_no_activation_shows_none():
    conf = conf_of({"n": (BatchNormalization(), "x")}, {"x": InputType.feed_forward(3)}, "n")
    assert lines_of(conf, "n") == ("BatchNormalization", "[N, 3]", "12 parameters")


def test_boxes_show_kinds_outputs_and_what_is_frozen():
    diagram = diagram_of(CONFS["chain"])
    assert [box.kind for box in diagram.boxes] == ["input", "layer", "layer", "layer", "layer"]
    assert [box.is_output for box in diagram.boxes] == [False, False, False, False, True]
    assert [box.is_frozen for box in diagram.boxes] == [False, False, False, True, False]
    root = ElementTree.fromstring(svg_of(diagram))
    classes = [group.get("class") for group in root.iter(f"{SVG}g")]
    assert classes == ["box input", "box layer", "box layer", "box layer frozen", "box layer output"]


def test_shapes_are_left_out_where_they_are_not_known():
    conf = conf_of({"a": (DenseLayer(n_in=2, n_out=3), "x"), "y": (OutputLayer(n_in=3, n_out=2), "a")}, ["x"], "y")
    assert lines_of(conf, "x") == ("input",)
    assert lines_of(conf, "a") == ("DenseLayer: Sigmoid", "9 parameters")
    series = conf_of({"y": (MergeVertex(), "s", "s")}, {"s": InputType.recurrent(3)}, "y")
    assert lines_of(series, "y") == ("MergeVertex", "[N, 6, T]")


def awful():
    nodes = {AWFUL: (DenseLayer(n_out=3), "x"), "y" * 200: (OutputLayer(n_out=2), AWFUL)}
    return conf_of(nodes, {"x": InputType.feed_forward(2)}, "y" * 200)


def test_names_of_any_letters_are_escaped():
    root = ElementTree.fromstring(svg_of(diagram_of(awful())).encode())
    shown = AWFUL.replace("\x00", "�").replace("\x0b", "�").replace("\ud800", "�")
    assert sorted(rectangles(root)) == sorted(["x", shown, "y" * 47 + "…"])
    titles = [title.text.splitlines()[0] for title in root.iter(f"{SVG}title")]
    assert "y" * 200 in titles  # whole, where the mouse rests on it
    text = dot_of(diagram_of(awful()))
    assert "<&\\\"'> ]]> \\\\ ���" in text
    assert text.encode()


# ---- Graphviz


def test_graphviz_text_has_every_box_and_every_arrow():
    diagram = diagram_of(CONFS["residual"])
    text = dot_of(diagram)
    assert text.startswith("digraph network {\n")
    assert text.endswith("}\n")
    labels = re.findall(r'^  n\d+ \[label="((?:[^"\\]|\\.)*)"', text, re.MULTILINE)
    assert [label.split("\\n")[0] for label in labels] == [box.name for box in diagram.boxes]
    found = [(int(first), int(last)) for first, last in re.findall(r"^  n(\d+) -> n(\d+);$", text, re.MULTILINE)]
    assert found == list(diagram.arrows)


# ---- files


def test_pictures_in_files(tmp_path):
    graph = ComputationGraph(CONFS["residual"])  # not initialised: no parameters are needed
    graph.picture(tmp_path / "graph.svg")
    assert (tmp_path / "graph.svg").read_text(encoding="utf-8") == svg_of(diagram_of(graph.conf))
    graph.picture(str(tmp_path / "graph.DOT"))
    assert (tmp_path / "graph.DOT").read_text(encoding="utf-8") == dot_of(diagram_of(graph.conf))
    stream = io.BytesIO()
    MultiLayerNetwork(CONFS["chain"]).picture(stream)
    assert stream.getvalue().startswith(b"<svg ")
    stream = io.BytesIO()
    MultiLayerNetwork(CONFS["chain"]).picture(stream, kind="gv")
    assert stream.getvalue().startswith(b"digraph ")


@pytest.mark.parametrize(("name", "ending"), [("graph.png", "'png'"), ("graph", "''")])
def test_other_endings_are_refused(tmp_path, name, ending):
    graph = ComputationGraph(CONFS["residual"])
    with pytest.raises(nd.ChoiceError, match=rf"picture: .*{ending}"):
        graph.picture(tmp_path / name)
    assert not list(tmp_path.iterdir())


# ---- the layout


def test_boxes_lie_below_all_that_they_read_and_inputs_just_above_their_readers():
    layout = layout_of([100.0] * 5, [(0, 1), (1, 2), (2, 4), (3, 4), (0, 4)])
    rows = {slot.box: slot.row for row in layout.rows for slot in row if not slot.passes}
    assert rows == {0: 0, 1: 1, 2: 2, 3: 2, 4: 3}
    assert [slot.row for slot in layout.ways[-1]] == [0, 1, 2, 3]
    assert [slot.passes for slot in layout.ways[-1]] == [False, True, True, False]


def test_two_pairs_that_would_cross_do_not():
    layout = layout_of([100.0] * 6, [(0, 3), (1, 2), (2, 4), (3, 5)])
    x = {slot.box: place for slot, place in layout.middles.items()}
    assert (x[0] < x[1]) == (x[3] < x[2]) == (x[5] < x[4])


def test_a_chain_is_straight():
    layout = layout_of([50.0, 90.0, 200.0, 10.0], [(0, 1), (1, 2), (2, 3)])
    assert {round(place, 9) for place in layout.middles.values()} == {0.0}
