"""Vertices as they are configured: Java's spellings, what is refused and with which words, and the types they give."""

import dataclasses

import numpy as np
import pytest

import nd
import nn.dl4j  # noqa: F401  whose names are asked for here
from nn import (
    AttentionVertex,
    CnnToFeedForwardPreProcessor,
    DenseLayer,
    DuplicateToTimeSeriesVertex,
    ElementWiseVertex,
    FrozenVertex,
    InputType,
    L2NormalizeVertex,
    L2Vertex,
    LastTimeStepVertex,
    LayerVertex,
    MergeVertex,
    NeuralNetConfiguration,
    PoolHelperVertex,
    PreprocessorVertex,
    ReshapeVertex,
    ReverseTimeSeriesVertex,
    ScaleVertex,
    ShiftVertex,
    StackVertex,
    SubsetVertex,
    UnstackVertex,
)
from nn.vertices import NetworkInput, VertexContext
from optimize import Adam, L2Regularization
from tests.cells import every_row

FF, RNN = InputType.feed_forward, InputType.recurrent
IMAGES, FLAT = InputType.convolutional(4, 3, 2), InputType.convolutional_flat(4, 3, 2)
PROJECTED = AttentionVertex(n_out=4, n_heads=2, project_input=True)


def run(vertex, *xs, masks=None, network=None):
    """Return the activations of inputs of these shapes."""
    runtime = vertex.runtime(vertex, "vertex 'v'", "float32")
    ctx = VertexContext(
        True, nd.fresh_buffers("float32"), masks or (None,) * len(xs), (True,) * len(xs), network or {}, None
    )
    return runtime.propagate([nd.zeros(*shape) for shape in xs], (), {}, ctx)[0]


@every_row(
    ("one", "other"),
    [
        (ElementWiseVertex("add"), ElementWiseVertex(ElementWiseVertex.Op.Add)),
        (ElementWiseVertex("Max"), ElementWiseVertex.Builder().op("max").build()),
        (SubsetVertex(1, 3), SubsetVertex.Builder(1, 3).build()),
        (UnstackVertex(0, 2), UnstackVertex.Builder().stackSize(2).from_(0).build()),
        (ReshapeVertex(-1, 12), ReshapeVertex([-1, 12])),
        (ReshapeVertex(-1, 12), ReshapeVertex("c", [-1, 12], None)),
        (ReshapeVertex(-1, 12), ReshapeVertex.Builder().newShape(-1, 12).build()),
        (ReshapeVertex("f", [-1, 12], [-1, 1]), ReshapeVertex(-1, 12, reshape_order="f", mask_shape=(-1, 1))),
        (ShiftVertex(), ShiftVertex(0)),
        (L2NormalizeVertex([1], 1e-8), L2NormalizeVertex((1,))),
        (L2NormalizeVertex([]), L2NormalizeVertex(None, 1e-8)),
        (LastTimeStepVertex("in"), LastTimeStepVertex.Builder().maskArrayInputName("in").build()),
        (ReverseTimeSeriesVertex(), ReverseTimeSeriesVertex(None)),
        (
            AttentionVertex(n_in_keys=3, n_in_values=3, n_in_queries=2, n_out=4, n_heads=2, project_input=True),
            AttentionVertex.Builder().nInKeys(3).nInValues(3).nInQueries(2).nOut(4).nHeads(2).headSize(2)
            .projectInput(True).weightInit("XAVIER").build(),
        ),
        (
            LayerVertex(DenseLayer(n_out=2)),
            LayerVertex(NeuralNetConfiguration.Builder().seed(1).layer(DenseLayer(n_out=2)).build()),
        ),
    ],
)  # fmt: skip
def test_java_spells_the_same(one, other):
    assert one == other
    assert dataclasses.replace(one) == one


def test_getters_have_javas_names():
    assert SubsetVertex(1, 3).getFrom() == 1
    assert LastTimeStepVertex("in").getMaskArrayInputName() == "in"
    assert PreprocessorVertex(CnnToFeedForwardPreProcessor(4, 3, 2)).getPreProcessor().image == (2, 4, 3)
    assert ElementWiseVertex("subtract").getOp() == ElementWiseVertex.Op.Subtract


