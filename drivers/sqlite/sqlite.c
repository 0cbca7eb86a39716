// One table of an SQLite database, through a shared library that is chosen at run time.
#define _GNU_SOURCE
#include "../c/driver.h"
#include <dlfcn.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FUNCTIONS(F) \
    F(bind_blob) F(bind_int64) F(changes) F(close) F(column_blob) F(column_bytes) F(column_text) F(errmsg) F(finalize) \
    F(initialize) F(libversion) F(open_v2) F(prepare_v2) F(reset) F(sourceid) F(step)
#define POINTER(name) __typeof__(sqlite3_##name) *name;
static struct { FUNCTIONS(POINTER) } sqlite;

enum { READ, INSERT, OVERWRITE, DELETE, SCAN, BEGIN_READ, BEGIN_WRITE, COMMIT, STATEMENTS };
static const char *const SQL[STATEMENTS] = {
    "SELECT v FROM kv WHERE k=?1", "INSERT INTO kv(k,v) VALUES(?1,?2)", "UPDATE kv SET v=?2 WHERE k=?1",
    "DELETE FROM kv WHERE k=?1", "SELECT v FROM kv WHERE k>=?1 ORDER BY k LIMIT ?2", "BEGIN", "BEGIN IMMEDIATE", "COMMIT",
};
struct database {
    sqlite3 *connection;
    sqlite3_stmt *kept[STATEMENTS];
    bool each, has_table;
    char *answer, path[4096];
};

// Where a library lies: a path, a name that the system's loader knows (it has ".so" in it), or a build of ours,
// which may be missing.
static bool locate(const char *library, char *path, size_t room) {
    if (strstr(library, "/") || strstr(library, ".so")) return snprintf(path, room, "%s", library);
    char program[4096] = "";
    if (readlink("/proc/self/exe", program, sizeof program - 1) < 0) failed("cannot read /proc/self/exe: %m");
    *strrchr(program, '/') = 0;
    snprintf(path, room, "%s/sqlite-builds/%s/libsqlite3.so", program, library);
    return !access(path, R_OK);
}

