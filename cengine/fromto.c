/* The network `fromto` (stratkit/nets/fromto.py) as a whole: what a side sees in, policies and
 * values out. Whatever is beside a view, its numbers are the same to the last bit. */
#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "fromto.h"
#include "hash.h"
#include "observation.h"
#include "residual.h"

struct sk_fromto {
    int32_t width, height, squares, channels, blocks, lanes, mirrors, bytes;
    float *weights;
    /* In it, of each layer [inputs][outputs], with what is the same for all inputs in `place`
     * [squares][channels], `part` [PARTS][HIDDEN] and the last row of `critic`. */
    const float *entry, *counts, *place, *filters, *biases, *square, *context, *part, *outcome,
        *policy, *scores, *met, *deploy, *critic, *value;
    uint8_t image[256]; /* squares of the mirror image; what is no square stays */
};

struct sk_positions {
    const sk_fromto *net;
    int32_t most, used;
    int64_t slots;
    int32_t *table; /* 1 + the position, by its hash; 0: free */
    uint8_t *keys;  /* [most][bytes] */
    float *squares; /* [most][squares][channels] */
    float *boards;  /* [most][channels]: of the critic's hidden layer, what is the position's */
    float *features, *outcomes;
    uint8_t *seen;
    residual_plan plan;
};

int64_t sk_fromto_floats(int32_t width, int32_t height, int32_t channels, int32_t blocks)
{
    int64_t c = channels, s = width * height, convolutions = 2 * blocks;
    int64_t torso = c * (FEATURES + COUNTS + s) + convolutions * (16 * c * c + c);
    int64_t heads = HIDDEN * (2 * c + PARTS + MET + PARTS) + PARTS + MET + TYPES * s;
    return torso + heads + c * (3 * c + COUNTS + 1) + c + 1;
}

static void layers(sk_fromto *net)
{
    int64_t c = net->channels, s = net->squares, k = 2 * net->blocks;
    const float *at = net->weights;
    const struct {
        const float **layer;
        int64_t floats;
    } all[] = {{&net->entry, FEATURES * c},   {&net->counts, COUNTS * c},
               {&net->place, s * c},          {&net->filters, k * 16 * c * c},
               {&net->biases, k * c},         {&net->square, c * HIDDEN},
               {&net->context, c * HIDDEN},   {&net->part, PARTS * HIDDEN},
               {&net->outcome, MET * HIDDEN}, {&net->policy, PARTS * HIDDEN},
               {&net->scores, PARTS},         {&net->met, MET},
               {&net->deploy, TYPES * s},     {&net->critic, (3 * c + COUNTS + 1) * c},
               {&net->value, c + 1}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        *all[i].layer = at;
        at += all[i].floats;
    }
    assert(at - net->weights == sk_fromto_floats(net->width, net->height, (int32_t)c, net->blocks));
}

sk_fromto *sk_fromto_open(int32_t width, int32_t height, int32_t channels, int32_t blocks,
                          int32_t lanes, int32_t mirrors, const float *weights)
{
    sk_fromto *net = calloc(1, sizeof *net);
    size_t bytes = (size_t)sk_fromto_floats(width, height, channels, blocks) * sizeof *weights;
    int squares = width * height;
    if (!net || !(net->weights = malloc(bytes))) {
        free(net);
        return NULL;
    }
    memcpy(net->weights, weights, bytes);
    net->width = width;
    net->height = height;
    net->squares = squares;
    net->channels = channels;
    net->blocks = blocks;
    net->lanes = lanes;
    net->mirrors = mirrors;
    net->bytes = (int32_t)sizeof(observation) + squares;
    layers(net);
    for (int i = 0; i < 256; i++)
        net->image[i] = (uint8_t)(i < squares ? i + width - 1 - 2 * (i % width) : i);
    return net;
}

void sk_fromto_close(sk_fromto *net)
{
    if (net)
        free(net->weights);
    free(net);
}

sk_positions *sk_positions_open(const sk_fromto *net, int32_t most)
{
    sk_positions *p = calloc(1, sizeof *p);
    size_t n = (size_t)most, board = (size_t)(net->squares * net->channels);
    if (!p)
        return NULL;
    p->net = net;
    p->most = most;
    for (p->slots = 2; p->slots < 2 * (int64_t)most; p->slots *= 2)
        ;
    p->table = calloc((size_t)p->slots, sizeof *p->table);
    p->keys = malloc(n * (size_t)net->bytes);
    p->squares = malloc(n * board * sizeof(float));
    p->boards = malloc(n * (size_t)net->channels * sizeof(float));
    p->features = malloc((size_t)net->squares * FEATURES * sizeof(float));
    p->outcomes = malloc((size_t)net->squares * OUTCOMES * sizeof(float));
    p->seen = malloc((size_t)net->bytes);
    int done = sk_residual_open(&p->plan, net->height, net->width, net->channels, net->lanes, 1);
    if (done && p->table && p->keys && p->squares && p->boards && p->features && p->outcomes
        && p->seen)
        return p;
    sk_positions_close(p);
    return NULL;
}

