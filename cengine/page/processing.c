#include "processing.h"

#include <string.h>

#include "functions.h"
#include "observation.h"
#include "view.h"

#define SLACK 1e-6f /* as of stratkit/nets/numpy_policy.py */
#define TINY  1.17549435e-38f

static float sum_of(const float *x, int n)
{
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

static void heat(float *policy, int n, double temperature)
{
    float most = TINY, total = 1, power = (float)(1 / temperature);
    for (int i = 0; i < n; i++)
        most = policy[i] > most ? policy[i] : most;
    for (int i = 0; i < n; i++)
        policy[i] = policy[i] > 0 ? (float)script_pow(policy[i] / most, power) : 0;
    total = sum_of(policy, n) > total ? sum_of(policy, n) : total;
    for (int i = 0; i < n; i++)
        policy[i] /= total;
}

static void drop(float *policy, int n, float threshold)
{
    float total = 0;
    for (int i = 0; i < n; i++)
        total += policy[i] >= threshold ? policy[i] : 0;
    for (int i = 0; total > 0 && i < n; i++)
        policy[i] = policy[i] >= threshold ? policy[i] / total : 0;
}

/* The most probable first, equal ones in their order, each gets its share rounded up until all
 * quanta are given away; what is left goes to the first. */
static void round_up(float *policy, int n, int quanta)
{
    int order[SK_MOST_MOVES], some = 0;
    float given = 0;
    for (int i = 0; i < n; i++) {
        int at = some;
        if (!(policy[i] > 0))
            continue;
        for (some++; at > 0 && policy[order[at - 1]] < policy[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    for (int k = 0; k < some; k++) {
        float *p = &policy[order[k]], due = __builtin_ceilf((*p - SLACK) * (float)quanta);
        float left = (float)quanta - given;
        due = due > 0 ? due : 0;
        *p = due < left ? due : left;
        given += *p;
    }
    if (some)
        policy[order[0]] += (float)quanta - given;
    for (int k = 0; k < some; k++)
        policy[order[k]] /= (float)quanta;
}

void process_policy(float *policy, int n, const processing *how)
{
    if (how->temperature != 1)
        heat(policy, n, how->temperature);
    if (how->threshold > 0)
        drop(policy, n, how->threshold);
    if (how->quanta)
        round_up(policy, n, how->quanta);
}

void list_moves(const stratego *game, const stratego_state *state, plan *out)
{
    uint8_t *pair = out->pairs;
    for (sk_bits from = state->legal; from; from &= from - 1)
        for (sk_bits to = stratego_destinations(game, state, lsb(from)); to; to &= to - 1) {
            *pair++ = (uint8_t)framed(game, state->side, lsb(from));
            *pair++ = (uint8_t)framed(game, state->side, lsb(to));
        }
    out->n = (int32_t)(pair - out->pairs) / 2;
}

void plan_moves(const sk_game *game, const stratego_state *state, network *net,
                const processing *how, plan *out)
{
    uint8_t packed[sizeof(observation) + MAX_SQUARES], legal[MAX_SQUARES];
    float pieces[MAX_SQUARES], ends[MAX_SQUARES];
    view(game, state, 0, NULL, legal, packed);
    network_policy(net, packed, legal, pieces);
    list_moves(as_stratego(game), state, out);
    for (int first = 0, next; first < out->n; first = next) { /* the moves of a piece */
        const uint8_t *pair = out->pairs + 2 * first;
        memset(legal, 0, sizeof legal);
        for (next = first; next < out->n && out->pairs[2 * next] == *pair; next++)
            legal[out->pairs[2 * next + 1]] = 1;
        packed[offsetof(observation, stage)] = 1;
        packed[offsetof(observation, selected)] = *pair;
        network_policy(net, packed, legal, ends);
        for (int i = first; i < next; i++)
            out->policy[i] = pieces[*pair] * ends[out->pairs[2 * i + 1]];
    }
    process_policy(out->policy, out->n, how);
}

void policy_of_plan(const plan *of, int selected, int actions, float *policy)
{
    float total = 0;
    memset(policy, 0, (size_t)actions * sizeof *policy);
    for (int i = 0; i < of->n; i++) {
        int start = of->pairs[2 * i], end = of->pairs[2 * i + 1];
        if (selected == NO_SQUARE) {
            policy[start] += of->policy[i];
        } else if (start == selected) {
            policy[end] = of->policy[i];
            total += of->policy[i];
        }
    }
    for (int i = 0; total > 0 && i < actions; i++)
        policy[i] /= total;
}
