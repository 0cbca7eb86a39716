package stowplan;

import com.sun.management.OperatingSystemMXBean;
import java.io.*;
import java.lang.management.*;
import java.nio.*;
import java.nio.channels.FileChannel;
import java.nio.file.*;
import java.sql.SQLException;
import java.util.*;
import org.json.*;

/** The driver's side of the protocol (docs/driver-format.md), for the kinds of stores that it is given. */
final class Driver {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final OperatingSystemMXBean SYSTEM = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    private final BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    private final PrintStream out = System.out;
    private final Map<String, Store.Kind> kinds = new LinkedHashMap<>();
    private Store store;

    void converse(Store.Kind... all) {
        System.setOut(System.err); // What a library prints is no part of the conversation.
        say("hello", Map.of("protocol", "stowplan-driver", "version", 4, "tool", "Java " + Runtime.version()));
        try {
            for (Store.Kind kind : all) kinds.put(described(kind).getString("name"), kind);
            for (String line = in.readLine(); line != null && !line.equals("\"bye\""); line = in.readLine()) {
                JSONObject message = new JSONObject(line);
                for (String task : message.keySet()) answer(task, message.getJSONObject(task));
            }
        } catch (Throwable error) { // The parent tells it to whoever runs the study.
            say("failed", Map.of("message", words(error)));
        }
    }

    /** Of what is no message of its own, such as the path of a file that is missing, what went wrong as well. */
    private static String words(Throwable error) {
        boolean plain = error instanceof RuntimeException || error instanceof SQLException;
        return plain && error.getMessage() != null ? error.getMessage() : error.toString();
    }

    private static JSONObject described(Store.Kind kind) {
        return new JSONObject(kind.described()).append("settings", new JSONObject(WarmUp.SETTING));
    }

    private void say(String name, Object fields) { out.println(new JSONObject().put(name, fields)); }

    private void answer(String task, JSONObject asked) throws Exception {
        String[] spec = asked.optString("store").replaceFirst(":", ",").split(",");
        Map<String, String> settings = new HashMap<>();
        for (String pair : spec) settings.put(pair.split("=")[0], pair.substring(pair.indexOf('=') + 1));
        Store.Kind kind = kinds.get(spec[0]);
        if (kind == null && asked.has("store"))
            throw new IllegalArgumentException("this driver has no store '" + spec[0] + "'");
        if (store == null && Set.of("create", "load", "run", "dump").contains(task))
            store = kind.open(Path.of(asked.getString("place")), settings, task.equals("create"));
        switch (task) {
            case "describe":
                var told = new JSONObject().put("kinds", kinds.values().stream().map(Driver::described).toList());
                if (kind != null) told.put("capabilities", new JSONObject(kind.capabilities(settings)));
                say("described", told);
                return;
            case "inspect": say("inspected", Map.of()); return;
            case "run": say("measured", run(asked, kind, settings)); return;
            case "load": load(asked, asked.getLong("first"), asked.getLong("count")); break;
            case "dump": dump(asked); break;
            case "rest":
                if (store != null) store.close(asked.getBoolean("checkpoint"));
                store = null;
                break;
            case "create": break; // It is open.
            default: throw new UnsupportedOperationException("the task '" + task + "' is not known");
        }
        out.println("\"done\"");
    }

    private void load(JSONObject asked, long first, long count) throws Exception {
        LongBuffer offsets = Block.content(asked.getString("dataset") + "/index.bin").asLongBuffer();
        try (RandomAccessFile values = new RandomAccessFile(asked.getString("dataset") + "/values.bin", "r")) {
            for (long key = first; key < first + count;) {
                store.begin(true); // Not one for all: some stores hold in memory what a transaction writes.
                for (long bytes = 0, size; key < first + count && bytes < 16 << 20; bytes += size + 100, key++) {
                    size = offsets.get((int) key) - offsets.get((int) key - 1);
                    store.insert(key, store.value(Block.read(values, offsets.get((int) key - 1), size)));
                }
                store.commit();
                say("progress", Map.of("done", key - first, "total", count));
            }
        }
    }

    private void dump(JSONObject asked) throws Exception {
        OutputStream file = new BufferedOutputStream(new FileOutputStream(asked.getString("to")));
        try (DataOutputStream to = new DataOutputStream(file)) {
            for (LongBuffer keys = Block.content(asked.getString("keys")).asLongBuffer(); keys.hasRemaining();) {
                byte[] value = store.get(keys.get());
                to.writeLong(value == null ? -1 : Long.reverseBytes(value.length));
                if (value != null) to.write(value);
            }
        }
    }

    private JSONObject run(JSONObject asked, Store.Kind kind, Map<String, String> settings) throws Exception {
        JSONObject workload = asked.getJSONObject("workload"), share = asked.getJSONArray("threads").getJSONObject(0);
        if (asked.getJSONArray("threads").length() > 1 || workload.optInt("rows_per_statement") > 1)
            throw new UnsupportedOperationException("this driver has one thread, and a statement inserts one row");
        int leadIn = share.getInt("lead_in"), operations = share.getInt("operations");
        Object perTransaction = workload.get("per_transaction");
        Block block = new Block(store, perTransaction, Block.steps(store, workload, share, leadIn + operations));
        ByteBuffer latencies = share.isNull("latencies") ? null : Block.little(new byte[4 * operations]);
        WarmUp.of(kind, settings, perTransaction, latencies != null);
        if (workload.getString("operation").equals("create-table")) store.dropTable(); // The one that a new store has.
        System.gc(); // What the preparation leaves behind is no cost of the block's.
        ByteBuffer before = ByteBuffer.allocate(100), after = ByteBuffer.allocate(100);
        Path delays = Path.of("/proc/thread-self/schedstat"); // Not every kernel has it.
        FileChannel schedstat = FileChannel.open(Files.exists(delays) ? delays : Path.of("/dev/null"));
        schedstat.read(after, 0); // The first time takes longer.
        say("ready", Map.of("effective", store.effective()));
        in.readLine();
        block.perform(0, leadIn, null);
        block.visited = new LongSummaryStatistics();
        long process = SYSTEM.getProcessCpuTime(), thread = THREADS.getCurrentThreadCpuTime(), start = System.nanoTime();
        schedstat.read(before, 0); // Within the time, or what passes between both could be more delay than time.
        block.perform(leadIn, leadIn + operations, latencies);
        schedstat.read(after.clear(), 0);
        long wall = System.nanoTime() - start, scanned = block.visited.getSum();
        thread = THREADS.getCurrentThreadCpuTime() - thread;
        process = SYSTEM.getProcessCpuTime() - process;
        if (latencies != null) Files.write(Path.of(share.getString("latencies")), latencies.array());
        JSONObject usage = new JSONObject().put("thread_cpu_ns", thread).put("process_cpu_ns", process);
        if (after.position() > 0) usage.put("run_delay_ns", waited(after) - waited(before));
        return new JSONObject().put("wall_ns", wall).put("usage", usage).put("bytes", scanned > 0 ? scanned : null);
    }

    /** Nanoseconds that a thread was ready and waited for a processor: the second number of its schedstat. */
    private static long waited(ByteBuffer schedstat) { return Long.parseLong(new String(schedstat.array()).split(" ")[1]); }
}
