/* Counterfactual regret minimisation (Zinkevich et al. 2007): one player's half of an iteration.
 *
 * The variants differ in what they forget: Discounted CFR (Brown and Sandholm 2019) has all of
 * them. */
#include "regret.h"
#include "tree.h"

/* Adds the regrets of this iteration and forgets some; `values` are those of each sequence. */
static void learn(const sk_tree *tree, int32_t player, double keep_positive, double keep_negative,
                  const double *policy, double *values, double *regrets)
{
    for (int64_t i = tree->n_infosets - 1; i >= 0; i--) {
        if (tree->infosets[i].player != player)
            continue;
        int32_t first = tree->infosets[i].first, end = infoset_end(tree, i);
        values[tree->infosets[i].before] +=
            add_regrets(values + 1 + first, end - first, keep_positive, keep_negative,
                        policy + first, regrets + first);
    }
}

void sk_cfr(const sk_tree *tree, int32_t player, double keep_positive, double keep_negative,
            double keep_average, double *regrets, double *average, double *policy, double *reach,
            double *values)
{
    sk_tree_payoffs(tree, player, reach, values);
    learn(tree, player, keep_positive, keep_negative, policy, values, regrets);
    reach[0] = 1.0;
    for (int64_t i = 0; i < tree->n_infosets; i++) {
        if (tree->infosets[i].player != player)
            continue;
        int32_t first = tree->infosets[i].first, end = infoset_end(tree, i);
        /* What was played in this iteration counts, not yet what was learned from it. */
        for (int32_t k = first; k < end; k++)
            average[k] = average[k] * keep_average + reach[1 + k];
        match_regrets(regrets + first, end - first, policy + first);
        for (int32_t k = first; k < end; k++)
            reach[1 + k] = reach[tree->infosets[i].before] * policy[k];
    }
}
