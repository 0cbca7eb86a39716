package stowplan;

import java.util.Map;

/** A store that is a map as Java knows them. */
abstract class MapStore<M extends Map<Long, byte[]>> implements Store {
    M map;
    private boolean together;

    /** Commits what was done since the last time. */
    abstract void save();

    final void done() {
        if (!together) save();
    }

    @Override public void begin(boolean writes) { together = true; }

    @Override public void commit() {
        together = false;
        save();
    }

    @Override public byte[] get(long key) { return map.get(key); }

    @Override public void insert(long key, Object value) {
        boolean there = map.putIfAbsent(key, (byte[]) value) != null;
        if (there) throw new IllegalStateException("key " + key + " is there already");
        done();
    }

    @Override public boolean overwrite(long key, Object value) {
        boolean there = map.replace(key, (byte[]) value) != null;
        done();
        return there;
    }

    @Override public boolean delete(long key) {
        boolean there = map.remove(key) != null;
        done();
        return there;
    }
}
