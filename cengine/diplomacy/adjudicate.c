/* Adjudication of moves: the rules as equations between orders, solved by guessing.
 *
 * Strengths are those of DATC, chapter 5.B (Lucas Kruijswijk). An order's result (a move succeeds,
 * a support is given, a convoying fleet stays) depends on other results, sometimes in a circle. As
 * in Kruijswijk's "The Math of Adjudication" a result that depends on itself is guessed both ways.
 * If one guess agrees with what follows from it, it is the result. Otherwise the orders of the
 * circle are a circular movement, whose moves succeed, or a convoy paradox, whose convoys fail
 * (Szykman's rule: DATC 4.A.2). A convoyed army needs one route that holds (4.A.1).
 */
#include <assert.h>
#include <string.h>

#include "diplomacy.h"

enum { UNKNOWN, GUESSED, KNOWN };

typedef struct {
    const dip_map *map;
    const dip_position *position;
    dip_order orders[DIP_PROVINCES]; /* an order that does not match is a hold */
    uint8_t to[DIP_PROVINCES];       /* where the unit moves, a province; DIP_NONE */
    uint8_t via[DIP_PROVINCES];
    sk_bits units;
    sk_bits attackers[DIP_PROVINCES]; /* units that move there */
    sk_bits supports[DIP_PROVINCES];  /* units that support the unit, as it is ordered */
    sk_bits convoys[DIP_PROVINCES];   /* fleets that convoy the unit, as it is ordered */
    uint8_t state[DIP_PROVINCES], result[DIP_PROVINCES];
    uint8_t circle[DIP_PROVINCES]; /* results that depend on a guess */
    int n_circle;
} solver;

static int resolve(solver *s, int p);

static int power_of(const solver *s, int p) { return dip_power(s->position->unit[p]); }

/* ---- Strengths ---- */

/* 1 and the supports that are given, but for those of a power (-1: of nobody). */
static int strength(solver *s, int p, int except)
{
    int sum = 1;
    for (sk_bits left = s->supports[p]; left; left &= left - 1)
        if (power_of(s, lsb(left)) != except)
            sum += resolve(s, lsb(left));
    return sum;
}

/* Whether some of the fleets make a way from the unit to its destination. */
static int is_way(const solver *s, int p, sk_bits fleets)
{
    sk_bits front = s->map->sea_beside[p] & fleets, goal = s->map->sea_beside[s->to[p]] & fleets;
    for (sk_bits seen = front; front && goal;) {
        if (seen & goal)
            return 1;
        sk_bits next = 0;
        for (; front; front &= front - 1)
            next |= s->map->near[lsb(front)];
        front = next & fleets & ~seen;
        seen |= front;
    }
    return 0;
}

/* PATH: over land always; by convoy if fleets that stay make a way. */
static int has_path(solver *s, int p)
{
    if (!s->via[p])
        return 1;
    sk_bits fleets = s->convoys[p];
    if (!is_way(s, p, fleets))
        return 0;
    for (sk_bits left = s->convoys[p]; left; left &= left - 1)
        if (!resolve(s, lsb(left)))
            fleets &= ~bit(lsb(left));
    return is_way(s, p, fleets);
}

/* Whether two units move to each other's place, neither by convoy. */
static int head_to_head(const solver *s, int p, int q)
{
    return s->to[q] == p && s->to[p] == q && !s->via[p] && !s->via[q];
}

/* What keeps others from moving where p wants to go. */
static int prevent_strength(solver *s, int p)
{
    int to = s->to[p];
    if (!has_path(s, p) || (head_to_head(s, p, to) && resolve(s, to)))
        return 0;
    return strength(s, p, -1);
}

/* ---- Results, from those of other orders ---- */

