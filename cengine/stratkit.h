/* The engine's C interface, as Python sees it; that of public belief states is public_beliefs.h.
 *
 * The build hands both files to cffi as they stand, so they hold declarations only. Arrays are the
 * caller's, row-major and contiguous; `n` counts rows. No function keeps a pointer it was given,
 * calls back, or allocates after an object was opened; only games of the caller's are called back.
 * A returned `const char *` that names an error is static text; NULL means success.
 */

/* ---- Games (game.h says what a game is) ---- */

typedef struct sk_game sk_game;

typedef struct {
    int32_t players;
    int32_t actions;    /* actions are 0 .. actions - 1, in the acting side's frame */
    int32_t max_length; /* most actions of one episode; 0: the rules set no bound */
    int32_t state_bytes;
    int32_t start_bytes;       /* length of a start position; an empty start is always allowed */
    int32_t observation_bytes; /* length of a packed observation */
    int32_t planes;            /* shape of the expanded observation: [planes][height][width], */
    int32_t height;            /* or a vector [planes] where height and width are 0 */
    int32_t width;
    int32_t board_height; /* of the board that people see; 0: the game has none */
    int32_t board_width;
    int32_t actions_per_ply; /* of a move in play: 2 where it is a piece and its destination */
    float unit;              /* what returns are divided by where games are compared */
    float largest_return;    /* values beyond it count as that; infinite: values are not bounded */
    int32_t hands;        /* of a player in public belief states; 0: there are none in this game */
    int32_t public_bytes; /* length of what everybody has seen */
    int32_t recombines;   /* 1: what everybody sees, who acts and the hands tell how it goes on */
} sk_description;

int32_t sk_games(void);
/* A name, or its beginning up to the colon where a parameter follows, as in "hex:3". */
const char *sk_game_name(int32_t index);

/* `rules` is "key=value key=value ..."; keys left out keep the game's defaults. NULL and a text in
 * `error` when the name or a rule is unknown. */
sk_game *sk_game_open(const char *name, const char *rules, char *error, size_t error_size);
void sk_game_close(sk_game *game);
void sk_game_describe(const sk_game *game, sk_description *out);
/* All rules in force, in the form that sk_game_open reads. */
void sk_game_rules(const sk_game *game, char *out, size_t size);
/* Name of an ending; code 0 is "" (still running); NULL past the last. */
const char *sk_game_ending(const sk_game *game, int32_t code);
/* packed [n][observation_bytes] to out [n][height][width][planes] or [n][planes]. */
void sk_expand(const sk_game *game, const uint8_t *packed, int64_t n, float *out);
/* The same for any board of so many squares, 12 to 100. */
void sk_planes(int32_t squares, const uint8_t *packed, int64_t n, float *out);
/* What small networks read of a position, to out [n][height][width][48] and counts [n][51]. */
void sk_features(int32_t width, int32_t height, const uint8_t *packed, int64_t n, float *out,
                 float *counts);
/* Of the selected piece, on each square: the probabilities that its attack there wins, that it
 * loses, and that a neighbour could take it there; to out [n][height][width][3]. */
void sk_outcomes(int32_t width, int32_t height, const uint8_t *packed, int64_t n, float *out);
/* The same of k moves [k][3], each the row of its position, from and to; to out [k][3]. */
void sk_move_outcomes(int32_t width, int32_t height, const uint8_t *packed, const int32_t *moves,
                      int64_t k, float *out);

/* How many floats a vector of this processor has, for residual blocks: 16, 8, or 1. */
int32_t sk_residual_lanes(void);
/* Residual blocks, of two convolutions of 3 x 3 with relu, of n boards [height][width][channels],
 * in place. Channels are a multiple of `lanes`, which is 1, 8 or 16, and what the processor has at
 * most. weights [2 blocks][16][in][out] as Winograd's F(2 x 2, 3 x 3) has them, biases [2
 * blocks][channels]. Returns 0 if there is no memory. */
int32_t sk_residual(int32_t height, int32_t width, int32_t channels, int32_t lanes, float *boards,
                    int64_t n, const float *weights, const float *biases, int32_t blocks);

/* The same of boards [2 blocks + 1][n], of which the first n are given: what each convolution reads
 * is kept for the gradient, and the outputs. */
int32_t sk_residual_keep(int32_t height, int32_t width, int32_t channels, int32_t lanes,
                         float *boards, int64_t n, const float *weights, const float *biases,
                         int32_t blocks);