@every_row(
    ("make", "error", "words"),
    [
        (lambda: ElementWiseVertex("divide"), nd.ChoiceError, "op 'divide', expected one of add, average, max"),
        (lambda: ElementWiseVertex(3), nd.NdError, "ElementWiseVertex: op must be text, got 3"),
        (lambda: SubsetVertex(3, 1), nd.ConfigurationError, "to must be at least from, 3, got 1"),
        (lambda: SubsetVertex(-1, 1), nd.NdError, "from_ must be an integer >= 0, got -1"),
        (lambda: UnstackVertex(2, 2), nd.ConfigurationError, "below stack_size 2, got 2"),
        (lambda: UnstackVertex(0, 0), nd.NdError, "stack_size must be an integer >= 1, got 0"),
        (lambda: ReshapeVertex(-1, 0), nd.ConfigurationError, r"new_shape must be sizes >= 1, .* got \[-1, 0\]"),
        (lambda: ReshapeVertex(-1, -1), nd.ConfigurationError, "-1 at most once"),
        (lambda: ReshapeVertex(-1), nd.ConfigurationError, r"must have 2 to 5 sizes, got \[-1\]"),
        (lambda: ReshapeVertex(), nd.ConfigurationError, r"must have 2 to 5 sizes, got \[\]"),
        (lambda: ReshapeVertex("a", [-1, 2]), nd.ChoiceError, "reshape_order 'a', expected one of c, f"),
        (lambda: ReshapeVertex(-1, 2.5), nd.NdError, "ReshapeVertex: new_shape must be"),
        (lambda: ReshapeVertex(-1, 2, mask_shape=[]), nd.ConfigurationError, "mask_shape must have 1 to 5 sizes"),
        (lambda: ScaleVertex("2"), nd.NdError, "scale_factor must be a number, got '2'"),
        (lambda: ScaleVertex(float("nan")), nd.NdError, "scale_factor must be a number, got nan"),
        (lambda: L2Vertex(-1.0), nd.NdError, "eps must be a number >= 0, got -1.0"),
        (lambda: L2NormalizeVertex([1, 1]), nd.ConfigurationError, r"name every axis once, got \[1, 1\]"),
        (lambda: L2NormalizeVertex([0]), nd.NdError, "dimension must be"),
        (lambda: MergeVertex(0), nd.NdError, "merge_axis must be an integer >= 1, got 0"),
        (lambda: PreprocessorVertex("rows"), nd.NdError, "preprocessor must be"),
        (lambda: LastTimeStepVertex(None), nd.NdError, "mask_array_input must be text, got None"),
        (lambda: FrozenVertex(DenseLayer(n_out=2)), nd.NdError, "underlying must be"),
        (lambda: FrozenVertex(LayerVertex(DenseLayer(n_out=2))), nd.ConfigurationError, "with FrozenLayer"),
        (lambda: FrozenVertex(FrozenVertex(StackVertex())), nd.ConfigurationError, "Once will do"),
        (lambda: LayerVertex(StackVertex()), nd.NdError, "layer must be a LayerConf, got StackVertex"),
        (lambda: AttentionVertex(n_heads=2), nd.ConfigurationError, "n_heads must be 1 .* got 2. Set project_input"),
        (
            lambda: AttentionVertex(n_out=5, n_heads=2, project_input=True),
            nd.ConfigurationError,
            "multiple of n_heads 2",
        ),
        (lambda: AttentionVertex(n_out=5, weight_init="best"), nd.ChoiceError, "weight_init 'best'"),
        (lambda: AttentionVertex.Builder().nIn(5), nd.ChoiceError, "AttentionVertex.Builder: .* 'n_in'"),
    ],
)
def test_a_field_that_cannot_be_is_refused(make, error, words):
    with pytest.raises(error, match=words):
        make()


