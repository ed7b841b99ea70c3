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
#include "games.h"
#include "small.h"

enum { LEAST_SIZE = 2, MOST_SIZE = 11, MOST_CELLS = MOST_SIZE * MOST_SIZE, EMPTY = 2 };

typedef struct {
    sk_game base;
    int size, cells;
    int dark, classical;
} hex;

typedef struct {
    uint8_t owner[MOST_CELLS]; /* player or EMPTY */
    /* Where the player knows whose stone lies there: the turn after which it did, counted from 1.
     */
    uint8_t seen[2][MOST_CELLS];
    uint8_t turns, next; /* tries so far; who acts */
    uint8_t winner;      /* EMPTY: nobody yet */
} hex_state;

/* What the acting player sees: whose turn it is (one-hot), then for every cell two bytes: an own
 * stone, an enemy stone. */
enum { SEES_PLAYER = 0, SEES_CELLS = 2 };

static const hex *as_hex(const sk_game *game) { return (const hex *)game; }

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
    int player = state->next, taken = state->owner[cell] != EMPTY;
    state->seen[player][cell] = ++state->turns;
    if (!game->dark)
        state->seen[!player][cell] = state->turns;
    if (!taken || !game->classical)
        state->next = (uint8_t)!player;
    if (taken)
        return;
    state->owner[cell] = (uint8_t)player;
    if (connects(game, state, cell))
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

/* ---- Worlds of Dark Hex: histories of the enemy's turns, all equally likely ----
 *
 * The enemy's turns are slots 1 .. turns, each a cell of its own. Cells that the player found taken
 * lie on slots before that. The other slots hold cells that the player does not see, or own stones
 * that the enemy hit later. One own turn stands between two slots, so that every slot is the last
 * one of at most one taken cell, and the first one of at most one own stone.
 *
 * ways(k, j) counts how the first k + j slots can be filled if taken cells fill k of them:
 *
 *     ways(k, j) = (taken cells for the last of these slots, less those on later ones) ways(k - 1,
 * j)
 *                + (other cells for it, less those on earlier ones) ways(k, j - 1)
 */
enum { NO_CELL = MOST_CELLS, MOST_TURNS = MOST_CELLS, MOST_WAYS = 62 * 62, MOST_TRIES = 100000 };

typedef struct {
    int turns; /* of the enemy */
    int taken; /* how many of them are on cells that the player found taken */
    int unseen;
    uint8_t until[MOST_TURNS + 2]; /* the taken cell whose last slot this is, or NO_CELL */
    uint8_t since[MOST_TURNS + 2]; /* the own stone that the enemy may have hit from here on */
    uint8_t cells[MOST_CELLS];     /* those not seen */
    double ways[MOST_WAYS];        /* [taken + 1][turns - taken + 1] */
} enemy_turns;

static enemy_turns recall(const hex *game, const hex_state *state, int player)
{
    enemy_turns enemy = {.turns = (state->turns + player) / 2};
    memset(enemy.until, NO_CELL, sizeof enemy.until);
    memset(enemy.since, NO_CELL, sizeof enemy.since);
    for (int cell = 0; cell < game->cells; cell++) {
        int before = (state->seen[player][cell] - 1 + player) / 2; /* enemy turns */
        if (!state->seen[player][cell]) {
            enemy.cells[enemy.unseen++] = (uint8_t)cell;
        } else if (state->owner[cell] == player) {
            enemy.since[before + 1] = (uint8_t)cell;
        } else {
            enemy.until[before] = (uint8_t)cell;
            enemy.taken++;
        }
    }
    return enemy;
}

static double *ways(enemy_turns *enemy, int taken, int others)
{
    return &enemy->ways[taken * (enemy->turns - enemy->taken + 1) + others];
}

