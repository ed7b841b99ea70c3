#include "network.h"

#include <stdlib.h>
#include <string.h>

#include "functions.h"
#include "observation.h"

enum { UNITS = 64, KEPT = 16 }; /* of a layer; positions whose embedding is kept */

/* Layers are [inputs][outputs] with biases [outputs]. */
typedef struct {
    const float *kinds; /* [12 (S / 2 + 1)][64] */
    const float *kinds_bias;
    const float *hidden; /* [64][64] */
    const float *hidden_bias;
    const float *placing; /* [64][S / 2] */
    const float *placing_bias;
} layers;

struct network {
    int width, squares;
    network_kind kind;
    size_t weights;
    sk_fromto *play;
    sk_positions *positions;
    layers of; /* unless it plays alone */
};

static const float *take(network *net, const float *weights, size_t n)
{
    const float *here = weights + net->weights;
    net->weights += n;
    return here;
}

static void read_layers(network *net, const float *w)
{
    size_t zone = (size_t)net->squares / 2;
    layers *of = &net->of;
    of->kinds = take(net, w, TYPES * (zone + 1) * UNITS);
    of->kinds_bias = take(net, w, UNITS);
    of->hidden = take(net, w, UNITS * UNITS);
    of->hidden_bias = take(net, w, UNITS);
    of->placing = take(net, w, UNITS * zone);
    of->placing_bias = take(net, w, zone);
}

network *network_open(int32_t width, int32_t height, int32_t channels, int32_t blocks,
                      network_kind kind, const float *weights)
{
    network *net = calloc(1, sizeof *net);
    if (!net)
        return NULL;
    *net = (network){.width = width, .squares = width * height, .kind = kind};
    net->play = sk_fromto_open(width, height, channels, blocks, sk_residual_lanes(),
                               kind == MIRRORED, weights);
    net->positions = net->play ? sk_positions_open(net->play, KEPT) : NULL;
    net->weights = (size_t)sk_fromto_floats(width, height, channels, blocks);
    if (kind != PLAY_ALONE)
        read_layers(net, weights);
    return net->positions ? net : NULL; /* who has no memory opens no page */
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

static int image(const network *net, int square)
{
    return square + net->width - 1 - 2 * (square % net->width);
}

/* Scores of squares for the piece to place. If the network is `+mirrored` it sees the flag on the
 * right, where it places it, too. */
static void deployment_scores(const network *net, const uint8_t *packed, float *scores)
{
    const uint8_t *cells = packed + sizeof(observation);
    int zone = net->squares / 2;
    int mirrored = net->kind == MIRRORED && flag_is_left(cells, net->width, net->squares);
    observation o;
    float first[UNITS], second[UNITS], placed[MAX_SQUARES] = {0};
    memcpy(&o, packed, sizeof o);
    memcpy(first, net->of.kinds_bias, sizeof first);
    for (int square = 0; square <= zone; square++) {
        uint8_t cell = square == zone ? 0 : cells[mirrored ? image(net, square) : square];
        int kind = square == zone ? o.to_place : is_piece(cell) ? cell_type(cell) : TYPES;
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

void network_policy(network *net, const uint8_t *packed, const uint8_t *legal, float *policy)
{
    float scores[MAX_SQUARES], most = 0, total = 0;
    if (net->kind == PLAY_ALONE || !packed[offsetof(observation, phase)]) {
        sk_fromto_evaluate(net->positions, packed, legal, 1, policy, NULL);
        return;
    }
    deployment_scores(net, packed, scores);
    for (int square = 0, any = 0; square < net->squares; square++)
        if (legal[square] && (!any++ || scores[square] > most))
            most = scores[square];
    for (int square = 0; square < net->squares; square++) {
        policy[square] = legal[square] ? (float)script_exp(scores[square] - most) : 0;
        total += policy[square];
    }
    for (int square = 0; total > 0 && square < net->squares; square++)
        policy[square] /= total;
}

float network_value(network *net, const uint8_t *packed)
{
    float value;
    sk_fromto_evaluate(net->positions, packed, NULL, 1, NULL, &value);
    return value;
}
