package ndwright;

import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.deeplearning4j.nn.multilayer.MultiLayerNetwork;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.dataset.DataSet;

/** Java's gradient, and numeric derivatives of Java's own score, for some parameters. */
final class Derivatives {
    private static final int MOST = 60;
    private static final double STEP = 1e-6;

    private Derivatives() {}

    /** Writes which parameters, the gradient there, and the derivatives; in double precision only. */
    static void write(MultiLayerNetwork network, DataSet data, Folder folder) throws IOException {
        INDArray gradient = Training.gradient(network, data), parameters = network.params();
        List<Integer> trained = trained(network);
        Collections.shuffle(trained, new Random(5));
        int count = Math.min(MOST, trained.size());
        double[] places = new double[count], analytic = new double[count], numeric = new double[count];
        for (int i = 0; i < count; i++) {
            int place = trained.get(i);
            places[i] = place;
            analytic[i] = gradient.getDouble(place);
            double value = parameters.getDouble(place);
            parameters.putScalar(place, value + STEP);
            double above = loss(network, data);
            parameters.putScalar(place, value - STEP);
            numeric[i] = (above - loss(network, data)) / (2 * STEP);
            parameters.putScalar(place, value);
        }
        folder.write("java_places", places);
        folder.write("java_gradient_there", analytic);
        folder.write("java_derivatives", numeric);
    }

    /** The places of parameters that follow a gradient: not running means, variances and centers. */
    private static List<Integer> trained(MultiLayerNetwork network) {
        INDArray parameters = network.params(), kept = parameters.dup();
        for (String name : network.paramTable().keySet()) {
            if (!network.updaterDivideByMinibatch(name)) {
                network.getParam(name).assign(Double.NaN);
            }
        }
        List<Integer> places = IntStream.range(0, (int) parameters.length())
                .filter(place -> !Double.isNaN(parameters.getDouble(place))).boxed().collect(Collectors.toList());
        parameters.assign(kept);
        return places;
    }

    /** The summed loss of a minibatch, without regularisation. */
    private static double loss(MultiLayerNetwork network, DataSet data) {
        double mean = network.score(data.copy(), true) - network.calcRegularizationScore(true);
        boolean divided = network.getDefaultConfiguration().isMiniBatch();
        return divided ? mean * data.getFeatures().size(0) : mean;
    }
}