@every_row(
    ("vertex", "given", "expected"),
    [
        (MergeVertex(), (FF(3), FF(4)), FF(7)),
        (MergeVertex(), (RNN(3), RNN(4, 5)), RNN(7, 5)),
        (MergeVertex(2), (RNN(3, 5), RNN(3, 4)), RNN(3, 9)),
        (MergeVertex(2), (RNN(3), RNN(3, 4)), RNN(3)),
        (MergeVertex(), (IMAGES, InputType.convolutional(4, 3, 5)), InputType.convolutional(4, 3, 7)),
        (MergeVertex(), (FLAT,), FLAT),
        (ElementWiseVertex("add"), (FF(1), FF(4)), FF(4)),
        (ElementWiseVertex("add"), (RNN(4), RNN(1, 5)), RNN(4, 5)),
        (ElementWiseVertex("add"), (RNN(4), RNN(4, 1)), RNN(4)),
        (ElementWiseVertex("add"), (FLAT, FLAT), FLAT),
        (ElementWiseVertex("add"), (IMAGES, InputType.convolutional(1, 1, 2)), IMAGES),
        (SubsetVertex(1, 1), (IMAGES,), InputType.convolutional(4, 3, 1)),
        (SubsetVertex(1, 2), (RNN(3, 6),), RNN(2, 6)),
        (StackVertex(), (RNN(3, 6), RNN(3, 8)), RNN(3, 8)),
        (StackVertex(), (RNN(3, 6), RNN(3)), RNN(3)),
        (UnstackVertex(0, 2), (IMAGES,), IMAGES),
        (L2Vertex(), (IMAGES, IMAGES), FF(1)),
        (ReshapeVertex(-1, 24), (IMAGES,), FF(24)),
        (ReshapeVertex(-1, 2, 3, 2, 2), (FF(24),), InputType.convolutional3d(3, 2, 2, 2)),
        (ReshapeVertex(2, 4, -1), (RNN(4),), RNN(4)),
        (LastTimeStepVertex("in"), (RNN(4, 5),), FF(4)),
        (DuplicateToTimeSeriesVertex("in"), (FLAT,), RNN(24)),
        (PoolHelperVertex(), (IMAGES,), InputType.convolutional(3, 2, 2)),
        (FrozenVertex(ScaleVertex(2.0)), (RNN(4, 5),), RNN(4, 5)),
        (LayerVertex(DenseLayer(n_in=24, n_out=2), CnnToFeedForwardPreProcessor(4, 3, 2)), (IMAGES,), FF(2)),
    ],
)
def test_the_type_of_the_activations(vertex, given, expected):
    assert vertex.output_type("vertex 'v'", given) == expected


@every_row(
    ("vertex", "given", "words"),
    [
        (MergeVertex(), (FF(3), RNN(3)), "vertex 'v': inputs must be of one kind, got"),
        (MergeVertex(), (FLAT, FLAT), "no channels to merge, got convolutional_flat"),
        (
            MergeVertex(),
            (IMAGES, InputType.convolutional(5, 3, 2)),
            "examples: inputs must have one shape but for axis 0",
        ),
        (ElementWiseVertex("add"), (FF(3), RNN(3)), "inputs must be of one kind"),
        (ElementWiseVertex("add"), (FF(3), FF(4)), r"examples: inputs must have one shape.*got \[3\], \[4\]"),
        (SubsetVertex(1, 4), (FF(4),), "from 1 to 4 must be among the 4 channels of the input, 0 to 3"),
        (SubsetVertex(1, 4), (FLAT,), "have no channels, got convolutional_flat"),
        (StackVertex(), (FF(3), FF(4)), "inputs must be of one type, got"),
        (StackVertex(), (RNN(3), RNN(4)), "inputs must be of one type, got"),
        (ReshapeVertex(-1, 25), (IMAGES,), r"as many numbers in an example as convolutional\(4x3x2\), 24, got 25"),
        (ReshapeVertex(4, -1), (IMAGES,), "must give every size of an example"),
        (ReshapeVertex(4, -1, 2), (RNN(4),), "must give every size of an example"),
        (L2NormalizeVertex([2]), (FF(4),), r"dimension must be axes of the input, 1 to 1, got \[2\]"),
        (LastTimeStepVertex("in"), (FF(4),), r"expected time series, got feed_forward\(4\)"),
        (ReverseTimeSeriesVertex(), (FF(4),), r"expected time series, got feed_forward\(4\)"),
        (DuplicateToTimeSeriesVertex("in"), (RNN(4),), r"expected rows, got recurrent\(4\)"),
        (PoolHelperVertex(), (FF(4),), r"expected images of at least 2 x 2, got feed_forward\(4\)"),
        (PROJECTED, (RNN(4),) * 3, "n_in_keys is missing. Give it, or the network's input types"),
        (AttentionVertex(n_in_keys=2, n_in_values=2, n_in_queries=3, n_out=2), (RNN(4),) * 3, "Set project_input"),
    ],
)
def test_inputs_of_another_type_are_refused(vertex, given, words):
    with pytest.raises(nd.NdError, match=words):
        vertex.output_type("vertex 'v'", given)