/* From what was `kept`, which stays, and the gradients of n boards of outputs to those of the
 * inputs, in place. `turned`: weights of the filters turned by half a turn, [in] and [out]
 * exchanged. Adds to the gradients of weights [2 blocks][16][in][out] and biases. */
int32_t sk_residual_gradient(int32_t height, int32_t width, int32_t channels, int32_t lanes,
                             float *kept, int64_t n, const float *turned, int32_t blocks,
                             float *boards, float *weights, float *biases);

/* The first layer of a network `fromto`: of features [n][squares][48] and counts [n][51], as of
 * sk_features, to boards [n][squares][channels], at most 100 squares, with lanes as of sk_residual.
 * weights [48 + 51 + squares][channels]: of features, of counts, and what is added on each square.
 */
void sk_entry(int32_t squares, int32_t channels, int32_t lanes, const float *features,
              const float *counts, int64_t n, const float *weights, float *boards);
/* From such boards and their gradients to those of the weights, which are added. Returns 0 if there
 * is no memory. */
int32_t sk_entry_gradient(int32_t squares, int32_t channels, int32_t lanes, const float *features,
                          const float *counts, int64_t n, const float *boards,
                          const float *gradients, double *weights);

/* What the heads of a network `fromto` look at: n views of m boards [squares][channels], at most
 * 100 squares and 1,024 channels, with lanes as of sk_residual, with counts [51] as of sk_features,
 * and what sk_heads has `read` of them [3][channels]. Of each view: its board, what is decided (0 a
 * setup, 1 a piece, 2 its destination), the chosen piece's square, the type to be placed, outcomes
 * [squares][3] as of sk_outcomes, and its legal squares [squares]. */
typedef struct {
    int32_t squares, channels, lanes;
    int64_t m, n;
    const float *boards, *counts, *read;
    const int64_t *position, *part, *square, *to_place;
    const float *outcomes;
    const uint8_t *legal;
} sk_views;

/* How many weights they have: layer by layer in the order of heads.c's struct. */
int64_t sk_heads_floats(int32_t squares, int32_t channels);
/* Logits [n][squares], -INFINITY where illegal, and values [n]. Fills `read` [m][3][channels],
 * which is the views'. */
void sk_heads(const sk_views *views, const float *weights, float *read, float *logits,
              float *values);
/* From gradients of logits and values to those of boards [m][squares][channels], and of weights,
 * which are added. Returns 0 if there is no memory. */
int32_t sk_heads_gradient(const sk_views *views, const float *weights, const float *of_logits,
                          const float *of_values, float *of_boards, double *of_weights);

/* A network `fromto` for boards of so many squares, at most 100, with lanes as of sk_residual. If
 * it `mirrors`, it sees an own flag always on the right. Its weights [sk_fromto_floats] are copied:
 * layer by layer in the order of fromto.c's struct, each [inputs][outputs]. NULL: no memory. */
typedef struct sk_fromto sk_fromto;

enum { SK_FROMTO_CHANNELS = 1024 }; /* at most */

int64_t sk_fromto_floats(int32_t width, int32_t height, int32_t channels, int32_t blocks);
sk_fromto *sk_fromto_open(int32_t width, int32_t height, int32_t channels, int32_t blocks,
                          int32_t lanes, int32_t mirrors, const float *weights);
void sk_fromto_close(sk_fromto *net);

/* What it makes of positions, kept for the next views of one thread: of `most` of them, then of
 * others. The network outlives it. NULL: no memory. */
typedef struct sk_positions sk_positions;

sk_positions *sk_positions_open(const sk_fromto *net, int32_t most);
void sk_positions_close(sk_positions *positions);
/* Of n views, packed and with what is legal [n][squares]: policies [n][squares] and values [n], by
 * the one who acts. NULL: they are not wanted. */
void sk_fromto_evaluate(sk_positions *positions, const uint8_t *packed, const uint8_t *legal,
                        int64_t n, float *policy, float *values);

/* A multilayer perceptron with relu, of n observations, each the first bytes of `stride`. `sizes`
 * [layers + 1] are of its inputs, layers and outputs, at most SK_MLP_WIDTH; all but the inputs are
 * multiples of SK_MLP_LANES. weights: of each layer [in][out], then its biases. To outputs
 * [n][out], linear. */
enum { SK_MLP_WIDTH = 4096, SK_MLP_LANES = 16 };

void sk_mlp(const int32_t *sizes, int32_t layers, const float *weights, const uint8_t *packed,
            int64_t stride, int64_t n, float *outputs);
