/* The networks `graph` (stratkit/nets/graph.py) as a whole: what powers see in, policies, values
 * and shares out. Whatever is beside a view, its numbers are the same to the last bit. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../hash.h"
#include "graph.h"

typedef float sixteen __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t ints __attribute__((vector_size(64)));

static const float UNIT = 1 / 16.0f; /* as in graph.py */

/* ---- Layers ---- */

#define EACH_WIDTH "diplomacy/graph_lanes.h"
#include "../widths.h"

#define OUTLINE __attribute__((noinline)) /* many call it: it would be large */

void dip_product(const sk_graph *net, float *out, const float *x, const float *w, int rows, int in,
                 int n)
{
    BY_LANES(net->lanes, product)(out, x, w, rows, in, n);
}

static inline void add(float *y, float a, const float *x, int n)
{
    for (int i = 0; i < n; i += SIXTEEN)
        *(sixteen *)(y + i) += a * *(const sixteen *)(x + i);
}

void dip_add(float *y, float a, const float *x, int n) { add(y, a, x, n); }

OUTLINE void dip_layer(float *y, const float *x, int k, const float *w, int n)
{
    for (int i = 0; i < k; i++)
        if (x[i] != 0.0f)
            add(y, x[i], w + i * n, n);
}

/* As dip_layer, of inputs that are bytes. */
OUTLINE static void layer_of_bytes(float *y, const uint8_t *x, int k, const float *w, int n)
{
    for (int i = 0; i < k; i++)
        if (x[i])
            add(y, x[i], w + i * n, n);
}

/* The bits of numbers whose sign is not set. */
OUTLINE void dip_relu(float *x, int n)
{
    for (int i = 0; i < n; i += SIXTEEN) {
        sixteen *at = (sixteen *)(x + i);
        ints bits = (ints)*at;
        *at = (sixteen)(bits & ~(bits >> 31));
    }
}

/* ---- The network ---- */

/* Lets `net` know where its layers are, if it is given; returns how many weights they have. */
static int64_t layers(const dip_map *map, const sk_graph_size *size, sk_graph *net)
{
    int64_t c = size->channels, h = HIDDEN, s = size->shares, p = map->provinces, n = map->powers;
    int64_t m = DIP_PHASES + n + DIP_COUNTERS, total = 0;
    int64_t f = dip_features_of_province(map) - DIP_ASKED - DIP_ORDERS;
    sk_graph none, *to = net ? net : &none;
    const struct {
        const float **layer;
        int64_t floats;
    } all[] = {{&to->entry, f * c},
               {&to->place, p * c},
               {&to->moment, m * c},
               {&to->blocks, size->blocks * (2 * c + 1) * c},
               {&to->square, c * h},
               {&to->coast, map->locations * h},
               {&to->order, ORDERS * h},
               {&to->context, (2 * (c + ORDERS) + DIP_STAGES * DIP_VERBS) * h},
               {&to->verb, 2 * h * WIDE_VERBS},
               {&to->of_verbs, WIDE_VERBS},
               {&to->policy, h},
               {&to->ordered, (c + ORDERS) * h},
               {&to->of_ordered, h},
               {&to->board, (c + m) * h},
               {&to->of_board, h},
               {&to->own, h * h},
               {&to->value, h + 1},
               {&to->claim, s * c * h},
               {&to->of_claim, s * h},
               {&to->holds, s * 2 * h * h},
               {&to->sizes, s * n * c},
               {&to->holders, s * 2 * c}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        *all[i].layer = net ? net->weights + total : NULL;
        total += all[i].floats;
    }
    return total;
}

int64_t sk_graph_floats(const sk_game *game, const sk_graph_size *size)
{
    return layers(&as_diplomacy(game)->map, size, NULL);
}

/* Which provinces are beside each other, for whatever unit. */
static void borders(sk_graph *net)
{
    const dip_map *map = net->map;
    for (int p = 0; p < map->provinces; p++)
        net->beside[p] |= map->army[p];
    for (int at = 0; at < map->locations; at++)
        net->beside[map->parent[at]] |= map->near[at];
    for (int p = 0; p < map->provinces; p++)
        for (sk_bits left = net->beside[p]; left; left &= left - 1)
            net->near[p][net->neighbours[p]++] = (uint8_t)lsb(left);
}

sk_graph *sk_graph_open(const sk_game *game, const sk_graph_size *size, int32_t lanes,
                        const float *weights)
{
    sk_graph *net = calloc(1, sizeof *net);
    const dip_map *map = &as_diplomacy(game)->map;
    size_t bytes = (size_t)layers(map, size, NULL) * sizeof *weights;
    if (!net || !(net->weights = malloc(bytes))) {
        free(net);
        return NULL;
    }
    memcpy(net->weights, weights, bytes);
    net->map = map;
    net->channels = size->channels;
    net->depth = size->blocks;
    net->shares = size->shares;
    net->lanes = lanes;
    layers(map, size, net);
    net->stride = dip_features_of_province(map);
    net->before = net->stride - DIP_ASKED - 2 * DIP_ORDERS;
    net->moments = DIP_PHASES + map->powers + DIP_COUNTERS;
    net->seen = dip_features(map);
    net->bytes = net->seen + (int)sizeof(dip_view);
    borders(net);
    return net;
}

