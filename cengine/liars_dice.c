/* Liar's Dice for two, "liars_dice:DxF": D dice of F faces each, the highest face wild (ReBeL,
 * Brown et al. 2020, appendix C.3; OpenSpiel's liars_dice). Both roll in secret. Then they bid in
 * turn how many of all dice show a face; each bid is for more dice than the last one, or as many of
 * a higher face. Instead of a bid a player may call the last one a lie (not before there is one):
 * then the caller loses 1 to the bidder if there are at least as many such dice, and wins 1 if not.
 * Dice of the highest face count for all.
 *
 * Actions: 0 .. 2DF - 1 bids, quantity first: (quantity - 1) * F + face, faces from 0; 2DF calls
 * liar. Chance deals a whole hand, with its probability: its number in the order of sorted dice
 * (with one die: the face). Hands that differ in the order of the dice only are one, which is the
 * smallest tree.
 */
#include "liars_dice.h"

#include "games.h"

typedef struct {
    uint8_t hands[2];
    uint8_t rolled; /* hands */
    uint8_t made;   /* bids, and the call */
    uint8_t last;   /* the last bid */
    uint8_t over;
    uint8_t
        bid[MOST_BIDS]; /* 1 for every bid that was made; they rise, so this tells who bid when */
} liars_dice_state;

/* What the acting player sees: whose turn it is (one-hot), how many own dice show each face, and
 * for every bid whether it was made. */
enum { SEES_PLAYER = 0, SEES_DICE = 2 };

static const liars_dice *as_dice(const sk_game *game) { return (const liars_dice *)game; }

static void reset(const sk_game *game, void *block) { memset(block, 0, sizeof(liars_dice_state)); }

static int actor(const sk_game *game, const void *block)
{
    const liars_dice_state *state = block;
    if (state->over)
        return SK_OVER;
    return state->rolled < 2 ? SK_CHANCE : state->made % 2;
}

static int legal(const sk_game *base, const void *block, int32_t *actions)
{
    const liars_dice *game = as_dice(base);
    const liars_dice_state *state = block;
    int n = 0, who = actor(base, block);
    if (who == SK_OVER)
        return 0;
    int first = who != SK_CHANCE && state->made ? state->last + 1 : 0;
    int end = who == SK_CHANCE ? game->hands : state->made ? game->bids + 1 : game->bids;
    for (int32_t action = first; action < end; action++)
        actions[n++] = action;
    return n;
}

static void chance(const sk_game *base, const void *block, double *probabilities)
{
    memcpy(probabilities, as_dice(base)->probability,
           (size_t)as_dice(base)->hands * sizeof(double));
}

static void apply(const sk_game *base, void *block, int32_t action)
{
    liars_dice_state *state = block;
    assert(in_list(base, block, action));
    if (state->rolled < 2) {
        state->hands[state->rolled++] = (uint8_t)action;
        return;
    }
    state->made++;
    if (action == as_dice(base)->bids) {
        state->over = 1;
    } else {
        state->bid[action] = 1;
        state->last = (uint8_t)action;
    }
}

static int shows(const liars_dice *game, int hand, int face)
{
    int wild = game->faces - 1;
    return game->counts[hand][face] + (face == wild ? 0 : game->counts[hand][wild]);
}

int sk_bid_is_true(const liars_dice *game, int bid, int hand, int other)
{
    int quantity = bid / game->faces + 1, face = bid % game->faces;
    return shows(game, hand, face) + shows(game, other, face) >= quantity;
}

static int last_is_true(const liars_dice *game, const liars_dice_state *state)
{
    return sk_bid_is_true(game, state->last, state->hands[0], state->hands[1]);
}

static void returns(const sk_game *game, const void *block, float *out)
{
    const liars_dice_state *state = block;
    if (!state->over) {
        pay(out, 0);
        return;
    }
    int bidder = state->made % 2; /* two before the end, the caller made the last */
    int winner = last_is_true(as_dice(game), state) ? bidder : !bidder;
    pay(out, winner == 0 ? 1 : -1);
}

static int plies(const sk_game *game, const void *block)
{
    return ((const liars_dice_state *)block)->made;
}

static void observe(const sk_game *base, const void *block, uint8_t *packed)
{
    const liars_dice *game = as_dice(base);
    const liars_dice_state *state = block;
    int player = actor(base, block);
    packed[SEES_PLAYER + player] = 1;
    packed[SEES_PLAYER + !player] = 0;
    memcpy(packed + SEES_DICE, game->counts[state->hands[player]], (size_t)game->faces);
    memcpy(packed + SEES_DICE + game->faces, state->bid, (size_t)game->bids);
}

