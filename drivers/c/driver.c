#define _GNU_SOURCE
#include "driver.h"
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { READ, OVERWRITE, MODIFY, INSERT, DELETE, SCAN };
struct step { uint64_t key; uint32_t bytes; uint16_t action, rows; };  // as it lies in the file
struct block {
    struct step *steps;
    const char *values;       // what is written, and where that of each step begins
    const uint64_t *offsets;
    uint64_t group;           // operations of a transaction, 0: each is its own
    bool writes, makes, drops;
};

static const struct kind *const *kinds, *kind;
static void *store;
static char *spec;  // the kind and each setting end with a NUL, the last one with two
static struct buffer buffer;

// Says a message of ours, which it releases.
static void say(json_t *message) {
    if (json_dumpf(message, stdout, JSON_COMPACT | JSON_ENCODE_ANY)) failed("what should be said is no JSON");
    json_decref(message);
    puts(""), fflush(stdout);
}

// The next message of the parent; NULL if there is none.
static json_t *hear(void) {
    json_error_t error;
    json_t *message = json_loadf(stdin, JSON_DECODE_ANY | JSON_DISABLE_EOF_CHECK, &error);
    if (!message && !feof(stdin)) failed("a message is no JSON: %s", error.text);
    return message;
}

void failed(const char *format, ...) {
    char why[2000];
    va_list rest;
    va_start(rest, format);
    vsnprintf(why, sizeof why, format, rest);
    for (char *c = why; *c; c++) *c = (unsigned char)*c < ' ' ? ' ' : *c;
    json_t *told = json_pack("{s:{s:s}}", "failed", "message", why);
    say(told ? told : json_pack("{s:{s:s}}", "failed", "message", format));  // it was no UTF-8
    _exit(1);
}

// Reads members of an object, as json_unpack does.
#define take(object, ...) do { \
        json_error_t error; \
        if (json_unpack_ex(object, &error, 0, __VA_ARGS__)) failed("a message is not as it should be: %s", error.text); \
    } while (0)

const char *setting(const char *name) {
    size_t length = strlen(name);
    for (const char *p = spec; *p; p += strlen(p) + 1)
        if (!strncmp(p, name, length) && p[length] == '=') return p + length + 1;
    failed("the store has no setting '%s'", name);
}

char *room_for(struct buffer *to, size_t bytes) {
    if (bytes <= to->room) return to->bytes;
    free(to->bytes);
    if (!(to->bytes = malloc(to->room = bytes))) failed("there is no memory for %zu bytes", bytes);
    return memset(to->bytes, 1, bytes);  // so that its pages are there before anything is timed
}

// A file with all of its pages in memory, for as long as the process lives.
static const void *mapped(const char *directory, const char *name, size_t *bytes) {
    char path[4096];
    struct stat about;
    snprintf(path, sizeof path, "%s%s", directory, name);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &about)) failed("cannot open %s: %m", path);
    *bytes = (size_t)about.st_size;
    void *at = *bytes ? mmap(NULL, *bytes, PROT_READ, MAP_SHARED | MAP_POPULATE, file, 0) : "";
    if (at == MAP_FAILED) failed("cannot map %s: %m", path);
    close(file);
    return at;
}

static void choose(const char *given) {
    free(spec);
    if (!(spec = calloc(strlen(given) + 2, 1))) failed("there is no memory left");
    strcpy(spec, given);
    for (char *p = strchr(spec, ':'); p; p = strchr(p + 1, ',')) *p = 0;
    for (size_t k = 0; (kind = kinds[k]); k++) if (!strcmp(kind->name, spec)) return;
    failed("this driver has no store '%s'", spec);
}

static json_t *describe(json_t *asked) {
    json_t *every = json_array(), *can = NULL;
    for (size_t k = 0; (kind = kinds[k]); k++)
        json_array_append_new(every, json_pack("{s:s,s:s,s:o,s:o*,s:b}", "name", kind->name, "about", kind->about, "settings",
            json_loads(kind->settings, 0, NULL), "engine", json_pack("[ss]", kind->engine[0], kind->engine[1]),
            "keeps_nothing", kind->keeps_nothing));
    const char *given = json_string_value(json_object_get(asked, "store")), *why = NULL;
    if (given) choose(given), why = kind->refused ? kind->refused() : NULL;
    if (given && !why) can = kind->capabilities();
    if (can) json_object_set_new(can, "transactions", json_true());
    return json_pack("{s:{s:o,s:o*,s:s*}}", "described", "kinds", every, "capabilities", can, "refused", why);
}

static json_t *load(json_t *asked) {
    size_t bytes, length;
    json_int_t first, count;
    const char *dataset;
    take(asked, "{s:s,s:I,s:I}", "dataset", &dataset, "first", &first, "count", &count);
    const char *values = mapped(dataset, "/values.bin", &bytes);
    const uint64_t *offsets = mapped(dataset, "/index.bin", &length);
    if (first < 1 || length / 8 < (size_t)(first + count)) failed("the dataset has no %lld values from %lld on", count, first);
    for (json_int_t n = 0; n < count; n++) {
        uint64_t begin = offsets[first + n - 1];
        if (n % 1000 == 0) kind->begin(store, true);
        kind->insert(store, (uint64_t)(first + n), values + begin, offsets[first + n] - begin);
        if (n + 1 != count && (n + 1) % 1000) continue;
        kind->commit(store);
        say(json_pack("{s:{s:I,s:I}}", "progress", "done", n + 1, "total", count));
    }
    return json_string("done");
}

