#include "table.h"

#include <string.h>

#include "../batch.h"
#include "../observation.h"

static sight open_sight(const sk_description *is, size_t rows)
{
    return (sight){.actors = take_memory(rows),
                   .legal = take_memory(rows * (size_t)is->actions),
                   .packed = take_memory(rows * (size_t)is->observation_bytes),
                   .returns = take_memory(rows * (size_t)is->players * sizeof(float)),
                   .endings = take_memory(rows),
                   .plies = take_memory(rows * sizeof(int32_t))};
}

static void close_sight(sight *s)
{
    free(s->actors);
    free(s->legal);
    free(s->packed);
    free(s->returns);
    free(s->endings);
    free(s->plies);
}

/* A limit: none, a short one or any. */
static int take_limit(input *in)
{
    int kind = take8(in);
    return kind < 64 ? 0 : kind < 240 ? kind - 63 : take16(in);
}

/* The variants of Stratego come first in the list of games. */
static int32_t variants(void)
{
    int32_t n = 0;
    sk_variant row;
    while (sk_stratego_variant(n, &row))
        n++;
    return n;
}

/* They come after the variants; those that are read from files have a target of their own. */
static const char *const small_games[] = {
    "kuhn",       "leduc",      "liars_dice:2x3", "hex:4",
    "dark_hex:3", "moves:nano", "phantom_ttt",    "phantom_ttt:classical"};

static sk_game *open_small(int index)
{
    char error[100];
    sk_game *game = sk_game_open(small_games[index], "", error, sizeof error);
    MUST(game);
    return game;
}

/* Any variant of Stratego, under any rules that the input asks for. */
static sk_game *open_variant(const char *name, input *in, int *without_history)
{
    int two_squares = take8(in), more_squares = take8(in) & 1;
    int max_plies = take_limit(in), max_no_attack = take_limit(in);
    int open = take8(in) < 128 ? 0 : take16(in) % (1 << TYPES);
    char rules[100], error[100];
    snprintf(rules, sizeof rules,
             "two_squares=%d more_squares=%d max_plies=%d max_quiet=%d open=%d", two_squares,
             more_squares, max_plies, max_no_attack, open);
    sk_game *game = sk_game_open(name, rules, error, sizeof error);
    *without_history = game && !two_squares && !more_squares;
    if (!game) /* these rules do not go together: the game's own do */
        game = sk_game_open(name, "", error, sizeof error);
    MUST(game);
    return game;
}

table open_table(input *in, int32_t rows)
{
    table t = {.rows = rows};
    int32_t which = take8(in) % (variants() + (int32_t)(sizeof small_games / sizeof *small_games));
    if (which < variants())
        t.game = open_variant(sk_game_name(which), in, &t.without_history);
    else
        t.game = open_small(which - variants());
    sk_game_describe(t.game, &t.is);
    t.batch = sk_batch_open(t.game, rows, 1);
    MUST(t.batch);
    t.now = open_sight(&t.is, (size_t)rows);
    t.again = open_sight(&t.is, (size_t)rows);
    t.before = open_sight(&t.is, (size_t)rows);
    look(&t);
    return t;
}

void close_table(table *t)
{
    close_sight(&t->now);
    close_sight(&t->again);
    close_sight(&t->before);
    sk_batch_close(t->batch);
    sk_game_close(t->game);
}

static void see(table *t, sight *s, int rubbish)
{
    memset(s->legal, rubbish, (size_t)t->rows * (size_t)t->is.actions);
    memset(s->packed, rubbish, (size_t)t->rows * (size_t)t->is.observation_bytes);
    sk_batch_view(t->batch, s->actors, s->legal, s->packed);
    sk_batch_result(t->batch, s->returns, s->endings, s->plies);
}

int same_view(const table *t, const sight *a, int32_t row_a, const sight *b, int32_t row_b)
{
    size_t actions = (size_t)t->is.actions, bytes = (size_t)t->is.observation_bytes;
    size_t players = (size_t)t->is.players, i = (size_t)row_a, j = (size_t)row_b;
    return a->actors[i] == b->actors[j] && a->endings[i] == b->endings[j]
           && !memcmp(a->legal + i * actions, b->legal + j * actions, actions)
           && !memcmp(a->packed + i * bytes, b->packed + j * bytes, bytes)
           && !memcmp(a->returns + i * players, b->returns + j * players, players * sizeof(float));
}

