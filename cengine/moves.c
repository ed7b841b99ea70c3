/* Stratego on a small board with a whole move as one action: `moves:nano`.
 *
 * The same game as `nano` on the same state, seen otherwise: a move is from * squares + to, a
 * placement its square, both in the acting side's frame, and the observation is a vector that tells
 * everything the side knows, the moves so far included. So it is learned without the planes, the
 * board's network and the division of a move into two actions, and must come to the same value:
 * that is what it is for.
 */
#include <string.h>

#include "games.h"
#include "observation.h"
#include "small.h"

/* The vector: whose turn it is; the number of pieces placed, one-hot; of each square what stands
 * there (own, or the enemy's: type, or UNKNOWN as type TYPES, and whether it has moved), one-hot;
 * the plies so far, the latest first: from, to and, of attacks, the attacker's type, one-hot; how
 * many pieces of each type are hidden on either side. */
enum { KINDS = TYPES + 1, ON_SQUARE = 2 * 2 * KINDS, SEES_PLAYER = 0, SEES_PLACED = 2 };

static int of_ply(const stratego *board) { return 2 * board->squares + TYPES; }

static int vector_length(const stratego *board)
{
    return SEES_PLACED + board->pieces + board->squares * ON_SQUARE
           + board->rules.max_plies * of_ply(board) + 2 * TYPES;
}

static int legal(const sk_game *game, const void *block, int32_t *actions)
{
    const stratego_state *state = block;
    int32_t from[MAX_SQUARES], to[MAX_SQUARES];
    int n = 0;
    if (state->phase == PLACING)
        return stratego_legal(game, state, actions);
    int pieces = stratego_legal(game, state, from);
    for (int i = 0; i < pieces; i++) {
        stratego_state selected = *state;
        stratego_apply(game, &selected, from[i]);
        int squares = stratego_legal(game, &selected, to);
        for (int k = 0; k < squares; k++)
            actions[n++] = from[i] * as_stratego(game)->squares + to[k];
    }
    return n;
}

static void apply(const sk_game *game, void *block, int32_t action)
{
    int squares = as_stratego(game)->squares;
    assert(in_list(game, block, action));
    if (((const stratego_state *)block)->phase == PLACING) {
        stratego_apply(game, block, action);
        return;
    }
    stratego_apply(game, block, action / squares);
    stratego_apply(game, block, action % squares);
}

static uint8_t *observe_cell(uint8_t cell, uint8_t *out)
{
    if (is_piece(cell)) {
        int kind = cell_type(cell) == UNKNOWN ? TYPES : cell_type(cell);
        out[(2 * cell_side(cell) + ((cell & CELL_MOVED) != 0)) * KINDS + kind] = 1;
    }
    return out + ON_SQUARE;
}

static uint8_t *observe_ply(const stratego *board, ply_record ply, uint8_t *out)
{
    if (ply.from != NO_SQUARE) {
        out[ply.from] = 1;
        out[board->squares + ply.to] = 1;
        if (ply.attacker != NO_ATTACK)
            out[2 * board->squares + ply.attacker] = 1;
    }
    return out + of_ply(board);
}

static void observe(const sk_game *game, const void *block, uint8_t *out)
{
    const stratego *board = as_stratego(game);
    const stratego_state *state = block;
    uint8_t packed[sizeof(observation) + MAX_SQUARES];
    observation seen;
    board->ops.observe(game, block, packed);
    memcpy(&seen, packed, sizeof seen);
    memset(out, 0, (size_t)game->is.observation_bytes);
    out[SEES_PLAYER + state->side] = 1;
    out += SEES_PLACED;
    if (state->phase == PLACING)
        out[state->placed] = 1;
    out += board->pieces;
    for (int i = 0; i < board->squares; i++)
        out = observe_cell(packed[sizeof seen + (size_t)i], out);
    for (int i = 0; i < board->rules.max_plies; i++)
        out = observe_ply(board, seen.moves[i], out);
    memcpy(out, seen.unrevealed, sizeof seen.unrevealed);
}

static const sk_ops ops = {.reset = stratego_reset,
                           .actor = stratego_actor,
                           .legal = legal,
                           .apply = apply,
                           .returns = stratego_returns,
                           .ending = stratego_ending,
                           .plies = stratego_plies,
                           .observe = observe,
                           .rules = stratego_print_rules,
                           .redeal = stratego_redeal,
                           .observe_public = stratego_observe_public,
                           .hand = stratego_hand,
                           LISTED_GAME};

/* Whether the board is so small that its moves can be listed, and all its plies shown. */
static int is_small(const stratego *board, char *error, size_t error_size)
{
    int most_moves = board->pieces * (board->width + board->height - 2);
    if (most_moves <= SK_MOST_ACTIONS && board->rules.max_plies >= 1
        && board->rules.max_plies <= SHOWN_PLIES)
        return 1;
    snprintf(error, error_size, "a board with at most %d moves, and max_plies from 1 to %d",
             SK_MOST_ACTIONS, SHOWN_PLIES);
    return 0;
}

sk_game *sk_open_moves(const char *parameter, const char *rules, char *error, size_t error_size)
{
    if (!stratego_variant_named(parameter, strlen(parameter))) {
        snprintf(error, error_size, "a variant of Stratego, as in moves:nano");
        return NULL;
    }
    sk_game *game = stratego_open(parameter, rules, error, error_size);
    if (!game)
        return NULL;
    const stratego *board = as_stratego(game);
    if (!is_small(board, error, error_size)) {
        free(game);
        return NULL;
    }
    game->ops = &ops;
    game->is = (sk_description){.players = 2,
                                .actions = board->squares * board->squares,
                                .max_length = 2 * board->pieces + board->rules.max_plies,
                                .state_bytes = game->is.state_bytes,
                                .observation_bytes = vector_length(board),
                                .planes = vector_length(board),
                                .board_height = board->height,
                                .board_width = board->width,
                                .actions_per_ply = 1,
                                .unit = 1,
                                .largest_return = INFINITY};
    stratego_describe_beliefs(board, &game->is);
    return game;
}