static json_t *dump(json_t *asked) {
    size_t length, bytes;
    const char *from, *to;
    take(asked, "{s:s,s:s}", "keys", &from, "to", &to);
    const uint64_t *keys = mapped(from, "", &length);
    FILE *out = fopen(to, "wb");
    for (size_t n = 0; out && n < length / 8; n++) {
        bool found = kind->read(store, keys[n], &buffer, &bytes);
        uint64_t told = found ? bytes : UINT64_MAX;
        fwrite(&told, sizeof told, 1, out), fwrite(buffer.bytes, 1, found ? bytes : 0, out);
    }
    if (!out || fclose(out)) failed("cannot write %s: %m", to);
    return json_string("done");
}

static json_t *rest(json_t *asked) {
    if (store && json_is_true(json_object_get(asked, "checkpoint"))) kind->checkpoint(store);
    if (store) kind->close(store);
    store = NULL;
    return json_string("done");
}

static void read_whole(const struct step *step) {
    size_t bytes = 0;
    bool found = kind->read(store, step->key, &buffer, &bytes);
    if ((!found || bytes != step->bytes) && !kind->keeps_nothing)
        failed("value %ju %s, not of %u bytes", step->key, found ? "has another size" : "is missing", step->bytes);
}

// Does one step, alone or within a transaction; returns the bytes that a scan has visited.
static uint64_t one(const struct block *block, const struct step *step, const char *value, bool alone) {
    uint64_t bytes = 0, rows;
    bool found = true;
    if (block->makes || block->drops) return kind->table(store, block->makes), 0;
    switch (step->action) {
    case READ: read_whole(step); break;
    case MODIFY:
        if (alone) kind->begin(store, true);
        read_whole(step);
        found = kind->overwrite(store, step->key, value, step->bytes);
        if (alone) kind->commit(store);
        break;
    case OVERWRITE: found = kind->overwrite(store, step->key, value, step->bytes); break;
    case INSERT: kind->insert(store, step->key, value, step->bytes); break;
    case DELETE: found = kind->remove(store, step->key); break;
    case SCAN:
        rows = kind->scan(store, step->key, step->rows, &buffer, &bytes);
        if (!rows || rows > step->rows) failed("a scan from %ju on visits %ju of 1 to %u", step->key, rows, step->rows);
        break;
    default: failed("the sequence has a step of kind %u", step->action);
    }
    if (!found) failed("value %ju is missing", step->key);
    return bytes;
}

static uint64_t ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

// Does the steps from `n` to `to`; returns the bytes that scans have visited.
static uint64_t steps(const struct block *block, uint64_t n, uint64_t to, uint32_t *latencies) {
    uint64_t bytes = 0, last = latencies ? ns(CLOCK_MONOTONIC) : 0;
    while (n < to) {
        uint64_t end = block->group && block->group < to - n ? n + block->group : to;
        if (block->group) kind->begin(store, block->writes);
        if (block->group && latencies) last = ns(CLOCK_MONOTONIC);
        for (; n < end; n++) {
            const char *value = block->offsets ? block->values + block->offsets[n] : NULL;
            bytes += one(block, &block->steps[n], value, !block->group);
            if (!latencies) continue;
            uint64_t now = ns(CLOCK_MONOTONIC);
            *latencies++ = now - last < UINT32_MAX ? (uint32_t)(now - last) : UINT32_MAX;
            last = now;
        }
        if (block->group) kind->commit(store);
    }
    return bytes;
}

// How long the thread was ready and waited for a processor: the second number of its schedstat.
static uint64_t run_delay_ns(int schedstat) {
    char line[100] = "";
    uint64_t waited = 0;
    if (pread(schedstat, line, sizeof line - 1, 0) > 0) sscanf(line, "%*u %ju", &waited);
    return waited;
}

static json_t *measure(const struct block *block, uint64_t lead_in, uint64_t total, uint32_t *latencies) {
    bool marks = getenv("STOWPLAN_STRACE");
    int schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);  // not every system tells the delay
    steps(block, 0, lead_in, NULL);
    uint64_t process = ns(CLOCK_PROCESS_CPUTIME_ID), thread = ns(CLOCK_THREAD_CPUTIME_ID);
    // The delay is read within the time, or what passes between both could be more delay than time.
    uint64_t begin = ns(CLOCK_MONOTONIC), delay = run_delay_ns(schedstat);
    if (marks) getpriority(PRIO_PROCESS, 1398034263);
    uint64_t bytes = steps(block, lead_in, total, latencies);
    if (marks) getpriority(PRIO_PROCESS, 1398034264);
    delay = run_delay_ns(schedstat) - delay;
    uint64_t wall = ns(CLOCK_MONOTONIC) - begin;
    thread = ns(CLOCK_THREAD_CPUTIME_ID) - thread, process = ns(CLOCK_PROCESS_CPUTIME_ID) - process;
    json_t *delayed = schedstat < 0 ? NULL : json_integer((json_int_t)delay);
    close(schedstat);
    return json_pack("{s:{s:I,s:I,s:{s:I,s:I,s:o*}}}", "measured", "wall_ns", wall, "bytes", bytes, "usage",
                     "thread_cpu_ns", thread, "process_cpu_ns", process, "run_delay_ns", delayed);
}

