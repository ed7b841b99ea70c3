/* Hex, "hex:N", and Dark Hex with the abrupt rule, "dark_hex:N" (OpenSpiel's hex, and its dark_hex
 * with gameversion=adh, obstype=reveal-nothing), on a rhombus of N x N cells. Two players put
 * stones in turn. Player 0 wins by a chain from the first row to the last, player 1 by one from the
 * first column to the last; there is no draw. In Dark Hex a player sees the own stones only. Who
 * tries a cell that the enemy holds sees that stone from then on, and the turn passes: in the
 * classical form the player would try again.
 *
 * Actions: cells, row * N + column, that the player does not see taken. A cell's neighbours are
 * those beside it in its row and its column, and (row + 1, column - 1) and (row - 1, column + 1).
 *
 * Recall is perfect: a player remembers what it tried and how that ended, and turns alternate
 * strictly, so the number of enemy turns is known, and how many of them failed is not.
 */
#include "games.h"
#include "small.h"

enum { LEAST_SIZE = 2, MOST_SIZE = 11, MOST_CELLS = MOST_SIZE * MOST_SIZE, EMPTY = 2 };

typedef struct {
    sk_game base;
    int size, cells;
    int dark;
} hex;

typedef struct {
    uint8_t owner[MOST_CELLS];   /* player or EMPTY */
    uint8_t seen[2][MOST_CELLS]; /* 1 where the player knows whose stone lies there */
    uint8_t turns;
    uint8_t winner; /* EMPTY: nobody yet */
} hex_state;

/* What the acting player sees: whose turn it is (one-hot), then for every cell two bytes: an own
 * stone, an enemy stone. */
enum { SEES_PLAYER = 0, SEES_CELLS = 2 };

static const hex *as_hex(const sk_game *game) { return (const hex *)game; }

static void reset(const sk_game *game, void *block)
{
    (void)game;
    hex_state *state = block;
    memset(state, 0, sizeof *state);
    memset(state->owner, EMPTY, sizeof state->owner);
    state->winner = EMPTY;
}

/* Somebody always can: every turn shows its player another cell, and who sees all sees a winner. */
static int actor(const sk_game *game, const void *block)
{
    (void)game;
    const hex_state *state = block;
    return state->winner == EMPTY ? state->turns % 2 : SK_OVER;
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

/* Does the chain with this stone reach both of its owner's sides? */
static int connects(const hex *game, const hex_state *state, int cell)
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
    int player = state->turns++ % 2;
    state->seen[player][cell] = 1;
    if (!game->dark)
        state->seen[!player][cell] = 1;
    if (state->owner[cell] != EMPTY)
        return;
    state->owner[cell] = (uint8_t)player;
    if (connects(game, state, cell))
        state->winner = (uint8_t)player;
}

static void returns(const sk_game *game, const void *block, float *out)
{
    (void)game;
    const hex_state *state = block;
    pay(out, state->winner == EMPTY ? 0 : state->winner == 0 ? 1 : -1);
}

static int plies(const sk_game *game, const void *block)
{
    (void)game;
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

static const sk_ops ops = {.reset = reset,
                           .actor = actor,
                           .legal = legal,
                           .apply = apply,
                           .returns = returns,
                           .plies = plies,
                           .observe = observe,
                           SMALL_GAME};

static sk_game *open_either(int dark, const char *parameter, const char *rules, char *error,
                            size_t error_size)
{
    int size;
    if (refuse_rules(rules, error, error_size))
        return NULL;
    if (!read_number(&parameter, &size) || *parameter || size < LEAST_SIZE || size > MOST_SIZE) {
        snprintf(error, error_size, "the size of the board is a number from %d to %d", LEAST_SIZE,
                 MOST_SIZE);
        return NULL;
    }
    hex *game = new_game(sizeof *game, error, error_size);
    if (!game)
        return NULL;
    game->size = size;
    game->cells = size * size;
    game->dark = dark;
    game->base = (sk_game){.ops = &ops,
                           .endings = one_ending,
                           .is = {.players = 2,
                                  .actions = game->cells,
                                  .max_length = dark ? 2 * game->cells - 1 : game->cells,
                                  .state_bytes = sizeof(hex_state),
                                  .observation_bytes = SEES_CELLS + 2 * game->cells,
                                  .planes = SEES_CELLS + 2 * game->cells}};
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
