import java.io.File;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.deeplearning4j.nn.graph.ComputationGraph;
import org.deeplearning4j.nn.multilayer.MultiLayerNetwork;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.factory.Nd4j;

/** Runs a model zip on the arrays 0.npy, 1.npy, ... of a folder; writes its outputs and all activations there. */
public class Outputs {
    private static File folder;

    /** Arguments: the model zip, "graph" or "chain", the folder, the number of inputs. */
    public static void main(String[] arguments) throws Exception {
        File model = new File(arguments[0]);
        folder = new File(arguments[2]);
        INDArray[] inputs = new INDArray[Integer.parseInt(arguments[3])];
        for (int number = 0; number < inputs.length; number++) {
            inputs[number] = Nd4j.createFromNpyFile(new File(folder, number + ".npy"));
        }
        Map<String, INDArray> named = new LinkedHashMap<>();
        List<INDArray> outputs = new ArrayList<>();
        if (arguments[1].equals("graph")) {
            ComputationGraph graph = ComputationGraph.load(model, false);
            for (INDArray output : graph.output(false, copies(inputs))) {
                outputs.add(output.dup('c'));
            }
            for (Map.Entry<String, INDArray> one : graph.feedForward(copies(inputs), false).entrySet()) {
                named.put(one.getKey(), one.getValue().dup('c'));
            }
        } else {
            MultiLayerNetwork chain = MultiLayerNetwork.load(model, false);
            outputs.add(chain.output(inputs[0].dup(), false).dup('c'));
            List<INDArray> activations = chain.feedForward(inputs[0].dup(), false);
            for (int layer = 1; layer < activations.size(); layer++) {
                named.put(String.valueOf(layer - 1), activations.get(layer).dup('c'));
            }
        }
        write(outputs, named);
    }

    private static INDArray[] copies(INDArray[] arrays) {
        INDArray[] copies = new INDArray[arrays.length];
        for (int number = 0; number < arrays.length; number++) {
            copies[number] = arrays[number].dup();
        }
        return copies;
    }

    private static void write(List<INDArray> outputs, Map<String, INDArray> named) throws Exception {
        for (int number = 0; number < outputs.size(); number++) {
            Nd4j.writeAsNumpy(outputs.get(number), new File(folder, "output_" + number + ".npy"));
        }
        try (PrintWriter names = new PrintWriter(new File(folder, "names.txt"), "UTF-8")) {
            int number = 0;
            for (Map.Entry<String, INDArray> one : named.entrySet()) {
                Nd4j.writeAsNumpy(one.getValue(), new File(folder, "named_" + number++ + ".npy"));
                names.println(one.getKey());
            }
        }
    }
}
