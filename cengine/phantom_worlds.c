/* Worlds of phantom games: what the enemy did in secret.
 *
 * By the abrupt rule the enemy's turns are slots 1 .. turns, each a cell of its own. Cells that the
 * player found taken lie on slots before that. The other slots hold cells that the player does not
 * see, or own stones that the enemy hit later. One own turn stands between two slots, so that every
 * slot is the last one of at most one taken cell, and the first one of at most one own stone.
 *
 * ways(k, j) counts how the first k + j slots can be filled if taken cells fill k of them:
 *
 *     ways(k, j) = (taken cells for the last of these slots, less those on later ones)
 *                      ways(k - 1, j)
 *                + (other cells for it, less those on earlier ones) ways(k, j - 1)
 *
 * By the classical rule every slot ends with a stone, and before that the enemy may hit own stones,
 * which bears on no other slot. So stones and hits are drawn one after the other: stones as above,
 * now with any number of taken cells of which a slot is the last one; hits by `chances` below.
 *
 * A world is as likely as it is if the enemy plays at random. By the abrupt rule all its histories
 * are equally likely. By the classical one each try, stone or hit, divides by the cells that the
 * enemy then did not see: one fewer after every try, whatever it found. So a history's probability
 * depends on the numbers of its stones and hits, and not on their order.
 */
#include "phantom.h"

enum { NO_CELL = MOST_CELLS, MOST_TURNS = MOST_CELLS, MOST_WAYS = 62 * 62, MOST_TRIES = 100000 };

typedef struct {
    int turns; /* of the enemy */
    int taken; /* how many of them are on cells that the player found taken */
    int unseen;
    uint8_t until[MOST_TURNS + 2]; /* a taken cell whose last slot this is, or NO_CELL */
    uint8_t also[MOST_CELLS];      /* another taken cell with that last slot, or NO_CELL */
    uint8_t since[MOST_TURNS + 2]; /* the own stone that the enemy may have hit from here on */
    uint8_t cells[MOST_CELLS];     /* those not seen */
    double ways[MOST_WAYS];        /* [taken + 1][turns - taken + 1] */
} enemy_turns;

/* The player found the cell taken after so many turns of the enemy. */
static void take(enemy_turns *enemy, int cell, int before)
{
    enemy->also[cell] = enemy->until[before];
    enemy->until[before] = (uint8_t)cell;
    enemy->taken++;
}

static enemy_turns recall(const phantom *game, const phantom_state *state, int player)
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
            take(&enemy, cell, before);
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
    for (int slot = enemy->turns; slot > 0; slot--) {
        for_taken[slot] = for_taken[slot + 1];
        for (int cell = enemy->until[slot]; cell != NO_CELL; cell = enemy->also[cell])
            for_taken[slot]++;
    }
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
        for (int cell = enemy->until[slot]; cell != NO_CELL; cell = enemy->also[cell])
            list[n++] = (uint8_t)cell;
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

