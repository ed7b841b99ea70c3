/* The packed observation: what the side to act may know, in its own frame. formats/observation.md
 * is the written form of this layout. Beside it the mask of legal actions, a byte a square too. */
#include "observation.h"

#include <string.h>

#include "bits.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define VECTORS 1
#include <immintrin.h>
#endif

enum { SHOWN_BYTES = SHOWN_PLIES * sizeof(ply_record) };

typedef uint8_t bytes_8 __attribute__((vector_size(8)));
typedef uint8_t bytes_16 __attribute__((vector_size(16)));

/* Without a limit a game may outlast 16 bits; the ratio is 0 then in any case. */
static inline uint64_t counted(int plies) { return (uint64_t)(plies < 65535 ? plies : 65535); }

/* A set in the frame of `side`. */
static inline sk_bits framed_set(const stratego *game, int side, sk_bits set)
{
    return side == BLUE ? reversed_bits(set) >> (128 - game->squares) : set;
}

/* What comes before the moves. Numbers are put together first: a processor waits when it loads what
 * it has just stored in parts. */
__attribute__((always_inline)) static inline void observe_header(const stratego *game,
                                                                 const stratego_state *state,
                                                                 int side, uint8_t *packed)
{
    uint8_t to_place = NO_SQUARE, selected = NO_SQUARE;
    int placing = state->phase == PLACING, moving = state->phase == MOVING;
    uint64_t counts = 0;
    sk_bits only_attacks = 0;
    uint8_t *unrevealed = packed + offsetof(observation, unrevealed);
    if (placing) {
        to_place = game->order[state->placed];
        memset(unrevealed, 0, sizeof state->unrevealed);
    } else {
        counts = counted(state->plies) | (uint64_t)game->rules.max_plies << 16
                 | counted(state->no_attack) << 32 | (uint64_t)game->rules.max_no_attack << 48;
        memcpy(unrevealed, state->unrevealed[side], TYPES);
        memcpy(unrevealed + TYPES, state->unrevealed[!side], TYPES);
    }
    if (moving)
        selected = (uint8_t)framed(game, side, state->selected);
    else if (!placing && (only_attacks = stratego_only_attacks(game, state)))
        only_attacks = framed_set(game, side, only_attacks);
    uint32_t what = (uint32_t)placing | (uint32_t)moving << 8 | (uint32_t)selected << 16
                    | (uint32_t)to_place << 24;
    memcpy(packed + offsetof(observation, plies), &counts, sizeof counts);
    memcpy(packed + offsetof(observation, phase), &what, sizeof what);
    memcpy(packed + offsetof(observation, only_attacks), &only_attacks, sizeof only_attacks);
}

/* ---- Eight and sixteen squares at a time: every 64-bit machine has instructions for it ---- */

static inline bytes_8 reversed_8(bytes_8 bytes)
{
    return (bytes_8)__builtin_bswap64((uint64_t)bytes);
}

static inline bytes_16 reversed_16(bytes_16 bytes)
{
    uint64_t halves[2];
    memcpy(halves, &bytes, sizeof bytes);
    uint64_t swapped[2] = {__builtin_bswap64(halves[1]), __builtin_bswap64(halves[0])};
    memcpy(&bytes, swapped, sizeof bytes);
    return bytes;
}

/* Squares of a set as bytes, from the lowest for red and from the highest for blue. */
static inline void spread_8(int side, uint32_t bits, uint8_t *out)
{
    uint64_t bytes = falling_bytes((uint8_t)bits);
    bytes = side == BLUE ? bytes : __builtin_bswap64(bytes);
    memcpy(out, &bytes, sizeof bytes);
}

static inline void spread_16(int side, uint32_t bits, uint8_t *out)
{
    spread_8(side, side == BLUE ? bits >> 8 : bits, out);
    spread_8(side, side == BLUE ? bits : bits >> 8, out + 8);
}

#define WHOLE   static
#define KERNEL  static inline
#define NAME(x) x##_8
#define LANES   8
#include "observation_lanes.h"

#define WHOLE   static
#define KERNEL  static inline
#define NAME(x) x##_16
#define LANES   16
#include "observation_lanes.h"

/* ---- Thirty-two, by AVX2 ---- */

#ifdef VECTORS
#define WHOLE   __attribute__((target("avx2"))) static
#define KERNEL  __attribute__((target("avx2"), always_inline)) static inline
#define NAME(x) x##_32
#define LANES   32

typedef uint8_t bytes_32 __attribute__((vector_size(32)));

KERNEL bytes_32 reversed_32(bytes_32 bytes)
{
    const bytes_32 last_first = {31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16,
                                 15, 14, 13, 12, 11, 10, 9,  8,  7,  6,  5,  4,  3,  2,  1,  0};
    return __builtin_shuffle(bytes, last_first);
}

KERNEL void spread_32(int side, uint32_t bits, uint8_t *out)
{
    const uint64_t a = 0x0101010101010101u, rising = 0x8040201008040201u,
                   falling = 0x0102040810204080u;
    __m256i of = side == BLUE ? _mm256_setr_epi64x(3 * a, 2 * a, a, 0)
                              : _mm256_setr_epi64x(0, a, 2 * a, 3 * a);
    __m256i bit = _mm256_set1_epi64x((long long)(side == BLUE ? falling : rising));
    __m256i bytes = _mm256_shuffle_epi8(_mm256_set1_epi32((int)bits), of);
    bytes = _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bit), bit);
    _mm256_storeu_si256((__m256i *)out, _mm256_and_si256(bytes, _mm256_set1_epi8(1)));
}

#include "observation_lanes.h"
#endif

int stratego_most_lanes(int squares)
{
#ifdef VECTORS
    if (squares >= 32 && __builtin_cpu_supports("avx2"))
        return 32;
#endif
    return squares >= 16 ? 16 : 8;
}

void stratego_set_lanes(sk_ops *ops, int lanes)
{
#ifdef VECTORS
    if (lanes == 32) {
        ops->observe = observe_32;
        ops->legal_mask = legal_mask_32;
        return;
    }
#endif
    ops->observe = lanes == 16 ? observe_16 : observe_8;
    ops->legal_mask = lanes == 16 ? legal_mask_16 : legal_mask_8;
}
