/* Stratego on a small board with a whole move as one action: `moves:nano`.
 *
 * The same game as `nano`, seen otherwise: a move is from * squares + to, a placement its square, both in
 * the acting side's frame, and the observation is a vector that tells everything the side knows, the
 * moves so far included. So it is learned without the planes, the board's network and the division of a
 * move into two actions, and must come to the same value: that is what it is for.
 */
#include "games.h"
#include "observation.h"
#include "small.h"

typedef struct {
    sk_game base;
    stratego board; /* the game that is played */
} moves_game;

/* The vector: whose turn it is; the number of pieces placed, one-hot; of each square what stands there (own,
 * or the enemy's: type, or UNKNOWN as type TYPES, and whether it has moved), one-hot; the plies so far, the
 * latest first: from, to and, of attacks, the attacker's type, one-hot; how many pieces of each type are
 * hidden on either side. */
enum { KINDS = TYPES + 1, ON_SQUARE = 2 * 2 * KINDS, SEES_PLAYER = 0, SEES_PLACED = 2 };

static const sk_game *board_of(const sk_game *game) { return &((const moves_game *)game)->board.base; }

static const stratego *rules_of(const sk_game *game) { return &((const moves_game *)game)->board; }

static int of_ply(const stratego *board) { return 2 * board->squares + TYPES; }

static int vector_length(const stratego *board)
{
    return SEES_PLACED + board->pieces + board->squares * ON_SQUARE
           + board->rules.max_plies * of_ply(board) + 2 * TYPES;
}

static void reset(const sk_game *game, void *state) { board_of(game)->ops->reset(board_of(game), state); }

static int actor(const sk_game *game, const void *state)
{
    return board_of(game)->ops->actor(board_of(game), state);
}

static int legal(const sk_game *game, const void *block, int32_t *actions)
{
    const sk_game *board = board_of(game);
    int32_t from[MAX_SQUARES];
    int n = 0, pieces = board->ops->legal(board, block, from);
    if (((const stratego_state *)block)->phase == PLACING) {
        memcpy(actions, from, (size_t)pieces * sizeof *from);
        return pieces;
    }
    for (int i = 0; i < pieces; i++) {
        stratego_state selected = *(const stratego_state *)block;
        board->ops->apply(board, &selected, from[i]);
        int32_t to[MAX_SQUARES];
        int squares = board->ops->legal(board, &selected, to);
        for (int k = 0; k < squares; k++)
            actions[n++] = from[i] * board->is.actions + to[k];
    }
    return n;
}

static void apply(const sk_game *game, void *block, int32_t action)
{
    const sk_game *board = board_of(game);
    if (((const stratego_state *)block)->phase == PLACING) {
        board->ops->apply(board, block, action);
        return;
    }
    board->ops->apply(board, block, action / board->is.actions);
    board->ops->apply(board, block, action % board->is.actions);
}

static void returns(const sk_game *game, const void *state, float *out)
{
    board_of(game)->ops->returns(board_of(game), state, out);
}

static int ending(const sk_game *game, const void *state)
{
    return board_of(game)->ops->ending(board_of(game), state);
}

static int plies(const sk_game *game, const void *state)
{
    return board_of(game)->ops->plies(board_of(game), state);
}

static void rules(const sk_game *game, char *out, size_t size)
{
    board_of(game)->ops->rules(board_of(game), out, size);
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
    const stratego *board = rules_of(game);
    const stratego_state *state = block;
    uint8_t packed[sizeof(observation) + MAX_SQUARES];
    observation seen;
    observe_stratego(&board->base, block, packed);
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

static const sk_ops ops = {.reset = reset,
                           .actor = actor,
                           .legal = legal,
                           .legal_mask = mask_from_list,
                           .is_legal = in_list,
                           .apply = apply,
                           .returns = returns,
                           .ending = ending,
                           .plies = plies,
                           .observe = observe,
                           .expand = expand_bytes,
                           .rules = rules};

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

sk_game *open_moves(const char *parameter, const char *rules_text, char *error, size_t error_size)
{
    if (!variant_named(parameter)) {
        snprintf(error, error_size, "a variant of Stratego, as in moves:nano");
        return NULL;
    }
    sk_game *board = open_stratego(parameter, rules_text, error, error_size);
    if (!board)
        return NULL;
    moves_game *game = is_small(as_stratego(board), error, error_size)
                           ? new_game(sizeof *game, error, error_size)
                           : NULL;
    if (game) {
        game->board = *as_stratego(board);
        int32_t squares = board->is.actions, length = vector_length(&game->board);
        game->base = (sk_game){.ops = &ops,
                               .endings = board->endings,
                               .is = {.players = 2,
                                      .actions = squares * squares,
                                      .max_length = 2 * game->board.pieces + game->board.rules.max_plies,
                                      .state_bytes = board->is.state_bytes,
                                      .observation_bytes = length,
                                      .planes = length}};
    }
    free(board);
    return game ? &game->base : NULL;
}
