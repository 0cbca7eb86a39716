// Berkeley DB: one database in an environment with a log, locks and transactions, used by one thread.
#include "../c/driver.h"
#include <db.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TEXT(number) #number
#define NUMBER(macro) TEXT(macro)
#define VERSION NUMBER(DB_VERSION_MAJOR) "." NUMBER(DB_VERSION_MINOR) "." NUMBER(DB_VERSION_PATCH)

static const char FILE_NAME[] = "kv.db";

struct store {
    DB_ENV *environment;
    DB *table;           // NULL after it was dropped
    DB_TXN *transaction; // NULL outside of one
    bool transactional;
};

// The directory of the environment, which failures name.
static char home[4096];

// What the library said last: it knows more than its error codes.
static char detail[512];
static void remember(const DB_ENV *environment, const char *prefix, const char *message) {
    (void)environment, (void)prefix;
    snprintf(detail, sizeof detail, " (%s)", message);
}

static void check(int outcome, const char *what) {
    if (outcome) failed("%s: %s: %s%s", home, what, db_strerror(outcome), detail);
}

static u_int32_t transactional_only(const struct store *s, u_int32_t flag) { return s->transactional ? flag : 0; }

static bool is(const char *name, const char *value) { return !strcmp(setting(name), value); }

// Opens the table; false if there is none.
static bool open_table(struct store *s, u_int32_t flags) {
    check(db_create(&s->table, s->environment, 0), "make a handle");
    check(s->table->set_pagesize(s->table, (u_int32_t)strtoul(setting("page_size"), NULL, 10)), "set page_size");
    int outcome = s->table->open(s->table, NULL, FILE_NAME, NULL, is("access", "hash") ? DB_HASH : DB_BTREE,
                                 flags | transactional_only(s, DB_AUTO_COMMIT), 0600);
    if (outcome && !(outcome == ENOENT && !flags)) check(outcome, "open the database kv.db");
    if (!outcome) return true;
    s->table->close(s->table, 0);
    s->table = NULL;
    return false;
}

// The environment has a directory of its own, which tells a store without a table from none.
static void *open_store(const char *place, bool create) {
    struct stat about;
    struct store *s = calloc(1, sizeof *s);
    snprintf(home, sizeof home, "%s/bdb", place);
    if (create ? mkdir(home, 0700) : stat(home, &about)) failed("%s %s: %m", create ? "make" : "open", home);
    s->transactional = !is("durability", "none");
    check(db_env_create(&s->environment, 0), "make an environment");
    DB_ENV *e = s->environment;
    e->set_errcall(e, remember);
    // Berkeley DB adds a quarter to a cache of less than 500 MB (DB_ENV->set_cachesize).
    uint64_t cache = strtoull(setting("cache"), NULL, 10), asked = cache < 500000000 ? cache / 5 * 4 : cache;
    check(e->set_cachesize(e, (u_int32_t)(asked >> 30), (u_int32_t)(asked & ((1 << 30) - 1)), 1), "set cache");
    // A transaction locks each page that it changes until it ends.
    check(e->set_lk_max_locks(e, 100000) || e->set_lk_max_objects(e, 100000), "set the number of locks");
    if (is("durability", "write-nosync")) check(e->set_flags(e, DB_TXN_WRITE_NOSYNC, 1), "set durability");
    if (is("durability", "nosync")) check(e->set_flags(e, DB_TXN_NOSYNC, 1), "set durability");
    // Memory of this process: nobody else uses the environment, so it is recovered whenever it is opened.
    u_int32_t flags = DB_CREATE | DB_PRIVATE | DB_INIT_MPOOL;
    flags |= transactional_only(s, DB_INIT_LOCK | DB_INIT_LOG | DB_INIT_TXN | DB_RECOVER);
    check(e->open(e, home, flags, 0600), "open the environment");
    open_table(s, create ? DB_CREATE | DB_EXCL : 0);
    return s;
}

