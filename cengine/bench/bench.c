/* How fast the engine is without Python, through the game interface; one thread, in CPU time.
 *
 *   bench plies GAME N    uniformly random games (a piece, then its destination) of N plies in all
 *   bench planes GAME N   N full observations, of positions from random games, into one warm buffer
 *   bench write GAME N    only writing zeros into that buffer
 *   bench copy GAME N     copying a state
 *   bench worlds GAME N   N worlds (game.h) of positions right after deployment; copying the state
 *                         included
 *   bench batch GAME N T  N actions in a batch of 1,024 games on T threads: views and steps, in
 *                         wall time, one decile of the steps being faster
 *
 * Prints nanoseconds for one. With N 0: only what comes before the loop, for counting instructions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../batch.h"
#include "../game.h"

enum { STATE_ROOM = 1024, POSITIONS = 1000, KEPT_ONE_IN = 128, ROWS = 1024 };

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014). */
static uint32_t next_random(void)
{
    static uint64_t seed = 1;
    uint64_t z = (seed += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (uint32_t)((z ^ (z >> 31)) >> 32);
}

static void random_action(const sk_game *game, void *state)
{
    game->ops->apply(game, state, game->ops->pick(game, state, next_random()));
}

static void random_plies(const sk_game *game, void *state, long n)
{
    for (long plies = 0; plies < n; plies += game->ops->plies(game, state)) {
        game->ops->reset(game, state);
        while (game->ops->actor(game, state) != SK_OVER)
            random_action(game, state);
    }
}

/* POSITIONS packed observations, one action in KEPT_ONE_IN of random games. */
static uint8_t *random_positions(const sk_game *game, void *state)
{
    size_t bytes = (size_t)game->is.observation_bytes;
    uint8_t *packed = malloc(POSITIONS * bytes);
    game->ops->reset(game, state);
    for (size_t kept = 0; packed && kept < POSITIONS;) {
        random_action(game, state);
        if (game->ops->actor(game, state) == SK_OVER)
            game->ops->reset(game, state);
        else if (next_random() % KEPT_ONE_IN == 0)
            game->ops->observe(game, state, packed + kept++ * bytes);
    }
    return packed;
}

/* The compiler must take the buffer as read. */
static void keep(const void *buffer) { __asm__ volatile("" : : "r"(buffer) : "memory"); }

static void fill_planes(const sk_game *game, const uint8_t *packed, long n, int only_write)
{
    size_t floats = (size_t)game->is.planes * (size_t)game->is.height * (size_t)game->is.width;
    float *planes = aligned_alloc(64, (floats * sizeof *planes + 63) / 64 * 64);
    for (long i = 0; planes && i < n; i++) {
        if (only_write)
            memset(planes, 0, floats * sizeof *planes);
        else
            game->ops->expand(game, packed + (i % POSITIONS) * game->is.observation_bytes, planes);
        keep(planes);
    }
    free(planes);
}

static void copy_states(const sk_game *game, const void *state, long n)
{
    uint8_t copy[STATE_ROOM];
    for (long i = 0; i < n; i++) {
        memcpy(copy, state, (size_t)game->is.state_bytes);
        keep(copy);
    }
}

/* POSITIONS states right after deployment, when most is hidden. */
static uint8_t *random_starts(const sk_game *game, void *state)
{
    size_t bytes = (size_t)game->is.state_bytes;
    uint8_t *states = malloc(POSITIONS * bytes);
    for (size_t kept = 0; states && kept < POSITIONS; kept++) {
        game->ops->reset(game, state);
        while (game->ops->given(game, state))
            random_action(game, state);
        memcpy(states + kept * bytes, state, bytes);
    }
    return states;
}

/* Worlds of a decision are drawn together, WORLDS at a time. */
static void draw_worlds(const sk_game *game, const uint8_t *states, long n)
{
    enum { WORLDS = 64 };
    size_t bytes = (size_t)game->is.state_bytes;
    _Alignas(64) static uint8_t world[STATE_ROOM];
    uint32_t key[2] = {0};
    for (long i = 0; i < n; i++) {
        if (i % WORLDS == 0)
            philox_decision_key(1, 0, i, 0, key);
        philox_draws draws = philox_world(key, (int32_t)(i % WORLDS));
        memcpy(world, states + (size_t)(i / WORLDS % POSITIONS) * bytes, bytes);
        game->ops->redeal(game, world, &draws);
        keep(world);
    }
}

static int by_size(const void *a, const void *b)
{
    double difference = *(const double *)a - *(const double *)b;
    return (difference > 0) - (difference < 0);
}

/* Seconds of the views and the step of all rows; finished games begin again. */
static double step_batch(const sk_game *game, sk_batch *batch, uint8_t *legal, uint8_t *packed)
{
    static int8_t actors[ROWS];
    static int32_t actions[ROWS];
    double begun = seconds(CLOCK_MONOTONIC);
    sk_batch_view(batch, actors, legal, packed);
    double viewed = seconds(CLOCK_MONOTONIC);
    for (int32_t row = 0; row < ROWS; row++) {
        if (actors[row] == SK_OVER)
            sk_batch_start(batch, row, NULL, 0);
        actions[row] = game->ops->pick(game, sk_batch_state(batch, row), next_random());
    }
    double chosen = seconds(CLOCK_MONOTONIC);
    sk_batch_apply(batch, actions);
    return seconds(CLOCK_MONOTONIC) - chosen + viewed - begun;
}

/* Nanoseconds an action, of the step than which a tenth are faster. */
static double batch_steps(const sk_game *game, int32_t threads, long n)
{
    long steps = n / ROWS + 1;
    sk_batch *batch = sk_batch_open(game, ROWS, threads);
    uint8_t *legal = malloc((size_t)ROWS * (size_t)game->is.actions);
    uint8_t *packed = malloc((size_t)ROWS * (size_t)game->is.observation_bytes);
    double *times = malloc((size_t)steps * sizeof *times);
    if (!batch || !legal || !packed || !times)
        return 0;
    for (long i = 0; i < steps; i++) /* until the games are of all ages */
        step_batch(game, batch, legal, packed);
    for (long i = 0; i < steps; i++)
        times[i] = step_batch(game, batch, legal, packed);
    qsort(times, (size_t)steps, sizeof *times, by_size);
    double decile = times[steps / 10];
    sk_batch_close(batch);
    free(legal);
    free(packed);
    free(times);
    return 1e9 * decile / ROWS;
}

int main(int argc, char **argv)
{
    char error[200] = "usage: bench plies|planes|write|copy|worlds|batch GAME N [THREADS]";
    const sk_game *game = argc >= 4 ? sk_game_open(argv[2], "", error, sizeof error) : NULL;
    _Alignas(64) static uint8_t state[STATE_ROOM];
    if (game && !game->ops->pick) {
        snprintf(error, sizeof error, "%s has no random playouts", argv[2]);
        game = NULL;
    }
    if (!game || game->is.state_bytes > STATE_ROOM) {
        fprintf(stderr, "bench: %s\n", error);
        return 2;
    }
    long n = atol(argv[3]);
    if (strcmp(argv[1], "batch") == 0) {
        printf("%.2f\n", batch_steps(game, argc > 4 ? atoi(argv[4]) : 1, n));
        return 0;
    }
    int of_worlds = strcmp(argv[1], "worlds") == 0;
    uint8_t *positions = of_worlds ? random_starts(game, state) : random_positions(game, state);
    double begun = seconds(CLOCK_PROCESS_CPUTIME_ID);
    if (strcmp(argv[1], "plies") == 0)
        random_plies(game, state, n);
    else if (strcmp(argv[1], "copy") == 0)
        copy_states(game, state, n);
    else if (of_worlds)
        draw_worlds(game, positions, n);
    else
        fill_planes(game, positions, n, strcmp(argv[1], "write") == 0);
    printf("%.2f\n", n ? 1e9 * (seconds(CLOCK_PROCESS_CPUTIME_ID) - begun) / (double)n : 0.0);
    free(positions);
    return 0;
}
