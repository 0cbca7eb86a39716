package stowplan;

import java.nio.file.Path;
import java.util.Map;
import java.util.function.LongConsumer;

/** An open store, used by one thread. What goes wrong is thrown, and fails the block or the task. Outside of a
 * transaction that was begun, each operation is one of its own. */
public interface Store {
    /** What {@link #read} tells where nothing is kept: every value is taken to be there, of any size. */
    long NOTHING_KEPT = -2;

    /** A value as the binding takes it; made before the clock runs. */
    default Object value(byte[] bytes) { return bytes; }
    /** {@code writes}: something in the transaction will. */
    void begin(boolean writes) throws Exception;
    void commit() throws Exception;
    /** A value, or null. */
    byte[] get(long key) throws Exception;
    /** The same while the clock runs: its bytes, or -1. */
    default long read(long key) throws Exception {
        byte[] value = get(key);
        return value == null ? -1 : value.length;
    }
    /** Adds a key that is not there. */
    void insert(long key, Object value) throws Exception;
    /** Replaces a value; false: there was none. */
    boolean overwrite(long key, Object value) throws Exception;
    boolean delete(long key) throws Exception;
    /** Tells the bytes of each value by rising key, of {@code most} at most. */
    void scan(long from, int most, LongConsumer visited) throws Exception;
    default void createTable() throws Exception { throw new UnsupportedOperationException("it makes no tables"); }
    default void dropTable() throws Exception { throw new UnsupportedOperationException("it drops no tables"); }
    /** Settings as the engine tells them. */
    default Map<String, Object> effective() throws Exception { return Map.of(); }
    /** Closes it; {@code checkpoint}: what was written is brought to its resting place before. */
    void close(boolean checkpoint) throws Exception;

    /** A kind of store. What it tells of itself is JSON, in the words of docs/driver-format.md. */
    interface Kind {
        /** Its name, what it is, its engine and settings. */
        String described();
        /** The "capabilities" of a store with these settings. */
        String capabilities(Map<String, String> settings);
        /** Opens the store in a directory, or makes an empty one there. */
        Store open(Path place, Map<String, String> settings, boolean create) throws Exception;
    }
}