@every_row(
    ("vertex", "shapes", "words"),
    [
        (
            MergeVertex(),
            ((2, 3), (3, 3)),
            r"vertex 'v': inputs must have one shape but for axis 1, got \[2, 3\], \[3, 3\]",
        ),
        (MergeVertex(2), ((2, 3), (2, 3)), "but for axis 2"),
        (ElementWiseVertex("add"), ((2, 3), (2, 4)), r"but for axes of length 1, got \[2, 3\], \[2, 4\]"),
        (ElementWiseVertex("add"), ((2, 3), (2, 3, 1)), r"got \[2, 3\], \[2, 3, 1\]"),
        (SubsetVertex(1, 3), ((2, 3),), "must be among the 3 channels"),
        (StackVertex(), ((2, 3), (2, 4)), "examples must have one shape, but for the length of series"),
        (UnstackVertex(0, 2), ((3, 4),), "examples must be a multiple of stack_size 2, got 3"),
        (L2Vertex(), ((3, 4), (3, 5)), r"one shape \[N, ...\], got \[3, 4\] and \[3, 5\]"),
        (ReshapeVertex(-1, 6), ((2, 3),), r"must keep the 2 examples of the input \[2, 3\], got 1"),
        (ReshapeVertex(2, 5), ((2, 3),), r"input must fit into the shape \[2, 5\], got \[2, 3\]"),
        (PoolHelperVertex(), ((2, 3),), r"expected images \[N, C, H, W\] of at least 2 x 2, got \[2, 3\]"),
        (ReverseTimeSeriesVertex(), ((2, 3),), r"expected time series \[N, C, T\], got \[2, 3\]"),
        (LastTimeStepVertex("in"), ((2, 3, 4),), r"the network must have an input 'in', got \[\]"),
        (PreprocessorVertex(CnnToFeedForwardPreProcessor(4, 3, 2)), ((2, 5),), "vertex 'v': CnnToFeedForwardPreProc"),
    ],
)
def test_inputs_of_another_shape_are_refused(vertex, shapes, words):
    with pytest.raises(nd.NdError, match=words):
        run(vertex, *shapes)


def test_the_input_that_a_vertex_looks_at_must_fit():
    rows, short = NetworkInput(nd.zeros(2, 3), None), NetworkInput(nd.zeros(2, 3, 4), nd.ones(2, 3))
    with pytest.raises(nd.ShapeError, match=r"as the network's input 'in', got \[2, 3\] and \[2, 3\]"):
        run(DuplicateToTimeSeriesVertex("in"), (2, 3), network={"in": rows})
    with pytest.raises(nd.ShapeError, match=r"mask: expected \[2, 4\], got \[2, 3\]"):
        run(LastTimeStepVertex("in"), (2, 3, 4), network={"in": short})


def test_attention_says_which_input_or_mask_does_not_fit():
    vertex = AttentionVertex().with_inputs("vertex 'v'", [RNN(3)] * 3)
    with pytest.raises(nd.ShapeError, match=r"vertex 'v': values: expected \[2, 3, 5\], got \[2, 3, 4\]"):
        run(vertex, (2, 3, 4), (2, 3, 5), (2, 3, 4))
    with pytest.raises(nd.ShapeError, match=r"mask of the keys: expected \[2, 5\], got \[2, 4\]"):
        run(vertex, (2, 3, 4), (2, 3, 5), (2, 3, 5), masks=(None, nd.ones(2, 4), None))
    with pytest.raises(nd.ConfigurationError, match="n_in_queries must be 4, the size of what comes in, got 3"):
        AttentionVertex(n_in_queries=3).with_inputs("vertex 'v'", [RNN(4)] * 3)


def test_a_mask_that_cannot_become_another_is_refused():
    vertex = ReshapeVertex(-1, 18)
    runtime = vertex.runtime(vertex, "vertex 'v'", "float32")
    ctx = VertexContext(True, nd.fresh_buffers("float32"), (None,), (True,), {})
    with pytest.raises(nd.ShapeError, match=r"mask_shape must say what becomes of a mask \[2, 6\]"):
        runtime.feed_forward_mask((nd.ones(2, 6),), ctx)


@pytest.mark.parametrize(
    ("vertex", "count", "words"),
    [
        (ElementWiseVertex("subtract"), 3, r"vertex 'v': expected 1 to 2 input\(s\), got 3"),
        (L2Vertex(), 1, r"expected 2 input\(s\), got 1"),
        (ScaleVertex(2.0), 2, r"expected 1 input\(s\), got 2"),
        (FrozenVertex(L2Vertex()), 3, r"expected 2 input\(s\), got 3"),
        (AttentionVertex(), 1, r"expected 3 input\(s\), got 1"),
        (MergeVertex(), 0, r"expected at least 1 input\(s\), got 0"),
    ],
)
def test_other_numbers_of_inputs_are_refused(vertex, count, words):
    with pytest.raises(nd.ConfigurationError, match=words):
        vertex.check_inputs("vertex 'v'", count)


