/* Retreats, centres, adjustments, and which phase comes next. */
#include <string.h>

#include "diplomacy.h"

/* ---- Retreats: who goes where alone ---- */

static void carry_out_retreats(const dip_map *map, dip_position *position, const dip_order *orders)
{
    uint8_t comers[DIP_PROVINCES] = {0};
    for (int p = 0; p < map->provinces; p++)
        if (position->dislodged[p] && orders[p].verb == DIP_RETREAT)
            comers[map->parent[orders[p].whither]]++;
    for (int p = 0; p < map->provinces; p++) {
        if (!position->dislodged[p] || orders[p].verb != DIP_RETREAT)
            continue;
        int to = map->parent[orders[p].whither];
        if (comers[to] == 1)
            position->unit[to] = dip_at(map, position->dislodged[p], orders[p].whither);
    }
}

static void clear_retreats(dip_position *position)
{
    memset(position->dislodged, 0, sizeof position->dislodged);
    memset(position->from, DIP_NONE, sizeof position->from);
    memset(position->contested, 0, sizeof position->contested);
}

/* ---- Adjustments ---- */

/* The unit that civil disorder takes next: farthest from home, fleets before armies, then by name
 * (DATC 4.D.8). */
static int least_wanted(const dip_map *map, const dip_position *position, int power)
{
    int worst = -1, rank = -1;
    for (int p = 0; p < map->provinces; p++) {
        uint8_t unit = position->unit[p];
        if (!unit || dip_power(unit) != power)
            continue;
        int fleet = (unit & DIP_FLEET) != 0;
        int distance = fleet ? map->fleet_distance[power][dip_location(map, p, unit)]
                             : map->army_distance[power][p];
        int own = 2 * distance + fleet;
        if (own > rank || (own == rank && strcmp(map->names[p], map->names[worst]) < 0)) {
            worst = p;
            rank = own;
        }
    }
    return worst;
}

/* Orders beyond what is allowed are left out, by the order of provinces. */
static void carry_out_adjustments(const dip_map *map, dip_position *position,
                                  const dip_order *orders)
{
    int left[DIP_POWERS];
    for (int power = 0; power < map->powers; power++)
        left[power] = dip_adjustment(map, position, power);
    for (int p = 0; p < map->provinces; p++) {
        uint8_t unit = position->unit[p];
        if (unit && orders[p].verb == DIP_DISBAND && left[dip_power(unit)] < 0) {
            left[dip_power(unit)]++;
            position->unit[p] = 0;
        }
        int fleet = orders[p].verb == DIP_BUILD_FLEET, power = map->home[p];
        if (unit || power == DIP_NONE || (!fleet && orders[p].verb != DIP_BUILD_ARMY)
            || left[power] <= 0)
            continue;
        left[power]--;
        position->unit[p] =
            dip_at(map, (uint8_t)(DIP_UNIT | (fleet ? DIP_FLEET : 0) | power), orders[p].whither);
    }
    for (int power = 0; power < map->powers; power++)
        for (; left[power] < 0; left[power]++)
            position->unit[least_wanted(map, position, power)] = 0;
}

/* After the fall a centre belongs to whoever stands there. */
static void take_centres(const dip_map *map, dip_position *position)
{
    int changed = 0;
    for (int p = 0; p < map->provinces; p++) {
        uint8_t unit = position->unit[p];
        if (!unit || map->centre[p] == DIP_NONE)
            continue;
        uint8_t *owner = &position->owner[map->centre[p]], now = (uint8_t)(1 + dip_power(unit));
        changed |= *owner != now;
        *owner = now;
    }
    if (changed)
        position->quiet = 0;
    else if (position->quiet < 255)
        position->quiet++;
}

/* ---- Phases ---- */

/* A dislodged unit that can only be disbanded has nothing to order. */
static int anything_to_order(const dip_map *map, const dip_position *position)
{
    int any = 0;
    if (position->phase == SPRING_RETREATS || position->phase == FALL_RETREATS)
        for (int p = 0; p < map->provinces; p++)
            any |= position->dislodged[p] && dip_retreats(map, position, p);
    else if (position->phase == ADJUSTMENTS)
        for (int power = 0; power < map->powers; power++)
            any |= dip_adjustment(map, position, power);
    else
        any = 1;
    return any != 0;
}

void dip_resolve(const dip_map *map, dip_position *position, const dip_order *orders)
{
    if (position->phase == SPRING_MOVES || position->phase == FALL_MOVES)
        dip_adjudicate(map, position, orders, NULL);
    else if (position->phase == ADJUSTMENTS)
        carry_out_adjustments(map, position, orders);
    else
        carry_out_retreats(map, position, orders);
    do {
        if (position->phase == SPRING_RETREATS || position->phase == FALL_RETREATS)
            clear_retreats(position);
        if (position->phase == FALL_RETREATS)
            take_centres(map, position);
        if (position->phase++ == ADJUSTMENTS) {
            position->phase = SPRING_MOVES;
            position->year += position->year < 255;
        }
    } while (!anything_to_order(map, position));
}

/* ---- Bytes that are a position ---- */

static const char *check_unit(const dip_map *map, int p, uint8_t unit)
{
    if (!unit)
        return NULL;
    int coast = (unit & DIP_COAST) >> DIP_COAST_SHIFT, fleet = unit & DIP_FLEET;
    if (!(unit & DIP_UNIT) || unit & 0x08 || dip_power(unit) >= map->powers)
        return "a unit of no power";
    if (coast > map->split[p] || (coast && !fleet) || (fleet && map->split[p] && !coast))
        return "a unit on a coast that is none of its province's";
    if (fleet ? map->kind[p] == DIP_INLAND : map->kind[p] == DIP_SEA)
        return "a unit where it cannot stand";
    return NULL;
}

const char *dip_check(const dip_map *map, const dip_position *position)
{
    if (position->phase > ADJUSTMENTS)
        return "no such phase";
    int retreating = position->phase == SPRING_RETREATS || position->phase == FALL_RETREATS;
    for (int p = 0; p < DIP_PROVINCES; p++) {
        int contested = position->contested[p / 8] >> p % 8 & 1;
        uint8_t from = position->from[p];
        if (p >= map->provinces) {
            if (position->unit[p] || position->dislodged[p] || contested || from != DIP_NONE)
                return "something in a province that the map has not";
            continue;
        }
        const char *wrong = check_unit(map, p, position->unit[p]);
        if (!wrong)
            wrong = check_unit(map, p, position->dislodged[p]);
        if (wrong)
            return wrong;
        if (!retreating && (position->dislodged[p] || contested || from != DIP_NONE))
            return "a dislodged unit or a standoff outside a phase of retreats";
        if (from != DIP_NONE && (from >= map->provinces || !position->dislodged[p]))
            return "an attacker of no dislodged unit";
    }
    for (int c = 0; c < DIP_CENTRES; c++)
        if (position->owner[c] > (c < map->centres ? map->powers : 0))
            return "a centre of no power";
    return NULL;
}
