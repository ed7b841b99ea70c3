/* What a network `graph` says of a view: policies, values and shares. */
#include <math.h>
#include <string.h>

#include "graph.h"

/* As in graph.py: what powers without a centre count as, and what sums over a few provinces are
 * multiplied by. */
static const float NO_CENTRE = 0.25f, SUMMED = 0.25f;

static inline float dot(const float *x, const float *y, int n)
{
    float sum = 0.0f;
    for (int i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

/* A view of one position, and the own orders so far. */
typedef struct {
    const dip_view *view;
    const uint8_t *packed;
    int32_t at;
} looked;

/* What is known of a province's own order: of an order complete or not. */
static void order_of(const sk_graph *net, const looked *x, int province, float *out)
{
    const uint8_t *of = x->packed + (province + 1) * net->stride - 2 * DIP_ORDERS;
    for (int i = 0; i < DIP_ORDERS; i++)
        out[i] = of[i];
    out[DIP_ORDERS] = province < x->view->at;
}

/* What every location is compared with. */
static void ask(const sk_graph_positions *p, const looked *x, float *context)
{
    const sk_graph *net = p->net;
    int c = net->channels;
    const float *rows = rows_of(p, x->at), *w = net->context;
    float order[ORDERS];
    memset(context, 0, HIDDEN * sizeof *context);
    const uint8_t both[2] = {x->view->at, x->view->whom};
    for (int i = 0; i < 2; i++, w += (c + ORDERS) * HIDDEN)
        if (both[i] < net->map->provinces) {
            order_of(net, x, both[i], order);
            dip_layer(context, rows + both[i] * c, c, w, HIDDEN);
            dip_layer(context, order, ORDERS, w + c * HIDDEN, HIDDEN);
        }
    if (x->view->stage < DIP_STAGES && x->view->verb < DIP_VERBS)
        dip_add(context, 1.0f, w + (x->view->stage * DIP_VERBS + x->view->verb) * HIDDEN, HIDDEN);
}

/* The policy of a view, of its legal verbs and locations. */
static void decide(const sk_graph_positions *p, const looked *x, const uint8_t *legal,
                   float *policy)
{
    const sk_graph *net = p->net;
    const float *squares = squares_of(p, x->at);
    float context[HIDDEN], both[2 * HIDDEN] = {0}, *around = both + HIDDEN, order[ORDERS];
    float verbs[WIDE_VERBS], hidden[HIDDEN];
    int n = net->map->provinces, asks = x->view->stage == ASK_VERB && x->view->at < n;
    sk_bits beside = asks ? net->beside[x->view->at] : 0;
    ask(p, x, context);
    for (int at = 0; at < net->map->locations; at++) {
        if (!legal[DIP_VERBS + at] && !(at < n && has(beside, at)))
            continue;
        int province = net->map->parent[at];
        order_of(net, x, province, order);
        memcpy(hidden, squares + province * HIDDEN, sizeof hidden);
        dip_add(hidden, 1.0f, context, HIDDEN);
        dip_add(hidden, 1.0f, net->coast + at * HIDDEN, HIDDEN);
        dip_layer(hidden, order, ORDERS, net->order, HIDDEN);
        dip_relu(hidden, HIDDEN);
        dip_add(around, 1.0f, hidden, HIDDEN);
        policy[DIP_VERBS + at] = dot(hidden, net->policy, HIDDEN);
    }
    memcpy(both, context, sizeof context);
    dip_relu(both, HIDDEN);
    memcpy(verbs, net->of_verbs, sizeof verbs);
    dip_layer(verbs, both, 2 * HIDDEN, net->verb, WIDE_VERBS);
    memcpy(policy, verbs, DIP_VERBS * sizeof *policy);
    int actions = DIP_VERBS + net->map->locations;
    sk_legal_softmax(policy, actions, legal, 1, actions, policy);
}

/* The critic's hidden layer, of each power, as far as it is the position's. */
static void appraise(sk_graph_positions *p, const looked *x)
{
    const sk_graph *net = p->net;
    known *now = p->known + x->at;
    int c = net->channels, n = net->map->provinces, powers = net->map->powers;
    const float *rows = rows_of(p, x->at);
    float board[SK_GRAPH_CHANNELS] = {0}, hidden[HIDDEN], held[DIP_POWERS][2 * HIDDEN] = {{0}};
    for (int at = 0; at < n; at++) {
        dip_add(board, 1.0f, rows + at * c, c);
        now->own_units[at] = x->packed[at * net->stride + UNITS];
    }
    for (int i = 0; i < c; i++)
        board[i] /= sqrtf((float)n);
    memcpy(hidden, net->of_board, sizeof hidden);
    dip_layer(hidden, board, c, net->board, HIDDEN);
    dip_layer(hidden, now->moment, net->moments, net->board + c * HIDDEN, HIDDEN);
    now->valued = 1;
    memcpy(now->board[0], hidden, sizeof hidden);
    if (!net->shares)
        return;
    float *claims = p->work;
    for (int at = 0; at < n; at++)
        memcpy(claims + at * HIDDEN, net->of_claim, sizeof hidden);
    dip_product(net, claims, rows, net->claim, n, c, HIDDEN);
    dip_relu(claims, n * HIDDEN);
    memset(now->lives, 0, sizeof now->lives);
    for (int at = 0; at < n; at++) {
        const uint8_t *of = x->packed + at * net->stride;
        for (int i = 0; i < powers; i++) {
            if (of[UNITS + i])
                dip_add(held[i], SUMMED, claims + at * HIDDEN, HIDDEN);
            if (of[owned(net) + i])
                dip_add(held[i] + HIDDEN, SUMMED, claims + at * HIDDEN, HIDDEN);
            now->lives[i] |= of[UNITS + i] | of[dislodged(net) + i] | of[owned(net) + i];
        }
    }
    dip_count_centres(net, x->packed, now->squares);
    for (int i = 0; i < powers; i++) {
        float centres = now->squares[i];
        now->squares[i] = 2 * logf(centres > NO_CENTRE ? centres : NO_CENTRE);
        memcpy(now->board[i], hidden, sizeof hidden);
        dip_layer(now->board[i], held[i], 2 * HIDDEN, net->holds, HIDDEN);
    }
}

/* What the provinces with which the own orders have to do add to the acting power's hidden layer.
 */
static void own_orders(const sk_graph_positions *p, const looked *x, float *hidden)
{
    const sk_graph *net = p->net;
    int c = net->channels;
    const float *rows = rows_of(p, x->at);
    float order[ORDERS], one[HIDDEN], sum[HIDDEN] = {0};
    for (int at = 0; at < net->map->provinces; at++) {
        order_of(net, x, at, order);
        float concerned = p->known[x->at].own_units[at] * order[DIP_ORDERS];
        for (int i = 1; i < DIP_ORDERS; i++)
            concerned += order[i];
        if (concerned <= 0)
            continue;
        memcpy(one, net->of_ordered, sizeof one);
        dip_layer(one, rows + at * c, c, net->ordered, HIDDEN);
        dip_layer(one, order, ORDERS, net->ordered + c * HIDDEN, HIDDEN);
        dip_relu(one, HIDDEN);
        dip_add(sum, SUMMED, one, HIDDEN);
    }
    dip_layer(hidden, sum, HIDDEN, net->own, HIDDEN);
}

/* Of a view the value; with shares those of all powers, too. */
static float value(sk_graph_positions *p, const looked *x, float *shares)
{
    const sk_graph *net = p->net;
    known *now = p->known + x->at;
    int powers = net->shares ? net->map->powers : 1;
    float hidden[HIDDEN], most = -INFINITY, total = 0;
    if (!now->valued)
        appraise(p, x);
    for (int i = 0; i < powers; i++) {
        memcpy(hidden, now->board[i], sizeof hidden);
        if (i == 0)
            own_orders(p, x, hidden);
        dip_relu(hidden, HIDDEN);
        shares[i] = dot(hidden, net->value, HIDDEN) + net->value[HIDDEN];
    }
    if (!net->shares)
        return shares[0];
    for (int i = 0; i < powers; i++) {
        shares[i] = now->lives[i] ? shares[i] + now->squares[i] : -INFINITY;
        most = shares[i] > most ? shares[i] : most;
    }
    for (int i = 0; i < powers; i++) {
        shares[i] = now->lives[i] ? expf(shares[i] - most) : 0;
        total += shares[i];
    }
    for (int i = 0; i < powers && total > 0; i++)
        shares[i] /= total;
    return powers == 2 ? shares[0] - shares[1] : shares[0];
}

void sk_graph_evaluate(sk_graph_positions *p, const uint8_t *packed, const uint8_t *legal,
                       int64_t n, float *policy, float *values, float *shares)
{
    const sk_graph *net = p->net;
    int64_t actions = DIP_VERBS + net->map->locations, powers = net->map->powers;
    float of_powers[DIP_POWERS];
    for (int64_t i = 0; i < n; i++, packed += net->bytes) {
        const dip_view *view = (const dip_view *)(packed + net->seen);
        looked x = {view, packed, dip_position_of(p, packed, view)};
        if (policy)
            decide(p, &x, legal + i * actions, policy + i * actions);
        if (!values && !shares)
            continue;
        float of_view = value(p, &x, shares ? shares + i * powers : of_powers);
        if (values)
            values[i] = of_view;
    }
}
