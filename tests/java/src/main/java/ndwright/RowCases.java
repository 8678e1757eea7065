package ndwright;

import static ndwright.Cases.base;
import static ndwright.Cases.classifier;
import static ndwright.Cases.dense;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.deeplearning4j.nn.conf.MultiLayerConfiguration;
import org.deeplearning4j.nn.conf.distribution.BinomialDistribution;
import org.deeplearning4j.nn.conf.distribution.ConstantDistribution;
import org.deeplearning4j.nn.conf.distribution.Distribution;
import org.deeplearning4j.nn.conf.distribution.GaussianDistribution;
import org.deeplearning4j.nn.conf.distribution.LogNormalDistribution;
import org.deeplearning4j.nn.conf.distribution.NormalDistribution;
import org.deeplearning4j.nn.conf.distribution.OrthogonalDistribution;
import org.deeplearning4j.nn.conf.distribution.TruncatedNormalDistribution;
import org.deeplearning4j.nn.conf.distribution.UniformDistribution;
import org.deeplearning4j.nn.conf.inputs.InputType;
import org.deeplearning4j.nn.conf.layers.ActivationLayer;
import org.deeplearning4j.nn.conf.layers.BatchNormalization;
import org.deeplearning4j.nn.conf.layers.CenterLossOutputLayer;
import org.deeplearning4j.nn.conf.layers.EmbeddingLayer;
import org.deeplearning4j.nn.conf.layers.Layer;
import org.deeplearning4j.nn.conf.layers.LossLayer;
import org.deeplearning4j.nn.conf.layers.OutputLayer;
import org.deeplearning4j.nn.conf.layers.PReLULayer;
import org.deeplearning4j.nn.conf.layers.RnnOutputLayer;
import org.deeplearning4j.nn.conf.layers.misc.ElementWiseMultiplicationLayer;
import org.deeplearning4j.nn.conf.layers.misc.RepeatVector;
import org.deeplearning4j.nn.conf.ocnn.OCNNOutputLayer;
import org.deeplearning4j.nn.weights.WeightInit;
import org.nd4j.linalg.activations.Activation;
import org.nd4j.linalg.activations.IActivation;
import org.nd4j.linalg.activations.impl.ActivationELU;
import org.nd4j.linalg.activations.impl.ActivationGELU;
import org.nd4j.linalg.activations.impl.ActivationLReLU;
import org.nd4j.linalg.activations.impl.ActivationReLU;
import org.nd4j.linalg.activations.impl.ActivationThresholdedReLU;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.factory.Nd4j;
import org.nd4j.linalg.lossfunctions.ILossFunction;
import org.nd4j.linalg.lossfunctions.LossFunctions.LossFunction;
import org.nd4j.linalg.lossfunctions.impl.LossBinaryXENT;
import org.nd4j.linalg.lossfunctions.impl.LossFMeasure;
import org.nd4j.linalg.lossfunctions.impl.LossL1;
import org.nd4j.linalg.lossfunctions.impl.LossMCXENT;
import org.nd4j.linalg.lossfunctions.impl.LossMSE;
import org.nd4j.linalg.lossfunctions.impl.LossMixtureDensity;
import org.nd4j.linalg.lossfunctions.impl.LossMultiLabel;

/** Layers of rows: activations, weights, losses, masks. */
final class RowCases {
    private static final int EXAMPLES = 5, SIZE = 4, CLASSES = 3;
    private static final INDArray X = Numbers.normal(1, EXAMPLES, SIZE), Y = Numbers.classes(2, EXAMPLES, CLASSES);
    private static final Activation[] LAST = {
        Activation.IDENTITY, Activation.SIGMOID, Activation.TANH, Activation.SOFTMAX, Activation.SOFTPLUS
    };
    private final List<Case> cases = new ArrayList<>();

    private RowCases() {}

    static List<Case> all() {
        RowCases rows = new RowCases();
        rows.activations();
        rows.weights();
        rows.losses();
        rows.ownLosses();
        rows.layers();
        return rows.cases;
    }

    private Case add(String name, Callable<MultiLayerConfiguration.Builder> network, INDArray x, INDArray y) {
        Case added = Case.of(name, network, x, y);
        cases.add(added);
        return added;
    }

    /** A layer below a classifier. */
    private Case add(String name, Layer layer) {
        return add(name, () -> base().list(layer, classifier(CLASSES).build())
                .setInputType(InputType.feedForward(SIZE)), X, Y);
    }

