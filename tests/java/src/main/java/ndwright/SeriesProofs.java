package ndwright;

import static ndwright.Cases.base;
import static ndwright.Cases.classifier;

import java.util.List;
import java.util.Set;
import org.deeplearning4j.nn.conf.MultiLayerConfiguration;
import org.deeplearning4j.nn.conf.RNNFormat;
import org.deeplearning4j.nn.conf.constraint.MaxNormConstraint;
import org.deeplearning4j.nn.conf.distribution.NormalDistribution;
import org.deeplearning4j.nn.conf.inputs.InputType;
import org.deeplearning4j.nn.conf.layers.DenseLayer;
import org.deeplearning4j.nn.conf.layers.GlobalPoolingLayer;
import org.deeplearning4j.nn.conf.layers.Layer;
import org.deeplearning4j.nn.conf.layers.LocallyConnected1D;
import org.deeplearning4j.nn.conf.layers.OutputLayer;
import org.deeplearning4j.nn.conf.layers.PoolingType;
import org.deeplearning4j.nn.conf.layers.RnnLossLayer;
import org.deeplearning4j.nn.conf.layers.recurrent.LastTimeStep;
import org.deeplearning4j.nn.conf.layers.recurrent.SimpleRnn;
import org.deeplearning4j.nn.conf.layers.util.MaskZeroLayer;
import org.deeplearning4j.nn.conf.weightnoise.WeightNoise;
import org.deeplearning4j.nn.multilayer.MultiLayerNetwork;
import org.nd4j.linalg.activations.Activation;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.factory.Nd4j;
import org.nd4j.linalg.indexing.NDArrayIndex;
import org.nd4j.linalg.lossfunctions.LossFunctions.LossFunction;

/** Faults of layers over series, shown by themselves. */
final class SeriesProofs {
    private static final int EXAMPLES = 4, CHANNELS = 3, STEPS = 5, CLASSES = 3;
    private static final INDArray SERIES = Numbers.normal(61, EXAMPLES, CHANNELS, STEPS);
    private static final INDArray Y = Numbers.classes(62, EXAMPLES, CLASSES);
    private final Proofs proofs;

    SeriesProofs(Proofs proofs) {
        this.proofs = proofs;
    }

    void all() {
        pieces();
        failing();
        outputs();
    }

    private static SimpleRnn.Builder recurrent() {
        return new SimpleRnn.Builder().nIn(CHANNELS).nOut(2).activation(Activation.TANH);
    }

    private static MultiLayerConfiguration.Builder answered(Layer layer) {
        return base().list(layer, new RnnLossLayer.Builder(LossFunction.MSE).activation(Activation.IDENTITY).build())
                .setInputType(InputType.recurrent(CHANNELS, STEPS));
    }

    private static MultiLayerConfiguration.Builder classified(Layer layer) {
        return base().list(layer, classifier(CLASSES).build()).setInputType(InputType.recurrent(CHANNELS, STEPS));
    }

    /** What goes through a series piece by piece should give what goes through the whole. */
    private void pieces() {
        MultiLayerNetwork masking = Case.made(answered(new MaskZeroLayer(recurrent().build(), 0.0)));
        INDArray blank = SERIES.dup();
        blank.get(NDArrayIndex.all(), NDArrayIndex.all(), NDArrayIndex.point(1)).assign(0.0);
        double off = masking.rnnTimeStep(blank.dup()).sub(masking.output(blank.dup())).amaxNumber().doubleValue();
        proofs.wrong("blank steps in pieces", off > 1e-3, "rnnTimeStep of a series with a blank step is off by " + off);
    }

    private void failing() {
        proofs.fails("normalised recurrent layer", classified(new LastTimeStep(recurrent().hasLayerNorm(true).build())),
                SERIES, Y);
        LocallyConnected1D held = new LocallyConnected1D.Builder().kernelSize(2).nIn(CHANNELS).nOut(2)
                .setInputSize(STEPS).activation(Activation.TANH).build();
        held.setConstraints(List.of(new MaxNormConstraint(0.5, Set.of("b"), 1)));
        proofs.fails("norm of a locally connected bias", base().list(held, new GlobalPoolingLayer(PoolingType.AVG),
                classifier(CLASSES).build()).setInputType(InputType.recurrent(CHANNELS, STEPS)), SERIES, Y);
        DenseLayer noisy = new DenseLayer.Builder().nIn(5).nOut(2).hasBias(false)
                .weightNoise(new WeightNoise(new NormalDistribution(0, 1), true, true)).build();
        proofs.fails("noise of no bias", base().list(noisy, classifier(CLASSES).nIn(2).build()),
                Numbers.normal(63, EXAMPLES, 5), Y);
    }

    private void outputs() {
        INDArray last = Numbers.normal(64, EXAMPLES, STEPS, CHANNELS), labels = Numbers.normal(65, EXAMPLES, STEPS, 2);
        MultiLayerNetwork loss = Case.made(base().list(recurrent().dataFormat(RNNFormat.NWC).build(),
                new RnnLossLayer.Builder(LossFunction.MSE).dataFormat(RNNFormat.NWC).activation(Activation.IDENTITY)
                .build()));
        proofs.fails("losses of series NWC", () -> {
            double one = loss.score(new DataSet(last, labels)), other = loss.score(new DataSet(last, labels.add(1.0)));
            if (one == other) {
                throw new IllegalStateException("the score is " + one + " whatever the labels are");
            }
            return null;
        });
        MultiLayerNetwork zero = Case.made(base().list(new OutputLayer.Builder(LossFunction.MCXENT).nIn(2).nOut(2)
                .activation(Activation.IDENTITY).build()).validateOutputLayerConfig(false));
        zero.params().assign(Nd4j.createFromArray(new double[] {1, 0, 0, 1, 0, 0}).reshape(zero.params().shape()));
        INDArray first = Nd4j.createFromArray(new double[][] {{1, 0}});
        double score = zero.score(new DataSet(first, first));
        proofs.wrong("logarithm of 0", Double.isNaN(score), "an output of 0 where the label is 0 makes a score NaN");
    }
}
