/* Public belief states, as Python sees them: declarations only. They follow those of stratkit.h and
 * keep its conventions. */

/* ---- The public tree of a small game (public_tree.h) ---- */

typedef struct sk_public_tree sk_public_tree;

typedef struct {
    int64_t nodes;
    int64_t hands[2]; /* of all nodes together, of either player */
    int64_t weights;
    int64_t seen;     /* different looks of nodes */
    int64_t infosets; /* hands that act */
    int64_t choices;  /* of all information sets together */
    int64_t bytes;
} sk_public_tree_size;

/* As sk_tree_open; the game must outlive the tree. If it is `merged`, nodes that go on alike share
 * what follows; the game must be one that recombines. */
const char *sk_public_tree_open(const sk_game *game, int64_t most_nodes, int64_t most_bytes,
                                int32_t merged, sk_public_tree **out);
void sk_public_tree_close(sk_public_tree *tree);
/* Enumerates about so many histories more; *whole becomes 1 when none is left. Allocates. */
const char *sk_public_tree_grow(sk_public_tree *tree, int64_t steps, int32_t *whole);
void sk_public_tree_describe(const sk_public_tree *tree, sk_public_tree_size *out);
/* Of every node: its parent (-1: the root; the first of several), who acts (-1: chance, -2: the
 * end), its first child, the information set of its first hand if a player acts, the first hands
 * [nodes][2], the first weight, and which look everybody sees there, of seen [seen][public_bytes].
 */
void sk_public_tree_nodes(const sk_public_tree *tree, int32_t *parents, int8_t *actors,
                          int32_t *child, int32_t *set, int32_t *hand, int64_t *weight,
                          int32_t *look, uint8_t *seen);
/* Of every hand of a player: what of the parent it comes from, its number, and 1 + its player's
 * last choice (0: none yet). */
void sk_public_tree_hands(const sk_public_tree *tree, int32_t player, int32_t *from,
                          int32_t *numbers, int32_t *last);
/* first [infosets + 1], choices [choices], packed [infosets][observation_bytes], weights. */
void sk_public_tree_sets(const sk_public_tree *tree, int32_t *first, int32_t *choices,
                         uint8_t *packed, double *weights);

/* Where n actions, chance's included, lead from the root: the node after each, nodes [n + 1], and
 * which of its hands either player has there, hands [2]. NULL, or that they are no history. */
const char *sk_public_tree_path(const sk_public_tree *tree, const int32_t *actions, int32_t n,
                                int32_t *nodes, int32_t *hands);

/* ---- Subgames of a public tree, many at a time (subgames.h) ---- */

typedef struct sk_subgames sk_subgames;

typedef struct {
    int64_t parts;
    int64_t hands[2];
    int64_t choices;
    int64_t leaves;
} sk_subgames_size;

/* Subgame i begins at node roots[i] and lasts `depth` decisions (0: to the end of the game). The
 * tree must outlive them; they are in *out also if there is an error. */
const char *sk_subgames_open(const sk_public_tree *tree, const int32_t *roots, int32_t n,
                             int32_t depth, sk_subgames **out);
void sk_subgames_close(sk_subgames *subgames);
void sk_subgames_describe(const sk_subgames *subgames, sk_subgames_size *out);
/* Of every part: its node, its parent (-1: a root), its first child (-1: none), its first hands
 * [parts][2], its first choice, and its number among leaves (-1: none). */
void sk_subgames_parts(const sk_subgames *subgames, int32_t *nodes, int32_t *parents,
                       int32_t *child, int32_t *hand, int32_t *choice, int32_t *leaves);

/* In what follows policy, average, regrets and q [choices] belong to both players; reach and values
 * [hands] to one, values being counterfactual; beliefs [..][game's hands] sum to 1. */

/* Of some parts, what everybody believes of a player's hands, by their numbers. */
void sk_subgames_beliefs(const sk_subgames *subgames, int32_t player, const double *reach,
                         const int32_t *parts, int64_t n, double *beliefs);
/* The reach of the roots' hands, of beliefs [subgames]. */
void sk_subgames_begin(const sk_subgames *subgames, int32_t player, const double *beliefs,
                       double *reach);
/* What a network sees that is asked for the player's values, of each leaf where the opponent gets:
 * whether the player acts, what everybody sees, beliefs of its hands and of the opponent's. Returns
 * how many rows these are; leaves [leaves] tell of which leaf each is. Elsewhere nothing is won. */
int64_t sk_subgames_inputs(const sk_subgames *subgames, int32_t player, const double *reach,
                           const double *other_reach, int32_t *leaves, float *rows);
/* The reach of all other parts' hands, of that of the roots'. */
void sk_subgames_reach(const sk_subgames *subgames, int32_t player, const double *policy,
                       double *reach);
/* The reach of what the opponent may have beside each hand, weighed with the deals. */
void sk_subgames_compatible(const sk_subgames *subgames, int32_t player, const double *other_reach,
                            double *out);
/* Values of ends, and of leaves from what each hand is worth there, leaves [leaves][game's hands];
 * 0 elsewhere. */
void sk_subgames_ends(const sk_subgames *subgames, int32_t player, const double *other_reach,
                      const float *leaves, double *values);
/* From there values of all hands, and of all choices in q: by the policy, by the best choices,
 * which are written into policy, or by the policy, which then learns. */
void sk_subgames_backup(const sk_subgames *subgames, int32_t player, const double *policy,
                        double *values, double *q);
void sk_subgames_best_response(const sk_subgames *subgames, int32_t player, double *policy,
                               double *values, double *q);
void sk_subgames_cfr(const sk_subgames *subgames, int32_t player, double keep_positive,
                     double keep_negative, double keep_average, const double *reach, double *values,
                     double *q, double *regrets, double *average, double *policy);

/* Plays n games, each from the root part of a subgame to a leaf or an end, the part reached [n], by
 * hands as they are believed and the policy, whose reach it is; one player, drawn, explores with a
 * probability. */
void sk_subgames_walk(const sk_subgames *subgames, const double *policy, const double *reach0,
                      const double *reach1, double explore, uint64_t seed, uint32_t stream,
                      const int32_t *roots, const int64_t *games, int64_t n, int32_t number,
                      int32_t *reached);
