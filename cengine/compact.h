/* For files that take no less time by -O3, which makes them up to seven times as large. It is
 * included first. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O2")
#endif
