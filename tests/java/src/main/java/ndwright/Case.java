package ndwright;

import java.io.File;
import java.io.IOException;
import java.util.concurrent.Callable;
import org.deeplearning4j.nn.conf.MultiLayerConfiguration;
import org.deeplearning4j.nn.multilayer.MultiLayerNetwork;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.dataset.DataSet;

/** A network of Java's own, and what it is trained on. */
final class Case {
    private static final int STEPS = 4;
    private final String name;
    private final Callable<MultiLayerNetwork> network;
    private final DataSet data;
    private boolean derivatives;

    Case(String name, Callable<MultiLayerNetwork> network, DataSet data) {
        this.name = name;
        this.network = network;
        this.data = data;
    }

    /** Of a configuration; an error in building it is the case's as well. */
    static Case of(String name, Callable<MultiLayerConfiguration.Builder> builder, INDArray x, INDArray y) {
        return of(name, builder, new DataSet(x, y));
    }

    static Case of(String name, Callable<MultiLayerConfiguration.Builder> builder, DataSet data) {
        return new Case(name, () -> made(builder.call()), data);
    }

    static MultiLayerNetwork made(MultiLayerConfiguration.Builder builder) {
        MultiLayerNetwork network = new MultiLayerNetwork(builder.build());
        network.init();
        return network;
    }

    /** Hold the gradient against numeric derivatives too. */
    Case withDerivatives() {
        derivatives = true;
        return this;
    }

    /** Runs it, and writes everything that happened into a folder of its name. */
    void write(File place) throws IOException {
        System.out.println(name);
        Folder folder = new Folder(new File(place, name));
        String doing = "build";
        try {
            folder.write(data);
            MultiLayerNetwork made = network.call();
            folder.text("conf.json", made.getLayerWiseConfigurations().toJson());
            folder.write("java_params0", made.params());
            doing = "output";
            folder.write("java_output0", Training.output(made, data));
            doing = "score";
            folder.write("java_score", Training.score(made, data));
            doing = "gradient";
            folder.write("java_gradient", Training.gradient(made, data));
            if (derivatives) {
                Derivatives.write(made, data, folder);
            }
            doing = "train";
            folder.write("java_scores", Training.fit(made, data, STEPS));
            folder.write("java_params", made.params());
            folder.write("java_state", made.updaterState());
            folder.write("java_output", Training.output(made, data));
            doing = "save";
            made.save(folder.file("model.zip"), true);
        } catch (Throwable error) {
            folder.failed(doing, error);
        }
    }
}
