/* Worlds, for every game that has them: what a player knows is the same in all of them, and so are
 * the worlds whatever the truth is; they are as often drawn as an enumeration of all histories
 * says.
 *
 *   worlds leaks            random games; prints GAME POSITIONS and in how many the truth differed
 *   worlds planted          the same with faults planted, each of which must be found
 *   worlds frequencies N    prints GAME WORLDS STATISTIC: chi-square of N draws at one decision
 *   worlds biased N         the same with a bias planted
 */
#include <string.h>

#include "fuzz/input.h"
#include "stratego.h"

enum { ROOM = 1024, MOST_WORLDS = 400, MOST_HISTORIES = 300000, MEMORY = 64, SEEN = 1024 };

static int32_t random_legal(const sk_game *game, const void *state, philox_draws *draws)
{
    int32_t actions[SK_MOST_ACTIONS * SK_MOST_ACTIONS];
    return actions[philox_below(draws, game->ops->legal(game, state, actions))];
}

static philox_draws numbers(uint32_t what, int32_t which)
{
    uint32_t key[2];
    philox_decision_key(7, what, 0, 0, key);
    return philox_world(key, which);
}

static const char *world(const sk_game *game, const void *truth, void *out, int32_t which)
{
    philox_draws draws = numbers(1, which);
    memcpy(out, truth, (size_t)game->is.state_bytes);
    return game->ops->redeal(game, out, &draws);
}

/* ---- What every world must be ---- */

/* All of the state but the enemy's ranks and what follows from them. */
static int same_history(const stratego_state *truth, const stratego_state *other)
{
    stratego_state copy = *other;
    int enemy = !truth->side;
    if (truth->phase != PLACING)
        for (int i = 0; i < MAX_SQUARES; i++)
            if (has(truth->pieces[enemy], i)) {
                int hidden = !(truth->cells[i] & CELL_REVEALED);
                copy.cells[i] = (uint8_t)((copy.cells[i] & ~(hidden ? CELL_TYPE : 0))
                                          | (truth->cells[i] & (hidden ? CELL_TYPE : 0)));
            }
    if (truth->phase == PLACING) {
        memcpy(copy.cells, truth->cells, sizeof copy.cells);
        copy.pieces[enemy] = truth->pieces[enemy];
    }
    copy.movers[enemy] = truth->movers[enemy];
    return memcmp(&copy, truth, sizeof copy) == 0;
}

/* What is wrong with a world of `truth`, or NULL. */
static const char *fault_of(const sk_game *game, const void *truth, const void *other)
{
    uint8_t seen[2][SEEN] = {{0}};
    int32_t legal[2][SK_MOST_ACTIONS * SK_MOST_ACTIONS];
    int stratego = game->ops->apply == stratego_apply;
    if (stratego && !stratego_is_ok(as_stratego(game), other))
        return "no state of the game";
    if (game->ops->actor(game, truth) != game->ops->actor(game, other))
        return "another player acts";
    game->ops->observe(game, truth, seen[0]);
    game->ops->observe(game, other, seen[1]);
    if (memcmp(seen[0], seen[1], SEEN) != 0)
        return "another observation";
    int n = game->ops->legal(game, truth, legal[0]);
    if (n != game->ops->legal(game, other, legal[1])
        || memcmp(legal[0], legal[1], (size_t)n * sizeof **legal) != 0)
        return "other legal actions";
    if (stratego && !same_history(truth, other))
        return "another history";
    return NULL;
}

/* The engine's assertions look at every state. */
static void play_on(const sk_game *game, const void *from, philox_draws *draws)
{
    _Alignas(64) uint8_t state[ROOM];
    memcpy(state, from, (size_t)game->is.state_bytes);
    for (int i = 0; i < 20 && game->ops->actor(game, state) != SK_OVER; i++)
        game->ops->apply(game, state, random_legal(game, state, draws));
}

static long positions, other_truths;

