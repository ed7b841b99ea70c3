/* The rules of phantom games: two players put stones on a board, and see their own only.
 *
 * They put stones on empty cells in turn. A player who tries a cell that the enemy holds sees that
 * stone from then on. By the abrupt rule the turn passes, too; by the classical rule the player
 * tries again. What wins is the game's (`won`); a full board that nobody has won is a draw. A game
 * that is not dark shows all stones to both.
 *
 * Actions: cells that the player does not see taken.
 *
 * Recall is perfect: a player remembers what it tried and how that ended. By the abrupt rule turns
 * alternate strictly, so the number of enemy turns is known, and how many of them failed is not. By
 * the classical rule the number of enemy stones is known, and how often the enemy failed is not.
 */
#include "phantom.h"

/* What the acting player sees: whose turn it is (one-hot), then for every cell two bytes: an own
 * stone, an enemy stone. Face up, a stone that is hidden from the player has another number. */
enum { SEES_PLAYER = 0, SEES_CELLS = 2, HIDDEN_STONE = 2 };

static void reset(const sk_game *game, void *block)
{
    phantom_state *state = block;
    memset(state, 0, sizeof *state);
    memset(state->owner, EMPTY, sizeof state->owner);
    state->winner = EMPTY;
}

/* Somebody always can: every turn shows its player another cell, and who sees all sees the end. */
static int actor(const sk_game *game, const void *block)
{
    const phantom_state *state = block;
    return state->winner == EMPTY ? state->next : SK_OVER;
}

static int legal(const sk_game *game, const void *block, int32_t *actions)
{
    const phantom_state *state = block;
    int n = 0, player = actor(game, block);
    if (player == SK_OVER)
        return 0;
    for (int32_t cell = 0; cell < as_phantom(game)->cells; cell++)
        if (!state->seen[player][cell])
            actions[n++] = cell;
    return n;
}

int sk_phantom_full(const phantom *game, const phantom_state *state)
{
    return !memchr(state->owner, EMPTY, (size_t)game->cells);
}

static void apply(const sk_game *base, void *block, int32_t cell)
{
    const phantom *game = as_phantom(base);
    phantom_state *state = block;
    assert(in_list(base, block, cell));
    int player = state->next, taken = state->owner[cell] != EMPTY;
    state->seen[player][cell] = ++state->turns;
    if (!game->dark)
        state->seen[!player][cell] = state->turns;
    if (!taken || !game->classical)
        state->next = (uint8_t)!player;
    if (taken)
        return;
    state->owner[cell] = (uint8_t)player;
    if (game->won(game, state, player))
        state->winner = (uint8_t)player;
    else if (sk_phantom_full(game, state))
        state->winner = NOBODY;
}

static void returns(const sk_game *game, const void *block, float *out)
{
    const phantom_state *state = block;
    pay(out, state->winner == 0 ? 1 : state->winner == 1 ? -1 : 0);
}

static int plies(const sk_game *game, const void *block)
{
    return ((const phantom_state *)block)->turns;
}

static void observe(const sk_game *game, const void *block, uint8_t *packed)
{
    const phantom_state *state = block;
    int player = actor(game, block);
    memset(packed, 0, (size_t)game->is.observation_bytes);
    packed[SEES_PLAYER + player] = 1;
    for (int cell = 0; cell < as_phantom(game)->cells; cell++)
        if (state->seen[player][cell])
            packed[SEES_CELLS + 2 * cell + (state->owner[cell] != player)] = 1;
}

static void face_up(const sk_game *game, const void *block, uint8_t *packed)
{
    const phantom_state *state = block;
    int player = actor(game, block);
    for (int cell = 0; cell < as_phantom(game)->cells; cell++)
        if (state->owner[cell] == !player && !state->seen[player][cell])
            packed[SEES_CELLS + 2 * cell + 1] = HIDDEN_STONE;
}

static const char *redeal(const sk_game *base, void *state, philox_draws *draws)
{
    const phantom *game = as_phantom(base);
    if (!game->dark)
        return NULL; /* nothing is hidden */
    return game->classical ? sk_phantom_classical_world(game, state, draws)
                           : sk_phantom_abrupt_world(game, state, draws);
}

static int history(const sk_game *base, const void *block, int32_t *actions)
{
    const phantom_state *state = block;
    for (int turn = 0; turn < state->turns; turn++)
        for (int32_t cell = 0; cell < as_phantom(base)->cells; cell++)
            if (state->seen[0][cell] == turn + 1 || state->seen[1][cell] == turn + 1)
                actions[turn] = cell;
    return state->turns;
}

/* By the classical rule nobody knows how often the enemy tried; the own tries are known. */
static int32_t number(const sk_game *game, const void *block)
{
    const phantom_state *state = block;
    int player = state->next, own = 0;
    if (!as_phantom(game)->classical)
        return state->turns;
    for (int cell = 0; cell < as_phantom(game)->cells; cell++)
        own += state->seen[player][cell] != 0;
    return 2 * own + player;
}

static const sk_ops ops = {SMALL_GAME, .number = number, .face_up = face_up};

int sk_is_phantom(const sk_game *game) { return game->ops == &ops; }

sk_game *sk_open_phantom(phantom rules_of, const char *rules, char *error, size_t error_size)
{
    phantom *game = new_game(sizeof *game, rules, error, error_size);
    if (!game)
        return NULL;
    *game = rules_of;
    game->cells = game->size * game->size;
    int longest = game->dark ? 2 * game->cells - 1 : game->cells;
    game->base =
        small_game(&ops, game->cells, longest, sizeof(phantom_state), SEES_CELLS + 2 * game->cells);
    game->base.is.board_height = game->base.is.board_width = game->size;
    return &game->base;
}
