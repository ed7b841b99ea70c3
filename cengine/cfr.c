/* Counterfactual regret minimisation (Zinkevich et al. 2007): one player's half of an iteration.
 *
 * The variants differ in what they forget: Discounted CFR (Brown and Sandholm 2019) has all of
 * them. */
#include "tree.h"

static double above_zero(double x) { return x > 0.0 ? x : 0.0; }

/* Every action in proportion to its positive regret, all alike if none has any. */
static void match_regrets(const double *regrets, int32_t n, double *policy)
{
    double total = 0.0;
    for (int32_t k = 0; k < n; k++)
        total += above_zero(regrets[k]);
    for (int32_t k = 0; k < n; k++)
        policy[k] = total > 0.0 ? above_zero(regrets[k]) / total : 1.0 / n;
}

/* Adds the regrets of this iteration and forgets some; `values` are those of each sequence. */
static void learn(const sk_tree *tree, int32_t player, double keep_positive, double keep_negative,
                  const double *policy, double *values, double *regrets)
{
    for (int64_t i = tree->n_infosets - 1; i >= 0; i--) {
        if (tree->infosets[i].player != player)
            continue;
        int32_t first = tree->infosets[i].first, end = infoset_end(tree, i);
        double value = 0.0;
        for (int32_t k = first; k < end; k++)
            value += policy[k] * values[1 + k];
        for (int32_t k = first; k < end; k++) {
            double regret = regrets[k] + values[1 + k] - value;
            regrets[k] = regret * (regret > 0.0 ? keep_positive : keep_negative);
        }
        values[tree->infosets[i].before] += value;
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
