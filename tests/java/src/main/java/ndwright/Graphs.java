package ndwright;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import org.deeplearning4j.nn.conf.ComputationGraphConfiguration;
import org.deeplearning4j.nn.conf.graph.GraphVertex;
import org.deeplearning4j.nn.conf.graph.LayerVertex;
import org.deeplearning4j.nn.conf.inputs.InputType;
import org.deeplearning4j.nn.graph.ComputationGraph;
import org.nd4j.linalg.api.buffer.DataType;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.dataset.MultiDataSet;
import org.nd4j.linalg.factory.Nd4j;

/**
 * Builds graphs of configurations that were written elsewhere, runs and trains them in double precision; opens and trains
 * the same graphs as they were saved elsewhere. Argument: a folder of folders, each with conf.json, model.zip, x0.npy,
 * y0.npy and so on, where there are masks xm0.npy and ym0.npy, and where Java is to infer sizes the types of the inputs.
 */
public final class Graphs {
    private static final int STEPS = 4;

    private Graphs() {}

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
            ComputationGraphConfiguration conf = configuration(folder);
            if (folder.has("types.txt")) {
                infer(folder);
            }
            ComputationGraph graph = new ComputationGraph(conf);
            graph.init();
            folder.text("order.txt", String.join("\n", conf.getTopologicalOrderStr()));
            folder.write("java_init", graph.params());
            INDArray theirs = folder.read("our_init", DataType.DOUBLE);
            graph.params().assign(theirs.reshape(graph.params().shape()));
            MultiDataSet data = folder.multiData(DataType.DOUBLE);
            doing = "output";
            folder.write("java_output", GraphTraining.outputs(graph, data));
            doing = "score";
            folder.write("java_score", GraphTraining.score(graph, data));
            doing = "gradient";
            folder.write("java_gradient", GraphTraining.gradient(graph, data));
            doing = "train";
            train("java_", graph, data, folder);
            doing = "open";
            train("java_opened_", ComputationGraph.load(folder.file("model.zip"), true), data, folder);
            doing = "save";
            graph.save(folder.file("java_model.zip"), true);
        } catch (Throwable error) {
            folder.failed(doing, error);
        }
    }

    private static void train(String prefix, ComputationGraph graph, MultiDataSet data, Folder folder)
            throws IOException {
        folder.write(prefix + "scores", GraphTraining.fit(graph, data, STEPS));
        folder.write(prefix + "params", graph.params());
        folder.write(prefix + "state", graph.updaterState());
        folder.write(prefix + "outputs", GraphTraining.outputs(graph, data));
    }

    /** What was written, without the order of the vertices: Java finds its own. */
    private static ComputationGraphConfiguration configuration(Folder folder) throws IOException {
        String text = Files.readString(folder.file("conf.json").toPath());
        ComputationGraphConfiguration conf = ComputationGraphConfiguration.fromJson(text);
        conf.setTopologicalOrder(null);
        conf.setTopologicalOrderStr(null);
        return conf;
    }

    /** Writes the configuration as it was read, and as Java completes it where preprocessors and sizes are taken out. */
    private static void infer(Folder folder) throws IOException {
        ComputationGraphConfiguration conf = configuration(folder);
        folder.text("read.json", conf.toJson());
        for (GraphVertex vertex : conf.getVertices().values()) {
            if (vertex instanceof LayerVertex) {
                ((LayerVertex) vertex).setPreProcessor(null);
            }
        }
        conf.addPreProcessors(Files.readAllLines(folder.file("types.txt").toPath()).stream()
                .map(Graphs::inputType).toArray(InputType[]::new));
        folder.text("inferred.json", conf.toJson());
    }

    /** The kind and its sizes, on a line. */
    private static InputType inputType(String line) {
        String[] words = line.split(" ");
        int[] sizes = new int[words.length - 1];
        for (int i = 0; i < sizes.length; i++) {
            sizes[i] = Integer.parseInt(words[i + 1]);
        }
        switch (words[0]) {
            case "rows":
                return InputType.feedForward(sizes[0]);
            case "images":
                return InputType.convolutional(sizes[1], sizes[2], sizes[0]);
            default:
                return InputType.recurrent(sizes[0], sizes[1]);
        }
    }
}
