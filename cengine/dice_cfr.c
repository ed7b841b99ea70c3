/* Counterfactual regret minimisation in Liar's Dice: one player's half of an iteration, as sk_cfr
 * does it in a tree, by one walk through all sets of bids for all hands at once (dice_response.c).
 */
#include "liars_dice.h"
#include "regret.h"

/* Of games of less than 32 bids, which have at most 15 kinds of dice: 3 dice of 5 faces have most
 * hands. */
enum { CHOICES = 32, HANDS = 35 };

typedef struct {
    const liars_dice *game;
    int player;
    double keep_positive, keep_negative, keep_average;
    double *regrets, *average;
    int8_t
        truth[CHOICES * HANDS * HANDS]; /* [bids][hands][hands]: 1 where the bid is true, else -1 */
} learner;

typedef struct {
    double of[HANDS];
} by_hand;

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

/* From the sets of information in which these bids were made, by the reach of the opponent's hands,
 * deals included, and of the own ones without: what the own hands are worth. */
static void learn(const learner *w, uint32_t made, int last, int actor, const by_hand *theirs,
                  const by_hand *own, by_hand *out)
{
    const liars_dice *game = w->game;
    int n = game->bids - last - (last < 0), hands = game->hands, mine = actor == w->player;
    int64_t at = choices_before(game, made, last) * hands;
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
    for (int hand = 0; mine && hand < hands; hand++, at += n) {
        for (int i = 0; i < n; i++)
            w->average[at + i] =
                w->average[at + i] * w->keep_average + own->of[hand] * policy[hand][i];
        out->of[hand] = add_regrets(values[hand], n, w->keep_positive, w->keep_negative,
                                    policy[hand], w->regrets + at);
    }
}

void sk_dice_cfr(const sk_game *game, int32_t player, double keep_positive, double keep_negative,
                 double keep_average, double *regrets, double *average)
{
    assert(sk_dice_bids(game) > 0 && sk_dice_bids(game) < 32);
    const liars_dice *dice = (const liars_dice *)game;
    assert(dice->hands <= HANDS);
    learner w = {dice, player, keep_positive, keep_negative, keep_average, regrets, average, {0}};
    by_hand theirs, own, out;
    int8_t *truth = w.truth;
    for (int bid = 0; bid < dice->bids; bid++)
        for (int hand = 0; hand < dice->hands; hand++)
            for (int other = 0; other < dice->hands; other++)
                *truth++ = sk_bid_is_true(dice, bid, hand, other) ? 1 : -1;
    for (int hand = 0; hand < dice->hands; hand++) {
        theirs.of[hand] = dice->probability[hand];
        own.of[hand] = 1;
    }
    learn(&w, 0, -1, 0, &theirs, &own, &out);
}
