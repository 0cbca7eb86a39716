package stowplan;

import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.sql.*;
import java.util.Map;
import java.util.function.LongConsumer;
import org.sqlite.*;
import org.sqlite.SQLiteConfig.TransactionMode;

/** A table of an SQLite database, through JDBC and sqlite-jdbc. */
final class Sqlite implements Store {
    private static final String[] TEXTS = {"SELECT v FROM kv WHERE k=?", "INSERT INTO kv(k,v) VALUES(?,?)",
        "UPDATE kv SET v=? WHERE k=?", "DELETE FROM kv WHERE k=?", "SELECT v FROM kv WHERE k>=? ORDER BY k LIMIT ?"};
    private static final int READ = 0, INSERT = 1, UPDATE = 2, DELETE = 3, SCAN = 4;
    final SQLiteConnection db;
    private final Statement plain;
    private final PreparedStatement[] kept = new PreparedStatement[TEXTS.length];
    private final boolean each, text;

    static final Kind KIND = new Kind() {
        @Override public String described() {
            return """
                {"name": "sqlite", "about": "a table of an SQLite database, through JDBC", "engine": ["sqlite-jdbc", "%s"],
                 "settings": [
                  {"name": "journal", "kind": {"choice": ["delete", "wal", "off"]}, "default": "delete"},
                  {"name": "synchronous", "kind": {"choice": ["full", "normal", "off", "extra"]}, "default": "full"},
                  {"name": "cache", "kind": {"bytes": {"min": 65536, "max": 1099511627776}}, "default": "2000000"},
                  {"name": "page_size", "kind": {"bytes": {"min": 512, "max": 65536, "power_of_two": true}},
                   "default": "4096", "shapes_layout": true},
                  {"name": "statement", "kind": {"choice": ["prepared", "each"]}, "default": "prepared",
                   "help": "prepared once, or for each operation"},
                  {"name": "column_type", "kind": {"choice": ["blob", "text"]}, "default": "blob", "shapes_layout": true,
                   "help": "of the values; text keeps values that are UTF-8"}]}"""
                .formatted(SQLiteJDBCLoader.getVersion());
        }

        /** What SQLite promises: docs/method.md, "Durability classes". */
        @Override public String capabilities(Map<String, String> settings) {
            String journal = settings.get("journal"), synchronous = settings.get("synchronous");
            boolean wal = journal.equals("wal"), full = synchronous.equals("full"), extra = synchronous.equals("extra");
            String kept = journal.equals("off") ? "none" : synchronous.equals("off") ? "process-crash"
                : extra || wal && full ? "durable" : wal || full ? "consistent" : "process-crash";
            int syncs = synchronous.equals("off") ? 0 : journal.equals("off") ? 1
                : wal ? (synchronous.equals("normal") ? 0 : 1) : extra ? 5 : full ? 4 : 3;
            return """
                {"operations": ["read", "overwrite", "insert", "delete", "scan", "mix", "create-table", "drop-table"],
                 "transactions": true, "durability": {"class": "%s", "atomic": %s}, "syncs_per_commit": %d}"""
                .formatted(kept, !journal.equals("off"), syncs);
        }

        @Override public Store open(Path place, Map<String, String> settings, boolean create) throws Exception {
            return new Sqlite(place.resolve("java.db"), settings, create);
        }
    };

    private Sqlite(Path path, Map<String, String> settings, boolean create) throws Exception {
        if (!create && !Files.exists(path)) throw new IllegalStateException("there is no database " + path);
        text = settings.get("column_type").equals("text");
        each = settings.get("statement").equals("each");
        db = (SQLiteConnection) DriverManager.getConnection("jdbc:sqlite:" + path);
        plain = db.createStatement();
        plain.execute("PRAGMA page_size=" + settings.get("page_size"));
        plain.execute("PRAGMA cache_size=-" + Long.parseLong(settings.get("cache")) / 1024);
        plain.execute("PRAGMA journal_mode=" + settings.get("journal"));
        plain.execute("PRAGMA synchronous=" + settings.get("synchronous"));
        if (create) createTable();
    }

    private PreparedStatement statement(int which) throws SQLException {
        if (each) return db.prepareStatement(TEXTS[which]);
        return kept[which] == null ? kept[which] = db.prepareStatement(TEXTS[which]) : kept[which];
    }