/* Draws worlds of a state and of the same with the truth redealt; what is wrong, or NULL. */
static const char *compare(const sk_game *game, const sk_game *sound, const void *state,
                           philox_draws *draws)
{
    _Alignas(64) uint8_t redealt[ROOM], one[ROOM], two[ROOM];
    size_t size = (size_t)game->is.state_bytes;
    philox_draws again = numbers(2, (int32_t)positions);
    memcpy(redealt, state, size);
    MUST(!sound->ops->redeal(sound, redealt, &again));
    positions++;
    other_truths += memcmp(redealt, state, size) != 0;
    for (int i = 0; i < 2; i++) {
        MUST(!world(game, state, one, 2 * (int32_t)positions + i));
        MUST(!world(game, redealt, two, 2 * (int32_t)positions + i));
        const char *wrong = fault_of(game, state, one);
        if (wrong)
            return wrong;
        if (memcmp(one, two, size) != 0)
            return "the truth shows";
    }
    play_on(sound, one, draws);
    return NULL;
}

/* Random games of at least that many positions; the first fault, or NULL. */
static const char *play(const sk_game *game, const sk_game *sound, long wanted)
{
    _Alignas(64) uint8_t state[ROOM];
    philox_draws draws = numbers(3, 0);
    MUST(game->is.state_bytes <= ROOM && game->is.observation_bytes <= SEEN);
    positions = other_truths = 0;
    while (positions < wanted)
        for (game->ops->reset(game, state); game->ops->actor(game, state) != SK_OVER;
             game->ops->apply(game, state, random_legal(game, state, &draws))) {
            const char *wrong = NULL;
            /* Long games have many positions alike. */
            if (game->ops->actor(game, state) >= 0
                && (game->is.max_length < 100 || philox_below(&draws, 8) == 0))
                wrong = compare(game, sound, state, &draws);
            if (wrong)
                return wrong;
        }
    return NULL;
}

static sk_game *open_game(const char *name)
{
    char error[200];
    sk_game *game = sk_game_open(name, "", error, sizeof error);
    MUST(game && game->ops->redeal);
    return game;
}

/* ---- Faults that must be found ---- */

static const char *the_truth(const sk_game *game, void *state, philox_draws *draws)
{
    (void)game, (void)state, (void)draws;
    return NULL;
}

static sk_bits hidden_enemies(const stratego_state *s)
{
    sk_bits set = 0;
    for (int i = 0; i < MAX_SQUARES; i++)
        if (has(s->pieces[!s->side], i) && !(s->cells[i] & CELL_REVEALED))
            set |= bit(i);
    return set;
}

/* Exchanges two hidden pieces; with `free`, whatever they are. */
static void exchange(stratego_state *s, philox_draws *draws, int free)
{
    sk_bits set = s->phase == PLACING ? 0 : hidden_enemies(s);
    if (!set)
        return;
    uint8_t *a = &s->cells[random_bit(set, philox_word(draws))];
    uint8_t *b = &s->cells[random_bit(set, philox_word(draws))];
    int types[2] = {cell_type(*a), cell_type(*b)};
    if (!free && (!type_moves(types[0]) || !type_moves(types[1])))
        return;
    *a = (uint8_t)((*a & ~CELL_TYPE) | types[1]);
    *b = (uint8_t)((*b & ~CELL_TYPE) | types[0]);
}

static const char *shuffled_truth(const sk_game *game, void *state, philox_draws *draws)
{
    (void)game;
    exchange(state, draws, 0);
    return NULL;
}

static const char *moved_bombs(const sk_game *game, void *state, philox_draws *draws)
{
    stratego_state *s = state;
    const char *wrong = stratego_redeal(game, s, draws);
    exchange(s, draws, 1);
    for (int i = 0; i < MAX_SQUARES && s->phase != PLACING; i++)
        if (has(s->pieces[!s->side], i))
            s->movers[!s->side] = type_moves(cell_type(s->cells[i]))
                                      ? s->movers[!s->side] | bit(i)
                                      : s->movers[!s->side] & ~bit(i);
    return wrong;
}

static const char *stale_movers(const sk_game *game, void *state, philox_draws *draws)
{
    stratego_state *s = state;
    sk_bits before = s->movers[!s->side];
    const char *wrong = stratego_redeal(game, s, draws);
    s->movers[!s->side] = before;
    return wrong;
}

static const char *all_revealed(const sk_game *game, void *state, philox_draws *draws)
{
    stratego_state *s = state;
    sk_bits hidden = hidden_enemies(s);
    const char *wrong = stratego_redeal(game, s, draws);
    for (; hidden && s->phase != PLACING; hidden &= hidden - 1) {
        s->unrevealed[!s->side][cell_type(s->cells[lsb(hidden)])]--;
        s->cells[lsb(hidden)] |= CELL_REVEALED;
    }
    return wrong;
}

