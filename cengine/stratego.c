/* Stratego as a game (game.h). */
#include "stratego.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "observation.h"
#include "rules_text.h"
#include "squares.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define BIT_DEPOSIT 1
#include <immintrin.h>
#endif

void stratego_reset(const sk_game *base, void *block)
{
    const stratego *game = as_stratego(base);
    stratego_state *state = block;
    memset(state, 0, sizeof *state);
    for (int i = 0; i < game->squares; i++)
        state->cells[i] = has(game->board, i) ? EMPTY : LAKE;
    memset(state->recent, 0xff, sizeof state->recent); /* NO_SQUARE and NO_ATTACK are all ones */
    state->latest = RECENT_ROOM - SHOWN_PLIES;
    state->crossings[RED].square = state->crossings[BLUE].square = NO_SQUARE;
    state->chases[RED].begun = state->chases[BLUE].begun = NO_CHASE;
    state->selected = NO_SQUARE;
    state->winner = -1;
    state->phase = PLACING;
    state->legal = stratego_placing_squares(game, state);
}

static const char *start(const sk_game *game, void *state, const uint8_t *bytes)
{
    stratego_reset(game, state);
    assert(stratego_is_ok(as_stratego(game), state));
    return stratego_start(game, state, bytes);
}

int stratego_actor(const sk_game *game, const void *block)
{
    const stratego_state *state = block;
    return state->phase == FINISHED ? SK_OVER : state->side;
}

int stratego_legal(const sk_game *base, const void *block, int32_t *actions)
{
    const stratego *game = as_stratego(base);
    const stratego_state *state = block;
    int n = count(state->legal), at = 0;
    for (sk_bits set = state->legal; set; set &= set - 1, at++) {
        int square = lsb(set);
        /* Blue's board is rotated: what is lowest here comes last there. */
        actions[state->side == BLUE ? n - 1 - at : at] = framed(game, state->side, square);
    }
    return n;
}

static int32_t pick(const sk_game *base, const void *block, uint32_t random)
{
    const stratego_state *state = block;
    return framed(as_stratego(base), state->side, random_bit(state->legal, random));
}

#ifdef BIT_DEPOSIT
/* The same square, by instructions that find it at once. */
__attribute__((target("bmi2,popcnt"))) static int32_t pick_at_once(const sk_game *base,
                                                                   const void *block,
                                                                   uint32_t random)
{
    const stratego_state *state = block;
    uint64_t low = low_half(state->legal), high = high_half(state->legal);
    int below = __builtin_popcountll(low), all = below + __builtin_popcountll(high);
    int n = (int)((uint64_t)random * (uint64_t)all >> 32), upper = n >= below;
    uint64_t found = _pdep_u64((uint64_t)1 << (upper ? n - below : n), upper ? high : low);
    int square = 64 * upper + __builtin_ctzll(found);
    return framed(as_stratego(base), state->side, square);
}
#endif

static int is_legal(const sk_game *base, const void *block, int32_t action)
{
    const stratego *game = as_stratego(base);
    const stratego_state *state = block;
    return action >= 0 && action < game->squares
           && has(state->legal, framed(game, state->side, action));
}

/* Hot, and called by the table: moves.c, which calls it by name, must not change how it is
 * compiled. */
__attribute__((noinline)) void stratego_apply(const sk_game *base, void *block, int32_t action)
{
    const stratego *game = as_stratego(base);
    stratego_state *state = block;
    int square = framed(game, state->side, action);
    assert(is_legal(base, block, action));
    switch (state->phase) {
    case PLACING: stratego_place(game, state, square); break;
    case SELECTING:
        state->selected = (uint8_t)square;
        state->legal = stratego_destinations(game, state, square);
        state->phase = MOVING;
        break;
    case MOVING: stratego_do_move(game, state, square); break;
    default: break;
    }
    assert(stratego_is_ok(game, state));
}

/* A side may deploy by a setup that it was given. */
static int given(const sk_game *game, const void *block)
{
    return ((const stratego_state *)block)->phase == PLACING;
}

/* A piece or its destination, of either side. */
static void kinds(const sk_game *game, const void *block, int n, uint8_t *out)
{
    const stratego_state *states = block;
    for (int i = 0; i < n; i++)
        out[i] = (uint8_t)(2 * (states[i].phase == MOVING) + states[i].side);
}

void stratego_returns(const sk_game *game, const void *block, float *out)
{
    const stratego_state *state = block;
    for (int side = RED; side <= BLUE; side++)
        out[side] = state->winner < 0 ? 0.0f : state->winner == side ? 1.0f : -1.0f;
}

int stratego_ending(const sk_game *game, const void *block)
{
    return ((const stratego_state *)block)->ending;
}

int stratego_plies(const sk_game *game, const void *block)
{
    return ((const stratego_state *)block)->plies;
}

void stratego_print_rules(const sk_game *base, char *out, size_t size)
{
    const stratego_rules *rules = &as_stratego(base)->rules;
    int n =
        snprintf(out, size, "two_squares=%d more_squares=%d max_plies=%d max_quiet=%d",
                 rules->two_squares, rules->more_squares, rules->max_plies, rules->max_no_attack);
    /* Files without these stay as they always were. */
    if (rules->open && n > 0 && (size_t)n < size)
        n += snprintf(out + n, size - (size_t)n, " open=%d", rules->open);
    if (rules->waived && n > 0 && (size_t)n < size)
        snprintf(out + n, size - (size_t)n, " waived=%d", rules->waived);
}

