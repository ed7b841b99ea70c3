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
/* Calls job on disjoint ranges that cover 0 .. n - 1, and returns when all are done. */
void sk_pool_run(sk_pool *pool, sk_job job, void *context, int32_t n);

#endif
