package stowplan;

import java.nio.file.*;
import java.util.Map;
import java.util.function.LongConsumer;
import org.h2.mvstore.*;
import org.h2.mvstore.type.*;

/** A map of H2's MVStore. */
final class MvStore extends MapStore<MVMap<Long, byte[]>> {
    static final Kind KIND = new Kind() {
        @Override public String described() {
            return """
                {"name": "mvstore", "about": "a map of an MVStore, the storage of H2: a log-structured B-tree in Java",
                 "engine": ["H2 MVStore", "%s"], "settings": [
                  {"name": "commit", "kind": {"choice": ["sync", "write", "background"]}, "default": "sync",
                   "help": "a commit writes and syncs, writes, or leaves writing to a thread (within a second, or where the \
                buffer is full), as MVStore does of itself"},
                  {"name": "cache", "kind": {"bytes": {"min": 1048576, "max": 1099511627776}}, "default": "16777216",
                   "help": "pages in memory, in whole MiB"}]}""".formatted(org.h2.engine.Constants.VERSION);
        }

        /** A commit is a chunk at the end of the file or in room that was free for 45 seconds; the newest that is whole
         * counts. Where nothing is synced, pieces of it may be missing, which checksums of its ends do not tell. The thread in the background writes what
         * there is, in the middle of a transaction, too. */
        @Override public String capabilities(Map<String, String> settings) {
            boolean sync = settings.get("commit").equals("sync"), background = settings.get("commit").equals("background");
            return """
                {"operations": ["read", "overwrite", "insert", "delete", "scan", "mix", "create-table", "drop-table"],
                 "transactions": true, "syncs_per_commit": %d,
                 "durability": {"class": "%s", "atomic": %s, "delayed": %s}}"""
                .formatted(sync ? 1 : 0, sync ? "durable" : "process-crash", !background, background);
        }

        @Override public Store open(Path place, Map<String, String> settings, boolean create) throws Exception {
            return new MvStore(place.resolve("java.mv.db"), settings, create);
        }
    };

    private final MVStore store;
    private final boolean sync, background;

    private MvStore(Path path, Map<String, String> settings, boolean create) throws Exception {
        if (!create && !Files.exists(path)) throw new IllegalStateException("there is no store " + path);
        sync = settings.get("commit").equals("sync");
        background = settings.get("commit").equals("background");
        MVStore.Builder builder = new MVStore.Builder().fileName(path.toString());
        builder.cacheSize((int) (Long.parseLong(settings.get("cache")) >> 20));
        // Else what is not committed would be written as well.
        if (!background) builder.autoCommitDisabled().autoCommitBufferSize(0);
        store = builder.open();
        createTable();
    }

    @Override void save() {
        if (background) return;
        store.commit();
        if (sync) store.sync();
    }

    @Override public void scan(long from, int most, LongConsumer visited) {
        Cursor<Long, byte[]> cursor = map.cursor(from);
        for (int n = 0; n < most && cursor.hasNext(); n++) {
            cursor.next();
            visited.accept(cursor.getValue().length);
        }
    }

    @Override public void createTable() {
        map = store.openMap("kv", new MVMap.Builder<Long, byte[]>().keyType(LongDataType.INSTANCE)
            .valueType(ByteArrayDataType.INSTANCE));
        done();
    }

    @Override public void dropTable() {
        store.removeMap(map);
        done();
    }

    @Override public Map<String, Object> effective() {
        return Map.of("cache", (long) store.getCacheSize() << 20);
    }

    @Override public void close(boolean checkpoint) {
        store.commit();
        store.sync();
        store.close();
    }
}