/* Both deployments. */
static int turn(const sk_game *game, const void *block)
{
    return ((const stratego_state *)block)->phase == PLACING ? 0 : -1;
}

/* Views are added by what the processor can (observation.c). */
static const sk_ops any_processor = {.reset = stratego_reset,
                                     .start = start,
                                     .save = stratego_save,
                                     .actor = stratego_actor,
                                     .legal = stratego_legal,
                                     .pick = pick,
                                     .is_legal = is_legal,
                                     .given = given,
                                     .kinds = kinds,
                                     .apply = stratego_apply,
                                     .returns = stratego_returns,
                                     .ending = stratego_ending,
                                     .plies = stratego_plies,
                                     .face_up = stratego_face_up,
                                     .expand = stratego_expand,
                                     .rules = stratego_print_rules,
                                     .redeal = stratego_redeal,
                                     .turn = turn,
                                     .observe_public = stratego_observe_public,
                                     .hand = stratego_hand};

static const char *const endings[] = {
    [ENDING_NONE] = "",
    [ENDING_FLAG] = "flag_captured",
    [ENDING_NO_MOVE] = "no_legal_move",
    [ENDING_NO_PIECES] = "no_movable_pieces",
    [ENDING_MAX_PLIES] = "max_plies",
    [ENDING_MAX_NO_ATTACK] = "max_quiet",
    NULL,
};

/* Flag, bomb, then down the ranks. */
static const uint8_t placing_order[TYPES] = {FLAG,    BOMB,       MARSHAL,  GENERAL, COLONEL, MAJOR,
                                             CAPTAIN, LIEUTENANT, SERGEANT, MINER,   SCOUT,   SPY};

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
    const sk_variant *variant = &game->variant;
    game->width = variant->width;
    game->height = variant->height;
    game->squares = variant->width * variant->height;
    game->zone = variant->width * variant->ranks;
    for (int k = 0; k < TYPES; k++)
        for (int n = 0; n < variant->counts[placing_order[k]]; n++)
            game->order[game->pieces++] = placing_order[k];
    sk_bits lakes;
    stratego_variant_lakes(variant, &lakes);
    for (int i = 0; i < game->squares; i++) {
        game->board |= has(lakes, i) ? 0 : bit(i);
        int turned = has(lakes, game->squares - 1 - i);
        game->places |= has(lakes, i) || turned ? 0 : bit(i);
        game->not_first |= i % game->width != 0 ? bit(i) : 0;
        game->not_last |= i % game->width != game->width - 1 ? bit(i) : 0;
    }
    draw_lines(game);
}

static void describe(stratego *game)
{
    int longest = game->rules.max_plies;
    game->ops = any_processor;
#ifdef BIT_DEPOSIT
    if (__builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt"))
        game->ops.pick = pick_at_once;
#endif
    stratego_set_lanes(&game->ops, stratego_most_lanes(game->squares));
    game->base = (sk_game){.ops = &game->ops,
                           .endings = endings,
                           .is = {.players = 2,
                                  .actions = game->squares,
                                  .max_length = longest ? 2 * game->pieces + 2 * longest : 0,
                                  .state_bytes = (int32_t)sizeof(stratego_state),
                                  .start_bytes = game->squares + 5,
                                  .observation_bytes = (int32_t)sizeof(observation) + game->squares,
                                  .planes = 82,
                                  .height = game->height,
                                  .width = game->width,
                                  .board_height = game->height,
                                  .board_width = game->width,
                                  .actions_per_ply = 2,
                                  .unit = 1,
                                  .largest_return = 1}};
    stratego_describe_beliefs(game, &game->base.is);
}

/* A chase is followed through the recent plies, so it must end within it. */
static int chases_fit(const stratego_rules *rules, char *error, size_t error_size)
{
    int by_plies = rules->max_plies && rules->max_plies <= LONGEST_CHASE;
    int by_no_attack = rules->max_no_attack && rules->max_no_attack <= LONGEST_CHASE;
    if (!rules->more_squares || by_plies || by_no_attack)
        return 1;
    snprintf(error, error_size, "rule more_squares needs max_quiet from 1 to %d", LONGEST_CHASE);
    return 0;
}

sk_game *stratego_open(const char *name, const char *rules, char *error, size_t error_size)
{
    stratego *game = calloc(1, sizeof *game);
    if (!game) {
        snprintf(error, error_size, "out of memory");
        return NULL;
    }
    const char *wrong = stratego_variant_read(name, &game->variant, game->lakes);
    if (wrong) {
        snprintf(error, error_size, "%s", wrong);
        free(game);
        return NULL;
    }
    game->rules = (stratego_rules){.two_squares = 3,
                                   .more_squares = 1,
                                   .max_plies = game->variant.max_plies,
                                   .max_no_attack = game->variant.max_no_attack};
    /* Ply counts travel as 16-bit numbers, in observations and in start positions. */
    const rule_slot slots[] = {{"two_squares", &game->rules.two_squares, 0, 255},
                               {"more_squares", &game->rules.more_squares, 0, 1},
                               {"max_plies", &game->rules.max_plies, 0, 65535},
                               {"max_quiet", &game->rules.max_no_attack, 0, 65535},
                               {"waived", &game->rules.waived, 0, (1 << RED) | (1 << BLUE)},
                               {"open", &game->rules.open, 0, (1 << TYPES) - 1},
                               {NULL, NULL, 0, 0}};
    if (!sk_read_rules(rules, slots, error, error_size)
        || !chases_fit(&game->rules, error, error_size)) {
        free(game);
        return NULL;
    }
    lay_out(game);
    describe(game);
    return &game->base;
}
