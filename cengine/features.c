/* What small networks read of a packed observation, channels last: fewer numbers than the 82
 * planes, and among them what an attack would bring. The features in torch, for devices that run no
 * C, are proven equal. */
#include <string.h>

#include "bytes.h"
#include "combat.h"
#include "feature_sizes.h"
#include "observation.h"
#include "planes.h"

enum {
    LATEST = 8, /* plies that have a feature each */
    FEATURE_LAKE = 0,
    FEATURE_OWN = 1,
    FEATURE_OWN_REVEALED = FEATURE_OWN + TYPES,
    FEATURE_OWN_MOVED,
    FEATURE_ENEMY,
    FEATURE_ENEMY_REVEALED = FEATURE_ENEMY + TYPES,
    FEATURE_ENEMY_MOVED,
    FEATURE_PLIES,
    FEATURE_RECENT_OWN = FEATURE_PLIES + LATEST,
    FEATURE_RECENT_ENEMY,
    FEATURE_WINS, /* by neighbour: N S E W */
    FEATURE_LOSES = FEATURE_WINS + DIRECTIONS,
    FEATURE_DANGER = FEATURE_LOSES + DIRECTIONS,
    FEATURE_END
};
_Static_assert((int)FEATURE_END == FEATURES && COUNTS == 4 * TYPES + 3,
               "networks have as many weights");

/* An own piece and an enemy's: the probabilities that the own one's attack wins and loses, and that
 * the enemy's attack wins. */
typedef struct {
    float wins, loses, danger;
} meeting;

typedef struct {
    const uint8_t *cells;
    int width, height;
    meeting
        hidden[2][TYPES]; /* a hidden piece of the enemy, if it has moved [1] or not, by own type */
    marginals enemy;
} board;

static inline meeting known_meeting(int own, int enemy)
{
    meeting m = {0, 0, 0};
    if (type_moves(own)) {
        outcome o = fight(own, enemy);
        m.wins = o == ATTACKER_WINS;
        m.loses = o == DEFENDER_WINS;
    }
    if (type_moves(enemy))
        m.danger = fight(enemy, own) == ATTACKER_WINS;
    return m;
}

static void hidden_meetings(const float p[TYPES], meeting out[TYPES])
{
    for (int own = 0; own < TYPES; own++) {
        meeting sum = {0, 0, 0};
        for (int enemy = 0; enemy < TYPES; enemy++) {
            if (p[enemy] == 0.0f)
                continue;
            meeting m = known_meeting(own, enemy);
            sum.wins += p[enemy] * m.wins;
            sum.loses += p[enemy] * m.loses;
            sum.danger += p[enemy] * m.danger;
        }
        out[own] = sum;
    }
}

/* Of an enemy's piece: neither revealed nor face up. */
static inline int is_unknown(uint8_t cell)
{
    return !(cell & CELL_REVEALED) && cell_type(cell) >= TYPES;
}

/* What an own piece of this type meets on a square. */
static inline meeting met(const board *b, int square, int own)
{
    uint8_t cell = b->cells[square];
    if ((cell & (CELL_PIECE | CELL_BLUE)) != (CELL_PIECE | CELL_BLUE))
        return (meeting){0, 0, 0};
    if (is_unknown(cell))
        return b->hidden[(cell & CELL_MOVED) != 0][own];
    return cell_type(cell) < TYPES ? known_meeting(own, cell_type(cell)) : (meeting){0, 0, 0};
}

/* The neighbours of a square, N S E W; -1: none. */
static inline void neighbours(const board *b, int square, int out[DIRECTIONS])
{
    int rank = square / b->width, file = square % b->width;
    out[NORTH] = rank + 1 < b->height ? square + b->width : -1;
    out[SOUTH] = rank ? square - b->width : -1;
    out[EAST] = file + 1 < b->width ? square + 1 : -1;
    out[WEST] = file ? square - 1 : -1;
}

static inline float danger_at(const board *b, int square, int own)
{
    int beside[DIRECTIONS];
    float worst = 0;
    neighbours(b, square, beside);
    for (int d = 0; d < DIRECTIONS; d++) {
        float danger = beside[d] < 0 ? 0.0f : met(b, beside[d], own).danger;
        worst = danger > worst ? danger : worst;
    }
    return worst;
}