static const char *lost_moved_marks(const sk_game *game, void *state, philox_draws *draws)
{
    stratego_state *s = state;
    const char *wrong = stratego_redeal(game, s, draws);
    for (sk_bits set = hidden_enemies(s); set; set &= set - 1)
        s->cells[lsb(set)] &= (uint8_t)~CELL_MOVED;
    return wrong;
}

static const char *no_history(const sk_game *game, void *state, philox_draws *draws)
{
    stratego_state *s = state;
    s->recorded = 0;
    s->chases[RED].begun = s->chases[BLUE].begun = NO_CHASE;
    return stratego_redeal(game, s, draws);
}

static const char *forgotten_crossings(const sk_game *game, void *state, philox_draws *draws)
{
    stratego_state *s = state;
    memset(&s->crossings[!s->side], 0, sizeof *s->crossings);
    return stratego_redeal(game, s, draws);
}

static const struct {
    const char *name;
    const char *(*redeal)(const sk_game *, void *, philox_draws *);
} faults[] = {{"the truth", the_truth},          {"the truth shuffled", shuffled_truth},
              {"bombs that moved", moved_bombs}, {"stale movers", stale_movers},
              {"all revealed", all_revealed},    {"lost marks of moves", lost_moved_marks},
              {"no history", no_history},        {"forgotten crossings", forgotten_crossings}};

static void plant_all(const char *name)
{
    sk_game *sound = open_game(name), *faulty = open_game(name);
    sk_ops ops = *sound->ops;
    faulty->ops = &ops;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        ops.redeal = faults[i].redeal;
        const char *found = play(faulty, sound, 3000);
        printf("%s: %s: %s\n", name, faults[i].name, found ? found : "not found");
    }
    sk_game_close(sound);
    sk_game_close(faulty);
}

/* ---- How often: against all histories that agree with what a player knows ---- */

typedef struct {
    int player, n;
    uint8_t seen[MEMORY][SEEN];
    int32_t actions[MEMORY];
} memory; /* the player's own decisions so far; the last one has no action */

typedef struct {
    int n;
    long histories;
    double sum, weights[MOST_WORLDS];
    uint8_t states[MOST_WORLDS][ROOM];
    long drawn[MOST_WORLDS];
} census;

static memory remembered;
static census found;

/* Whether a history is as likely as random play makes it: where they differ in length. */
static int at_random;

static int place_of(const sk_game *game, const void *state)
{
    for (int i = 0; i < found.n; i++)
        if (memcmp(found.states[i], state, (size_t)game->is.state_bytes) == 0)
            return i;
    return -1;
}

static void add_world(const sk_game *game, const void *state, double weight)
{
    int at = place_of(game, state);
    if (at < 0 && found.n == MOST_WORLDS)
        found.histories = MOST_HISTORIES;
    if (found.histories >= MOST_HISTORIES)
        return;
    if (at < 0) {
        at = found.n++;
        memcpy(found.states[at], state, (size_t)game->is.state_bytes);
        found.weights[at] = 0;
    }
    found.weights[at] += weight;
    found.sum += weight;
}

static void enumerate(const sk_game *game, const void *state, int decisions, double weight)
{
    int32_t actions[SK_MOST_ACTIONS * SK_MOST_ACTIONS];
    double chances[SK_MOST_ACTIONS];
    int actor = game->ops->actor(game, state), mine = actor == remembered.player;
    if (actor == SK_OVER || found.histories >= MOST_HISTORIES)
        return;
    found.histories++;
    if (mine) {
        uint8_t seen[SEEN] = {0};
        game->ops->observe(game, state, seen);
        if (memcmp(seen, remembered.seen[decisions], SEEN) != 0)
            return;
        if (decisions == remembered.n - 1) {
            add_world(game, state, weight);
            return;
        }
    }
    int n = game->ops->legal(game, state, actions);
    if (actor == SK_CHANCE)
        game->ops->chance(game, state, chances);
    for (int i = 0; i < n; i++) {
        _Alignas(64) uint8_t next[ROOM];
        if (mine && actions[i] != remembered.actions[decisions])
            continue;
        memcpy(next, state, (size_t)game->is.state_bytes);
        game->ops->apply(game, next, actions[i]);
        double chance = actor == SK_CHANCE ? chances[i] : at_random && !mine ? 1.0 / n : 1;
        enumerate(game, next, decisions + mine, weight * chance);
    }
}

