package stowplan;

import static org.junit.jupiter.api.Assertions.*;

import java.io.*;
import java.nio.*;
import java.nio.file.*;
import java.sql.*;
import java.util.*;
import org.json.JSONObject;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Drives the program as stowplan does: a process, lines of JSON, and files. */
class DriverTest {
    private static final int READ = 0, OVERWRITE = 1, MODIFY = 2, INSERT = 3, DELETE = 4, SCAN = 5;
    private static final String DURABLE = "sqlite:journal=wal,synchronous=full,cache=2000000,page_size=4096,warm_up=0,";
    private static final String SQLITE = DURABLE + "statement=prepared,column_type=blob";
    private static final String EACH = DURABLE + "statement=each,column_type=text";
    private static final String MVSTORE = "mvstore:commit=sync,cache=16777216,warm_up=200";
    private static final String MAPDB = "mapdb:journal=wal,file=mmap,values=outside,warm_up=0";

    @TempDir Path work;
    private final List<Process> processes = new ArrayList<>();

    @AfterEach
    void endAll() {
        processes.forEach(Process::destroyForcibly);
    }

    /** One process of the driver, greeted. */
    private final class Conversation {
        private final BufferedReader from;
        private final Writer to;
        private final String spec;

        Conversation(String spec) throws IOException {
            String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
            Process process = new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"), "stowplan.Main")
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
            processes.add(process);
            this.spec = spec;
            from = process.inputReader();
            to = process.outputWriter();
            assertEquals(4, new JSONObject(from.readLine()).getJSONObject("hello").getInt("version"));
        }

        String ask(String task, String fields) throws IOException {
            String place = work.resolve("store").toString();
            return say("{\"" + task + "\":{\"store\":\"" + spec + "\",\"place\":\"" + place + "\"" + fields + "}}");
        }

        String say(String line) throws IOException {
            to.write(line + "\n");
            to.flush();
            String answer = from.readLine();
            return answer.contains("progress") ? from.readLine() : answer;
        }

        /** A block of these steps, each an action, a key and the text that it writes, or bytes of what it reads. */
        String block(String operation, Object perTransaction, int leadIn, Object[]... steps) throws IOException {
            ByteBuffer sequence = little(16 + 16 * steps.length).put("STOWSEQ1".getBytes()).putLong(steps.length);
            ByteBuffer offsets = little(8 * steps.length);
            StringBuilder values = new StringBuilder();
            for (Object[] step : steps) {
                boolean writes = step[2] instanceof String;
                sequence.putLong((int) step[1]).putInt(writes ? ((String) step[2]).length() : (int) step[2]);
                sequence.putShort((short) (int) step[0]).putShort((short) 3);
                offsets.putLong(values.length());
                values.append(writes ? step[2] : "");
            }
            String threads = """
                ,"workload":{"operation":"%s","per_transaction":%s},"threads":[{"sequence":"%s","first":0,"lead_in":%d,
                "operations":%d,"payloads":{"values":"%s","offsets":"%s"},"latencies":"%s"}]""".replace("\n", "")
                .formatted(operation, perTransaction, file("sequence", sequence.array()), leadIn, steps.length - leadIn,
                    file("values", values.toString().getBytes()), file("offsets", offsets.array()), work.resolve("latencies"));
            String ready = ask("run", threads);
            return ready.startsWith("{\"ready\"") ? say("\"go\"") : ready;
        }

        /** The values of keys, those that are missing as null. */
        List<String> values(long... keys) throws IOException {
            ByteBuffer wanted = little(8 * keys.length);
            for (long key : keys) wanted.putLong(key);
            Path to = work.resolve("dump");
            String files = ",\"keys\":\"" + file("keys", wanted.array()) + "\",\"to\":\"" + to + "\"";
            assertEquals("\"done\"", ask("dump", files));
            ByteBuffer found = ByteBuffer.wrap(Files.readAllBytes(to)).order(ByteOrder.LITTLE_ENDIAN);
            List<String> values = new ArrayList<>();
            while (found.hasRemaining()) {
                long size = found.getLong();
                byte[] value = new byte[(int) Math.max(size, 0)];
                found.get(value);
                values.add(size < 0 ? null : new String(value));
            }
            return values;
        }
    }

