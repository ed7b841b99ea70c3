/* DeepNash's 82 planes (Perolat et al. 2022, table 4 of the supplement) from a packed observation,
 * channels last: of every square its 82 numbers. The expansion in torch, for devices that run no C,
 * is proven equal. */
#include <string.h>

#include "bytes.h"
#include "observation.h"
#include "planes.h"

enum {
    PLANE_LAKES = 0,
    PLANE_PRIVATE = 1,
    PLANE_ENEMY_PUBLIC = 13,
    PLANE_OWN_PUBLIC = 25,
    PLANE_MOVES = 37,
    PLANE_LENGTH = 77, /* and three more that are the same everywhere */
    PLANE_SELECTED = 81,
    PLANES = 82
};

/* `out` is the first square's number in the first plane that belongs to the pieces. */
static inline void put_hidden(sk_bits set, const float p[TYPES], float *out)
{
    for (; set; set &= set - 1)
        memcpy(out + lsb(set) * PLANES, p, TYPES * sizeof *p);
}

/* A one on every square of the set: in the plane that belongs to the piece there. */
static inline void put_known(sk_bits set, const uint8_t *cells, float *out)
{
    for (; set; set &= set - 1)
        out[lsb(set) * PLANES + cell_type(cells[lsb(set)])] = 1.0f;
}

typedef struct {
    sk_bits pieces, revealed, moved;
} public_sets;

/* `own` are the pieces of the side that the planes are about. */
static inline void public_planes(sk_bits own, public_sets all, const uint8_t *cells,
                                 const uint8_t unrevealed[TYPES], float *out)
{
    sk_bits hidden = own & ~all.revealed;
    marginals p = hidden_marginals(unrevealed, count(hidden & ~all.moved));
    put_hidden(hidden & all.moved, p.moved, out);
    put_hidden(hidden & ~all.moved, p.unmoved, out);
    put_known(own & all.revealed, cells, out);
}

static inline void piece_planes(const uint8_t *cells, int squares, const observation *o, float *out)
{
    public_sets all = {having(cells, squares, CELL_PIECE), having(cells, squares, CELL_REVEALED),
                       having(cells, squares, CELL_MOVED)};
    sk_bits enemy = all.pieces & having(cells, squares, CELL_BLUE), own = all.pieces & ~enemy;
    for (sk_bits lakes = having(cells, squares, LAKE) & ~all.pieces; lakes; lakes &= lakes - 1)
        out[lsb(lakes) * PLANES + PLANE_LAKES] = 1.0f;
    put_known(own, cells, out + PLANE_PRIVATE);
    if (o->phase)
        return;
    /* Types are below 12, so what has both bits is unknown. What is not is seen, or face up. */
    sk_bits unknown = having(cells, squares, 4) & having(cells, squares, 8);
    all.revealed |= enemy & ~unknown;
    public_planes(enemy, all, cells, o->unrevealed[1], out + PLANE_ENEMY_PUBLIC);
    public_planes(own, all, cells, o->unrevealed[0], out + PLANE_OWN_PUBLIC);
}

/* Eq. 7: a one where the move ended; where it began -1, or -(2 + type / 12) if it attacked. */
static inline void move_planes(const ply_record *moves, int squares, float *out)
{
    for (int i = 0; i < SHOWN_PLIES; i++, out++) {
        if (moves[i].from >= squares || moves[i].to >= squares)
            continue;
        out[moves[i].from * PLANES] = leaving(moves[i].attacker);
        out[moves[i].to * PLANES] = 1.0f;
    }
}

/* The four planes that have one number each. */
static inline void everywhere(const observation *o, int squares, float *out)
{
    float numbers[] = {ratio(o->plies, o->max_plies), ratio(o->no_attack, o->max_no_attack),
                       o->phase, o->stage};
    for (int square = 0; square < squares; square++)
        memcpy(out + square * PLANES, numbers, sizeof numbers);
}

static inline void expand(const uint8_t *packed, int squares, float *out)
{
    observation o;
    memcpy(&o, packed, sizeof o);
    memset(out, 0, (size_t)(PLANES * squares) * sizeof *out);
    piece_planes(packed + sizeof o, squares, &o, out);
    move_planes(o.moves, squares, out + PLANE_MOVES);
    everywhere(&o, squares, out + PLANE_LENGTH);
    if (o.selected < squares)
        out[o.selected * PLANES + PLANE_SELECTED] = 1.0f;
}

void sk_planes(int32_t squares, const uint8_t *packed, int64_t n, float *out)
{
    size_t bytes = sizeof(observation) + (size_t)squares;
    assert(squares >= 12 && squares <= MAX_SQUARES);
    if (squares == MAX_SQUARES) /* the usual board, with every distance a constant */
        for (int64_t i = 0; i < n; i++)
            expand(packed + (size_t)i * bytes, MAX_SQUARES, out + i * PLANES * MAX_SQUARES);
    else
        for (int64_t i = 0; i < n; i++)
            expand(packed + (size_t)i * bytes, squares, out + i * PLANES * squares);
}

void stratego_expand(const sk_game *base, const uint8_t *packed, float *out)
{
    sk_planes(as_stratego(base)->squares, packed, 1, out);
}