static json_t *effective(void *store) {
    struct store *s = store;
    u_int32_t page_size, gigabytes, bytes, flags;
    int caches;
    check(s->environment->get_cachesize(s->environment, &gigabytes, &bytes, &caches), "read the cache's size");
    check(s->environment->get_flags(s->environment, &flags), "read the flags");
    const char *durability = !s->transactional ? "none" : flags & DB_TXN_NOSYNC ? "nosync" :
                             flags & DB_TXN_WRITE_NOSYNC ? "write-nosync" : "sync";
    json_t *told = json_pack("{s:s,s:I,s:s}", "version", VERSION, "cache", ((json_int_t)gigabytes << 30) + bytes,
                             "durability", durability);
    DBTYPE type;
    if (!s->table || s->table->get_type(s->table, &type) || s->table->get_pagesize(s->table, &page_size)) return told;
    json_object_set_new(told, "access", json_string(type == DB_HASH ? "hash" : "btree"));
    json_object_set_new(told, "page_size", json_integer(page_size));
    return told;
}

static void begin(void *store, bool writes) {
    struct store *s = store;
    (void)writes;
    if (s->transactional) check(s->environment->txn_begin(s->environment, NULL, &s->transaction, 0), "begin");
}

static void commit(void *store) {
    struct store *s = store;
    DB_TXN *ended = s->transaction;
    s->transaction = NULL;
    if (ended) check(ended->commit(ended, 0), "commit");
}