static void count_ways(enemy_turns *enemy)
{
    int for_taken[MOST_TURNS + 2] = {0}, for_others[MOST_TURNS + 2] = {enemy->unseen};
    for (int slot = enemy->turns; slot > 0; slot--)
        for_taken[slot] = for_taken[slot + 1] + (enemy->until[slot] != NO_CELL);
    for (int slot = 1; slot <= enemy->turns; slot++)
        for_others[slot] = for_others[slot - 1] + (enemy->since[slot] != NO_CELL);
    for (int k = 0; k <= enemy->taken; k++)
        for (int j = 0; j <= enemy->turns - enemy->taken; j++) {
            int last_taken = for_taken[k + j] - (enemy->taken - k);
            int last_other = for_others[k + j] - (j - 1);
            *ways(enemy, k, j) = k + j == 0;
            if (k && last_taken > 0)
                *ways(enemy, k, j) += last_taken * *ways(enemy, k - 1, j);
            if (j && last_other > 0)
                *ways(enemy, k, j) += last_other * *ways(enemy, k, j - 1);
        }
}

/* Which cell the enemy tried in each turn: taken cells from the last slot down, then the others. */
static void draw_turns(enemy_turns *enemy, uint8_t *tried, philox_draws *draws)
{
    uint8_t list[MOST_CELLS];
    int n = 0, k = enemy->taken, j = enemy->turns - k;
    for (int slot = enemy->turns; slot > 0; slot--) {
        if (enemy->until[slot] != NO_CELL)
            list[n++] = enemy->until[slot];
        double all = *ways(enemy, k, j), with_taken = k && n ? n * *ways(enemy, k - 1, j) : 0;
        double u = philox_double(philox_word(draws), philox_word(draws));
        int takes = with_taken >= all || u * all < with_taken;
        tried[slot] = takes ? (uint8_t)philox_take(draws, list, &n) : NO_CELL;
        k -= takes;
        j -= !takes;
    }
    memcpy(list, enemy->cells, (size_t)(n = enemy->unseen));
    for (int slot = 1; slot <= enemy->turns; slot++) {
        if (enemy->since[slot] != NO_CELL)
            list[n++] = enemy->since[slot];
        if (tried[slot] == NO_CELL)
            tried[slot] = (uint8_t)philox_take(draws, list, &n);
    }
}

static void put_turns(const hex *game, hex_state *state, int player, const uint8_t *tried,
                      int turns)
{
    memset(state->seen[!player], 0, sizeof state->seen[!player]);
    for (int cell = 0; cell < game->cells; cell++)
        if (state->owner[cell] != player)
            state->owner[cell] = EMPTY;
    for (int slot = 1; slot <= turns; slot++) {
        state->seen[!player][tried[slot]] = (uint8_t)(2 * slot - player);
        if (state->owner[tried[slot]] == EMPTY)
            state->owner[tried[slot]] = (uint8_t)!player;
    }
}

static int has_won(const hex *game, const hex_state *state, int player)
{
    for (int i = 0; i < game->size; i++) {
        int cell = player == 0 ? i : i * game->size;
        if (state->owner[cell] == player && connects(game, state, cell))
            return 1;
    }
    return 0;
}

/* Histories in which the enemy has won are rejected: the game goes on. */
static const char *redeal(const sk_game *base, void *block, philox_draws *draws)
{
    const hex *game = as_hex(base);
    hex_state *state = block;
    int player = actor(base, block);
    uint8_t tried[MOST_TURNS + 1];
    if (!game->dark)
        return NULL; /* nothing is hidden */
    if (game->classical)
        return "no worlds by the classical rule";
    enemy_turns enemy = recall(game, state, player);
    count_ways(&enemy);
    for (int i = 0; i < MOST_TRIES; i++) {
        draw_turns(&enemy, tried, draws);
        put_turns(game, state, player, tried, enemy.turns);
        if (!has_won(game, state, !player))
            return NULL;
    }
    return "no world was found in 100,000 tries";
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

static const sk_ops ops = {SMALL_GAME};

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
