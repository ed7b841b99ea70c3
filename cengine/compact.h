/* For files that take no less time by -O3, which makes them up to seven times as large. It is
 * included first. What is SELDOM done is built for size. */
#if defined(__GNUC__) && !defined(__clang__)
#ifdef SELDOM
#pragma GCC optimize("Os")
#else
#pragma GCC optimize("O2")
#endif
#endif
