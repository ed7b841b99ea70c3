/* Hex, "hex:N", and Dark Hex with the abrupt or the classical rule, "dark_hex:N" and
 * "dark_hex:N:classical" (OpenSpiel's hex, and its dark_hex with gameversion=adh or cdh,
 * obstype=reveal-nothing), on a rhombus of N x N cells. Two players put stones in turn. Player 0
 * wins by a chain from the first row to the last, player 1 by one from the first column to the
 * last; there is no draw. In Dark Hex a player sees the own stones only. Who tries a cell that the
 * enemy holds sees that stone from then on, and the turn passes; by the classical rule the player
 * tries again.
 *
 * Actions: cells, row * N + column, that the player does not see taken. A cell's neighbours are
 * those beside it in its row and its column, and (row + 1, column - 1) and (row - 1, column + 1).
 *
 * Recall is perfect: a player remembers what it tried and how that ended, and turns alternate
 * strictly, so the number of enemy turns is known, and how many of them failed is not. By the
 * classical rule the number of enemy stones is known, and how often the enemy failed is not.
 */
#include "hex.h"

/* What the acting player sees: whose turn it is (one-hot), then for every cell two bytes: an own
 * stone, an enemy stone. */
enum { SEES_PLAYER = 0, SEES_CELLS = 2 };

static void reset(const sk_game *game, void *block)
{
    hex_state *state = block;
    memset(state, 0, sizeof *state);
    memset(state->owner, EMPTY, sizeof state->owner);
    state->winner = EMPTY;
}

/* Somebody always can: every turn shows its player another cell, and who sees all sees a winner. */
static int actor(const sk_game *game, const void *block)
{
    const hex_state *state = block;
    return state->winner == EMPTY ? state->next : SK_OVER;
}

static int legal(const sk_game *game, const void *block, int32_t *actions)
{
    const hex_state *state = block;
    int n = 0, player = actor(game, block);
    if (player == SK_OVER)
        return 0;
    for (int32_t cell = 0; cell < as_hex(game)->cells; cell++)
        if (!state->seen[player][cell])
            actions[n++] = cell;
    return n;
}

static int neighbours(const hex *game, int cell, int *out)
{
    static const int steps[6][2] = {{-1, 0}, {-1, 1}, {0, -1}, {0, 1}, {1, -1}, {1, 0}};
    int n = 0;
    for (int i = 0; i < 6; i++) {
        int row = cell / game->size + steps[i][0], column = cell % game->size + steps[i][1];
        if (row >= 0 && row < game->size && column >= 0 && column < game->size)
            out[n++] = row * game->size + column;
    }
    return n;
}

int sk_hex_connects(const hex *game, const hex_state *state, int cell)
{
    int player = state->owner[cell], first = 0, last = 0, todo[MOST_CELLS], n = 0, beside[6];
    uint8_t found[MOST_CELLS] = {0};
    found[todo[n++] = cell] = 1;
    while (n) {
        int at = todo[--n], line = player == 0 ? at / game->size : at % game->size;
        first |= line == 0;
        last |= line == game->size - 1;
        for (int i = neighbours(game, at, beside) - 1; i >= 0; i--)
            if (state->owner[beside[i]] == player && !found[beside[i]])
                found[todo[n++] = beside[i]] = 1;
    }
    return first && last;
}

static void apply(const sk_game *base, void *block, int32_t cell)
{
    const hex *game = as_hex(base);
    hex_state *state = block;
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
    if (sk_hex_connects(game, state, cell))
        state->winner = (uint8_t)player;
}

static void returns(const sk_game *game, const void *block, float *out)
{
    const hex_state *state = block;
    pay(out, state->winner == EMPTY ? 0 : state->winner == 0 ? 1 : -1);
}

static int plies(const sk_game *game, const void *block)
{
    return ((const hex_state *)block)->turns;
}

static void observe(const sk_game *game, const void *block, uint8_t *packed)
{
    const hex_state *state = block;
    int player = actor(game, block);
    memset(packed, 0, (size_t)game->is.observation_bytes);
    packed[SEES_PLAYER + player] = 1;
    for (int cell = 0; cell < as_hex(game)->cells; cell++)
        if (state->seen[player][cell])
            packed[SEES_CELLS + 2 * cell + (state->owner[cell] != player)] = 1;
}

static const char *redeal(const sk_game *base, void *state, philox_draws *draws)
{
    const hex *game = as_hex(base);
    if (!game->dark)
        return NULL; /* nothing is hidden */
    return game->classical ? sk_hex_classical_world(game, state, draws)
                           : sk_hex_abrupt_world(game, state, draws);
}

static int history(const sk_game *base, const void *block, int32_t *actions)
{
    const hex_state *state = block;
    for (int turn = 0; turn < state->turns; turn++)
        for (int32_t cell = 0; cell < as_hex(base)->cells; cell++)
            if (state->seen[0][cell] == turn + 1 || state->seen[1][cell] == turn + 1)
                actions[turn] = cell;
    return state->turns;
}

/* By the classical rule nobody knows how often the enemy tried; the own tries are known. */
static int32_t number(const sk_game *game, const void *block)
{
    const hex_state *state = block;
    int player = state->next, own = 0;
    if (!as_hex(game)->classical)
        return state->turns;
    for (int cell = 0; cell < as_hex(game)->cells; cell++)
        own += state->seen[player][cell] != 0;
    return 2 * own + player;
}

static const sk_ops ops = {SMALL_GAME, .number = number};

static sk_game *open_either(int dark, const char *parameter, const char *rules, char *error,
                            size_t error_size)
{
    int size, read = read_number(&parameter, &size);
    int classical = read && dark && strcmp(parameter, ":classical") == 0;
    if (!read || (*parameter && !classical) || size < LEAST_SIZE || size > MOST_SIZE) {
        snprintf(error, error_size, "the size of the board is a number from %d to %d%s", LEAST_SIZE,
                 MOST_SIZE, dark ? ", with :classical behind it for that rule" : "");
        return NULL;
    }
    hex *game = new_game(sizeof *game, rules, error, error_size);
    if (!game)
        return NULL;
    game->size = size;
    game->cells = size * size;
    game->dark = dark;
    game->classical = classical;
    int longest = dark ? 2 * game->cells - 1 : game->cells;
    game->base =
        small_game(&ops, game->cells, longest, sizeof(hex_state), SEES_CELLS + 2 * game->cells);
    game->base.is.board_height = game->base.is.board_width = size;
    return &game->base;
}

sk_game *sk_open_hex(const char *parameter, const char *rules, char *error, size_t error_size)
{
    return open_either(0, parameter, rules, error, error_size);
}

sk_game *sk_open_dark_hex(const char *parameter, const char *rules, char *error, size_t error_size)
{
    return open_either(1, parameter, rules, error, error_size);
}
