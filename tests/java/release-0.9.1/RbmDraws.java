package ndwright;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.Random;
import java.util.StringJoiner;
import org.deeplearning4j.nn.conf.MultiLayerConfiguration;
import org.deeplearning4j.nn.conf.NeuralNetConfiguration;
import org.deeplearning4j.nn.conf.Updater;
import org.deeplearning4j.nn.conf.layers.OutputLayer;
import org.deeplearning4j.nn.conf.layers.RBM;
import org.deeplearning4j.nn.conf.layers.RBM.HiddenUnit;
import org.deeplearning4j.nn.conf.layers.RBM.VisibleUnit;
import org.deeplearning4j.nn.multilayer.MultiLayerNetwork;
import org.nd4j.linalg.activations.Activation;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.factory.Nd4j;
import org.nd4j.linalg.lossfunctions.LossFunctions.LossFunction;

/**
 * Restricted Boltzmann machines of Deeplearning4j 0.9.1 whose first step of pretraining depends on random numbers: mean
 * and standard deviation of the parameters after it, from the same ones, over many seeds. Argument: the file to write.
 */
public final class RbmDraws {
    private static final int SEEDS = 1000, EXAMPLES = 6, INPUTS = 5, HIDDEN = 4, NUMBERS = INPUTS * HIDDEN + HIDDEN + INPUTS;
    private final StringJoiner machines = new StringJoiner(",\n ", "{\"machines\": [\n ", "\n]}\n");

    private RbmDraws() {}

    public static void main(String[] arguments) throws IOException {
        RbmDraws all = new RbmDraws();
        all.add(HiddenUnit.GAUSSIAN, VisibleUnit.GAUSSIAN, 1);
        all.add(HiddenUnit.BINARY, VisibleUnit.GAUSSIAN, 1);
        all.add(HiddenUnit.GAUSSIAN, VisibleUnit.LINEAR, 1);
        all.add(HiddenUnit.BINARY, VisibleUnit.BINARY, 3);
        all.add(HiddenUnit.RECTIFIED, VisibleUnit.LINEAR, 2);
        all.add(HiddenUnit.SOFTMAX, VisibleUnit.GAUSSIAN, 2);
        Files.write(Paths.get(arguments[0]), all.machines.toString().getBytes());
    }

    private static MultiLayerNetwork machine(HiddenUnit hidden, VisibleUnit visible, int k) {
        MultiLayerConfiguration conf = new NeuralNetConfiguration.Builder().seed(1).learningRate(0.1).updater(Updater.SGD)
                .list()
                .layer(0, new RBM.Builder(hidden, visible).k(k).lossFunction(LossFunction.MSE).nIn(INPUTS).nOut(HIDDEN).build())
                .layer(1, new OutputLayer.Builder(LossFunction.MCXENT).activation(Activation.SOFTMAX).nIn(HIDDEN).nOut(2).build())
                .pretrain(true).backprop(false).build();
        MultiLayerNetwork network = new MultiLayerNetwork(conf);
        network.init();
        return network;
    }

    private void add(HiddenUnit hidden, VisibleUnit visible, int k) {
        MultiLayerNetwork network = machine(hidden, visible, k);
        Random random = new Random(7);
        INDArray x = Nd4j.create(EXAMPLES, INPUTS), start = network.params().dup();
        for (int i = 0; i < EXAMPLES * INPUTS; i++) {
            x.putScalar(i / INPUTS, i % INPUTS, visible == VisibleUnit.BINARY ? random.nextInt(2) : random.nextFloat());
        }
        for (int i = 0; i < NUMBERS; i++) {
            start.putScalar(i, 0.5 * random.nextGaussian());
        }
        double[] sums = new double[NUMBERS], squares = new double[NUMBERS], first = new double[NUMBERS];
        for (int seed = 0; seed < SEEDS; seed++) {
            network.setParams(start);
            Nd4j.getRandom().setSeed(1000003L * seed + 17);
            network.pretrain(x);
            INDArray after = network.params();
            for (int i = 0; i < NUMBERS; i++) {
                double change = after.getDouble(i) - start.getDouble(i);
                first[i] = seed == 0 ? change : first[i];
                sums[i] += change - first[i];
                squares[i] += (change - first[i]) * (change - first[i]);
            }
        }
        double[] means = new double[NUMBERS], deviations = new double[NUMBERS], begun = new double[NUMBERS];
        for (int i = 0; i < NUMBERS; i++) {
            double mean = sums[i] / SEEDS;
            begun[i] = start.getDouble(i);
            means[i] = first[i] + mean;
            deviations[i] = Math.sqrt(Math.max(0.0, squares[i] / SEEDS - mean * mean));
        }
        double[] data = new double[EXAMPLES * INPUTS];
        for (int i = 0; i < data.length; i++) {
            data[i] = x.getDouble(i / INPUTS, i % INPUTS);
        }
        machines.add("{\"hidden\": \"" + hidden + "\", \"visible\": \"" + visible + "\", \"k\": " + k + ", \"seeds\": " + SEEDS
                + ",\n  \"x\": " + text(data) + ",\n  \"params\": " + text(begun) + ",\n  \"means\": " + text(means)
                + ",\n  \"deviations\": " + text(deviations) + "}");
        System.out.println(hidden + " " + visible);
    }

    private static String text(double[] numbers) {
        StringJoiner text = new StringJoiner(", ", "[", "]");
        Arrays.stream(numbers).forEach(number -> text.add(String.format("%.6g", number)));
        return text.toString();
    }
}