static board open_board(int width, int height, const observation *o, const uint8_t *cells)
{
    board b = {.cells = cells, .width = width, .height = height};
    int squares = width * height, unmoved = 0;
    for (int s = 0; s < squares; s++)
        unmoved += (cells[s] & (CELL_PIECE | CELL_BLUE | CELL_REVEALED | CELL_MOVED))
                   == (CELL_PIECE | CELL_BLUE);
    b.enemy = hidden_marginals(o->unrevealed[1], unmoved);
    hidden_meetings(b.enemy.unmoved, b.hidden[0]);
    hidden_meetings(b.enemy.moved, b.hidden[1]);
    return b;
}

static void own_piece(const board *b, int square, float *out)
{
    uint8_t cell = b->cells[square];
    int type = cell_type(cell), beside[DIRECTIONS];
    if (type >= TYPES)
        return;
    out[FEATURE_OWN + type] = 1;
    out[FEATURE_OWN_REVEALED] = (cell & CELL_REVEALED) != 0;
    out[FEATURE_OWN_MOVED] = (cell & CELL_MOVED) != 0;
    neighbours(b, square, beside);
    for (int d = 0; d < DIRECTIONS; d++) {
        if (beside[d] < 0)
            continue;
        meeting m = met(b, beside[d], type);
        out[FEATURE_WINS + d] = m.wins;
        out[FEATURE_LOSES + d] = m.loses;
        out[FEATURE_DANGER] = m.danger > out[FEATURE_DANGER] ? m.danger : out[FEATURE_DANGER];
    }
}

static void enemy_piece(const board *b, int square, float *out)
{
    uint8_t cell = b->cells[square];
    if (is_unknown(cell))
        memcpy(out + FEATURE_ENEMY, cell & CELL_MOVED ? b->enemy.moved : b->enemy.unmoved,
               TYPES * sizeof *out);
    else if (cell_type(cell) < TYPES)
        out[FEATURE_ENEMY + cell_type(cell)] = 1;
    out[FEATURE_ENEMY_REVEALED] = (cell & CELL_REVEALED) != 0;
    out[FEATURE_ENEMY_MOVED] = (cell & CELL_MOVED) != 0;
}

/* The latest plies, and how long ago which side came to a square or attacked there. */
static void plies(const ply_record *moves, int squares, float *out)
{
    for (int i = SHOWN_PLIES - 1; i >= 0; i--) {
        if (moves[i].from >= squares || moves[i].to >= squares)
            continue;
        float *from = out + moves[i].from * FEATURES, *to = out + moves[i].to * FEATURES;
        from[FEATURE_RECENT_OWN] = from[FEATURE_RECENT_ENEMY] = 0;
        to[FEATURE_RECENT_OWN] = to[FEATURE_RECENT_ENEMY] = 0;
        to[i % 2 ? FEATURE_RECENT_OWN : FEATURE_RECENT_ENEMY] =
            (float)(SHOWN_PLIES - i) / SHOWN_PLIES;
        if (i < LATEST) {
            from[FEATURE_PLIES + i] = leaving(moves[i].attacker);
            to[FEATURE_PLIES + i] = 1;
        }
    }
}

static void counts(const observation *o, const uint8_t *cells, int squares, float *out)
{
    int on_board[2][TYPES] = {{0}};
    for (int s = 0; s < squares; s++) {
        int enemy = cell_side(cells[s]), type = cell_type(cells[s]);
        if (is_piece(cells[s]) && type < TYPES && (!enemy || cells[s] & CELL_REVEALED))
            on_board[enemy][type]++;
    }
    for (int t = 0; t < TYPES; t++) {
        out[t] = (float)on_board[0][t] / 8;
        out[TYPES + t] = (float)(on_board[1][t] + o->unrevealed[1][t]) / 8;
        out[2 * TYPES + t] = (float)o->unrevealed[0][t] / 8;
        out[3 * TYPES + t] = (float)o->unrevealed[1][t] / 8;
    }
    out[4 * TYPES] = ratio(o->plies, o->max_plies);
    out[4 * TYPES + 1] = ratio(o->no_attack, o->max_no_attack);
    out[4 * TYPES + 2] = o->phase;
}

