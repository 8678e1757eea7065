package ndwright;

import java.io.File;
import java.io.PrintWriter;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/**
 * Writes what Deeplearning4j's public classes have, by reflection, without running them: a line for each class, with
 * the classes that it extends (">"), and its own public constants and methods with their numbers of arguments. "*"
 * stands before what is static.
 */
public class Interfaces {
    private static final String[] PACKAGES = {
        "org/deeplearning4j/datasets/", "org/deeplearning4j/earlystopping/", "org/deeplearning4j/eval/",
        "org/deeplearning4j/gradientcheck/", "org/deeplearning4j/nn/", "org/deeplearning4j/optimize/",
        "org/deeplearning4j/util/", "org/nd4j/evaluation/", "org/nd4j/linalg/activations/",
        "org/nd4j/linalg/api/rng/", "org/nd4j/linalg/dataset/", "org/nd4j/linalg/learning/",
        "org/nd4j/linalg/lossfunctions/", "org/nd4j/linalg/schedule/",
    };

    public static void main(String[] arguments) throws Exception {
        Map<String, String> lines = new TreeMap<>();
        for (String path : System.getProperty("java.class.path").split(File.pathSeparator)) {
            if (path.matches(".*/(deeplearning4j|nd4j)[^/]*\\.jar")) {
                read(path, lines);
            }
        }
        try (PrintWriter out = new PrintWriter(arguments[0], "UTF-8")) {
            lines.forEach((name, line) -> out.println(name + ": " + line));
        }
    }

    private static void read(String path, Map<String, String> lines) throws Exception {
        try (JarFile jar = new JarFile(path)) {
            for (JarEntry entry : (Iterable<JarEntry>) jar.stream()::iterator) {
                String file = entry.getName();
                if (file.endsWith(".class") && List.of(PACKAGES).stream().anyMatch(file::startsWith)) {
                    String name = file.substring(0, file.length() - 6).replace('/', '.');
                    try {
                        Class<?> kind = Class.forName(name, false, Interfaces.class.getClassLoader());
                        if (isPublic(kind)) {
                            lines.put(name, line(kind));
                        }
                    } catch (NoClassDefFoundError | ClassNotFoundException missing) {
                        continue; // of a part that needs a library which is not there
                    }
                }
            }
        }
    }

    private static boolean isPublic(Class<?> kind) {
        for (Class<?> each = kind; each != null; each = each.getDeclaringClass()) {
            if (!Modifier.isPublic(each.getModifiers())) {
                return false;
            }
        }
        return !kind.isSynthetic();
    }

    private static String line(Class<?> kind) {
        Map<String, TreeSet<Integer>> counts = new TreeMap<>();
        for (Method method : kind.getDeclaredMethods()) {
            if (Modifier.isPublic(method.getModifiers()) && !method.isSynthetic()) {
                String name = (Modifier.isStatic(method.getModifiers()) ? "*" : "") + method.getName();
                counts.computeIfAbsent(name, none -> new TreeSet<>()).add(method.getParameterCount());
            }
        }
        List<String> words = new ArrayList<>();
        if (kind.getSuperclass() != null && kind.getSuperclass() != Object.class) {
            words.add(">" + kind.getSuperclass().getName());
        }
        for (Class<?> each : kind.getInterfaces()) {
            words.add(">" + each.getName());
        }
        for (Field field : kind.getDeclaredFields()) {
            if (Modifier.isStatic(field.getModifiers()) && Modifier.isPublic(field.getModifiers())) {
                words.add("*" + field.getName());
            }
        }
        counts.forEach((name, sizes) -> words.add(name + sizes.toString().replace(" ", "")));
        return String.join(" ", words);
    }
}
