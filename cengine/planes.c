/* DeepNash's 82 planes (Perolat et al. 2022, table 4 of the supplement) from a packed observation, plainly:
 * the encoder that the expansion in torch is proven equal to. */
#include <string.h>

#include "observation.h"

enum {
    PLANE_LAKES = 0,
    PLANE_PRIVATE = 1,
    PLANE_ENEMY_PUBLIC = 13,
    PLANE_OWN_PUBLIC = 25,
    PLANE_MOVES = 37,
    PLANE_LENGTH = 77,
    PLANE_QUIET = 78,
    PLANE_PHASE = 79,
    PLANE_STAGE = 80,
    PLANE_SELECTED = 81,
    PLANES = 82
};

/* One float32 division of two integers, so that every implementation agrees to the last bit. */
static float ratio(int numerator, int denominator)
{
    return denominator ? (float)numerator / (float)denominator : 0.0f;
}

static void fill(float *plane, int squares, float value)
{
    for (int i = 0; i < squares; i++)
        plane[i] = value;
}

/* The probability of each type for the hidden pieces of one side, under uniform sampling of the consistent
 * assignments: a piece that moved is no bomb and no flag, and that leaves fewer movable pieces for those
 * that did not. */
static void hidden_marginals(const uint8_t unrevealed[TYPES], int unmoved, float moved_p[TYPES],
                             float unmoved_p[TYPES])
{
    int immovable = unrevealed[FLAG] + unrevealed[BOMB], movable = 0;
    for (int t = 0; t < TYPES; t++)
        if (type_moves(t))
            movable += unrevealed[t];
    for (int t = 0; t < TYPES; t++) {
        int n = unrevealed[t];
        moved_p[t] = type_moves(t) ? ratio(n, movable) : 0.0f;
        unmoved_p[t] = type_moves(t) ? ratio(n * (unmoved - immovable), unmoved * movable)
                                     : ratio(n, unmoved);
    }
}

static void public_planes(const uint8_t *cells, int squares, int side, const uint8_t unrevealed[TYPES],
                          float *planes)
{
    float moved_p[TYPES], unmoved_p[TYPES];
    int unmoved = 0;
    for (int i = 0; i < squares; i++)
        unmoved += is_piece(cells[i]) && cell_side(cells[i]) == side
                   && !(cells[i] & (CELL_REVEALED | CELL_MOVED));
    hidden_marginals(unrevealed, unmoved, moved_p, unmoved_p);
    for (int i = 0; i < squares; i++) {
        uint8_t cell = cells[i];
        if (!is_piece(cell) || cell_side(cell) != side)
            continue;
        if (cell & CELL_REVEALED) {
            planes[cell_type(cell) * squares + i] = 1.0f;
            continue;
        }
        const float *p = cell & CELL_MOVED ? moved_p : unmoved_p;
        for (int t = 0; t < TYPES; t++)
            planes[t * squares + i] = p[t];
    }
}

static void move_plane(const ply_record *move, float *plane)
{
    if (move->from == NO_SQUARE)
        return;
    plane[move->from] = move->attacker == NO_ATTACK ? -1.0f : -((float)(24 + move->attacker) / 12.0f);
    plane[move->to] = 1.0f;
}

void expand_stratego(const sk_game *base, const uint8_t *packed, float *out)
{
    int squares = as_stratego(base)->squares;
    const uint8_t *cells = packed + sizeof(observation);
    observation o;
    memcpy(&o, packed, sizeof o);
    memset(out, 0, (size_t)(PLANES * squares) * sizeof *out);

    for (int i = 0; i < squares; i++) {
        if (cells[i] == LAKE)
            out[PLANE_LAKES * squares + i] = 1.0f;
        else if (is_piece(cells[i]) && cell_side(cells[i]) == 0)
            out[(PLANE_PRIVATE + cell_type(cells[i])) * squares + i] = 1.0f;
    }
    if (!o.phase) {
        public_planes(cells, squares, 1, o.unrevealed[1], out + PLANE_ENEMY_PUBLIC * squares);
        public_planes(cells, squares, 0, o.unrevealed[0], out + PLANE_OWN_PUBLIC * squares);
    }
    for (int i = 0; i < SHOWN_PLIES; i++)
        move_plane(&o.moves[i], out + (PLANE_MOVES + i) * squares);
    fill(out + PLANE_LENGTH * squares, squares, ratio(o.plies, o.max_plies));
    fill(out + PLANE_QUIET * squares, squares, ratio(o.quiet, o.max_quiet));
    fill(out + PLANE_PHASE * squares, squares, o.phase);
    fill(out + PLANE_STAGE * squares, squares, o.stage);
    if (o.selected != NO_SQUARE)
        out[PLANE_SELECTED * squares + o.selected] = 1.0f;
}
