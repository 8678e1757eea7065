package ndwright;

import static ndwright.Cases.base;
import static ndwright.Cases.classifier;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.deeplearning4j.nn.conf.ConvolutionMode;
import org.deeplearning4j.nn.conf.GradientNormalization;
import org.deeplearning4j.nn.conf.NeuralNetConfiguration;
import org.deeplearning4j.nn.conf.NeuralNetConfiguration.ListBuilder;
import org.deeplearning4j.nn.conf.constraint.MaxNormConstraint;
import org.deeplearning4j.nn.conf.inputs.InputType;
import org.deeplearning4j.nn.conf.layers.BaseLayer;
import org.deeplearning4j.nn.conf.layers.BatchNormalization;
import org.deeplearning4j.nn.conf.layers.Convolution1DLayer;
import org.deeplearning4j.nn.conf.layers.ConvolutionLayer;
import org.deeplearning4j.nn.conf.layers.DenseLayer;
import org.deeplearning4j.nn.conf.layers.GlobalPoolingLayer;
import org.deeplearning4j.nn.conf.layers.Layer;
import org.deeplearning4j.nn.conf.layers.OutputLayer;
import org.deeplearning4j.nn.conf.layers.PoolingType;
import org.deeplearning4j.nn.conf.layers.Subsampling1DLayer;
import org.deeplearning4j.nn.conf.layers.SubsamplingLayer;
import org.nd4j.linalg.activations.Activation;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.learning.config.AdaBelief;
import org.nd4j.linalg.learning.config.AdaMax;
import org.nd4j.linalg.learning.config.IUpdater;
import org.nd4j.linalg.learning.config.Nesterovs;
import org.nd4j.linalg.learning.config.Sgd;
import org.nd4j.linalg.lossfunctions.LossFunctions.LossFunction;
import org.nd4j.linalg.schedule.ISchedule;
import org.nd4j.linalg.schedule.ScheduleType;

/** Stacks of layers drawn at random, each from the generator of its own number. */
final class RandomCases {
    private static final int COUNT = 200, EXAMPLES = 4, CLASSES = 3;
    private static final ConvolutionMode[] MODES = {ConvolutionMode.Same, ConvolutionMode.Truncate};
    private static final SubsamplingLayer.PoolingType[] POOLINGS = {
        SubsamplingLayer.PoolingType.MAX, SubsamplingLayer.PoolingType.AVG, SubsamplingLayer.PoolingType.PNORM
    };
    private static final Activation[] LAST = {
        Activation.IDENTITY, Activation.SIGMOID, Activation.TANH, Activation.SOFTMAX
    };
    private static final LossFunction[] OF_NUMBERS = {
        LossFunction.MSE, LossFunction.L1, LossFunction.L2, LossFunction.MEAN_ABSOLUTE_ERROR,
        LossFunction.COSINE_PROXIMITY
    };
    private final Random random;
    private final int number;

    private RandomCases(int number) {
        this.number = number;
        random = new Random(number * 0x9E3779B97F4A7C15L);  // seeds in a row would begin alike
    }

    static List<Case> all() {
        List<Case> cases = new ArrayList<>();
        for (int number = 0; number < COUNT; number++) {
            cases.add(new RandomCases(number).drawn());
        }
        return cases;
    }

    private Case drawn() {
        boolean classes = random.nextBoolean();
        INDArray y = classes ? Numbers.classes(number, EXAMPLES, CLASSES) : Numbers.normal(number, EXAMPLES, CLASSES);
        int kind = random.nextInt(3);
        long[][] shapes = {{EXAMPLES, 5}, {EXAMPLES, 2, 7, 6}, {EXAMPLES, 3, 8}};
        DataSet data = new DataSet(Numbers.normal(number + 1000, shapes[kind]), y);
        return Case.of("random_" + number, () -> network(kind, classes), data);
    }

    private ListBuilder network(int kind, boolean classes) {
        InputType[] types = {InputType.feedForward(5), InputType.convolutional(7, 6, 2), InputType.recurrent(3, 8)};
        // of series Java cannot take the mean out: it asks the preprocessor for one example
        ListBuilder network = settings().miniBatch(kind == 2 || random.nextInt(8) > 0).list();
        int depth = 1 + random.nextInt(3);
        for (int i = 0; i < depth; i++) {
            network.layer(kind == 0 ? rowLayer() : kind == 1 ? imageLayer(i) : seriesLayer(i));
        }
        if (kind == 2) {
            network.layer(new GlobalPoolingLayer.Builder(oneOf(PoolingType.values())).pnorm(2).build());
        } else if (random.nextBoolean()) {
            network.layer(rowLayer());
        }
        return network.layer(last(classes)).setInputType(types[kind]);
    }

