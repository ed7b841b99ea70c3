/* What a power sees as small numbers: features of each province, and of the moment. */
#include <string.h>

#include "played.h"

/* One-hot features, each power as seen from the one that acts: itself, the next one, ... */
static uint8_t *put_unit(uint8_t *out, const dip_map *map, uint8_t unit, int power)
{
    if (unit) {
        out[unit & DIP_FLEET ? 1 : 0] = 1;
        out[2 + (dip_power(unit) + map->powers - power) % map->powers] = 1;
    }
    return out + 2 + map->powers;
}

/* The verb of each province's order, how many move there, and how many help its unit: `out` is that
 * of the first province, and the next one's is `stride` further. */
static void put_orders(uint8_t *out, const dip_map *map, const dip_order *orders, int stride)
{
    for (int p = 0; p < map->provinces; p++) {
        dip_order order = orders[p];
        out[p * stride + order.verb] = 1;
        if (order.verb == DIP_MOVE || order.verb == DIP_VIA)
            out[map->parent[order.whither] * stride + DIP_VERBS] += 1;
        else if (order.verb >= DIP_SUPPORT_HOLD && order.verb <= DIP_CONVOY)
            out[order.whom * stride + DIP_VERBS + 1] += 1;
    }
}

/* Its unit and the one that was dislodged, the coast, who owns the centre; whether it is one, and
 * whether a standoff left it empty; what is asked; orders. */
int dip_features_of_province(const dip_map *map)
{
    return 2 * (2 + map->powers) + DIP_COASTS + map->powers + 2 + DIP_ASKED + 2 * DIP_ORDERS;
}

int dip_features(const dip_map *map)
{
    return map->provinces * dip_features_of_province(map) + DIP_PHASES + map->powers + DIP_STAGES
           + DIP_VERBS + DIP_COUNTERS;
}

void dip_write_features(const dip_map *map, const dip_view *view, uint8_t *out)
{
    int power = view->power, stride = dip_features_of_province(map);
    memset(out, 0, (size_t)dip_features(map));
    put_orders(out + stride - 2 * DIP_ORDERS, map, view->own, stride);
    put_orders(out + stride - DIP_ORDERS, map, view->last, stride);
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
        out += 2 * DIP_ORDERS;
    }
    out[view->position.phase] = 1;
    out += DIP_PHASES;
    out[power] = 1;
    out += map->powers;
    out[view->stage] = 1;
    out += DIP_STAGES;
    out[view->verb] = 1;
    out += DIP_VERBS;
    out[0] = view->position.year;
    out[1] = view->position.quiet;
}
