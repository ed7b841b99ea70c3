/* One width of vectors for `heads.c`, which includes this once for each. What is a multiple of
 * LANES are channels and HIDDEN. */
#include "lanes.h"

/* y += a x, of n numbers. */
KERNEL void NAME(add)(float *y, float a, const float *x, int n)
{
    for (int i = 0; i < n; i += LANES)
        STORE(y + i, FMA(SET(a), LOAD(x + i), LOAD(y + i)));
}

/* y += x W, of k inputs and n outputs. */
KERNEL void NAME(layer)(float *y, const float *x, int k, const float *w, int n)
{
    for (int i = 0; i < n; i += LANES) {
        vector sum = LOAD(y + i);
        for (int j = 0; j < k; j++)
            sum = FMA(SET(x[j]), LOAD(w + j * n + i), sum);
        STORE(y + i, sum);
    }
}

/* The gradients of its weights, which are added, of k inputs and those of n outputs. */
KERNEL void NAME(outer)(float *of_w, const float *x, int k, const float *of_y, int n)
{
    for (int j = 0; j < k; j++)
        NAME(add)(of_w + j * n, x[j], of_y, n);
}

/* What is above 0 of x, and of y where x is that; 0 for the rest. */
KERNEL void NAME(above)(float *x, float *y, int n)
{
    for (int i = 0; i < n; i += LANES) {
        vector mask = LOAD(x + i);
        STORE(y + i, WHERE(mask, LOAD(y + i)));
        STORE(x + i, WHERE(mask, mask));
    }
}

KERNEL float NAME(product)(const float *x, const float *y, int n)
{
    vector sum = SET(0.0f);
    float each[LANES], out = 0.0f;
    for (int i = 0; i < n; i += LANES)
        sum = FMA(LOAD(x + i), LOAD(y + i), sum);
    STORE(each, sum);
    for (int i = 0; i < LANES; i++)
        out += each[i];
    return out;
}

/* What the hidden layer of all squares has of the piece that is chosen. */
KERNEL void NAME(context_of)(const heads *h, const float *w, const view *v, float *out)
{
    memcpy(out, w + h->part + v->part * HIDDEN, HIDDEN * sizeof *out);
    if (v->part == TARGET)
        NAME(layer)(out, v->chosen, h->c, w + h->context, HIDDEN);
}

/* The hidden layer of a square, and what is met there. */
KERNEL void NAME(hidden_of)(const heads *h, const float *w, const view *v, int square,
                            const float *context, float *met, float *hidden)
{
    memcpy(hidden, context, HIDDEN * sizeof *hidden);
    memcpy(met, v->outcomes + square * OUTCOMES, OUTCOMES * sizeof *met);
    met[OUTCOMES] = met[0] > CERTAIN;
    met[OUTCOMES + 1] = met[1] > CERTAIN;
    NAME(layer)(hidden, v->board + square * h->c, h->c, w, HIDDEN);
    NAME(layer)(hidden, met, MET, w + h->outcome, HIDDEN);
}

KERNEL void NAME(logits_of)(const heads *h, const float *w, const view *v, float *logits)
{
    float context[HIDDEN], nothing[HIDDEN] = {0};
    NAME(context_of)(h, w, v, context);
    for (int s = 0; s < h->squares; s++) {
        float met[MET], hidden[HIDDEN], score = w[h->scores + (size_t)v->part];
        logits[s] = -INFINITY;
        if (!v->legal[s])
            continue;
        NAME(hidden_of)(h, w, v, s, context, met, hidden);
        NAME(above)(hidden, nothing, HIDDEN);
        score += NAME(product)(hidden, w + h->policy + v->part * HIDDEN, HIDDEN);
        for (int i = 0; i < MET; i++)
            score += met[i] * w[h->met + (size_t)i];
        if (v->part == DEPLOY)
            score += w[h->deploy + (size_t)(v->to_place * h->squares + s)];
        logits[s] = score;
    }
}

