/* LANES floats of a `vector`: 16, 8 or 1. Who computes with them includes this once for each width,
 * and then its functions. `WHOLE` and `KERNEL` begin one of these, NAME has a suffix for names. */
#undef WHOLE
#undef KERNEL
#undef NAME
#undef vector
#undef LOAD
#undef STORE
#undef SET
#undef ADD
#undef SUB
#undef MAX
#undef FMA
#undef WHERE

#if LANES == 16
#define WHOLE   __attribute__((target("avx512f,fma"))) static
#define KERNEL  __attribute__((target("avx512f,fma"), always_inline)) static inline
#define NAME(x) x##_16
#define vector  __m512
#define LOAD    _mm512_loadu_ps
#define STORE   _mm512_storeu_ps
#define SET     _mm512_set1_ps
#define ADD     _mm512_add_ps
#define SUB     _mm512_sub_ps
#define MAX     _mm512_max_ps
#define FMA     _mm512_fmadd_ps
#define WHERE(mask, x) \
    _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(mask, _mm512_setzero_ps(), _CMP_GT_OQ), x)
#elif LANES == 8
#define WHOLE          __attribute__((target("avx2,fma"))) static
#define KERNEL         __attribute__((target("avx2,fma"), always_inline)) static inline
#define NAME(x)        x##_8
#define vector         __m256
#define LOAD           _mm256_loadu_ps
#define STORE          _mm256_storeu_ps
#define SET            _mm256_set1_ps
#define ADD            _mm256_add_ps
#define SUB            _mm256_sub_ps
#define MAX            _mm256_max_ps
#define FMA            _mm256_fmadd_ps
#define WHERE(mask, x) _mm256_and_ps(x, _mm256_cmp_ps(mask, _mm256_setzero_ps(), _CMP_GT_OQ))
#else
#define WHOLE          static
#define KERNEL         static inline
#define NAME(x)        x##_1
#define vector         float
#define LOAD(at)       (*(at))
#define STORE(at, x)   (*(at) = (x))
#define SET(x)         (x)
#define ADD(x, y)      ((x) + (y))
#define SUB(x, y)      ((x) - (y))
#define MAX(x, y)      ((x) > (y) ? (x) : (y))
#define FMA(x, y, z)   ((x) * (y) + (z))
#define WHERE(mask, x) ((mask) > 0.0f ? (x) : 0.0f)
#endif
