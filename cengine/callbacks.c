/* A game whose rules are the caller's: reset, apply and the like are called back.
 *
 * A state is a head, which holds all that the class said of the state when it began or changed, and
 * then the caller's bytes. So a state's actor, legal actions and returns are asked for once, and
 * what is said of it does not change.
 */
#include "games.h"
#include "small.h"

typedef struct {
    int32_t plies, actor;
} head;

typedef struct {
    sk_game base;
    sk_ops ops;
    sk_callbacks calls;
    void *self;
    int32_t legal_at, state_at; /* where these lie in a state; returns follow the head */
} called_game;

static const called_game *as_called(const sk_game *game) { return (const called_game *)game; }

static float *returns_of(const void *block) { return (float *)((head *)block + 1); }

static uint8_t *legal_of(const sk_game *game, const void *block)
{
    return (uint8_t *)block + as_called(game)->legal_at;
}

static uint8_t *state_of(const sk_game *game, const void *block)
{
    return (uint8_t *)block + as_called(game)->state_at;
}

/* Nobody acts in a state of which the caller can say nothing. */
static void settle(const sk_game *game, void *block, int32_t actor)
{
    ((head *)block)->actor = actor;
    if (actor == SK_OVER)
        memset(legal_of(game, block), 0, (size_t)game->is.actions);
    else
        memset(returns_of(block), 0, (size_t)game->is.players * sizeof(float));
}

static void reset(const sk_game *game, void *block)
{
    const called_game *called = as_called(game);
    memset(block, 0, (size_t)game->is.state_bytes);
    settle(game, block,
           called->calls.reset(called->self, state_of(game, block), legal_of(game, block),
                               returns_of(block)));
}

static int actor(const sk_game *game, const void *block) { return ((const head *)block)->actor; }

static int legal(const sk_game *game, const void *block, int32_t *actions)
{
    const uint8_t *mask = legal_of(game, block);
    int n = 0;
    for (int32_t action = 0; action < game->is.actions; action++)
        if (mask[action])
            actions[n++] = action;
    return n;
}

static void legal_mask(const sk_game *game, const void *block, uint8_t *mask)
{
    memcpy(mask, legal_of(game, block), (size_t)game->is.actions);
}

static int is_legal(const sk_game *game, const void *block, int32_t action)
{
    return action >= 0 && action < game->is.actions && legal_of(game, block)[action];
}

static void chance(const sk_game *game, const void *block, double *probabilities)
{
    const called_game *called = as_called(game);
    uniform_chance(game, block, probabilities);
    called->calls.chance(called->self, state_of(game, block), legal_of(game, block), probabilities);
}

static void apply(const sk_game *game, void *block, int32_t action)
{
    const called_game *called = as_called(game);
    settle(game, block,
           called->calls.apply(called->self, state_of(game, block), action,
                               ++((head *)block)->plies, legal_of(game, block), returns_of(block)));
}

static void returns(const sk_game *game, const void *block, float *out)
{
    memcpy(out, returns_of(block), (size_t)game->is.players * sizeof(float));
}

static int plies(const sk_game *game, const void *block) { return ((const head *)block)->plies; }

static void observe(const sk_game *game, const void *block, uint8_t *packed)
{
    const called_game *called = as_called(game);
    memset(packed, 0, (size_t)game->is.observation_bytes);
    called->calls.observe(called->self, state_of(game, block), packed);
}

static const char *redeal(const sk_game *game, void *block, philox_draws *draws)
{
    const called_game *called = as_called(game);
    uint64_t high = philox_word(draws), seed = high << 32 | philox_word(draws);
    int failed = called->calls.redeal(called->self, state_of(game, block), seed);
    return failed ? "the game's class gave no world" : NULL;
}

static const sk_ops ops = {.reset = reset,
                           .actor = actor,
                           .legal = legal,
                           .legal_mask = legal_mask,
                           .chance = chance,
                           .is_legal = is_legal,
                           .apply = apply,
                           .returns = returns,
                           .ending = is_over,
                           .plies = plies,
                           .observe = observe,
                           .expand = expand_bytes,
                           .rules = no_rules};

sk_game *sk_game_called(sk_callbacks calls, void *self, int32_t players, int32_t actions,
                        int32_t max_length, int32_t state_bytes, int32_t observation_bytes)
{
    called_game *game = calloc(1, sizeof *game);
    if (!game)
        return NULL;
    game->ops = ops;
    game->ops.redeal = calls.redeal ? redeal : NULL;
    game->calls = calls;
    game->self = self;
    game->legal_at = (int32_t)sizeof(head) + players * (int32_t)sizeof(float);
    game->state_at = (game->legal_at + actions + 15) / 16 * 16;
    size_t bytes = (size_t)(game->state_at + state_bytes + 15) / 16 * 16;
    game->base = small_game(&game->ops, actions, max_length, bytes, observation_bytes);
    game->base.is.players = players;
    return &game->base;
}
