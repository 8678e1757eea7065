package ndwright;

import static ndwright.Cases.base;
import static ndwright.Cases.classifier;
import static ndwright.Cases.dense;

import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.deeplearning4j.nn.api.OptimizationAlgorithm;
import org.deeplearning4j.nn.conf.GradientNormalization;
import org.deeplearning4j.nn.conf.NeuralNetConfiguration.Builder;
import org.deeplearning4j.nn.conf.constraint.MaxNormConstraint;
import org.deeplearning4j.nn.conf.constraint.MinMaxNormConstraint;
import org.deeplearning4j.nn.conf.constraint.NonNegativeConstraint;
import org.deeplearning4j.nn.conf.constraint.UnitNormConstraint;
import org.deeplearning4j.nn.conf.layers.DenseLayer;
import org.deeplearning4j.nn.conf.layers.misc.FrozenLayer;
import org.deeplearning4j.nn.conf.layers.misc.FrozenLayerWithBackprop;
import org.deeplearning4j.nn.multilayer.MultiLayerNetwork;
import org.deeplearning4j.nn.transferlearning.FineTuneConfiguration;
import org.deeplearning4j.nn.transferlearning.TransferLearning;
import org.deeplearning4j.nn.weights.WeightInit;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.learning.config.AMSGrad;
import org.nd4j.linalg.learning.config.AdaBelief;
import org.nd4j.linalg.learning.config.AdaDelta;
import org.nd4j.linalg.learning.config.AdaGrad;
import org.nd4j.linalg.learning.config.AdaMax;
import org.nd4j.linalg.learning.config.Adam;
import org.nd4j.linalg.learning.config.IUpdater;
import org.nd4j.linalg.learning.config.Nadam;
import org.nd4j.linalg.learning.config.Nesterovs;
import org.nd4j.linalg.learning.config.NoOp;
import org.nd4j.linalg.learning.config.RmsProp;
import org.nd4j.linalg.learning.config.Sgd;
import org.nd4j.linalg.learning.regularization.L2Regularization;
import org.nd4j.linalg.learning.regularization.WeightDecay;
import org.nd4j.linalg.schedule.CycleSchedule;
import org.nd4j.linalg.schedule.ExponentialSchedule;
import org.nd4j.linalg.schedule.ISchedule;
import org.nd4j.linalg.schedule.InverseSchedule;
import org.nd4j.linalg.schedule.MapSchedule;
import org.nd4j.linalg.schedule.PolySchedule;
import org.nd4j.linalg.schedule.ScheduleType;
import org.nd4j.linalg.schedule.SigmoidSchedule;
import org.nd4j.linalg.schedule.StepSchedule;

/** What happens to gradients and parameters: updaters, penalties, schedules, norms, constraints, frozen layers. */
final class TrainingCases {
    private static final int SIZE = 4, CLASSES = 3;
    private static final INDArray X = Numbers.normal(41, 5, SIZE), Y = Numbers.classes(42, 5, CLASSES);
    private final List<Case> cases = new ArrayList<>();

    private TrainingCases() {}

    static List<Case> all() {
        TrainingCases training = new TrainingCases();
        training.updaters();
        training.schedules();
        training.norms();
        training.constraints();
        training.others();
        training.transfers();
        return training.cases;
    }

    static IUpdater[] everyUpdater() {
        return new IUpdater[] {
            new Sgd(0.1), new Nesterovs(0.1, 0.9), new Adam(0.01), new AdaMax(0.01), new AMSGrad(0.01), new Nadam(0.01),
            new AdaGrad(0.1), new AdaDelta(), new RmsProp(0.01), new NoOp(), new AdaBelief(0.01)
        };
    }

    /** All but the RampSchedule, of which Java writes nothing that it could be read from. */
    static ISchedule[] everySchedule(ScheduleType type) {
        return new ISchedule[] {
            new MapSchedule.Builder(type).add(0, 0.1).add(1, 0.05).add(2, 0.02).build(),
            new StepSchedule(type, 0.1, 0.5, 2), new ExponentialSchedule(type, 0.1, 0.9),
            new InverseSchedule(type, 0.1, 0.5, 2), new PolySchedule(type, 0.1, 2, 20),
            new SigmoidSchedule(type, 0.1, 0.5, 3), new CycleSchedule(type, 0.1, 5)
        };
    }

    /** Two dense layers below a classifier, with these settings of the network. */
    private void add(String name, UnaryOperator<Builder> settings) {
        cases.add(Case.of("train_" + name, () -> settings.apply(base()).list(
                dense(SIZE, 6).build(), dense(6, 5).build(), classifier(CLASSES).nIn(5).build()), X, Y));
    }

    /** A dense layer with these settings below a classifier. */
    private void addLayer(String name, UnaryOperator<DenseLayer.Builder> settings) {
        cases.add(Case.of("train_" + name, () -> base().list(
                settings.apply(dense(SIZE, 6)).build(), classifier(CLASSES).nIn(6).build()), X, Y));
    }

