package ndwright;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.nd4j.linalg.factory.Nd4j;
import org.nd4j.shade.jackson.databind.ObjectMapper;

/** Writes what was found, one entry a line, and which release said it. */
final class Json {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private Json() {}

    static void write(Map<String, ?> kinds, Path path) throws IOException {
        List<String> parts = new ArrayList<>();
        parts.add("\"release\": " + MAPPER.writeValueAsString(release()));
        for (Map.Entry<String, ?> kind : kinds.entrySet()) {
            List<String> lines = new ArrayList<>();
            boolean named = kind.getValue() instanceof Map;
            for (Object entry : named ? ((Map<?, ?>) kind.getValue()).entrySet() : (List<?>) kind.getValue()) {
                String value = MAPPER.writeValueAsString(named ? ((Map.Entry<?, ?>) entry).getValue() : entry);
                lines.add(named ? "\"" + ((Map.Entry<?, ?>) entry).getKey() + "\": " + value : value);
            }
            String inside = String.join(",\n  ", lines);
            parts.add("\"" + kind.getKey() + "\": " + (named ? "{" : "[") + "\n  " + inside + "\n" + (named ? "}" : "]"));
        }
        Files.writeString(path, "{\n" + String.join(",\n", parts) + "\n}\n");
    }

    /** The release, from the name of ND4J's jar. */
    private static String release() {
        String jar = Nd4j.class.getProtectionDomain().getCodeSource().getLocation().getPath();
        return jar.replaceAll(".*/nd4j-api-(.*)\\.jar", "$1");
    }
}
