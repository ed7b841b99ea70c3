/* Stratego as a game (game.h). */
#include "stratego.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "framing.h"
#include "observation.h"
#include "rules_text.h"
#include "squares.h"

static void reset(const sk_game *base, void *block)
{
    const stratego *game = as_stratego(base);
    stratego_state *state = block;
    memset(state, 0, sizeof *state);
    for (int i = 0; i < game->squares; i++)
        state->cells[i] = has(game->board, i) ? EMPTY : LAKE;
    state->shuttles[RED].square = state->shuttles[BLUE].square = NO_SQUARE;
    state->chases[RED].begun = state->chases[BLUE].begun = NO_CHASE;
    state->selected = NO_SQUARE;
    state->winner = -1;
    state->phase = PLACING;
    state->legal = placing_squares(game, state);
}

static const char *start(const sk_game *game, void *state, const uint8_t *bytes)
{
    reset(game, state);
    return start_stratego(game, state, bytes);
}

static int actor(const sk_game *game, const void *block)
{
    (void)game;
    const stratego_state *state = block;
    return state->phase == FINISHED ? SK_OVER : state->side;
}

static int legal(const sk_game *base, const void *block, int32_t *actions)
{
    const stratego *game = as_stratego(base);
    const stratego_state *state = block;
    int n = count(state->legal), at = 0;
    for (sk_bits set = state->legal; set; set &= set - 1, at++) {
        int square = first(set);
        /* Blue's board is rotated: what is lowest here comes last there. */
        actions[state->side == BLUE ? n - 1 - at : at] = framed(game, state->side, square);
    }
    return n;
}

static inline void mask_eight(const stratego *game, const stratego_state *state, int side, int at,
                              uint8_t *mask)
{
    write_eight(side, eight_bytes(state->legal >> framed_eight(game, side, at)), mask + at);
}

static inline void mask_squares(const stratego *game, const stratego_state *state, int side, uint8_t *mask)
{
    for (int at = 0; at + 8 <= game->squares; at += 8)
        mask_eight(game, state, side, at, mask);
    mask_eight(game, state, side, game->squares - 8, mask);
}

static void legal_mask(const sk_game *base, const void *block, uint8_t *mask)
{
    const stratego_state *state = block;
    if (state->side == RED)
        mask_squares(as_stratego(base), state, RED, mask);
    else
        mask_squares(as_stratego(base), state, BLUE, mask);
}

static int32_t pick(const sk_game *base, const void *block, uint32_t random)
{
    const stratego_state *state = block;
    return framed(as_stratego(base), state->side, any(state->legal, random));
}

static int is_legal(const sk_game *base, const void *block, int32_t action)
{
    const stratego *game = as_stratego(base);
    const stratego_state *state = block;
    return action >= 0 && action < game->squares
           && has(state->legal, framed(game, state->side, action));
}

static void apply(const sk_game *base, void *block, int32_t action)
{
    const stratego *game = as_stratego(base);
    stratego_state *state = block;
    int square = framed(game, state->side, action);
    switch (state->phase) {
    case PLACING: place(game, state, square); break;
    case SELECTING:
        state->selected = (uint8_t)square;
        state->legal = destinations(game, state, square);
        state->phase = MOVING;
        break;
    case MOVING: carry_out(game, state, square); break;
    default: break;
    }
}

/* A side may deploy by a setup that it was given. */
static int given(const sk_game *game, const void *block)
{
    (void)game;
    return ((const stratego_state *)block)->phase == PLACING;
}

static void returns(const sk_game *game, const void *block, float *out)
{
    (void)game;
    const stratego_state *state = block;
    for (int side = RED; side <= BLUE; side++)
        out[side] = state->winner < 0 ? 0.0f : state->winner == side ? 1.0f : -1.0f;
}

static int ending(const sk_game *game, const void *block)
{
    (void)game;
    return ((const stratego_state *)block)->ending;
}

static int plies(const sk_game *game, const void *block)
{
    (void)game;
    return ((const stratego_state *)block)->plies;
}

static void print_rules(const sk_game *base, char *out, size_t size)
{
    const stratego_rules *rules = &as_stratego(base)->rules;
    snprintf(out, size, "two_squares=%d more_squares=%d max_plies=%d max_quiet=%d",
             rules->two_squares, rules->more_squares, rules->max_plies, rules->max_quiet);
}

static const sk_ops ops = {.reset = reset,
                           .start = start,
                           .save = save_stratego,
                           .actor = actor,
                           .legal = legal,
                           .legal_mask = legal_mask,
                           .pick = pick,
                           .is_legal = is_legal,
                           .given = given,
                           .apply = apply,
                           .returns = returns,
                           .ending = ending,
                           .plies = plies,
                           .observe = observe_stratego,
                           .expand = expand_stratego,
                           .rules = print_rules};

