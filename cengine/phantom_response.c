/* Best responses in phantom games of at most nine cells, 3 x 3 being the largest.
 *
 * What a player sees is a *view*: which cells hold its own stones, and which ones it knows to be
 * the enemy's. A view's number has a digit a cell in base 3: 1 for an own stone, 2 for one of the
 * enemy's. Policies here are functions of views, as those of networks are: so histories of the
 * opponent that come to one view are one, with the sum of their reach (best_response.c).
 *
 * The player who responds remembers the order of its tries. Its information sets are walked through
 * one by one, depth first. Beside each lies a belief: the views that the opponent may have there,
 * with their reach. They are known by the cells that the opponent has seen. Those where the player
 * has a stone are known stones, the others the opponent's own. A view that the opponent's policy
 * never comes to stays, with reach 0, so every information set of the game is counted.
 *
 * What the player chooses is kept as a *plan*: the cell that it tries, the plan after it found the
 * cell empty, and the plan after it found it taken, one after the other. A plan has room for what
 * it may come to, so those two lie where the number of cells left says.
 */
#include "phantom.h"
#include "room.h"
#include "threads.h"

enum { MOST = 9, SETS = 1 << MOST, WORDS = SETS / 64 }; /* of cells, of their sets */
/* Tries of the player before the information sets that threads share out. */
enum { PREFIX = 3 };

typedef struct {
    uint64_t has[WORDS]; /* a bit for each set of cells: whether the opponent may have seen it */
    double reach[SETS];  /* where it may; the others say nothing */
} belief;

typedef struct {
    double best, value;
    int64_t infosets;
} worth;

typedef struct {
    int player, own, known; /* the player's stones, and those of the enemy's that it knows of */
    belief of;
    worth is;
    uint8_t plan[1 << (MOST - PREFIX)];
} piece; /* an information set from which a thread walks to the ends */

struct sk_phantom_response {
    const phantom *game;
    const double *policy[2]; /* [views][cells] */
    int all;                 /* the set of all cells */
    uint16_t number[SETS];   /* of a view whose own stones they are */
    uint8_t won[2][SETS];    /* has the player with these stones won? */
    uint64_t with[MOST][WORDS];
    sk_pool *pool;
    piece *pieces;
    int64_t n_pieces, room_pieces, done;
    memory memory;
};

typedef struct {
    sk_phantom_response *all;
    int player;
    int lists;    /* pieces are listed */
    int64_t next; /* the piece that comes next, of those that are done; -1: walks to the end */
} walk;

static void add(belief *to, int seen, double reach)
{
    uint64_t bit = (uint64_t)1 << seen % 64;
    to->reach[seen] = to->has[seen / 64] & bit ? to->reach[seen] + reach : reach;
    to->has[seen / 64] |= bit;
}

static int is_empty(const uint64_t has[WORDS])
{
    uint64_t any = 0;
    for (int i = 0; i < WORDS; i++)
        any |= has[i];
    return !any;
}

/* ---- The opponent's turn ---- */

/* The opponent, who has seen these cells and has not won, plays on with this reach against a player
 * with the stones `own`. Tries that leave the turn to the opponent go to `again`, those that pass
 * it to `out`. Returns what the player gets where the game ends. */
static double try_all(const walk *w, int own, int seen, double reach, belief *again, belief *out)
{
    const sk_phantom_response *r = w->all;
    const uint8_t *wins = r->won[!w->player];
    int view = r->number[seen & ~own] + 2 * r->number[seen & own];
    const double *row = r->policy[!w->player] + (size_t)view * (size_t)r->game->cells;
    double ends = 0;
    for (int left = r->all & ~seen; left; left &= left - 1) {
        int cell = __builtin_ctz((unsigned)left), after = seen | 1 << cell;
        if (own >> cell & 1)
            add(again, after, reach * row[cell]);
        else if (wins[after & ~own])
            ends -= reach * row[cell];
        else if ((after | own) != r->all)
            add(out, after, reach * row[cell]);
    }
    return ends;
}

/* All views `has` of a belief play on; those where all cells are taken are over. */
static double turn(const walk *w, int own, const uint64_t has[WORDS], const double *reach,
                   belief *out)
{
    const sk_phantom_response *r = w->all;
    belief waiting; /* by the classical rule who tries a taken cell tries again */
    int classical = r->game->classical;
    double ends = 0;
    memset(out->has, 0, sizeof out->has);
    memcpy(waiting.has, has, sizeof waiting.has);
    if (classical)
        for (int i = 0; i < WORDS; i++)
            for (uint64_t left = has[i]; left; left &= left - 1) {
                int seen = 64 * i + __builtin_ctzll(left);
                waiting.reach[seen] = reach[seen];
            }
    const double *of = classical ? waiting.reach : reach;
    /* A try adds a cell to those seen, so what is tried again has a higher number. */
    for (int i = 0; i < WORDS; i++)
        for (uint64_t left = waiting.has[i], done = 0; left; left = waiting.has[i] & ~done) {
            int at = __builtin_ctzll(left), seen = 64 * i + at;
            done |= (uint64_t)2 * ((uint64_t)1 << at) - 1;
            if ((seen | own) != r->all)
                ends += try_all(w, own, seen, of[seen], classical ? &waiting : out, out);
        }
    return ends;
}