/* The critic's hidden layer. */
KERNEL void NAME(critic_of)(const heads *h, const float *w, const view *v, float *out)
{
    memcpy(out, v->read + BOARD * h->c, (size_t)h->c * sizeof *out);
    if (v->part == TARGET)
        NAME(layer)(out, v->chosen, h->c, w + h->critic, h->c);
}

/* Means and maxima of a board, and what they and the counts bring to the critic's hidden layer. */
KERNEL void NAME(read_board)(const heads *h, const float *w, const float *board,
                             const float *counts, float *read)
{
    int c = h->c;
    for (int i = 0; i < c; i += LANES) {
        vector sum = LOAD(board + i), most = sum;
        for (int s = 1; s < h->squares; s++) {
            vector x = LOAD(board + s * c + i);
            sum = ADD(sum, x);
            most = MAX(most, x);
        }
        STORE(read + MEAN * c + i, FMA(SET(1.0f / (float)h->squares), sum, SET(0.0f)));
        STORE(read + MOST * c + i, most);
    }
    w += h->critic + (size_t)(c * c);
    memcpy(read + BOARD * c, w + (2 * c + COUNTS) * c, (size_t)c * sizeof *read);
    NAME(layer)(read + BOARD * c, read, 2 * c, w, c);
    NAME(layer)(read + BOARD * c, counts, COUNTS, w + 2 * c * c, c);
}

WHOLE void NAME(say)(const heads *h, const sk_views *v, const float *w, float *read, float *logits,
                     float *values)
{
    int c = h->c;
    for (int64_t i = 0; i < v->m; i++)
        NAME(read_board)
    (h, w, v->boards + i * h->squares * c, v->counts + i * COUNTS, read + i * READ * c);
    for (int64_t i = 0; i < v->n; i++) {
        float hidden[SK_FROMTO_CHANNELS], nothing[SK_FROMTO_CHANNELS] = {0};
        const view one = view_of(h, v, i);
        NAME(logits_of)(h, w, &one, logits + i * h->squares);
        NAME(critic_of)(h, w, &one, hidden);
        NAME(above)(hidden, nothing, c);
        values[i] = NAME(product)(hidden, w + h->value, c) + w[h->value + (size_t)c];
    }
}

/* Of the logits' gradients to those of a board and of weights, which are added. */
KERNEL void NAME(logits_gradient)(const heads *h, const float *w, const float *turned,
                                  const view *v, const float *of_logits, float *of_board,
                                  float *of_w)
{
    float context[HIDDEN], of_context[HIDDEN] = {0};
    size_t policy = h->policy + (size_t)(v->part * HIDDEN);
    NAME(context_of)(h, w, v, context);
    for (int s = 0; s < h->squares; s++) {
        float met[MET], hidden[HIDDEN], of_hidden[HIDDEN] = {0}, upon = of_logits[s];
        if (!v->legal[s] || upon == 0.0f)
            continue;
        NAME(hidden_of)(h, w, v, s, context, met, hidden);
        NAME(add)(of_hidden, upon, w + policy, HIDDEN);
        NAME(above)(hidden, of_hidden, HIDDEN);
        NAME(add)(of_w + policy, upon, hidden, HIDDEN);
        NAME(add)(of_context, 1.0f, of_hidden, HIDDEN);
        for (int i = 0; i < MET; i++)
            of_w[h->met + (size_t)i] += upon * met[i];
        of_w[h->scores + (size_t)v->part] += upon;
        if (v->part == DEPLOY)
            of_w[h->deploy + (size_t)(v->to_place * h->squares + s)] += upon;
        NAME(outer)(of_w, v->board + s * h->c, h->c, of_hidden, HIDDEN);
        NAME(outer)(of_w + h->outcome, met, MET, of_hidden, HIDDEN);
        NAME(layer)(of_board + s * h->c, of_hidden, HIDDEN, turned, h->c);
    }
    NAME(add)(of_w + h->part + v->part * HIDDEN, 1.0f, of_context, HIDDEN);
    if (v->part != TARGET)
        return;
    NAME(outer)(of_w + h->context, v->chosen, h->c, of_context, HIDDEN);
    NAME(layer)(of_board + v->square * h->c, of_context, HIDDEN, turned + h->context, h->c);
}

