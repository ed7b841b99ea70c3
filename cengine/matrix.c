/* A matrix game from a file, "matrix:FILE" (formats/matrix.md): two players choose at once, and
 * player 0 gets the number in the row of its own choice and the column of player 1's; player 1 gets
 * its negative.
 *
 * Actions: rows for player 0, columns for player 1. The choices are made one after the other, and
 * player 1 does not see the row: there are two information states. A player sees only who it is
 * (two bytes, one-hot).
 */
#include <errno.h>
#include <math.h>

#include "games.h"
#include "small.h"

enum { MOST_LINE = 8191, SEES = 2, UNCHOSEN = SK_MOST_ACTIONS };

typedef struct {
    sk_game base;
    int size[2];                                    /* rows, columns */
    float payoff[SK_MOST_ACTIONS][SK_MOST_ACTIONS]; /* to player 0 */
} matrix;

typedef struct {
    uint8_t chosen[2];
    uint8_t made;
} matrix_state;

static const matrix *as_matrix(const sk_game *game) { return (const matrix *)game; }

static void reset(const sk_game *game, void *block)
{
    *(matrix_state *)block = (matrix_state){.chosen = {UNCHOSEN, UNCHOSEN}};
}

static int actor(const sk_game *game, const void *block)
{
    const matrix_state *state = block;
    return state->made < 2 ? state->made : SK_OVER;
}

static int legal(const sk_game *game, const void *block, int32_t *actions)
{
    int player = actor(game, block), n = player == SK_OVER ? 0 : as_matrix(game)->size[player];
    for (int32_t action = 0; action < n; action++)
        actions[action] = action;
    return n;
}

static void apply(const sk_game *game, void *block, int32_t action)
{
    matrix_state *state = block;
    assert(in_list(game, block, action));
    state->chosen[state->made++] = (uint8_t)action;
}

static void returns(const sk_game *game, const void *block, float *out)
{
    const matrix_state *state = block;
    pay(out, state->made == 2 ? as_matrix(game)->payoff[state->chosen[0]][state->chosen[1]] : 0);
}

static int plies(const sk_game *game, const void *block)
{
    return ((const matrix_state *)block)->made;
}

static void observe(const sk_game *game, const void *block, uint8_t *packed)
{
    int player = actor(game, block);
    packed[player] = 1;
    packed[!player] = 0;
}

/* Player 0 may have chosen any row. */
static const char *redeal(const sk_game *game, void *block, philox_draws *draws)
{
    matrix_state *state = block;
    if (state->made == 1)
        state->chosen[0] = (uint8_t)philox_below(draws, as_matrix(game)->size[0]);
    return NULL;
}

static int history(const sk_game *game, const void *block, int32_t *actions)
{
    const matrix_state *state = block;
    for (int i = 0; i < state->made; i++)
        actions[i] = state->chosen[i];
    return state->made;
}

static int turn(const sk_game *game, const void *block)
{
    return actor(game, block) == SK_OVER ? -1 : 0;
}

/* Whether player 0 has chosen, and player 1 has not. */
static void observe_public(const sk_game *game, const void *block, uint8_t *packed)
{
    *packed = ((const matrix_state *)block)->made == 1;
}

/* The own choice, once it is made. */
static int hand(const sk_game *game, const void *block, int player)
{
    const matrix_state *state = block;
    return state->made > player ? state->chosen[player] : 0;
}

static const sk_ops ops = {SMALL_GAME, BELIEF_GAME, .turn = turn};

/* A file that is being read, and where the text about its faults goes. */
typedef struct {
    FILE *file;
    int line;
    char *error;
    size_t error_size;
} reader;

static int refuse(const reader *in, const char *what)
{
    snprintf(in->error, in->error_size, "line %d: %s", in->line, what);
    return 0;
}

/* The word from `word` to `end` as a number; returns 0 if it is none. */
static int read_payoff(const char *word, const char *end, float *out)
{
    char *stop;
    if (word + strspn(word, "+-.0123456789eE") < end) /* strtof takes words and other bases too */
        return 0;
    *out = strtof(word, &stop);
    return stop == end && isfinite(*out);
}

/* Splits a line into numbers; returns how many, or -1. */
static int read_words(const reader *in, const char *line, float *row)
{
    static const char blanks[] = " \t\r";
    int n = 0;
    const char *end;
    for (const char *word = line + strspn(line, blanks); *word; word = end + strspn(end, blanks)) {
        end = word + strcspn(word, blanks);
        if (n == SK_MOST_ACTIONS)
            return refuse(in, "more than 128 columns") - 1;
        if (!read_payoff(word, end, &row[n++])) { /* which is not shown: it may be a secret */
            snprintf(in->error, in->error_size, "line %d: word %d is no number", in->line, n);
            return -1;
        }
    }
    return n;
}

/* Adds a line of the file to the matrix, unless it is a comment; 0 if something is wrong with it.
 */
static int read_row(const reader *in, matrix *game, char *line)
{
    float row[SK_MOST_ACTIONS];
    line[strcspn(line, "#")] = 0;
    int n = read_words(in, line, row);
    if (n <= 0)
        return n == 0;
    if (game->size[0] && n != game->size[1])
        return refuse(in, "not as many numbers as in the first row");
    if (game->size[0] == SK_MOST_ACTIONS)
        return refuse(in, "more than 128 rows");
    memcpy(game->payoff[game->size[0]++], row, (size_t)n * sizeof *row);
    game->size[1] = n;
    return 1;
}

/* Reads a line without its end; returns its length, at most MOST_LINE, or -1 where the file ends.
 */
static int next_line(reader *in, char *line)
{
    int n = 0, c = 0;
    while (n < MOST_LINE && (c = getc(in->file)) != EOF && c != '\n')
        line[n++] = (char)(c ? c : '?'); /* a zero byte is no number either */
    line[n] = 0;
    in->line++;
    return n || c != EOF ? n : -1;
}

static int read_rows(reader *in, matrix *game)
{
    char line[MOST_LINE + 1];
    for (int n; (n = next_line(in, line)) >= 0;) {
        if (n == MOST_LINE)
            return refuse(in, "too long");
        if (!read_row(in, game, line))
            return 0;
    }
    if (ferror(in->file) || !game->size[0]) {
        const char *wrong = ferror(in->file) ? strerror(errno) : "there are no numbers in the file";
        snprintf(in->error, in->error_size, "%s", wrong);
        return 0;
    }
    return 1;
}

static int read_matrix(matrix *game, const char *path, char *error, size_t error_size)
{
    reader in = {.file = fopen(path, "r"), .error = error, .error_size = error_size};
    if (!in.file) {
        snprintf(error, error_size, "%s", strerror(errno));
        return 0;
    }
    int read = read_rows(&in, game);
    fclose(in.file);
    return read;
}

sk_game *sk_open_matrix(const char *parameter, const char *rules, char *error, size_t error_size)
{
    matrix *game = new_game(sizeof *game, rules, error, error_size);
    if (!game)
        return NULL;
    if (!read_matrix(game, parameter, error, error_size)) {
        free(game);
        return NULL;
    }
    int rows = game->size[0], columns = game->size[1];
    game->base = small_game(&ops, rows > columns ? rows : columns, 2, sizeof(matrix_state), SEES);
    game->base.is.hands = game->base.is.actions;
    game->base.is.public_bytes = 1;
    return &game->base;
}
