#include "threads.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* How often a thread looks for work, or for the end of it, before it sleeps: for about a tenth of a
 * millisecond, as long as a caller takes between two steps of a batch. Waking a sleeper takes as
 * long. */
enum { SPINS = 8000 };

/* Each thread has a share of the rows, always the same, which stays in its cache; who is done with
 * it helps the others, so that one that is held up keeps nobody waiting. */
typedef struct {
    _Alignas(64) atomic_int next; /* the first row that nobody has taken */
    int32_t end;
} share;

typedef struct {
    sk_pool *pool;
    int32_t index;
    pthread_t thread;
} worker;

struct sk_pool {
    pid_t owner;       /* the process that has the threads: one forked from it has none of them */
    atomic_flag taken; /* by a caller; another one works alone */
    int32_t threads;
    worker *workers; /* threads - 1 of them; the caller's thread has index 0 */
    share *shares;   /* one a thread */
    pthread_mutex_t mutex;
    pthread_cond_t wake, done;
    atomic_uint_fast64_t generation; /* of the job that lies below */
    atomic_int busy;                 /* workers that have not finished it */
    atomic_int closing;
    sk_job job;
    void *context;
    int32_t grain; /* rows that a thread takes at a time */
};

static void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void take_from(const sk_pool *pool, share *rows)
{
    for (;;) {
        int32_t begin = atomic_fetch_add(&rows->next, pool->grain);
        int32_t left = rows->end - begin;
        if (left <= 0)
            return;
        pool->job(pool->context, begin, begin + (left < pool->grain ? left : pool->grain));
    }
}

static void take_rows(const sk_pool *pool, int32_t index)
{
    assert(index >= 0 && index < pool->threads);
    for (int32_t i = 0; i < pool->threads; i++)
        take_from(pool, &pool->shares[(index + i) % pool->threads]);
}

/* Whether there is a job after `seen`; no when the pool closes. */
static int wait_for_job(sk_pool *pool, uint64_t seen)
{
    for (int i = 0; i < SPINS; i++, pause_briefly())
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
    const worker *self = argument;
    sk_pool *pool = self->pool;
    for (uint64_t seen = 0; wait_for_job(pool, seen);) {
        seen++;
        take_rows(pool, self->index);
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
    for (int i = 0; i < SPINS; i++, pause_briefly())
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
    pool->owner = getpid();
    atomic_flag_clear(&pool->taken);
    pool->threads = 1;
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->workers = calloc((size_t)(threads > 1 ? threads - 1 : 1), sizeof *pool->workers);
    pool->shares =
        aligned_alloc(_Alignof(share), (size_t)(threads > 1 ? threads : 1) * sizeof(share));
    if (!pool->workers || !pool->shares) {
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

/* Ends the threads. */
static void dismiss(sk_pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    atomic_store(&pool->closing, 1);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
    for (int32_t i = 1; i < pool->threads; i++)
        pthread_join(pool->workers[i - 1].thread, NULL);
    pthread_cond_destroy(&pool->wake);
    pthread_cond_destroy(&pool->done);
    pthread_mutex_destroy(&pool->mutex);
}

void sk_pool_close(sk_pool *pool)
{
    if (!pool)
        return;
    if (getpid() == pool->owner)
        dismiss(pool);
    free(pool->workers);
    free(pool->shares);
    free(pool);
}

void sk_pool_run(sk_pool *pool, sk_job job, void *context, int32_t n, int32_t grain)
{
    assert(grain > 0);
    int alone = pool->threads == 1 || n <= grain || getpid() != pool->owner;
    if (alone || atomic_flag_test_and_set(&pool->taken)) {
        if (n > 0)
            job(context, 0, n);
        return;
    }
    assert(job && atomic_load(&pool->busy) == 0);
    pool->job = job;
    pool->context = context;
    pool->grain = grain;
    for (int32_t i = 0; i < pool->threads; i++) {
        atomic_store(&pool->shares[i].next, (int32_t)((int64_t)n * i / pool->threads));
        pool->shares[i].end = (int32_t)((int64_t)n * (i + 1) / pool->threads);
    }
    atomic_store(&pool->busy, pool->threads - 1);
    pthread_mutex_lock(&pool->mutex);
    atomic_fetch_add(&pool->generation, 1);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
    take_rows(pool, 0);
    wait_for_workers(pool);
    atomic_flag_clear(&pool->taken);
}