/* The same of a value's gradient, and what it adds to that of the critic's hidden layer. */
KERNEL void NAME(value_gradient)(const heads *h, const float *w, const float *turned, const view *v,
                                 float upon, float *of_board, float *of_read, float *of_w)
{
    float hidden[SK_FROMTO_CHANNELS], of_hidden[SK_FROMTO_CHANNELS] = {0};
    NAME(critic_of)(h, w, v, hidden);
    NAME(add)(of_hidden, upon, w + h->value, h->c);
    NAME(above)(hidden, of_hidden, h->c);
    NAME(add)(of_w + h->value, upon, hidden, h->c);
    of_w[h->value + (size_t)h->c] += upon;
    NAME(add)(of_read, 1.0f, of_hidden, h->c);
    if (v->part != TARGET)
        return;
    NAME(outer)(of_w + h->critic, v->chosen, h->c, of_hidden, h->c);
    NAME(layer)(of_board + v->square * h->c, of_hidden, h->c, turned + 2 * h->context, h->c);
}

/* What `read_board` does, backwards. Equal maxima share a gradient. */
KERNEL void NAME(read_gradient)(const heads *h, const float *turned, const float *board,
                                const float *counts, const float *read, const float *of_read,
                                float *of_board, float *of_w)
{
    int c = h->c;
    float of[2 * SK_FROMTO_CHANNELS] = {0};
    const float *most = read + MOST * c;
    size_t critic = h->critic + (size_t)(c * c);
    NAME(outer)(of_w + critic, read, 2 * c, of_read, c);
    NAME(outer)(of_w + critic + 2 * c * c, counts, COUNTS, of_read, c);
    NAME(add)(of_w + critic + (2 * c + COUNTS) * c, 1.0f, of_read, c);
    NAME(layer)(of, of_read, c, turned + 2 * h->context + c * c, 2 * c);
    for (int i = 0; i < c; i += LANES) {
        vector highest = LOAD(most + i), below = SET(0.0f), each[2];
        float ties[LANES], one = 1.0f / (float)h->squares;
        for (int s = 0; s < h->squares; s++)
            below = ADD(below, WHERE(SUB(highest, LOAD(board + s * c + i)), SET(1.0f)));
        STORE(ties, SUB(SET((float)h->squares), below));
        for (int r = 0; r < LANES; r++)
            of[c + i + r] /= ties[r];
        each[0] = FMA(SET(one), LOAD(of + i), LOAD(of + c + i));
        each[1] = LOAD(of + c + i);
        for (int s = 0; s < h->squares; s++) {
            float *to = of_board + s * c + i;
            vector lower = WHERE(SUB(highest, LOAD(board + s * c + i)), each[1]);
            STORE(to, ADD(LOAD(to), SUB(each[0], lower)));
        }
    }
}

WHOLE void NAME(gradient)(const heads *h, const sk_views *v, const float *w, const room *r,
                          const float *of_logits, const float *of_values, float *of_boards,
                          double *of_weights)
{
    int c = h->c, board = h->squares * c;
    for (int64_t i = 0; i < v->n; i++) {
        const view one = view_of(h, v, i);
        float *to = of_boards + one.position * board, *of_read = r->of_read + one.position * c;
        NAME(logits_gradient)(h, w, r->turned, &one, of_logits + i * h->squares, to, r->some);
        NAME(value_gradient)(h, w, r->turned, &one, of_values[i], to, of_read, r->some);
        if (i % VIEWS == VIEWS - 1)
            take(h, r->some, of_weights);
    }
    for (int64_t i = 0; i < v->m; i++) {
        NAME(read_gradient)
        (h, r->turned, v->boards + i * board, v->counts + i * COUNTS, v->read + i * READ * c,
         r->of_read + i * c, of_boards + i * board, r->some);
        if (i % VIEWS == VIEWS - 1 || i == v->m - 1)
            take(h, r->some, of_weights);
    }
}
