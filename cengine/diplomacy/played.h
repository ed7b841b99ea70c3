/* Diplomacy as a game: what its table (game.c) and what a power sees (seen.c) share. */
#ifndef SK_DIPLOMACY_PLAYED_H
#define SK_DIPLOMACY_PLAYED_H

#include "../game.h"
#include "diplomacy.h"

typedef struct {
    sk_game base;
    dip_map map;
    int32_t years, quiet; /* rules; quiet 0: off */
} diplomacy;

static inline const diplomacy *as_diplomacy(const sk_game *game) { return (const diplomacy *)game; }

/* What a power sees: everything but the others' orders of this phase. */
typedef struct {
    dip_position position;
    dip_order own[DIP_PROVINCES];
    dip_order last[DIP_PROVINCES]; /* of the phase before, all powers' */
    uint8_t power, at, stage, verb, whom;
} dip_view;

/* The number of features, a byte each, and those of a view. */
int dip_features(const dip_map *map);
void dip_write_features(const dip_map *map, const dip_view *view, uint8_t *out);

#endif
