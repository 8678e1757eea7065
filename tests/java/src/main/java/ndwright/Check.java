package ndwright;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import org.deeplearning4j.nn.multilayer.MultiLayerNetwork;
import org.nd4j.linalg.api.buffer.DataType;
import org.nd4j.linalg.dataset.DataSet;

/**
 * Opens networks that were saved elsewhere, runs them and trains them; then Java's own faults are shown. Argument: a
 * folder of folders, each with model.zip, x.npy, y.npy, and where there are masks xm.npy and ym.npy.
 */
public final class Check {
    private static final int STEPS = 3;

    private Check() {}

    public static void main(String[] arguments) throws IOException {
        for (Folder folder : Folder.all(new File(arguments[0]))) {
            System.out.println(folder.file(""));  // where the last one is, should this program end there
            check(folder);
        }
        Proofs.write(Path.of(arguments[0], "proofs.json"));
    }

    private static void check(Folder folder) throws IOException {
        String doing = "open";
        try {
            MultiLayerNetwork network = MultiLayerNetwork.load(folder.file("model.zip"), true);
            DataType type = network.getLayerWiseConfigurations().getDataType();
            DataSet data = folder.data(type);
            doing = "output";
            folder.write("java_output", Training.output(network, data));
            doing = "score";
            folder.write("java_score", Training.score(network, data));
            doing = "train";
            folder.write("java_scores", Training.fit(network, data, STEPS));
            folder.write("java_params", network.params());
            folder.write("java_state", network.updaterState());
        } catch (Throwable error) {
            folder.failed(doing, error);
        }
    }
}
