/* Views are the same by however many squares at a time they are written: after every action of
 * random games, and without a byte beyond their end. So is what is picked, by whatever the
 * processor has for it. Prints how many were compared. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stratego.h"

enum { ROOM = 400, BEYOND = 0xa5 };

static void views(const sk_game *game, int lanes, const void *state, uint8_t out[2][ROOM])
{
    sk_ops ops = *game->ops;
    stratego_set_lanes(&ops, lanes);
    memset(out, BEYOND, 2 * ROOM);
    ops.observe(game, state, out[0]);
    ops.legal_mask(game, state, out[1]);
}

/* A random action, if it is what the portable way picks; -1 otherwise. */
static int picked(const sk_game *game, const void *state, uint32_t random)
{
    const stratego_state *as_is = state;
    int action = game->ops->pick(game, state, random);
    int portable = framed(as_stratego(game), as_is->side, random_bit(as_is->legal, random));
    return action == portable ? action : -1;
}

int main(int argc, char **argv)
{
    char error[200];
    long compared = 0;
    sk_game *game = argc == 2 ? sk_game_open(argv[1], "", error, sizeof error) : NULL;
    if (!game)
        return 2;
    void *state = malloc((size_t)game->is.state_bytes);
    philox_draws draws = philox_world((uint32_t[2]){1, 2}, 0);
    int most = stratego_most_lanes(game->is.actions);
    for (int round = 0; round < 5; round++) {
        game->ops->reset(game, state);
        while (game->ops->actor(game, state) != SK_OVER) {
            uint8_t eight[2][ROOM], others[2][ROOM];
            views(game, 8, state, eight);
            if (eight[0][game->is.observation_bytes] != BEYOND
                || eight[1][game->is.actions] != BEYOND)
                return 1;
            for (int lanes = 16; lanes <= most; lanes *= 2, compared++) {
                views(game, lanes, state, others);
                if (memcmp(eight, others, sizeof eight) != 0)
                    return 1;
            }
            int action = picked(game, state, philox_word(&draws));
            if (action < 0 || !game->ops->is_legal(game, state, action))
                return 1;
            game->ops->apply(game, state, action);
        }
    }
    printf("%d %ld\n", most, compared);
    free(state);
    sk_game_close(game);
    return 0;
}