    private NeuralNetConfiguration.Builder settings() {
        NeuralNetConfiguration.Builder network = base().updater(updater());
        if (chance()) {
            network.l1(0.01).l2(0.02);
        }
        if (chance()) {
            network.l2Bias(0.03);
        }
        if (chance()) {
            network.weightDecay(0.02, random.nextBoolean());
        }
        if (chance()) {
            network.gradientNormalization(oneOf(GradientNormalization.values())).gradientNormalizationThreshold(0.2);
        }
        return network;
    }

    private Layer rowLayer() {
        if (chance()) {
            return new BatchNormalization.Builder().decay(0.8).useLogStd(random.nextBoolean()).build();
        }
        return settled(new DenseLayer.Builder().nOut(size()).hasBias(random.nextInt(5) > 0)).build();
    }

    private Layer imageLayer(int depth) {
        int kind = random.nextInt(4);
        int[] kernel = {1 + random.nextInt(2), 1 + random.nextInt(3)};
        int stride = depth == 0 ? 1 + random.nextInt(2) : 1;
        ConvolutionMode mode = depth == 0 ? oneOf(MODES) : ConvolutionMode.Same;
        if (kind == 0) {
            return new BatchNormalization.Builder().decay(0.8).build();
        }
        if (kind == 1) {
            return new SubsamplingLayer.Builder(oneOf(POOLINGS)).kernelSize(kernel)
                    .stride(stride, stride).convolutionMode(mode).pnorm(2).build();
        }
        return settled(new ConvolutionLayer.Builder(kernel).nOut(size()).stride(stride, stride).convolutionMode(mode)
                .hasBias(random.nextInt(5) > 0)).build();
    }

    private Layer seriesLayer(int depth) {
        int kernel = 1 + random.nextInt(3), stride = depth == 0 ? 1 + random.nextInt(2) : 1;
        ConvolutionMode mode = depth == 0 ? oneOf(MODES) : oneOf(ConvolutionMode.Same, ConvolutionMode.Causal);
        if (random.nextInt(4) == 0) {
            ConvolutionMode pooled = depth == 0 ? mode : ConvolutionMode.Same;
            return new Subsampling1DLayer.Builder(oneOf(
                    SubsamplingLayer.PoolingType.MAX, SubsamplingLayer.PoolingType.AVG), kernel, stride)
                    .convolutionMode(pooled).build();
        }
        return settled(new Convolution1DLayer.Builder(kernel).nOut(size()).stride(stride).convolutionMode(mode))
                .build();
    }

    private Layer last(boolean classes) {
        return classes ? classifier(CLASSES).build()
                : new OutputLayer.Builder(oneOf(OF_NUMBERS)).nOut(CLASSES).activation(oneOf(LAST)).build();
    }

    /** A layer with an activation, and now and then with settings of its own. */
    private <T extends BaseLayer.Builder<T>> T settled(T layer) {
        Activation activation;
        do {
            activation = oneOf(Activation.values());
        } while (activation == Activation.RRELU);  // which draws numbers
        layer.activation(activation);
        if (chance()) {
            layer.updater(updater());
        }
        if (chance()) {
            layer.biasUpdater(updater());
        }
        if (chance()) {
            layer.l2(0.05).l1Bias(0.01);
        }
        if (chance()) {
            layer.constrainWeights(new MaxNormConstraint(0.5, 1));
        }
        return layer;
    }

    private IUpdater updater() {
        if (chance()) {
            ISchedule schedule = oneOf(TrainingCases.everySchedule(oneOf(ScheduleType.values())));
            return random.nextBoolean() ? new Sgd(schedule) : new Nesterovs(schedule);
        }
        IUpdater updater;
        do {
            updater = oneOf(TrainingCases.everyUpdater());
            // with AdaBelief Java 1.0.0-M2.1 cannot train; AdaMax makes steps of the noise of a gradient that is 0
        } while (updater instanceof AdaBelief || updater instanceof AdaMax);
        return updater;
    }

    private int size() {
        return 2 + random.nextInt(4);
    }

    private boolean chance() {
        return random.nextInt(5) == 0;
    }

    @SafeVarargs
    private final <T> T oneOf(T... choices) {
        return choices[random.nextInt(choices.length)];
    }
}