/* Of rows of logits, `stride` floats apart, the policy [n][actions] of what is legal [n][actions],
 * 0 elsewhere. */
void sk_legal_softmax(const float *logits, int64_t stride, const uint8_t *legal, int64_t n,
                      int32_t actions, float *policy);

/* A network `graph` for a game of Diplomacy, with lanes as of sk_residual; `shares` is 1 if it
 * tells what all powers may expect. Channels are a multiple of SK_MLP_LANES. Weights
 * [sk_graph_floats] are copied: layer by layer in the order of diplomacy/graph.h's struct, each
 * [inputs][outputs]. The game outlives it. NULL: no memory. */
typedef struct sk_graph sk_graph;
typedef struct {
    int32_t channels, blocks, shares;
} sk_graph_size;

enum { SK_GRAPH_CHANNELS = 1024, SK_GRAPH_HIDDEN = 32 }; /* channels at most; of heads */

int64_t sk_graph_floats(const sk_game *game, const sk_graph_size *size);
sk_graph *sk_graph_open(const sk_game *game, const sk_graph_size *size, int32_t lanes,
                        const float *weights);
void sk_graph_close(sk_graph *net);

/* What it makes of positions, kept for the next views of one thread: of as many as fit into so many
 * bytes, at least one, then of others. The network outlives it. NULL: no memory. */
typedef struct sk_graph_positions sk_graph_positions;

sk_graph_positions *sk_graph_positions_open(const sk_graph *net, int64_t bytes);
void sk_graph_positions_close(sk_graph_positions *positions);
/* Of n views, packed and with what is legal [n][actions]: policies [n][actions], values [n] and
 * shares [n][powers], by the one who acts. NULL: they are not wanted. */
void sk_graph_evaluate(sk_graph_positions *positions, const uint8_t *packed, const uint8_t *legal,
                       int64_t n, float *policy, float *values, float *shares);

/* Which of n < slots rows are different, each a row of `a` and one of `b`: the first of each kind,
 * in their order, and of every row its kind. Returns how many kinds there are. `table`: zeros, a
 * power of two of slots. */
int64_t sk_distinct_rows(const uint8_t *a, int32_t a_bytes, const uint8_t *b, int32_t b_bytes,
                         int64_t n, int32_t *table, int64_t slots, int64_t *first, int64_t *each);

/* ---- A game whose rules are the caller's ---- */

/* Each function gets `self` and the caller's bytes of a state. Several threads may call at once. */
typedef struct {
    /* Makes zeros the first state, and says of it what `apply` does. */
    int32_t (*reset)(void *self, uint8_t *state, uint8_t *legal, float *returns);
    /* Applies the game's action number `plies`, counted from 1. Returns who acts then: a player, -1
     * (chance) or -2 (over). Writes legal [actions], or returns [players] of a game that is over.
     * Legal is what it was: a game that is another one when it is played again may get an action
     * that is not. */
    int32_t (*apply)(void *self, uint8_t *state, int32_t action, int32_t plies, uint8_t *legal,
                     float *returns);
    /* What the acting player may know, to packed [observation_bytes], which come as zeros. */
    void (*observe)(void *self, const uint8_t *state, uint8_t *packed);
    /* The probability of each outcome that is legal, in this order; they come as all alike. */
    void (*chance)(void *self, const uint8_t *state, const uint8_t *legal, double *probabilities);
    /* Makes the state a world of the acting player (game.h); 0, or 1 if it cannot. NULL: there are
     * no worlds. */
    int32_t (*redeal)(void *self, uint8_t *state, uint64_t seed);
} sk_callbacks;

/* At most 128 actions. NULL: out of memory. */
sk_game *sk_game_called(sk_callbacks calls, void *self, int32_t players, int32_t actions,
                        int32_t max_length, int32_t state_bytes, int32_t observation_bytes);

/* ---- Batches: `size` states of one game, stepped together on `threads` threads ---- */

typedef struct sk_batch sk_batch;

sk_batch *sk_batch_open(const sk_game *game, int32_t size, int32_t threads);
void sk_batch_close(sk_batch *batch);
/* Begins `n` rows again from the start of the game. */
void sk_batch_reset(sk_batch *batch, const int32_t *rows, int32_t n);
/* Begins row `row` again: from the start of the game (size 0) or from a start position. */
const char *sk_batch_start(sk_batch *batch, int32_t row, const uint8_t *start, int64_t size);
/* Writes row `row` as a start position (start_bytes long); history is lost. */
const char *sk_batch_save(const sk_batch *batch, int32_t row, uint8_t *out);
void sk_batch_copy(sk_batch *to, int32_t to_row, const sk_batch *from, int32_t from_row);
/* Copies n rows of `from`, another batch of the same game, to the rows from `to_row` on. */
void sk_batch_gather(sk_batch *to, int32_t to_row, const sk_batch *from, const int32_t *rows,
                     int32_t n);