// Each library is for itself, whatever symbols the process has.
static void load(const char *library) {
    static char now[4096];
    if (!strcmp(now, library)) return;
    char path[8192];
    locate(library, path, sizeof path);
#ifdef __SANITIZE_ADDRESS__
    void *loaded = dlopen(path, RTLD_NOW | RTLD_LOCAL);  // the sanitizer refuses the other
#else
    void *loaded = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
#endif
    if (!loaded) failed("cannot load the library '%s': %s", library, dlerror());
#define LOOK_UP(name) \
    if (!(*(void **)&sqlite.name = dlsym(loaded, "sqlite3_" #name))) failed("'%s' is no SQLite: it has no sqlite3_" #name, library);
    FUNCTIONS(LOOK_UP)
    if (sqlite.initialize()) failed("'%s' cannot be initialised", library);
    snprintf(now, sizeof now, "%s", library);
}

static _Noreturn void refused(const struct database *db, const char *what) {
    failed("%s: %s: %s", db->path, what, sqlite.errmsg(db->connection));
}

static sqlite3_stmt *prepare(struct database *db, const char *sql) {
    sqlite3_stmt *statement;
    if (sqlite.prepare_v2(db->connection, sql, -1, &statement, NULL)) refused(db, sql);
    return statement;
}

static const char KEY[] = "PRAGMA key='%s'";

// Runs a statement and returns what its first row begins with, or "".
static const char *ask(struct database *db, const char *format, const char *argument) {
    char sql[1024];
    snprintf(sql, sizeof sql, format, argument);
    sqlite3_stmt *statement = prepare(db, sql);
    int outcome = sqlite.step(statement);
    const char *text = outcome == SQLITE_ROW ? (const char *)sqlite.column_text(statement, 0) : NULL;
    free(db->answer);
    db->answer = strdup(text ? text : "");
    while (outcome == SQLITE_ROW) outcome = sqlite.step(statement);
    if (outcome != SQLITE_DONE) refused(db, format == KEY ? KEY : sql);
    sqlite.finalize(statement);
    return db->answer;
}

static void unlock(struct database *db) {
    const char *key = setting("key"), *secret = *key == '$' ? getenv(key + 1) : key;
    if (!secret) failed("the environment has no variable %s, which the key is to be taken from", key + 1);
    char quoted[512], *end = quoted;
    for (const char *c = secret; *c; c++) {
        if (end >= quoted + sizeof quoted - 3) failed("the key is longer than %zu bytes", sizeof quoted - 3);
        if (*c == '\'') *end++ = *c;
        *end++ = *c;
    }
    *end = 0;
    ask(db, KEY, quoted);
    if (!*ask(db, "PRAGMA cipher_version%s", "")) failed("%s: the library '%s' has no SQLCipher, so nothing would be encrypted", db->path, setting("library"));
    ask(db, "PRAGMA cipher_page_size=%s", setting("page_size"));
}

static void *open_database(const char *place, bool create) {
    load(setting("library"));
    struct database *db = calloc(1, sizeof *db);
    char kibibytes[32];
    snprintf(db->path, sizeof db->path, "%s/sqlite.db", place);
    snprintf(kibibytes, sizeof kibibytes, "%lld", atoll(setting("cache")) / 1024);
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (create ? SQLITE_OPEN_CREATE : 0);
    if (sqlite.open_v2(db->path, &db->connection, flags, NULL)) refused(db, "cannot open it");
    if (!strcmp(setting("encrypted"), "on")) unlock(db);
    ask(db, "PRAGMA page_size=%s", setting("page_size"));
    ask(db, "PRAGMA cache_size=-%s", kibibytes);
    if (strcmp(ask(db, "PRAGMA journal_mode=%s", setting("journal")), setting("journal"))) failed("%s: the journal stays %s", db->path, db->answer);
    ask(db, "PRAGMA synchronous=%s", setting("synchronous"));
    ask(db, "PRAGMA secure_delete=off%s", "");  // Debian's library overwrites what is freed, others do not
    if (create) ask(db, "CREATE TABLE kv(k INTEGER PRIMARY KEY, v BLOB)%s", "");
    db->each = !strcmp(setting("statement"), "each");
    db->has_table = !strcmp(ask(db, "SELECT count(*) FROM sqlite_master WHERE name='kv'%s", ""), "1");
    for (int s = 0; s < STATEMENTS && db->has_table; s++) db->kept[s] = s >= BEGIN_READ || !db->each ? prepare(db, SQL[s]) : NULL;
    return db;
}

static json_t *effective(void *store) {
    static const char *const WORDS[] = {"off", "normal", "full", "extra"};
    struct database *db = store;
    json_t *told = json_pack("{s:s}", "journal", ask(db, "PRAGMA journal_mode%s", ""));
    json_object_set_new(told, "synchronous", json_string(WORDS[atoi(ask(db, "PRAGMA synchronous%s", "")) & 3]));
    json_object_set_new(told, "page_size", json_integer(atoi(ask(db, "PRAGMA page_size%s", ""))));
    json_object_set_new(told, "cache", json_integer(atoll(ask(db, "PRAGMA cache_size%s", "")) * -1024));
    json_object_set_new(told, "secure_delete", json_boolean(atoi(ask(db, "PRAGMA secure_delete%s", ""))));
    json_object_set_new(told, "version", json_string(sqlite.libversion()));
    json_object_set_new(told, "source_id", json_string(sqlite.sourceid()));
    const char *options = ask(db, "SELECT group_concat(compile_options,' ') FROM pragma_compile_options%s", "");
    json_object_set_new(told, "compile_options", json_string(options));
    if (strcmp(setting("encrypted"), "on")) return told;
    json_object_set_new(told, "cipher", json_string(ask(db, "PRAGMA cipher_version%s", "")));
    return told;
}

static sqlite3_stmt *use(struct database *db, int which, uint64_t key) {
    if (!db->kept[which]) db->kept[which] = prepare(db, SQL[which]);
    if (which < BEGIN_READ && sqlite.bind_int64(db->kept[which], 1, (sqlite3_int64)key)) refused(db, SQL[which]);
    return db->kept[which];
}

static void done(struct database *db, int which) {
    int outcome = sqlite.reset(db->kept[which]);
    if (outcome) refused(db, SQL[which]);
    if (!db->each || which >= BEGIN_READ) return;
    sqlite.finalize(db->kept[which]);
    db->kept[which] = NULL;
}

static void run(struct database *db, int which, uint64_t key, const void *value, size_t bytes) {
    sqlite3_stmt *statement = use(db, which, key);
    if (value && sqlite.bind_blob(statement, 2, value, (int)bytes, SQLITE_STATIC)) refused(db, SQL[which]);
    if (sqlite.step(statement) != SQLITE_DONE) refused(db, SQL[which]);
    done(db, which);
}

static void begin(void *store, bool writes) { run(store, writes ? BEGIN_WRITE : BEGIN_READ, 0, NULL, 0); }
static void commit(void *store) { run(store, COMMIT, 0, NULL, 0); }

// The value of the row that a statement is at.
static size_t copy(sqlite3_stmt *statement, struct buffer *to) {
    const void *value = sqlite.column_blob(statement, 0);
    size_t bytes = (size_t)sqlite.column_bytes(statement, 0);
    if (bytes) memcpy(room_for(to, bytes), value, bytes);
    return bytes;
}

static bool read_value(void *store, uint64_t key, struct buffer *to, size_t *bytes) {
    struct database *db = store;
    if (!db->has_table) return false;
    sqlite3_stmt *statement = use(db, READ, key);
    bool found = sqlite.step(statement) == SQLITE_ROW;
    if (found) *bytes = copy(statement, to);
    done(db, READ);
    return found;
}

static bool overwrite(void *store, uint64_t key, const void *value, size_t bytes) {
    struct database *db = store;
    run(db, OVERWRITE, key, value, bytes);
    return sqlite.changes(db->connection) == 1;
}

static void insert(void *store, uint64_t key, const void *value, size_t bytes) { run(store, INSERT, key, value, bytes); }

static bool remove_value(void *store, uint64_t key) {
    struct database *db = store;
    run(db, DELETE, key, NULL, 0);
    return sqlite.changes(db->connection) == 1;
}

static size_t scan(void *store, uint64_t key, size_t rows, struct buffer *to, uint64_t *bytes) {
    struct database *db = store;
    sqlite3_stmt *statement = use(db, SCAN, key);
    size_t visited = 0;
    if (sqlite.bind_int64(statement, 2, (sqlite3_int64)rows)) refused(db, SQL[SCAN]);
    for (; sqlite.step(statement) == SQLITE_ROW; visited++) *bytes += copy(statement, to);
    done(db, SCAN);
    return visited;
}

static void table(void *store, bool make) {
    struct database *db = store;
    ask(db, make ? "CREATE TABLE kv(k INTEGER PRIMARY KEY, v BLOB)%s" : "DROP TABLE kv%s", "");
    db->has_table = make;
}

static void checkpoint(void *store) {
    struct database *db = store;
    if (strcmp(ask(db, "PRAGMA wal_checkpoint(TRUNCATE)%s", ""), "0")) failed("%s: the write-ahead log is in use, so it is not emptied", db->path);
}

static void close_database(void *store) {
    struct database *db = store;
    for (int s = 0; s < STATEMENTS; s++) sqlite.finalize(db->kept[s]);
    if (sqlite.close(db->connection)) refused(db, "close");
    free(db->answer), free(db);
}

// A library that is not there or cannot encrypt: cells of a study may be left out then.
static const char *objection(void) {
    static char why[9000];
    const char *library = setting("library");
    struct database db = {.path = ":memory:"};
    char path[8192];
    if (!locate(library, path, sizeof path)) {
        snprintf(why, sizeof why, "there is no build '%s' of SQLite (%s); drivers/sqlite/install makes those of the study, "
                 "drivers/sqlite/build any other", library, path);
        return why;
    }
    load(library);
    if (strcmp(setting("encrypted"), "on")) return NULL;
    if (sqlite.open_v2(db.path, &db.connection, SQLITE_OPEN_READWRITE, NULL)) refused(&db, "cannot open it");
    bool encrypts = *ask(&db, "PRAGMA cipher_version%s", "");
    sqlite.close(db.connection), free(db.answer);
    snprintf(why, sizeof why, "the library '%s' has no SQLCipher, so nothing would be encrypted", library);
    return encrypts ? NULL : why;
}

// docs/engines.md, "What the settings promise".
static json_t *capabilities(void) {
    bool wal = !strcmp(setting("journal"), "wal"), none = !strcmp(setting("journal"), "off"), off = !strcmp(setting("synchronous"), "off");
    bool normal = !strcmp(setting("synchronous"), "normal"), extra = !strcmp(setting("synchronous"), "extra");
    const char *class = none ? "none" : off || (normal && !wal) ? "process-crash" : normal || !(wal || extra) ? "consistent" : "durable";
    return json_pack("{s:[sssssss],s:{s:s,s:b},s:i}", "operations", "read", "overwrite", "insert", "delete", "scan",
                     "create-table", "drop-table", "durability", "class", class, "atomic", !none,
                     "syncs_per_commit", !off && !(wal && normal));
}

static const struct kind sqlite_kind = {
    .name = "sqlite", .about = "a table of an SQLite database, by a shared library that is chosen at run time",
    .settings = "[{\"name\":\"library\",\"kind\":{\"text\":{}},\"default\":\"default\",\"shapes_layout\":true,\"help\":\"the build of drivers/sqlite/build with this name, a path, or a name that the system knows (libsqlite3.so.0)\"},"
        "{\"name\":\"journal\",\"kind\":{\"choice\":[\"delete\",\"wal\",\"off\"]},\"default\":\"delete\",\"help\":\"PRAGMA journal_mode\"},"
        "{\"name\":\"synchronous\",\"kind\":{\"choice\":[\"full\",\"normal\",\"off\",\"extra\"]},\"default\":\"full\",\"help\":\"PRAGMA synchronous\"},"
        "{\"name\":\"cache\",\"kind\":{\"bytes\":{\"min\":0,\"max\":1099511627776}},\"default\":\"2000000\",\"help\":\"PRAGMA cache_size, in KiB\"},"
        "{\"name\":\"page_size\",\"kind\":{\"bytes\":{\"min\":512,\"max\":65536,\"power_of_two\":true}},\"default\":\"4096\",\"shapes_layout\":true,\"help\":\"size of a database page\"},"
        "{\"name\":\"statement\",\"kind\":{\"choice\":[\"prepared\",\"each\"]},\"default\":\"prepared\",\"help\":\"prepared once, or for each operation\"},"
        "{\"name\":\"encrypted\",\"kind\":\"flag\",\"default\":\"off\",\"shapes_layout\":true,\"help\":\"by SQLCipher, which the library must have\"},"
        "{\"name\":\"key\",\"kind\":{\"text\":{\"secret\":true}},\"default\":\"stowplan\",\"shapes_layout\":true,\"help\":\"of encrypted=on: $NAME of the environment variable; the default is no secret\"}]",
    .engine = {"SQLite", "of the library that is chosen"}, .refused = objection, .capabilities = capabilities,
    .open = open_database, .effective = effective, .begin = begin, .commit = commit, .read = read_value, .overwrite = overwrite, .insert = insert, .remove = remove_value, .scan = scan,
    .table = table, .checkpoint = checkpoint, .close = close_database,
};

int main(void) {
    static const struct kind *const kinds[] = {&sqlite_kind, &null_kind, NULL};
    return serve("C, SQLite by dlopen", kinds);
}
