/* What a power sees as small numbers: features of each province, and of the moment. */
#include <string.h>

#include "played.h"

enum { FEATURES_OF_ORDERS = DIP_VERBS + 2 };

/* One-hot features, each power as seen from the one that acts: itself, the next one, ... */
static uint8_t *put_unit(uint8_t *out, const dip_map *map, uint8_t unit, int power)
{
    if (unit) {
        out[unit & DIP_FLEET ? 1 : 0] = 1;
        out[2 + (dip_power(unit) + map->powers - power) % map->powers] = 1;
    }
    return out + 2 + map->powers;
}

static uint8_t *put_orders(uint8_t *out, const dip_map *map, const dip_order *orders, int p)
{
    out[orders[p].verb] = 1;
    for (int q = 0; q < map->provinces; q++) {
        int moves = orders[q].verb == DIP_MOVE || orders[q].verb == DIP_VIA;
        if (moves && map->parent[orders[q].whither] == p)
            out[DIP_VERBS] += 1;
        if (orders[q].verb >= DIP_SUPPORT_HOLD && orders[q].verb <= DIP_CONVOY
            && orders[q].whom == p)
            out[DIP_VERBS + 1] += 1;
    }
    return out + FEATURES_OF_ORDERS;
}

static int features_of_province(const dip_map *map)
{
    return 2 * (2 + map->powers) + DIP_COASTS + map->powers + 1 + 3 + 2 * FEATURES_OF_ORDERS;
}

int dip_features(const dip_map *map)
{
    return map->provinces * features_of_province(map) + 5 + map->powers + 5 + DIP_VERBS;
}

void dip_write_features(const dip_map *map, const dip_view *view, uint8_t *out)
{
    int power = view->power;
    memset(out, 0, (size_t)dip_features(map));
    for (int p = 0; p < map->provinces; p++) {
        uint8_t unit = view->position.unit[p];
        out = put_unit(out, map, unit, power);
        out[(unit & DIP_COAST) >> DIP_COAST_SHIFT] = unit != 0;
        out = put_unit(out + DIP_COASTS, map, view->position.dislodged[p], power);
        int owner = map->centre[p] == DIP_NONE ? 0 : view->position.owner[map->centre[p]];
        if (owner)
            out[(owner - 1 + map->powers - power) % map->powers] = 1;
        out += map->powers;
        *out++ = map->centre[p] != DIP_NONE;
        *out++ = (uint8_t)(view->position.contested[p / 8] >> p % 8 & 1);
        *out++ = p == view->at;
        *out++ = p == view->whom;
        out = put_orders(out, map, view->own, p);
        out = put_orders(out, map, view->last, p);
    }
    out[view->position.phase] = 1;
    out[5 + power] = 1;
    out += 5 + map->powers;
    out[view->stage] = 1;
    out[3 + view->verb] = 1;
    out[3 + DIP_VERBS] = view->position.year;
    out[4 + DIP_VERBS] = view->position.quiet;
}
