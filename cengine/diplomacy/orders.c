/* Legal orders. */
#include <assert.h>
#include <string.h>

#include "diplomacy.h"

static int is_army(uint8_t unit) { return unit && !(unit & DIP_FLEET); }

/* The coastal provinces beside fleets at sea: those in the provinces `left`, and those beside them
 * in turn. */
static sk_bits connected(const dip_map *map, const dip_position *position, sk_bits left)
{
    sk_bits seen = left, ends = 0;
    while (left) {
        int sea = lsb(left);
        left &= left - 1;
        if (!position->unit[sea])
            continue;
        sk_bits next = map->near[sea] & map->seas & ~seen;
        ends |= map->near[sea] & map->coastal;
        seen |= next;
        left |= next;
    }
    return ends;
}

/* Where the unit could go by convoy, whatever the fleets are ordered. */
static sk_bits could_sail(const dip_map *map, const dip_position *position, int p)
{
    if (!is_army(position->unit[p]) || !has(map->coastal, p))
        return 0;
    return connected(map, position, map->sea_beside[p]) & ~bit(p);
}

static sk_bits could_go(const dip_map *map, const dip_position *position, int p)
{
    return dip_near(map, p, position->unit[p]) | could_sail(map, position, p);
}

/* The armies that the fleet at sea could help to convoy, and where they could go: `ends`. */
static sk_bits passengers(const dip_map *map, const dip_position *position, int sea, sk_bits *ends)
{
    sk_bits armies = 0;
    *ends = connected(map, position, bit(sea));
    for (sk_bits left = *ends; left; left &= left - 1)
        if (is_army(position->unit[lsb(left)]))
            armies |= bit(lsb(left));
    return armies;
}

/* ---- Retreats ---- */

static int is_contested(const dip_position *position, int p)
{
    return position->contested[p / 8] >> p % 8 & 1;
}

sk_bits dip_retreats(const dip_map *map, const dip_position *position, int p)
{
    uint8_t unit = position->dislodged[p];
    sk_bits to = unit & DIP_FLEET ? map->fleet[dip_location(map, p, unit)] : map->army[p];
    for (sk_bits left = to; left; left &= left - 1) {
        int q = map->parent[lsb(left)];
        if (position->unit[q] || is_contested(position, q) || position->from[p] == q)
            to &= ~bit(lsb(left));
    }
    return to;
}

/* ---- Adjustments ---- */

int dip_adjustment(const dip_map *map, const dip_position *position, int power)
{
    int centres = 0, units = 0, room = 0;
    for (int p = 0; p < map->provinces; p++) {
        int owned = map->centre[p] != DIP_NONE && position->owner[map->centre[p]] == 1 + power;
        uint8_t unit = position->unit[p];
        centres += owned;
        units += unit && dip_power(unit) == power;
        room += owned && map->home[p] == power && !unit;
    }
    int more = centres - units;
    return more > room ? room : more;
}

static int may_build(const dip_map *map, const dip_position *position, int p)
{
    int power = map->home[p];
    return power != DIP_NONE && !position->unit[p] && position->owner[map->centre[p]] == 1 + power
           && dip_adjustment(map, position, power) > 0;
}

/* ---- One list of all ---- */

typedef struct {
    dip_order *orders;
    int n;
} list;

/* Most has a fleet at sea: a hold, moves to locations, and with each other unit a support to hold,
 * supports of moves and convoys to any province but two. */
_Static_assert(1 + DIP_LOCATIONS + DIP_PROVINCES * (1 + 2 * (DIP_PROVINCES - 2)) <= DIP_MOST_ORDERS,
               "all are listed");

static void add(list *out, int verb, int whom, int whither)
{
    assert(out->n < DIP_MOST_ORDERS);
    out->orders[out->n++] = (dip_order){(uint8_t)verb, (uint8_t)whom, (uint8_t)whither};
}

static void add_each(list *out, int verb, int whom, sk_bits whither)
{
    for (; whither; whither &= whither - 1)
        add(out, verb, whom, lsb(whither));
}