void sk_graph_close(sk_graph *net)
{
    if (net)
        free(net->weights);
    free(net);
}

sk_graph_positions *sk_graph_positions_open(const sk_graph *net, int64_t bytes)
{
    sk_graph_positions *p = calloc(1, sizeof *p);
    size_t provinces = (size_t)net->map->provinces, c = (size_t)net->channels;
    size_t each = provinces * (c + HIDDEN) * sizeof(float) + sizeof *p->known + sizeof *p->table;
    size_t n = (size_t)bytes / each ? (size_t)bytes / each : 1;
    if (!p)
        return NULL;
    p->net = net;
    p->most = (int32_t)n;
    for (p->slots = 2; p->slots < 2 * (int64_t)n; p->slots *= 2)
        ;
    p->table = calloc((size_t)p->slots, sizeof *p->table);
    p->known = malloc(n * sizeof *p->known);
    p->rows = malloc(n * provinces * c * sizeof(float));
    p->squares = malloc(n * provinces * HIDDEN * sizeof(float));
    p->work = malloc(2 * provinces * (c > HIDDEN ? c : HIDDEN) * sizeof(float));
    if (p->table && p->known && p->rows && p->squares && p->work)
        return p;
    sk_graph_positions_close(p);
    return NULL;
}

void sk_graph_positions_close(sk_graph_positions *p)
{
    if (!p)
        return;
    free(p->table);
    free(p->known);
    free(p->rows);
    free(p->squares);
    free(p->work);
    free(p);
}

/* ---- Positions ---- */

void dip_count_centres(const sk_graph *net, const uint8_t *packed, float *centres)
{
    memset(centres, 0, DIP_POWERS * sizeof *centres);
    for (int p = 0; p < net->map->provinces; p++)
        for (int i = 0; i < net->map->powers; i++)
            centres[i] += packed[p * net->stride + owned(net) + i];
}

/* What each province holds, before it hears others. */
static void enter(const sk_graph *net, const uint8_t *packed, const known *now, float *rows)
{
    int c = net->channels, before = net->before;
    float common[SK_GRAPH_CHANNELS] = {0}, centres[DIP_POWERS];
    dip_layer(common, now->moment, net->moments, net->moment, c);
    if (net->shares) {
        dip_count_centres(net, packed, centres);
        for (int i = 0; i < net->map->powers; i++)
            centres[i] *= UNIT;
        dip_layer(common, centres, net->map->powers, net->sizes, c);
    }
    memcpy(rows, net->place, (size_t)(net->map->provinces * c) * sizeof *rows);
    for (int p = 0; p < net->map->provinces; p++, rows += c) {
        const uint8_t *of = packed + p * net->stride;
        add(rows, 1.0f, common, c);
        layer_of_bytes(rows, of, before, net->entry, c);
        layer_of_bytes(rows, of + net->stride - DIP_ORDERS, DIP_ORDERS, net->entry + before * c, c);
        if (net->shares)
            for (int i = 0; i < net->map->powers; i++) {
                if (of[UNITS + i])
                    add(rows, centres[i], net->holders, c);
                if (of[owned(net) + i])
                    add(rows, centres[i], net->holders + c, c);
            }
        dip_relu(rows, c);
    }
}

/* Embeds what is seen at the place of its key. */
static void embed(sk_graph_positions *p, const uint8_t *packed, int32_t at)
{
    const sk_graph *net = p->net;
    int c = net->channels, n = net->map->provinces, of_phase = DIP_PHASES + net->map->powers;
    float *rows = rows_of(p, at), *squares = squares_of(p, at);
    known *now = p->known + at;
    const uint8_t *everywhere = packed + n * net->stride;
    for (int i = 0; i < of_phase; i++)
        now->moment[i] = everywhere[i];
    for (int i = 0; i < DIP_COUNTERS; i++)
        now->moment[of_phase + i] = everywhere[of_phase + DIP_STAGES + DIP_VERBS + i] * UNIT;
    enter(net, packed, now, rows);
    for (int block = 0; block < net->depth; block++)
        BY_LANES(net->lanes, hear)(net, net->blocks + block * (2 * c + 1) * c, rows, p->work);
    memset(squares, 0, (size_t)(n * HIDDEN) * sizeof *squares);
    dip_product(net, squares, rows, net->square, n, c, HIDDEN);
    now->valued = 0;
}

int32_t dip_position_of(sk_graph_positions *p, const uint8_t *packed, const dip_view *view)
{
    key now = {.position = view->position, .power = view->power};
    memcpy(now.last, view->last, sizeof now.last);
    uint64_t mask = (uint64_t)(p->slots - 1);
    uint64_t first = hash_bytes(0, (const uint8_t *)&now, sizeof now) & mask, slot = first;
    for (; p->table[slot]; slot = (slot + 1) & mask)
        if (!memcmp(&p->known[p->table[slot] - 1].key, &now, sizeof now))
            return p->table[slot] - 1;
    if (p->used == p->most) {
        p->used = 0;
        memset(p->table, 0, (size_t)p->slots * sizeof *p->table);
        slot = first;
    }
    p->known[p->used].key = now;
    embed(p, packed, p->used);
    p->table[slot] = ++p->used;
    return p->used - 1;
}
