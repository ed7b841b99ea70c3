/* Diplomacy as a game (game.h): "diplomacy:NAME" or "diplomacy:FILE" (formats/diplomacy.md).
 *
 * The powers order one after the other, unseen by each other, each its provinces in their order. An
 * order is up to three actions: verb, whom, whither. When all have ordered, the phase is carried
 * out: a simultaneous turn. In adjustments DIP_HOLD keeps a unit, or builds nothing.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "../games.h"
#include "../rules_text.h"
#include "../small.h"
#include "played.h"

enum { LOCATIONS = DIP_VERBS }; /* the action of location l is LOCATIONS + l */
enum { ENDING_NONE, ENDING_SOLO, ENDING_YEARS, ENDING_QUIET };
enum { MOST_TEXT = 1 << 16 };

typedef struct {
    dip_position position;
    dip_order orders[DIP_PROVINCES]; /* of this phase, so far */
    dip_order last[DIP_PROVINCES];   /* of the phase before, all powers'; they are public */
    uint8_t power;                   /* to act */
    uint8_t at;                      /* the province that it orders */
    uint8_t stage, verb, whom;
    uint8_t ending;
    uint16_t turn; /* phases carried out */
} dip_state;

static const dip_order nothing = {DIP_HOLD, DIP_NONE, DIP_NONE};

/* ---- Whose turn it is to order what ---- */

/* The power that orders something in a province; DIP_NONE: nobody does. */
static int orderer(const dip_map *map, const dip_position *position, int p)
{
    uint8_t unit = position->unit[p], gone = position->dislodged[p];
    if (position->phase == SPRING_MOVES || position->phase == FALL_MOVES)
        return unit ? dip_power(unit) : DIP_NONE;
    if (position->phase != ADJUSTMENTS)
        return gone && dip_retreats(map, position, p) ? dip_power(gone) : DIP_NONE;
    if (unit)
        return dip_adjustment(map, position, dip_power(unit)) < 0 ? dip_power(unit) : DIP_NONE;
    dip_order some[4];
    return map->home[p] != DIP_NONE && dip_legal(map, position, p, some) ? map->home[p] : DIP_NONE;
}

/* How many builds or disbands of the acting power are still open. */
static int open_adjustments(const dip_map *map, const dip_state *state)
{
    int left = abs(dip_adjustment(map, &state->position, state->power));
    for (int p = 0; p < state->at; p++)
        left -=
            orderer(map, &state->position, p) == state->power && state->orders[p].verb != DIP_HOLD;
    return left;
}

/* Provinces of the acting power from the present one on. */
static int provinces_left(const dip_map *map, const dip_state *state)
{
    int n = 0;
    for (int p = state->at; p < map->provinces; p++)
        n += orderer(map, &state->position, p) == state->power;
    return n;
}

static int find_ending(const diplomacy *game, const dip_position *position)
{
    int centres[DIP_POWERS + 1] = {0}, alive = 0;
    for (int c = 0; c < game->map.centres; c++)
        centres[position->owner[c]]++;
    for (int power = 0; power < game->map.powers; power++) {
        int units = 0;
        for (int p = 0; p < game->map.provinces; p++)
            units += position->unit[p] && dip_power(position->unit[p]) == power;
        if (centres[1 + power] >= game->map.win)
            return ENDING_SOLO;
        alive += units || centres[1 + power];
    }
    if (alive <= 1)
        return ENDING_SOLO;
    if (position->year + (position->phase == ADJUSTMENTS) >= game->years)
        return ENDING_YEARS;
    return game->quiet && position->quiet >= game->quiet ? ENDING_QUIET : ENDING_NONE;
}

/* Goes on to the next province that is to be ordered, carrying out phases on the way. */
static void advance(const diplomacy *game, dip_state *state)
{
    const dip_map *map = &game->map;
    for (;;) {
        for (; state->power < map->powers; state->power++, state->at = 0) {
            if (state->position.phase == ADJUSTMENTS && !open_adjustments(map, state))
                continue;
            for (; state->at < map->provinces; state->at++)
                if (orderer(map, &state->position, state->at) == state->power)
                    return;
        }
        memcpy(state->last, state->orders, sizeof state->last);
        dip_resolve(map, &state->position, state->orders);
        for (int p = 0; p < DIP_PROVINCES; p++)
            state->orders[p] = nothing;
        state->power = state->at = 0;
        state->turn++;
        /* Centres have changed hands when neither fall nor its retreats are left. */
        if (state->position.phase == ADJUSTMENTS || state->position.phase == SPRING_MOVES)
            state->ending = (uint8_t)find_ending(game, &state->position);
        if (state->ending)
            return;
    }
}

/* ---- The table ---- */