static void list_moves(const dip_map *map, const dip_position *position, int p, list *out)
{
    uint8_t unit = position->unit[p];
    sk_bits near = dip_near(map, p, unit), units = 0, ends;
    for (int q = 0; q < map->provinces; q++)
        if (position->unit[q] && q != p)
            units |= bit(q);
    add(out, DIP_HOLD, DIP_NONE, DIP_NONE);
    add_each(out, DIP_MOVE, DIP_NONE,
             unit & DIP_FLEET ? map->fleet[dip_location(map, p, unit)] : near);
    add_each(out, DIP_VIA, DIP_NONE, could_sail(map, position, p));
    for (sk_bits left = units & near; left; left &= left - 1)
        add(out, DIP_SUPPORT_HOLD, lsb(left), DIP_NONE);
    for (sk_bits left = units; left; left &= left - 1)
        add_each(out, DIP_SUPPORT_MOVE, lsb(left), could_go(map, position, lsb(left)) & near);
    if (!has(map->seas, p))
        return;
    for (sk_bits left = passengers(map, position, p, &ends); left; left &= left - 1)
        add_each(out, DIP_CONVOY, lsb(left), ends & ~bit(lsb(left)));
}

static void list_adjustments(const dip_map *map, const dip_position *position, int p, list *out)
{
    uint8_t unit = position->unit[p];
    if (unit && dip_adjustment(map, position, dip_power(unit)) < 0)
        add(out, DIP_DISBAND, DIP_NONE, DIP_NONE);
    if (!may_build(map, position, p))
        return;
    add(out, DIP_BUILD_ARMY, DIP_NONE, p);
    if (map->kind[p] != DIP_COASTAL)
        return;
    for (int c = map->split[p] > 0; c <= map->split[p]; c++)
        add(out, DIP_BUILD_FLEET, DIP_NONE, map->coasts[p][c]);
}

int dip_legal(const dip_map *map, const dip_position *position, int p, dip_order *orders)
{
    list out = {orders, 0};
    int phase = position->phase;
    if (phase == ADJUSTMENTS)
        list_adjustments(map, position, p, &out);
    else if ((phase == SPRING_MOVES || phase == FALL_MOVES) && position->unit[p])
        list_moves(map, position, p, &out);
    else if ((phase == SPRING_RETREATS || phase == FALL_RETREATS) && position->dislodged[p]) {
        add_each(&out, DIP_RETREAT, DIP_NONE, dip_retreats(map, position, p));
        add(&out, DIP_DISBAND, DIP_NONE, DIP_NONE);
    }
    return out.n;
}

/* ---- One order ---- */

static int is_legal_move(const dip_map *map, const dip_position *position, int p, dip_order order)
{
    uint8_t unit = position->unit[p];
    sk_bits ends;
    if (order.verb == DIP_MOVE)
        return order.whither < map->locations
               && has(unit & DIP_FLEET ? map->fleet[dip_location(map, p, unit)] : map->army[p],
                      order.whither);
    if (order.verb == DIP_VIA)
        return order.whither < map->provinces && has(could_sail(map, position, p), order.whither);
    if (order.whom >= map->provinces || order.whom == p || !position->unit[order.whom])
        return 0;
    if (order.verb == DIP_SUPPORT_HOLD)
        return has(dip_near(map, p, unit), order.whom);
    if (order.whither >= map->locations)
        return 0;
    if (order.verb == DIP_SUPPORT_MOVE) {
        uint8_t other = position->unit[order.whom];
        int to = map->parent[order.whither];
        int coast = order.whither == to
                    || (other & DIP_FLEET
                        && has(map->fleet[dip_location(map, order.whom, other)], order.whither));
        return coast && has(dip_near(map, p, unit) & could_go(map, position, order.whom), to);
    }
    if (order.verb != DIP_CONVOY || !has(map->seas, p) || order.whither >= map->provinces)
        return 0;
    return has(passengers(map, position, p, &ends), order.whom) && order.whither != order.whom
           && has(ends, order.whither);
}

int dip_is_legal(const dip_map *map, const dip_position *position, int p, dip_order order)
{
    int phase = position->phase;
    if (phase == SPRING_MOVES || phase == FALL_MOVES)
        return position->unit[p]
               && (order.verb == DIP_HOLD || is_legal_move(map, position, p, order));
    if (phase == ADJUSTMENTS) {
        int at = order.whither < map->locations && map->parent[order.whither] == p;
        if (order.verb == DIP_DISBAND)
            return position->unit[p]
                   && dip_adjustment(map, position, dip_power(position->unit[p])) < 0;
        if (order.verb == DIP_BUILD_ARMY)
            return order.whither == p && may_build(map, position, p);
        return order.verb == DIP_BUILD_FLEET && at && map->kind[p] == DIP_COASTAL
               && (order.whither != p || !map->split[p]) && may_build(map, position, p);
    }
    if (!position->dislodged[p])
        return 0;
    return order.verb == DIP_DISBAND
           || (order.verb == DIP_RETREAT && order.whither < map->locations
               && has(dip_retreats(map, position, p), order.whither));
}
