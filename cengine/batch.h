/* Batches, as the rest of the engine sees them. */
#ifndef SK_BATCH_H
#define SK_BATCH_H

#include "game.h"

const sk_game *sk_batch_game(const sk_batch *batch);
int32_t sk_batch_size(const sk_batch *batch);
const void *sk_batch_state(const sk_batch *batch, int32_t row);
void sk_batch_put(sk_batch *batch, int32_t row, const void *state);

#endif
