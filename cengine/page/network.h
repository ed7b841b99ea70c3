/* What a network `fromto`, `+deployment` or `+mirrored` thinks of one view after the other: what
 * stratkit/nets/fromto_backend.py computes of many at a time. The play is sk_fromto's. */
#ifndef SK_NETWORK_H
#define SK_NETWORK_H

#include <stddef.h>
#include <stdint.h>

typedef enum { PLAY_ALONE, WITH_DEPLOYMENT, MIRRORED } network_kind;

typedef struct network network;

/* Of a board and a kind; of weights as stratkit/models/flat_weights.py writes them, which stay the
 * caller's. NULL: out of memory. */
network *network_open(int32_t width, int32_t height, int32_t channels, int32_t blocks,
                      network_kind kind, const float *weights);
/* How many weights that reads. */
size_t network_weights(const network *net);
/* The probability of each action: legal [squares] of a packed observation to policy [squares], 0
 * where illegal. */
void network_policy(network *net, const uint8_t *packed, const uint8_t *legal, float *policy);
/* What who acts may expect, where pieces move. */
float network_value(network *net, const uint8_t *packed);

#endif
