/* How many numbers small networks read of a position: of each square, of the board, and of what an
 * attack on a square would bring. */
#ifndef SK_FEATURE_SIZES_H
#define SK_FEATURE_SIZES_H

enum { FEATURES = 48, COUNTS = 51, OUTCOMES = 3 };

#endif
