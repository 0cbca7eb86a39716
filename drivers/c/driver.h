// A driver for Stowplan in C: the protocol of docs/driver-format.md, without the stores. One thread uses one store.
#ifndef STOWPLAN_DRIVER_H
#define STOWPLAN_DRIVER_H
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct buffer { char *bytes; size_t room; };  // for values that are read

// A kind of store. What goes wrong is told by failed(); `false` says that there is no such key.
struct kind {
    const char *name, *about;
    const char *settings;                            // a list of their descriptions, in JSON
    bool keeps_nothing;
    const char *engine[2];                           // name and version
    const char *(*refused)(void);                    // why there is no such store, or NULL; may be left out
    json_t *(*capabilities)(void);
    void *(*open)(const char *place, bool create);
    json_t *(*effective)(void *store);               // settings as the engine tells them
    void (*begin)(void *store, bool writes);
    void (*commit)(void *store);
    bool (*read)(void *store, uint64_t key, struct buffer *to, size_t *bytes);
    bool (*overwrite)(void *store, uint64_t key, const void *value, size_t bytes);
    void (*insert)(void *store, uint64_t key, const void *value, size_t bytes);
    bool (*remove)(void *store, uint64_t key);
    size_t (*scan)(void *store, uint64_t key, size_t rows, struct buffer *to, uint64_t *bytes);  // values visited
    void (*table)(void *store, bool make);           // makes it, or drops it
    void (*checkpoint)(void *store);
    void (*close)(void *store);
};

extern const struct kind null_kind;                              // does nothing: what the loop costs
int serve(const char *tool, const struct kind *const kinds[]);   // until the parent says bye; `kinds` ends with NULL
const char *setting(const char *name);                           // of the store that is described or opened
char *room_for(struct buffer *buffer, size_t bytes);             // the buffer's memory, made larger where it must be
_Noreturn void failed(const char *format, ...) __attribute__((format(printf, 1, 2)));  // ends the process with that line
#endif
