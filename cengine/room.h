/* Arrays that grow, within a limit of all their bytes together: for the exact tools. */
#ifndef SK_ROOM_H
#define SK_ROOM_H

#include <stdint.h>
#include <stdlib.h>

typedef struct {
    int64_t bytes, most_bytes;
} memory;

static const char *const too_large = "too large to enumerate";
static const char *const no_memory = "out of memory";

/* Makes room for `wanted` items; NULL or what is wrong. */
static inline const char *grow(memory *of, void **items, int64_t *room, int64_t wanted, size_t size)
{
    if (wanted <= *room)
        return NULL;
    int64_t more = *room < 64 ? 64 : *room + *room / 2;
    if (more < wanted)
        more = wanted;
    of->bytes += (more - *room) * (int64_t)size;
    if (of->bytes > of->most_bytes)
        return too_large;
    void *moved = realloc(*items, (size_t)more * size);
    if (!moved)
        return no_memory;
    *items = moved;
    *room = more;
    return NULL;
}

/* Of the array `name` of an object that has its `memory`, and the array's room as room_name. */
#define GROW(object, name, wanted)                                                    \
    grow(&(object)->memory, (void **)&(object)->name, &(object)->room_##name, wanted, \
         sizeof *(object)->name)

#endif
