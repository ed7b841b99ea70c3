/* A pool of persistent threads that share out the rows of a batch.
 *
 * The calling thread works too, so a pool of one thread starts none.
 */
#ifndef SK_THREADS_H
#define SK_THREADS_H

#include <stdint.h>

typedef struct sk_pool sk_pool;
typedef void (*sk_job)(void *context, int32_t begin, int32_t end);

sk_pool *sk_pool_open(int32_t threads);
void sk_pool_close(sk_pool *pool);
/* Rows that a thread takes at a time, so many that they are worth a few microseconds: of a batch's
 * step, a view or a world, each of which takes about a tenth of one; of trees, which take one. */
enum { SK_ROWS_AT_A_TIME = 32, SK_TREES_AT_A_TIME = 4 };

/* Calls job on disjoint ranges of at most `grain` rows that cover 0 .. n - 1, and returns when all
 * are done. So few rows, and all rows of a pool of one thread, are one range; so are those of a
 * second caller at the same time, and of a process forked from the one that opened the pool. */
void sk_pool_run(sk_pool *pool, sk_job job, void *context, int32_t n, int32_t grain);

#endif
