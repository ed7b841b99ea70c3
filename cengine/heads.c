/* The heads of the network `fromto` for who learns: of boards that are embedded to logits and
 * values, and back. A view is of one board; what it asks of each legal square is computed again for
 * the gradient, which costs less than to keep it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fromto.h"
#include "observation.h"

enum { MEAN, MOST, BOARD, READ }; /* what is read of a board; for BOARD see `read_board` */
enum { VIEWS = 32 /* whose gradients are added up as floats: more would lose digits */ };

/* Where each layer [inputs][outputs] begins among the weights, and their number. */
typedef struct {
    int c, squares;
    size_t square, context, part, outcome, policy, scores, met, deploy, critic, value, all;
} heads;

static heads heads_of(int squares, int channels)
{
    heads h = {.c = channels, .squares = squares};
    size_t c = (size_t)channels;
    h.context = c * HIDDEN;
    h.part = 2 * h.context;
    h.outcome = h.part + PARTS * HIDDEN;
    h.policy = h.outcome + MET * HIDDEN;
    h.scores = h.policy + PARTS * HIDDEN;
    h.met = h.scores + PARTS;
    h.deploy = h.met + MET;
    h.critic = h.deploy + (size_t)(TYPES * squares);
    h.value = h.critic + (3 * c + COUNTS + 1) * c;
    h.all = h.value + c + 1;
    return h;
}

int64_t sk_heads_floats(int32_t squares, int32_t channels)
{
    return (int64_t)heads_of(squares, channels).all;
}

/* What both directions have of a view: its board, what is read of it, and the chosen square there.
 */
typedef struct {
    const float *board, *read, *chosen, *outcomes;
    const uint8_t *legal;
    int part, square, to_place;
    int64_t position;
} view;

static view view_of(const heads *h, const sk_views *v, int64_t i)
{
    view out = {.position = v->position[i], .part = (int)v->part[i], .square = (int)v->square[i]};
    out.to_place = (int)v->to_place[i];
    out.board = v->boards + out.position * h->squares * h->c;
    out.read = v->read + out.position * READ * h->c;
    out.chosen = out.board + out.square * h->c;
    out.outcomes = v->outcomes + i * h->squares * OUTCOMES;
    out.legal = v->legal + i * h->squares;
    return out;
}

/* For a gradient: what some views bring to the weights, gradients of the critic's hidden layers
 * [m], and layers [outputs][inputs]: of squares, of the chosen one, and of the critic the chosen
 * one's and those of what is read. */
typedef struct {
    float *some, *of_read, *turned;
} room;

/* Adds what some views brought, and clears it. */
static void take(const heads *h, float *some, double *all)
{
    for (size_t k = 0; k < h->all; k++)
        all[k] += (double)some[k];
    memset(some, 0, h->all * sizeof *some);
}

#define EACH_WIDTH "heads_lanes.h"
#include "widths.h"

void sk_heads(const sk_views *v, const float *weights, float *read, float *logits, float *values)
{
    const heads h = heads_of(v->squares, v->channels);
    BY_LANES(v->lanes, say)(&h, v, weights, read, logits, values);
}

/* A layer [inputs][outputs] the other way round. */
static void turn(float *to, const float *w, int inputs, int outputs)
{
    for (int i = 0; i < inputs; i++)
        for (int j = 0; j < outputs; j++)
            to[j * inputs + i] = w[i * outputs + j];
}

int32_t sk_heads_gradient(const sk_views *v, const float *weights, const float *of_logits,
                          const float *of_values, float *of_boards, double *of_weights)
{
    const heads h = heads_of(v->squares, v->channels);
    int c = h.c;
    room r = {.some = calloc(h.all, sizeof *r.some),
              .of_read = calloc((size_t)(v->m * c + 1), sizeof *r.of_read),
              .turned = malloc((size_t)(2 * HIDDEN * c + 3 * c * c) * sizeof *r.turned)};
    int done = r.some && r.of_read && r.turned;
    if (done) {
        float *critic = r.turned + 2 * HIDDEN * c;
        turn(r.turned, weights, c, HIDDEN);
        turn(r.turned + h.context, weights + h.context, c, HIDDEN);
        turn(critic, weights + h.critic, c, c);
        turn(critic + c * c, weights + h.critic + c * c, 2 * c, c);
        memset(of_boards, 0, (size_t)(v->m * h.squares * c) * sizeof *of_boards);
        BY_LANES(v->lanes, gradient)
        (&h, v, weights, &r, of_logits, of_values, of_boards, of_weights);
    }
    free(r.some);
    free(r.of_read);
    free(r.turned);
    return done;
}
