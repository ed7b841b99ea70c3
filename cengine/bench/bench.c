/* How fast the engine is, without Python: uniformly random games through the game interface.
 *
 *   bench plies GAME SECONDS [PLIES]   plies a second; with PLIES exactly so many (for callgrind)
 *   bench planes GAME SECONDS          nanoseconds a full observation, into a warm buffer
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../game.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t next_random(uint64_t *seed)
{
    uint64_t z = (*seed += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static void random_action(const sk_game *game, void *state, uint64_t *seed)
{
    game->ops->apply(game, state, game->ops->pick(game, state, (uint32_t)(next_random(seed) >> 32)));
}

int main(int argc, char **argv)
{
    char error[200];
    const sk_game *game = sk_game_open(argv[2], "", error, sizeof error);
    double seconds = atof(argv[3]);
    long limit = argc > 4 ? atol(argv[4]) : 0;
    uint64_t seed = 1;
    void *state = aligned_alloc(64, 2048);
    uint8_t packed[512];
    static float planes[82 * 100];
    long plies = 0, games = 0;
    if (!strcmp(argv[1], "plies")) {
        double begin = now();
        do {
            game->ops->reset(game, state);
            while (game->ops->actor(game, state) >= 0)
                random_action(game, state, &seed);
            plies += game->ops->plies(game, state);
            games++;
        } while (limit ? plies < limit : now() - begin < seconds);
        double t = now() - begin;
        printf("%s plies %.2f M/s  %.1f ns/ply  %ld plies %ld games\n", argv[2], plies / t / 1e6, t / plies * 1e9, plies, games);
    } else {
        uint8_t *many = malloc(1000 * 512);
        int k = 0;
        while (k < 1000) {
            game->ops->reset(game, state);
            while (game->ops->actor(game, state) >= 0) {
                random_action(game, state, &seed);
                if (game->ops->actor(game, state) >= 0 && next_random(&seed) % 100 == 0 && k < 1000)
                    game->ops->observe(game, state, many + 512 * k++);
            }
        }
        double begin = now();
        long n = 0;
        do {
            for (k = 0; k < 1000; k++) game->ops->expand(game, many + 512 * k, planes);
            n += 1000;
        } while (now() - begin < seconds);
        printf("%s expand %.1f ns\n", argv[2], (now() - begin) / n * 1e9);
        begin = now(); n = 0;
        do {
            for (k = 0; k < 1000; k++) game->ops->observe(game, state, packed);
            n += 1000;
        } while (now() - begin < seconds);
        printf("%s observe %.1f ns\n", argv[2], (now() - begin) / n * 1e9);
        begin = now(); n = 0;
        do {
            for (k = 0; k < 1000; k++) { memset(planes, 0, sizeof planes); __asm__ volatile("" :: "r"(planes) : "memory"); }
            n += 1000;
        } while (now() - begin < seconds);
        printf("%s write %.1f ns\n", argv[2], (now() - begin) / n * 1e9);
    }
    return 0;
}
