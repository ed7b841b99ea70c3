/* Arrays that grow by half when they are full, within a limit of all their bytes together: for the
 * exact tools and for search trees. */
#ifndef SK_ROOM_H
#define SK_ROOM_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct {
    int64_t bytes, most_bytes;
    const char *wrong; /* what has failed once; NULL: nothing. No array grows after that. */
} memory;

static const char *const too_large = "too large to enumerate";
static const char *const no_memory = "out of memory";

/* `items` with room for `wanted` of `size` bytes each: moved, or where they were. If there is no
 * room they stay as they are, and of->wrong says so. */
static inline void *grown(memory *of, void *items, int64_t *room, int64_t wanted, size_t size)
{
    assert(wanted >= 0 && *room >= 0 && size > 0);
    if (wanted <= *room || of->wrong)
        return items;
    int64_t more = *room < 64 ? 64 : *room + *room / 2;
    if (more < wanted)
        more = wanted;
    of->bytes += (more - *room) * (int64_t)size;
    void *moved = of->bytes > of->most_bytes ? NULL : realloc(items, (size_t)more * size);
    if (!moved) {
        of->wrong = of->bytes > of->most_bytes ? too_large : no_memory;
        return items;
    }
    *room = more;
    return moved;
}

/* Of the array `name` of an object that has its `memory`, and the array's room as room_name: NULL,
 * or what is wrong. Items of GROW_BY have a size that only the object knows. */
#define GROW_BY(object, name, wanted, size)                                            \
    ((object)->name = grown(&(object)->memory, (object)->name, &(object)->room_##name, \
                            (int64_t)(wanted), (size)),                                \
     (object)->memory.wrong)
#define GROW(object, name, wanted) GROW_BY(object, name, wanted, sizeof *(object)->name)

#endif
