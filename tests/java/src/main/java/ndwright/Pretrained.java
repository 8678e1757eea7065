package ndwright;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import org.deeplearning4j.nn.api.Layer;
import org.deeplearning4j.nn.conf.ComputationGraphConfiguration;
import org.deeplearning4j.nn.conf.MultiLayerConfiguration;
import org.deeplearning4j.nn.graph.ComputationGraph;
import org.deeplearning4j.nn.layers.BaseLayer;
import org.deeplearning4j.nn.layers.variational.VariationalAutoencoder;
import org.deeplearning4j.nn.multilayer.MultiLayerNetwork;
import org.deeplearning4j.optimize.api.ConvexOptimizer;
import org.nd4j.linalg.api.buffer.DataType;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.dataset.MultiDataSet;
import org.nd4j.linalg.dataset.adapter.SingletonDataSetIterator;
import org.nd4j.linalg.factory.Nd4j;

/**
 * Builds networks with layers that are pretrained from configurations that were written elsewhere; pretrains every one of
 * these layers, trains on labels, and pretrains again, in double precision; goes on so from the networks as they were saved
 * elsewhere. Argument: a folder of folders, each with conf.json, model.zip, x.npy, y.npy, layers.txt (names of those
 * layers, in a chain their numbers), seed.txt, graph.txt where the network is a graph, and labelled.txt where it is to be
 * trained on labels.
 */
public final class Pretrained {
    private static final int ROUNDS = 2, STEPS = 2;

    private Pretrained() {}

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
            Either network = Either.of(folder, Files.readString(folder.file("conf.json").toPath()));
            folder.write("java_init", network.params());
            INDArray theirs = folder.read("our_init", DataType.DOUBLE);
            network.params().assign(theirs.reshape(network.params().shape()));
            doing = "output";
            folder.write("java_output", network.output());
            doing = "score";
            folder.write("java_score", network.score());
            doing = "train";
            run(folder, "java_", network);
            doing = "save";
            network.save(folder.file("java_model.zip"));
            doing = "open";
            run(folder, "java_opened_", Either.opened(folder));
            if (folder.has("labelled.txt")) {
                doing = "gradient";
                Either other = Either.of(folder, Files.readString(folder.file("conf.json").toPath()));
                other.params().assign(theirs.reshape(other.params().shape()));
                folder.write("java_gradient", other.gradient());
            }
        } catch (Throwable error) {
            folder.failed(doing, error);
        }
    }

    /**
     * What the gradients of pretraining leave in memory, fit adds to the parameters once a layer has been trained on
     * labels before; so layers are pretrained first, and the second time last.
     */
    private static void run(Folder folder, String prefix, Either network) throws IOException {
        List<String> layers = Files.readAllLines(folder.file("layers.txt").toPath());
        double[] losses = new double[ROUNDS * STEPS * layers.size()];
        int loss = 0;
        seed(folder);
        for (int round = 0; round < ROUNDS; round++) {
            for (String layer : layers) {
                for (int step = 0; step < STEPS; step++) {
                    network.pretrain(layer);
                    losses[loss++] = network.layer(layer).score();
                }
                folder.write(prefix + "learned" + round + layer, learned(network.layer(layer)));
            }
            folder.write(prefix + "pretrained" + round, network.params());
            if (round == 0 && folder.has("labelled.txt")) {
                fit(folder, prefix, network);
            }
        }
        folder.write(prefix + "losses", losses);
        folder.write(prefix + "outputs", network.output());
    }

    private static void fit(Folder folder, String prefix, Either network) throws IOException {
        double[] scores = new double[STEPS];
        for (int step = 0; step < STEPS; step++) {
            scores[step] = network.fit();
        }
        folder.write(prefix + "scores", scores);
        folder.write(prefix + "params", network.params());
        folder.write(prefix + "state", network.state());
        folder.write(prefix + "trained_gradient", network.gradient());
        seed(folder);
    }

    private static void seed(Folder folder) throws IOException {
        Nd4j.getRandom().setSeed(Long.parseLong(Files.readString(folder.file("seed.txt").toPath())));
    }

    /** The state of the updater that a layer is pretrained with; null where it has none. */
    private static INDArray learned(Layer layer) {
        ConvexOptimizer optimizer = layer instanceof VariationalAutoencoder
                ? ((VariationalAutoencoder) layer).getOptimizer() : ((BaseLayer<?>) layer).getOptimizer();
        return optimizer.getUpdater().getStateViewArray();
    }

    /** A chain or a graph, and its data. */
    private static final class Either {
        private final MultiLayerNetwork chain;
        private final ComputationGraph graph;
        private final DataSet data;

        private Either(Folder folder, MultiLayerNetwork chain, ComputationGraph graph) {
            this.chain = chain;
            this.graph = graph;
            data = folder.data(DataType.DOUBLE);
        }

        static Either of(Folder folder, String conf) {
            if (folder.has("graph.txt")) {
                ComputationGraph graph = new ComputationGraph(ComputationGraphConfiguration.fromJson(conf));
                graph.init();
                return new Either(folder, null, graph);
            }
            MultiLayerNetwork chain = new MultiLayerNetwork(MultiLayerConfiguration.fromJson(conf));
            chain.init();
            return new Either(folder, chain, null);
        }

        static Either opened(Folder folder) throws IOException {
            File file = folder.file("model.zip");
            return folder.has("graph.txt") ? new Either(folder, null, ComputationGraph.load(file, true))
                    : new Either(folder, MultiLayerNetwork.load(file, true), null);
        }

        private MultiDataSet several() {
            return new MultiDataSet(data.getFeatures().dup(), data.getLabels());
        }

        INDArray params() {
            return graph == null ? chain.params() : graph.params();
        }

        INDArray state() {
            return graph == null ? chain.updaterState() : graph.updaterState();
        }

        INDArray output() {
            return graph == null ? Training.output(chain, data) : graph.output(false, data.getFeatures().dup())[0];
        }

        double score() {
            return graph == null ? Training.score(chain, data) : GraphTraining.score(graph, several());
        }

        INDArray gradient() {
            return graph == null ? Training.gradient(chain, data)
                    : GraphTraining.gradient(graph, several());
        }

        Layer layer(String name) {
            return graph == null ? chain.getLayer(Integer.parseInt(name)) : graph.getLayer(name);
        }

        void pretrain(String layer) {
            if (graph == null) {
                chain.pretrainLayer(Integer.parseInt(layer), data.getFeatures().dup());
            } else {
                graph.pretrainLayer(layer, new SingletonDataSetIterator(data.copy()));
            }
        }

        double fit() {
            if (graph == null) {
                chain.fit(data.copy());
                return chain.score();
            }
            graph.fit(data.copy());
            return graph.score();
        }

        void save(File file) throws IOException {
            if (graph == null) {
                chain.save(file, true);
            } else {
                graph.save(file, true);
            }
        }
    }
}
