package ndwright;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.nd4j.linalg.api.ndarray.INDArray;

/** Turns an object into maps, lists and plain values that JSON can hold. */
final class Values {
    private static final int DEEPEST = 4;
    /** What is another with every run. */
    private static final Set<String> PASSING = Set.of("start", "workspaceId");

    private Values() {}

    /** Every field of an object that is not static, by its name; its class under "@class". */
    static Map<String, Object> fieldsOf(Object object) {
        return fieldsOf(object, 0);
    }

    private static Map<String, Object> fieldsOf(Object object, int depth) {
        Map<String, Object> found = new TreeMap<>();
        found.put("@class", object.getClass().getSimpleName());
        for (Class<?> type = object.getClass(); type != Object.class; type = type.getSuperclass()) {
            for (Field field : type.getDeclaredFields()) {
                boolean kept = !Modifier.isStatic(field.getModifiers()) && !field.isSynthetic();
                if (kept && !PASSING.contains(field.getName())) {
                    found.putIfAbsent(field.getName(), valueOf(field, object, depth));
                }
            }
        }
        return found;
    }

    private static Object valueOf(Field field, Object object, int depth) {
        try {
            field.setAccessible(true);
            return plain(field.get(object), depth + 1);
        } catch (IllegalAccessException error) {
            throw new IllegalStateException(error);
        }
    }

    private static Object plain(Object value, int depth) {
        if (value == null || value instanceof Boolean || value instanceof Integer || value instanceof Long
                || value instanceof String) {
            return value;
        }
        if (value instanceof Double || value instanceof Float) {
            double number = ((Number) value).doubleValue();
            return Double.isFinite(number) ? (Object) value : value.toString();
        }
        if (value instanceof Enum) {
            return ((Enum<?>) value).name();
        }
        if (value instanceof Collection) {
            List<Object> found = new ArrayList<>();
            ((Collection<?>) value).forEach(each -> found.add(plain(each, depth + 1)));
            return found;
        }
        if (value instanceof Map) {
            Map<String, Object> found = new LinkedHashMap<>();
            ((Map<?, ?>) value).forEach((key, each) -> found.put(String.valueOf(key), plain(each, depth + 1)));
            return found;
        }
        if (value.getClass().isArray()) {
            List<Object> found = new ArrayList<>();
            for (int i = 0; i < Array.getLength(value); i++) {
                found.add(plain(Array.get(value, i), depth + 1));
            }
            return found;
        }
        boolean told = isConfiguration(value.getClass().getName()) && depth < DEEPEST;
        return told ? fieldsOf(value, depth) : Map.of("@class", value.getClass().getSimpleName());
    }

    private static boolean isConfiguration(String name) {
        return !INDArray.class.getName().equals(name)
                && name.matches("org\\.nd4j\\.linalg\\.(activations|learning|schedule|lossfunctions)\\..*"
                        + "|org\\.deeplearning4j\\.nn\\.(conf|weights)\\..*");
    }
}