/* For every row what its acting side may know; each array may be NULL. Rows that are over get
 * zeros; where chance acts, legal holds its outcomes and packed zeros. actors [size]: a player, -1
 * (chance) or -2 (over); legal [size][actions]: 1 where legal; packed [size][observation_bytes]. */
void sk_batch_view(sk_batch *batch, int8_t *actors, uint8_t *legal, uint8_t *packed);
/* Writes into these observations what is hidden from their sides (sk_shows_face_up). */
void sk_batch_face_up(const sk_batch *batch, uint8_t *packed);
/* One action a row; -1 leaves a row alone. Returns -1, or the first row whose action is not legal:
 * such rows stay as they were, all others advance. */
int32_t sk_batch_apply(sk_batch *batch, const int32_t *actions);
/* Where chance acts, draws its outcome into `chosen`; other rows are left alone. */
void sk_batch_chance(const sk_batch *batch, uint64_t seed, uint32_t stream, const int64_t *games,
                     const int32_t *numbers, int32_t *chosen);
/* Makes every row of `worlds` a state that the acting player of row `row` of `batch`, another batch
 * of the same game, cannot tell from it; drawn uniformly, world by world (game.h). World i depends
 * on what that player knows, on seed, stream, game and number, and on i. NULL, or why there are
 * none (the rows of `worlds` are then undefined). */
const char *sk_batch_redeal(sk_batch *worlds, const sk_batch *batch, int32_t row, uint64_t seed,
                            uint32_t stream, int64_t game, int32_t number);
/* The actions that led to each row, chance's included: actions [size][max_length], -1 behind the
 * last. 0: the states of this game do not tell. */
int sk_batch_history(const sk_batch *batch, int32_t *actions);
/* returns [size][players] (zeros while running), endings [size], plies [size]. */
void sk_batch_result(const sk_batch *batch, float *returns, uint8_t *endings, int32_t *plies);

/* turns [size]: the number of the simultaneous turn that each row is in (game.h), or -1. */
void sk_batch_turns(const sk_batch *batch, int32_t *turns);
/* Rows that are in a simultaneous turn go back to where it began, which is public. */
void sk_batch_rewind(sk_batch *batch);
/* Of games where not everybody knows how many actions there were: what keys the random choices of
 * the players who act in n rows (game.h), to numbers [n]; other rows are left alone. */
void sk_batch_numbers(const sk_batch *batch, const int32_t *rows, int32_t n, int32_t *numbers);
/* All states as they are in memory, to out [size][state_bytes], and back. They are flat, and mean
 * something to an engine with the same sources only. */
void sk_batch_store(const sk_batch *batch, uint8_t *out);
void sk_batch_restore(sk_batch *batch, const uint8_t *states);

/* ---- Replaying episodes ---- */

typedef struct {
    int64_t episode; /* -1: every action was legal */
    int64_t action;  /* -1: the start position is at fault */
} sk_fault;

/* Replays n episodes. Episode i starts from starts[start_offsets[i] .. start_offsets[i + 1]) and
 * has the actions actions[offsets[i] .. offsets[i + 1]). Row t of actors, legal and packed is what
 * the acting side knew before action t; given[t] is 1 where that action may come from outside, as a
 * given setup does. Each of the four may be NULL, but actors not without given. Unless seen is
 * NULL, legal and packed have rows for the actions with seen[t] only, one after the other. Stops at
 * the first fault; an action after the end of a game is one. */
sk_fault sk_replay(const sk_game *game, int64_t n, const uint8_t *starts,
                   const int64_t *start_offsets, const int32_t *actions, const int64_t *offsets,
                   const uint8_t *seen, int8_t *actors, uint8_t *legal, uint8_t *packed,
                   uint8_t *given, float *returns, uint8_t *endings);

/* x[t] = a[t] + b[t] x[t + 1], backward from x[steps], in n columns: the sums along games of which
 * a learner's targets are made. `x` has a row more than the others. */
void sk_recurrence(const double *a, const double *b, double *x, int64_t steps, int64_t n);

