package stowplan;

import java.io.*;
import java.nio.*;
import java.nio.file.*;
import java.util.*;
import org.json.JSONObject;

/** The steps of a block, and the loop that does them, transaction by transaction. */
final class Block {
    static final int READ = 0, OVERWRITE = 1, MODIFY = 2, INSERT = 3, DELETE = 4, SCAN = 5;
    private static final int CREATE_TABLE = 6, DROP_TABLE = 7;

    /** What is done, to the value of a key; {@code most} is how many values a scan visits. */
    record Step(int action, long key, int size, int most, Object value) {
        boolean writes() { return action != READ && action != SCAN; }
    }

    LongSummaryStatistics visited = new LongSummaryStatistics();
    private final Store store;
    private final Step[] steps;
    private final boolean alone; // Each operation is a transaction of its own.
    private final int group; // Operations of a transaction.
    private final boolean mix; // Some steps write, and some do not.

    /** {@code perTransaction} is a number, or "all". */
    Block(Store store, Object perTransaction, Step... steps) {
        this.store = store;
        this.steps = steps;
        alone = perTransaction.equals(1);
        group = perTransaction instanceof Integer some ? some : steps.length;
        mix = Arrays.stream(steps).anyMatch(step -> step.writes() != steps[0].writes());
    }

    /** The steps that the files of a run say. */
    static Step[] steps(Store store, JSONObject workload, JSONObject share, int count) throws IOException {
        Step[] steps = new Step[count];
        int table = List.of("create-table", "drop-table").indexOf(workload.getString("operation"));
        ByteBuffer sequence = content(share.getString("sequence"));
        JSONObject files = share.optJSONObject("payloads");
        LongBuffer offsets = files == null ? null : content(files.getString("offsets")).asLongBuffer();
        try (RandomAccessFile values = files == null ? null : new RandomAccessFile(files.getString("values"), "r")) {
            for (int n = 0; n < count; n++) { // Behind the last record of the sequence comes its first.
                int at = 16 + 16 * (int) ((share.getLong("first") + n) % sequence.getLong(8));
                int action = table < 0 ? sequence.getChar(at + 12) : CREATE_TABLE + table, size = sequence.getInt(at + 8);
                boolean has = action >= OVERWRITE && action <= INSERT;
                Object value = has ? store.value(read(values, offsets.get(n), size)) : null;
                steps[n] = new Step(action, sequence.getLong(at), size, sequence.getChar(at + 14), value);
            }
        }
        return steps;
    }

    /** Bytes of a file of the protocol, which is little-endian. */
    static ByteBuffer little(byte[] bytes) { return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN); }

    static ByteBuffer content(String path) throws IOException { return little(Files.readAllBytes(Path.of(path))); }

    static byte[] read(RandomAccessFile file, long from, long size) throws IOException {
        byte[] value = new byte[(int) size];
        file.seek(from);
        file.readFully(value);
        return value;
    }

    /** Does some steps; where latencies are wanted, each is told in nanoseconds. */
    void perform(int n, int to, ByteBuffer latencies) throws Exception {
        for (long before = System.nanoTime(); n < to;) {
            int end = alone || to - n < group ? to : n + group;
            if (!alone) store.begin(writes(n, end));
            if (!alone && latencies != null) before = System.nanoTime();
            for (; n < end; n++) {
                apply(steps[n]);
                if (latencies == null) continue;
                long now = System.nanoTime();
                latencies.putInt((int) Math.min(now - before, 0xFFFFFFFFL));
                before = now;
            }
            if (!alone) store.commit();
        }
    }

    /** Whether one of some steps does; only those of a mix differ. */
    private boolean writes(int n, int end) {
        while (mix && n + 1 < end && !steps[n].writes()) n++;
        return steps[n].writes();
    }

    private void apply(Step step) throws Exception {
        switch (step.action) {
            case READ -> expect(step, store.read(step.key));
            case OVERWRITE -> expect(step, store.overwrite(step.key, step.value) ? step.size : -1);
            case MODIFY -> {
                if (alone) store.begin(true);
                expect(step, store.read(step.key));
                expect(step, store.overwrite(step.key, step.value) ? step.size : -1);
                if (alone) store.commit();
            }
            case INSERT -> store.insert(step.key, step.value);
            case DELETE -> expect(step, store.delete(step.key) ? step.size : -1);
            case SCAN -> {
                long before = visited.getCount();
                store.scan(step.key, step.most, visited);
                long found = visited.getCount() - before;
                if (found < 1 || found > step.most) throw new IllegalStateException("a scan visited " + found + " values");
            }
            case CREATE_TABLE -> store.createTable();
            case DROP_TABLE -> store.dropTable();
            default -> throw new IllegalArgumentException("the sequence has an action that is not known");
        }
    }

    private void expect(Step step, long bytes) {
        if (bytes != step.size && bytes != Store.NOTHING_KEPT) throw new IllegalStateException("the value of key "
            + step.key + (bytes < 0 ? " is missing" : " has " + bytes + " bytes, not " + step.size));
    }
}
