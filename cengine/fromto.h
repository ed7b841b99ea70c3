/* What the network `fromto` is for its heads: stratkit/nets/fromto.py. */
#ifndef SK_FROMTO_H
#define SK_FROMTO_H

#include "feature_sizes.h"

enum { MET = OUTCOMES + 2, HIDDEN = 16, PARTS = 3 };
enum { DEPLOY, SELECT, TARGET }; /* what is decided */

static const float CERTAIN = 0.999f; /* probabilities above are of what is known */

#endif
