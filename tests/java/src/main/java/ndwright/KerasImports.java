package ndwright;

import java.io.File;
import java.io.IOException;
import org.deeplearning4j.nn.graph.ComputationGraph;
import org.deeplearning4j.nn.modelimport.keras.KerasModelImport;
import org.deeplearning4j.nn.multilayer.MultiLayerNetwork;
import org.nd4j.linalg.api.buffer.DataType;
import org.nd4j.linalg.api.ndarray.INDArray;

/**
 * Imports models of Keras with Deeplearning4j's own importer, and runs them. Argument: a folder of folders, each with
 * sequential.txt or functional.txt, which names what is there: "model" (model.h5), "weights" (config.json and
 * weights.h5) or "configuration" (config.json); and x0.npy, x1.npy and so on, in the axes of the file.
 * Writes y0.npy and so on, or error.txt with what was being done: import, or output.
 */
public final class KerasImports {
    private KerasImports() {}

    public static void main(String[] arguments) throws IOException {
        for (Folder folder : Folder.all(new File(arguments[0]))) {
            System.out.println(folder.file(""));  // where the last one is, should this program end there
            String doing = "import";
            try {
                Object network = network(folder);
                doing = "output";
                INDArray[] inputs = folder.several("x", DataType.FLOAT);
                if (inputs.length > 0) {
                    folder.write("y", outputs(network, inputs));
                }
            } catch (Throwable error) {
                folder.failed(doing, error);
            }
        }
    }

    private static Object network(Folder folder) throws Exception {
        String model = folder.file("model.h5").getPath(), weights = folder.file("weights.h5").getPath();
        String configuration = folder.file("config.json").getPath();
        if (folder.has("sequential.txt")) {
            switch (folder.text("sequential.txt")) {
                case "model":
                    return KerasModelImport.importKerasSequentialModelAndWeights(model, false);
                case "weights":
                    return KerasModelImport.importKerasSequentialModelAndWeights(configuration, weights, false);
                default:
                    return KerasModelImport.importKerasSequentialConfiguration(configuration, false);
            }
        }
        switch (folder.text("functional.txt")) {
            case "model":
                return KerasModelImport.importKerasModelAndWeights(model, false);
            case "weights":
                return KerasModelImport.importKerasModelAndWeights(configuration, weights, false);
            default:
                return KerasModelImport.importKerasModelConfiguration(configuration, false);
        }
    }

    private static INDArray[] outputs(Object network, INDArray[] inputs) {
        if (network instanceof ComputationGraph) {
            return ((ComputationGraph) network).output(false, inputs);
        }
        return new INDArray[] {((MultiLayerNetwork) network).output(inputs[0], false)};
    }
}
