package stowplan;

import java.io.File;
import java.nio.file.Files;
import java.util.Map;

/** What a store's code does before a block, so that it is machine code: README.md, "What the figures mean". */
final class WarmUp {
    static final String SETTING = """
        {"name": "warm_up", "kind": {"integer": {"min": 0, "max": 1000000}}, "default": "10000",
         "help": "how often each operation is done before a block, to a store in memory that is thrown away, \
        for 3 seconds at most; 0: the block is what a process does that has just begun"}""";
    private static final File MEMORY = new File(new File("/dev/shm").canWrite() ? "/dev/shm" : "/tmp");
    private static final String PLACE = "stowplan-warm-up-";

    /** Does so on another store of the kind, not on the one that is measured. */
    static void of(Store.Kind kind, Map<String, String> settings, boolean together) throws Exception {
        int times = Integer.parseInt(settings.getOrDefault("warm_up", "0")); // The driver's cost is asked so.
        if (times == 0) return;
        for (File left : MEMORY.listFiles((memory, name) -> name.startsWith(PLACE))) // By a process that was killed.
            if (!new File("/proc", left.getName().substring(PLACE.length())).exists()) remove(left);
        File place = new File(MEMORY, PLACE + ProcessHandle.current().pid());
        place.mkdir();
        Store store = kind.open(place.toPath(), settings, true);
        Object value = store.value("x".repeat(100).getBytes());
        long end = System.nanoTime() + 3_000_000_000L;
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

    private static void remove(File place) {
        File[] within = Files.isSymbolicLink(place.toPath()) ? null : place.listFiles(); // Where a link leads is another's.
        if (within != null) for (File file : within) remove(file);
        place.delete();
    }
}