/* ---- Randomness: Philox4x32-10, keyed by the seed, counted by (game, number, stream) ---- */

void sk_uniform(uint64_t seed, uint32_t stream, const int64_t *games, const int32_t *numbers,
                int64_t n, double *out);
/* Inverse CDF in index order over the legal actions of each row; probabilities NULL: uniform. A row
 * with no legal action gets -1 and NaN. */
void sk_sample(const float *probabilities, const uint8_t *legal, int64_t n, int32_t actions,
               uint64_t seed, uint32_t stream, const int64_t *games, const int32_t *numbers,
               int32_t *chosen, float *mu);
/* out [rows][n]: each row a draw from the symmetric Dirichlet distribution of this shape. */
void sk_dirichlet(uint64_t seed, uint32_t stream, int64_t game, int32_t number, double shape,
                  int32_t rows, int32_t n, double *out);

/* ---- Monte Carlo tree search (mcts.h): trees that grow side by side, one evaluation a round ----
 */

typedef struct sk_mcts sk_mcts;

typedef struct {
    int32_t actions; /* of a move: 1, or 2 where a piece is selected first */
    int32_t nodes;   /* simulations of each tree, at most */
    double cpuct;    /* how far priors count against values */
    double unit;     /* the largest return */
    double most;     /* beyond which no evaluated value counts */
    int32_t face_up; /* 1: evaluations see the tree's state, not what its actor may know of it */
    int32_t whole;   /* 1: an evaluation tells the policy of whole moves, of two actions each */
} sk_mcts_settings;

typedef struct {
    int64_t simulations;
    int64_t evaluations; /* those that were answered */
    int64_t bytes;       /* of nodes and edges */
} sk_mcts_size;

/* Whether a game's observations have a place for what is hidden: whether face_up may be 1. */
int sk_shows_face_up(const sk_game *game);
/* One tree for each of the first `size` rows of the batch, which is copied. NULL: out of memory.
 * The trees' memory grows with them. */
sk_mcts *sk_mcts_open(const sk_batch *batch, int32_t size, sk_mcts_settings settings,
                      int32_t threads);
void sk_mcts_close(sk_mcts *all);
/* Begins `trees` trees from number `tree` on, whose roots have the same n moves: moves
 * [n][actions], those of one piece side by side, and priors [trees][n]. */
const char *sk_mcts_begin(sk_mcts *all, int32_t tree, int32_t trees, const int32_t *moves,
                          int32_t n, const float *priors);
/* Grows all trees until each is done or waits for an evaluation. Returns how many wait, and writes
 * a row for each into legal [size][actions of the game] and packed [size][observation_bytes]. */
int32_t sk_mcts_ask(sk_mcts *all, uint8_t *legal, uint8_t *packed);
/* The whole moves of the rows that were asked, row by row: [n][3] the row and two actions. Returns
 * n; with NULL it writes nothing. */
int64_t sk_mcts_moves(const sk_mcts *all, int32_t *moves);
/* Answers: policy [rows][actions of the game], or of whole moves [n], and values [rows], of the
 * acting sides. */
const char *sk_mcts_tell(sk_mcts *all, const float *policy, const float *values);
/* Of each root move, in the order in which they were given: visits, mean value to the side that
 * acts, and bounds of it, which are equal where it is proven. */
void sk_mcts_read(const sk_mcts *all, int32_t tree, int32_t *visits, double *q, float *least,
                  float *most);
void sk_mcts_describe(const sk_mcts *all, sk_mcts_size *out);

/* ---- Stratego beyond the game interface, for notation and players ---- */

typedef struct {
    const char *name;
    int32_t width;
    int32_t height;
    int32_t ranks;      /* deployment ranks of each side */
    int32_t counts[12]; /* pieces of each type, in type order */
    const char *lakes;  /* "C5 D5 ..." */
    int32_t max_plies;
    int32_t max_no_attack;
} sk_variant;

/* Row `index` of the table of variants; 0 when there is none. */
int32_t sk_stratego_variant(int32_t index, sk_variant *out);
enum { SK_MOST_MOVES = 4000 };
/* Legal plies of row `row` as pairs of absolute squares (from, to), ascending, at most
 * SK_MOST_MOVES. Only between plies (no piece selected). Returns their number. */
int32_t sk_stratego_moves(const sk_batch *batch, int32_t row, uint8_t *pairs);
/* The truth behind the view of each of the `size` rows: types [size][squares] of the enemy's hidden
 * pieces in the acting side's frame, 255 elsewhere, and everywhere before both sides have deployed.
 * 0: this is no Stratego. */
