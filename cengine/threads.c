#include "threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Fewer rows than this are not worth another thread; a thread takes so many at a time, so that one that is
 * held up keeps nobody waiting. */
enum { ROWS_WORTH_A_THREAD = 32, ROWS_AT_A_TIME = 64 };

/* How often a thread looks for work, or for the end of it, before it sleeps: some tens of microseconds, as
 * long as a caller takes between two steps of a batch. Waking a sleeper takes about as long. */
enum { LOOKS = 1000 };

typedef struct {
    sk_pool *pool;
    pthread_t thread;
} worker;

struct sk_pool {
    int32_t threads;
    worker *workers; /* threads - 1 of them */
    pthread_mutex_t mutex;
    pthread_cond_t wake, done;
    atomic_uint_fast64_t generation; /* of the job that lies below */
    atomic_int busy;                 /* workers that have not finished it */
    atomic_int closing;
    sk_job job;
    void *context;
    int32_t n;
    atomic_int next; /* the first row that nobody has taken */
};

static void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void take_rows(sk_pool *pool)
{
    for (;;) {
        int32_t begin = atomic_fetch_add(&pool->next, ROWS_AT_A_TIME);
        if (begin >= pool->n)
            return;
        int32_t left = pool->n - begin;
        pool->job(pool->context, begin, begin + (left < ROWS_AT_A_TIME ? left : ROWS_AT_A_TIME));
    }
}

/* Whether there is a job after `seen`; no when the pool closes. */
static int wait_for_job(sk_pool *pool, uint64_t seen)
{
    for (int i = 0; i < LOOKS; i++, pause_briefly())
        if (atomic_load(&pool->generation) != seen)
            return 1;
    pthread_mutex_lock(&pool->mutex);
    while (atomic_load(&pool->generation) == seen && !atomic_load(&pool->closing))
        pthread_cond_wait(&pool->wake, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
    return atomic_load(&pool->generation) != seen;
}

static void *work(void *argument)
{
    sk_pool *pool = ((worker *)argument)->pool;
    for (uint64_t seen = 0; wait_for_job(pool, seen);) {
        seen++;
        take_rows(pool);
        if (atomic_fetch_sub(&pool->busy, 1) == 1) {
            pthread_mutex_lock(&pool->mutex);
            pthread_cond_signal(&pool->done);
            pthread_mutex_unlock(&pool->mutex);
        }
    }
    return NULL;
}

static void wait_for_workers(sk_pool *pool)
{
    for (int i = 0; i < LOOKS; i++, pause_briefly())
        if (atomic_load(&pool->busy) == 0)
            return;
    pthread_mutex_lock(&pool->mutex);
    while (atomic_load(&pool->busy))
        pthread_cond_wait(&pool->done, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
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
    atomic_store(&pool->closing, 1);
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
    pool->job = job;
    pool->context = context;
    pool->n = n;
    atomic_store(&pool->next, 0);
    atomic_store(&pool->busy, pool->threads - 1);
    pthread_mutex_lock(&pool->mutex);
    atomic_fetch_add(&pool->generation, 1);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
    take_rows(pool);
    wait_for_workers(pool);
}
