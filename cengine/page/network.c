#include "network.h"

#include <stdlib.h>
#include <string.h>

#include "functions.h"
#include "observation.h"

enum { HIDDEN = 16, MET = OUTCOMES + 2, UNITS = 64, PARTS = 3 };
enum { PART_DEPLOY, PART_SELECT, PART_TARGET };

/* Layers are [inputs][outputs] with biases [outputs], but for those to scores [outputs][inputs]. */
typedef struct {
    const float *entry;        /* [48][C] */
    const float *place;        /* [S][C], with the entry's bias */
    const float *counts;       /* [51][C] */
    const float *counts_bias;  /* [C] */
    const float *blocks;       /* [2 blocks][16][C][C] as sk_residual has them */
    const float *biases;       /* [2 blocks][C] */
    const float *square;       /* [C][16] */
    const float *square_bias;  /* [16] */
    const float *context;      /* [C][16] */
    const float *context_bias; /* [16] */
    const float *part;         /* [2][16] */
    const float *outcome;      /* [5][16] */
    const float *policy;       /* [3][16] */
    const float *policy_bias;  /* [3] */
    const float *met;          /* [5] */
    const float *deploy;       /* [12][S] */
    const float *kinds;        /* [12 (S / 2 + 1)][64], of a deployment network */
    const float *kinds_bias;   /* [64] */
    const float *hidden;       /* [64][64] */
    const float *hidden_bias;  /* [64] */
    const float *placing;      /* [64][S / 2] */
    const float *placing_bias; /* [S / 2] */
} layers;

struct network {
    int width, height, squares, channels, blocks;
    network_kind kind;
    size_t weights;
    layers of;
    int embedded;      /* whether `squares_of` are those of `position` */
    uint8_t *seen;     /* [B], the observation that the network sees */
    uint8_t *position; /* [B], the one from before a piece was selected */
    float *features;   /* [S][48] */
    float *board;      /* [S][C], the embedding of the position */
    float *outcomes;   /* [S][3] */
};

static const float *take(network *net, const float *weights, size_t n)
{
    const float *here = weights + net->weights;
    net->weights += n;
    return here;
}

static void read_layers(network *net, const float *w)
{
    size_t c = (size_t)net->channels, s = (size_t)net->squares, k = 2 * (size_t)net->blocks;
    layers *of = &net->of;
    of->entry = take(net, w, FEATURES * c);
    of->place = take(net, w, s * c);
    of->counts = take(net, w, COUNTS * c);
    of->counts_bias = take(net, w, c);
    of->blocks = take(net, w, k * 16 * c * c);
    of->biases = take(net, w, k * c);
    of->square = take(net, w, c * HIDDEN);
    of->square_bias = take(net, w, HIDDEN);
    of->context = take(net, w, c * HIDDEN);
    of->context_bias = take(net, w, HIDDEN);
    of->part = take(net, w, 2 * HIDDEN);
    of->outcome = take(net, w, MET * HIDDEN);
    of->policy = take(net, w, PARTS * HIDDEN);
    of->policy_bias = take(net, w, PARTS);
    of->met = take(net, w, MET);
    of->deploy = take(net, w, TYPES * s);
    if (net->kind == PLAY_ALONE)
        return;
    of->kinds = take(net, w, TYPES * (s / 2 + 1) * UNITS);
    of->kinds_bias = take(net, w, UNITS);
    of->hidden = take(net, w, UNITS * UNITS);
    of->hidden_bias = take(net, w, UNITS);
    of->placing = take(net, w, UNITS * (s / 2));
    of->placing_bias = take(net, w, s / 2);
}

network *network_open(int32_t width, int32_t height, int32_t channels, int32_t blocks,
                      network_kind kind, const float *weights)
{
    network *net = calloc(1, sizeof *net);
    if (!net)
        return NULL;
    *net = (network){.width = width, .height = height, .channels = channels, .blocks = blocks};
    net->kind = kind;
    net->squares = width * height;
    read_layers(net, weights);
    size_t s = (size_t)net->squares, bytes = sizeof(observation) + s;
    net->seen = calloc(1, bytes);
    net->position = calloc(1, bytes);
    net->features = calloc(s * FEATURES, sizeof(float));
    net->board = calloc(s * (size_t)channels, sizeof(float));
    net->outcomes = calloc(s * OUTCOMES, sizeof(float));
    if (net->seen && net->position && net->features && net->board && net->outcomes)
        return net;
    return NULL; /* who has no memory opens no page */
}