int sk_stratego_hidden(const sk_batch *batch, int32_t size, uint8_t *types);
/* Gives the hidden pieces of all rows these types, as sk_stratego_hidden has them: the enemy's; or,
 * between two plies, those of the side to act (`own`), which may then have no legal move. Returns
 * -1, or the first row that public information does not allow: such rows stay as they were. */
int32_t sk_stratego_assign(sk_batch *batch, int32_t size, int32_t own, const uint8_t *types);
/* Number of sequences of `depth` legal plies (1 to 100) from row `row`; -1 when the row is not
 * between two plies. Takes as long as there are sequences: for tests. */
int64_t sk_stratego_perft(const sk_batch *batch, int32_t row, int32_t depth);

/* ---- Exact tools: the whole tree of a small game, in sequence form (tree.h) ---- */

typedef struct sk_tree sk_tree;

typedef struct {
    int64_t nodes;     /* all histories */
    int64_t terminals; /* those where the game is over */
    int64_t payoffs;   /* those of them where somebody gains */
    int64_t decisions; /* those where a player acts */
    int64_t infosets;  /* information sets of all players */
    int64_t actions;   /* of all information sets together */
    int64_t bytes;
} sk_tree_size;

/* 1 if the tree is certain to have more terminals than that, told from a few random games; else 0.
 */
int32_t sk_tree_exceeds(const sk_game *game, double terminals);
/* The game must outlive the tree, which is in *out unless there is an error. One that has not two
 * players grows a tree of sets only. */
const char *sk_tree_open(const sk_game *game, int64_t most_nodes, int64_t most_bytes,
                         sk_tree **out);
void sk_tree_close(sk_tree *tree);
/* Of a tree that has not grown: histories will be counted, but only information sets kept. Nobody
 * may ask it for payoffs, weights or values. */
void sk_tree_sets_only(sk_tree *tree);
/* The same, without information sets: it counts. */
void sk_tree_counts_only(sk_tree *tree);
/* Of a tree that has not grown: the first state of each information set, and the number of actions
 * before it, will be written to a row of the batch and to depths. Both must have room for all sets,
 * and outlive the growth. */
void sk_tree_keep(sk_tree *tree, sk_batch *states, int32_t *depths);
/* Enumerates about so many histories more; *whole becomes 1 when none is left. Allocates. */
const char *sk_tree_grow(sk_tree *tree, int64_t steps, int32_t *whole);
void sk_tree_describe(const sk_tree *tree, sk_tree_size *out);
/* players [infosets], before [infosets]: the player's own last sequence; first [infosets + 1]:
 * where the actions of each begin; packed [infosets][observation_bytes] or NULL. */
void sk_tree_infosets(const sk_tree *tree, int8_t *players, int32_t *before, int32_t *first,
                      uint8_t *packed);
void sk_tree_actions(const sk_tree *tree, int32_t *actions);
/* What the actions of a whole tree are worth in worlds, as if all were known there from then on:
 * walks about so many histories more; *whole becomes 1 when none is left. Of every information set,
 * over its histories with the probability of chance's moves as the weight: adds to values [actions]
 * those of the actions to their player, by minimax, and to best [actions] a share of 1 in the best
 * ones. */
const char *sk_tree_worlds(sk_tree *tree, int64_t steps, double *values, double *best,
                           int32_t *whole);

/* In what follows there are two players. policy [actions] is that of both; reach and values [1 +
 * actions] belong to sequences, 0 being the empty one. Values are of one player and counterfactual:
 * weighted with the probability that chance and the opponent get there. */

/* The probability that a sequence's player plays it. */
void sk_tree_reach(const sk_tree *tree, const double *policy, double *reach);
/* Sets values to what the terminals right after each sequence pay. */
void sk_tree_payoffs(const sk_tree *tree, int32_t player, const double *reach, double *values);
/* weights [infosets]: the probability that chance and the opponent get there. */
void sk_tree_weights(const sk_tree *tree, const double *reach, double *weights);
/* Adds to values the penalties [infosets] that the opponent pays the player for acting there. */
void sk_tree_add_penalties(const sk_tree *tree, int32_t player, const double *reach,
                           const double *penalties, double *values);
/* Adds up the player's values from the terminals to the root, less the penalties [infosets] (or
 * NULL) that it pays, which are counterfactual too; returns the value of the game. */