int same_row(const table *t, const sight *a, int32_t row_a, const sight *b, int32_t row_b)
{
    return same_view(t, a, row_a, b, row_b) && a->plies[row_a] == b->plies[row_b];
}

static int is_board(const table *t) { return t->is.height > 0; }

static int count_legal(const table *t, int32_t row)
{
    int n = 0;
    for (int32_t a = 0; a < t->is.actions; a++) {
        uint8_t legal = t->now.legal[row * t->is.actions + a];
        MUST(legal <= 1);
        n += legal;
    }
    return n;
}

/* In play the counts of hidden pieces are those of the cells, and a hidden enemy's type is not
 * shown. */
static void check_packed(const table *t, const uint8_t *packed)
{
    const uint8_t *cells = packed + sizeof(observation);
    int own[TYPES] = {0}, enemies = 0;
    observation o;
    memcpy(&o, packed, sizeof o);
    if (o.phase)
        return;
    for (int i = 0; i < t->is.height * t->is.width; i++) {
        if (!is_piece(cells[i]) || cells[i] & CELL_REVEALED)
            continue;
        if (cell_side(cells[i])) {
            MUST(cell_type(cells[i]) == UNKNOWN);
            enemies++;
        } else {
            MUST(cell_type(cells[i]) < TYPES);
            own[cell_type(cells[i])]++;
        }
    }
    for (int type = 0; type < TYPES; type++) {
        MUST(own[type] == o.unrevealed[0][type]);
        enemies -= o.unrevealed[1][type];
    }
    MUST(enemies == 0);
}

static void check_row(const table *t, int32_t row)
{
    if (is_board(t))
        MUST(stratego_is_ok(as_stratego(t->game), sk_batch_state(t->batch, row)));
    int actor = t->now.actors[row], ending = t->now.endings[row];
    const float *returns = t->now.returns + row * t->is.players;
    float sum = 0;
    for (int player = 0; player < t->is.players; player++)
        sum += returns[player];
    MUST((actor >= 0 && actor < t->is.players) || actor == SK_OVER
         || (actor == SK_CHANCE && !is_board(t)));
    MUST((actor == SK_OVER) == (count_legal(t, row) == 0));
    MUST((actor == SK_OVER) == (ending != 0));
    MUST(sk_game_ending(t->game, ending));
    MUST(t->now.plies[row] >= 0);
    MUST(sum == 0);
    if (is_board(t) && actor >= 0)
        check_packed(t, t->now.packed + row * t->is.observation_bytes);
    MUST(returns[0] == 0 || (ending && (!is_board(t) || returns[0] * returns[0] == 1)));
}

void look(table *t)
{
    see(t, &t->again, 0x55);
    see(t, &t->now, 0xaa); /* a byte that nobody wrote differs */
    for (int32_t row = 0; row < t->rows; row++) {
        MUST(same_row(t, &t->now, row, &t->again, row));
        check_row(t, row);
    }
}

static int legal_in(const table *t, const sight *s, int32_t row, int32_t action)
{
    return action >= 0 && action < t->is.actions && s->legal[row * t->is.actions + action];
}

int is_legal(const table *t, int32_t row, int32_t action)
{
    return legal_in(t, &t->now, row, action);
}

int32_t take_action(const table *t, int32_t row, input *in)
{
    enum { ANY = 250 };
    int b = take8(in), n = count_legal(t, row);
    if (b >= ANY || n == 0)
        return b & 1 ? (int32_t)take32(in) : (int8_t)take8(in);
    int index = b % n;
    for (int32_t a = 0;; a++)
        if (is_legal(t, row, a) && index-- == 0)
            return a;
}

void step(table *t, const int32_t *actions)
{
    int32_t first = -1;
    for (int32_t row = t->rows - 1; row >= 0; row--)
        if (actions[row] != -1 && !is_legal(t, row, actions[row]))
            first = row;
    MUST(sk_batch_apply(t->batch, actions) == first);
    sight before = t->now;
    t->now = t->before;
    t->before = before;
    look(t);
    for (int32_t row = 0; row < t->rows; row++) {
        int same = same_row(t, &t->now, row, &t->before, row);
        int legal = legal_in(t, &t->before, row, actions[row]);
        /* What chance did may be hidden from whoever acts next. */
        MUST(t->before.actors[row] == SK_CHANCE ? legal || same : same != legal);
    }
}
