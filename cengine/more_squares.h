/* The more-squares rule (ISF article 11): a player may not chase enemy pieces endlessly.
 *
 *   threaten        to end a move beside an enemy piece: one to an empty square, or an attack that
 *                   was won
 *   evade           to move a piece away in the turn after it was threatened
 *   chase           the same side threatens without pause, and each reply evades. Any attack ends
 *                   it, and one that threatens begins the next; any other reply and any own move
 *                   that threatens nothing end it, too
 *   chasing move    a move in a chase that threatens a piece which has evaded during the chase
 *
 * A chasing move may not lead to a position that has already been on the board during the chase,
 * except straight back to where the chasing piece came from in the turn before. Positions are
 * compared by the identity of the pieces, which everybody can follow, never by rank: the legal
 * moves tell no secrets.
 */
#ifndef SK_MORE_SQUARES_H
#define SK_MORE_SQUARES_H

#include "stratego.h"

/* Takes a ply that was just carried out (and recorded) into account: a move to an empty square. */
void stratego_follow_move(const stratego *game, stratego_state *state, int from, int to);
/* The same for an attack on `to`, whoever won it. */
void stratego_follow_attack(const stratego *game, stratego_state *state, int to);
/* What the rule forbids the side to move, by going through the whole chase; chase_bans asks first
 * whether there is one. */
sk_bits stratego_search_bans(const stratego *game, const stratego_state *state, int from);

/* With fewer plies no earlier position can be one move away. */
static inline int is_long_chase(const stratego *game, const stratego_state *state)
{
    int begun = state->chases[state->side].begun;
    return game->rules.more_squares && begun != NO_CHASE && state->recorded - begun >= 3
           && is_bound(game, state->side);
}

/* The destinations that the rule forbids the piece on `from`; of the side to move. */
static inline sk_bits chase_bans(const stratego *game, const stratego_state *state, int from)
{
    return is_long_chase(game, state) ? stratego_search_bans(game, state, from) : 0;
}

/* The pieces of the side to move that have such a destination. */
static inline sk_bits chase_banned_pieces(const stratego *game, const stratego_state *state)
{
    return is_long_chase(game, state) ? stratego_search_bans(game, state, NO_SQUARE) : 0;
}

#endif