static void rewind_turn(const sk_game *base, void *block)
{
    dip_state *state = block;
    for (int p = 0; p < DIP_PROVINCES; p++)
        state->orders[p] = nothing;
    state->power = state->at = state->stage = state->verb = 0;
    state->whom = DIP_NONE;
    advance(as_diplomacy(base), state);
}

static void reset(const sk_game *base, void *block)
{
    const diplomacy *game = as_diplomacy(base);
    dip_state *state = block;
    memset(state, 0, sizeof *state);
    state->position = game->map.start;
    for (int p = 0; p < DIP_PROVINCES; p++)
        state->orders[p] = state->last[p] = nothing;
    state->whom = DIP_NONE;
    advance(game, state);
}

static int actor(const sk_game *base, const void *block)
{
    const dip_state *state = block;
    return state->ending ? SK_OVER : state->power;
}

static int turn(const sk_game *base, const void *block)
{
    const dip_state *state = block;
    return state->ending ? -1 : state->turn;
}

/* The verbs, or the locations, among the orders that fit what was chosen so far. */
static sk_bits choices(const dip_map *map, const dip_state *state)
{
    dip_order some[DIP_MOST_ORDERS];
    int n = dip_legal(map, &state->position, state->at, some);
    sk_bits out = 0;
    for (int i = 0; i < n; i++) {
        if (state->stage == ASK_VERB)
            out |= bit(some[i].verb);
        else if (some[i].verb == state->verb && state->stage == ASK_WHOM)
            out |= bit(LOCATIONS + some[i].whom);
        else if (some[i].verb == state->verb && some[i].whom == state->whom)
            out |= bit(LOCATIONS + some[i].whither);
    }
    if (state->position.phase == ADJUSTMENTS && state->stage == ASK_VERB) {
        int building = !state->position.unit[state->at];
        if (building || provinces_left(map, state) > open_adjustments(map, state))
            out |= bit(DIP_HOLD);
    }
    return out;
}

static int legal(const sk_game *base, const void *block, int32_t *actions)
{
    const dip_state *state = block;
    int n = 0;
    if (state->ending)
        return 0;
    for (sk_bits left = choices(&as_diplomacy(base)->map, state); left; left &= left - 1)
        actions[n++] = lsb(left);
    return n;
}

static void finish_order(const diplomacy *game, dip_state *state, int whither)
{
    state->orders[state->at] = (dip_order){state->verb, state->whom, (uint8_t)whither};
    state->stage = ASK_VERB;
    state->verb = 0;
    state->whom = DIP_NONE;
    state->at++;
    advance(game, state);
}

static void apply(const sk_game *base, void *block, int32_t action)
{
    const diplomacy *game = as_diplomacy(base);
    dip_state *state = block;
    assert(in_list(base, block, action));
    if (state->stage == ASK_WHITHER) {
        finish_order(game, state, action - LOCATIONS);
        return;
    }
    if (state->stage == ASK_WHOM) {
        state->whom = (uint8_t)(action - LOCATIONS);
        state->stage = ASK_WHITHER;
        if (state->verb == DIP_SUPPORT_HOLD)
            finish_order(game, state, DIP_NONE);
        return;
    }
    int verb = action;
    state->verb = (uint8_t)verb;
    if (verb == DIP_HOLD || verb == DIP_DISBAND)
        finish_order(game, state, DIP_NONE);
    else
        state->stage = verb == DIP_SUPPORT_HOLD || verb == DIP_SUPPORT_MOVE || verb == DIP_CONVOY
                           ? ASK_WHOM
                           : ASK_WHITHER;
}

/* How many actions the others' orders took is hidden: what is asked is known, and is asked once. */
static int32_t number(const sk_game *base, const void *block)
{
    const dip_state *state = block;
    const dip_position *position = &state->position;
    int phase = position->year * (ADJUSTMENTS + 1) + position->phase;
    return (phase * DIP_PROVINCES + state->at) * (ASK_WHITHER + 1) + state->stage;
}

/* A solo takes all. Otherwise a power's share is the square of its centres among all squares. Of
 * two players one gets what the other pays: the difference of shares. */
static void returns(const sk_game *base, const void *block, float *out)
{
    const diplomacy *game = as_diplomacy(base);
    const dip_state *state = block;
    int n = game->map.powers, best = 0;
    float squares[DIP_POWERS] = {0}, sum = 0;
    memset(out, 0, (size_t)n * sizeof *out);
    if (!state->ending)
        return;
    for (int power = 0; power < n; power++) {
        int centres = 0;
        for (int c = 0; c < game->map.centres; c++)
            centres += state->position.owner[c] == 1 + power;
        squares[power] = (float)(centres * centres);
        sum += squares[power];
        best = squares[power] > squares[best] ? power : best;
    }
    for (int power = 0; power < n; power++)
        out[power] = state->ending == ENDING_SOLO ? (float)(power == best)
                     : sum > 0                    ? squares[power] / sum
                                                  : 1.0f / (float)n;
    if (n == 2)
        pay(out, out[0] - out[1]);
}

