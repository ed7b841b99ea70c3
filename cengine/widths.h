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

/* Single floats are up to 1.4 times as fast where the compiler makes few vectors of them. Learners
 * leave them to torch, so of what is NOT_BY_SINGLES they need to be right and small. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#ifdef NOT_BY_SINGLES
#pragma GCC optimize("Os")
#else
#pragma GCC optimize("vect-cost-model=very-cheap")
#endif
#endif
#define LANES 1
#include EACH_WIDTH
#undef EACH_WIDTH
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
