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

/* What is asked of an order in the making. */
enum { ASK_VERB, ASK_WHOM, ASK_WHITHER, DIP_STAGES };

/* The features of a view, a byte each: of each province, which end with what is asked there, the
 * own orders and those of the phase before; then of the moment: phase, power, stage, verb, and
 * counters of years. */
enum { DIP_ASKED = 2, DIP_ORDERS = DIP_VERBS + 2, DIP_PHASES = 5, DIP_COUNTERS = 2 };
int dip_features_of_province(const dip_map *map);
int dip_features(const dip_map *map);
void dip_write_features(const dip_map *map, const dip_view *view, uint8_t *out);

#endif
