/* Games of chance through subgames, from the root to a leaf or an end (subgames.h): by the policies
 * and, now and then, by chance. */
#include <assert.h>

#include "subgames.h"

enum { MOST_HANDS = SK_MOST_ACTIONS };

typedef struct {
    const sk_subgames *g;
    const double *const *reach; /* of both players */
    const double *policy;
    philox_draws draws;
} walker;

static double draw(walker *w)
{
    uint32_t high = philox_word(&w->draws);
    return philox_double(high, philox_word(&w->draws));
}

/* The index that a number in [0, 1) falls to, in proportion to n masses. */
static int32_t fall(const double *masses, int32_t n, double u)
{
    double total = 0.0, sum = 0.0;
    for (int32_t i = 0; i < n; i++)
        total += masses[i];
    for (int32_t i = 0; i < n; i++) {
        sum += masses[i];
        if (sum > u * total)
            return i;
    }
    return n - 1;
}

/* Of the hands of a player at a part, what is believed of them as a reach: without the deal. */
static void believed_reach(const walker *w, const part *p, int player, double *out)
{
    double belief[MOST_HANDS];
    const public_node *node = node_of(w->g, p);
    sk_subgames_believe(w->g, p, player, w->reach[player], belief);
    for (int32_t i = 0; i < node->hands[player]; i++) {
        double prior = sk_subgames_prior(w->g, node, player, i);
        out[i] = prior > 0.0 ? belief[hands_of(w->g, p, player)[i].number] / prior : 0.0;
    }
}

/* A hand of the player who acts, as it is dealt together with what is believed of the other's. */
static int32_t draw_hand(walker *w, const part *p, int player)
{
    double mine[MOST_HANDS], theirs[MOST_HANDS];
    const public_node *node = node_of(w->g, p);
    believed_reach(w, p, player, mine);
    believed_reach(w, p, !player, theirs);
    for (int32_t i = 0; i < node->hands[player]; i++) {
        double meets = 0.0;
        for (int32_t k = 0; k < node->hands[!player]; k++)
            meets += weight_of(w->g, node, player, i, k) * theirs[k];
        mine[i] *= meets;
    }
    return fall(mine, node->hands[player], draw(w));
}

/* How likely chance and what is believed lead to a child of chance's. */
static double mass_of(const walker *w, const part *p, const part *child)
{
    double mass = 0.0, reach[2][MOST_HANDS];
    const public_node *node = node_of(w->g, child);
    for (int player = 0; player < 2; player++)
        believed_reach(w, p, player, reach[player]);
    for (int32_t i = 0; i < node->hands[0]; i++)
        for (int32_t k = 0; k < node->hands[1]; k++)
            mass += weight_of(w->g, node, 0, i, k) * reach[0][hands_of(w->g, child, 0)[i].from]
                    * reach[1][hands_of(w->g, child, 1)[k].from];
    return mass;
}

static const part *after_chance(walker *w, const part *p)
{
    double masses[SK_MOST_ACTIONS];
    const part *children = w->g->parts + p->child;
    for (int32_t i = 0; i < p->children; i++)
        masses[i] = mass_of(w, p, children + i);
    return children + fall(masses, p->children, draw(w));
}

/* The hand of a child that a choice has become, or -1: it leads to another child. */
static int32_t hand_of_choice(const walker *w, const part *child, int player, int32_t choice)
{
    for (int32_t i = 0; i < node_of(w->g, child)->hands[player]; i++)
        if (hands_of(w->g, child, player)[i].from == choice)
            return i;
    return -1;
}

/* How likely a player's hand meets at a part those that the opponent has in a child of it: by the
 * deal of the part, since an end's weights are what is paid. */
static double meets_in(const walker *w, const part *p, const part *child, int player, int32_t hand)
{
    double mass = 0.0, theirs[MOST_HANDS];
    believed_reach(w, p, !player, theirs);
    for (int32_t k = 0; k < node_of(w->g, child)->hands[!player]; k++) {
        int32_t other = hands_of(w->g, child, !player)[k].from;
        mass += weight_of(w->g, node_of(w->g, p), player, hand, other) * theirs[other];
    }
    return mass;
}

/* The child to which a choice of a hand leads, counted from the first of its part. A battle has one
 * for each pair of pieces that it may show; the opponent's hand decides. */
static const part *after_choice(walker *w, const part *p, int player, int32_t hand, int32_t choice)
{
    const part *children = w->g->parts + p->child;
    int32_t which[SK_MOST_ACTIONS], n = 0;
    double masses[SK_MOST_ACTIONS];
    for (int32_t i = 0; i < p->children; i++)
        if (hand_of_choice(w, children + i, player, choice) >= 0) {
            assert(n < SK_MOST_ACTIONS);
            which[n++] = i;
        }
    if (n == 1)
        return children + which[0];
    for (int32_t i = 0; i < n; i++)
        masses[i] = meets_in(w, p, children + which[i], player, hand);
    return children + which[fall(masses, n, draw(w))];
}

static const part *after_player(walker *w, const part *p, int player, double explore)
{
    const public_node *node = node_of(w->g, p);
    const int32_t *first = w->g->tree->first + node->set;
    int32_t hand = draw_hand(w, p, player), n = first[hand + 1] - first[hand];
    int32_t begin = first[hand] - first[0], at;
    if (draw(w) < explore)
        at = philox_below(&w->draws, n);
    else
        at = fall(w->policy + p->choice + begin, n, draw(w));
    return after_choice(w, p, player, hand, begin + at);
}

void sk_subgames_walk(const sk_subgames *g, const double *policy, const double *reach0,
                      const double *reach1, double explore, uint64_t seed, uint32_t stream,
                      const int32_t *roots, const int64_t *games, int64_t n, int32_t number,
                      int32_t *reached)
{
    const double *const reach[2] = {reach0, reach1};
    for (int64_t i = 0; i < n; i++) {
        uint32_t key[2];
        philox_decision_key(seed, stream, games[i], number, key);
        walker w = {g, reach, policy, philox_world(key, 0)};
        int explorer = philox_below(&w.draws, 2);
        const part *p = g->parts + roots[i];
        while (p->children) {
            int actor = node_of(g, p)->actor;
            p = actor == SK_CHANCE ? after_chance(&w, p)
                                   : after_player(&w, p, actor, actor == explorer ? explore : 0.0);
        }
        reached[i] = (int32_t)(p - g->parts);
    }
}
