/* Monte Carlo tree search in many states at once: one evaluation a tree and round (mcts.h). */
#include "mcts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "philox.h"
#include "view.h"

static void *root_of(const sk_mcts *all, int32_t tree)
{
    return all->roots + all->stride * (size_t)tree;
}

int sk_shows_face_up(const sk_game *game) { return game->ops->face_up != NULL; }

sk_mcts *sk_mcts_open(const sk_batch *batch, int32_t size, sk_mcts_settings settings,
                      int32_t threads)
{
    const sk_game *game = sk_batch_game(batch);
    assert(size > 0 && (settings.actions == 1 || settings.actions == 2));
    assert(!settings.face_up || sk_shows_face_up(game));
    assert(!settings.whole || settings.actions == 2);
    sk_mcts *all = calloc(1, sizeof *all);
    if (!all)
        return NULL;
    all->game = game;
    all->is = settings;
    all->size = size;
    all->steps = settings.whole ? 1 : settings.actions;
    all->stride = ((size_t)game->is.state_bytes + 63) / 64 * 64;
    all->pool = sk_pool_open(threads);
    all->trees = calloc((size_t)size, sizeof *all->trees);
    all->rows = calloc((size_t)size, sizeof *all->rows);
    all->roots = aligned_alloc(64, (size_t)size * all->stride);
    all->leaves = aligned_alloc(64, (size_t)size * all->stride);
    all->tried = settings.whole ? aligned_alloc(64, (size_t)size * all->stride) : NULL;
    all->at = calloc((size_t)size, sizeof *all->at);
    if (!all->pool || !all->trees || !all->rows || !all->roots || !all->leaves || !all->at
        || (settings.whole && !all->tried)) {
        sk_mcts_close(all);
        return NULL;
    }
    for (int32_t i = 0; i < size; i++) {
        memcpy(root_of(all, i), sk_batch_state(batch, i), (size_t)game->is.state_bytes);
        all->trees[i].memory.most_bytes = INT64_MAX / 4;
        all->trees[i].waiting = NO_NODE;
        all->trees[i].finished = 1; /* until it begins */
    }
    return all;
}

void sk_mcts_close(sk_mcts *all)
{
    if (!all)
        return;
    for (int32_t i = 0; all->trees && i < all->size; i++) {
        free(all->trees[i].nodes);
        free(all->trees[i].edges);
    }
    sk_pool_close(all->pool);
    free(all->trees);
    free(all->rows);
    free(all->roots);
    free(all->leaves);
    free(all->tried);
    free(all->at);
    free(all);
}

/* ---- The root, whose moves and priors are given ---- */

/* The destinations of a piece: moves from `from` on that begin with its selection. */
static const char *begin_piece(const sk_mcts *all, int32_t number, int32_t edge,
                               const int32_t *moves, int32_t n, const float *priors)
{
    mcts_tree *tree = &all->trees[number];
    assert(edge >= 0 && edge < tree->n_edges && n > 0);
    const sk_ops *ops = all->game->ops;
    void *state = sk_mcts_leaf(all, number);
    int32_t ends[SK_MOST_ACTIONS];
    memcpy(state, root_of(all, number), (size_t)all->game->is.state_bytes);
    ops->apply(all->game, state, moves[0]);
    for (int32_t i = 0; i < n; i++) {
        ends[i] = moves[2 * i + 1];
        if (!ops->is_legal(all->game, state, ends[i]))
            return "a move that is not legal";
    }
    int32_t piece = sk_mcts_node(tree, 0, tree->nodes[0].actor, 1);
    if (piece == NO_NODE || sk_mcts_edges(tree, piece, ends, n))
        return tree->wrong;
    tree->edges[edge].child = piece;
    for (int32_t i = 0; i < n; i++)
        tree->edges[tree->nodes[piece].first + i].prior = priors[i];
    return NULL;
}