void sk_positions_close(sk_positions *p)
{
    if (!p)
        return;
    free(p->table);
    free(p->keys);
    free(p->squares);
    free(p->boards);
    free(p->features);
    free(p->outcomes);
    free(p->seen);
    sk_residual_close(&p->plan);
    free(p);
}

/* y += a x, of n numbers. */
static inline void add(float *restrict y, float a, const float *restrict x, int n)
{
    for (int i = 0; i < n; i++)
        y[i] += a * x[i];
}

/* Whether these four numbers are 0. */
static inline int are_zero(const float *x)
{
    uint64_t pairs[2];
    memcpy(pairs, x, sizeof pairs);
    return !(pairs[0] | pairs[1]);
}

/* y += x W, of k inputs, most of which may be 0, and n outputs. */
static inline void layer(float *restrict y, const float *x, int k, const float *w, int n)
{
    for (int i = 0; i < k; i++)
        if (i % 4 == 0 && i + 4 <= k && are_zero(x + i))
            i += 3;
        else if (x[i] != 0.0f)
            add(y, x[i], w + i * n, n);
}

static inline void relu(float *x, int n)
{
    for (int i = 0; i < n; i++)
        x[i] = x[i] > 0.0f ? x[i] : 0.0f;
}

/* The observation as the network sees it; whether that is the mirror image: the own flag stands on
 * the left. */
static int see(const sk_fromto *net, const uint8_t *packed, uint8_t *seen)
{
    const uint8_t *cells = packed + sizeof(observation);
    memcpy(seen, packed, (size_t)net->bytes);
    if (!net->mirrors || !flag_is_left(cells, net->width, net->squares))
        return 0;
    observation o;
    memcpy(&o, packed, sizeof o);
    o.selected = net->image[o.selected];
    for (int i = 0; i < SHOWN_PLIES; i++) {
        o.moves[i].from = net->image[o.moves[i].from];
        o.moves[i].to = net->image[o.moves[i].to];
    }
    memset(o.only_attacks, 0, sizeof o.only_attacks);
    for (int s = 0; s < net->squares; s++) {
        int image = net->image[s];
        seen[sizeof o + (size_t)image] = cells[s];
        if (packed[offsetof(observation, only_attacks) + (size_t)(s / 8)] >> s % 8 & 1)
            o.only_attacks[image / 8] |= (uint8_t)(1 << image % 8);
    }
    memcpy(seen, &o, sizeof o);
    return 1;
}

/* Embeds the position whose key is there. */
static void embed(sk_positions *p, int32_t at)
{
    const sk_fromto *net = p->net;
    int c = net->channels, squares = net->squares;
    float counts[COUNTS], *board = p->boards + (size_t)at * (size_t)c;
    float *rows = p->squares + (size_t)at * (size_t)(squares * c);
    sk_features(net->width, net->height, p->keys + (size_t)at * (size_t)net->bytes, 1, p->features,
                counts);
    memset(board, 0, (size_t)c * sizeof *board);
    layer(board, counts, COUNTS, net->counts, c); /* until the blocks are done: of every square */
    memcpy(rows, net->place, (size_t)(squares * c) * sizeof *rows);
    for (int s = 0; s < squares; s++) {
        add(rows + s * c, 1.0f, board, c);
        layer(rows + s * c, p->features + s * FEATURES, FEATURES, net->entry, c);
        relu(rows + s * c, c);
    }
    sk_residual_run(&p->plan, rows, net->filters, net->biases, net->blocks);
    const float *of_mean = net->critic + c * c, *of_most = of_mean + c * c;
    const float *of_counts = of_most + c * c;
    memcpy(board, of_counts + COUNTS * c, (size_t)c * sizeof *board);
    layer(board, counts, COUNTS, of_counts, c);
    float sum[SK_FROMTO_CHANNELS], most[SK_FROMTO_CHANNELS];
    memset(sum, 0, (size_t)c * sizeof *sum);
    memcpy(most, rows, (size_t)c * sizeof *most);
    for (int s = 0; s < squares; s++)
        for (int i = 0; i < c; i++) {
            float x = rows[s * c + i];
            sum[i] += x;
            most[i] = x > most[i] ? x : most[i];
        }
    for (int i = 0; i < c; i++)
        sum[i] /= (float)squares;
    layer(board, sum, c, of_mean, c);
    layer(board, most, c, of_most, c);
}

