/* A game of three players through all of the engine's interface: nothing may hold only two of
 * anything.
 *
 * Each chooses a number in turn, unseen by the others, and gets what the choices say.
 */
#include <string.h>

#include "fuzz/input.h"
#include "small.h"

enum { PLAYERS = 3, CHOICES = 4, ROWS = 64 };

typedef struct {
    uint8_t chosen[PLAYERS], made;
} three;

static void reset(const sk_game *game, void *block)
{
    (void)game;
    *(three *)block = (three){.made = 0};
}

static int actor(const sk_game *game, const void *block)
{
    const three *state = block;
    return state->made < game->is.players ? state->made : SK_OVER;
}

static int legal(const sk_game *game, const void *block, int32_t *actions)
{
    int n = actor(game, block) == SK_OVER ? 0 : CHOICES;
    for (int32_t i = 0; i < n; i++)
        actions[i] = i;
    return n;
}

static void apply(const sk_game *game, void *block, int32_t action)
{
    (void)game;
    three *state = block;
    state->chosen[state->made++] = (uint8_t)action;
}

static float payoff(const uint8_t *chosen, int player)
{
    return (float)(PLAYERS * chosen[player] - chosen[0] - chosen[1] - chosen[2]);
}

static void returns(const sk_game *game, const void *block, float *out)
{
    const three *state = block;
    for (int player = 0; player < PLAYERS; player++)
        out[player] = actor(game, block) == SK_OVER ? payoff(state->chosen, player) : 0.0f;
}

static int plies(const sk_game *game, const void *block)
{
    (void)game;
    return ((const three *)block)->made;
}

static void observe(const sk_game *game, const void *block, uint8_t *packed)
{
    memset(packed, 0, PLAYERS);
    packed[actor(game, block)] = 1;
}

static const sk_ops ops = {.reset = reset,
                           .actor = actor,
                           .legal = legal,
                           .apply = apply,
                           .returns = returns,
                           .plies = plies,
                           .observe = observe,
                           LISTED_GAME,
                           .ending = is_over,
                           .rules = no_rules};

static const sk_game game = {.ops = &ops,
                             .endings = one_ending,
                             .is = {.players = PLAYERS,
                                    .actions = CHOICES,
                                    .max_length = PLAYERS,
                                    .state_bytes = sizeof(three),
                                    .observation_bytes = PLAYERS,
                                    .planes = PLAYERS}};

static uint8_t choice(int row, int player) { return (uint8_t)((row >> 2 * player) % CHOICES); }

/* All choices of all players, a row each. */
static void play(void)
{
    sk_batch *batch = sk_batch_open(&game, ROWS, 2);
    int8_t *actors = take_memory(ROWS);
    uint8_t *legal_mask = take_memory(ROWS * CHOICES), *packed = take_memory(ROWS * PLAYERS);
    uint8_t *endings = take_memory(ROWS);
    float *got = take_memory(ROWS * PLAYERS * sizeof *got);
    int32_t *actions = take_memory(ROWS * sizeof *actions),
            *made = take_memory(ROWS * sizeof *made);
    MUST(batch);
    for (int player = 0; player < PLAYERS; player++) {
        sk_batch_view(batch, actors, legal_mask, packed);
        for (int row = 0; row < ROWS; row++) {
            MUST(actors[row] == player && packed[row * PLAYERS + player] == 1);
            actions[row] = choice(row, player);
        }
        MUST(sk_batch_apply(batch, actions) == -1);
    }
    sk_batch_result(batch, got, endings, made);
    for (int row = 0; row < ROWS; row++) {
        const uint8_t chosen[PLAYERS] = {choice(row, 0), choice(row, 1), choice(row, 2)};
        for (int player = 0; player < PLAYERS; player++)
            MUST(got[row * PLAYERS + player] == payoff(chosen, player));
    }
    sk_batch_close(batch);
    free(actors);
    free(legal_mask);
    free(packed);
    free(endings);
    free(got);
    free(actions);
    free(made);
}

/* Two episodes; of the first only two players have chosen. */
static void replay(void)
{
    const int32_t actions[] = {1, 2, 3, 0, 2};
    const int64_t none[] = {0, 0, 0}, offsets[] = {0, 2, 5};
    int8_t *actors = take_memory(5);
    uint8_t *legal_mask = take_memory(5 * CHOICES), *packed = take_memory(5 * PLAYERS),
            *given = take_memory(5);
    uint8_t *endings = take_memory(2);
    float *got = take_memory(2 * PLAYERS * sizeof *got);
    sk_fault fault = sk_replay(&game, 2, packed, none, actions, offsets, NULL, actors, legal_mask,
                               packed, given, got, endings);
    MUST(fault.episode == -1 && endings[0] == 0 && endings[1] == 1);
    MUST(!memcmp(got, (float[]){0, 0, 0, 4, -5, 1}, 2 * PLAYERS * sizeof *got));
    MUST(!memcmp(actors, (int8_t[]){0, 1, 0, 1, 2}, 5));
    free(actors);
    free(legal_mask);
    free(packed);
    free(given);
    free(endings);
    free(got);
}

/* Who chooses 3 gets 3 more than the mean of the choices times PLAYERS; the others choose alike. */
static void enumerate(void)
{
    sk_tree *tree = NULL, *payoffs = NULL;
    int32_t whole = 0;
    MUST(!sk_tree_open(&game, 1000, 1 << 20, &payoffs));
    MUST(!strcmp(sk_tree_grow(payoffs, 1000, &whole), "not a game of two players") && !whole);
    sk_tree_close(payoffs);
    MUST(!sk_tree_open(&game, 1000, 1 << 20, &tree));
    sk_tree_sets_only(tree);
    MUST(!sk_tree_grow(tree, 1000, &whole) && whole);
    sk_tree_size size;
    sk_tree_describe(tree, &size);
    MUST(size.infosets == PLAYERS && size.actions == PLAYERS * CHOICES);
    double policy[PLAYERS * CHOICES];
    for (int i = 0; i < PLAYERS * CHOICES; i++)
        policy[i] = 1.0 / CHOICES;
    for (int player = 0; player < PLAYERS; player++) {
        sk_response *response;
        sk_response_result is;
        uint8_t choices[PLAYERS] = {0};
        MUST(!sk_response_open(&game, tree, policy, player, 1 << 20, choices, &response));
        MUST(!sk_response_walk(response, 1000, &whole) && whole);
        sk_response_read(response, &is);
        MUST(is.best == 3 && is.value == 0 && is.gains == 3 && is.turns == 1);
        MUST(choices[player] == CHOICES - 1);
        sk_response_close(response);
    }
    sk_tree_close(tree);
}

int main(void)
{
    play();
    replay();
    enumerate();
    return 0;
}
