/* The networks `graph` (stratkit/nets/graph.py) as a whole: what powers see in, policies, values
 * and shares out. Whatever is beside a view, its numbers are the same to the last bit. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../hash.h"
#include "played.h"

typedef float sixteen __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t ints __attribute__((vector_size(64)));

enum { SIXTEEN = SK_MLP_LANES, TILE = 5, HIDDEN = SK_GRAPH_HIDDEN, WIDE_VERBS = 16 };
enum { FEATURES_OF_ORDERS = DIP_VERBS + 2, ORDERS = FEATURES_OF_ORDERS + 1, STAGES = 3 };
enum { PHASES = 5, COUNTERS = 2, MOMENT = PHASES + DIP_POWERS + COUNTERS, QUERIES = 2 };
enum { ASK_VERB };
enum { OURS = 2 }; /* the feature of a unit of the acting power */

static const float UNIT = 1 / 16.0f, NO_CENTRE = 0.25f; /* as in graph.py */

struct sk_graph {
    sk_graph_size is;
    int stride, features, moments, seen, bytes; /* of a province, ... of a view */
    int lanes;
    uint8_t parent[DIP_LOCATIONS], near[DIP_PROVINCES][DIP_PROVINCES], neighbours[DIP_PROVINCES];
    sk_bits beside[DIP_PROVINCES];
    float *weights;
    /* In it, of each layer [inputs][outputs]. */
    const float *entry, *place, *moment, *blocks, *square, *coast, *order, *context, *verb,
        *of_verbs, *policy, *ordered, *of_ordered, *board, *of_board, *own, *value, *claim,
        *of_claim, *holds, *sizes, *holders;
};

/* What all views of a power in a phase share. */
typedef struct {
    dip_position position;
    dip_order last[DIP_PROVINCES];
    uint8_t power;
} key;

/* What is made of a position beside what each province has. */
typedef struct {
    key key;
    int valued;                      /* whether what follows is there */
    float board[DIP_POWERS][HIDDEN]; /* of the critic's hidden layer, what is the position's */
    float squares[DIP_POWERS], own_units[DIP_PROVINCES];
    uint8_t lives[DIP_POWERS];
    float moment[MOMENT];
} known;

struct sk_graph_positions {
    const sk_graph *net;
    int32_t most, used;
    int64_t slots;
    int32_t *table; /* 1 + the position, by its hash; 0: free */
    known *known;
    float *rows;    /* [most][provinces][channels] */
    float *squares; /* [most][provinces][HIDDEN]: what their locations are compared by */
    float *work;    /* [2][provinces][channels, or HIDDEN if that is more] */
};

/* ---- Layers ---- */

#define EACH_WIDTH "diplomacy/graph_lanes.h"
#include "../widths.h"

#define OUTLINE __attribute__((noinline)) /* many call it: it would be large */

static void product(const sk_graph *net, float *out, const float *x, const float *w, int rows,
                    int in, int width)
{
    BY_LANES(net->lanes, product)(out, x, w, rows, in, width);
}

/* y += a x, of n numbers, a multiple of SIXTEEN. */
static inline void add(float *y, float a, const float *x, int n)
{
    for (int i = 0; i < n; i += SIXTEEN)
        *(sixteen *)(y + i) += a * *(const sixteen *)(x + i);
}

/* y += x W, of k inputs, most of which are 0, and n outputs. */
OUTLINE static void layer(float *y, const float *x, int k, const float *w, int n)
{
    for (int i = 0; i < k; i++)
        if (x[i] != 0.0f)
            add(y, x[i], w + i * n, n);
}

/* The same of inputs that are bytes. */
OUTLINE static void layer_of_bytes(float *y, const uint8_t *x, int k, const float *w, int n)
{
    for (int i = 0; i < k; i++)
        if (x[i])
            add(y, x[i], w + i * n, n);
}

/* What is above 0 of n numbers, a multiple of SIXTEEN: the bits of those whose sign is not set. */
OUTLINE static void relu(float *x, int n)
{
    for (int i = 0; i < n; i += SIXTEEN) {
        sixteen *at = (sixteen *)(x + i);
        ints bits = (ints)*at;
        *at = (sixteen)(bits & ~(bits >> 31));
    }
}

