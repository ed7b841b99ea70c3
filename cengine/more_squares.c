#include "more_squares.h"

#include <string.h>

#include "squares.h"

/* Whether the piece on `to`, which has just moved there, stands beside an enemy. */
static int threatens(const stratego *game, const stratego_state *state, int to)
{
    return (game->beside[to] & state->pieces[!state->side]) != 0;
}

/* The first position of the chase is the one after the ply that was recorded last. */
static void begin_chase(stratego_state *state)
{
    state->chases[state->side] = (chase){.evaded = 0, .begun = state->recorded};
}

void stratego_follow_attack(const stratego *game, stratego_state *state, int to)
{
    state->chases[RED].begun = state->chases[BLUE].begun = NO_CHASE;
    if (has(state->pieces[state->side], to) && threatens(game, state, to))
        begin_chase(state);
}

/* The reply to a chase: it goes on if the piece that moved stood beside the chaser. */
static void follow_reply(const stratego *game, const stratego_state *state, chase *enemy, int from,
                         int to)
{
    if (enemy->begun == NO_CHASE)
        return;
    int threatened_from = played(state, 1).to;
    if (has(game->beside[threatened_from], from))
        enemy->evaded = (enemy->evaded & ~bit(from)) | bit(to);
    else
        enemy->begun = NO_CHASE;
}

void stratego_follow_move(const stratego *game, stratego_state *state, int from, int to)
{
    chase *own = &state->chases[state->side];
    follow_reply(game, state, &state->chases[!state->side], from, to);
    if (!threatens(game, state, to))
        own->begun = NO_CHASE;
    else if (own->begun == NO_CHASE)
        begin_chase(state);
}

typedef struct {
    int from;    /* the piece asked about, or NO_SQUARE: any */
    sk_bits set; /* its banned destinations, or the banned pieces */
} ban_search;

static void note_repetition(const stratego *game, const stratego_state *state, ban_search *search,
                            int from, int to)
{
    ply_record last = played(state, 1);
    int straight_back = last.to == from && last.from == to;
    int chasing = (game->beside[to] & state->chases[state->side].evaded) != 0;
    if (!has(state->pieces[state->side], from) || straight_back || !chasing)
        return;
    if (search->from == NO_SQUARE)
        search->set |= bit(from);
    else if (search->from == from)
        search->set |= bit(to);
}

/* Walks back through the positions of the chase and collects what would bring one of them about
 * again: it differs from the present position by one own piece only. */
sk_bits stratego_search_bans(const stratego *game, const stratego_state *state, int from)
{
    ban_search search = {from, 0};
    int length = state->recorded - state->chases[state->side].begun;
    uint8_t then[MAX_SQUARES],
        now[MAX_SQUARES]; /* of each piece: its earlier square, its present one */
    for (int i = 0; i < game->squares; i++)
        then[i] = now[i] = (uint8_t)i;
    int displaced = 0,
        sum = 0; /* how many pieces stood elsewhere, and the sum of their present squares */
    for (int ago = 0; ago < length; ago++) {
        ply_record undone = played(state, ago);
        int piece = now[undone.to];
        int was = then[piece] != piece, is = undone.from != piece;
        displaced += is - was;
        sum += (is - was) * piece;
        then[piece] = undone.from;
        now[undone.from] = (uint8_t)piece;
        if (displaced == 1)
            note_repetition(game, state, &search, sum, then[sum]);
    }
    return search.set;
}
