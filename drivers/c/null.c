// A store that does nothing: what the loop of driver.c costs.
#include "driver.h"

static json_t *capabilities(void) { return json_pack("{s:[s]}", "operations", "read"); }
static json_t *effective(void *store) { return (void)store, json_object(); }
static void *open_null(const char *place, bool create) {
    static char nothing;
    (void)place, (void)create;
    return &nothing;
}
static void nothing(void *store) { (void)store; }
static void begin(void *store, bool writes) { (void)store, (void)writes; }
static bool read_nothing(void *store, uint64_t key, struct buffer *to, size_t *bytes) {
    (void)store, (void)key, (void)to;
    *bytes = 0;
    return true;
}
static void insert(void *store, uint64_t key, const void *value, size_t bytes) {
    (void)store, (void)key, (void)value, (void)bytes;
}

const struct kind null_kind = {
    .name = "null", .about = "does nothing: what the loop of a driver in C costs", .settings = "[]", .keeps_nothing = true,
    .capabilities = capabilities, .open = open_null, .effective = effective, .begin = begin,
    .commit = nothing, .read = read_nothing, .insert = insert, .checkpoint = nothing, .close = nothing,
};