    private void activations() {
        for (Activation each : Activation.values()) {
            if (each != Activation.RRELU) {  // which draws numbers
                add("activation_" + each, dense(SIZE, 6).activation(each).build()).withDerivatives();
            }
        }
        IActivation[] others = {
            new ActivationELU(0.5), new ActivationGELU(true), new ActivationLReLU(0.3),
            new ActivationReLU(0.8, 0.1, 0.2), new ActivationReLU(0.0, null, null), new ActivationReLU(null, 0.3, null),
            new ActivationThresholdedReLU(0.3)
        };
        for (int i = 0; i < others.length; i++) {
            add("activation_own_" + i, dense(SIZE, 6).activation(others[i]).build()).withDerivatives();
        }
    }

    private void weights() {
        for (WeightInit each : WeightInit.values()) {
            if (each != WeightInit.DISTRIBUTION) {
                add("weights_" + each, dense(SIZE, each == WeightInit.IDENTITY ? SIZE : 6).weightInit(each).build());
            }
        }
        Distribution[] distributions = {
            new NormalDistribution(0.1, 0.5), new UniformDistribution(-0.3, 0.4), new GaussianDistribution(0, 0.2),
            new TruncatedNormalDistribution(0, 0.5), new LogNormalDistribution(0, 0.3), new ConstantDistribution(0.2),
            new BinomialDistribution(4, 0.3), new OrthogonalDistribution(1.0)
        };
        for (Distribution each : distributions) {
            add("weights_" + each.getClass().getSimpleName(), dense(SIZE, 6).dist(each).build());
        }
    }

    private static MultiLayerConfiguration.Builder lossNetwork(OutputLayer.Builder last, int outputs) {
        return base().list(dense(SIZE, 6).build(), last.nIn(6).nOut(outputs).build()).validateOutputLayerConfig(false);
    }

    private void losses() {
        INDArray examples = Nd4j.createFromArray(new double[][] {{1}, {0}, {1}, {1}, {0}});
        INDArray outputs = Numbers.bits(7, EXAMPLES, CLASSES);
        for (LossFunction loss : LossFunction.values()) {
            INDArray y = labels(loss);
            for (Activation last : LAST) {
                String name = loss + "_" + last;
                Callable<MultiLayerConfiguration.Builder> network =
                        () -> lossNetwork(new OutputLayer.Builder(loss).activation(last), CLASSES);
                add("loss_" + name, network, X, y).withDerivatives();
                cases.add(Case.of("mask_examples_" + name, network, new DataSet(X, y, null, examples)));
                if (last == Activation.SIGMOID && masksOutputs(loss)) {
                    cases.add(Case.of("mask_outputs_" + name, network, new DataSet(X, y, null, outputs)));
                }
            }
        }
    }

    private static boolean masksOutputs(LossFunction loss) {
        return loss != LossFunction.SPARSE_MCXENT && loss != LossFunction.COSINE_PROXIMITY;
    }

    private static INDArray labels(LossFunction loss) {
        switch (loss) {
            case MCXENT:
            case NEGATIVELOGLIKELIHOOD:
            case KL_DIVERGENCE:
                return Y;
            case SPARSE_MCXENT:
                return Numbers.indices(3, CLASSES, EXAMPLES, 1);
            case XENT:
                return Numbers.bits(4, EXAMPLES, CLASSES);
            case HINGE:
            case SQUARED_HINGE:
            case WASSERSTEIN:
                return Y.mul(2).sub(1);
            default:
                return Numbers.unit(5, EXAMPLES, CLASSES).add(0.1);
        }
    }

    private void ownLosses() {
        INDArray weights = Nd4j.createFromArray(0.5, 2.0, 1.5), bits = Numbers.bits(4, EXAMPLES, CLASSES);
        Map<String, ILossFunction> weighted = Map.of(
                "mcxent", new LossMCXENT(weights), "mse", new LossMSE(weights), "l1", new LossL1(weights),
                "xent", new LossBinaryXENT(weights));
        weighted.forEach((name, loss) -> {
            boolean binary = name.equals("xent");
            Activation last = binary ? Activation.SIGMOID : Activation.SOFTMAX;
            add("loss_weighted_" + name, () -> lossNetwork(new OutputLayer.Builder(loss).activation(last), CLASSES), X,
                    binary ? bits : Y).withDerivatives();
        });
        add("loss_multi_label", () -> lossNetwork(
                new OutputLayer.Builder(new LossMultiLabel()).activation(Activation.SIGMOID), CLASSES), X, bits)
                .withDerivatives();
        add("loss_f_measure", () -> lossNetwork(
                new OutputLayer.Builder(new LossFMeasure(1.5)).activation(Activation.SIGMOID), 1), X,
                Numbers.bits(8, EXAMPLES, 1)).withDerivatives();
        LossMixtureDensity mixture = LossMixtureDensity.builder().gaussians(2).labelWidth(2).build();
        add("loss_mixture_density", () -> lossNetwork(
                new OutputLayer.Builder(mixture).activation(Activation.IDENTITY), 8), X, Numbers.normal(9, EXAMPLES, 2))
                .withDerivatives();
    }