static const char *const endings[] = {
    [ENDING_NONE] = "",
    [ENDING_FLAG] = "flag_captured",
    [ENDING_NO_MOVE] = "no_legal_move",
    [ENDING_NO_PIECES] = "no_movable_pieces",
    [ENDING_MAX_PLIES] = "max_plies",
    [ENDING_MAX_QUIET] = "max_quiet",
    NULL,
};

/* Flag, bomb, then down the ranks. */
static const uint8_t placing_order[TYPES] = {FLAG,       BOMB,     MARSHAL, GENERAL, COLONEL, MAJOR,
                                             CAPTAIN, LIEUTENANT, SERGEANT, MINER,  SCOUT,   SPY};

/* The tables of squares that movement looks things up in. */
static void draw_lines(stratego *game)
{
    for (int i = 0; i < game->squares; i++) {
        int file = i % game->width, rank = i / game->width;
        game->file[i] = (uint8_t)file;
        game->rank[i] = (uint8_t)rank;
        game->beside[i] = beside(game, bit(i));
        for (int k = 0; k < game->squares; k++) {
            int same_file = k % game->width == file, same_rank = k / game->width == rank;
            if (same_file && k != i)
                game->rays[k > i ? NORTH : SOUTH][i] |= bit(k);
            if (same_rank && k != i)
                game->rays[k > i ? EAST : WEST][i] |= bit(k);
        }
    }
}

static void lay_out(stratego *game)
{
    const sk_variant *variant = game->variant;
    game->width = variant->width;
    game->height = variant->height;
    game->squares = variant->width * variant->height;
    game->zone = variant->width * variant->ranks;
    for (int k = 0; k < TYPES; k++)
        for (int n = 0; n < variant->counts[placing_order[k]]; n++)
            game->order[game->pieces++] = placing_order[k];
    sk_bits lakes;
    variant_lakes(variant, &lakes);
    for (int i = 0; i < game->squares; i++) {
        game->board |= has(lakes, i) ? 0 : bit(i);
        game->not_first |= i % game->width != 0 ? bit(i) : 0;
        game->not_last |= i % game->width != game->width - 1 ? bit(i) : 0;
    }
    draw_lines(game);
}

static void describe(stratego *game)
{
    int longest = game->rules.max_plies;
    game->base = (sk_game){
        .ops = &ops,
        .endings = endings,
        .is = {.players = 2,
               .actions = game->squares,
               .max_length = longest ? 2 * game->pieces + 2 * longest : 0,
               .state_bytes = (int32_t)sizeof(stratego_state),
               .start_bytes = game->squares + 5,
               .observation_bytes = (int32_t)sizeof(observation) + game->squares,
               .planes = 82,
               .height = game->height,
               .width = game->width}};
}

/* A chase is followed through the ring of recent plies, so it must end within it. */
static int chases_fit(const stratego_rules *rules, char *error, size_t error_size)
{
    int by_plies = rules->max_plies && rules->max_plies <= LONGEST_CHASE;
    int by_quiet = rules->max_quiet && rules->max_quiet <= LONGEST_CHASE;
    if (!rules->more_squares || by_plies || by_quiet)
        return 1;
    snprintf(error, error_size, "rule more_squares needs max_quiet from 1 to %d", LONGEST_CHASE);
    return 0;
}

sk_game *open_stratego(const char *name, const char *rules, char *error, size_t error_size)
{
    const sk_variant *variant = variant_named(name);
    stratego *game = calloc(1, sizeof *game);
    if (!game) {
        snprintf(error, error_size, "out of memory");
        return NULL;
    }
    game->variant = variant;
    game->rules = (stratego_rules){.two_squares = 3,
                                   .more_squares = 1,
                                   .max_plies = variant->max_plies,
                                   .max_quiet = variant->max_quiet};
    /* Ply counts travel as 16-bit numbers, in observations and in start positions. */
    const rule_slot slots[] = {{"two_squares", &game->rules.two_squares, 0, 255},
                               {"more_squares", &game->rules.more_squares, 0, 1},
                               {"max_plies", &game->rules.max_plies, 0, 65535},
                               {"max_quiet", &game->rules.max_quiet, 0, 65535},
                               {NULL, NULL, 0, 0}};
    if (!read_rules(rules, slots, error, error_size)
        || !chases_fit(&game->rules, error, error_size)) {
        free(game);
        return NULL;
    }
    lay_out(game);
    describe(game);
    return &game->base;
}

int32_t sk_stratego_moves(const sk_batch *batch, int32_t row, uint8_t *pairs)
{
    const sk_game *base = sk_batch_game(batch);
    const stratego *game = as_stratego(base);
    const stratego_state *state = sk_batch_state(batch, row);
    int32_t n = 0;
    if (base->ops != &ops || state->phase != SELECTING)
        return 0;
    for (sk_bits from = state->legal; from; from &= from - 1)
        for (sk_bits to = destinations(game, state, first(from)); to; to &= to - 1, n++) {
            pairs[2 * n] = (uint8_t)first(from);
            pairs[2 * n + 1] = (uint8_t)first(to);
        }
    return n;
}
