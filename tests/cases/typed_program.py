"""Types that a program sees. `tests.typed_blocks` has checkers read it; nothing runs it."""

from __future__ import annotations

from typing import assert_type

import numpy as np

import nd
import nn
from nd.dataset import DataSet, IrisDataSetIterator, SequenceRecordReaderDataSetIterator
from nd.dataset.sequence_reader import CSVSequenceRecordReader
from nd.evaluation import ROC, Evaluation, IEvaluation
from nd.typing import Array
from nn import (
    ComputationGraph,
    ComputationGraphConfiguration,
    DenseLayer,
    LayerRuntime,
    MultiLayerConfiguration,
    MultiLayerNetwork,
)
from optimize.earlystopping import EarlyStoppingConfiguration, EarlyStoppingTrainer


def takes(x: Array) -> None: ...


def arrays(net: MultiLayerNetwork, doubles: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> None:
    """NumPy's are arrays, of every type; those of a network have what arrays of all libraries have."""
    takes(doubles)  # pyright: ignore[reportArgumentType]  # it loses its way in the overloads of NumPy's operators
    takes(np.zeros(3, np.float32))  # pyright: ignore[reportArgumentType]
    takes(np.arange(3))  # pyright: ignore[reportArgumentType]
    out = net.output(doubles)
    takes(out)
    classes = out.argmax(1)
    print(classes.tolist(), out.argmax(), out.max(), out.mean(), out.sum(), out[0, 0].item(), len(out))
    assert (out == net.output(doubles)).all()
    assert_type(nd.to_host(out), np.ndarray)


def networks(chain: MultiLayerNetwork, graph: ComputationGraph, iris: IrisDataSetIterator) -> None:
    assert_type(nn.load("model.zip"), MultiLayerNetwork | ComputationGraph)
    assert_type(MultiLayerNetwork.load("model.zip"), MultiLayerNetwork)
    assert_type(chain.clone(), MultiLayerNetwork)
    assert_type(graph.init(), ComputationGraph)
    assert_type(chain.conf, MultiLayerConfiguration)
    assert_type(graph.configuration, ComputationGraphConfiguration)
    assert_type(graph.get_layer("first"), LayerRuntime)
    assert_type(DenseLayer(n_out=3), DenseLayer)
    assert_type(chain.predict(iris.next()), list[str])
    assert_type(chain.predict(np.zeros((1, 4))), Array)
    EarlyStoppingTrainer(EarlyStoppingConfiguration(), chain, iris)
    EarlyStoppingTrainer(EarlyStoppingConfiguration(), graph, iris)


def evaluations(chain: MultiLayerNetwork, iris: IrisDataSetIterator) -> None:
    assert_type(chain.evaluate(iris), Evaluation)
    assert_type(chain.do_evaluation(iris, Evaluation(), ROC()), tuple[Evaluation, ROC])
    assert_type(chain.do_evaluation(iris, {"kind": Evaluation()}), tuple[IEvaluation, ...])
    assert_type(chain.do_evaluation(iris, {0: [Evaluation(), ROC()]}), tuple[IEvaluation, ...])


def data(reader: CSVSequenceRecordReader) -> None:
    assert_type(SequenceRecordReaderDataSetIterator(reader, alignment_mode="align_end").next(), DataSet)
