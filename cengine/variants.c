/* The variants, and boards of theirs with other lakes. To add a variant, add a row. */
#include <stdio.h>
#include <string.h>

#include "stratego.h"

#define LAKES_10X10 "C5 D5 G5 H5 C6 D6 G6 H6"
/* Ten more, which a turn of the board by 180 degrees exchanges. (AlphaZe** does not say which
 * fields it blocks.) Nothing is deployed on those in the first ranks. */
#define LAKES_BLOCKED "C2 H3 K3 E4 B5 C5 D5 G5 H5 C6 D6 G6 H6 I6 F7 A8 C8 H9"

static const sk_variant variants[] = {
    /* name, width, height, deployment ranks,
     *   flag, spy, scout, miner, sergeant, lieutenant, captain, major, colonel, general, marshal,
     *   bomb, lakes, plies in all, plies without an attack */
    {"classic", 10, 10, 4, {1, 1, 8, 5, 4, 4, 4, 3, 2, 1, 1, 6}, LAKES_10X10, 2000, 200},
    {"barrage", 10, 10, 4, {1, 1, 2, 1, 0, 0, 0, 0, 0, 1, 1, 1}, LAKES_10X10, 2000, 200},
    {"duel", 10, 10, 4, {1, 1, 2, 2, 0, 0, 0, 0, 0, 1, 1, 2}, LAKES_10X10, 2000, 200},
    {"ultimate", 10, 10, 4, {1, 1, 4, 2, 2, 2, 2, 1, 1, 1, 1, 2}, LAKES_10X10, 2000, 200},
    {"mini", 6, 6, 2, {1, 1, 2, 1, 0, 0, 0, 0, 0, 1, 1, 1}, "", 200, 60},
    {"nano", 3, 4, 1, {1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0}, "", 8, 0},
    {"micro", 3, 4, 1, {1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0}, "", 10, 0},
    {"barrage-blocked", 10, 10, 4, {1, 1, 2, 1, 0, 0, 0, 0, 0, 1, 1, 1}, LAKES_BLOCKED, 2000, 200},
};

const sk_variant *stratego_variant_row(int32_t index)
{
    int32_t rows = (int32_t)(sizeof variants / sizeof *variants);
    return index >= 0 && index < rows ? &variants[index] : NULL;
}

const sk_variant *stratego_variant_named(const char *name, size_t length)
{
    const sk_variant *row;
    for (int32_t i = 0; (row = stratego_variant_row(i)); i++)
        if (strlen(row->name) == length && !memcmp(row->name, name, length))
            return row;
    return NULL;
}

const char *stratego_variant_read(const char *name, sk_variant *out, char lakes[LAKES_ROOM])
{
    size_t length = strcspn(name, ":");
    const sk_variant *row = stratego_variant_named(name, length);
    sk_bits squares;
    assert(row);
    *out = *row;
    if (!name[length])
        return NULL;
    snprintf(lakes, LAKES_ROOM, "%s", strcmp(name + length + 1, "-") ? name + length + 1 : "");
    out->lakes = lakes;
    sk_bits usual;
    stratego_variant_lakes(row, &usual);
    if (!stratego_variant_lakes(out, &squares) || !name[length + 1] || strchr(name, ' '))
        return "lakes are squares in their order, as in barrage:C5D5G10, or - for none";
    if (squares == usual)
        return "these are its own lakes: its name says enough";
    int zone = row->width * row->ranks, last = row->width * row->height - 1, free = 0;
    for (int i = 0; i < zone; i++)
        free += !has(squares, i) && !has(squares, last - i);
    for (int type = 0; type < TYPES; type++)
        free -= row->counts[type];
    if (free < 0)
        return "these lakes leave the sides no room for their pieces";
    return NULL;
}

/* "C5 D5" as a set of squares (files are ABCDEFGHIK: there is no J), ascending; 0 when the text is
 * wrong. */
int stratego_variant_lakes(const sk_variant *variant, sk_bits *lakes)
{
    static const char files[] = "ABCDEFGHIK";
    int last = -1;
    *lakes = 0;
    for (const char *p = variant->lakes; *p;) {
        const char *file = strchr(files, *p++);
        int rank = 0, digits = 0;
        for (; *p >= (digits ? '0' : '1') && *p <= '9' && digits < 2; digits++)
            rank = 10 * rank + (*p++ - '0');
        while (*p == ' ')
            p++;
        if (!file || file - files >= variant->width || rank < 1 || rank > variant->height)
            return 0;
        int square = variant->width * (rank - 1) + (int)(file - files);
        if (square <= last)
            return 0;
        *lakes |= bit(last = square);
    }
    return 1;
}

int32_t sk_stratego_variant(int32_t index, sk_variant *out)
{
    const sk_variant *row = stratego_variant_row(index);
    if (!row)
        return 0;
    *out = *row;
    return 1;
}