    private static ByteBuffer little(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    private String file(String name, byte[] content) throws IOException {
        return Files.write(work.resolve(name), content).toString();
    }

    private static Object[] step(int action, int key, Object what) {
        return new Object[] {action, key, what};
    }

    /** A store with the values one, two and three. */
    private void built(String spec) throws IOException {
        Files.createDirectory(work.resolve("store"));
        Files.write(work.resolve("values.bin"), "onetwothree".getBytes());
        ByteBuffer index = little(32).putLong(0).putLong(3).putLong(6).putLong(11);
        Files.write(work.resolve("index.bin"), index.array());
        Conversation driver = new Conversation(spec);
        assertEquals("\"done\"", driver.ask("create", ""));
        assertEquals("\"done\"", driver.ask("load", ",\"dataset\":\"" + work + "\",\"first\":1,\"count\":3"));
        assertEquals("\"done\"", driver.ask("rest", ",\"checkpoint\":true"));
    }

    @ParameterizedTest
    @ValueSource(strings = {SQLITE, EACH, MVSTORE, MAPDB})
    void what_a_block_writes_is_there_for_another_process(String spec) throws IOException {
        built(spec);
        Conversation driver = new Conversation(spec);
        String measured = driver.block("mix", 2, 1, step(READ, 3, 5), step(OVERWRITE, 1, "ONE!"), step(READ, 1, 4),
            step(MODIFY, 2, "TWO"), step(INSERT, 9, "nine"), step(DELETE, 3, 5), step(SCAN, 1, 4));
        assertTrue(measured.startsWith("{\"measured\""), measured);
        assertEquals(4 * 6, Files.size(work.resolve("latencies")));
        assertEquals("\"done\"", driver.ask("rest", ",\"checkpoint\":true"));
        assertEquals(Arrays.asList("ONE!", "TWO", null, "nine"), new Conversation(spec).values(1, 2, 3, 9));
    }

    @ParameterizedTest
    @ValueSource(strings = {SQLITE, EACH, MVSTORE, MAPDB})
    void a_value_that_is_missing_or_of_another_size_fails_the_block(String spec) throws IOException {
        built(spec);
        String missing = new Conversation(spec).block("read", 1, 0, step(READ, 1, 3), step(READ, 7, 3));
        assertEquals("{\"failed\":{\"message\":\"the value of key 7 is missing\"}}", missing);
        processes.forEach(process -> process.destroyForcibly().onExit().join());
        String longer = new Conversation(spec).block("read", "\"all\"", 0, step(READ, 1, 2));
        assertTrue(longer.contains("the value of key 1 has 3 bytes, not 2"), longer);
        processes.forEach(process -> process.destroyForcibly().onExit().join());
        String gone = new Conversation(spec).block("delete", 1, 0, step(DELETE, 7, 1));
        assertTrue(gone.contains("key 7 is missing"), gone);
    }

    @ParameterizedTest
    @ValueSource(strings = {SQLITE, MVSTORE})
    void the_table_that_is_dropped_holds_nothing_once_it_is_made_again(String spec) throws IOException {
        built(spec);
        Conversation driver = new Conversation(spec);
        String made = driver.block("create-table", 1, 0, step(READ, 1, 3));
        assertTrue(made.startsWith("{\"measured\""), made);
        assertEquals(Arrays.asList(null, null), driver.values(1, 2));
    }

    @ParameterizedTest
    @ValueSource(strings = {SQLITE, MVSTORE, MAPDB})
    void a_place_without_a_store_is_a_failure_in_words(String spec) throws IOException {
        String failed = new Conversation(spec).ask("load", ",\"dataset\":\"/\",\"first\":1,\"count\":1");
        assertTrue(failed.contains("\"failed\"") && failed.contains("there is no "), failed);
        assertFalse(Files.exists(work.resolve("store")));
    }

    @Test
    void what_is_no_text_is_refused_as_text() throws IOException {
        built(EACH);
        String refused = new Conversation(EACH).block("overwrite", 1, 0, step(OVERWRITE, 1, "\u00ff"));
        assertTrue(refused.contains("use column_type=blob"), refused);
    }

    @Test
    void a_store_for_warming_up_is_gone_before_the_block() throws IOException {
        built(MVSTORE);
        new Conversation(MVSTORE).block("read", 1, 0, step(READ, 1, 3));
        String place = "stowplan-warm-up-" + processes.get(1).pid() + "-";
        assertEquals(0, new File("/dev/shm").list((memory, name) -> name.startsWith(place)).length);
    }

    @Test
    void what_a_killed_process_left_is_removed_and_not_where_its_links_lead() throws IOException {
        Path left = Files.createDirectories(Path.of("/dev/shm/stowplan-warm-up-999999999/deeper"));
        Path kept = Files.createDirectory(work.resolve("kept"));
        Files.write(kept.resolve("file"), new byte[1]);
        Files.createSymbolicLink(left.resolve("link"), kept);
        built(MVSTORE);
        new Conversation(MVSTORE).block("read", 1, 0, step(READ, 1, 3));
        assertFalse(Files.exists(left.getParent()));
        assertTrue(Files.exists(kept.resolve("file")));
    }

    @Test
    void a_transaction_of_sqlite_is_one_that_jdbc_knows_and_holds_the_lock_from_its_beginning_if_it_writes() throws Exception {
        Map<String, String> settings = new HashMap<>();
        for (String pair : SQLITE.substring(SQLITE.indexOf(':') + 1).split(","))
            settings.put(pair.split("=")[0], pair.split("=")[1]);
        Sqlite store = (Sqlite) Sqlite.KIND.open(work, settings, true);
        String database = "jdbc:sqlite:" + work.resolve("java.db") + "?busy_timeout=0";
        try (Connection other = DriverManager.getConnection(database); Statement statement = other.createStatement()) {
            store.begin(false);
            assertFalse(store.db.getAutoCommit());
            statement.execute("BEGIN IMMEDIATE");
            statement.execute("ROLLBACK");
            store.commit();
            store.begin(true);
            assertThrows(SQLException.class, () -> statement.execute("BEGIN IMMEDIATE"));
            store.commit();
            statement.execute("BEGIN IMMEDIATE");
            statement.execute("ROLLBACK");
        }
        store.close(true);
    }

    @ParameterizedTest
    @ValueSource(strings = {MVSTORE, MAPDB})
    void an_overwrite_leaves_a_missing_key_missing_and_a_refused_insert_the_value_that_is_there(String spec) throws Exception {
        built(spec);
        String missing = new Conversation(spec).block("overwrite", 1, 0, step(OVERWRITE, 7, "seven"));
        assertTrue(missing.contains("key 7 is missing"), missing);
        processes.forEach(process -> process.destroyForcibly().onExit().join());
        String refused = new Conversation(spec).block("insert", 1, 0, step(INSERT, 1, "another"));
        assertTrue(refused.contains("key 1 is there already"), refused);
        processes.forEach(process -> process.destroyForcibly().onExit().join());
        assertEquals(Arrays.asList("one", null), new Conversation(spec).values(1, 7));
    }

    @Test
    void a_store_or_a_task_that_is_not_known_is_refused_by_its_name() throws IOException {
        String store = new Conversation("sqlight:journal=wal").ask("create", "");
        assertEquals("{\"failed\":{\"message\":\"this driver has no store 'sqlight'\"}}", store);
        String task = new Conversation("null:warm_up=0").ask("polish", "");
        assertEquals("{\"failed\":{\"message\":\"the task 'polish' is not known\"}}", task);
    }

    @Test
    void what_keeps_nothing_is_read_where_nothing_was_made() throws IOException {
        String measured = new Conversation("null:warm_up=20").block("read", "\"all\"", 1, step(READ, 1, 3), step(READ, 7, 0));
        assertTrue(measured.startsWith("{\"measured\""), measured);
    }

    @Test
    void several_rows_of_a_statement_are_refused_in_words() throws IOException {
        built(SQLITE);
        String refused = new Conversation(SQLITE).block("insert", "1,\"rows_per_statement\":10", 0, step(INSERT, 7, "seven"));
        assertTrue(refused.contains("\"failed\"") && refused.contains("a statement inserts one row"), refused);
    }
}