void sk_features(int32_t width, int32_t height, const uint8_t *packed, int64_t n, float *out,
                 float *out_counts)
{
    int squares = width * height;
    assert(squares >= 12 && squares <= MAX_SQUARES);
    for (int64_t i = 0; i < n; i++, out += FEATURES * squares, out_counts += COUNTS) {
        const uint8_t *row = packed + (size_t)i * (sizeof(observation) + (size_t)squares);
        observation o;
        memcpy(&o, row, sizeof o);
        board b = open_board(width, height, &o, row + sizeof o);
        memset(out, 0, (size_t)(FEATURES * squares) * sizeof *out);
        for (int s = 0; s < squares; s++) {
            if (!is_piece(b.cells[s]))
                out[s * FEATURES + FEATURE_LAKE] = b.cells[s] == LAKE;
            else if (cell_side(b.cells[s]))
                enemy_piece(&b, s, out + s * FEATURES);
            else
                own_piece(&b, s, out + s * FEATURES);
        }
        plies(o.moves, squares, out);
        counts(&o, b.cells, squares, out_counts);
    }
}

/* An own piece that can only attack: what the best attack on a neighbour brings. */
static void cornered_piece(const board *b, int square, float *out)
{
    int type = cell_type(b->cells[square]), beside[DIRECTIONS], attacks = 0;
    float wins = 0, loses = 1;
    if (!is_piece(b->cells[square]) || cell_side(b->cells[square]) || type >= TYPES)
        return; /* such observations nobody makes */
    neighbours(b, square, beside);
    for (int d = 0; d < DIRECTIONS; d++) {
        uint8_t cell = beside[d] < 0 ? LAKE : b->cells[beside[d]];
        if (!is_piece(cell) || !cell_side(cell))
            continue;
        meeting m = met(b, beside[d], type);
        wins = m.wins > wins ? m.wins : wins;
        loses = m.loses < loses ? m.loses : loses;
        attacks++;
    }
    out[0] = wins;
    out[1] = attacks ? loses : 0.0f;
}

/* What a piece of this type meets on a square, and the danger to it there. */
static inline void outcomes_at(const board *b, int square, int type, float *out)
{
    meeting m = met(b, square, type);
    out[0] = m.wins;
    out[1] = m.loses;
    out[2] = danger_at(b, square, type);
}

void sk_outcomes(int32_t width, int32_t height, const uint8_t *packed, int64_t n, float *out)
{
    int squares = width * height;
    for (int64_t i = 0; i < n; i++, out += OUTCOMES * squares) {
        const uint8_t *row = packed + (size_t)i * (sizeof(observation) + (size_t)squares);
        observation o;
        memcpy(&o, row, sizeof o);
        memset(out, 0, (size_t)(OUTCOMES * squares) * sizeof *out);
        board b = open_board(width, height, &o, row + sizeof o);
        int type = o.selected < squares ? cell_type(b.cells[o.selected]) : TYPES;
        for (int s = 0; s < squares; s++) {
            if (o.only_attacks[s / 8] >> s % 8 & 1)
                cornered_piece(&b, s, out + s * OUTCOMES);
            if (type < TYPES)
                outcomes_at(&b, s, type, out + s * OUTCOMES);
        }
    }
}

void sk_move_outcomes(int32_t width, int32_t height, const uint8_t *packed, const int32_t *moves,
                      int64_t k, float *out)
{
    int squares = width * height;
    int64_t opened = -1;
    board b = {0};
    for (int64_t i = 0; i < k; i++, moves += 3, out += OUTCOMES) {
        if (moves[0] != opened) {
            opened = moves[0];
            const uint8_t *row = packed + (size_t)opened * (sizeof(observation) + (size_t)squares);
            observation o;
            memcpy(&o, row, sizeof o);
            b = open_board(width, height, &o, row + sizeof o);
        }
        int type = cell_type(b.cells[moves[1]]);
        memset(out, 0, OUTCOMES * sizeof *out);
        if (type < TYPES)
            outcomes_at(&b, moves[2], type, out);
    }
}
