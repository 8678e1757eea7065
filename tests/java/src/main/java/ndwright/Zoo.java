package ndwright;

import java.io.FileWriter;
import java.io.Writer;
import java.lang.reflect.Array;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Iterator;
import java.util.Map;
import org.deeplearning4j.nn.api.Model;
import org.deeplearning4j.nn.conf.ComputationGraphConfiguration;
import org.deeplearning4j.nn.graph.ComputationGraph;
import org.deeplearning4j.nn.multilayer.MultiLayerNetwork;
import org.deeplearning4j.zoo.PretrainedType;
import org.deeplearning4j.zoo.ZooModel;
import org.nd4j.common.util.ArrayUtil;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.factory.Nd4j;
import org.nd4j.shade.jackson.databind.JsonNode;
import org.nd4j.shade.jackson.databind.ObjectMapper;
import org.nd4j.shade.jackson.databind.node.ArrayNode;
import org.nd4j.shade.jackson.databind.node.ObjectNode;

/** Builds the models of Deeplearning4j's zoo and writes their configurations, numbers of parameters and files of weights. */
public class Zoo {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    /**
     * CASES is a file of [{"model": ..., "settings": {name of a builder's method: value}}], with "input" where there are to be
     * outputs, the shape of one example, and "given" for a configuration in the place of the model's. OUT, the file to write,
     * has all that too, so that it can be CASES again.
     */
    public static void main(String[] args) throws Exception {
        ArrayNode results = MAPPER.createArrayNode();
        for (JsonNode each : MAPPER.readTree(Files.readAllBytes(Paths.get(args[0])))) results.add(result(each));
        try (Writer out = new FileWriter(args[1])) {
            out.write(MAPPER.writeValueAsString(results));
        }
    }

    private static JsonNode result(JsonNode each) throws Exception {
        ObjectNode written = MAPPER.createObjectNode();
        for (String key : new String[] {"model", "settings", "input", "given"}) {
            if (each.has(key)) written.set(key, each.get(key));
        }
        System.out.println(each);
        try {
            if (each.has("given")) { // a network that Java's class cannot build
                String given = each.get("given").toString();
                ComputationGraph net = new ComputationGraph(ComputationGraphConfiguration.fromJson(given));
                net.init();
                describe(net, written, each.path("input"));
                return written;
            }
            ZooModel<?> zoo = zooModel(each);
            written.set("pretrained", pretrained(zoo));
            written.put("name", zoo.modelName());
            written.set("inputShape", MAPPER.valueToTree(zoo.metaData().getInputShape()));
            written.put("outputs", zoo.metaData().getNumOutputs());
            written.put("type", zoo.metaData().getZooType().name());
            describe(zoo.init(), written, each.path("input"));
        } catch (Throwable e) {
            Throwable cause = e instanceof InvocationTargetException ? e.getCause() : e;
            StackTraceElement at = cause.getStackTrace()[0];
            written.put("error", cause + " at " + at);
            cause.printStackTrace(System.out);
        }
        return written;
    }

    private static void describe(Model model, ObjectNode written, JsonNode input) throws Exception {
        written.put("parameters", model.numParams());
        if (model instanceof MultiLayerNetwork) {
            MultiLayerNetwork net = (MultiLayerNetwork) model;
            written.set("conf", MAPPER.readTree(net.getLayerWiseConfigurations().toJson()));
            if (input.isArray()) written.set("output", numbers(net.output(features(input))));
        } else {
            ComputationGraph net = (ComputationGraph) model;
            written.set("conf", MAPPER.readTree(net.getConfiguration().toJson()));
            if (input.isArray()) written.set("output", numbers(net.outputSingle(features(input))));
        }
        model.close();
    }

    /** Whole numbers from -8 to 8, over 8, again and again: of the shape of one example. */
    private static INDArray features(JsonNode shape) {
        long[] sizes = new long[shape.size()];
        for (int i = 0; i < sizes.length; i++) sizes[i] = shape.get(i).asLong();
        float[] values = new float[(int) ArrayUtil.prodLong(sizes)];
        for (int i = 0; i < values.length; i++) values[i] = (i % 17 - 8) / 8f;
        return Nd4j.createFromArray(values).reshape('c', sizes);
    }

    /** The shape of an output, and its first numbers. */
    private static ObjectNode numbers(INDArray output) {
        ObjectNode written = MAPPER.createObjectNode();
        written.set("shape", MAPPER.valueToTree(output.shape()));
        INDArray flat = output.dup('c').reshape(-1);
        ArrayNode first = written.putArray("first");
        for (long i = 0; i < Math.min(12, flat.length()); i++) first.add(flat.getFloat(i));
        written.put("largest", flat.amaxNumber().floatValue());
        return written;
    }

    private static ObjectNode pretrained(ZooModel<?> zoo) {
        ObjectNode files = MAPPER.createObjectNode();
        for (PretrainedType type : PretrainedType.values()) {
            if (!zoo.pretrainedAvailable(type)) continue;
            ObjectNode file = files.putObject(type.name());
            file.put("url", zoo.pretrainedUrl(type));
            file.put("checksum", zoo.pretrainedChecksum(type));
        }
        return files;
    }

    private static ZooModel<?> zooModel(JsonNode each) throws Exception {
        Object builder = Class.forName("org.deeplearning4j.zoo.model." + each.get("model").asText())
                .getMethod("builder").invoke(null);
        for (Iterator<Map.Entry<String, JsonNode>> it = each.get("settings").fields(); it.hasNext(); ) {
            Map.Entry<String, JsonNode> setting = it.next();
            set(builder, setting.getKey(), setting.getValue());
        }
        Method build = builder.getClass().getMethod("build");
        build.setAccessible(true);
        return (ZooModel<?>) build.invoke(builder);
    }

    private static void set(Object builder, String name, JsonNode value) throws Exception {
        for (Method method : builder.getClass().getMethods()) {
            if (!method.getName().equals(name)) continue;
            method.setAccessible(true);
            method.invoke(builder, converted(value, method.getParameterTypes()[0]));
            return;
        }
        throw new NoSuchMethodException(name);
    }

    private static Object converted(JsonNode value, Class<?> type) throws Exception {
        if (!type.isArray() && type.isInterface()) return MAPPER.readValue(value.toString(), type); // an updater
        if (!type.isArray()) return MAPPER.treeToValue(value, type);
        Object array = Array.newInstance(type.getComponentType(), value.size());
        for (int i = 0; i < value.size(); i++) Array.set(array, i, converted(value.get(i), type.getComponentType()));
        return array;
    }
}