/* The opponent rolls again. */
static const char *redeal(const sk_game *base, void *block, philox_draws *draws)
{
    const liars_dice *game = as_dice(base);
    liars_dice_state *state = block;
    uint8_t counts[MOST_FACES] = {0};
    int hand = 0;
    for (int i = 0; i < game->dice; i++)
        counts[philox_below(draws, game->faces)]++;
    while (memcmp(game->counts[hand], counts, (size_t)game->faces) != 0)
        hand++;
    state->hands[!actor(base, block)] = (uint8_t)hand;
    return NULL;
}

static int history(const sk_game *base, const void *block, int32_t *actions)
{
    const liars_dice_state *state = block;
    int n = 0;
    for (int i = 0; i < state->rolled; i++)
        actions[n++] = state->hands[i];
    for (int32_t bid = 0; bid < as_dice(base)->bids; bid++)
        if (state->bid[bid])
            actions[n++] = bid;
    if (state->over)
        actions[n++] = as_dice(base)->bids;
    return n;
}

/* The last bid, one-hot: who holds what is all else that counts. */
static void observe_public(const sk_game *game, const void *block, uint8_t *packed)
{
    const liars_dice_state *state = block;
    memset(packed, 0, (size_t)as_dice(game)->bids);
    if (state->made)
        packed[state->last] = 1;
}

static int hand(const sk_game *game, const void *block, int player)
{
    return ((const liars_dice_state *)block)->hands[player];
}

static const sk_ops ops = {SMALL_GAME, BELIEF_GAME, .chance = chance};

int sk_is_liars_dice(const sk_game *game) { return game->ops == &ops; }

/* The next hand of sorted dice; 0 after the last. */
static int next_hand(const liars_dice *game, uint8_t *dice)
{
    int i = game->dice - 1;
    while (i >= 0 && dice[i] == game->faces - 1)
        i--;
    if (i < 0)
        return 0;
    memset(dice + i, dice[i] + 1, (size_t)(game->dice - i));
    return 1;
}

/* Writes down a hand and its probability: D! / (product of the counts' factorials) / F^D. */
static void add_hand(liars_dice *game, const uint8_t *dice)
{
    uint8_t *counts = game->counts[game->hands];
    double probability = 1;
    for (int i = 0; i < game->dice; i++)
        probability *= (i + 1.0) / (++counts[dice[i]] * (double)game->faces);
    game->probability[game->hands++] = probability;
}

/* Returns 0 if there are more hands than actions. */
static int list_hands(liars_dice *game)
{
    uint8_t dice[MOST_BIDS] = {0};
    do {
        if (game->hands == SK_MOST_ACTIONS)
            return 0;
        add_hand(game, dice);
    } while (next_hand(game, dice));
    return 1;
}

/* Reads "DxF" into the game; returns NULL or what is wrong. */
static const char *read_size(liars_dice *game, const char *text)
{
    if (!read_number(&text, &game->dice) || *text++ != 'x' || !read_number(&text, &game->faces)
        || *text)
        return "dice and faces are written as in liars_dice:1x6";
    if (game->dice < 1 || game->faces < 2)
        return "it takes at least one die and two faces";
    if (game->dice > MOST_BIDS || game->faces > MOST_BIDS
        || 2 * game->dice * game->faces > MOST_BIDS)
        return "too many dice or faces: at most 63 dice times faces";
    game->bids = 2 * game->dice * game->faces;
    return list_hands(game) ? NULL : "too many dice: at most 128 different hands";
}

sk_game *sk_open_liars_dice(const char *parameter, const char *rules, char *error,
                            size_t error_size)
{
    liars_dice *game = new_game(sizeof *game, rules, error, error_size);
    if (!game)
        return NULL;
    const char *wrong = read_size(game, parameter);
    if (wrong) {
        snprintf(error, error_size, "%s", wrong);
        free(game);
        return NULL;
    }
    int actions = game->bids + 1 > game->hands ? game->bids + 1 : game->hands;
    int sees = SEES_DICE + game->faces + game->bids;
    game->base = small_game(&ops, actions, 2 + game->bids + 1, sizeof(liars_dice_state), sees);
    game->base.is.hands = game->hands;
    game->base.is.public_bytes = game->bids;
    game->base.is.recombines = 1; /* earlier bids forbid nothing that the last one does not */
    return &game->base;
}
