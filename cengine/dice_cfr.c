/* Counterfactual regret minimisation in Liar's Dice: one player's half of an iteration, as sk_cfr
 * does it in a tree, by one walk through all sets of bids for all hands at once (dice_response.c).
 *
 * The caller gets a breath between parts of the walk. They are disjoint, and a set's regrets change
 * when all below it is done. So the first steps from the root are made twice, by the same policies:
 * to list the parts with what reaches them, and at the end, with what they are worth.
 */
#include "liars_dice.h"
#include "regret.h"

/* Of games of less than 32 bids, which have at most 15 kinds of dice: 3 dice of 5 faces have most
 * hands. PART: bids that are left where a part begins. */
enum { CHOICES = 32, HANDS = 35, PART = 12 };

typedef struct {
    double of[HANDS];
} by_hand;

typedef struct {
    uint32_t made;
    int last;
    by_hand theirs, own, worth; /* what reaches it, and what the own hands are worth there */
} piece;

typedef enum { LISTS, WALKS, ENDS } stage;

struct sk_dice_cfr {
    const liars_dice *game;
    int player;
    double keep_positive, keep_negative, keep_average;
    double *regrets, *average;
    int8_t
        truth[CHOICES * HANDS * HANDS]; /* [bids][hands][hands]: 1 where the bid is true, else -1 */
    piece *pieces;
    int64_t n_pieces, done;
    stage stage;
};
typedef struct sk_dice_cfr learner;

/* Where the choices begin of the sets of information in which these bids were made, as of
 * DiceSets: those whose last bid is b are a block, and have bids - b choices each. */
static int64_t choices_before(const liars_dice *game, uint32_t made, int last)
{
    int64_t n = made ? game->bids : 0;
    for (int b = 0; b < last; b++)
        n += ((int64_t)1 << b) * (game->bids - b);
    return last < 0 ? 0 : n + (int64_t)(made - ((uint32_t)1 << last)) * (game->bids - last);
}

/* The player who acts has called the last bid: what the hands of the player who learns are worth,
 * by the reach of the opponent's. */
static void called(const learner *w, int caller, int last, const by_hand *reach, by_hand *out)
{
    int hands = w->game->hands;
    const int8_t *truth = w->truth + last * hands * hands;
    for (int hand = 0; hand < hands; hand++, truth += hands) {
        double sum = 0;
        for (int other = 0; other < hands; other++)
            sum += reach->of[other] * truth[other];
        out->of[hand] = caller == w->player ? -sum : sum;
    }
}

/* The walk has come to a part: it is listed, or what it was worth is taken. */
static void at_piece(learner *w, uint32_t made, int last, const by_hand *theirs, const by_hand *own,
                     by_hand *out)
{
    piece *p = &w->pieces[w->stage == LISTS ? w->n_pieces++ : w->done++];
    if (w->stage == LISTS)
        *p = (piece){made, last, *theirs, *own, {{0}}};
    *out = p->worth;
}

/* From the sets of information in which these bids were made, by the reach of the opponent's hands,
 * deals included, and of the own ones without: what the own hands are worth. */
static void learn(learner *w, uint32_t made, int last, int actor, const by_hand *theirs,
                  const by_hand *own, by_hand *out)
{
    const liars_dice *game = w->game;
    int n = game->bids - last - (last < 0), hands = game->hands, mine = actor == w->player;
    int64_t at = choices_before(game, made, last) * hands;
    if (w->stage != WALKS && game->bids - last <= PART) {
        at_piece(w, made, last, theirs, own, out);
        return;
    }
    double policy[HANDS][CHOICES], values[HANDS][CHOICES];
    for (int hand = 0; hand < hands; hand++) {
        match_regrets(w->regrets + at + (int64_t)hand * n, n, policy[hand]);
        out->of[hand] = 0;
    }
    for (int i = 0, bid = last + 1; i < n; i++, bid++) {
        by_hand after = mine ? *own : *theirs, is;
        for (int hand = 0; hand < hands; hand++)
            after.of[hand] *= policy[hand][i];
        const by_hand *opponent = mine ? theirs : &after;
        if (bid == game->bids)
            called(w, actor, last, opponent, &is);
        else
            learn(w, made | (uint32_t)1 << bid, bid, !actor, opponent, mine ? &after : own, &is);
        for (int hand = 0; hand < hands; hand++) {
            values[hand][i] = is.of[hand];
            out->of[hand] += is.of[hand];
        }
    }
    for (int hand = 0; mine && w->stage != LISTS && hand < hands; hand++, at += n) {
        for (int i = 0; i < n; i++)
            w->average[at + i] =
                w->average[at + i] * w->keep_average + own->of[hand] * policy[hand][i];
        out->of[hand] = add_regrets(values[hand], n, w->keep_positive, w->keep_negative,
                                    policy[hand], w->regrets + at);
    }
}

/* From the root, to its parts. */
static void from_root(learner *w)
{
    by_hand theirs, own, out;
    for (int hand = 0; hand < w->game->hands; hand++) {
        theirs.of[hand] = w->game->probability[hand];
        own.of[hand] = 1;
    }
    learn(w, 0, -1, 0, &theirs, &own, &out);
}

sk_dice_cfr *sk_dice_cfr_open(const sk_game *game, int32_t player, double keep_positive,
                              double keep_negative, double keep_average, double *regrets,
                              double *average)
{
    assert(sk_dice_bids(game) > 0 && sk_dice_bids(game) < 32);
    const liars_dice *dice = (const liars_dice *)game;
    assert(dice->hands <= HANDS);
    /* A part begins with one of the last PART bids, after any set of the others. */
    int others = dice->bids - PART;
    size_t most = others < 0 ? 1 : (size_t)PART << others;
    piece *pieces = malloc(most * sizeof *pieces);
    learner *w = pieces ? malloc(sizeof *w) : NULL;
    if (!w) {
        free(pieces);
        return NULL;
    }
    *w = (learner){dice,         player,  keep_positive, keep_negative,
                   keep_average, regrets, average,       .pieces = pieces};
    int8_t *truth = w->truth;
    for (int bid = 0; bid < dice->bids; bid++)
        for (int hand = 0; hand < dice->hands; hand++)
            for (int other = 0; other < dice->hands; other++)
                *truth++ = sk_bid_is_true(dice, bid, hand, other) ? 1 : -1;
    from_root(w);
    assert(w->n_pieces <= (int64_t)most);
    w->stage = WALKS;
    return w;
}

void sk_dice_cfr_close(sk_dice_cfr *w)
{
    free(w->pieces);
    free(w);
}

int64_t sk_dice_cfr_walk(sk_dice_cfr *w, int32_t pieces)
{
    for (; pieces > 0 && w->stage == WALKS && w->done < w->n_pieces; pieces--, w->done++) {
        piece *p = &w->pieces[w->done];
        learn(w, p->made, p->last, __builtin_popcount(p->made) % 2, &p->theirs, &p->own, &p->worth);
    }
    if (w->stage == WALKS && w->done == w->n_pieces) {
        w->stage = ENDS;
        w->done = 0;
        from_root(w);
    }
    return w->n_pieces - w->done;
}
