package ndwright;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.deeplearning4j.nn.conf.NeuralNetConfiguration;
import org.deeplearning4j.nn.conf.layers.DenseLayer;
import org.deeplearning4j.nn.conf.layers.Layer;
import org.deeplearning4j.nn.conf.layers.OutputLayer;
import org.deeplearning4j.nn.weights.WeightInit;
import org.nd4j.linalg.activations.Activation;
import org.nd4j.linalg.api.buffer.DataType;
import org.nd4j.linalg.factory.Nd4j;
import org.nd4j.linalg.learning.config.Nesterovs;
import org.nd4j.linalg.lossfunctions.LossFunctions.LossFunction;

/** Networks of Java's own in double precision, and everything that they compute. Argument: the folder to write. */
public final class Cases {
    private Cases() {}

    public static void main(String[] arguments) throws IOException {
        Nd4j.setDefaultDataTypes(DataType.DOUBLE, DataType.DOUBLE);
        List<Case> cases = new ArrayList<>();
        cases.addAll(RowCases.all());
        cases.addAll(ImageCases.all());
        cases.addAll(SeriesCases.all());
        cases.addAll(WrappingCases.all());
        cases.addAll(VolumeCases.all());
        cases.addAll(TrainingCases.all());
        cases.addAll(RandomCases.all());
        for (Case each : cases) {
            each.write(new File(arguments[0]));
        }
    }

    static NeuralNetConfiguration.Builder base() {
        return new NeuralNetConfiguration.Builder()
                .seed(12345)
                .dataType(DataType.DOUBLE)
                .updater(new Nesterovs(0.05, 0.8))
                .biasInit(0.1)
                .weightInit(WeightInit.XAVIER);
    }

    /** These layers, and the others above them: list(layers).layer(...) would start from the first again. */
    static NeuralNetConfiguration.ListBuilder stack(Layer[] layers, Layer... above) {
        NeuralNetConfiguration.ListBuilder network = base().list(layers);
        for (int i = 0; i < above.length; i++) {
            network.layer(layers.length + i, above[i]);
        }
        return network;
    }

    static DenseLayer.Builder dense(int inputs, int outputs) {
        return new DenseLayer.Builder().nIn(inputs).nOut(outputs).activation(Activation.TANH);
    }

    /** An output layer of classes; without the size of its input it is inferred. */
    static OutputLayer.Builder classifier(int classes) {
        return new OutputLayer.Builder(LossFunction.MCXENT).nOut(classes).activation(Activation.SOFTMAX);
    }
}