// Has in memory what a block does and writes, and room for each value that it reads.
static void prepare(struct block *block, const char *sequence, uint64_t first, uint64_t total) {
    size_t size;
    const struct step *all = mapped(sequence, "", &size);
    uint64_t count = size < 16 ? 0 : ((const uint64_t *)(const void *)all)[1];
    if (!count || memcmp(all, "STOWSEQ1", 8) || size / 16 <= count) failed("the file of the sequence is none");
    if (!(block->steps = malloc((total + 1) * sizeof *block->steps))) failed("there is no memory for %ju steps", total);
    for (uint64_t n = 0; n < total; n++) {
        block->steps[n] = all[1 + (first + n) % count];
        block->writes |= block->steps[n].action != READ && block->steps[n].action != SCAN;
        room_for(&buffer, block->steps[n].bytes);
    }
}

static json_t *run(json_t *asked) {
    const char *operation, *sequence, *values = NULL, *offsets = NULL, *to;
    json_int_t lead_in, operations, first, largest = 0;
    json_t *workload, *share, *each, *payloads = NULL, *told, *go;
    size_t size;
    take(asked, "{s:o,s:[o],s?I}", "workload", &workload, "threads", &share, "largest", &largest);
    take(workload, "{s:s,s:o}", "operation", &operation, "per_transaction", &each);
    take(share, "{s:s,s:I,s:I,s:I,s?o}", "sequence", &sequence, "first", &first, "lead_in", &lead_in,
         "operations", &operations, "payloads", &payloads);
    json_int_t rows = json_integer_value(json_object_get(workload, "rows_per_statement"));
    if (json_array_size(json_object_get(asked, "threads")) > 1 || rows > 1)
        failed("this driver has one thread, and a statement inserts one row");
    struct block block = {.group = json_is_string(each) ? UINT64_MAX : (uint64_t)json_integer_value(each)};
    block.group = block.group == 1 ? 0 : block.group;
    block.makes = !strcmp(operation, "create-table"), block.drops = !strcmp(operation, "drop-table");
    prepare(&block, sequence, (uint64_t)first, (uint64_t)(lead_in + operations));
    if (json_is_object(payloads)) {
        take(payloads, "{s:s,s:s}", "values", &values, "offsets", &offsets);
        block.values = mapped(values, "", &size), block.offsets = mapped(offsets, "", &size);
    }
    room_for(&buffer, (size_t)largest);
    if (block.makes) kind->table(store, false);
    to = json_string_value(json_object_get(share, "latencies"));
    struct buffer times = {0};
    if (to) room_for(&times, (size_t)operations * sizeof(uint32_t));
    say(json_pack("{s:{s:o}}", "ready", "effective", kind->effective(store)));
    if (!(go = hear()) || json_is_object(go)) failed("'go' should have come");
    told = measure(&block, (uint64_t)lead_in, (uint64_t)(lead_in + operations), (uint32_t *)(void *)times.bytes);
    FILE *out = to ? fopen(to, "wb") : NULL;
    if (to && (!out || fwrite(times.bytes, 1, times.room, out) != times.room || fclose(out))) failed("cannot write %s: %m", to);
    free(block.steps), free(times.bytes), json_decref(go);
    return told;
}

static json_t *create(json_t *asked) { return (void)asked, json_string("done"); }
static json_t *inspect(json_t *asked) { return (void)asked, json_pack("{s:{}}", "inspected"); }

int serve(const char *tool, const struct kind *const all[]) {
    static const struct { const char *name; json_t *(*task)(json_t *); bool opens; } tasks[] = {
        {"describe", describe, false}, {"rest", rest, false}, {"inspect", inspect, false}, {"create", create, true},
        {"load", load, true}, {"run", run, true}, {"dump", dump, true}, {"", NULL, false}};
    const char *given, *place;
    kinds = all;
    say(json_pack("{s:{s:s,s:i,s:s}}", "hello", "protocol", "stowplan-driver", "version", 4, "tool", tool));
    for (json_t *message; (message = hear()) && json_is_object(message); json_decref(message)) {
        json_t *asked = NULL;
        size_t t = 0;
        while (tasks[t].task && !(asked = json_object_get(message, tasks[t].name))) t++;
        if (!asked) failed("this driver knows no such task: %s", json_object_iter_key(json_object_iter(message)));
        if (tasks[t].opens && !store) {
            take(asked, "{s:s,s:s}", "store", &given, "place", &place);
            choose(given);
            store = kind->open(place, tasks[t].task == create);
        }
        say(tasks[t].task(asked));
    }
    if (store) kind->close(store);
    return 0;
}