static int ending(const sk_game *base, const void *block)
{
    return ((const dip_state *)block)->ending;
}

/* Turns. */
static int plies(const sk_game *base, const void *block)
{
    return ((const dip_state *)block)->turn;
}

/* ---- What a power sees: everything but the others' orders of this phase ---- */

/* Features, which a network sees, and then the view itself: it tells all that a power knows. */
static void observe(const sk_game *base, const void *block, uint8_t *packed)
{
    const dip_map *map = &as_diplomacy(base)->map;
    const dip_state *state = block;
    dip_view view = {.position = state->position,
                     .power = state->power,
                     .at = state->at,
                     .stage = state->stage,
                     .verb = state->verb,
                     .whom = state->whom};
    memcpy(view.last, state->last, sizeof view.last);
    for (int p = 0; p < DIP_PROVINCES; p++) {
        int own = p < map->provinces && orderer(map, &state->position, p) == state->power;
        view.own[p] = own ? state->orders[p] : nothing;
    }
    dip_write_features(map, &view, packed);
    memcpy(packed + base->is.planes, &view, sizeof view);
}

static void print_rules(const sk_game *base, char *out, size_t size)
{
    const diplomacy *game = as_diplomacy(base);
    snprintf(out, size, "years=%d max_quiet=%d", game->years, game->quiet);
}

static const sk_ops ops = {.reset = reset,
                           .actor = actor,
                           .legal = legal,
                           .legal_mask = mask_from_list,
                           .is_legal = in_list,
                           .apply = apply,
                           .returns = returns,
                           .ending = ending,
                           .plies = plies,
                           .observe = observe,
                           .expand = expand_bytes,
                           .rules = print_rules,
                           .turn = turn,
                           .number = number,
                           .rewind = rewind_turn};
static const char *const endings[] = {"", "solo", "max_years", "max_quiet", NULL};

/* The bytes of a file, or NULL and why not. */
static char *read_text(const char *path, char *error, size_t error_size)
{
    FILE *file = fopen(path, "r");
    char *text = file ? calloc(1, MOST_TEXT + 1) : NULL;
    size_t n = text ? fread(text, 1, MOST_TEXT + 1, file) : 0;
    const char *wrong = !file                ? strerror(errno)
                        : !text              ? "out of memory"
                        : ferror(file)       ? "cannot be read"
                        : n > MOST_TEXT      ? "too long for a map"
                        : memchr(text, 0, n) ? "zero bytes are in no map"
                                             : NULL;
    if (file)
        fclose(file);
    if (!wrong)
        return text;
    snprintf(error, error_size, "%s", wrong);
    free(text);
    return NULL;
}

static int32_t longest_game(const diplomacy *game)
{
    int units = game->map.centres;
    for (int p = 0, first = 0; p < game->map.provinces; p++) {
        first += game->map.start.unit[p] != 0;
        units = first > units ? first : units;
    }
    return game->years * (2 * 3 * units + 2 * 2 * units + 2 * game->map.provinces);
}

sk_game *sk_open_diplomacy(const char *parameter, const char *rules, char *error, size_t error_size)
{
    diplomacy *game = calloc(1, sizeof *game);
    if (!game) {
        snprintf(error, error_size, "out of memory");
        return NULL;
    }
    const char *known = dip_map_text(parameter);
    char *read = known ? NULL : read_text(parameter, error, error_size);
    int ok = (known || read) && dip_read_map(&game->map, known ? known : read, error, error_size);
    free(read);
    game->years = game->map.years;
    game->quiet = 3;
    const rule_slot slots[] = {
        {"years", &game->years, 1, 250}, {"max_quiet", &game->quiet, 0, 250}, {0}};
    if (!ok || !sk_read_rules(rules, slots, error, error_size)) {
        free(game);
        return NULL;
    }
    game->base =
        (sk_game){.ops = &ops,
                  .endings = endings,
                  .is = {.players = game->map.powers,
                         .actions = LOCATIONS + game->map.locations,
                         .max_length = longest_game(game),
                         .state_bytes = (int32_t)sizeof(dip_state),
                         .observation_bytes = dip_features(&game->map) + (int32_t)sizeof(dip_view),
                         .planes = dip_features(&game->map),
                         .actions_per_ply = 1,
                         .unit = 1,
                         .largest_return = INFINITY}};
    return &game->base;
}
