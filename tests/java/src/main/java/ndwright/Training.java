package ndwright;

import org.deeplearning4j.nn.multilayer.MultiLayerNetwork;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.dataset.DataSet;

/** What is done with every network, whoever made it; on copies of the data, as some layers write into their input. */
final class Training {
    private Training() {}

    static INDArray output(MultiLayerNetwork network, DataSet data) {
        return network.output(
                data.getFeatures().dup(), false, data.getFeaturesMaskArray(), data.getLabelsMaskArray());
    }

    /** The score of data that the network is not trained on. */
    static double score(MultiLayerNetwork network, DataSet data) {
        return network.score(data.copy(), false);
    }

    /** The gradient of the minibatch's summed loss, without regularisation. */
    static INDArray gradient(MultiLayerNetwork network, DataSet data) {
        network.setInput(data.getFeatures().dup());
        network.setLabels(data.getLabels());
        network.setLayerMaskArrays(data.getFeaturesMaskArray(), data.getLabelsMaskArray());
        network.computeGradientAndScore();
        INDArray gradient = network.gradient().gradient().dup();
        network.clearLayerMaskArrays();
        return gradient;
    }

    /** Trains, an epoch every two steps; returns the score of each step. */
    static double[] fit(MultiLayerNetwork network, DataSet data, int steps) {
        double[] scores = new double[steps];
        for (int step = 0; step < steps; step++) {
            network.fit(data.copy());
            scores[step] = network.score();
            if (step % 2 == 1) {
                network.incrementEpochCount();
            }
        }
        return scores;
    }
}
