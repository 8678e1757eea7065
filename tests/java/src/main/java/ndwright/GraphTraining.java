package ndwright;

import java.util.Arrays;
import org.deeplearning4j.nn.graph.ComputationGraph;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.dataset.MultiDataSet;

/** What is done with every graph; on copies of the data, as some layers write into their input. */
final class GraphTraining {
    private GraphTraining() {}

    static INDArray[] outputs(ComputationGraph graph, MultiDataSet data) {
        return graph.output(
                false, copy(data).getFeatures(), data.getFeaturesMaskArrays(), data.getLabelsMaskArrays());
    }

    /** With features of its own; the one of MultiDataSet fails where some have a mask. */
    private static MultiDataSet copy(MultiDataSet data) {
        INDArray[] features = Arrays.stream(data.getFeatures()).map(INDArray::dup).toArray(INDArray[]::new);
        return new MultiDataSet(
                features, data.getLabels(), data.getFeaturesMaskArrays(), data.getLabelsMaskArrays());
    }

    /** The score of data that the graph is not trained on. */
    static double score(ComputationGraph graph, MultiDataSet data) {
        return graph.score(copy(data), false);
    }

    /** The gradient of the minibatch's summed loss, without regularisation. */
    static INDArray gradient(ComputationGraph graph, MultiDataSet data) {
        graph.setInputs(copy(data).getFeatures());
        graph.setLabels(data.getLabels());
        graph.setLayerMaskArrays(data.getFeaturesMaskArrays(), data.getLabelsMaskArrays());
        graph.computeGradientAndScore();
        INDArray gradient = graph.gradient().gradient().dup();
        graph.clearLayerMaskArrays();
        return gradient;
    }

    /** Trains, an epoch every two steps; returns the score of each step. */
    static double[] fit(ComputationGraph graph, MultiDataSet data, int steps) {
        double[] scores = new double[steps];
        for (int step = 0; step < steps; step++) {
            graph.fit(copy(data));
            scores[step] = graph.score();
            if (step % 2 == 1) {
                graph.incrementEpochCount();
            }
        }
        return scores;
    }
}
