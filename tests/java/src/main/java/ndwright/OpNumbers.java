package ndwright;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.nd4j.linalg.api.ops.Op;
import org.nd4j.linalg.factory.Nd4j;

/** The numbers by which ND4J calls its ops, of those that can be made without arguments. Argument: the file to write. */
public final class OpNumbers {
    private static final String PLACE = "org/nd4j/linalg/api/ops/";

    private OpNumbers() {}

    public static void main(String[] arguments) throws IOException {
        String jar = Nd4j.class.getProtectionDomain().getCodeSource().getLocation().getPath();
        Map<String, Integer> numbers = new TreeMap<>();
        try (JarFile file = new JarFile(jar)) {
            for (JarEntry entry : Collections.list(file.entries())) {
                String name = entry.getName();
                if (name.startsWith(PLACE) && name.endsWith(".class") && !name.contains("$")) {
                    add(numbers, name.substring(0, name.length() - ".class".length()).replace('/', '.'));
                }
            }
        }
        Json.write(Map.of("numbers", numbers), Path.of(arguments[0]));
    }

    private static void add(Map<String, Integer> numbers, String className) {
        try {
            Class<?> type = Class.forName(className);
            if (Op.class.isAssignableFrom(type)) {
                numbers.put(type.getSimpleName(), ((Op) type.getDeclaredConstructor().newInstance()).opNum());
            }
        } catch (ReflectiveOperationException | LinkageError | RuntimeException error) {
            // abstract, without such a constructor, or called by name
        }
    }
}