/* The place of what is seen, but for the piece that is selected, among the positions. */
static int32_t position(sk_positions *p)
{
    int32_t bytes = p->net->bytes;
    observation o;
    uint8_t key[sizeof(observation) + MAX_SQUARES];
    memcpy(&o, p->seen, sizeof o);
    o.stage = 0;
    o.selected = NO_SQUARE;
    memset(o.only_attacks, 0, sizeof o.only_attacks); /* which nothing reads of a position */
    memcpy(key, &o, sizeof o);
    memcpy(key + sizeof o, p->seen + sizeof o, (size_t)bytes - sizeof o);
    uint64_t mask = (uint64_t)(p->slots - 1), slot = hash_bytes(0, key, bytes) & mask;
    for (; p->table[slot]; slot = (slot + 1) & mask)
        if (!memcmp(p->keys + (size_t)(p->table[slot] - 1) * (size_t)bytes, key, (size_t)bytes))
            return p->table[slot] - 1;
    if (p->used == p->most) {
        p->used = 0;
        memset(p->table, 0, (size_t)p->slots * sizeof *p->table);
        slot = hash_bytes(0, key, bytes) & mask;
    }
    memcpy(p->keys + (size_t)p->used * (size_t)bytes, key, (size_t)bytes);
    embed(p, p->used);
    p->table[slot] = ++p->used;
    return p->used - 1;
}

/* The policy of what is seen; `rows`: its position's squares. */
static void decide(sk_positions *p, const float *rows, int part, int mirrored, const uint8_t *legal,
                   float *policy)
{
    const sk_fromto *net = p->net;
    int c = net->channels;
    observation o;
    float context[HIDDEN], most = -INFINITY, sum = 0.0f;
    memcpy(&o, p->seen, sizeof o);
    memcpy(context, net->part + part * HIDDEN, sizeof context);
    if (part == TARGET && o.selected < net->squares)
        layer(context, rows + o.selected * c, c, net->context, HIDDEN);
    sk_outcomes(net->width, net->height, p->seen, 1, p->outcomes);
    for (int action = 0; action < net->squares; action++) {
        if (!legal[action])
            continue;
        int square = mirrored ? net->image[action] : action;
        float hidden[HIDDEN], met[MET], score = net->scores[part];
        memcpy(hidden, context, sizeof hidden);
        memcpy(met, p->outcomes + square * OUTCOMES, OUTCOMES * sizeof *met);
        met[OUTCOMES] = met[0] > CERTAIN;
        met[OUTCOMES + 1] = met[1] > CERTAIN;
        layer(hidden, rows + square * c, c, net->square, HIDDEN);
        layer(hidden, met, MET, net->outcome, HIDDEN);
        relu(hidden, HIDDEN);
        for (int i = 0; i < HIDDEN; i++)
            score += hidden[i] * net->policy[part * HIDDEN + i];
        for (int i = 0; i < MET; i++)
            score += met[i] * net->met[i];
        if (part == DEPLOY)
            score += net->deploy[(o.to_place < TYPES ? o.to_place : 0) * net->squares + square];
        policy[action] = score;
        most = score > most ? score : most;
    }
    for (int action = 0; action < net->squares; action++) {
        policy[action] = legal[action] ? expf(policy[action] - most) : 0.0f;
        sum += policy[action];
    }
    for (int action = 0; sum > 0.0f && action < net->squares; action++)
        policy[action] /= sum;
}

static float value(const sk_positions *p, const float *board, const float *rows, int part)
{
    const sk_fromto *net = p->net;
    int c = net->channels, selected = p->seen[offsetof(observation, selected)];
    float hidden[SK_FROMTO_CHANNELS], out = net->value[c];
    memcpy(hidden, board, (size_t)c * sizeof *hidden);
    if (part == TARGET && selected < net->squares)
        layer(hidden, rows + selected * c, c, net->critic, c);
    relu(hidden, c);
    for (int i = 0; i < c; i++)
        out += hidden[i] * net->value[i];
    return out;
}

void sk_fromto_evaluate(sk_positions *p, const uint8_t *packed, const uint8_t *legal, int64_t n,
                        float *policy, float *values)
{
    const sk_fromto *net = p->net;
    size_t c = (size_t)net->channels, squares = (size_t)net->squares;
    for (int64_t i = 0; i < n; i++, packed += net->bytes) {
        int mirrored = see(net, packed, p->seen);
        int32_t at = position(p);
        const float *rows = p->squares + (size_t)at * squares * c;
        int part = packed[offsetof(observation, stage)] ? TARGET : SELECT;
        if (packed[offsetof(observation, phase)] == 1)
            part = DEPLOY;
        if (policy)
            decide(p, rows, part, mirrored, legal + (size_t)i * squares,
                   policy + (size_t)i * squares);
        if (values)
            values[i] = value(p, p->boards + (size_t)at * c, rows, part);
    }
}
