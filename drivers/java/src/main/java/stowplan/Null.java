package stowplan;

import java.nio.file.Path;
import java.util.Map;
import java.util.function.LongConsumer;

/** Does nothing: what the driver's own loop costs. */
final class Null implements Store {
    static final Kind KIND = new Kind() {
        @Override public String described() {
            return """
                {"name": "null", "about": "does nothing: what Java's own loop costs", "keeps_nothing": true}""";
        }

        @Override public String capabilities(Map<String, String> settings) {
            return """
                {"operations": ["read", "overwrite", "insert", "delete", "scan", "mix"], "transactions": true,
                 "durability": {"class": "none", "atomic": false}}""";
        }

        @Override public Store open(Path place, Map<String, String> settings, boolean create) { return new Null(); }
    };

    @Override public void begin(boolean writes) { }
    @Override public void commit() { }
    @Override public byte[] get(long key) { return null; }
    @Override public long read(long key) { return NOTHING_KEPT; }
    @Override public void insert(long key, Object value) { }
    @Override public boolean overwrite(long key, Object value) { return true; }
    @Override public boolean delete(long key) { return true; }
    @Override public void scan(long from, int most, LongConsumer visited) { visited.accept(0); }
    @Override public void close(boolean checkpoint) { }
}
