/* Diplomacy as Python sees it (stratkit.h). */
#include <stdlib.h>
#include <string.h>

#include "../philox.h"
#include "../stratkit.h"
#include "diplomacy.h"

const char *sk_dip_map_text(const char *name) { return dip_map_text(name); }

sk_dip_map *sk_dip_open(const char *text, char *error, size_t error_size)
{
    dip_map *map = calloc(1, sizeof *map);
    if (map && !dip_read_map(map, text, error, error_size)) {
        free(map);
        return NULL;
    }
    return map;
}

void sk_dip_close(sk_dip_map *map) { free(map); }

void sk_dip_describe(const sk_dip_map *map, sk_dip_size *out)
{
    *out = (sk_dip_size){map->provinces, map->locations, map->powers,
                         map->centres,   map->win,       map->year};
}

const char *sk_dip_location_name(const sk_dip_map *map, int32_t location)
{
    return location >= 0 && location < map->locations ? map->names[location] : NULL;
}

const char *sk_dip_power_name(const sk_dip_map *map, int32_t power)
{
    return power >= 0 && power < map->powers ? map->power_names[power] : NULL;
}

void sk_dip_map_arrays(const sk_dip_map *map, uint8_t *parent, uint8_t *kind, uint8_t *centre,
                       uint8_t *home, uint8_t *army, uint8_t *fleet)
{
    size_t n = (size_t)map->locations;
    memcpy(parent, map->parent, n);
    memcpy(kind, map->kind, (size_t)map->provinces);
    memcpy(centre, map->centre, (size_t)map->provinces);
    memcpy(home, map->home, (size_t)map->provinces);
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++) {
            army[a * n + b] = a < (size_t)map->provinces && has(map->army[a], (int)b);
            fleet[a * n + b] = (uint8_t)has(map->fleet[a], (int)b);
        }
}

void sk_dip_start(const sk_dip_map *map, uint8_t *position)
{
    memcpy(position, &map->start, sizeof map->start);
}

const char *sk_dip_check(const sk_dip_map *map, int64_t n, const uint8_t *positions)
{
    const char *wrong = NULL;
    for (int64_t i = 0; i < n && !wrong; i++)
        wrong = dip_check(map, (const dip_position *)positions + i);
    return wrong;
}

_Static_assert((int)SK_DIP_ORDERS == DIP_MOST_ORDERS, "what callers have room for");

int64_t sk_dip_legal(const sk_dip_map *map, int64_t n, const uint8_t *positions,
                     const uint8_t *provinces, uint8_t *orders, int32_t *counts)
{
    dip_order *next = (dip_order *)orders;
    for (int64_t i = 0; i < n; i++) {
        counts[i] = dip_legal(map, (const dip_position *)positions + i, provinces[i], next);
        next += counts[i];
    }
    return next - (dip_order *)orders;
}

int32_t sk_dip_is_legal(const sk_dip_map *map, const uint8_t *position, int32_t province,
                        const uint8_t *order)
{
    return dip_is_legal(map, (const dip_position *)position, province,
                        (dip_order){order[0], order[1], order[2]});
}

int32_t sk_dip_adjustment(const sk_dip_map *map, const uint8_t *position, int32_t power)
{
    return dip_adjustment(map, (const dip_position *)position, power);
}

/* Whether the order of this province is looked at. Outside phases of moves DIP_HOLD is none: a
 * dislodged unit is then disbanded. */
static int counts(const dip_position *position, int p, dip_order order)
{
    if (position->phase == SPRING_MOVES || position->phase == FALL_MOVES)
        return position->unit[p] != 0;
    return order.verb != DIP_HOLD;
}

int64_t sk_dip_resolve(const sk_dip_map *map, int64_t n, uint8_t *positions, const uint8_t *orders,
                       uint8_t *outcomes)
{
    int64_t provinces = map->provinces;
    for (int64_t i = 0; i < n; i++) {
        dip_position *position = (dip_position *)positions + i;
        const dip_order *given = (const dip_order *)orders + i * provinces;
        for (int p = 0; p < provinces; p++)
            if (counts(position, p, given[p]) && !dip_is_legal(map, position, p, given[p]))
                return i * provinces + p;
        if (outcomes)
            dip_adjudicate(map, position, given, outcomes + i * provinces);
        else
            dip_resolve(map, position, given);
    }
    return -1;
}

/* One of the legal orders of each province. */
static void draw_orders(const dip_map *map, const dip_position *position, philox_draws *draws,
                        dip_order *orders)
{
    dip_order some[DIP_MOST_ORDERS];
    for (int p = 0; p < map->provinces; p++) {
        int n = dip_legal(map, position, p, some);
        orders[p] = n ? some[philox_below(draws, n)] : (dip_order){DIP_HOLD, DIP_NONE, DIP_NONE};
    }
}

uint64_t sk_dip_random(const sk_dip_map *map, uint64_t seed, int64_t phases, int32_t years)
{
    dip_position position = map->start;
    dip_order orders[DIP_PROVINCES];
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (int64_t i = 0; i < phases; i++) {
        uint32_t key[2];
        philox_decision_key(seed, 0, i, 0, key);
        philox_draws draws = philox_world(key, 0);
        if (position.year >= years)
            position = map->start;
        draw_orders(map, &position, &draws, orders);
        dip_resolve(map, &position, orders);
        const uint8_t *bytes = (const uint8_t *)&position;
        for (size_t k = 0; k < sizeof position; k++)
            hash = (hash ^ bytes[k]) * 1099511628211u;
    }
    return hash;
}
