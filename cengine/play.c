/* Carrying out a ply, and the end of the game. */
#include <string.h>

#include "combat.h"
#include "more_squares.h"
#include "stratego.h"
#include "two_squares.h"

static void reveal(stratego_state *state, int square)
{
    uint8_t *cell = &state->cells[square];
    if (!(*cell & CELL_REVEALED)) {
        state->unrevealed[cell_side(*cell)][cell_type(*cell)]--;
        *cell |= CELL_REVEALED;
    }
}

static void remove_piece(stratego_state *state, int square)
{
    int side = cell_side(state->cells[square]);
    assert(is_piece(state->cells[square]));
    state->pieces[side] &= ~bit(square);
    state->movers[side] &= ~bit(square);
    state->cells[square] = EMPTY;
}

/* To an empty square. */
static void move_piece(stratego_state *state, int from, int to)
{
    uint8_t cell = state->cells[from];
    int side = cell_side(cell);
    sk_bits both = bit(from) | bit(to);
    assert(is_piece(cell) && state->cells[to] == EMPTY);
    state->cells[from] = EMPTY;
    state->cells[to] = cell;
    state->pieces[side] ^= both;
    state->movers[side] ^= both;
}

/* Both ranks are revealed; the loser leaves the board, or both do. */
static void attack(stratego_state *state, int from, int to)
{
    int attacker = cell_type(state->cells[from]), defender = cell_type(state->cells[to]);
    reveal(state, from);
    reveal(state, to);
    switch (fight(attacker, defender)) {
    case ATTACKER_WINS:
        remove_piece(state, to);
        move_piece(state, from, to);
        break;
    case DEFENDER_WINS: remove_piece(state, from); break;
    case BOTH_FALL:
        remove_piece(state, from);
        remove_piece(state, to);
        break;
    }
}

/* How many of the latest plies may be asked for: at least those that are shown. */
static int wanted_plies(const stratego_state *state)
{
    int wanted = SHOWN_PLIES;
    if (state->recorded <= RECENT)
        return state->recorded > wanted ? state->recorded : wanted;
    for (int side = RED; side <= BLUE; side++) {
        int begun = state->chases[side].begun, length = state->recorded - begun;
        if (begun != NO_CHASE && length > wanted)
            wanted = length < LONGEST_CHASE ? length : LONGEST_CHASE;
    }
    return wanted;
}

static void make_room(stratego_state *state)
{
    int wanted = wanted_plies(state);
    state->latest = (uint8_t)(RECENT_ROOM - wanted);
    memmove(state->recent + state->latest, state->recent, (size_t)wanted * sizeof *state->recent);
}

static void record_ply(stratego_state *state, ply_record ply)
{
    if (!state->latest)
        make_room(state);
    state->recent[--state->latest] = ply;
    state->recorded++;
}

static int is_long(const stratego *game, int from, int to)
{
    int distance = from < to ? to - from : from - to;
    return distance != 1 && distance != game->width;
}

static void finish(stratego_state *state, int ending, int winner)
{
    state->phase = FINISHED;
    state->ending = (uint8_t)ending;
    state->winner = (int8_t)winner;
    state->legal = 0;
}

/* The side to move is about to choose a piece: finds what it may choose, and whether the game goes
 * on. The order of the tests is that of the rules: no legal move, then the draw limits. */
void stratego_begin_turn(const stratego *game, stratego_state *state)
{
    int side = state->side;
    state->phase = SELECTING;
    state->selected = NO_SQUARE;
    state->legal = stratego_selectable(game, state);
    if (!state->legal) {
        if (state->movers[RED] || state->movers[BLUE])
            finish(state, ENDING_NO_MOVE, !side);
        else
            finish(state, ENDING_NO_PIECES, -1);
    } else if (game->rules.max_plies && state->plies >= game->rules.max_plies) {
        finish(state, ENDING_MAX_PLIES, -1);
    } else if (game->rules.max_no_attack && state->no_attack >= game->rules.max_no_attack) {
        finish(state, ENDING_MAX_NO_ATTACK, -1);
    }
}

/* Not inlined, as placing and destinations are not: who applies an action would save registers for
 * all three. */
__attribute__((noinline)) void stratego_do_move(const stratego *game, stratego_state *state, int to)
{
    int from = state->selected, side = state->side;
    uint8_t target = state->cells[to];
    int attacks = is_piece(target);
    ply_record record = {(uint8_t)from, (uint8_t)to, NO_ATTACK};
    assert(state->phase == MOVING && has(state->legal, to));

    state->cells[from] |= CELL_MOVED;
    stratego_count_crossings(game, &state->crossings[side], from, to);
    if (is_long(game, from, to)) /* only a scout moves two squares or more */
        reveal(state, from);
    if (attacks) {
        record.attacker = (uint8_t)cell_type(state->cells[from]);
        attack(state, from, to);
    } else {
        move_piece(state, from, to);
    }
    record_ply(state, record);
    state->plies++;
    state->no_attack = attacks ? 0 : state->no_attack + 1;
    if (attacks)
        stratego_follow_attack(game, state, to);
    else
        stratego_follow_move(game, state, from, to);

    state->side = (uint8_t)!side;
    if (attacks && cell_type(target) == FLAG)
        finish(state, ENDING_FLAG, side);
    else
        stratego_begin_turn(game, state);
}
