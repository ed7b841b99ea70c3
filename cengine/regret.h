/* Choosing by regret or by value, at one information set of n actions: for the tree and for
 * subgames. */
#ifndef SK_REGRET_H
#define SK_REGRET_H

#include <stdint.h>

static inline double above_zero(double x) { return x > 0.0 ? x : 0.0; }

/* Every action in proportion to its positive regret, all alike if none has any. */
static inline void match_regrets(const double *regrets, int32_t n, double *policy)
{
    double total = 0.0;
    for (int32_t k = 0; k < n; k++)
        total += above_zero(regrets[k]);
    for (int32_t k = 0; k < n; k++)
        policy[k] = total > 0.0 ? above_zero(regrets[k]) / total : 1.0 / n;
}

/* Adds the regrets of this iteration and forgets some; returns what the policy is worth. */
static inline double add_regrets(const double *values, int32_t n, double keep_positive,
                                 double keep_negative, const double *policy, double *regrets)
{
    double value = 0.0;
    for (int32_t k = 0; k < n; k++)
        value += policy[k] * values[k];
    for (int32_t k = 0; k < n; k++) {
        double regret = regrets[k] + values[k] - value;
        regrets[k] = regret * (regret > 0.0 ? keep_positive : keep_negative);
    }
    return value;
}

/* The best actions, equal ones alike, into policy; returns their value. */
static inline double best_actions(const double *values, int32_t n, double *policy)
{
    double best = values[0];
    int32_t equals = 0;
    for (int32_t k = 0; k < n; k++) {
        equals = values[k] > best ? 1 : equals + (values[k] == best);
        best = values[k] > best ? values[k] : best;
    }
    for (int32_t k = 0; k < n; k++)
        policy[k] = values[k] == best ? 1.0 / equals : 0.0;
    return best;
}

#endif
