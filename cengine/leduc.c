/* Leduc poker (Southey et al. 2005, "Bayes' bluff"). Six cards: three ranks in two suits. Both
 * players pay an ante of 1 and get a card; a round of betting, a public card, a second round. The
 * bet is 2 in the first round and 4 in the second, at most two raises a round; player 0 begins
 * both. Who pairs the public card wins, else the higher rank; equal ranks share the pot. The value
 * of the game is -0.0856 for player 0.
 *
 * Actions: 0 fold (only facing a raise), 1 check or call, 2 bet or raise (only twice a round).
 * Chance deals ranks, with their probabilities: suits are nowhere, so states that differ in suits
 * only are one (288 information states; 936 are those of six distinct cards).
 */
#include "games.h"
#include "small.h"

enum { RANKS = 3, SUITS = 2, DEALS = 3, FIRST_PUBLIC = 2, NO_CARD = RANKS };
enum { FOLD, CALL, RAISE, BETS };
enum { ROUNDS = 2, MOST_RAISES = 2, LONGEST = MOST_RAISES + 2, ANTE = 1 };

typedef struct {
    uint8_t cards[DEALS]; /* player 0's, player 1's, the public one */
    uint8_t dealt;
    uint8_t round;
    uint8_t made[ROUNDS]; /* entries of each row of `bets` */
    uint8_t bets[ROUNDS][LONGEST];
    uint8_t paid[2];
    uint8_t raises; /* of this round */
    uint8_t over;
} leduc;

/* What the acting player sees: whose turn it is, the own card, the public card (none: zeros), and
 * of each round's bets whether they were a call or a raise; one-hot. */
enum {
    SEES_PLAYER = 0,
    SEES_OWN = 2,
    SEES_PUBLIC = SEES_OWN + RANKS,
    SEES_BETS = SEES_PUBLIC + RANKS
};
enum { SEES = SEES_BETS + ROUNDS * LONGEST * 2, SEES_OF_PUBLIC = SEES - SEES_PUBLIC + 1 };

static void reset(const sk_game *game, void *block)
{
    *(leduc *)block = (leduc){.cards = {NO_CARD, NO_CARD, NO_CARD}, .paid = {ANTE, ANTE}};
}

static int actor(const sk_game *game, const void *block)
{
    const leduc *state = block;
    if (state->over)
        return SK_OVER;
    if (state->dealt < FIRST_PUBLIC + state->round)
        return SK_CHANCE;
    return state->made[state->round] % 2;
}

/* Cards of this rank that were not dealt. */
static int left(const leduc *state, int rank)
{
    int n = SUITS;
    for (int i = 0; i < state->dealt; i++)
        n -= state->cards[i] == rank;
    return n;
}

static int legal(const sk_game *game, const void *block, int32_t *actions)
{
    const leduc *state = block;
    int n = 0, who = actor(game, block);
    if (who == SK_OVER)
        return 0;
    if (who == SK_CHANCE) {
        for (int32_t rank = 0; rank < RANKS; rank++)
            if (left(state, rank))
                actions[n++] = rank;
        return n;
    }
    if (state->paid[who] < state->paid[!who])
        actions[n++] = FOLD;
    actions[n++] = CALL;
    if (state->raises < MOST_RAISES)
        actions[n++] = RAISE;
    return n;
}

static void chance(const sk_game *game, const void *block, double *probabilities)
{
    const leduc *state = block;
    for (int rank = 0; rank < RANKS; rank++)
        if (left(state, rank))
            *probabilities++ = (double)left(state, rank) / (RANKS * SUITS - state->dealt);
}

static void end_round(leduc *state)
{
    state->raises = 0;
    state->over = state->round == ROUNDS - 1;
    state->round += !state->over;
}

static void bet(leduc *state, int32_t action)
{
    int player = state->made[state->round] % 2, first = state->made[state->round] == 0;
    state->bets[state->round][state->made[state->round]++] = (uint8_t)action;
    if (action == FOLD) {
        state->over = 1;
        return;
    }
    state->paid[player] = state->paid[!player];
    if (action == RAISE) {
        state->paid[player] += state->round ? 4 : 2;
        state->raises++;
    } else if (!first) {
        end_round(state);
    }
}

