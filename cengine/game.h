/* What a game is: a table of functions on flat state blocks.
 *
 * A state holds no pointers, so copying a game in progress is a memcpy of `state_bytes`. Everything
 * that does not change during a game (board, rules) lies in the sk_game that every function
 * receives. Batches, replay, self-play and matches know this table and nothing else.
 *
 * To add a game: write such a table and a row in games.c. What people read of it, names of actions
 * and a drawing, is its kit in stratkit/games.
 */
#ifndef SK_GAME_H
#define SK_GAME_H

#include <stddef.h>
#include <stdint.h>

#include "philox.h"
#include "stratkit.h"

enum { SK_CHANCE = -1, SK_OVER = -2, SK_MOST_ACTIONS = 128, SK_MOST_PLAYERS = 7, SK_KINDS = 4 };

typedef struct {
    /* The first state of a game. */
    void (*reset)(const sk_game *game, void *state);
    /* A given first state, if the game has such (start_bytes is not 0); NULL, or what is wrong with
     * the bytes (the state is then undefined). */
    const char *(*start)(const sk_game *game, void *state, const uint8_t *bytes);
    /* The inverse of start; NULL, or why this state cannot be written. */
    const char *(*save)(const sk_game *game, const void *state, uint8_t *bytes);
    /* The player to act, SK_CHANCE or SK_OVER. */
    int (*actor)(const sk_game *game, const void *state);
    /* Legal actions in ascending order; returns their number. */
    int (*legal)(const sk_game *game, const void *state, int32_t *actions);
    /* The same as `actions` bytes, 1 where legal. */
    void (*legal_mask)(const sk_game *game, const void *state, uint8_t *mask);
    /* One of the legal actions, without listing them; uniform if `random` is. There must be one.
     * For random playouts (bench/ has the only ones so far); NULL where nobody plays such. */
    int32_t (*pick)(const sk_game *game, const void *state, uint32_t random);
    /* Where chance acts: the probability of each legal action, in the order of `legal`. NULL for a
     * game without chance. */
    void (*chance)(const sk_game *game, const void *state, double *probabilities);
    int (*is_legal)(const sk_game *game, const void *state, int32_t action);
    /* Whether the acting player's action may come from outside instead of being that player's
     * choice, as a given setup does; NULL where none may. Who learns from an episode asks. */
    int (*given)(const sk_game *game, const void *state);
    /* Of n states in a row: what the next action of each is, a number below SK_KINDS. A batch
     * applies those of a kind together: a processor loses no time where it foresees what comes
     * next. NULL: all are alike. */
    void (*kinds)(const sk_game *game, const void *states, int n, uint8_t *kinds);
    /* `action` must be legal. */
    void (*apply)(const sk_game *game, void *state, int32_t action);
    /* One number a player; zeros while the game runs. */
    void (*returns)(const sk_game *game, const void *state, float *out);
    int (*ending)(const sk_game *game, const void *state);
    int (*plies)(const sk_game *game, const void *state);
    /* What the acting player may know, packed. With the player's own earlier observations and
     * actions it must tell all that the rules let a player know: that is an information state. */
    void (*observe)(const sk_game *game, const void *state, uint8_t *packed);
    /* Writes into that observation what the others' hidden pieces are: for those who know the
     * state, such as trees of worlds. NULL for a game whose observation has no place for it. */
    void (*face_up)(const sk_game *game, const void *state, uint8_t *packed);
    /* A packed observation as the tensor that a network sees. */
    void (*expand)(const sk_game *game, const uint8_t *packed, float *planes);
    void (*rules)(const sk_game *game, char *out, size_t size);
    /* Makes the state a world of the acting player: one that this player cannot tell from it, drawn
     * uniformly over what happened in secret, deals with their probability; where that may have
     * taken more or fewer actions, as random play would have brought it about. What the player
     * remembers stays as it is. Nothing that the player cannot know is read, so equal draws give
     * equal worlds whatever the truth is. A player acts. NULL, or why there is no world (the state
     * is then undefined); the entry is NULL for a game without worlds. */
    const char *(*redeal)(const sk_game *game, void *state, philox_draws *draws);
    /* The actions, chance's included, that lead from the start of the game to this state, at most
     * `max_length`; returns their number. NULL where the state does not tell. */
    int (*history)(const sk_game *game, const void *state, int32_t *actions);
    /* The number of the simultaneous turn that the state is in; -1: in none. As long as the number
     * stays, players choose one after the other, each all that it chooses in this turn, and none
     * is shown what the others chose. When a turn begins nothing is hidden. NULL for a game without
     * such turns. */
    int (*turn)(const sk_game *game, const void *state);
    /* The number that keys the acting player's random choices: a function of what that player
     * knows, and another one for every decision of a game. NULL where everybody knows how many
     * actions a game has had: that is then the number. */
    int32_t (*number)(const sk_game *game, const void *state);
    /* Takes back all that was chosen in the simultaneous turn that the state is in. NULL where the
     * only such turn begins the game. */
    void (*rewind)(const sk_game *game, void *state);
    /* ---- Public belief states (public_tree.h): NULL in a game without, where is.hands is 0 ----
     */
    /* What everybody has seen, packed into is.public_bytes. With all that it was before it must
     * tell everything that is public; with the beliefs it is what a value network sees. */
    void (*observe_public)(const sk_game *game, const void *state, uint8_t *packed);
    /* Which of is.hands hands a player has: with what is public, all that the player knows. */
    int (*hand)(const sk_game *game, const void *state, int player);
} sk_ops;

struct sk_game {
    const sk_ops *ops;
    const char *const *endings; /* names by code, NULL at the end; endings[0] is "" */
    sk_description is;
};

#endif