/* ---- The player's information sets ---- */

/* How long a plan is after so many tries. */
static size_t plan_size(const walk *w, int depth)
{
    return ((size_t)1 << (w->all->game->cells - depth)) - 1;
}

static worth decide(walk *w, int depth, int own, int known, const uint64_t has[WORDS],
                    const double *reach, uint8_t *plan);

static void add_worth(worth *to, worth more)
{
    to->best += more.best;
    to->value += more.value;
    to->infosets += more.infosets;
}

static void opponent_plays(walk *w, int depth, int own, int known, const uint64_t has[WORDS],
                           const double *reach, worth *to, uint8_t *plan)
{
    belief after;
    double ends = turn(w, own, has, reach, &after);
    add_worth(to, (worth){ends, ends, 0});
    if (!is_empty(after.has))
        add_worth(to, decide(w, depth, own, known, after.has, after.reach, plan));
}

/* What the player gets that tries a cell, and its two plans after that. */
static worth try_cell(walk *w, int depth, int own, int known, int cell, const uint64_t has[WORDS],
                      const double *reach, uint8_t *plans)
{
    const sk_phantom_response *r = w->all;
    worth is = {0};
    uint64_t taken[WORDS], empty[WORDS];
    int more = own | 1 << cell, seen = known | 1 << cell;
    uint8_t *after_taken = plans + plan_size(w, depth + 1);
    for (int i = 0; i < WORDS; i++) {
        taken[i] = has[i] & r->with[cell][i];
        empty[i] = has[i] & ~r->with[cell][i];
    }
    if (!is_empty(taken) && r->game->classical)
        add_worth(&is, decide(w, depth + 1, own, seen, taken, reach, after_taken));
    else if (!is_empty(taken))
        opponent_plays(w, depth + 1, own, seen, taken, reach, &is, after_taken);
    if (!r->won[w->player][more]) {
        if (!is_empty(empty))
            opponent_plays(w, depth + 1, more, known, empty, reach, &is, plans);
        return is;
    }
    for (int i = 0; i < WORDS; i++)
        for (uint64_t left = empty[i]; left; left &= left - 1) {
            double won = reach[64 * i + __builtin_ctzll(left)];
            add_worth(&is, (worth){won, won, 0});
        }
    return is;
}

static worth at_piece(walk *w, int own, int known, const uint64_t has[WORDS], const double *reach,
                      uint8_t *plan)
{
    sk_phantom_response *r = w->all;
    if (!w->lists) {
        memcpy(plan, r->pieces[w->next].plan, plan_size(w, PREFIX));
        return r->pieces[w->next++].is;
    }
    const char *wrong = GROW(r, pieces, r->n_pieces + 1);
    if (wrong)
        return (worth){0};
    piece *new = &r->pieces[r->n_pieces++];
    new->player = w->player;
    new->own = own;
    new->known = known;
    memcpy(new->of.has, has, sizeof new->of.has);
    memcpy(new->of.reach, reach, sizeof new->of.reach);
    return (worth){0};
}

static worth decide(walk *w, int depth, int own, int known, const uint64_t has[WORDS],
                    const double *reach, uint8_t *plan)
{
    const sk_phantom_response *r = w->all;
    if (depth == PREFIX && w->next >= 0)
        return at_piece(w, own, known, has, reach, plan);
    assert(depth < r->game->cells); /* else the board was full before */
    size_t after = 2 * plan_size(w, depth + 1);
    uint8_t plans[SETS];
    int view = r->number[own] + 2 * r->number[known];
    const double *row = r->policy[w->player] + (size_t)view * (size_t)r->game->cells;
    worth all = {-INFINITY, 0, 1};
    for (int left = r->all & ~own & ~known; left; left &= left - 1) {
        int cell = __builtin_ctz((unsigned)left);
        memset(plans, SK_NO_CELL, after);
        worth is = try_cell(w, depth, own, known, cell, has, reach, plans);
        if (is.best > all.best) {
            all.best = is.best;
            plan[0] = (uint8_t)cell;
            memcpy(plan + 1, plans, after);
        }
        all.value += row[cell] * is.value;
        all.infosets += is.infosets;
    }
    return all;
}

/* From the start of the game. */
static worth walk_all(walk *w, uint8_t plan[SETS])
{
    belief first = {.has = {1}, .reach = {1}};
    worth is = {0};
    memset(plan, SK_NO_CELL, SETS);
    if (w->player == 0)
        return decide(w, 0, 0, 0, first.has, first.reach, plan);
    opponent_plays(w, 0, 0, 0, first.has, first.reach, &is, plan);
    return is;
}

/* ---- How many histories there are ---- */

/* Those from a state on, itself among them, where neither has won: `own` stones of either player,
 * and those of the enemy's that it knows of. `counts` has what is known by now, else 0. */