    private void done(PreparedStatement statement) throws SQLException {
        if (each) statement.close();
    }

    private void bind(PreparedStatement statement, int index, Object value) throws SQLException {
        if (text) statement.setString(index, (String) value);
        else statement.setBytes(index, (byte[]) value);
    }

    private Object fetched(ResultSet row) throws SQLException {
        return text ? row.getString(1) : row.getBytes(1);
    }

    /** Bytes of a value; those of text as UTF-8, counted without encoding it. */
    private static long size(Object value) {
        if (value instanceof byte[] bytes) return bytes.length;
        String text = (String) value;
        long size = text.length();
        for (int n = 0; n < text.length(); n++) { // Half of a pair takes two of its four bytes.
            char c = text.charAt(n);
            size += c < 0x80 ? 0 : c < 0x800 || Character.isSurrogate(c) ? 1 : 2;
        }
        return size;
    }

    private Object find(long key) throws SQLException {
        PreparedStatement statement = statement(READ);
        statement.setLong(1, key);
        try (ResultSet rows = statement.executeQuery()) {
            return rows.next() ? fetched(rows) : null;
        } finally {
            done(statement);
        }
    }

    private boolean change(int which, int keyAt, long key, Object value) throws SQLException {
        PreparedStatement statement = statement(which);
        statement.setLong(keyAt, key);
        if (which != DELETE) bind(statement, 3 - keyAt, value);
        int rows = statement.executeUpdate();
        done(statement);
        return rows == 1;
    }

    @Override public Object value(byte[] bytes) {
        if (!text) return bytes;
        String value = new String(bytes, StandardCharsets.UTF_8);
        if (size(value) == bytes.length && value.indexOf('\uFFFD') < 0) return value;
        throw new IllegalArgumentException("a value is no UTF-8; use column_type=blob");
    }

    @Override public byte[] get(long key) throws SQLException {
        Object value = find(key);
        return value instanceof String text ? text.getBytes(StandardCharsets.UTF_8) : (byte[]) value;
    }

    @Override public long read(long key) throws SQLException {
        Object value = find(key);
        return value == null ? -1 : size(value);
    }

    @Override public void scan(long from, int most, LongConsumer visited) throws SQLException {
        PreparedStatement statement = statement(SCAN);
        statement.setLong(1, from);
        statement.setInt(2, most);
        try (ResultSet rows = statement.executeQuery()) {
            while (rows.next()) visited.accept(size(fetched(rows)));
        }
        done(statement);
    }

    /** As JDBC has it: behind a BEGIN of ours sqlite-jdbc would try another one with each statement. */
    @Override public void begin(boolean writes) throws SQLException {
        db.getConnectionConfig().setTransactionMode(writes ? TransactionMode.IMMEDIATE : TransactionMode.DEFERRED);
        db.setAutoCommit(false);
    }

    @Override public void commit() throws SQLException { db.setAutoCommit(true); }
    @Override public void insert(long key, Object value) throws SQLException { change(INSERT, 1, key, value); }
    @Override public boolean overwrite(long key, Object value) throws SQLException { return change(UPDATE, 2, key, value); }
    @Override public boolean delete(long key) throws SQLException { return change(DELETE, 1, key, null); }
    @Override public void dropTable() throws SQLException { plain.execute("DROP TABLE kv"); }
    @Override public void createTable() throws SQLException {
        plain.execute("CREATE TABLE kv(k INTEGER PRIMARY KEY, v " + (text ? "TEXT)" : "BLOB)"));
    }

    private Object told(String query) throws SQLException {
        try (ResultSet rows = plain.executeQuery(query)) {
            return rows.getObject(1);
        }
    }

    @Override public Map<String, Object> effective() throws SQLException {
        String[] words = {"off", "normal", "full", "extra"};
        return Map.of("journal", told("PRAGMA journal_mode"), "synchronous", words[(int) told("PRAGMA synchronous")],
            "page_size", told("PRAGMA page_size"), "cache", -1024 * (int) told("PRAGMA cache_size"),
            "version", told("SELECT sqlite_version()"));
    }

    @Override public void close(boolean checkpoint) throws SQLException {
        if (checkpoint) plain.execute("PRAGMA wal_checkpoint(TRUNCATE)");
        db.close();
    }
}
