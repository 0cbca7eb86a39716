package stowplan;

import static org.junit.jupiter.api.Assertions.*;

import java.io.*;
import java.nio.file.*;
import java.sql.*;
import java.util.*;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Units of the stores and of the program, by what it answers to lines that it is given at once; "stowplan drivers
 * check" tries the rest. */
class DriverTest {
    private static final String SQLITE = "sqlite:journal=wal,synchronous=full,cache=2000000,page_size=4096,warm_up=0,";
    private static final String MVSTORE = "mvstore:commit=sync,cache=16777216,warm_up=200";

    @TempDir Path work;

    /** What the program answers behind its greeting; %s stands for the store and its place. */
    private List<String> told(String spec, String... tasks) throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Process process = new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"), "stowplan.Main")
            .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        String at = "\"store\":\"" + spec + "\",\"place\":\"" + work.resolve("store") + "\"";
        try (Writer to = process.outputWriter()) {
            for (String task : tasks) to.write(task.replace("%s", at) + "\n");
        }
        List<String> lines = process.inputReader().lines().toList();
        assertTrue(lines.get(0).contains("\"version\":4"), lines.get(0));
        assertArrayEquals(new String[0], new File("/dev/shm").list((memory, name) -> name.startsWith("stowplan-warm-up-" + process.pid() + "-")),
            "a store for warming up is left");
        return lines.subList(1, lines.size());
    }

    /** A block that reads key 1. */
    private String block(String more) throws IOException {
        byte[] sequence = Arrays.copyOf("STOWSEQ1\1\0\0\0\0\0\0\0\1".getBytes(), 32);
        Path path = Files.write(work.resolve("sequence"), sequence);
        return "{\"run\":{%s,\"workload\":{\"operation\":\"read\",\"per_transaction\":1" + more + "},\"threads\":[{\"sequence\":\"" + path
            + "\",\"first\":0,\"lead_in\":0,\"operations\":1}]}}";
    }

    @Test
    void what_is_no_text_is_refused_as_text() throws Exception {
        Files.createDirectory(work.resolve("store"));
        Files.write(work.resolve("values.bin"), new byte[] {(byte) 0xff});
        Files.write(work.resolve("index.bin"), Arrays.copyOf(new byte[] {0, 0, 0, 0, 0, 0, 0, 0, 1}, 16));
        String load = "{\"load\":{%s,\"dataset\":\"" + work + "\",\"first\":1,\"count\":1}}";
        List<String> refused = told(SQLITE + "statement=each,column_type=text", "{\"create\":{%s}}", load);
        assertTrue(refused.get(1).contains("use column_type=blob"), refused.get(1));
    }

    @Test
    void what_a_killed_process_left_is_removed_and_not_where_its_links_lead() throws IOException {
        Path left = Files.createDirectories(Path.of("/dev/shm/stowplan-warm-up-999999999/deeper"));
        Path kept = Files.createDirectory(work.resolve("kept"));
        Files.write(kept.resolve("file"), new byte[1]);
        Files.createSymbolicLink(left.resolve("link"), kept);
        Files.createDirectory(work.resolve("store"));
        told(MVSTORE, "{\"create\":{%s}}", block(""), "\"go\"");
        assertFalse(Files.exists(left.getParent()));
        assertTrue(Files.exists(kept.resolve("file")));
    }

    @Test
    void a_transaction_of_sqlite_is_one_that_jdbc_knows_and_holds_the_lock_from_its_beginning_if_it_writes() throws Exception {
        Map<String, String> settings = new HashMap<>(Map.of("statement", "prepared", "column_type", "blob"));
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
        }
        store.close(true);
    }

    @Test
    void what_is_not_known_or_cannot_be_is_refused_in_words() throws IOException {
        assertEquals(List.of("{\"failed\":{\"message\":\"this driver has no store 'sqlight'\"}}"), told("sqlight:journal=wal", "{\"create\":{%s}}"));
        assertEquals(List.of("{\"failed\":{\"message\":\"the task 'polish' is not known\"}}"), told("null:warm_up=0", "{\"polish\":{%s}}"));
        String several = told("null:warm_up=0", block(",\"rows_per_statement\":10")).get(0);
        assertTrue(several.contains("a statement inserts one row"), several);
    }
}