    private void layers() {
        for (boolean check : new boolean[] {false, true}) {
            add("layer_center_loss_" + check, () -> base().list(dense(SIZE, 6).build(), new CenterLossOutputLayer.Builder()
                    .nIn(6).nOut(CLASSES).alpha(0.1).lambda(0.05).gradientCheck(check).build()), X, Y);
        }
        add("layer_loss_layer", () -> base().list(dense(SIZE, CLASSES).build(), new LossLayer.Builder(LossFunction.MCXENT)
                .activation(Activation.SOFTMAX).build()), X, Y);
        add("layer_no_bias", () -> base().list(dense(SIZE, 6).hasBias(false).build(),
                classifier(CLASSES).nIn(6).hasBias(false).build()), X, Y);
        add("layer_normalisation", dense(SIZE, 6).hasLayerNorm(true).build()).withDerivatives();
        add("layer_normalisation_no_bias", dense(SIZE, 6).hasLayerNorm(true).hasBias(false).build()).withDerivatives();
        add("layer_activation_layer", () -> base().list(dense(SIZE, 6).activation(Activation.IDENTITY).build(),
                new ActivationLayer(Activation.ELU), classifier(CLASSES).nIn(6).build()), X, Y);
        add("layer_element_wise", new ElementWiseMultiplicationLayer.Builder().nIn(SIZE).nOut(SIZE)
                .activation(Activation.TANH).build());
        add("layer_prelu", new PReLULayer.Builder().inputShape(SIZE).weightInit(new UniformDistribution(0.1, 0.5)).build())
                .withDerivatives();
        BatchNormalization[] normalisations = {
            new BatchNormalization.Builder().build(),
            new BatchNormalization.Builder().useLogStd(true).decay(0.8).eps(1e-3).build(),
            new BatchNormalization.Builder().useLogStd(false).decay(0.5).build(),
            new BatchNormalization.Builder().lockGammaBeta(true).gamma(0.8).beta(0.1).build(),
            new BatchNormalization.Builder().lockGammaBeta(true).gamma(2).beta(0).build(),
            new BatchNormalization.Builder().minibatch(false).build()
        };
        for (int i = 0; i < normalisations.length; i++) {
            BatchNormalization normalisation = normalisations[i];
            add("layer_batch_normalisation_" + i, () -> base().list(dense(SIZE, 6).build(), normalisation,
                    classifier(CLASSES).build()).setInputType(InputType.feedForward(SIZE)), X, Y).withDerivatives();
        }
        INDArray words = Numbers.indices(10, 7, EXAMPLES, 1);
        for (boolean bias : new boolean[] {false, true}) {
            add("layer_embedding_" + bias, () -> base().list(new EmbeddingLayer.Builder().nIn(7).nOut(6).hasBias(bias)
                    .activation(Activation.TANH).build(), classifier(CLASSES).nIn(6).build()), words, Y);
        }
        add("layer_one_class", () -> base().list(dense(SIZE, 6).build(), new OCNNOutputLayer.Builder().nIn(6)
                .hiddenLayerSize(3).activation(Activation.SIGMOID).nu(0.1).initialRValue(0.1).build()), X,
                Nd4j.ones(EXAMPLES, 1)).withDerivatives();
        add("layer_repeat_vector", () -> base().list(dense(SIZE, 5).build(),
                new RepeatVector.Builder().repetitionFactor(3).build(),
                new RnnOutputLayer.Builder(LossFunction.MSE).nIn(5).nOut(2).activation(Activation.TANH).build())
                .setInputType(InputType.feedForward(SIZE)), X, Numbers.normal(11, EXAMPLES, 2, 3));
    }
}
