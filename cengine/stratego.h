/* Stratego: board, cells, state, and the parts that its files play (README.md lists them).
 *
 * Squares inside are absolute: width * rank + file, A1 = 0. Actions and observations are in the
 * acting side's frame: for blue the board is rotated by 180 degrees.
 */
#ifndef SK_STRATEGO_H
#define SK_STRATEGO_H

#include <assert.h>

#include "bits.h"
#include "game.h"

enum { RED = 0, BLUE = 1 };

enum {
    FLAG,
    SPY,
    SCOUT,
    MINER,
    SERGEANT,
    LIEUTENANT,
    CAPTAIN,
    MAJOR,
    COLONEL,
    GENERAL,
    MARSHAL,
    BOMB,
    TYPES,
    UNKNOWN = 15
};

enum { LAKES_ROOM = 300 }; /* for the names of 100 squares */
enum { MAX_SQUARES = 100, MAX_SIDE = 10, NO_SQUARE = 255, NO_ATTACK = 255 };

/* ---- Cells: one byte a square ---- */

enum {
    EMPTY = 0,
    LAKE = 1,
    CELL_TYPE = 0x0f,
    CELL_MOVED = 0x10,    /* has moved at least once */
    CELL_REVEALED = 0x20, /* its type is known to both sides */
    CELL_BLUE = 0x40,     /* in a state: blue's; in an observation: the enemy's */
    CELL_PIECE = 0x80
};

static inline int is_piece(uint8_t cell) { return cell & CELL_PIECE; }
static inline int cell_type(uint8_t cell) { return cell & CELL_TYPE; }
static inline int cell_side(uint8_t cell) { return (cell & CELL_BLUE) != 0; }
static inline int type_moves(int type) { return type != FLAG && type != BOMB; }

/* ---- The game: what does not change ---- */

/* Along a file or a rank, the square numbers rise to the north and to the east. */
enum { NORTH, SOUTH, EAST, WEST, DIRECTIONS };

typedef struct {
    int32_t more_squares;  /* 1: the rule is in force */
    int32_t two_squares;   /* crossings of one border in consecutive turns; 0: no such rule */
    int32_t max_plies;     /* 0: no limit */
    int32_t max_no_attack; /* plies without an attack; 0: no limit */
    int32_t waived;        /* a bit for each side that the repetition rules do not bind */
    int32_t open;          /* a bit for each type that both sides know from the start of play */
} stratego_rules;

typedef struct {
    sk_game base;
    sk_ops ops;
    stratego_rules rules;
    int width, height, squares;
    int zone;                    /* squares of one side's deployment ranks */
    int pieces;                  /* of one side */
    uint8_t order[MAX_SQUARES];  /* types in the order in which they are placed */
    sk_bits board;               /* all squares but the lakes */
    sk_bits places;              /* those that are no lake of the other side's frame, either */
    sk_bits not_first, not_last; /* all squares but those of the first or last file */
    uint8_t file[MAX_SQUARES], rank[MAX_SQUARES];
    sk_bits beside[MAX_SQUARES];           /* the neighbours of each square, without lakes */
    sk_bits rays[DIRECTIONS][MAX_SQUARES]; /* from each square to the edge, lakes and all */
    sk_variant variant;
    char lakes[LAKES_ROOM]; /* of the variant, if they are not its row's */
} stratego;

/* Whether the repetition rules bind the side. */
static inline int is_bound(const stratego *game, int side)
{
    return !(game->rules.waived >> side & 1);
}

/* ---- The state ---- */

enum { PLACING, SELECTING, MOVING, FINISHED };

enum {
    ENDING_NONE,
    ENDING_FLAG,      /* a flag was taken */
    ENDING_NO_MOVE,   /* the side to move had no legal move and lost */
    ENDING_NO_PIECES, /* neither side had a piece that can move: a draw */
    ENDING_MAX_PLIES,
    ENDING_MAX_NO_ATTACK
};

/* The last piece a side moved, and how often in consecutive turns it crossed each border of the
 * line that it moves on. borders[k] lies between coordinates k and k + 1. */
typedef struct {
    uint8_t square; /* where that piece stands; NO_SQUARE: none */
    uint8_t vertical;
    uint8_t most; /* the largest of the counts */
    uint8_t borders[MAX_SIDE];
} border_crossings;

typedef struct {
    uint8_t from, to;
    uint8_t attacker; /* type, if the ply was an attack; NO_ATTACK otherwise */
} ply_record;

/* The recent plies lie in order, the latest first, in a room for RECENT_ROOM of them. When it is
 * full, those move up that may be asked for: SHOWN_PLIES are observed, a chase has up to
 * LONGEST_CHASE, and of a short game it is all of its first RECENT. */
enum {
    RECENT = 200,
    RECENT_ROOM = RECENT + 24,
    LONGEST_CHASE = RECENT,
    SHOWN_PLIES = 40,
    NO_CHASE = -1
};