static int move_succeeds(solver *s, int p)
{
    int to = s->to[p], there = has(s->units, to), power = power_of(s, p);
    if (!has_path(s, p))
        return 0;
    int head = there && head_to_head(s, p, to), moves = there && s->to[to] != DIP_NONE;
    int attack, defence = 0;
    if (!there || (moves && !head && resolve(s, to)))
        attack = strength(s, p, -1);
    else if (power_of(s, to) == power)
        return 0;
    else {
        attack = strength(s, p, power_of(s, to));
        defence = moves && !head ? 1 : strength(s, to, -1);
    }
    if (attack <= defence)
        return 0;
    for (sk_bits left = s->attackers[to] & ~bit(p); left; left &= left - 1)
        if (attack <= prevent_strength(s, lsb(left)))
            return 0;
    return 1;
}

/* The place that a support is directed against; DIP_NONE for a support to hold. */
static int against(const solver *s, int p)
{
    const dip_order *order = &s->orders[p];
    return order->verb == DIP_SUPPORT_MOVE ? s->map->parent[order->whither] : DIP_NONE;
}

static int support_is_given(solver *s, int p)
{
    int target = against(s, p);
    for (sk_bits left = s->attackers[p]; left; left &= left - 1) {
        int q = lsb(left);
        if (q == target ? resolve(s, q) : power_of(s, q) != power_of(s, p) && has_path(s, q))
            return 0;
    }
    return 1;
}

static int fleet_stays(solver *s, int p)
{
    for (sk_bits left = s->attackers[p]; left; left &= left - 1)
        if (resolve(s, lsb(left)))
            return 0;
    return 1;
}

static int follows(solver *s, int p)
{
    if (s->to[p] != DIP_NONE)
        return move_succeeds(s, p);
    return s->orders[p].verb == DIP_CONVOY ? fleet_stays(s, p) : support_is_given(s, p);
}

/* ---- Circles ---- */

/* Forgets the results that were added to the circle. */
static void forget(solver *s, int n)
{
    while (s->n_circle > n)
        s->state[s->circle[--s->n_circle]] = UNKNOWN;
}

/* A circle with two solutions or none. */
static void break_circle(solver *s, int n)
{
    int paradox = 0, last = s->n_circle;
    for (int i = n; i < last; i++)
        paradox |= s->orders[s->circle[i]].verb == DIP_CONVOY;
    for (int i = n; i < last; i++) {
        int p = s->circle[i];
        int decided = paradox ? s->orders[p].verb == DIP_CONVOY : s->to[p] != DIP_NONE;
        s->state[p] = decided ? KNOWN : UNKNOWN;
        s->result[p] = !paradox;
    }
    s->n_circle = n;
}

static void note(solver *s, int p)
{
    for (int i = 0; i < s->n_circle; i++)
        if (s->circle[i] == p)
            return;
    s->circle[s->n_circle++] = (uint8_t)p;
}

/* Whether a move succeeds, a support is given, a convoying fleet stays. */
static int resolve(solver *s, int p)
{
    if (s->state[p] == KNOWN)
        return s->result[p];
    if (s->state[p] == GUESSED) {
        note(s, p);
        return s->result[p];
    }
    int n = s->n_circle;
    s->result[p] = 0;
    s->state[p] = GUESSED;
    int first = follows(s, p);
    if (s->n_circle == n) { /* no guess was needed */
        s->state[p] = KNOWN;
        return s->result[p] = (uint8_t)first;
    }
    if (s->circle[n] != p) { /* another's guess was */
        note(s, p);
        return s->result[p] = (uint8_t)first;
    }
    forget(s, n);
    s->result[p] = 1;
    s->state[p] = GUESSED;
    int second = follows(s, p);
    if (first == second) {
        forget(s, n);
        s->state[p] = KNOWN;
        return s->result[p] = (uint8_t)first;
    }
    break_circle(s, n);
    return resolve(s, p);
}

/* ---- Orders that match ---- */

/* Whether the supported or convoyed unit does what is supported. */
static int matches(const solver *s, dip_order order)
{
    if (order.whom >= s->map->provinces || !has(s->units, order.whom))
        return 0;
    int to = s->to[order.whom];
    if (order.verb == DIP_SUPPORT_HOLD)
        return to == DIP_NONE;
    if (to != s->map->parent[order.whither])
        return 0;
    if (order.verb == DIP_CONVOY)
        return s->via[order.whom];
    return order.whither < s->map->provinces || order.whither == s->orders[order.whom].whither;
}

