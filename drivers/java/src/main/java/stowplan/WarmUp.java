package stowplan;

import java.io.IOException;
import java.nio.file.*;
import java.util.*;
import java.util.stream.Stream;
import org.json.JSONObject;

/** What a store's code does before a block, so that it is machine code: README.md, "What the figures mean". */
final class WarmUp {
    private static final Path MEMORY = Path.of(Files.isWritable(Path.of("/dev/shm")) ? "/dev/shm" : "/tmp");
    private static final String PLACE = "stowplan-warm-up-";
    private static final long LONGEST_NS = 3_000_000_000L;

    private WarmUp() { }

    static JSONObject setting() {
        return new JSONObject("""
            {"name": "warm_up", "kind": {"integer": {"min": 0, "max": 1000000}}, "default": "10000",
             "help": "how often each operation is done before a block, to a store in memory that is thrown away, \
            for 3 seconds at most; 0: the block is what a process does that has just begun"}""");
    }

    /** Does so on another store of the kind, not on the one that is measured. */
    static void of(Store.Kind kind, Map<String, String> settings, boolean together) throws Exception {
        int times = Integer.parseInt(settings.getOrDefault("warm_up", "0"));
        if (times == 0) return;
        removeThoseOfKilledProcesses();
        Path place = Files.createDirectory(MEMORY.resolve(PLACE + ProcessHandle.current().pid()));
        Store store = kind.open(place, settings, true);
        Object value = store.value("x".repeat(100).getBytes());
        long end = System.nanoTime() + LONGEST_NS;
        for (int key = 1; key <= times && System.nanoTime() < end || together && key % 100 != 1; key++) {
            if (together && key % 100 == 1) store.begin();
            store.insert(key, value);
            store.overwrite(key, value);
            store.read(key);
            store.scan(key, 1, bytes -> { });
            if (key > 100) store.delete(key - 100);
            if (together && key % 100 == 0) store.commit();
        }
        store.close(true);
        remove(place);
    }

    private static void removeThoseOfKilledProcesses() throws IOException {
        try (DirectoryStream<Path> places = Files.newDirectoryStream(MEMORY, PLACE + "*")) {
            for (Path place : places) {
                String process = place.getFileName().toString().substring(PLACE.length());
                if (Files.notExists(Path.of("/proc", process))) remove(place);
            }
        }
    }

    private static void remove(Path place) throws IOException {
        try (Stream<Path> files = Files.walk(place)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) Files.deleteIfExists(file);
        }
    }
}