static int64_t histories_from(const sk_phantom_response *r, int64_t *counts, int who,
                              const int own[2], const int known[2])
{
    int64_t at = who, n = 1;
    for (int cell = 0, power = 2; cell < r->game->cells; cell++, power *= 5)
        for (int player = 0; player < 2; player++)
            if (own[player] >> cell & 1)
                at += power * (1 + 2 * player + (known[!player] >> cell & 1));
    if (counts[at])
        return counts[at];
    for (int left = r->all & ~own[who] & ~known[who]; left; left &= left - 1) {
        int mine[2] = {own[0], own[1]}, theirs[2] = {known[0], known[1]};
        int cell = left & -left, taken = (own[!who] & cell) != 0;
        if (taken)
            theirs[who] |= cell;
        else
            mine[who] |= cell;
        int over = r->won[who][mine[who]] || (mine[0] | mine[1]) == r->all;
        int next = taken && r->game->classical ? who : !who;
        n += over ? 1 : histories_from(r, counts, next, mine, theirs);
    }
    return counts[at] = n;
}

int64_t sk_phantom_response_histories(const sk_phantom_response *r)
{
    size_t states = 2;
    for (int cell = 0; cell < r->game->cells; cell++)
        states *= 5;
    int64_t *counts = calloc(states, sizeof *counts);
    int64_t n = counts ? histories_from(r, counts, 0, (int[2]){0}, (int[2]){0}) : -1;
    free(counts);
    return n;
}

/* ---- The interface ---- */

int32_t sk_phantom_views(const sk_game *game)
{
    int32_t views = 1;
    if (!sk_is_phantom(game) || !as_phantom(game)->dark || as_phantom(game)->cells > MOST)
        return 0;
    for (int i = 0; i < as_phantom(game)->cells; i++)
        views *= 3;
    return views;
}

static void fill_tables(sk_phantom_response *r)
{
    const phantom *game = r->game;
    for (int set = 0; set <= r->all; set++) {
        phantom_state state;
        for (int player = 0; player < 2; player++) {
            memset(&state, 0, sizeof state);
            for (int cell = 0; cell < game->cells; cell++)
                state.owner[cell] = (uint8_t)(set >> cell & 1 ? player : EMPTY);
            r->won[player][set] = (uint8_t)game->won(game, &state, player);
        }
        for (int cell = 0, power = 1; cell < game->cells; cell++, power *= 3)
            if (set >> cell & 1) {
                r->number[set] = (uint16_t)(r->number[set] + power);
                r->with[cell][set / 64] |= (uint64_t)1 << set % 64;
            }
    }
}

const char *sk_phantom_response_open(const sk_game *game, const double *policy0,
                                     const double *policy1, int32_t threads,
                                     sk_phantom_response **out)
{
    assert(sk_phantom_views(game));
    sk_phantom_response *r = *out = calloc(1, sizeof *r);
    if (!r)
        return no_memory;
    r->game = as_phantom(game);
    r->policy[0] = policy0;
    r->policy[1] = policy1;
    r->all = (1 << r->game->cells) - 1;
    r->memory.most_bytes = INT64_MAX;
    fill_tables(r);
    r->pool = sk_pool_open(threads);
    uint8_t plan[SETS];
    for (int player = 0; player < 2; player++)
        walk_all(&(walk){.all = r, .player = player, .lists = 1}, plan);
    return r->pool ? r->memory.wrong : no_memory;
}

void sk_phantom_response_close(sk_phantom_response *r)
{
    if (r->pool)
        sk_pool_close(r->pool);
    free(r->pieces);
    free(r);
}

static void walk_pieces(void *context, int32_t begin, int32_t end)
{
    sk_phantom_response *r = context;
    for (piece *p = r->pieces + r->done + begin; p < r->pieces + r->done + end; p++) {
        walk w = {.all = r, .player = p->player, .next = -1};
        p->is = decide(&w, PREFIX, p->own, p->known, p->of.has, p->of.reach, p->plan);
    }
}

int64_t sk_phantom_response_pieces(const sk_phantom_response *r) { return r->n_pieces; }

int64_t sk_phantom_response_walk(sk_phantom_response *r, int32_t pieces)
{
    int64_t left = r->n_pieces - r->done;
    int32_t n = left < pieces ? (int32_t)left : pieces;
    sk_pool_run(r->pool, walk_pieces, r, n, 1);
    r->done += n;
    return r->n_pieces - r->done;
}

void sk_phantom_response_read(sk_phantom_response *r, sk_response_result out[2], uint8_t *plans)
{
    int64_t next = 0;
    assert(r->done == r->n_pieces);
    for (int player = 0; player < 2; player++) {
        walk w = {.all = r, .player = player, .next = next};
        uint8_t plan[SETS];
        worth is = walk_all(&w, plan);
        memcpy(plans + (size_t)player * plan_size(&w, 0), plan, plan_size(&w, 0));
        next = w.next;
        out[player] = (sk_response_result){.best = is.best,
                                           .value = is.value,
                                           .infosets = is.infosets,
                                           .bytes = r->room_pieces * (int64_t)sizeof(piece)};
    }
}
