/* Which rows of bytes are the same: a hash table of rows, compared byte by byte. */
#include <assert.h>
#include <string.h>

#include "game.h"
#include "hash.h"

int64_t sk_distinct_rows(const uint8_t *a, int32_t a_bytes, const uint8_t *b, int32_t b_bytes,
                         int64_t n, int32_t *table, int64_t slots, int64_t *first, int64_t *each)
{
    int64_t found = 0;
    assert(slots > n && !(slots & (slots - 1)));
    for (int64_t i = 0; i < n; i++) {
        const uint8_t *left = a + i * a_bytes, *right = b + i * b_bytes;
        uint64_t slot =
            hash_bytes(hash_bytes(0, left, a_bytes), right, b_bytes) & (uint64_t)(slots - 1);
        for (; table[slot]; slot = (slot + 1) & (uint64_t)(slots - 1)) {
            int64_t other = first[table[slot] - 1];
            if (!memcmp(a + other * a_bytes, left, (size_t)a_bytes)
                && !memcmp(b + other * b_bytes, right, (size_t)b_bytes))
                break;
        }
        if (!table[slot]) {
            first[found++] = i;
            table[slot] = (int32_t)found;
        }
        each[i] = table[slot] - 1;
    }
    return found;
}
