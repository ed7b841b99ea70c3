/* Best responses in Liar's Dice.
 *
 * Bids are public and rise, so the set of bids that were made, a bit each, is all that is public;
 * with a hand it is an information set, of the player whose turn the number of bids says. So one
 * walk through all sets of bids serves all hands at once: down with the reach of the opponent's
 * hands, deals included, and up with what each hand of the player who responds is worth
 * (best_response.c).
 */
#include "liars_dice.h"
#include "room.h"
#include "threads.h"

/* Bids that are left where the parts of the walk begin that threads share out. */
enum { PART = 12, MOST_HANDS = SK_MOST_ACTIONS };

typedef struct {
    double best[MOST_HANDS], value[MOST_HANDS];
} worth; /* of each hand of the player who responds */

typedef struct {
    int player, last;
    uint32_t made;
} piece; /* where a part begins; its numbers lie in `numbers` */

struct sk_dice_response {
    const liars_dice *game;
    const double *policy;
    int64_t
        *first; /* [sets of bids]: where the choices of its first hand begin, divided by hands */
    uint8_t *choices; /* [information sets], or NULL */
    int8_t *truth;    /* [bids][hands][hands]: 1 where the bid is true, else -1 */
    sk_pool *pool;
    piece *pieces;
    double
        *numbers; /* [pieces][3][hands]: the opponent's reach; what hands are worth: best, value */
    int64_t n_pieces, room_pieces, room_numbers, done;
    memory memory;
};

typedef struct {
    sk_dice_response *all;
    int player;
    int lists;    /* parts are listed */
    int64_t next; /* the part that comes next, of those that are done; -1: walks to the end */
} walk;

static int choices_of(const liars_dice *game, int last) { return game->bids - last - (last < 0); }

/* The player who acts has called the last bid: what the player who responds gets by this hand. */
static double called(const walk *w, int caller, int last, int hand, const double *reach)
{
    const sk_dice_response *r = w->all;
    int hands = r->game->hands;
    const int8_t *truth = r->truth + ((size_t)last * (size_t)hands + (size_t)hand) * (size_t)hands;
    double sum = 0;
    for (int other = 0; other < hands; other++)
        sum += reach[other] * truth[other];
    return caller == w->player ? -sum : sum;
}

static void decide(walk *w, uint32_t made, int last, int actor, const double *reach, worth *out);

/* What hands are worth after a choice of the acting player, a bid or the call. */
static void choose(walk *w, uint32_t made, int last, int actor, int bid, const double *reach,
                   worth *out)
{
    const liars_dice *game = w->all->game;
    if (bid < game->bids) {
        decide(w, made | (uint32_t)1 << bid, bid, !actor, reach, out);
        return;
    }
    for (int hand = 0; hand < game->hands; hand++)
        out->best[hand] = out->value[hand] = called(w, actor, last, hand, reach);
}

/* The walk has come to a part: it is listed, or what it has found is taken. */
static void at_piece(walk *w, uint32_t made, int last, const double *reach, worth *out)
{
    sk_dice_response *r = w->all;
    size_t hands = (size_t)r->game->hands, each = 3 * hands;
    memset(out, 0, sizeof *out);
    if (!w->lists) {
        const double *numbers = r->numbers + (size_t)w->next++ * each;
        memcpy(out->best, numbers + hands, hands * sizeof *numbers);
        memcpy(out->value, numbers + 2 * hands, hands * sizeof *numbers);
        return;
    }
    const char *wrong = GROW(r, pieces, r->n_pieces + 1);
    wrong = wrong ? wrong : GROW(r, numbers, (size_t)(r->n_pieces + 1) * each);
    if (wrong)
        return;
    memcpy(r->numbers + (size_t)r->n_pieces * each, reach, hands * sizeof *reach);
    r->pieces[r->n_pieces++] = (piece){w->player, last, made};
}

/* A choice of the player who responds is done: which hands it is best of. */
static void note_best(const sk_dice_response *r, uint32_t made, int choice, const worth *is,
                      const worth *so_far)
{
    int hands = r->game->hands;
    uint8_t *choices = r->choices + (size_t)made * (size_t)hands;
    for (int hand = 0; hand < hands; hand++)
        if (is->best[hand] > so_far->best[hand])
            choices[hand] = (uint8_t)choice;
}

static void decide(walk *w, uint32_t made, int last, int actor, const double *reach, worth *out)
{
    const sk_dice_response *r = w->all;
    const liars_dice *game = r->game;
    if (w->next >= 0 && game->bids - last <= PART) {
        at_piece(w, made, last, reach, out);
        return;
    }
    int n = choices_of(game, last), hands = game->hands, mine = actor == w->player;
    const double *rows = r->policy + r->first[made] * hands;
    double after[MOST_HANDS];
    worth is;
    for (int hand = 0; hand < hands; hand++) {
        out->best[hand] = mine ? -INFINITY : 0;
        out->value[hand] = 0;
    }
    for (int i = 0; i < n; i++) {
        for (int hand = 0; hand < hands; hand++)
            after[hand] = mine ? reach[hand] : reach[hand] * rows[hand * n + i];
        choose(w, made, last, actor, last + 1 + i, after, &is);
        if (mine && r->choices)
            note_best(r, made, i, &is, out);
        for (int hand = 0; hand < hands; hand++) {
            double more = is.best[hand], best = out->best[hand];
            out->best[hand] = !mine ? best + more : more > best ? more : best;
            out->value[hand] += mine ? rows[hand * n + i] * is.value[hand] : is.value[hand];
        }
    }
}