static inline float dot(const float *x, const float *y, int n)
{
    float sum = 0.0f;
    for (int i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
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

/* Where in a province's features each power's unit, dislodged unit and centre begin. */
enum { UNITS = 2 };
static int dislodged(const sk_graph *net) { return UNITS + net->is.powers + DIP_COASTS + 2; }
static int owned(const sk_graph *net) { return dislodged(net) + net->is.powers; }

/* How many centres each power has: the acting one first. */
static void count_centres(const sk_graph *net, const uint8_t *packed, float *centres)
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
    layer(common, now->moment, net->moments, net->moment, c);
    if (net->is.shares) {
        count_centres(net, packed, centres);
        for (int i = 0; i < net->is.powers; i++)
            centres[i] *= UNIT;
        layer(common, centres, net->is.powers, net->sizes, c);
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
        relu(rows, c);
    }
}

static float *rows_of(const sk_graph_positions *p, int32_t at)
{
    return p->rows + (size_t)at * (size_t)(p->net->is.provinces * p->net->is.channels);
}

static float *squares_of(const sk_graph_positions *p, int32_t at)
{
    return p->squares + (size_t)at * (size_t)(p->net->is.provinces * HIDDEN);
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
    product(net, squares, rows, net->square, n, c, HIDDEN);
    now->valued = 0;
}

/* The place of what is seen, but for the orders of this phase, among the positions. */
static int32_t position(sk_graph_positions *p, const uint8_t *packed, const dip_view *view)
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

/* ---- Heads ---- */

/* A view of one position, and the own orders so far. */
typedef struct {
    const dip_view *view;
    const uint8_t *packed;
    int32_t at;
} looked;

/* What is known of a province's own order: of an order complete or not. */
static void order_of(const sk_graph *net, const looked *x, int province, float *out)
{
    const uint8_t *of = x->packed + (province + 1) * net->stride - 2 * FEATURES_OF_ORDERS;
    for (int i = 0; i < FEATURES_OF_ORDERS; i++)
        out[i] = of[i];
    out[FEATURES_OF_ORDERS] = province < x->view->at;
}

/* What every location is compared with. */
static void ask(const sk_graph_positions *p, const looked *x, float *context)
{
    const sk_graph *net = p->net;
    int c = net->is.channels;
    const float *rows = rows_of(p, x->at), *w = net->context;
    float order[ORDERS];
    memset(context, 0, HIDDEN * sizeof *context);
    const uint8_t both[2] = {x->view->at, x->view->whom};
    for (int i = 0; i < 2; i++, w += (c + ORDERS) * HIDDEN)
        if (both[i] < net->is.provinces) {
            order_of(net, x, both[i], order);
            layer(context, rows + both[i] * c, c, w, HIDDEN);
            layer(context, order, ORDERS, w + c * HIDDEN, HIDDEN);
        }
    if (x->view->stage < STAGES && x->view->verb < DIP_VERBS)
        add(context, 1.0f, w + (x->view->stage * DIP_VERBS + x->view->verb) * HIDDEN, HIDDEN);
}

/* The policy of a view, of its legal verbs and locations. */
static void decide(const sk_graph_positions *p, const looked *x, const uint8_t *legal,
                   float *policy)
{
    const sk_graph *net = p->net;
    const float *squares = squares_of(p, x->at);
    float context[HIDDEN], both[2 * HIDDEN] = {0}, *around = both + HIDDEN, order[ORDERS];
    float verbs[WIDE_VERBS], hidden[HIDDEN];
    int n = net->is.provinces, asks = x->view->stage == ASK_VERB && x->view->at < n;
    sk_bits beside = asks ? net->beside[x->view->at] : 0;
    ask(p, x, context);
    for (int at = 0; at < net->is.locations; at++) {
        if (!legal[DIP_VERBS + at] && !(at < n && has(beside, at)))
            continue;
        int province = net->parent[at];
        order_of(net, x, province, order);
        memcpy(hidden, squares + province * HIDDEN, sizeof hidden);
        add(hidden, 1.0f, context, HIDDEN);
        add(hidden, 1.0f, net->coast + at * HIDDEN, HIDDEN);
        layer(hidden, order, ORDERS, net->order, HIDDEN);
        relu(hidden, HIDDEN);
        add(around, 1.0f, hidden, HIDDEN);
        policy[DIP_VERBS + at] = dot(hidden, net->policy, HIDDEN);
    }
    memcpy(both, context, sizeof context);
    relu(both, HIDDEN);
    memcpy(verbs, net->of_verbs, sizeof verbs);
    layer(verbs, both, 2 * HIDDEN, net->verb, WIDE_VERBS);
    memcpy(policy, verbs, DIP_VERBS * sizeof *policy);
    int actions = DIP_VERBS + net->is.locations;
    sk_legal_softmax(policy, actions, legal, 1, actions, policy);
}

/* The critic's hidden layer, of each power, as far as it is the position's. */
static void appraise(sk_graph_positions *p, const looked *x)
{
    const sk_graph *net = p->net;
    known *now = p->known + x->at;
    int c = net->is.channels, n = net->is.provinces, powers = net->is.powers;
    const float *rows = rows_of(p, x->at);
    float board[SK_GRAPH_CHANNELS] = {0}, hidden[HIDDEN], held[DIP_POWERS][2 * HIDDEN] = {{0}};
    for (int at = 0; at < n; at++) {
        add(board, 1.0f, rows + at * c, c);
        now->own_units[at] = x->packed[at * net->stride + OURS];
    }
    for (int i = 0; i < c; i++)
        board[i] /= sqrtf((float)n);
    memcpy(hidden, net->of_board, sizeof hidden);
    layer(hidden, board, c, net->board, HIDDEN);
    layer(hidden, now->moment, net->moments, net->board + c * HIDDEN, HIDDEN);
    now->valued = 1;
    memcpy(now->board[0], hidden, sizeof hidden);
    if (!net->is.shares)
        return;
    float *claims = p->work;
    for (int at = 0; at < n; at++)
        memcpy(claims + at * HIDDEN, net->of_claim, sizeof hidden);
    product(net, claims, rows, net->claim, n, c, HIDDEN);
    relu(claims, n * HIDDEN);
    memset(now->lives, 0, sizeof now->lives);
    for (int at = 0; at < n; at++) {
        const uint8_t *of = x->packed + at * net->stride;
        for (int i = 0; i < powers; i++) {
            if (of[UNITS + i])
                add(held[i], 0.25f, claims + at * HIDDEN, HIDDEN);
            if (of[owned(net) + i])
                add(held[i] + HIDDEN, 0.25f, claims + at * HIDDEN, HIDDEN);
            now->lives[i] |= of[UNITS + i] | of[dislodged(net) + i] | of[owned(net) + i];
        }
    }
    count_centres(net, x->packed, now->squares);
    for (int i = 0; i < powers; i++) {
        float centres = now->squares[i];
        now->squares[i] = 2 * logf(centres > NO_CENTRE ? centres : NO_CENTRE);
        memcpy(now->board[i], hidden, sizeof hidden);
        layer(now->board[i], held[i], 2 * HIDDEN, net->holds, HIDDEN);
    }
}

/* What the provinces with which the own orders have to do add to the acting power's hidden layer.
 */
static void own_orders(const sk_graph_positions *p, const looked *x, float *hidden)
{
    const sk_graph *net = p->net;
    int c = net->is.channels;
    const float *rows = rows_of(p, x->at);
    float order[ORDERS], one[HIDDEN], sum[HIDDEN] = {0};
    for (int at = 0; at < net->is.provinces; at++) {
        order_of(net, x, at, order);
        float concerned = p->known[x->at].own_units[at] * order[FEATURES_OF_ORDERS];
        for (int i = 1; i < FEATURES_OF_ORDERS; i++)
            concerned += order[i];
        if (concerned <= 0)
            continue;
        memcpy(one, net->of_ordered, sizeof one);
        layer(one, rows + at * c, c, net->ordered, HIDDEN);
        layer(one, order, ORDERS, net->ordered + c * HIDDEN, HIDDEN);
        relu(one, HIDDEN);
        add(sum, 0.25f, one, HIDDEN);
    }
    layer(hidden, sum, HIDDEN, net->own, HIDDEN);
}

/* Of a view the value; with shares those of all powers, too. */
static float value(sk_graph_positions *p, const looked *x, float *shares)
{
    const sk_graph *net = p->net;
    known *now = p->known + x->at;
    int powers = net->is.shares ? net->is.powers : 1;
    float hidden[HIDDEN], most = -INFINITY, total = 0;
    if (!now->valued)
        appraise(p, x);
    for (int i = 0; i < powers; i++) {
        memcpy(hidden, now->board[i], sizeof hidden);
        if (i == 0)
            own_orders(p, x, hidden);
        relu(hidden, HIDDEN);
        shares[i] = dot(hidden, net->value, HIDDEN) + net->value[HIDDEN];
    }
    if (!net->is.shares)
        return shares[0];
    for (int i = 0; i < powers; i++) {
        shares[i] = now->lives[i] ? shares[i] + now->squares[i] : -INFINITY;
        most = shares[i] > most ? shares[i] : most;
    }
    for (int i = 0; i < powers; i++) {
        shares[i] = now->lives[i] ? expf(shares[i] - most) : 0;
        total += shares[i];
    }
    for (int i = 0; i < powers && total > 0; i++)
        shares[i] /= total;
    return powers == 2 ? shares[0] - shares[1] : shares[0];
}

void sk_graph_evaluate(sk_graph_positions *p, const uint8_t *packed, const uint8_t *legal,
                       int64_t n, float *policy, float *values, float *shares)
{
    const sk_graph *net = p->net;
    int64_t actions = DIP_VERBS + net->is.locations, powers = net->is.powers;
    float of_powers[DIP_POWERS];
    for (int64_t i = 0; i < n; i++, packed += net->bytes) {
        const dip_view *view = (const dip_view *)(packed + net->seen);
        looked x = {view, packed, position(p, packed, view)};
        if (policy)
            decide(p, &x, legal + i * actions, policy + i * actions);
        if (!values && !shares)
            continue;
        float of_view = value(p, &x, shares ? shares + i * powers : of_powers);
        if (values)
            values[i] = of_view;
    }
}
