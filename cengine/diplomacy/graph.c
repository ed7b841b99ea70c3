/* The networks `graph` (stratkit/nets/graph.py) as a whole: what powers see in, policies, values
 * and shares out. Whatever is beside a view, its numbers are the same to the last bit. */
#include <assert.h>
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

static int of_the_moment(const sk_graph_size *size) { return PHASES + size->powers + COUNTERS; }

static int of_a_province(const sk_graph_size *size)
{
    return 2 * (2 + size->powers) + DIP_COASTS + size->powers + 1 + 3 + 2 * FEATURES_OF_ORDERS;
}

/* Lets `net` know where its layers are, if it is given; returns how many weights they have. */
static int64_t layers(const sk_graph_size *size, sk_graph *net)
{
    int64_t c = size->channels, h = HIDDEN, p = size->provinces, m = of_the_moment(size);
    int64_t f = of_a_province(size) - QUERIES - FEATURES_OF_ORDERS, n = size->powers, total = 0;
    int64_t s = size->shares;
    sk_graph none, *to = net ? net : &none;
    const struct {
        const float **layer;
        int64_t floats;
    } all[] = {{&to->entry, f * c},
               {&to->place, p * c},
               {&to->moment, m * c},
               {&to->blocks, size->blocks * (2 * c + 1) * c},
               {&to->square, c * h},
               {&to->coast, size->locations * h},
               {&to->order, ORDERS * h},
               {&to->context, (2 * (c + ORDERS) + STAGES * DIP_VERBS) * h},
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

int64_t sk_graph_floats(const sk_graph_size *size) { return layers(size, NULL); }

sk_graph *sk_graph_open(const sk_graph_size *size, const uint8_t *near, const uint8_t *parent,
                        const float *weights)
{
    sk_graph *net = calloc(1, sizeof *net);
    size_t bytes = (size_t)sk_graph_floats(size) * sizeof *weights;
    if (!net || !(net->weights = malloc(bytes))) {
        free(net);
        return NULL;
    }
    memcpy(net->weights, weights, bytes);
    net->is = *size;
    layers(size, net);
    net->stride = of_a_province(size);
    net->features = net->stride - QUERIES - FEATURES_OF_ORDERS;
    net->moments = of_the_moment(size);
    net->seen = size->provinces * net->stride + net->moments + STAGES + DIP_VERBS;
    net->bytes = net->seen + (int)sizeof(dip_view);
    net->lanes = sk_residual_lanes();
    memcpy(net->parent, parent, (size_t)size->locations);
    for (int p = 0; p < size->provinces; p++)
        for (int q = 0; q < size->provinces; q++)
            if (near[p * size->provinces + q]) {
                net->near[p][net->neighbours[p]++] = (uint8_t)q;
                net->beside[p] |= bit(q);
            }
    return net;
}

void sk_graph_close(sk_graph *net)
{
    if (net)
        free(net->weights);
    free(net);
}

sk_graph_positions *sk_graph_positions_open(const sk_graph *net, int32_t most)
{
    sk_graph_positions *p = calloc(1, sizeof *p);
    size_t n = (size_t)most, provinces = (size_t)net->is.provinces, c = (size_t)net->is.channels;
    if (!p)
        return NULL;
    p->net = net;
    p->most = most;
    for (p->slots = 2; p->slots < 2 * (int64_t)most; p->slots *= 2)
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
    for (int p = 0; p < net->is.provinces; p++)
        for (int i = 0; i < net->is.powers; i++)
            centres[i] += packed[p * net->stride + owned(net) + i];
}

/* What each province holds, before it hears others. */
static void enter(const sk_graph *net, const uint8_t *packed, const known *now, float *rows)
{
    int c = net->is.channels, before = net->features - FEATURES_OF_ORDERS;
    float common[SK_GRAPH_CHANNELS] = {0}, centres[DIP_POWERS];
    dip_layer(common, now->moment, net->moments, net->moment, c);
    if (net->is.shares) {
        dip_count_centres(net, packed, centres);
        for (int i = 0; i < net->is.powers; i++)
            centres[i] *= UNIT;
        dip_layer(common, centres, net->is.powers, net->sizes, c);
    }
    memcpy(rows, net->place, (size_t)(net->is.provinces * c) * sizeof *rows);
    for (int p = 0; p < net->is.provinces; p++, rows += c) {
        const uint8_t *of = packed + p * net->stride;
        add(rows, 1.0f, common, c);
        layer_of_bytes(rows, of, before, net->entry, c);
        layer_of_bytes(rows, of + net->stride - FEATURES_OF_ORDERS, FEATURES_OF_ORDERS,
                       net->entry + before * c, c);
        if (net->is.shares)
            for (int i = 0; i < net->is.powers; i++) {
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
    int c = net->is.channels, n = net->is.provinces, of_phase = PHASES + net->is.powers;
    float *rows = rows_of(p, at), *squares = squares_of(p, at);
    known *now = p->known + at;
    const uint8_t *everywhere = packed + n * net->stride;
    for (int i = 0; i < of_phase; i++)
        now->moment[i] = everywhere[i];
    for (int i = 0; i < COUNTERS; i++)
        now->moment[of_phase + i] = everywhere[of_phase + STAGES + DIP_VERBS + i] * UNIT;
    enter(net, packed, now, rows);
    for (int block = 0; block < net->is.blocks; block++)
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
