#include "threads.h"

#include <pthread.h>
#include <stdlib.h>

/* Fewer rows than this are not worth waking another thread for. */
enum { ROWS_WORTH_A_THREAD = 32 };

typedef struct {
    sk_pool *pool;
    int32_t index;
    pthread_t thread;
} worker;

struct sk_pool {
    int32_t threads;
    worker *workers; /* threads - 1 of them */
    pthread_mutex_t mutex;
    pthread_cond_t wake, done;
    uint64_t generation; /* of the job that lies below */
    int32_t busy;
    int closing;
    sk_job job;
    void *context;
    int32_t n;
};

static void run_share(const sk_pool *pool, int32_t index)
{
    int32_t begin = (int32_t)((int64_t)pool->n * index / pool->threads);
    int32_t end = (int32_t)((int64_t)pool->n * (index + 1) / pool->threads);
    if (begin < end)
        pool->job(pool->context, begin, end);
}

static void *work(void *argument)
{
    worker *self = argument;
    sk_pool *pool = self->pool;
    uint64_t seen = 0;
    pthread_mutex_lock(&pool->mutex);
    for (;;) {
        while (pool->generation == seen && !pool->closing)
            pthread_cond_wait(&pool->wake, &pool->mutex);
        if (pool->closing)
            break;
        seen = pool->generation;
        pthread_mutex_unlock(&pool->mutex);
        run_share(pool, self->index);
        pthread_mutex_lock(&pool->mutex);
        if (--pool->busy == 0)
            pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

sk_pool *sk_pool_open(int32_t threads)
{
    sk_pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return NULL;
    pool->threads = 1;
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->workers = calloc((size_t)(threads > 1 ? threads - 1 : 1), sizeof *pool->workers);
    if (!pool->workers) {
        sk_pool_close(pool);
        return NULL;
    }
    /* A thread that the system refuses is one thread less, not a failure. */
    for (int32_t i = 1; i < threads; i++) {
        worker *w = &pool->workers[i - 1];
        w->pool = pool;
        w->index = i;
        if (pthread_create(&w->thread, NULL, work, w) != 0)
            break;
        pool->threads = i + 1;
    }
    return pool;
}

void sk_pool_close(sk_pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->mutex);
    pool->closing = 1;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
    for (int32_t i = 1; i < pool->threads; i++)
        pthread_join(pool->workers[i - 1].thread, NULL);
    pthread_cond_destroy(&pool->wake);
    pthread_cond_destroy(&pool->done);
    pthread_mutex_destroy(&pool->mutex);
    free(pool->workers);
    free(pool);
}

void sk_pool_run(sk_pool *pool, sk_job job, void *context, int32_t n)
{
    if (pool->threads == 1 || n < ROWS_WORTH_A_THREAD) {
        if (n > 0)
            job(context, 0, n);
        return;
    }
    pthread_mutex_lock(&pool->mutex);
    pool->job = job;
    pool->context = context;
    pool->n = n;
    pool->busy = pool->threads - 1;
    pool->generation++;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
    run_share(pool, 0);
    pthread_mutex_lock(&pool->mutex);
    while (pool->busy)
        pthread_cond_wait(&pool->done, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
}
