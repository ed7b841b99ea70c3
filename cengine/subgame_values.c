/* What policies are worth in subgames, and how they learn there (subgames.h). */
#include <string.h>

#include "regret.h"
#include "subgames.h"

/* ---- Downwards: reach ---- */

void sk_subgames_reach(const sk_subgames *g, int32_t player, const double *policy, double *reach)
{
    for (const part *p = g->parts; p < g->parts + g->n_parts; p++) {
        if (p->parent < 0)
            continue;
        const part *parent = &g->parts[p->parent];
        const public_node *above = node_of(g, parent);
        const public_hand *hands = hands_of(g, p, player);
        for (int32_t i = 0, n = node_of(g, p)->hands[player]; i < n; i++) {
            int32_t from = hands[i].from;
            double *out = &reach[p->hand[player] + i];
            if (above->actor != player) {
                *out = reach[parent->hand[player] + from];
                continue;
            }
            int32_t set = above->set, choice = g->tree->first[set] + from;
            while (g->tree->first[set + 1] <= choice)
                set++;
            *out = reach[parent->hand[player] + set - above->set] * policy[parent->choice + from];
        }
    }
}

/* ---- At the ends ---- */

/* What each hand gets of the opponent's hands: the sum of their reaches, weighed. */
static void weigh(const sk_subgames *g, const part *p, int player, const double *other_reach,
                  double sign, double *out)
{
    const public_node *node = node_of(g, p);
    const double *weights = g->tree->weights + node->weight;
    const double *reach = other_reach + p->hand[!player];
    int32_t mine = node->hands[player], theirs = node->hands[!player];
    int32_t step = player ? 1 : theirs, across = player ? node->hands[1] : 1;
    for (int32_t i = 0; i < mine; i++) {
        double sum = 0.0;
        for (int32_t k = 0; k < theirs; k++)
            sum += weights[(int64_t)i * step + (int64_t)k * across] * reach[k];
        out[i] = sign * sum;
    }
}

void sk_subgames_compatible(const sk_subgames *g, int32_t player, const double *other_reach,
                            double *out)
{
    for (const part *p = g->parts; p < g->parts + g->n_parts; p++)
        if (node_of(g, p)->actor != SK_OVER)
            weigh(g, p, player, other_reach, 1.0, out + p->hand[player]);
}

void sk_subgames_ends(const sk_subgames *g, int32_t player, const double *other_reach,
                      const float *leaves, double *values)
{
    memset(values, 0, (size_t)g->n_hands[player] * sizeof *values);
    for (const part *p = g->parts; p < g->parts + g->n_parts; p++) {
        const public_node *node = node_of(g, p);
        double *out = values + p->hand[player];
        if (node->actor == SK_OVER)
            weigh(g, p, player, other_reach, player ? -1.0 : 1.0, out);
        if (p->leaf < 0)
            continue;
        weigh(g, p, player, other_reach, 1.0, out);
        const public_hand *hands = hands_of(g, p, player);
        const float *each = leaves + (int64_t)p->leaf * g->tree->game->is.hands;
        for (int32_t i = 0; i < node->hands[player]; i++)
            out[i] *= (double)each[hands[i].number];
    }
}

/* ---- Upwards: values ---- */

/* Adds what the children of a part are worth: to the hands from which their hands come or, where
 * the player acts, to the choices of these. */
static void gather(const sk_subgames *g, const part *p, int player, const double *values,
                   double *out)
{
    for (const part *c = g->parts + p->child; c < g->parts + p->child + p->children; c++) {
        const public_hand *hands = hands_of(g, c, player);
        const double *theirs = values + c->hand[player];
        for (int32_t i = 0, n = node_of(g, c)->hands[player]; i < n; i++)
            out[hands[i].from] += theirs[i];
    }
}

typedef struct {
    const sk_subgames *g;
    int player;
    double *values; /* of hands */
    double *q;      /* of choices */
} rising;

/* Goes on to the next part inside from below, at which the player acts; all other parts inside get
 * their values. NULL when none is left. */
static const part *next_own(const rising *r, const part *p)
{
    const sk_subgames *g = r->g;
    while (p-- > g->parts) {
        const public_node *node = node_of(g, p);
        if (!p->children)
            continue;
        if (node->actor != r->player) {
            gather(g, p, r->player, r->values, r->values + p->hand[r->player]);
            continue;
        }
        int32_t end = node->set + node->hands[r->player];
        size_t choices = (size_t)(g->tree->first[end] - g->tree->first[node->set]);
        memset(r->q + p->choice, 0, choices * sizeof *r->q);
        gather(g, p, r->player, r->values, r->q + p->choice);
        return p;
    }
    return NULL;
}

/* How many choices a hand has, and where they begin in its part. */
static int32_t choices_of(const sk_subgames *g, const public_node *node, int32_t hand,
                          int32_t *first)
{
    int32_t set = node->set + hand;
    *first = g->tree->first[set] - g->tree->first[node->set];
    return g->tree->first[set + 1] - g->tree->first[set];
}

void sk_subgames_backup(const sk_subgames *g, int32_t player, const double *policy, double *values,
                        double *q)
{
    rising r = {g, player, values, q};
    for (const part *p = g->parts + g->n_parts; (p = next_own(&r, p));) {
        const public_node *node = node_of(g, p);
        for (int32_t i = 0; i < node->hands[player]; i++) {
            int32_t first, n = choices_of(g, node, i, &first);
            double value = 0.0;
            for (int32_t k = p->choice + first; k < p->choice + first + n; k++)
                value += policy[k] * q[k];
            values[p->hand[player] + i] = value;
        }
    }
}

void sk_subgames_best_response(const sk_subgames *g, int32_t player, double *policy, double *values,
                               double *q)
{
    rising r = {g, player, values, q};
    for (const part *p = g->parts + g->n_parts; (p = next_own(&r, p));) {
        const public_node *node = node_of(g, p);
        for (int32_t i = 0; i < node->hands[player]; i++) {
            int32_t first, n = choices_of(g, node, i, &first);
            values[p->hand[player] + i] =
                best_actions(q + p->choice + first, n, policy + p->choice + first);
        }
    }
}

void sk_subgames_cfr(const sk_subgames *g, int32_t player, double keep_positive,
                     double keep_negative, double keep_average, const double *reach, double *values,
                     double *q, double *regrets, double *average, double *policy)
{
    rising r = {g, player, values, q};
    for (const part *p = g->parts + g->n_parts; (p = next_own(&r, p));) {
        const public_node *node = node_of(g, p);
        for (int32_t i = 0; i < node->hands[player]; i++) {
            int32_t first, n = choices_of(g, node, i, &first);
            first += p->choice;
            double here = reach[p->hand[player] + i];
            for (int32_t k = first; k < first + n; k++)
                average[k] = average[k] * keep_average + here * policy[k];
            values[p->hand[player] + i] = add_regrets(q + first, n, keep_positive, keep_negative,
                                                      policy + first, regrets + first);
            match_regrets(regrets + first, n, policy + first);
        }
    }
}