/* Plays at random to one of a player's decisions, and remembers; 0 where the game was over. */
static int random_decision(const sk_game *game, int last, philox_draws *draws)
{
    static memory both[2];
    _Alignas(64) uint8_t state[ROOM];
    both[0].n = both[1].n = 0;
    game->ops->reset(game, state);
    for (int decisions = 0;;) {
        int actor = game->ops->actor(game, state);
        if (actor == SK_OVER)
            return 0;
        int32_t action = random_legal(game, state, draws);
        if (actor >= 0) {
            memory *own = &both[actor];
            MUST(own->n < MEMORY);
            own->player = actor;
            memset(own->seen[own->n], 0, SEEN);
            game->ops->observe(game, state, own->seen[own->n]);
            own->actions[own->n++] = action;
            if (decisions++ == last) {
                remembered = *own;
                memcpy(found.states[0], state, ROOM);
                return 1;
            }
        }
        game->ops->apply(game, state, action);
    }
}

/* Of draws that no other decision has. */
static double chi_square(const sk_game *game, const void *truth, int draws)
{
    static int32_t before;
    double statistic = 0;
    memset(found.drawn, 0, sizeof found.drawn);
    for (int i = 0; i < draws; i++) {
        _Alignas(64) uint8_t one[ROOM];
        MUST(!world(game, truth, one, before++));
        int at = place_of(game, one);
        MUST(at >= 0); /* nothing but what may be */
        found.drawn[at]++;
    }
    for (int i = 0; i < found.n; i++) {
        double expected = draws * found.weights[i] / found.sum;
        statistic +=
            ((double)found.drawn[i] - expected) * ((double)found.drawn[i] - expected) / expected;
    }
    return statistic;
}

static void count_draws(const char *name, const sk_game *game, int decisions, int draws)
{
    philox_draws random = numbers(4, 0);
    at_random = strncmp(name, "dark_hex", 8) == 0 || strncmp(name, "phantom", 7) == 0;
    for (int last = 0; last < decisions; last++)
        for (int tries = 0; tries < 6; tries++) {
            _Alignas(64) uint8_t truth[ROOM], state[ROOM];
            if (!random_decision(game, last, &random))
                continue;
            memcpy(truth, found.states[0], ROOM);
            found.n = 0;
            found.sum = 0;
            found.histories = 0;
            game->ops->reset(game, state);
            enumerate(game, state, 0, 1);
            if (found.histories < MOST_HISTORIES)
                printf("%s %d %.3f\n", name, found.n, chi_square(game, truth, draws + 5 * found.n));
        }
}

/* Of two worlds the one with the larger bytes. */
static const char *(*unbiased)(const sk_game *, void *, philox_draws *);

static const char *biased(const sk_game *game, void *state, philox_draws *draws)
{
    _Alignas(64) uint8_t other[ROOM];
    memcpy(other, state, (size_t)game->is.state_bytes);
    const char *wrong = unbiased(game, state, draws);
    unbiased(game, other, draws);
    if (memcmp(other, state, (size_t)game->is.state_bytes) > 0)
        memcpy(state, other, (size_t)game->is.state_bytes);
    return wrong;
}

int main(int argc, char **argv)
{
    MUST(argc >= 3);
    long n = atol(argv[2]);
    if (strcmp(argv[1], "planted") == 0)
        plant_all("barrage");
    for (int i = 3; i < argc; i++) {
        sk_game *game = open_game(argv[i]);
        sk_ops ops = *game->ops;
        unbiased = ops.redeal;
        if (strcmp(argv[1], "biased") == 0)
            ops.redeal = biased;
        game->ops = &ops;
        if (strcmp(argv[1], "leaks") == 0) {
            const char *wrong = play(game, game, n);
            printf("%s %ld %ld %s\n", argv[i], positions, other_truths, wrong ? wrong : "");
        } else {
            count_draws(argv[i], game, game->is.max_length < 16 ? game->is.max_length : 16, (int)n);
        }
        sk_game_close(game);
    }
    return 0;
}
