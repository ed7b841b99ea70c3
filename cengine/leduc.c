/* Leduc poker (Southey et al. 2005, "Bayes' bluff"). Six cards: three ranks in two suits. Both
 * players pay an ante of 1 and get a card; a round of betting, a public card, a second round. The
 * bet is 2 in the first round and 4 in the second, at most two raises a round; player 0 begins
 * both. Who pairs the public card wins, else the higher rank; equal ranks share the pot. The value
 * of the game is -0.0856 for player 0.
 *
 * `leduc:RxS` has R ranks in S suits, and no fixed bets: one bets half the pot, the pot, or all of
 * a stack of 20 antes, beyond what one calls. It is Texas hold'em in small.
 *
 * Actions: 0 fold (only facing a raise), 1 check or call, 2 bet or raise (only twice a round); with
 * stacks 2 by half the pot, 3 by the pot, 4 all in.
 * Chance deals ranks, with their probabilities: suits are nowhere, so states that differ in suits
 * only are one (288 information states; 936 are those of six distinct cards).
 */
#include "games.h"
#include "small.h"

enum { DEALS = 3, FIRST_PUBLIC = 2, MOST_RANKS = 13, MOST_SUITS = 4, NO_CARD = MOST_RANKS };
enum { FOLD, CALL, RAISE, POT, ALL_IN };
enum { ROUNDS = 2, MOST_RAISES = 2, LONGEST = MOST_RAISES + 2, ANTE = 1, STACK = 20 };
enum { FIXED_STAKE = ANTE + 2 * 2 + 2 * 4 }; /* where bets are fixed: both raises, twice */

typedef struct {
    sk_game base;
    int ranks, suits;
    int bets;  /* actions of players */
    int stack; /* 0: bets are fixed */
} leduc_rules;

static const leduc_rules *as_leduc(const sk_game *game) { return (const leduc_rules *)game; }

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
 * of each round's bets whether they were a call or which raise; one-hot. */
enum { SEES_PLAYER = 0, SEES_OWN = 2 };

static int bytes_of_bets(const leduc_rules *game) { return ROUNDS * LONGEST * (game->bets - CALL); }

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
static int left(const sk_game *game, const leduc *state, int rank)
{
    int n = as_leduc(game)->suits;
    for (int i = 0; i < state->dealt; i++)
        n -= state->cards[i] == rank;
    return n;
}

/* What a player has paid after a bet, a call included. The pot is even, so half of it is whole. */
static int paid_after(const leduc_rules *game, const leduc *state, int player, int32_t action)
{
    int called = state->paid[!player];
    switch (action) {
    case FOLD: return state->paid[player];
    case CALL: return called;
    case RAISE: return called + (game->stack ? called : state->round ? 4 : 2);
    case POT: return called + 2 * called;
    default: return game->stack;
    }
}

static int legal_bets(const leduc_rules *game, const leduc *state, int player, int32_t *actions)
{
    int n = 0;
    if (state->paid[player] < state->paid[!player])
        actions[n++] = FOLD;
    actions[n++] = CALL;
    if (state->raises == MOST_RAISES || state->paid[!player] == game->stack)
        return n;
    for (int32_t action = RAISE; action < game->bets; action++)
        if (!game->stack || action == ALL_IN
            || paid_after(game, state, player, action) < game->stack)
            actions[n++] = action;
    return n;
}

static int legal(const sk_game *game, const void *block, int32_t *actions)
{
    const leduc *state = block;
    int n = 0, who = actor(game, block);
    if (who == SK_OVER)
        return 0;
    if (who != SK_CHANCE)
        return legal_bets(as_leduc(game), state, who, actions);
    for (int32_t rank = 0; rank < as_leduc(game)->ranks; rank++)
        if (left(game, state, rank))
            actions[n++] = rank;
    return n;
}

static void chance(const sk_game *game, const void *block, double *probabilities)
{
    const leduc *state = block;
    int ranks = as_leduc(game)->ranks, cards = ranks * as_leduc(game)->suits - state->dealt;
    for (int rank = 0; rank < ranks; rank++)
        if (left(game, state, rank))
            *probabilities++ = (double)left(game, state, rank) / cards;
}

static void end_round(leduc *state)
{
    state->raises = 0;
    state->over = state->round == ROUNDS - 1;
    state->round += !state->over;
}