size_t network_weights(const network *net) { return net->weights; }

/* out [n] += x [m] by a layer [m][n]. */
static void add_layer(const float *x, int m, const float *layer, int n, float *out)
{
    for (int i = 0; i < m; i++, layer += n)
        if (x[i] != 0)
            for (int k = 0; k < n; k++)
                out[k] += x[i] * layer[k];
}

static void cut(float *x, int n)
{
    for (int i = 0; i < n; i++)
        x[i] = x[i] > 0 ? x[i] : 0;
}

/* ---- Mirror images ---- */

static int image(const network *net, int square)
{
    return square + net->width - 1 - 2 * (square % net->width);
}

/* Whether the own flag is in the left half. */
static int is_mirrored(const network *net, const uint8_t *packed)
{
    const uint8_t *cells = packed + sizeof(observation);
    if (net->kind != MIRRORED)
        return 0;
    for (int square = 0; square < net->squares; square++)
        if (square % net->width < net->width / 2
            && (cells[square] & (CELL_PIECE | CELL_BLUE | CELL_TYPE)) == (CELL_PIECE | FLAG))
            return 1;
    return 0;
}

/* The observation as the network sees it. */
static void see(network *net, const uint8_t *packed, int mirrored)
{
    size_t head = sizeof(observation);
    observation o;
    memcpy(net->seen, packed, head + (size_t)net->squares);
    if (!mirrored)
        return;
    memcpy(&o, packed, head);
    if (o.selected < net->squares)
        o.selected = (uint8_t)image(net, o.selected);
    for (int i = 0; i < SHOWN_PLIES; i++) {
        ply_record *ply = &o.moves[i];
        ply->from = ply->from < net->squares ? (uint8_t)image(net, ply->from) : ply->from;
        ply->to = ply->to < net->squares ? (uint8_t)image(net, ply->to) : ply->to;
    }
    uint8_t turned[sizeof o.only_attacks] = {0};
    for (int square = 0; square < net->squares; square++) {
        int from = image(net, square);
        turned[square / 8] |= (uint8_t)((o.only_attacks[from / 8] >> from % 8 & 1) << square % 8);
        net->seen[head + (size_t)square] = packed[head + (size_t)from];
    }
    memcpy(o.only_attacks, turned, sizeof turned);
    memcpy(net->seen, &o, head);
}

/* ---- Play ---- */

/* The embedding of the position, unless it is there: a piece and its destination share one. */
static int embed(network *net)
{
    size_t bytes = sizeof(observation) + (size_t)net->squares;
    uint8_t before[sizeof(observation) + MAX_SQUARES];
    observation o;
    memcpy(before, net->seen, bytes);
    memcpy(&o, before, sizeof o);
    o.stage = 0;
    o.selected = NO_SQUARE;
    memset(o.only_attacks, 0, sizeof o.only_attacks);
    memcpy(before, &o, sizeof o);
    if (net->embedded && memcmp(before, net->position, bytes) == 0)
        return 1;
    memcpy(net->position, before, bytes);
    float counts[COUNTS];
    int c = net->channels;
    float everywhere[c];
    sk_features(net->width, net->height, before, 1, net->features, counts);
    memcpy(everywhere, net->of.counts_bias, sizeof everywhere);
    add_layer(counts, COUNTS, net->of.counts, c, everywhere);
    for (int square = 0; square < net->squares; square++) {
        float *out = net->board + square * c;
        memcpy(out, net->of.place + square * c, sizeof everywhere);
        add_layer(net->features + square * FEATURES, FEATURES, net->of.entry, c, out);
        for (int i = 0; i < c; i++)
            out[i] += everywhere[i];
        cut(out, c);
    }
    net->embedded = sk_residual(net->height, net->width, c, sk_residual_lanes(), net->board, 1,
                                net->of.blocks, net->of.biases, net->blocks);
    return net->embedded;
}

/* The score of an action on a square that the network sees; `context` is what it is compared with.
 */