/* The root has these whole moves. */
static const char *begin_whole(const sk_mcts *all, int32_t number, const int32_t *moves, int32_t n,
                               const float *priors)
{
    mcts_tree *tree = &all->trees[number];
    int32_t legal[SK_MOST_MOVES], given[SK_MOST_MOVES];
    int known = sk_mcts_whole_moves(all, number, root_of(all, number), legal);
    if (n > SK_MOST_MOVES)
        return "a move that is there twice";
    for (int32_t i = 0; i < n; i++) {
        given[i] = moves[2 * i] * all->game->is.actions + moves[2 * i + 1];
        int at = 0;
        while (at < known && legal[at] != given[i])
            at++;
        if (at == known)
            return "a move that is not legal, or is there twice";
        legal[at] = -1;
    }
    if (sk_mcts_edges(tree, 0, given, n))
        return tree->wrong;
    for (int32_t i = 0; i < n; i++)
        tree->edges[i].prior = priors[i];
    tree->nodes[0].visits = 1;
    tree->finished = 0;
    return NULL;
}

static const char *begin_tree(const sk_mcts *all, int32_t number, const int32_t *moves, int32_t n,
                              const float *priors)
{
    mcts_tree *tree = &all->trees[number];
    const sk_ops *ops = all->game->ops;
    int per_move = all->is.actions, first = 0;
    int32_t actions[SK_MOST_ACTIONS], begins[SK_MOST_ACTIONS + 1];
    tree->n_nodes = tree->n_edges = 0;
    tree->waiting = NO_NODE;
    tree->wrong = NULL; /* of what it was before */
    tree->finished = 1; /* unless all goes well */
    int actor = ops->actor(all->game, root_of(all, number));
    if (actor < 0 || sk_mcts_node(tree, NO_NODE, actor, 0) == NO_NODE)
        return actor < 0 ? "nobody acts at the root" : tree->wrong;
    if (all->is.whole)
        return begin_whole(all, number, moves, n, priors);
    for (int32_t i = 0; i < n; i++) {
        if (i && moves[i * per_move] == moves[(i - 1) * per_move])
            continue;
        if (first == SK_MOST_ACTIONS
            || !ops->is_legal(all->game, root_of(all, number), moves[i * per_move]))
            return "a move that is not legal";
        actions[first] = moves[i * per_move];
        begins[first++] = i;
    }
    begins[first] = n;
    if (sk_mcts_edges(tree, 0, actions, first))
        return tree->wrong;
    tree->nodes[0].visits = 1;
    for (int32_t k = 0; k < first; k++) {
        int32_t from = begins[k], count = begins[k + 1] - from;
        if (per_move == 1)
            tree->edges[k].prior = priors[from];
        const char *wrong =
            count > SK_MOST_ACTIONS || (per_move == 1 && count > 1) ? "a move that is there twice"
            : per_move == 1                                         ? NULL
                            : begin_piece(all, number, k, moves + 2 * from, count, priors + from);
        if (wrong)
            return wrong;
    }
    tree->finished = 0;
    return NULL;
}

const char *sk_mcts_begin(sk_mcts *all, int32_t tree, int32_t trees, const int32_t *moves,
                          int32_t n, const float *priors)
{
    assert(tree >= 0 && trees >= 0 && tree <= all->size - trees && n > 0);
    all->n_rows = 0; /* what was asked before is asked again */
    for (int32_t i = 0; i < trees; i++) {
        const char *wrong = begin_tree(all, tree + i, moves, n, priors + (size_t)i * (size_t)n);
        if (wrong)
            return wrong;
    }
    return NULL;
}

/* ---- Rounds ---- */

static void grow_trees(void *context, int32_t begin, int32_t end)
{
    const sk_mcts *all = context;
    for (int32_t i = begin; i < end; i++)
        sk_mcts_grow(all, i);
}

typedef struct {
    sk_mcts *all;
    uint8_t *legal, *packed;
    const float *policy, *values;
} round_job;

static void view_leaves(void *context, int32_t begin, int32_t end)
{
    const round_job *job = context;
    const sk_mcts *all = job->all;
    size_t bytes = (size_t)all->game->is.observation_bytes;
    for (int32_t row = begin; row < end; row++) {
        const uint8_t *state = sk_mcts_leaf(all, all->rows[row]);
        view(all->game, state, row, NULL, job->legal, job->packed);
        if (all->is.face_up)
            all->game->ops->face_up(all->game, state, job->packed + (size_t)row * bytes);
    }
}

