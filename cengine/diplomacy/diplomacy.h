/* Diplomacy without press: maps, positions, orders (formats/diplomacy.md).
 *
 * A *province* is a place where one unit may be. A *location* is where a unit stands: the province,
 * or one of its coasts where it has several. Locations 0 .. provinces - 1 are the provinces.
 */
#ifndef SK_DIPLOMACY_H
#define SK_DIPLOMACY_H

#include <stddef.h>
#include <stdint.h>

#include "../bits.h"

enum { DIP_PROVINCES = 76, DIP_LOCATIONS = 96, DIP_POWERS = 7, DIP_CENTRES = 40, DIP_COASTS = 4 };
enum { DIP_NONE = 255 }; /* no province, no location */

/* ---- Positions: flat bytes, the same in files ---- */

/* A unit in a byte: 0 is none. */
enum { DIP_UNIT = 0x80, DIP_FLEET = 0x40, DIP_COAST_SHIFT = 4, DIP_COAST = 0x30, DIP_POWER = 0x07 };

enum { SPRING_MOVES, SPRING_RETREATS, FALL_MOVES, FALL_RETREATS, ADJUSTMENTS };

typedef struct {
    uint8_t unit[DIP_PROVINCES];
    uint8_t dislodged[DIP_PROVINCES];
    uint8_t from[DIP_PROVINCES]; /* of a dislodged unit: the province that its attacker came from,
                                    where it may not retreat; DIP_NONE where that came by convoy */
    uint8_t owner[DIP_CENTRES];  /* of each centre: 0 nobody, or 1 + power */
    uint8_t contested[(DIP_PROVINCES + 7) / 8]; /* bits: a standoff left the province empty */
    uint8_t phase;
    uint8_t year;  /* since the map's first */
    uint8_t quiet; /* years in which no centre changed hands */
} dip_position;

_Static_assert(sizeof(dip_position) == 3 * DIP_PROVINCES + DIP_CENTRES + 10 + 3, "no padding");

/* ---- Orders ---- */

enum {
    DIP_HOLD,
    DIP_MOVE, /* over land, or a fleet's */
    DIP_VIA,  /* a move by convoy */
    DIP_SUPPORT_HOLD,
    DIP_SUPPORT_MOVE,
    DIP_CONVOY,
    DIP_RETREAT,
    DIP_DISBAND,
    DIP_BUILD_ARMY,
    DIP_BUILD_FLEET,
    DIP_VERBS
};

/* What the unit in a province does, or what happens in it. `whom`: the province of the unit that is
 * supported or convoyed. `whither`: the location where a fleet moves, retreats or is built; else a
 * province. A support may name a coast: it then counts for a move to that coast only. */
typedef struct {
    uint8_t verb, whom, whither;
} dip_order;

/* ---- The map ---- */

enum { DIP_INLAND, DIP_COASTAL, DIP_SEA };

typedef struct sk_dip_map {
    int provinces, locations, powers, centres, win, year;
    int years; /* that a game lasts, unless its rules say otherwise */
    char names[DIP_LOCATIONS][8];
    char power_names[DIP_POWERS][16];
    uint8_t kind[DIP_PROVINCES];
    uint8_t parent[DIP_LOCATIONS];             /* the province of each location */
    uint8_t coast_number[DIP_LOCATIONS];       /* 0, or which of its province's coasts it is */
    uint8_t coasts[DIP_PROVINCES][DIP_COASTS]; /* [0] is the province itself */
    uint8_t split[DIP_PROVINCES];      /* number of coasts that have locations of their own */
    uint8_t centre[DIP_PROVINCES];     /* its number, or DIP_NONE */
    uint8_t home[DIP_PROVINCES];       /* whose home centre, or DIP_NONE */
    sk_bits army[DIP_PROVINCES];       /* provinces where an army goes from there */
    sk_bits fleet[DIP_LOCATIONS];      /* locations where a fleet goes from there */
    sk_bits near[DIP_LOCATIONS];       /* provinces where a fleet goes from there */
    sk_bits sea_beside[DIP_PROVINCES]; /* sea provinces beside a province */
    sk_bits seas, coastal;             /* provinces */
    /* Steps to the nearest home centre of a power, DIP_NONE if there is no way: an army's from each
     * province, over land and sea; a fleet's from each location. */
    uint8_t army_distance[DIP_POWERS][DIP_PROVINCES];
    uint8_t fleet_distance[DIP_POWERS][DIP_LOCATIONS];
    dip_position start;
} dip_map;

/* Reads the text of a map; 0, and what is wrong with it in `error`. */
int dip_read_map(dip_map *map, const char *text, char *error, size_t error_size);
/* The text of a map that comes with the engine, or NULL. */
const char *dip_map_text(const char *name);
/* Why the bytes are no position on the map; NULL if they are one. */
const char *dip_check(const dip_map *map, const dip_position *position);

static inline int dip_power(uint8_t unit) { return unit & DIP_POWER; }

/* Where the unit of a province stands. */
static inline int dip_location(const dip_map *map, int province, uint8_t unit)
{
    return map->coasts[province][(unit & DIP_COAST) >> DIP_COAST_SHIFT];
}

/* The provinces that a unit there can move to without a convoy. */
static inline sk_bits dip_near(const dip_map *map, int province, uint8_t unit)
{
    return unit & DIP_FLEET ? map->near[dip_location(map, province, unit)] : map->army[province];
}

/* The same unit at another location. */
static inline uint8_t dip_at(const dip_map *map, uint8_t unit, int location)
{
    return (uint8_t)((unit & ~DIP_COAST) | map->coast_number[location] << DIP_COAST_SHIFT);
}

/* ---- Rules ---- */

/* Whether the order is legal for the unit in the province, or for the province itself in
 * adjustments.
 */
int dip_is_legal(const dip_map *map, const dip_position *position, int province, dip_order order);
/* All legal orders there, the verbs in their order; returns their number. A support names
 * provinces.
 */
enum { DIP_MOST_ORDERS = 2 * DIP_PROVINCES * DIP_PROVINCES };
int dip_legal(const dip_map *map, const dip_position *position, int province, dip_order *orders);
/* The locations where the dislodged unit of a province may retreat. */
sk_bits dip_retreats(const dip_map *map, const dip_position *position, int province);
/* How many units a power may build, if positive, or must disband. */
int dip_adjustment(const dip_map *map, const dip_position *position, int power);

/* Carries out the orders of a phase, one for each province (those without a unit to order are not
 * looked at), which are legal, and goes on to the next phase in which there is something to order.
 */
void dip_resolve(const dip_map *map, dip_position *position, const dip_order *orders);
/* What an order of a phase of moves comes to. Whether an order that helps another was any use does
 * not count: a support is carried out though the move that it helps bounces. */
enum {
    DIP_CARRIED_OUT, /* a hold always is */
    DIP_BOUNCE,      /* a move did not get where it wanted to */
    DIP_NO_CONVOY,   /* an army found no fleets that would carry it, or not enough of them */
    DIP_CUT,         /* a support: its unit was attacked */
    DIP_VOID,        /* a support or convoy of what its unit is not ordered to do, or a convoy of
                        fewer fleets than a way needs */
    DIP_DISRUPTED,   /* a convoy: its fleet was dislodged, or a paradox stopped it */
};

/* A phase of moves alone: position after it, with who is dislodged; the phase stays. `outcomes`
 * [provinces] (or NULL): what the orders came to, 0 where no unit is. */
void dip_adjudicate(const dip_map *map, dip_position *position, const dip_order *orders,
                    uint8_t *outcomes);

#endif
