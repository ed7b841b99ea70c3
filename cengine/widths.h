/* Includes the file EACH_WIDTH once for each width of vectors: LANES are 16, 8 and 1 floats. */
#include "vectors.h"

#undef LANES
#ifdef VECTORS
#define LANES 16
#include EACH_WIDTH

#undef LANES
#define LANES 8
#include EACH_WIDTH
#undef LANES
#endif

#define LANES 1
#include EACH_WIDTH
#undef EACH_WIDTH