static void put_turns(const phantom *game, phantom_state *state, int player, const uint8_t *tried,
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

/* Would the enemy's turns have ended the game? */
static int is_over_for(const phantom *game, const phantom_state *state, int enemy)
{
    return game->won(game, state, enemy) || sk_phantom_full(game, state);
}

/* ---- The classical rule ---- */

/* What the player tried, in that order. */
static int own_tries(const phantom *game, const phantom_state *state, int player, uint8_t *tries)
{
    uint8_t at[2 * MOST_CELLS];
    int n = 0;
    memset(at, NO_CELL, sizeof at);
    for (int cell = 0; cell < game->cells; cell++)
        if (state->seen[player][cell])
            at[state->seen[player][cell] - 1] = (uint8_t)cell;
    for (int turn = 0; turn < state->turns; turn++)
        if (at[turn] != NO_CELL)
            tries[n++] = at[turn];
    return n;
}

/* Of the enemy's turns the stones; `since` are the own stones that a turn is the first to find. How
 * often the enemy has tried is not known, and not read. */
static enemy_turns recall_stones(const phantom *game, const phantom_state *state, int player,
                                 const uint8_t *tries, int n, uint8_t *since)
{
    enemy_turns enemy = {.turns = player};
    memset(enemy.until, NO_CELL, sizeof enemy.until);
    memset(enemy.since, NO_CELL, sizeof enemy.since);
    memset(since, NO_CELL, MOST_TURNS + 2);
    for (int i = 0; i < n; i++) {
        if (state->owner[tries[i]] == player)
            since[++enemy.turns] = tries[i];
        else
            take(&enemy, tries[i], enemy.turns);
    }
    for (int cell = 0; cell < game->cells; cell++)
        if (!state->seen[player][cell])
            enemy.cells[enemy.unseen++] = (uint8_t)cell;
    return enemy;
}

/* What the enemy hit: hits[slot] of these cells in each of its turns, in this order. */
typedef struct {
    uint8_t hits[MOST_TURNS + 1], cells[MOST_CELLS];
} enemy_hits;

enum { MOST_STONES = MOST_CELLS / 2 + 1, MOST_CHANCES = (MOST_STONES + 2) * (MOST_STONES + 1) };

/* chance(s, h) is what the turns from s on may bring if there were h hits before, each history with
 * its probability under random play, but for a factor:
 *
 *     chance(s, h) = chance(s + 1, h) + (own stones there by s, less h) chance(s, h + 1)
 *
 * and at the end the product over the h hits of 1 / (the cells that the enemy would not have seen
 * before it, had all hits come after all stones). Any order of these tries gives the same product;
 * that of the stones is in every history and is left out. */
static void draw_hits(const phantom *game, const enemy_turns *enemy, const uint8_t *since,
                      enemy_hits *out, philox_draws *draws)
{
    static const int width = MOST_STONES + 1;
    double chances[MOST_CHANCES];
    int stones[MOST_TURNS + 2] = {0}, last = enemy->turns, n = 0, hits = 0;
    uint8_t list[MOST_CELLS];
    for (int slot = 1; slot <= last; slot++)
        stones[slot] = stones[slot - 1] + (since[slot] != NO_CELL);
    for (int h = 0; h <= stones[last]; h++)
        chances[(last + 1) * width + h] =
            h ? chances[(last + 1) * width + h - 1] / (game->cells - last - h + 1) : 1;
    for (int slot = last; slot > 0; slot--)
        for (int h = stones[last]; h >= 0; h--) {
            double *chance = &chances[slot * width + h];
            *chance = chance[width] + (stones[slot] > h ? (stones[slot] - h) * chance[1] : 0);
        }
    for (int slot = 1; slot <= last; slot++) {
        if (since[slot] != NO_CELL)
            list[n++] = since[slot];
        out->hits[slot] = 0;
        for (; n; out->hits[slot]++) {
            const double *chance = &chances[slot * width + hits];
            double u = philox_double(philox_word(draws), philox_word(draws));
            if (u * *chance >= n * chance[1])
                break;
            out->cells[hits++] = (uint8_t)philox_take(draws, list, &n);
        }
    }
}

/* Numbers all tries anew: how many the enemy's were is not known. */
static void put_tries(phantom_state *state, int player, const uint8_t *tries, int n,
                      const uint8_t *stones, const enemy_hits *enemy)
{
    const uint8_t *hit = enemy->cells;
    memset(state->seen, 0, sizeof state->seen);
    state->turns = 0;
    for (int i = -player, slot = 1; i < n; i++) { /* -1: the enemy's turn before the first try */
        if (i >= 0) {
            state->seen[player][tries[i]] = ++state->turns;
            if (state->owner[tries[i]] != player)
                continue;
        }
        for (int k = enemy->hits[slot]; k > 0; k--)
            state->seen[!player][*hit++] = ++state->turns;
        state->seen[!player][stones[slot++]] = ++state->turns;
    }
}

/* Histories in which the game is over are rejected: it goes on. */
static const char *reject(const phantom *game, phantom_state *state, int player, enemy_turns *enemy,
                          uint8_t *tried, philox_draws *draws)
{
    count_ways(enemy);
    for (int i = 0; i < MOST_TRIES; i++) {
        draw_turns(enemy, tried, draws);
        put_turns(game, state, player, tried, enemy->turns);
        if (!is_over_for(game, state, !player))
            return NULL;
    }
    return "no world was found in 100,000 tries";
}

const char *sk_phantom_abrupt_world(const phantom *game, phantom_state *state, philox_draws *draws)
{
    uint8_t tried[MOST_TURNS + 1];
    enemy_turns enemy = recall(game, state, state->next);
    return reject(game, state, state->next, &enemy, tried, draws);
}

const char *sk_phantom_classical_world(const phantom *game, phantom_state *state,
                                       philox_draws *draws)
{
    uint8_t tries[MOST_CELLS], stones[MOST_TURNS + 1], since[MOST_TURNS + 2];
    int player = state->next, n = own_tries(game, state, player, tries);
    enemy_turns enemy = recall_stones(game, state, player, tries, n, since);
    const char *fault = reject(game, state, player, &enemy, stones, draws);
    enemy_hits hits;
    if (fault)
        return fault;
    draw_hits(game, &enemy, since, &hits, draws);
    put_tries(state, player, tries, n, stones, &hits);
    return NULL;
}