/* ---- The interface ---- */

int32_t sk_dice_bids(const sk_game *game)
{
    return sk_is_liars_dice(game) ? ((const liars_dice *)game)->bids : 0;
}

void sk_dice_hands(const sk_game *game, uint8_t *counts)
{
    const liars_dice *dice = (const liars_dice *)game;
    for (int hand = 0; hand < dice->hands; hand++)
        memcpy(counts + hand * dice->faces, dice->counts[hand], (size_t)dice->faces);
}

static const char *fill_tables(sk_dice_response *r)
{
    const liars_dice *game = r->game;
    size_t sets = (size_t)1 << game->bids, hands = (size_t)game->hands;
    r->first = malloc(sets * sizeof *r->first);
    r->truth = malloc((size_t)game->bids * hands * hands);
    r->memory.bytes += (int64_t)(sets * sizeof *r->first);
    if (!r->first || !r->truth)
        return no_memory;
    int64_t first = 0;
    for (size_t made = 0; made < sets; made++) {
        r->first[made] = first;
        first += choices_of(game, made ? 63 - __builtin_clzll(made) : -1);
    }
    int8_t *truth = r->truth;
    for (int bid = 0; bid < game->bids; bid++)
        for (int hand = 0; hand < game->hands; hand++)
            for (int other = 0; other < game->hands; other++)
                *truth++ = sk_bid_is_true(game, bid, hand, other) ? 1 : -1;
    return NULL;
}

const char *sk_dice_response_open(const sk_game *game, const double *policy, int32_t threads,
                                  uint8_t *choices, sk_dice_response **out)
{
    assert(sk_dice_bids(game) > 0 && sk_dice_bids(game) < 32);
    sk_dice_response *r = *out = calloc(1, sizeof *r);
    if (!r)
        return no_memory;
    r->game = (const liars_dice *)game;
    r->policy = policy;
    r->choices = choices;
    r->memory.most_bytes = INT64_MAX;
    r->pool = sk_pool_open(threads);
    const char *wrong = r->pool ? fill_tables(r) : no_memory;
    worth is;
    for (int player = 0; !wrong && player < 2; player++) {
        decide(&(walk){.all = r, .player = player, .lists = 1}, 0, -1, 0, r->game->probability,
               &is);
        wrong = r->memory.wrong;
    }
    return wrong;
}

void sk_dice_response_close(sk_dice_response *r)
{
    if (r->pool)
        sk_pool_close(r->pool);
    free(r->first);
    free(r->truth);
    free(r->pieces);
    free(r->numbers);
    free(r);
}

static void walk_pieces(void *context, int32_t begin, int32_t end)
{
    sk_dice_response *r = context;
    size_t hands = (size_t)r->game->hands;
    for (int64_t i = r->done + begin; i < r->done + end; i++) {
        const piece *p = &r->pieces[i];
        double *numbers = r->numbers + (size_t)i * 3 * hands;
        worth is;
        decide(&(walk){.all = r, .player = p->player, .next = -1}, p->made, p->last,
               __builtin_popcount(p->made) % 2, numbers, &is);
        memcpy(numbers + hands, is.best, hands * sizeof *numbers);
        memcpy(numbers + 2 * hands, is.value, hands * sizeof *numbers);
    }
}

int64_t sk_dice_response_pieces(const sk_dice_response *r) { return r->n_pieces; }

int64_t sk_dice_response_walk(sk_dice_response *r, int32_t pieces)
{
    int64_t left = r->n_pieces - r->done;
    int32_t n = left < pieces ? (int32_t)left : pieces;
    sk_pool_run(r->pool, walk_pieces, r, n, 1);
    r->done += n;
    return r->n_pieces - r->done;
}

void sk_dice_response_read(sk_dice_response *r, sk_response_result out[2])
{
    int64_t next = 0, bytes = r->memory.bytes;
    assert(r->done == r->n_pieces);
    for (int player = 0; player < 2; player++) {
        walk w = {.all = r, .player = player, .next = next};
        worth is;
        decide(&w, 0, -1, 0, r->game->probability, &is);
        next = w.next;
        double best = 0, value = 0;
        for (int hand = 0; hand < r->game->hands; hand++) {
            best += r->game->probability[hand] * is.best[hand];
            value += r->game->probability[hand] * is.value[hand];
        }
        int64_t sets = ((int64_t)1 << r->game->bids) / 2 * r->game->hands;
        out[player] =
            (sk_response_result){.best = best, .value = value, .infosets = sets, .bytes = bytes};
    }
}