def test_attention_takes_the_networks_updater_and_penalties():
    defaults = NeuralNetConfiguration(updater=Adam(0.1), l2=0.5, gradient_normalization="clip_l2_per_layer")
    vertex = PROJECTED.resolved(defaults, 0)
    assert vertex.updater_of(False) == Adam(0.1)
    assert vertex.regularization_of(False) == (L2Regularization(0.5),)
    assert vertex.regularization_of(True) == ()
    assert vertex.gradient_normalization == "clip_l2_per_layer"
    frozen = FrozenVertex(PROJECTED).resolved(defaults, 0)
    assert frozen.regularization_of(False) == ()
    assert [spec.trainable for spec in frozen.param_specs()] == [False] * len(frozen.param_specs())


def test_parameters_of_attention_lie_as_in_java():
    vertex = PROJECTED.with_inputs("vertex 'v'", [RNN(3), RNN(5), RNN(6)])
    assert vertex.param_shapes() == {"Wq": (2, 2, 3), "Wk": (2, 2, 5), "Wv": (2, 2, 6), "Wo": (4, 4)}
    fans = [(spec.fan_in, spec.fan_out, spec.order) for spec in vertex.param_specs()]
    assert fans == [(3, 2, "c"), (5, 2, "c"), (6, 2, "c"), (4, 4, "c")]


def test_a_frozen_vertex_takes_as_many_inputs_as_the_one_in_it():
    frozen = FrozenVertex(ElementWiseVertex("add"))
    nodes = {"v": (frozen, "a", "b"), "same": (ScaleVertex(1.0), "v")}
    conf = NeuralNetConfiguration().graph({"a": FF(3), "b": FF(3)}, nodes, ["same"])
    assert conf.vertex_inputs["v"] == ("a", "b")
    assert (FrozenVertex(L2Vertex()).fewest_inputs, FrozenVertex(L2Vertex()).most_inputs) == (2, 2)


def test_the_networks_inputs_that_vertices_look_at():
    assert FrozenVertex(LastTimeStepVertex("in")).network_inputs == ("in",)
    assert ReverseTimeSeriesVertex().network_inputs == MergeVertex().network_inputs == ()


# ---- numbers at the border


def epsilon_of(vertex, x, weights):
    runtime = vertex.runtime(vertex, "vertex 'v'", "float64")
    xs = x if isinstance(x, list) else [x]
    ctx = VertexContext(True, nd.fresh_buffers("float64"), (None,) * len(xs), (True,) * len(xs), {})
    a, kept, _ = runtime.propagate([nd.create(x) for x in xs], (), {}, ctx)
    return nd.to_host(a), [nd.to_host(e) for e in runtime.backpropagate(nd.create(weights), kept, {})]


def test_the_first_of_equal_maxima_gets_the_gradient():
    xs = [np.array([[1.0, 2.0, 3.0]]), np.array([[1.0, 3.0, 3.0]]), np.array([[0.0, 3.0, 3.0]])]
    a, below = epsilon_of(ElementWiseVertex("max"), xs, np.array([[5.0, 6.0, 7.0]]))
    assert a.tolist() == [[1.0, 3.0, 3.0]]
    assert [e.tolist() for e in below] == [[[5.0, 0.0, 7.0]], [[0.0, 6.0, 0.0]], [[0.0, 0.0, 0.0]]]


@pytest.mark.parametrize("size", [1e-5, 1e-10, 0.0])
def test_short_vectors_have_the_gradient_of_what_is_computed(size):
    """Above eps that of x / |x|, though |x| ** 3 lies below it; else that of x / eps."""
    x, weights = size * np.array([[3.0, 4.0]]), np.array([[1.0, -2.0]])
    _, (below,) = epsilon_of(L2NormalizeVertex(), x, weights)
    u = np.array([[0.6, 0.8]])
    expected = (weights - u * (weights * u).sum()) / (5 * size) if size == 1e-5 else weights / 1e-8
    np.testing.assert_allclose(below, expected, rtol=1e-9)


def test_the_distance_of_equal_inputs_has_no_gradient():
    x = np.ones((2, 3))
    a, below = epsilon_of(L2Vertex(), [x, x], np.ones((2, 1)))
    assert not a.any()
    assert not np.any(below)