double sk_tree_backup(const sk_tree *tree, int32_t player, const double *policy,
                      const double *penalties, double *values);
/* The same with the best action everywhere, equal ones alike, written into the player's part of
 * policy. */
double sk_best_response(const sk_tree *tree, int32_t player, double *values, double *policy);
/* The player's half of an iteration of CFR. Of positive regrets, negative ones and the average the
 * parts keep_... are kept. regrets, average, policy [actions] and reach are the state; average sums
 * reach, not yet divided. values is for the computation only. */
void sk_cfr(const sk_tree *tree, int32_t player, double keep_positive, double keep_negative,
            double keep_average, double *regrets, double *average, double *policy, double *reach,
            double *values);

/* ---- Best responses in games too large to be enumerated (best_response.c) ---- */

typedef struct sk_response sk_response;

typedef struct {
    double best;       /* what the player wins by a best response to the policy */
    double value;      /* what it wins by its own part of the policy */
    double gains;      /* what it would win by the best choice of a turn alone, summed over turns */
    double turns;      /* how many turns it has to choose in, in expectation by the policy */
    int64_t histories; /* that the others' parts of the policy allow */
    int64_t infosets;  /* of the player, among them */
    int64_t bytes;     /* at most at a time */
} sk_response_result;

/* The policy [actions] is that of the information sets of `tree`,
 * which must have them all; tree and policy NULL: all actions alike. Of each of these sets of the
 * player that it comes to, choices [information sets], or NULL, gets the number of its best choice.
 * All of them must outlive the response, which is in *out unless there is an error. */
const char *sk_response_open(const sk_game *game, const sk_tree *tree, const double *policy,
                             int32_t player, int64_t most_bytes, uint8_t *choices,
                             sk_response **out);
void sk_response_close(sk_response *response);
/* Walks through about so many histories more; *whole becomes 1 when none is left. Allocates. */
const char *sk_response_walk(sk_response *response, int64_t steps, int32_t *whole);
void sk_response_read(const sk_response *response, sk_response_result *out);

/* ---- The same in phantom games of at most nine cells (phantom_response.c) ---- */

typedef struct sk_phantom_response sk_phantom_response;

/* How many numbers of views there are, 3 ** cells; 0: it is another game. A view's number has a
 * digit a cell in base 3: 1 for an own stone, 2 for a stone of the enemy's that is known. */
int32_t sk_phantom_views(const sk_game *game);
/* Of both players at once, each with a policy [views][cells]; they and the game must outlive the
 * response, which is in *out also if there is an error. Allocates. */
const char *sk_phantom_response_open(const sk_game *game, const double *policy0,
                                     const double *policy1, int32_t threads,
                                     sk_phantom_response **out);
void sk_phantom_response_close(sk_phantom_response *response);
/* The parts of the walk. */
int64_t sk_phantom_response_pieces(const sk_phantom_response *response);
/* Walks through so many of them more, on all threads; returns how many are left. */
int64_t sk_phantom_response_walk(sk_phantom_response *response, int32_t pieces);
/* All histories of the game; -1: out of memory. */
int64_t sk_phantom_response_histories(const sk_phantom_response *response);
/* Of either player, when none is left; its histories stay 0. plans [2][2 ** cells - 1]: what each
 * tries: a cell, the plan after it found it empty, and the plan after it found it taken, which are
 * of one length. SK_NO_CELL: the player does not come there. */
enum { SK_NO_CELL = 255 };
void sk_phantom_response_read(sk_phantom_response *response, sk_response_result out[2],
                              uint8_t *plans);

/* ---- The same in Liar's Dice (dice_response.c) ---- */

typedef struct sk_dice_response sk_dice_response;

/* How many bids there are; 0: it is another game. */
int32_t sk_dice_bids(const sk_game *game);
/* counts [hands][faces]: the dice of each hand. */
void sk_dice_hands(const sk_game *game, uint8_t *counts);
/* Of both players at once. The policy has the choices of all information sets one after the other:
 * of each set of bids that were made, as a number with a bit a bid, of each hand. It and the game,
 * of less than 32 bids, must outlive the response, which is in *out also if there is an error.
 * So must choices [information sets], or NULL: of each set the number of its best choice, which is
 * right when the response was read. Allocates. */
const char *sk_dice_response_open(const sk_game *game, const double *policy, int32_t threads,
                                  uint8_t *choices, sk_dice_response **out);