static void apply(const sk_game *game, void *block, int32_t action)
{
    leduc *state = block;
    assert(in_list(game, block, action));
    if (actor(game, block) == SK_CHANCE)
        state->cards[state->dealt++] = (uint8_t)action;
    else
        bet(state, action);
}

/* A pair with the public card beats every rank. */
static int strength(const leduc *state, int player)
{
    int card = state->cards[player];
    return card == state->cards[FIRST_PUBLIC] ? RANKS : card;
}

/* What player 0 gets when it is over. Who folded has paid less; at a showdown both have paid alike.
 */
static int payoff(const leduc *state)
{
    if (state->paid[0] != state->paid[1])
        return state->paid[0] < state->paid[1] ? -state->paid[0] : state->paid[1];
    int ahead = strength(state, 0) - strength(state, 1);
    return ahead > 0 ? state->paid[1] : ahead < 0 ? -state->paid[0] : 0;
}

static void returns(const sk_game *game, const void *block, float *out)
{
    const leduc *state = block;
    pay(out, state->over ? (float)payoff(state) : 0);
}

static int plies(const sk_game *game, const void *block)
{
    const leduc *state = block;
    return state->made[0] + state->made[1];
}

static void observe_bets(const leduc *state, uint8_t *packed)
{
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < state->made[round]; i++)
            packed[2 * (LONGEST * round + i) + (state->bets[round][i] == RAISE)] = 1;
}

static void observe(const sk_game *game, const void *block, uint8_t *packed)
{
    const leduc *state = block;
    int player = actor(game, block);
    memset(packed, 0, SEES);
    packed[SEES_PLAYER + player] = 1;
    packed[SEES_OWN + state->cards[player]] = 1;
    if (state->round)
        packed[SEES_PUBLIC + state->cards[FIRST_PUBLIC]] = 1;
    observe_bets(state, packed + SEES_BETS);
}

/* The opponent has one of the cards that neither the player nor the table has. */
static const char *redeal(const sk_game *game, void *block, philox_draws *draws)
{
    leduc *state = block;
    int opponent = !actor(game, block), rank = 0;
    state->cards[opponent] = NO_CARD;
    int nth = philox_below(draws, RANKS * SUITS - state->dealt + 1);
    while (nth >= left(state, rank))
        nth -= left(state, rank++);
    state->cards[opponent] = (uint8_t)rank;
    return NULL;
}

static int history(const sk_game *game, const void *block, int32_t *actions)
{
    const leduc *state = block;
    int n = 0;
    for (int i = 0; i < state->dealt; i++) {
        if (i == FIRST_PUBLIC)
            for (int k = 0; k < state->made[0]; k++)
                actions[n++] = state->bets[0][k];
        actions[n++] = state->cards[i];
    }
    int round = state->dealt > FIRST_PUBLIC;
    for (int k = 0; k < state->made[round]; k++)
        actions[n++] = state->bets[round][k];
    return n;
}

/* The public card and the bets, as in `observe`, and whether somebody has folded. */
static void observe_public(const sk_game *game, const void *block, uint8_t *packed)
{
    const leduc *state = block;
    memset(packed, 0, SEES_OF_PUBLIC);
    if (state->dealt > FIRST_PUBLIC)
        packed[state->cards[FIRST_PUBLIC]] = 1;
    observe_bets(state, packed + RANKS);
    packed[SEES_OF_PUBLIC - 1] = state->over && state->paid[0] != state->paid[1];
}

static int hand(const sk_game *game, const void *block, int player)
{
    int card = ((const leduc *)block)->cards[player];
    return card == NO_CARD ? 0 : card;
}

static const sk_ops ops = {SMALL_GAME, BELIEF_GAME, .chance = chance};

sk_game *sk_open_leduc(const char *parameter, const char *rules, char *error, size_t error_size)
{
    sk_game *game = new_game(sizeof *game, rules, error, error_size);
    if (!game)
        return NULL;
    *game = small_game(&ops, BETS, DEALS + ROUNDS * LONGEST, sizeof(leduc), SEES);
    game->is.hands = RANKS;
    game->is.public_bytes = SEES_OF_PUBLIC;
    return game;
}
