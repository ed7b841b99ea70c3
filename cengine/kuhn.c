/* Kuhn poker (Kuhn 1950): three cards, one each, an ante of 1 and one bet of 1. The value of the
 * game is -1/18 for the first player. */
#include "games.h"
#include "small.h"

enum { CARDS = 3, NO_CARD = CARDS, PASS = 0, BET = 1, LONGEST = 3 };

typedef struct {
    uint8_t cards[2];
    uint8_t bets[LONGEST]; /* PASS or BET: check or bet, then fold or call */
    uint8_t dealt, made;   /* cards, and entries of `bets` */
} kuhn;

/* What the acting player sees: whose turn it is, the own card, the bets so far; one-hot. */
enum {
    SEES_PLAYER = 0,
    SEES_CARD = 2,
    SEES_BETS = SEES_CARD + CARDS,
    SEES = SEES_BETS + 2 * LONGEST
};

static void reset(const sk_game *game, void *block)
{
    *(kuhn *)block = (kuhn){.cards = {NO_CARD, NO_CARD}};
}

/* bet-pass, bet-bet, pass-pass, pass-bet-pass and pass-bet-bet end the game. */
static int bets_end(const kuhn *state)
{
    return state->made == LONGEST
           || (state->made == 2 && !(state->bets[0] == PASS && state->bets[1] == BET));
}

static int actor(const sk_game *game, const void *block)
{
    const kuhn *state = block;
    if (state->dealt < 2)
        return SK_CHANCE;
    return bets_end(state) ? SK_OVER : state->made % 2;
}

static int legal(const sk_game *game, const void *block, int32_t *actions)
{
    const kuhn *state = block;
    int n = 0, who = actor(game, block);
    if (who == SK_OVER)
        return 0;
    for (int32_t action = 0; action < (who == SK_CHANCE ? CARDS : 2); action++)
        if (who != SK_CHANCE || state->cards[0] != action)
            actions[n++] = action;
    return n;
}

static void apply(const sk_game *game, void *block, int32_t action)
{
    kuhn *state = block;
    assert(in_list(game, block, action));
    if (state->dealt < 2)
        state->cards[state->dealt++] = (uint8_t)action;
    else
        state->bets[state->made++] = (uint8_t)action;
}

static void returns(const sk_game *game, const void *block, float *out)
{
    const kuhn *state = block;
    if (actor(game, block) != SK_OVER) {
        pay(out, 0);
        return;
    }
    int last = state->bets[state->made - 1], before = state->bets[state->made - 2];
    int folded = before == BET && last == PASS;
    int stake = before == BET && last == BET ? 2 : 1;
    int winner = folded ? state->made % 2 : state->cards[0] < state->cards[1];
    pay(out, (float)(winner == 0 ? stake : -stake));
}

static int plies(const sk_game *game, const void *block) { return ((const kuhn *)block)->made; }

static void observe(const sk_game *game, const void *block, uint8_t *packed)
{
    const kuhn *state = block;
    int player = actor(game, block);
    memset(packed, 0, SEES);
    packed[SEES_PLAYER + player] = 1;
    packed[SEES_CARD + state->cards[player]] = 1;
    for (int i = 0; i < state->made; i++)
        packed[SEES_BETS + 2 * i + state->bets[i]] = 1;
}

/* The opponent has one of the other two cards. */
static const char *redeal(const sk_game *game, void *block, philox_draws *draws)
{
    kuhn *state = block;
    int player = actor(game, block);
    state->cards[!player] = (uint8_t)((state->cards[player] + 1 + philox_below(draws, 2)) % CARDS);
    return NULL;
}

static int history(const sk_game *game, const void *block, int32_t *actions)
{
    const kuhn *state = block;
    int n = 0;
    for (int i = 0; i < state->dealt; i++)
        actions[n++] = state->cards[i];
    for (int i = 0; i < state->made; i++)
        actions[n++] = state->bets[i];
    return n;
}

/* The bets, one-hot. */
static void observe_public(const sk_game *game, const void *block, uint8_t *packed)
{
    const kuhn *state = block;
    memset(packed, 0, 2 * LONGEST);
    for (int i = 0; i < state->made; i++)
        packed[2 * i + state->bets[i]] = 1;
}

static int hand(const sk_game *game, const void *block, int player)
{
    int card = ((const kuhn *)block)->cards[player];
    return card == NO_CARD ? 0 : card;
}

static const sk_ops ops = {SMALL_GAME, BELIEF_GAME, .chance = uniform_chance};

sk_game *sk_open_kuhn(const char *parameter, const char *rules, char *error, size_t error_size)
{
    sk_game *game = new_game(sizeof *game, rules, error, error_size);
    if (!game)
        return NULL;
    *game = small_game(&ops, CARDS, 2 + LONGEST, sizeof(kuhn), SEES);
    game->is.hands = CARDS;
    game->is.public_bytes = 2 * LONGEST;
    return game;
}