static float score(const network *net, int square, int part, const float context[HIDDEN])
{
    const float *met = net->outcomes + square * OUTCOMES, *row = net->of.policy + part * HIDDEN;
    float facts[MET] = {met[0], met[1], met[2], met[0] > 0.999f, met[1] > 0.999f};
    float hidden[HIDDEN], sum = net->of.policy_bias[part], straight = 0;
    memcpy(hidden, net->of.square_bias, sizeof hidden);
    add_layer(net->board + square * net->channels, net->channels, net->of.square, HIDDEN, hidden);
    for (int i = 0; i < HIDDEN; i++)
        hidden[i] += context[i];
    add_layer(facts, MET, net->of.outcome, HIDDEN, hidden);
    cut(hidden, HIDDEN);
    for (int i = 0; i < HIDDEN; i++)
        sum += hidden[i] * row[i];
    for (int i = 0; i < MET; i++)
        straight += facts[i] * net->of.met[i];
    return sum + straight;
}

static int play_scores(network *net, const uint8_t *legal, int mirrored, float *scores)
{
    observation o;
    memcpy(&o, net->seen, sizeof o);
    int part = o.phase ? PART_DEPLOY : PART_SELECT + o.stage;
    float context[HIDDEN];
    if (!embed(net))
        return 0;
    sk_outcomes(net->width, net->height, net->seen, 1, net->outcomes);
    if (part == PART_TARGET) {
        memcpy(context, net->of.context_bias, sizeof context);
        add_layer(net->board + o.selected * net->channels, net->channels, net->of.context, HIDDEN,
                  context);
    } else {
        memcpy(context, net->of.part + (part == PART_DEPLOY) * HIDDEN, sizeof context);
    }
    for (int square = 0; square < net->squares; square++) {
        int seen = mirrored ? image(net, square) : square;
        if (!legal[square])
            continue;
        scores[square] = score(net, seen, part, context);
        if (part == PART_DEPLOY)
            scores[square] += net->of.deploy[o.to_place * net->squares + seen];
    }
    return 1;
}

/* ---- Deployment ---- */

static void deployment_scores(network *net, int mirrored, float *scores)
{
    const uint8_t *cells = net->seen + sizeof(observation);
    int zone = net->squares / 2;
    observation o;
    float first[UNITS], second[UNITS], placed[MAX_SQUARES] = {0};
    memcpy(&o, net->seen, sizeof o);
    memcpy(first, net->of.kinds_bias, sizeof first);
    for (int square = 0; square <= zone; square++) {
        int kind = square == zone            ? o.to_place
                   : is_piece(cells[square]) ? cell_type(cells[square])
                                             : TYPES;
        const float one = 1;
        if (kind < TYPES)
            add_layer(&one, 1, net->of.kinds + (square * TYPES + kind) * UNITS, UNITS, first);
    }
    cut(first, UNITS);
    memcpy(second, net->of.hidden_bias, sizeof second);
    add_layer(first, UNITS, net->of.hidden, UNITS, second);
    cut(second, UNITS);
    memcpy(placed, net->of.placing_bias, (size_t)zone * sizeof *placed);
    add_layer(second, UNITS, net->of.placing, zone, placed);
    int places_flag = net->kind == MIRRORED && o.to_place == FLAG;
    for (int square = 0; square < net->squares; square++) {
        int left = image(net, square) > square;
        scores[square] = placed[mirrored || (places_flag && left) ? image(net, square) : square];
    }
}

int network_policy(network *net, const uint8_t *packed, const uint8_t *legal, float *policy)
{
    int mirrored = is_mirrored(net, packed), deploys = packed[offsetof(observation, phase)];
    float scores[MAX_SQUARES], most = 0, total = 0;
    see(net, packed, mirrored);
    if (deploys && net->kind != PLAY_ALONE)
        deployment_scores(net, mirrored, scores);
    else if (!play_scores(net, legal, mirrored, scores))
        return 0;
    for (int square = 0, any = 0; square < net->squares; square++)
        if (legal[square] && (!any++ || scores[square] > most))
            most = scores[square];
    for (int square = 0; square < net->squares; square++) {
        policy[square] = legal[square] ? (float)script_exp(scores[square] - most) : 0;
        total += policy[square];
    }
    for (int square = 0; total > 0 && square < net->squares; square++)
        policy[square] /= total;
    return 1;
}
