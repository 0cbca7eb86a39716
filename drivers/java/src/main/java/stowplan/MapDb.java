package stowplan;

import java.nio.file.*;
import java.util.Map;
import java.util.function.LongConsumer;
import org.mapdb.*;

/** A B-tree of MapDB. */
final class MapDb extends MapStore<BTreeMap<Long, byte[]>> {
    static final Kind KIND = new Kind() {
        @Override public String described() {
            return """
                {"name": "mapdb", "about": "a B-tree of MapDB", "engine": ["MapDB", "3.1.0"], "settings": [
                  {"name": "journal", "kind": {"choice": ["wal", "off"]}, "default": "wal", "shapes_layout": true,
                   "help": "wal: transactionEnable(), a commit is synced; off: written in place, never synced"},
                  {"name": "file", "kind": {"choice": ["mmap", "channel"]}, "default": "mmap",
                   "help": "how the file is used: mapped into memory, or read and written"},
                  {"name": "values", "kind": {"choice": ["outside", "inside"]}, "default": "outside",
                   "shapes_layout": true, "help": "records of their own, or within the nodes of the tree"}]}""";
        }

        @Override public String capabilities(Map<String, String> settings) {
            boolean wal = settings.get("journal").equals("wal");
            return """
                {"operations": ["read", "overwrite", "insert", "delete", "scan", "mix"], "transactions": true,
                 "mapped": %s, "durability": {"class": "%s", "atomic": %s}, "syncs_per_commit": %d}"""
                .formatted(settings.get("file").equals("mmap"), wal ? "durable" : "none", wal, wal ? 1 : 0);
        }

        @Override public Store open(Path place, Map<String, String> settings, boolean create) throws Exception {
            return new MapDb(place.resolve("java.mapdb"), settings, create);
        }
    };

    private final DB db;

    private MapDb(Path path, Map<String, String> settings, boolean create) throws Exception {
        if (!create && !Files.exists(path)) throw new IllegalStateException("there is no store " + path);
        DBMaker.Maker maker = DBMaker.fileDB(path.toFile());
        maker = settings.get("file").equals("mmap") ? maker.fileMmapEnable() : maker.fileChannelEnable();
        db = (settings.get("journal").equals("wal") ? maker.transactionEnable() : maker).make();
        DB.TreeMapMaker<Long, byte[]> tree = db.treeMap("kv", Serializer.LONG, Serializer.BYTE_ARRAY);
        map = (settings.get("values").equals("outside") ? tree.valuesOutsideNodesEnable() : tree).createOrOpen();
        if (create) db.commit();
    }

    @Override void save() { db.commit(); }

    @Override public void scan(long from, int most, LongConsumer visited) {
        int n = 0;
        for (byte[] value : map.tailMap(from, true).values()) {
            visited.accept(value.length);
            if (++n == most) return;
        }
    }

    @Override public void close(boolean checkpoint) {
        db.commit();
        db.close();
    }
}