static const mcts_node *waiting_node(const sk_mcts *all, int32_t row)
{
    const mcts_tree *tree = &all->trees[all->rows[row]];
    return &tree->nodes[tree->waiting];
}

int32_t sk_mcts_ask(sk_mcts *all, uint8_t *legal, uint8_t *packed)
{
    sk_pool_run(all->pool, grow_trees, all, all->size, SK_TREES_AT_A_TIME);
    all->n_rows = 0;
    for (int32_t i = 0; i < all->size; i++)
        if (all->trees[i].waiting != NO_NODE)
            all->rows[all->n_rows++] = i;
    for (int32_t row = 0; all->is.whole && row < all->n_rows; row++)
        all->at[row] = row ? all->at[row - 1] + waiting_node(all, row - 1)->edges : 0;
    round_job job = {.all = all, .legal = legal, .packed = packed};
    sk_pool_run(all->pool, view_leaves, &job, all->n_rows, SK_ROWS_AT_A_TIME);
    return all->n_rows;
}

static void answer_trees(void *context, int32_t begin, int32_t end)
{
    const round_job *job = context;
    const sk_mcts *all = job->all;
    for (int32_t row = begin; row < end; row++) {
        int64_t at = all->is.whole ? all->at[row] : (int64_t)row * all->game->is.actions;
        sk_mcts_answer(all, all->rows[row], job->policy + at, job->values[row]);
    }
}

int64_t sk_mcts_moves(const sk_mcts *all, int32_t *moves)
{
    assert(all->is.whole);
    if (!all->n_rows)
        return 0;
    int32_t base = all->game->is.actions, last = all->n_rows - 1;
    for (int32_t row = 0; moves && row <= last; row++) {
        const mcts_node *node = waiting_node(all, row);
        const mcts_edge *edges = all->trees[all->rows[row]].edges + node->first;
        int32_t *out = moves + 3 * all->at[row];
        for (int i = 0; i < node->edges; i++, out += 3) {
            out[0] = row;
            out[1] = edges[i].action / base;
            out[2] = edges[i].action % base;
        }
    }
    return all->at[last] + waiting_node(all, last)->edges;
}

const char *sk_mcts_tell(sk_mcts *all, const float *policy, const float *values)
{
    round_job job = {.all = all, .policy = policy, .values = values};
    sk_pool_run(all->pool, answer_trees, &job, all->n_rows, SK_ROWS_AT_A_TIME);
    all->n_rows = 0;
    for (int32_t i = 0; i < all->size; i++)
        if (all->trees[i].wrong)
            return all->trees[i].wrong;
    return NULL;
}

/* ---- What was found ---- */

void sk_mcts_read(const sk_mcts *all, int32_t number, int32_t *visits, double *q, float *least,
                  float *most)
{
    assert(number >= 0 && number < all->size && all->trees[number].n_nodes > 0);
    const mcts_tree *tree = &all->trees[number];
    const mcts_node *root = tree->nodes;
    int32_t n = 0;
    for (int32_t e = root->first; e < root->first + root->edges; e++) {
        assert(all->steps == 1 || tree->edges[e].child != NO_NODE);
        const mcts_node *piece = &tree->nodes[tree->edges[e].child];
        int32_t from = all->steps == 1 ? e : piece->first;
        int32_t to = all->steps == 1 ? e + 1 : from + piece->edges;
        for (int32_t s = from; s < to; s++, n++) {
            int32_t child = tree->edges[s].child;
            visits[n] = child == NO_NODE ? 0 : tree->nodes[child].visits;
            q[n] = sk_mcts_expects(tree, child, root->actor);
            least[n] = sk_mcts_least(tree, child, root->actor);
            most[n] = sk_mcts_most(tree, child, root->actor);
        }
    }
}

void sk_mcts_describe(const sk_mcts *all, sk_mcts_size *out)
{
    *out = (sk_mcts_size){0};
    for (int32_t i = 0; i < all->size; i++) {
        const mcts_tree *tree = &all->trees[i];
        if (tree->n_nodes)
            out->simulations += tree->nodes[0].visits - 1;
        out->evaluations += tree->evaluations;
        out->bytes += (int64_t)sizeof(mcts_node) * tree->n_nodes;
        out->bytes += (int64_t)sizeof(mcts_edge) * tree->n_edges;
    }
}