// A key of eight bytes, the highest first, so that a tree has them in the order of their numbers.
#define KEY(name, number) \
    uint64_t name##_bytes = htobe64(number); \
    DBT name = {.data = &name##_bytes, .size = sizeof name##_bytes, .ulen = sizeof name##_bytes, .flags = DB_DBT_USERMEM}

// Where a value goes: the caller's own memory.
static DBT into(struct buffer *to) { return (DBT){.data = to->bytes, .ulen = (u_int32_t)to->room, .flags = DB_DBT_USERMEM}; }

static bool read_value(void *store, uint64_t key, struct buffer *to, size_t *bytes) {
    struct store *s = store;
    if (!s->table) return false;
    KEY(k, key);
    DBT value = into(to);
    int outcome = s->table->get(s->table, s->transaction, &k, &value, 0);
    if (outcome == DB_BUFFER_SMALL) {
        room_for(to, value.size);
        value = into(to);
        outcome = s->table->get(s->table, s->transaction, &k, &value, 0);
    }
    if (outcome == DB_NOTFOUND) return false;
    check(outcome, "read");
    *bytes = value.size;
    return true;
}

static void put(struct store *s, uint64_t key, const void *value, size_t bytes, u_int32_t flags) {
    KEY(k, key);
    DBT data = {.data = (void *)(uintptr_t)value, .size = (u_int32_t)bytes};
    check(s->table->put(s->table, s->transaction, &k, &data, flags), flags ? "insert" : "overwrite");
}

static bool overwrite(void *store, uint64_t key, const void *value, size_t bytes) {
    struct store *s = store;
    KEY(k, key);
    int outcome = s->table->exists(s->table, s->transaction, &k, 0);
    if (outcome == DB_NOTFOUND) return false;
    check(outcome, "look up");
    put(s, key, value, bytes, 0);
    return true;
}

static void insert(void *store, uint64_t key, const void *value, size_t bytes) { put(store, key, value, bytes, DB_NOOVERWRITE); }

static bool remove_value(void *store, uint64_t key) {
    struct store *s = store;
    KEY(k, key);
    int outcome = s->table->del(s->table, s->transaction, &k, 0);
    if (outcome == DB_NOTFOUND) return false;
    check(outcome, "delete");
    return true;
}

static size_t scan(void *store, uint64_t key, size_t rows, struct buffer *to, uint64_t *bytes) {
    struct store *s = store;
    DBC *cursor;
    KEY(k, key);
    size_t visited = 0;
    check(s->table->cursor(s->table, s->transaction, &cursor, 0), "open a cursor");
    while (visited < rows) {
        DBT value = into(to);
        int outcome = cursor->get(cursor, &k, &value, visited ? DB_NEXT : DB_SET_RANGE);
        if (outcome == DB_BUFFER_SMALL) {
            room_for(to, value.size);
            continue;
        }
        if (outcome == DB_NOTFOUND) break;
        check(outcome, "scan");
        *bytes += value.size;
        visited++;
    }
    check(cursor->close(cursor), "close a cursor");
    return visited;
}

static void table(void *store, bool make) {
    struct store *s = store;
    if (make) {
        open_table(s, DB_CREATE | DB_EXCL);
        return;
    }
    DB *dropped = s->table;
    s->table = NULL;
    if (!dropped) failed("there is no table to drop");
    check(dropped->close(dropped, 0), "close the table");
    check(s->environment->dbremove(s->environment, NULL, FILE_NAME, NULL, transactional_only(s, DB_AUTO_COMMIT)), "drop the table");
}

static void checkpoint(void *store) {
    struct store *s = store;
    if (!s->transactional) {
        if (s->table) check(s->table->sync(s->table, 0), "write the table");
        return;
    }
    check(s->environment->txn_checkpoint(s->environment, 0, 0, DB_FORCE), "checkpoint");
    check(s->environment->log_archive(s->environment, NULL, DB_ARCH_REMOVE), "remove logs that are not needed");
}

static void close_store(void *store) {
    struct store *s = store;
    if (s->table) check(s->table->close(s->table, 0), "close the table");
    check(s->environment->close(s->environment, 0), "close the environment");
    free(s);
}

// docs/engines.md, "What the settings promise". Larger pages than the system writes as one may be torn.
static json_t *capabilities(void) {
    bool sync = is("durability", "sync"), nosync = is("durability", "nosync"), none = is("durability", "none");
    const char *kept = atoi(setting("page_size")) > 4096 ? "process-crash" : sync ? "durable" : "consistent";
    return json_pack("{s:[ssssss,s*],s:{s:s,s:b,s:b},s:i,s:I}", "operations", "read", "overwrite", "insert", "delete",
                     "create-table", "drop-table", is("access", "btree") ? "scan" : NULL, "durability",
                     "class", none ? "none" : kept, "atomic", !none, "delayed", nosync, "syncs_per_commit", sync,
                     "largest_value", (json_int_t)4294967295);
}

static const struct kind bdb_kind = {
    .name = "bdb", .about = "a database of Berkeley DB, in an environment with a log, locks and transactions",
    .settings = "[{\"name\":\"access\",\"kind\":{\"choice\":[\"btree\",\"hash\"]},\"default\":\"btree\",\"shapes_layout\":true,\"help\":\"access method; a hash table has no order to scan\"},"
        "{\"name\":\"durability\",\"kind\":{\"choice\":[\"sync\",\"write-nosync\",\"nosync\",\"none\"]},\"default\":\"sync\",\"shapes_layout\":true,"
        "\"help\":\"what a commit does with the log: sync writes it and waits for the disk, write-nosync writes it, nosync leaves it in memory; none: no log, no locks, no transactions\"},"
        "{\"name\":\"cache\",\"kind\":{\"bytes\":{\"min\":65536,\"max\":1099511627776}},\"default\":\"2000000\",\"help\":\"memory of the cache, in all\"},"
        "{\"name\":\"page_size\",\"kind\":{\"bytes\":{\"min\":512,\"max\":65536,\"power_of_two\":true}},\"default\":\"4096\",\"shapes_layout\":true,\"help\":\"size of a database page\"}]",
    .engine = {"Berkeley DB", VERSION}, .capabilities = capabilities, .open = open_store, .effective = effective, .begin = begin,
    .commit = commit, .read = read_value, .overwrite = overwrite, .insert = insert, .remove = remove_value, .scan = scan,
    .table = table, .checkpoint = checkpoint, .close = close_store,
};

int main(void) {
    static const struct kind *const kinds[] = {&bdb_kind, &null_kind, NULL};
    return serve("C, Berkeley DB", kinds);
}
