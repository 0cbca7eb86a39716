package stowplan;

import java.io.*;
import java.nio.ByteBuffer;
import java.nio.file.*;
import java.util.*;

/** What comes before a block, so that store and loop are machine code: README.md, "What the figures mean". */
final class WarmUp {
    static final String SETTING = """
        {"name": "warm_up", "kind": {"integer": {"min": 0, "max": 1000000}}, "default": "10000",
         "help": "how often each operation is done before a block, to a store in memory that is thrown away, \
        for 3 seconds at most; 0: the block is what a process does that has just begun"}""";
    private static final File MEMORY = new File(new File("/dev/shm").canWrite() ? "/dev/shm" : "/tmp");
    private static final String PLACE = "stowplan-warm-up-";
    private static final int AT_ONCE = 10, KEPT = 50, BYTES = 100;

    /** Does so by blocks like the one that comes, on another store of the kind. */
    static void of(Store.Kind kind, Map<String, String> settings, Object perTransaction, boolean latencies)
            throws Exception {
        int times = Integer.parseInt(settings.get("warm_up"));
        if (times == 0) return;
        Path place = Files.createTempDirectory(MEMORY.toPath(), PLACE + ProcessHandle.current().pid() + "-");
        try {
            for (File other : MEMORY.listFiles((memory, name) -> name.startsWith(PLACE)))
                if (isLeft(other, place)) remove(other);
            Store store = kind.open(place, settings, true);
            Object value = store.value("x".repeat(BYTES).getBytes());
            ByteBuffer told = ByteBuffer.allocate(4 * 6 * AT_ONCE);
            long end = System.nanoTime() + 3_000_000_000L;
            for (int key = 1; key <= times && System.nanoTime() < end; key += AT_ONCE) {
                Block.Step[] steps = steps(key, Math.min(key + AT_ONCE, times + 1), value);
                new Block(store, perTransaction, steps).perform(0, steps.length, latencies ? told.clear() : null);
            }
            store.close(true);
        } finally {
            remove(place.toFile());
        }
    }

    /** Each operation once for each of these keys. */
    private static Block.Step[] steps(int key, int end, Object value) {
        List<Block.Step> steps = new ArrayList<>();
        for (; key < end; key++) {
            for (int action : new int[] {Block.INSERT, Block.OVERWRITE, Block.MODIFY, Block.READ, Block.SCAN})
                steps.add(new Block.Step(action, key, BYTES, 1, value));
            if (key > KEPT) steps.add(new Block.Step(Block.DELETE, key - KEPT, BYTES, 1, null));
        }
        return steps.toArray(new Block.Step[0]);
    }

    /** Whether a process of this user left it that was killed. What others own they may change while it is removed. */
    private static boolean isLeft(File left, Path own) throws IOException {
        String process = left.getName().substring(PLACE.length()).split("-")[0];
        try {
            return !new File("/proc", process).exists()
                && Files.getOwner(left.toPath(), LinkOption.NOFOLLOW_LINKS).equals(Files.getOwner(own));
        } catch (NoSuchFileException gone) {
            return false;
        }
    }

    private static void remove(File place) {
        File[] within = Files.isSymbolicLink(place.toPath()) ? null : place.listFiles(); // Where a link leads is another's.
        if (within != null) for (File file : within) remove(file);
        place.delete();
    }
}
