/* A batch of which every state is checked, whatever is done to it. */
#ifndef SK_FUZZ_TABLE_H
#define SK_FUZZ_TABLE_H

#include "input.h"

/* What the engine says of all rows, in memory of exactly the size that the interface demands. */
typedef struct {
    int8_t *actors;
    uint8_t *legal, *packed;
    float *returns;
    uint8_t *endings;
    int32_t *plies;
} sight;

typedef struct {
    sk_game *game;
    sk_description is;
    int without_history; /* no repetition rule: what is legal shows on the board */
    sk_batch *batch;
    int32_t rows;
    sight now, again, before;
} table;

/* A game: one of the small ones, or any variant of Stratego under any rules that the input asks
 * for. */
table open_table(input *in, int32_t rows);
void close_table(table *t);
/* Brings `now` up to date and checks what holds of every state. */
void look(table *t);
/* An action for the row: most often a legal one, now and then any number at all. */
int32_t take_action(const table *t, int32_t row, input *in);
int is_legal(const table *t, int32_t row, int32_t action);
/* Is the same seen there? The second asks for the same number of plies, too. */
int same_view(const table *t, const sight *a, int32_t row_a, const sight *b, int32_t row_b);
int same_row(const table *t, const sight *a, int32_t row_a, const sight *b, int32_t row_b);
/* Applies one action a row and checks that the legal ones did something and the others did nothing.
 */
void step(table *t, const int32_t *actions);

#endif
