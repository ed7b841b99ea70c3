/* Whether there are vectors of several floats: with AVX2 or AVX-512, if the processor has them. */
#ifndef SK_VECTORS_H
#define SK_VECTORS_H

#if defined(__x86_64__) && defined(__GNUC__)
#define VECTORS 1
#include <immintrin.h>

/* The function of this name for vectors of so many floats. */
#define BY_LANES(lanes, name) ((lanes) == 16 ? name##_16 : (lanes) == 8 ? name##_8 : name##_1)
#else
#define BY_LANES(lanes, name) ((void)(lanes), name##_1)
#endif

#endif
