/* What policies are worth on a tree: reach, counterfactual values, best response. */
#include <string.h>

#include "tree.h"

void sk_tree_reach(const sk_tree *tree, const double *policy, double *reach)
{
    reach[0] = 1.0;
    for (int64_t i = 0; i < tree->n_sets; i++) {
        double here = reach[tree->sets[i].before];
        for (int32_t k = tree->sets[i].first, end = set_end(tree, i); k < end; k++)
            reach[1 + k] = here * policy[k];
    }
}

void sk_tree_gains(const sk_tree *tree, int32_t player, const double *reach, double *values)
{
    memset(values, 0, (size_t)(tree->n_actions + 1) * sizeof *values);
    for (const payoff *p = tree->payoffs; p < tree->payoffs + tree->n_payoffs; p++)
        values[p->sequence[player]] += gain_of(p, player) * reach[p->sequence[!player]];
}

void sk_tree_weights(const sk_tree *tree, const double *reach, double *weights)
{
    memset(weights, 0, (size_t)tree->n_sets * sizeof *weights);
    for (const decision *d = tree->decisions; d < tree->decisions + tree->n_decisions; d++)
        weights[d->set] += d->chance * reach[d->other];
}

void sk_tree_charge(const sk_tree *tree, int32_t player, const double *reach, const double *charges,
                    double *values)
{
    for (const decision *d = tree->decisions; d < tree->decisions + tree->n_decisions; d++) {
        const information_set *set = &tree->sets[d->set];
        if (set->player != player)
            values[d->other] += d->chance * reach[set->before] * charges[d->set];
    }
}

double sk_tree_backup(const sk_tree *tree, int32_t player, const double *policy, const double *tolls,
                      double *values)
{
    for (int64_t i = tree->n_sets - 1; i >= 0; i--) {
        if (tree->sets[i].player != player)
            continue;
        double value = tolls ? -tolls[i] : 0.0;
        for (int32_t k = tree->sets[i].first, end = set_end(tree, i); k < end; k++)
            value += policy[k] * values[1 + k];
        values[tree->sets[i].before] += value;
    }
    return values[0];
}

double sk_best_response(const sk_tree *tree, int32_t player, double *values, double *policy)
{
    for (int64_t i = tree->n_sets - 1; i >= 0; i--) {
        if (tree->sets[i].player != player)
            continue;
        int32_t first = tree->sets[i].first, end = set_end(tree, i), equals = 0;
        double best = values[1 + first];
        for (int32_t k = first; k < end; k++) {
            equals = values[1 + k] > best ? 1 : equals + (values[1 + k] == best);
            best = values[1 + k] > best ? values[1 + k] : best;
        }
        for (int32_t k = first; k < end; k++)
            policy[k] = values[1 + k] == best ? 1.0 / equals : 0.0;
        values[tree->sets[i].before] += best;
    }
    return values[0];
}