/* What one side threatens without pause. */
typedef struct {
    sk_bits evaded; /* where the pieces stand that have evaded during the chase */
    int32_t begun;  /* number of plies recorded after the one that began it; NO_CHASE: none */
} chase;

typedef struct {
    sk_bits legal; /* what the side to act may choose, absolute */
    sk_bits pieces[2];
    sk_bits movers[2]; /* pieces of types that move */
    chase chases[2];
    int32_t recorded;  /* plies played since the start of this state */
    int32_t plies;     /* ply number, that of a start position included */
    int32_t no_attack; /* plies since the last attack */
    uint8_t latest;    /* where the latest ply is in `recent`, which grows downwards */
    uint8_t phase, side, selected;
    uint8_t placed; /* pieces that the side to act has placed */
    uint8_t ending;
    int8_t winner; /* RED, BLUE, or -1 */
    border_crossings crossings[2];
    uint8_t unrevealed[2][TYPES]; /* pieces on the board whose type is not public */
    uint8_t cells[MAX_SQUARES];
    ply_record recent[RECENT_ROOM]; /* all ones where there was no ply */
} stratego_state;

_Static_assert(sizeof(stratego_state) <= 1024, "a state stays within 1 KiB");

static inline const stratego *as_stratego(const sk_game *game) { return (const stratego *)game; }

/* The ply that was played `ago` plies before the latest one. */
static inline ply_record played(const stratego_state *state, int ago)
{
    assert(ago >= 0 && ago < RECENT_ROOM - state->latest && ago < state->recorded);
    return state->recent[state->latest + ago];
}

/* Between absolute squares and the frame of `side` (its own inverse). */
static inline int framed(const stratego *game, int side, int square)
{
    return side == BLUE ? game->squares - 1 - square : square;
}

/* ---- The parts ---- */

const sk_variant *stratego_variant_row(int32_t index);
/* The row of a name of this length, or NULL. */
const sk_variant *stratego_variant_named(const char *name, size_t length);
/* What the name of a row, or `NAME:LAKES`, stands for; its lakes are written to `lakes`. NULL, or
 * what is wrong. */
const char *stratego_variant_read(const char *name, sk_variant *out, char lakes[LAKES_ROOM]);
int stratego_variant_lakes(const sk_variant *variant, sk_bits *lakes);

sk_bits stratego_places(const stratego *game, int side);
sk_bits stratego_placing_squares(const stratego *game, const stratego_state *state);
void stratego_place(const stratego *game, stratego_state *state, int square);
void stratego_put_piece(stratego_state *state, int square, uint8_t cell);

sk_bits stratego_selectable(const stratego *game, const stratego_state *state);
sk_bits stratego_only_attacks(const stratego *game, const stratego_state *state);
sk_bits stratego_destinations(const stratego *game, const stratego_state *state, int from);

void stratego_begin_turn(const stratego *game, stratego_state *state);
void stratego_do_move(const stratego *game, stratego_state *state, int to);

/* Whether all that must hold of a state holds. Slow: for assertions, which only the builds for
 * sanitizers and fuzzers have. */
int stratego_is_ok(const stratego *game, const stratego_state *state);

/* ---- As a game (game.h) ---- */

void stratego_reset(const sk_game *game, void *state);
const char *stratego_start(const sk_game *game, void *state, const uint8_t *bytes);
const char *stratego_save(const sk_game *game, const void *state, uint8_t *bytes);
int stratego_actor(const sk_game *game, const void *state);
int stratego_legal(const sk_game *game, const void *state, int32_t *actions);
void stratego_apply(const sk_game *game, void *state, int32_t action);
void stratego_returns(const sk_game *game, const void *state, float *out);
int stratego_ending(const sk_game *game, const void *state);
int stratego_plies(const sk_game *game, const void *state);
/* Chooses how many squares `observe` and `legal_mask` take at a time: 8, 16, or 32 by AVX2. A board
 * must have as many. */
void stratego_set_lanes(sk_ops *ops, int lanes);
int stratego_most_lanes(int squares);
void stratego_face_up(const sk_game *game, const void *state, uint8_t *packed);
void stratego_expand(const sk_game *game, const uint8_t *packed, float *planes);
void stratego_print_rules(const sk_game *game, char *out, size_t size);
const char *stratego_redeal(const sk_game *game, void *state, philox_draws *draws);
void stratego_observe_public(const sk_game *game, const void *state, uint8_t *packed);
int stratego_hand(const sk_game *game, const void *state, int side);
/* Writes how many hands a side has, and the size of what is public, if hands are few. */
void stratego_describe_beliefs(const stratego *game, sk_description *is);

sk_game *stratego_open(const char *name, const char *rules, char *error, size_t error_size);

#endif
