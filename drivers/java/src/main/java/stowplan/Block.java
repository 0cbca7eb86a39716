package stowplan;

import java.io.IOException;
import java.nio.*;
import java.nio.channels.FileChannel;
import java.nio.file.*;
import java.util.function.LongConsumer;
import org.json.JSONObject;

/** The steps of a block, and the loop that does them, transaction by transaction. */
final class Block {
    long scanned;
    private final Store store;
    private final boolean keepsNothing;
    private final long first;
    private final int group, table; // Operations of a transaction, 0: each alone. What is done to tables, -1: nothing.
    private final ByteBuffer sequence;
    private final Object[] values;
    private int visited;
    private final LongConsumer visit = bytes -> { visited++; scanned += bytes; };

    Block(Store store, boolean keepsNothing, JSONObject workload, JSONObject share, int count) throws IOException {
        this.store = store;
        this.keepsNothing = keepsNothing;
        Object each = workload.get("per_transaction");
        group = each.equals("all") ? Integer.MAX_VALUE : each.equals(1) ? 0 : (int) each;
        table = java.util.List.of("create-table", "drop-table").indexOf(workload.getString("operation"));
        first = share.getLong("first");
        sequence = content(share.getString("sequence"));
        values = new Object[count];
        JSONObject files = share.optJSONObject("payloads");
        if (files == null) return;
        LongBuffer offsets = content(files.getString("offsets")).asLongBuffer();
        try (FileChannel from = FileChannel.open(Path.of(files.getString("values")))) {
            for (int n = 0; n < count; n++)
                if (action(n) >= 1 && action(n) <= 3) values[n] = store.value(read(from, offsets.get(n), size(n)));
        }
    }

    /** A file; those of the protocol are little-endian. */
    static ByteBuffer content(String path) throws IOException {
        return ByteBuffer.wrap(Files.readAllBytes(Path.of(path))).order(ByteOrder.LITTLE_ENDIAN);
    }

    static byte[] read(FileChannel file, long from, long size) throws IOException {
        ByteBuffer value = ByteBuffer.allocate((int) size);
        while (value.hasRemaining() && file.read(value, from + value.position()) > 0) { }
        return value.array();
    }

    /** Where a step lies: behind the last record of the sequence comes its first. */
    private int at(int n) { return 16 + 16 * (int) ((first + n) % sequence.getLong(8)); }
    private int size(int n) { return sequence.getInt(at(n) + 8); }
    private int action(int n) { return table < 0 ? sequence.getShort(at(n) + 12) : 6 + table; }

    /** Does some steps; where latencies are wanted, each is told in nanoseconds. */
    void perform(int n, int to, ByteBuffer latencies) throws Exception {
        for (long before = System.nanoTime(); n < to;) {
            int end = group == 0 ? to : (int) Math.min((long) n + group, to);
            if (group > 0) store.begin();
            if (group > 0 && latencies != null) before = System.nanoTime();
            for (; n < end; n++) {
                step(n, sequence.getLong(at(n)));
                if (latencies == null) continue;
                long now = System.nanoTime();
                latencies.putInt((int) Math.min(now - before, 0xFFFFFFFFL));
                before = now;
            }
            if (group > 0) store.commit();
        }
    }

    private void step(int n, long key) throws Exception {
        switch (action(n)) {
            case 0 -> expect(n, store.read(key));
            case 1 -> expect(n, store.overwrite(key, values[n]) ? size(n) : -1);
            case 2 -> {
                if (group == 0) store.begin();
                expect(n, store.read(key));
                expect(n, store.overwrite(key, values[n]) ? size(n) : -1);
                if (group == 0) store.commit();
            }
            case 3 -> store.insert(key, values[n]);
            case 4 -> expect(n, store.delete(key) ? size(n) : -1);
            case 5 -> {
                int most = Short.toUnsignedInt(sequence.getShort(at(n) + 14));
                visited = 0;
                store.scan(key, most, visit);
                if (visited < 1 || visited > most) throw new IllegalStateException("a scan visited " + visited + " values");
            }
            case 6 -> store.createTable();
            case 7 -> store.dropTable();
            default -> throw new IllegalArgumentException("the sequence has an action that is not known");
        }
    }

    private void expect(int n, long bytes) {
        if (bytes != size(n) && !keepsNothing) throw new IllegalStateException("the value of key "
            + sequence.getLong(at(n)) + (bytes < 0 ? " is missing" : " has " + bytes + " bytes, not " + size(n)));
    }
}
