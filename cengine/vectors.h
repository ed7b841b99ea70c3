/* Whether there are vectors of several floats: with AVX2 or AVX-512, if the processor has them. */
#ifndef SK_VECTORS_H
#define SK_VECTORS_H

#if defined(__x86_64__) && defined(__GNUC__)
#define VECTORS 1
#include <immintrin.h>
#endif

#endif
