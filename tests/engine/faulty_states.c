/* stratego_is_ok finds every fault that is planted in a state, and none where there is none.
 *
 * Random games are played with the engine's assertions; after every action each fault is planted in
 * a copy. A fault answers 0 where the state has nothing that it could spoil.
 */
#include <string.h>

#include "fuzz/input.h"
#include "philox.h"
#include "stratego.h"

typedef int fault(stratego_state *state);

static int lost_piece(stratego_state *s)
{
    sk_bits before = s->pieces[RED];
    s->pieces[RED] &= before - 1;
    return before != 0;
}

static int piece_of_both(stratego_state *s)
{
    s->pieces[RED] |= s->pieces[BLUE];
    return s->pieces[BLUE] != 0;
}

static int lost_mover(stratego_state *s)
{
    sk_bits before = s->movers[BLUE];
    s->movers[BLUE] &= before - 1;
    return before != 0;
}

static int ghost(stratego_state *s)
{
    int square = s->recorded ? played(s, 0).from : NO_SQUARE;
    if (square == NO_SQUARE || s->cells[square] != EMPTY)
        return 0;
    s->cells[square] = CELL_PIECE | SCOUT;
    return 1;
}

static int wrong_count(stratego_state *s)
{
    s->unrevealed[BLUE][SPY]++;
    return 1;
}

static int revealed_uncounted(stratego_state *s)
{
    if (!s->pieces[RED] || s->cells[lsb(s->pieces[RED])] & CELL_REVEALED)
        return 0;
    s->cells[lsb(s->pieces[RED])] |= CELL_REVEALED;
    return 1;
}

static int moved_flag(stratego_state *s)
{
    for (int i = 0; i < MAX_SQUARES; i++)
        if (is_piece(s->cells[i]) && cell_type(s->cells[i]) == FLAG)
            return s->cells[i] |= CELL_MOVED;
    return 0;
}

static int stale_legal(stratego_state *s)
{
    s->legal &= s->legal - 1;
    return s->phase != FINISHED;
}

/* Blue's first piece becomes red's, and its square free for blue. */
static int deployed_elsewhere(stratego_state *s)
{
    sk_bits moved = s->pieces[BLUE] & ~(s->pieces[BLUE] - 1);
    if (s->phase != PLACING || !moved)
        return 0;
    uint8_t *cell = &s->cells[lsb(moved)];
    *cell ^= CELL_BLUE;
    s->unrevealed[BLUE][cell_type(*cell)]--;
    s->unrevealed[RED][cell_type(*cell)]++;
    s->pieces[BLUE] ^= moved;
    s->pieces[RED] |= moved;
    s->movers[RED] |= s->movers[BLUE] & moved;
    s->movers[BLUE] &= ~moved;
    s->legal |= moved;
    return 1;
}

static int legal_at_the_end(stratego_state *s)
{
    s->legal = 1;
    return s->phase == FINISHED;
}

static int selects_nothing(stratego_state *s)
{
    s->selected = NO_SQUARE;
    return s->phase == MOVING;
}

static int still_selected(stratego_state *s)
{
    s->selected = 0;
    return s->phase == SELECTING;
}

static int third_side(stratego_state *s)
{
    s->side = 2;
    return 1;
}

static int winner_too_soon(stratego_state *s)
{
    s->winner = RED;
    return s->phase != FINISHED;
}

static int wrong_winner(stratego_state *s)
{
    s->winner = (int8_t)s->side;
    return s->phase == FINISHED;
}

static int nowhere(stratego_state *s)
{
    s->recent[s->latest].to = s->recent[s->latest].from;
    return s->recorded > 0;
}

static int more_history_than_plies(stratego_state *s)
{
    s->plies = s->recorded - 1;
    return 1;
}

static int wrong_most(stratego_state *s)
{
    s->crossings[RED].most++;
    return 1;
}

static int chase_from_the_future(stratego_state *s)
{
    s->chases[BLUE].begun = s->recorded + 1;
    return 1;
}

static int chases_itself(stratego_state *s)
{
    s->chases[RED] = (chase){.evaded = s->pieces[RED], .begun = s->recorded};
    return s->recorded > 0 && s->pieces[RED];
}

static const struct {
    const char *name;
    fault *plant;
} faults[] = {
    {"a lost piece", lost_piece},
    {"a piece of both sides", piece_of_both},
    {"a lost mover", lost_mover},
    {"a piece that no set knows", ghost},
    {"a wrong count of hidden pieces", wrong_count},
    {"a piece revealed and not counted", revealed_uncounted},
    {"a flag that moved", moved_flag},
    {"a legal action left out", stale_legal},
    {"a piece deployed elsewhere", deployed_elsewhere},
    {"a legal action after the end", legal_at_the_end},
    {"nothing selected", selects_nothing},
    {"something still selected", still_selected},
    {"a third side", third_side},
    {"a winner too soon", winner_too_soon},
    {"the wrong winner", wrong_winner},
    {"a ply that goes nowhere", nowhere},
    {"more history than plies", more_history_than_plies},
    {"a wrong largest crossing", wrong_most},
    {"a chase from the future", chase_from_the_future},
    {"a side that chases itself", chases_itself},
};

enum { FAULTS = sizeof faults / sizeof *faults };

static long planted[FAULTS];

static void plant_all(const stratego *game, const stratego_state *state)
{
    MUST(stratego_is_ok(game, state));
    for (int i = 0; i < FAULTS; i++) {
        stratego_state copy = *state;
        if (!faults[i].plant(&copy))
            continue;
        planted[i]++;
        if (stratego_is_ok(game, &copy)) {
            printf("not found: %s\n", faults[i].name);
            exit(1);
        }
    }
}

static void play(const char *name, int games)
{
    char error[100];
    sk_game *game = sk_game_open(name, "", error, sizeof error);
    stratego_state state;
    MUST(game);
    for (int number = 0; number < games; number++) {
        game->ops->reset(game, &state);
        plant_all(as_stratego(game), &state);
        for (int32_t t = 0; game->ops->actor(game, &state) != SK_OVER; t++) {
            uint32_t random = (uint32_t)(philox_uniform(1, 0, number, t) * 4294967295.0);
            game->ops->apply(game, &state, game->ops->pick(game, &state, random));
            plant_all(as_stratego(game), &state);
        }
    }
    sk_game_close(game);
}

int main(void)
{
    play("mini", 40);
    play("nano", 40);
    play("classic", 1);
    for (int i = 0; i < FAULTS; i++)
        printf("%s: %ld\n", faults[i].name, planted[i]);
    return 0;
}
