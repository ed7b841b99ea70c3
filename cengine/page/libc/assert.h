/* Assertions are for sanitizers and fuzzers. */
#define assert(what) ((void)0)