    private void updaters() {
        for (IUpdater each : everyUpdater()) {
            String name = each.getClass().getSimpleName();
            add("updater_" + name, network -> network.updater(each));
            add("penalty_" + name, network ->
                    network.updater(each).l1(0.01).l2(0.02).l1Bias(0.003).l2Bias(0.004));
            add("decay_" + name, network -> network.updater(each).weightDecay(0.02).weightDecayBias(0.01));
            add("decay_no_rate_" + name, network -> network.updater(each).weightDecay(0.02, false));
            addLayer("decay_of_a_layer_" + name, layer -> {
                layer.updater(each).weightDecay(0.02);
                return layer;
            });
        }
        add("bias_updater", network -> network.updater(new Adam(0.01)).biasUpdater(new Sgd(0.2)));
    }

    private void schedules() {
        for (ScheduleType type : ScheduleType.values()) {
            for (ISchedule each : everySchedule(type)) {
                String name = type + "_" + each.getClass().getSimpleName();
                add("rate_" + name, network -> network.updater(new Sgd(each)));
                add("rate_of_nesterovs_" + name, network -> network.updater(new Nesterovs(each)));
                add("rate_of_adam_" + name, network -> network.updater(new Adam(each)));
                addLayer("penalty_" + name, layer -> {
                    layer.regularization(new ArrayList<>(List.of(new L2Regularization(each))));
                    layer.regularizationBias(new ArrayList<>(List.of(new WeightDecay(each, true))));
                    return layer;
                });
            }
            add("rate_odd_cycle_" + type, network -> network.updater(new Sgd(new CycleSchedule(type, 0.1, 3))));
            ISchedule momentum = new StepSchedule(type, 0.9, 0.8, 1);
            add("momentum_" + type, network -> network.updater(
                    Nesterovs.builder().learningRate(0.1).momentumISchedule(momentum).build()));
        }
    }

    private void norms() {
        for (GradientNormalization each : GradientNormalization.values()) {
            add("norm_" + each, network ->
                    network.gradientNormalization(each).gradientNormalizationThreshold(0.05));
        }
    }

    private void constraints() {
        for (int axis = 0; axis < 2; axis++) {
            int over = axis;
            add("max_norm_" + axis, network -> network.updater(new Sgd(1.0))
                    .constrainWeights(new MaxNormConstraint(0.5, over)));
            add("min_max_norm_" + axis, network -> network.updater(new Sgd(1.0))
                    .constrainWeights(new MinMaxNormConstraint(0.3, 0.6, 0.8, over)));
            add("unit_norm_" + axis, network -> network.updater(new Sgd(1.0))
                    .constrainWeights(new UnitNormConstraint(over)));
        }
        add("max_norm_all", network -> network.updater(new Sgd(1.0))
                .constrainWeights(new MaxNormConstraint(0.5, 0, 1)));
        add("non_negative", network -> network.constrainWeights(new NonNegativeConstraint()));
        addLayer("non_negative_layer", layer -> layer.constrainAllParameters(new NonNegativeConstraint()));
        addLayer("two", layer -> layer.constrainWeights(new MaxNormConstraint(0.5, 1), new NonNegativeConstraint())
                .constrainBias(new NonNegativeConstraint()));
    }

    private void others() {
        add("no_mini_batch", network -> network.miniBatch(false).updater(new Sgd(0.02)));
        add("maximise", network -> network.minimize(false));
        for (OptimizationAlgorithm each : OptimizationAlgorithm.values()) {
            add("optimiser_" + each, network -> network.optimizationAlgo(each).updater(new Sgd(0.1)));
        }
        cases.add(Case.of("train_frozen", () -> base().list(new FrozenLayer(dense(SIZE, 6).build()),
                classifier(CLASSES).nIn(6).build()), X, Y));
        cases.add(Case.of("train_frozen_with_backprop", () -> base().list(dense(SIZE, 6).build(),
                new FrozenLayerWithBackprop(dense(6, 5).build()), classifier(CLASSES).nIn(5).build()), X, Y));
    }

    /** Networks made of one that was trained. */
    private void transfers() {
        addTransfer("frozen", transfer -> transfer.setFeatureExtractor(0));
        addTransfer("outputs", transfer -> transfer.nOutReplace(1, 7, WeightInit.XAVIER));
        addTransfer("last", transfer -> transfer.setFeatureExtractor(0).removeOutputLayer()
                .addLayer(classifier(CLASSES).nIn(5).weightInit(WeightInit.XAVIER).build()));
        addTransfer("longer", transfer -> transfer.removeOutputLayer().addLayer(dense(5, 4).build())
                .addLayer(classifier(CLASSES).nIn(4).build()));
    }

    private void addTransfer(String name, UnaryOperator<TransferLearning.Builder> change) {
        cases.add(new Case("transfer_" + name, () -> {
            MultiLayerNetwork trained = Case.made(base().l2(0.01).list(
                    dense(SIZE, 6).build(), dense(6, 5).build(), classifier(CLASSES).nIn(5).build()));
            Training.fit(trained, new DataSet(X, Y), 2);
            FineTuneConfiguration tuning = new FineTuneConfiguration.Builder().seed(777).updater(new Adam(0.01))
                    .l2(0.001).build();
            return change.apply(new TransferLearning.Builder(trained).fineTuneConfiguration(tuning)).build();
        }, new DataSet(X, Y)));
    }
}
