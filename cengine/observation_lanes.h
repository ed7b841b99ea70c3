/* The parts of a view that have a byte a square, LANES bytes at a time. observation.c includes this
 * for each kind of processor and board. It says before what KERNEL and NAME are, and
 * NAME(reversed), the bytes from the last to the first. */

/* LANES squares of the frame from `at`; `last` is the highest such number. */
KERNEL void NAME(observe_some)(const stratego_state *state, int side, int at, int last,
                               uint8_t *out)
{
    NAME(bytes) cells;
    memcpy(&cells, state->cells + (side == BLUE ? last - at : at), LANES);
    if (side == BLUE) /* whose piece is blue turns into whose is the enemy's */
        cells = NAME(reversed)(cells ^ (cells >> 1 & CELL_BLUE));
    if (state->phase == PLACING) {
        cells &= ~(NAME(bytes))((cells & CELL_BLUE) == CELL_BLUE);
    } else {
        NAME(bytes) hidden = (NAME(bytes))((cells & (CELL_BLUE | CELL_REVEALED)) == CELL_BLUE);
        cells |= hidden & UNKNOWN;
    }
    memcpy(out + at, &cells, LANES);
}

KERNEL void NAME(observe_cells)(const stratego *game, const stratego_state *state, int side,
                                uint8_t *out)
{
    int last = game->squares - LANES;
#pragma GCC unroll 7
    for (int at = 0; at < last; at += LANES)
        NAME(observe_some)(state, side, at, last, out);
    NAME(observe_some)(state, side, last, last, out);
}

/* Both squares of each move in the side's frame. Where there was no ply all bytes are ones. */
KERNEL void NAME(observe_moves)(const stratego *game, const stratego_state *state, int side,
                                uint8_t *out)
{
    enum { S = 0xff, LAST = SHOWN_BYTES - LANES };
    static const uint8_t squares[] = {S, S, 0, S, S, 0, S, S, 0, S, S, 0, S, S, 0, S, S,
                                      0, S, S, 0, S, S, 0, S, S, 0, S, S, 0, S, S, 0, S};
    _Static_assert(sizeof squares == 2 + 32, "from each of the first three, as many as lanes");
    const uint8_t *moves = &state->recent[state->latest].from;
#pragma GCC unroll 15
    for (int at = 0; at < SHOWN_BYTES; at += LANES) {
        NAME(bytes) some, mask;
        at = at < LAST ? at : LAST;
        memcpy(&some, moves + at, LANES);
        memcpy(&mask, squares + at % 3, LANES);
        if (side == BLUE) {
            NAME(bytes) none = (NAME(bytes))(some == NO_SQUARE);
            some = ((some ^ mask) + (mask & (uint8_t)game->squares)) | none;
        }
        memcpy(out + at, &some, LANES);
    }
}

KERNEL void NAME(mask_squares)(const stratego *game, const stratego_state *state, int side,
                               uint8_t *mask)
{
    int last = game->squares - LANES;
    sk_bits legal = state->legal, framed = side == BLUE ? legal << (128 - game->squares) : legal;
#pragma GCC unroll 13
    for (int at = 0; at < last; at += LANES)
        NAME(spread)(side, (uint32_t)(framed >> (side == BLUE ? 128 - LANES - at : at)), mask + at);
    NAME(spread)(side, (uint32_t)(side == BLUE ? legal : legal >> last), mask + last);
}

WHOLE void NAME(observe)(const sk_game *base, const void *block, uint8_t *packed)
{
    const stratego *game = as_stratego(base);
    const stratego_state *state = block;
    uint8_t *moves = packed + offsetof(observation, moves), *cells = packed + sizeof(observation);
    if (state->side == RED) { /* twice, so that each is free of branches */
        observe_header(game, state, RED, packed);
        NAME(observe_moves)(game, state, RED, moves);
        NAME(observe_cells)(game, state, RED, cells);
    } else {
        observe_header(game, state, BLUE, packed);
        NAME(observe_moves)(game, state, BLUE, moves);
        NAME(observe_cells)(game, state, BLUE, cells);
    }
}

WHOLE void NAME(legal_mask)(const sk_game *base, const void *block, uint8_t *mask)
{
    const stratego_state *state = block;
    if (state->side == RED)
        NAME(mask_squares)(as_stratego(base), state, RED, mask);
    else
        NAME(mask_squares)(as_stratego(base), state, BLUE, mask);
}

#undef WHOLE
#undef KERNEL
#undef NAME
#undef LANES
