/* A network `graph` and what it makes of positions: what its two files share. */
#ifndef SK_DIPLOMACY_GRAPH_H
#define SK_DIPLOMACY_GRAPH_H

#include "played.h"

enum { SIXTEEN = SK_MLP_LANES, TILE = 5, HIDDEN = SK_GRAPH_HIDDEN, WIDE_VERBS = 16 };
enum { ORDERS = DIP_ORDERS + 1 }; /* of a province's own order: and whether it is complete */
enum { MOMENT = DIP_PHASES + DIP_POWERS + DIP_COUNTERS };

struct sk_graph {
    const dip_map *map;
    int channels, depth, shares, lanes; /* depth: its blocks */
    int stride, before, moments; /* features of a province, and those before what is asked there; of
                                    the moment */
    int seen, bytes;             /* of a view: its features, and all */
    uint8_t near[DIP_PROVINCES][DIP_PROVINCES], neighbours[DIP_PROVINCES]; /* and how many */
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
    float moment[MOMENT];
    int valued;                      /* whether what follows is there */
    float board[DIP_POWERS][HIDDEN]; /* of the critic's hidden layer, what is the position's */
    float squares[DIP_POWERS], own_units[DIP_PROVINCES];
    uint8_t lives[DIP_POWERS];
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

/* Where in a province's features each power's unit, dislodged unit and centre begin. */
enum { UNITS = 2 };
static inline int dislodged(const sk_graph *net)
{
    return UNITS + net->map->powers + DIP_COASTS + 2;
}
static inline int owned(const sk_graph *net) { return dislodged(net) + net->map->powers; }

static inline float *rows_of(const sk_graph_positions *p, int32_t at)
{
    return p->rows + (size_t)at * (size_t)(p->net->map->provinces * p->net->channels);
}

static inline float *squares_of(const sk_graph_positions *p, int32_t at)
{
    return p->squares + (size_t)at * (size_t)(p->net->map->provinces * HIDDEN);
}

/* The place of what is seen, but for the orders of this phase, among the positions. */
int32_t dip_position_of(sk_graph_positions *p, const uint8_t *packed, const dip_view *view);
/* How many centres each power has: the acting one first. */
void dip_count_centres(const sk_graph *net, const uint8_t *packed, float *centres);

/* Layers of n outputs, a multiple of SIXTEEN. */

/* y += a x. */
void dip_add(float *y, float a, const float *x, int n);
/* y += x W, of k inputs; those that are 0 cost nothing. */
void dip_layer(float *y, const float *x, int k, const float *w, int n);
/* What is above 0. */
void dip_relu(float *x, int n);
/* out += x w of rows [rows][in] and weights [in][n]. */
void dip_product(const sk_graph *net, float *out, const float *x, const float *w, int rows, int in,
                 int n);

#endif
