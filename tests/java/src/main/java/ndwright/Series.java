package ndwright;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import org.deeplearning4j.nn.conf.MultiLayerConfiguration;
import org.deeplearning4j.nn.multilayer.MultiLayerNetwork;
import org.nd4j.linalg.api.buffer.DataType;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.factory.Nd4j;
import org.nd4j.linalg.indexing.NDArrayIndex;

/**
 * Builds networks over series of configurations that were written elsewhere, runs and trains them in double precision;
 * opens and trains the same networks as they were saved elsewhere. Argument: a folder of folders, each with conf.json,
 * model.zip, x.npy, y.npy, where there are masks xm.npy and ym.npy, our_steps.npy where the series is to be gone through
 * step by step too, derivatives.txt where the gradient is to be held against numeric derivatives, and seed.txt where
 * training draws random numbers.
 */
public final class Series {
    private static final int STEPS = 4;

    private Series() {}

    public static void main(String[] arguments) throws IOException {
        Nd4j.setDefaultDataTypes(DataType.DOUBLE, DataType.DOUBLE);
        for (Folder folder : Folder.all(new File(arguments[0]))) {
            System.out.println(folder.file(""));  // where the last one is, should this program end there
            check(folder);
        }
    }

    private static void check(Folder folder) throws IOException {
        String doing = "build";
        try {
            String text = Files.readString(folder.file("conf.json").toPath());
            MultiLayerNetwork network = new MultiLayerNetwork(MultiLayerConfiguration.fromJson(text));
            network.init();
            folder.write("java_init", network.params());
            INDArray theirs = folder.read("our_init", DataType.DOUBLE);
            network.setParams(theirs.reshape(network.params().shape()));
            DataSet data = folder.data(DataType.DOUBLE);
            doing = "output";
            folder.write("java_output", Training.output(network, data));
            doing = "score";
            folder.write("java_score", Training.score(network, data));
            doing = "gradient";
            seed(folder);
            folder.write("java_gradient", Training.gradient(network, data));
            if (folder.has("derivatives.txt")) {
                Derivatives.write(network, data, folder);
            }
            doing = "step";
            if (folder.has("our_steps.npy")) {
                folder.write("java_steps", steps(network, data.getFeatures()));
            }
            doing = "train";
            train("java_", network, data, folder);
            doing = "open";
            train("java_opened_", MultiLayerNetwork.load(folder.file("model.zip"), true), data, folder);
            doing = "save";
            network.save(folder.file("java_model.zip"), true);
        } catch (Throwable error) {
            folder.failed(doing, error);
        }
    }

    /** What the network answers to one step after the other, and to all of them behind those. */
    private static INDArray steps(MultiLayerNetwork network, INDArray series) {
        network.rnnClearPreviousState();
        INDArray[] answers = new INDArray[(int) series.size(2) + 1];
        for (int t = 0; t < series.size(2); t++) {
            INDArray step = series.get(NDArrayIndex.all(), NDArrayIndex.all(), NDArrayIndex.point(t)).dup();
            INDArray answer = network.rnnTimeStep(step);
            answers[t] = answer.reshape(answer.size(0), answer.size(1), 1).dup();
        }
        answers[answers.length - 1] = network.rnnTimeStep(series.dup()).dup();
        network.rnnClearPreviousState();
        return Nd4j.concat(2, answers);
    }

    private static void seed(Folder folder) throws IOException {
        if (folder.has("seed.txt")) {
            Nd4j.getRandom().setSeed(Long.parseLong(Files.readString(folder.file("seed.txt").toPath())));
        }
    }

    private static void train(String prefix, MultiLayerNetwork network, DataSet data, Folder folder)
            throws IOException {
        seed(folder);
        folder.write(prefix + "scores", Training.fit(network, data, STEPS));
        folder.write(prefix + "params", network.params());
        folder.write(prefix + "state", network.updaterState());
        folder.write(prefix + "outputs", Training.output(network, data));
    }
}