static void bet(const leduc_rules *game, leduc *state, int32_t action)
{
    int player = state->made[state->round] % 2, first = state->made[state->round] == 0;
    state->bets[state->round][state->made[state->round]++] = (uint8_t)action;
    if (action == FOLD) {
        state->over = 1;
        return;
    }
    state->paid[player] = (uint8_t)paid_after(game, state, player, action);
    if (action >= RAISE)
        state->raises++;
    else if (!first)
        end_round(state);
}

static void apply(const sk_game *game, void *block, int32_t action)
{
    leduc *state = block;
    assert(in_list(game, block, action));
    if (actor(game, block) != SK_CHANCE) {
        bet(as_leduc(game), state, action);
        return;
    }
    state->cards[state->dealt++] = (uint8_t)action;
    state->over = state->round && state->paid[0] == as_leduc(game)->stack; /* all in */
}

/* A pair with the public card beats every rank. */
static int strength(const leduc *state, int player)
{
    int card = state->cards[player];
    return card == state->cards[FIRST_PUBLIC] ? MOST_RANKS : card;
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

/* The public card, and the bets. */
static void observe_table(const leduc_rules *game, const leduc *state, uint8_t *packed)
{
    int kinds = game->bets - CALL;
    if (state->dealt > FIRST_PUBLIC)
        packed[state->cards[FIRST_PUBLIC]] = 1;
    packed += game->ranks;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < state->made[round]; i++)
            if (state->bets[round][i] != FOLD)
                packed[kinds * (LONGEST * round + i) + state->bets[round][i] - CALL] = 1;
}

static void observe(const sk_game *game, const void *block, uint8_t *packed)
{
    const leduc *state = block;
    int player = actor(game, block);
    memset(packed, 0, (size_t)game->is.observation_bytes);
    packed[SEES_PLAYER + player] = 1;
    packed[SEES_OWN + state->cards[player]] = 1;
    observe_table(as_leduc(game), state, packed + SEES_OWN + as_leduc(game)->ranks);
}

/* The opponent has one of the cards that neither the player nor the table has. */
static const char *redeal(const sk_game *game, void *block, philox_draws *draws)
{
    leduc *state = block;
    int opponent = !actor(game, block), rank = 0;
    state->cards[opponent] = NO_CARD;
    int cards = as_leduc(game)->ranks * as_leduc(game)->suits;
    int nth = philox_below(draws, cards - state->dealt + 1);
    while (nth >= left(game, state, rank))
        nth -= left(game, state, rank++);
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
    int size = game->is.public_bytes;
    memset(packed, 0, (size_t)size);
    observe_table(as_leduc(game), state, packed);
    packed[size - 1] = state->over && state->paid[0] != state->paid[1];
}

static int hand(const sk_game *game, const void *block, int player)
{
    int card = ((const leduc *)block)->cards[player];
    return card == NO_CARD ? 0 : card;
}

static const sk_ops ops = {SMALL_GAME, BELIEF_GAME, .chance = chance};

/* Reads "RxS" into the game; returns NULL or what is wrong. */
static const char *read_deck(leduc_rules *game, const char *text)
{
    if (!read_number(&text, &game->ranks) || *text++ != 'x' || !read_number(&text, &game->suits)
        || *text)
        return "ranks and suits are written as in leduc:13x4";
    if (game->ranks < 2 || game->ranks > MOST_RANKS || game->suits < 1 || game->suits > MOST_SUITS)
        return "it takes 2 to 13 ranks, and 1 to 4 suits";
    return game->ranks * game->suits < DEALS ? "it takes three cards at least" : NULL;
}

sk_game *sk_open_leduc(const char *parameter, const char *rules, char *error, size_t error_size)
{
    leduc_rules *game = new_game(sizeof *game, rules, error, error_size);
    if (!game)
        return NULL;
    *game = (leduc_rules){.ranks = 3, .suits = 2, .bets = RAISE + 1};
    if (parameter) {
        *game = (leduc_rules){.bets = ALL_IN + 1, .stack = STACK};
        const char *wrong = read_deck(game, parameter);
        if (wrong) {
            snprintf(error, error_size, "%s", wrong);
            free(game);
            return NULL;
        }
    }
    int actions = game->ranks > game->bets ? game->ranks : game->bets;
    int table = game->ranks + bytes_of_bets(game);
    game->base = small_game(&ops, actions, DEALS + ROUNDS * LONGEST, sizeof(leduc),
                            SEES_OWN + game->ranks + table);
    game->base.is.unit = (float)(game->stack ? game->stack : FIXED_STAKE); /* the largest return */
    game->base.is.hands = game->ranks;
    game->base.is.public_bytes = table + 1;
    return &game->base;
}
