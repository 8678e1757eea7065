package ndwright;

import static ndwright.Cases.base;
import static ndwright.Cases.classifier;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.deeplearning4j.nn.conf.GradientNormalization;
import org.deeplearning4j.nn.conf.NeuralNetConfiguration;
import org.deeplearning4j.nn.conf.inputs.InputType;
import org.deeplearning4j.nn.conf.layers.DenseLayer;
import org.deeplearning4j.nn.conf.layers.GlobalPoolingLayer;
import org.deeplearning4j.nn.conf.layers.GravesBidirectionalLSTM;
import org.deeplearning4j.nn.conf.layers.GravesLSTM;
import org.deeplearning4j.nn.conf.layers.LSTM;
import org.deeplearning4j.nn.conf.layers.Layer;
import org.deeplearning4j.nn.conf.layers.PoolingType;
import org.deeplearning4j.nn.conf.layers.recurrent.Bidirectional;
import org.deeplearning4j.nn.conf.layers.recurrent.LastTimeStep;
import org.deeplearning4j.nn.conf.layers.recurrent.SimpleRnn;
import org.deeplearning4j.nn.conf.layers.recurrent.TimeDistributed;
import org.deeplearning4j.nn.conf.layers.util.MaskZeroLayer;
import org.nd4j.linalg.activations.Activation;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.factory.Nd4j;
import org.nd4j.linalg.indexing.NDArrayIndex;

/** Layers around recurrent layers: both directions, the last step, blank steps, every step; with masks that have gaps. */
final class WrappingCases {
    private static final int EXAMPLES = 3, STEPS = 6, CLASSES = 3;
    private static final INDArray X = Numbers.normal(71, EXAMPLES, 4, STEPS);
    private static final INDArray Y = Numbers.classes(72, EXAMPLES, CLASSES);
    private static final INDArray LENGTHS = Numbers.lengths(STEPS, 6, 4, 1);
    private static final INDArray GAPS = Nd4j.createFromArray(new double[][] {
            {0, 1, 1, 0, 1, 0}, {1, 1, 0, 0, 1, 1}, {1, 1, 1, 1, 1, 1}});
    private final List<Case> cases = new ArrayList<>();

    private WrappingCases() {}

    static List<Case> all() {
        WrappingCases wrapping = new WrappingCases();
        wrapping.bothDirections();
        wrapping.lastSteps();
        wrapping.blankSteps();
        return wrapping.cases;
    }

    static Layer lstm() {
        return new LSTM.Builder().nOut(3).activation(Activation.TANH).build();
    }

    private static Layer graves() {
        return new GravesLSTM.Builder().nOut(3).activation(Activation.TANH).build();
    }

    private static Layer simple() {
        return new SimpleRnn.Builder().nOut(3).activation(Activation.TANH).build();
    }

    private Case add(String name, NeuralNetConfiguration.Builder settings, INDArray x, INDArray mask,
            Supplier<Layer[]> layers) {
        Case added = Case.of("wrapping_" + name, () -> settings.clone().list(layers.get())
                .setInputType(InputType.recurrent(4, STEPS)), new DataSet(x, Y, mask, null));
        cases.add(added);
        return added;
    }

    private Case pooled(String name, NeuralNetConfiguration.Builder settings, INDArray x, INDArray mask,
            Supplier<Layer> layer) {
        return add(name, settings, x, mask, () -> new Layer[] {
                layer.get(), new GlobalPoolingLayer(PoolingType.AVG), classifier(CLASSES).build()});
    }

    private Case last(String name, INDArray mask, Supplier<Layer> layer) {
        return add(name, base(), X, mask,
                () -> new Layer[] {new LastTimeStep(layer.get()), classifier(CLASSES).build()});
    }

    private void bothDirections() {
        for (Bidirectional.Mode mode : Bidirectional.Mode.values()) {
            pooled("both_" + mode, base(), X, null, () -> new Bidirectional(mode, simple()));
            pooled("both_masked_" + mode, base(), X, GAPS, () -> new Bidirectional(mode, lstm()));
        }
        for (GradientNormalization kind : GradientNormalization.values()) {
            pooled("both_" + kind, base().gradientNormalization(kind).gradientNormalizationThreshold(0.05).l1(0.01)
                    .l2Bias(0.02), X, LENGTHS, () -> new Bidirectional(Bidirectional.Mode.CONCAT, graves()));
        }
    }

    private void lastSteps() {
        for (INDArray mask : new INDArray[] {null, LENGTHS, GAPS}) {
            String of = mask == null ? "" : mask == GAPS ? "_gaps" : "_lengths";
            last("last_simple" + of, mask, WrappingCases::simple);
            last("last_lstm" + of, mask, WrappingCases::lstm).withDerivatives();
            last("last_graves" + of, mask, WrappingCases::graves).withDerivatives();
            last("last_both" + of, mask, () -> new Bidirectional(Bidirectional.Mode.ADD, lstm())).withDerivatives();
            last("last_both_simple" + of, mask, () -> new Bidirectional(Bidirectional.Mode.MUL, simple()));
            pooled("graves_bidirectional" + of, base(), X, mask, () -> new GravesBidirectionalLSTM.Builder().nOut(3)
                    .activation(Activation.TANH).build()).withDerivatives();
        }
    }

    private void blankSteps() {
        INDArray blank = X.dup();
        for (int[] place : new int[][] {{0, 1}, {0, 5}, {1, 0}, {2, 3}, {2, 4}}) {
            blank.get(NDArrayIndex.point(place[0]), NDArrayIndex.all(), NDArrayIndex.point(place[1])).assign(0.0);
        }
        pooled("blank_simple", base(), blank, null, () -> new MaskZeroLayer(simple(), 0.0));
        pooled("blank_simple_masked", base(), blank, LENGTHS, () -> new MaskZeroLayer(simple(), 0.0));
        pooled("blank_lstm", base(), blank, null, () -> new MaskZeroLayer(lstm(), 0.0)).withDerivatives();
        pooled("every_step", base(), X, null, () -> new TimeDistributed(
                new DenseLayer.Builder().nOut(3).activation(Activation.TANH).build()));
    }
}
