/* What policies are worth on a tree: reach, counterfactual values, best response. */
#include <string.h>

#include "regret.h"
#include "tree.h"

void sk_tree_reach(const sk_tree *tree, const double *policy, double *reach)
{
    reach[0] = 1.0;
    for (int64_t i = 0; i < tree->n_infosets; i++) {
        double here = reach[tree->infosets[i].before];
        for (int32_t k = tree->infosets[i].first, end = infoset_end(tree, i); k < end; k++)
            reach[1 + k] = here * policy[k];
    }
}

void sk_tree_payoffs(const sk_tree *tree, int32_t player, const double *reach, double *values)
{
    memset(values, 0, (size_t)(tree->n_actions + 1) * sizeof *values);
    for (const payoff *p = tree->payoffs; p < tree->payoffs + tree->n_payoffs; p++)
        values[p->sequence[player]] += payoff_to(p, player) * reach[p->sequence[!player]];
}

void sk_tree_weights(const sk_tree *tree, const double *reach, double *weights)
{
    memset(weights, 0, (size_t)tree->n_infosets * sizeof *weights);
    for (const decision *d = tree->decisions; d < tree->decisions + tree->n_decisions; d++)
        weights[d->infoset] += d->chance * reach[d->other];
}

void sk_tree_add_penalties(const sk_tree *tree, int32_t player, const double *reach,
                           const double *penalties, double *values)
{
    for (const decision *d = tree->decisions; d < tree->decisions + tree->n_decisions; d++) {
        const infoset *set = &tree->infosets[d->infoset];
        if (set->player != player)
            values[d->other] += d->chance * reach[set->before] * penalties[d->infoset];
    }
}

double sk_tree_backup(const sk_tree *tree, int32_t player, const double *policy,
                      const double *penalties, double *values)
{
    for (int64_t i = tree->n_infosets - 1; i >= 0; i--) {
        if (tree->infosets[i].player != player)
            continue;
        double value = penalties ? -penalties[i] : 0.0;
        for (int32_t k = tree->infosets[i].first, end = infoset_end(tree, i); k < end; k++)
            value += policy[k] * values[1 + k];
        values[tree->infosets[i].before] += value;
    }
    return values[0];
}

double sk_best_response(const sk_tree *tree, int32_t player, double *values, double *policy)
{
    for (int64_t i = tree->n_infosets - 1; i >= 0; i--) {
        if (tree->infosets[i].player != player)
            continue;
        int32_t first = tree->infosets[i].first, end = infoset_end(tree, i);
        values[tree->infosets[i].before] +=
            best_actions(values + 1 + first, end - first, policy + first);
    }
    return values[0];
}
