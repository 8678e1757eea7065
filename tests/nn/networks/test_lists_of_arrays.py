"""Several features and labels as lists of arrays, where a MultiDataSet could stand."""

from dataclasses import replace

import numpy as np
import pytest

import nd
from nn import ComputationGraph
from nn.dl4j import GradientCheckUtil
from tests.optimize.graphs_at_work import DATA, FEATURES, LABELS, graph, host


@pytest.mark.parametrize("settings", [{}, {"batch_size": 6}, {"batch_size": 7, "shuffle": False}])
def test_fit(settings):
    lists, sets = graph(), graph()
    lists.fit(FEATURES, LABELS, epochs=2, **settings)
    sets.fit(DATA, epochs=2, **settings)
    assert host(lists.params()).tobytes() == host(sets.params()).tobytes()


def test_scores_and_evaluations():
    net = graph()
    assert net.score((FEATURES, LABELS)) == net.score(DATA)
    assert net.evaluate(FEATURES, LABELS).stats() == net.evaluate(DATA).stats()
    assert net.f1_score(FEATURES, LABELS) == net.f1_score(DATA) == net.evaluate(DATA).f1()
    assert host(net.predict(FEATURES)).tolist() == host(net.output(*FEATURES)[0]).argmax(1).tolist()


def test_validation():
    histories = [
        graph().fit(DATA, batch_size=6, validation_data=data)
        for data in (DATA, (FEATURES, LABELS), [DATA], (FEATURES, LABELS, np.ones(20)))
    ]
    for history in histories[1:]:
        np.testing.assert_allclose(history.validation_score, histories[0].validation_score, rtol=1e-6)
        assert history.validation_accuracy == histories[0].validation_accuracy


def test_texts_are_learned_for_the_output_that_has_classes():
    net = graph()
    texts = np.array(["blue", "green", "red"])[LABELS[0].argmax(1)]
    net.fit(FEATURES, [texts, LABELS[1]])
    plain = graph()
    plain.fit(DATA)
    assert net.class_names == ("blue", "green", "red")
    assert host(net.params()).tobytes() == host(plain.params()).tobytes()
    assert net.predict_labels(FEATURES)[0] in net.class_names


@pytest.mark.parametrize("pair", [(FEATURES[0], LABELS), (FEATURES, LABELS[0]), (FEATURES, LABELS[:1])])
def test_too_few_arrays(pair):
    with pytest.raises(nd.DataError, match=r"fit: expected a list of 2 features and a list of 2 labels, got"):
        graph().fit(*pair)


def without_dropout(conf):
    return replace(conf, drop_out=None) if hasattr(conf, "drop_out") else conf


@pytest.mark.parametrize("label_mask", [None, [np.array([[1.0], [0.0], [1.0]]), None]])
@pytest.mark.quick_rows(1)
def test_gradients_of_a_graph_by_javas_check(label_mask):
    conf = graph(dtype="float64").conf
    net = ComputationGraph(conf.with_confs([without_dropout(node.conf) for node in conf.nodes])).init()
    few = DATA.get_range(0, 3)
    check = GradientCheckUtil.GraphConfig().net(net).inputs(few.features).labels(few.labels).labelMask(label_mask)
    assert GradientCheckUtil.checkGradients(check.subset(True))
    assert not GradientCheckUtil.checkGradients(check.epsilon(0.5).print("failures_only"))