void sk_dice_response_close(sk_dice_response *response);
/* The parts of the walk. */
int64_t sk_dice_response_pieces(const sk_dice_response *response);
/* Walks through so many of them more, on all threads; returns how many are left. */
int64_t sk_dice_response_walk(sk_dice_response *response, int32_t pieces);
/* Of either player, when none is left; its histories stay 0. */
void sk_dice_response_read(sk_dice_response *response, sk_response_result out[2]);

typedef struct sk_dice_cfr sk_dice_cfr;

/* A player's half of an iteration of CFR, as sk_cfr, which says what is kept; regrets and average
 * as the policy above. The policy follows from the regrets. All must outlive it; NULL: out of
 * memory. */
sk_dice_cfr *sk_dice_cfr_open(const sk_game *game, int32_t player, double keep_positive,
                              double keep_negative, double keep_average, double *regrets,
                              double *average);
void sk_dice_cfr_close(sk_dice_cfr *half);
/* Walks through so many parts more; returns how many are left. It is done when none is. */
int64_t sk_dice_cfr_walk(sk_dice_cfr *half, int32_t pieces);

/* ---- Diplomacy: maps, positions, orders (diplomacy/diplomacy.h, formats/diplomacy.md) ---- */

typedef struct sk_dip_map sk_dip_map;

typedef struct {
    int32_t provinces; /* locations 0 .. provinces - 1 */
    int32_t locations; /* the others are coasts */
    int32_t powers;
    int32_t centres;
    int32_t win;  /* centres that win */
    int32_t year; /* the first */
} sk_dip_size;

/* The text of a map that comes with the engine, or NULL. */
const char *sk_dip_map_text(const char *name);
/* Reads the text of a map; NULL and a text in `error` if something is wrong with it. */
sk_dip_map *sk_dip_open(const char *text, char *error, size_t error_size);
void sk_dip_close(sk_dip_map *map);
void sk_dip_describe(const sk_dip_map *map, sk_dip_size *out);
const char *sk_dip_location_name(const sk_dip_map *map, int32_t location);
const char *sk_dip_power_name(const sk_dip_map *map, int32_t power);
/* parent [locations]: the province; kind (0 inland, 1 coastal, 2 sea), centre (its number, 255:
 * none) and home (a power, 255: none) [provinces]; army and fleet [locations][locations]: 1 where
 * such a unit goes. */
void sk_dip_map_arrays(const sk_dip_map *map, uint8_t *parent, uint8_t *kind, uint8_t *centre,
                       uint8_t *home, uint8_t *army, uint8_t *fleet);
/* A position is 281 bytes; this writes the first one. */
void sk_dip_start(const sk_dip_map *map, uint8_t *position);
/* Why one of n positions is none; NULL if they all are. */
const char *sk_dip_check(const sk_dip_map *map, int64_t n, const uint8_t *positions);
enum { SK_DIP_ORDERS = 2 * 76 * 76 }; /* of a unit, at most */
/* All legal orders in a province of each of n positions, one position's after the other's: counts
 * [n], each at most SK_DIP_ORDERS, of three bytes an order; returns their number. */
int64_t sk_dip_legal(const sk_dip_map *map, int64_t n, const uint8_t *positions,
                     const uint8_t *provinces, uint8_t *orders, int32_t *counts);
int32_t sk_dip_is_legal(const sk_dip_map *map, const uint8_t *position, int32_t province,
                        const uint8_t *order);
/* How many units a power may build, if positive, or must disband. */
int32_t sk_dip_adjustment(const sk_dip_map *map, const uint8_t *position, int32_t power);
/* Adjudicates n phases of moves, positions [n][281] with orders [n][provinces][3]: units move, some
 * are dislodged, the phase stays. outcomes [n][provinces]: what each order came to (0 carried out,
 * 1 bounce, 2 no convoy, 3 cut, 4 void, 5 disrupted). Or, if outcomes is NULL, carries out any
 * phase and goes on to the next. Orders of provinces without a unit to order count nothing. Returns
 * -1, or the index of the first illegal order, where it stopped. */
int64_t sk_dip_resolve(const sk_dip_map *map, int64_t n, uint8_t *positions, const uint8_t *orders,
                       uint8_t *outcomes);
/* Plays random legal orders for so many phases, beginning again after `years`; returns a number
 * that depends on all positions on the way. */
uint64_t sk_dip_random(const sk_dip_map *map, uint64_t seed, int64_t phases, int32_t years);

/* A number that changes when the sources do: lets Python notice a stale build. */
const char *sk_source_hash(void);