static void read_orders(solver *s, const dip_order *orders)
{
    for (int p = 0; p < s->map->provinces; p++) {
        s->to[p] = DIP_NONE;
        if (!s->position->unit[p])
            continue;
        s->units |= bit(p);
        s->orders[p] = orders[p];
        if (orders[p].verb == DIP_MOVE || orders[p].verb == DIP_VIA) {
            s->to[p] = s->map->parent[orders[p].whither];
            s->via[p] = orders[p].verb == DIP_VIA;
            s->attackers[s->to[p]] |= bit(p);
        }
    }
    for (sk_bits left = s->units; left; left &= left - 1) {
        int p = lsb(left), verb = s->orders[p].verb;
        if (verb != DIP_SUPPORT_HOLD && verb != DIP_SUPPORT_MOVE && verb != DIP_CONVOY)
            continue;
        if (!matches(s, s->orders[p]))
            s->orders[p].verb = DIP_HOLD;
        else if (verb == DIP_CONVOY)
            s->convoys[s->orders[p].whom] |= bit(p);
        else
            s->supports[s->orders[p].whom] |= bit(p);
    }
    /* Where the fleets that convoy make no way, an army goes over land if it can (DATC 4.A.3). */
    for (sk_bits left = s->units; left; left &= left - 1) {
        int p = lsb(left);
        if (s->via[p] && has(s->map->army[p], s->to[p]) && !is_way(s, p, s->convoys[p]))
            s->via[p] = 0;
    }
}

/* ---- What comes of it ---- */

/* Whether a move that failed makes its destination contested. */
static int stands_off(solver *s, int p) { return prevent_strength(s, p) > 0; }

/* What the order of a unit came to; `ordered` is its verb, before orders that do not match became
 * holds. */
static int outcome(solver *s, int p, int ordered)
{
    const dip_order *order = &s->orders[p];
    int whom = order->whom, convoys = order->verb == DIP_CONVOY;
    if (order->verb != ordered || (convoys && !is_way(s, whom, s->convoys[whom])))
        return DIP_VOID;
    if (ordered == DIP_HOLD || resolve(s, p))
        return DIP_CARRIED_OUT;
    if (s->to[p] == DIP_NONE)
        return convoys ? DIP_DISRUPTED : DIP_CUT;
    return has_path(s, p) ? DIP_BOUNCE : DIP_NO_CONVOY;
}

void dip_adjudicate(const dip_map *map, dip_position *position, const dip_order *orders,
                    uint8_t *outcomes)
{
    solver s;
    memset(&s, 0, sizeof s);
    s.map = map;
    s.position = position;
    read_orders(&s, orders);
    sk_bits gone = 0, standoff = 0;
    for (sk_bits left = s.units; left; left &= left - 1) {
        int p = lsb(left);
        if (s.to[p] == DIP_NONE)
            continue;
        if (resolve(&s, p))
            gone |= bit(p);
        else if (stands_off(&s, p))
            standoff |= bit(s.to[p]);
    }
    dip_position next = *position;
    memset(next.dislodged, 0, sizeof next.dislodged);
    memset(next.from, DIP_NONE, sizeof next.from);
    memset(next.contested, 0, sizeof next.contested);
    for (sk_bits left = gone; left; left &= left - 1)
        next.unit[lsb(left)] = 0;
    for (sk_bits left = gone; left; left &= left - 1) {
        int p = lsb(left), to = s.to[p];
        if (has(s.units & ~gone, to)) {
            next.dislodged[to] = position->unit[to];
            next.from[to] = s.via[p] ? DIP_NONE : (uint8_t)p;
        }
        next.unit[to] = dip_at(map, position->unit[p], s.orders[p].whither);
    }
    for (sk_bits left = standoff; left; left &= left - 1)
        if (!next.unit[lsb(left)])
            next.contested[lsb(left) / 8] |= (uint8_t)(1 << lsb(left) % 8);
    for (int p = 0; outcomes && p < map->provinces; p++)
        outcomes[p] = has(s.units, p) ? (uint8_t)outcome(&s, p, orders[p].verb) : 0;
    *position = next;
}
