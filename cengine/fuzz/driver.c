/* Runs a target without libFuzzer, with any compiler that has the address sanitizer:
 *
 *   driver FILE...                        each file once
 *   driver SECONDS SEED FAILURE FILE...   mutations of the files for so long; an input that fails
 *                                         is written to the file FAILURE
 *
 * An input that reached code which none had reached before joins the files that are mutated. The
 * compiler tells of it by -fsanitize-coverage=trace-pc; this file must be compiled without.
 */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "input.h"

enum { MOST_BYTES = 4096, MOST_INPUTS = 4096, SLOWEST = 20 /* seconds that one input may take */ };

typedef struct {
    size_t size;
    uint8_t *bytes;
} sample;

static sample pool[MOST_INPUTS];
static int pooled;
static uint8_t bytes[MOST_BYTES]; /* the input in work */
static size_t size;
static const char *failure;

/* ---- What was reached ---- */

static uint8_t reached[1 << 16];
static int reached_new;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    uintptr_t here = (uintptr_t)__builtin_return_address(0);
    uint8_t *mark = &reached[(here ^ here >> 16) & 0xffff];
    reached_new |= !*mark;
    *mark = 1;
}

static int count_reached(void)
{
    int n = 0;
    for (size_t i = 0; i < sizeof reached; i++)
        n += reached[i];
    return n;
}

/* ---- What failed ---- */

static void keep_failure(void)
{
    FILE *file = failure ? fopen(failure, "wb") : NULL;
    if (!file)
        return;
    fwrite(bytes, 1, size, file);
    fclose(file);
    fprintf(stderr, "the input is in %s\n", failure);
}

static void too_slow(int signal_number)
{
    (void)signal_number;
    fprintf(stderr, "an input took more than %d seconds\n", SLOWEST);
    keep_failure();
    _exit(1);
}

void __sanitizer_set_death_callback(void (*callback)(void));
/* Every failure ends in abort(), and that in keep_failure(). */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "handle_abort=1"; }
const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void) { return "abort_on_error=1:print_stacktrace=1"; }

/* ---- Inputs ---- */

static void add_input(const uint8_t *from, size_t length)
{
    if (pooled == MOST_INPUTS)
        return;
    uint8_t *copy = take_memory(length);
    memcpy(copy, from, length);
    pool[pooled++] = (sample){length, copy};
}

static void read_input(const char *name)
{
    FILE *file = fopen(name, "rb");
    if (!file) {
        perror(name);
        exit(2);
    }
    size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
}

static void try_input(void)
{
    /* In memory of its own size, as libFuzzer does it. */
    uint8_t *exact = take_memory(size);
    memcpy(exact, bytes, size);
    reached_new = 0;
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

/* ---- Mutation ---- */

static uint64_t random_state;

static size_t below(size_t n) /* xorshift64* */
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (size_t)((random_state * 0x2545F4914F6CDD1DULL) >> 33) % n;
}

/* Puts `n` bytes of another input at `at`: over what is there, or between. */
static void splice(size_t at, int between)
{
    const sample *other = &pool[below((size_t)pooled)];
    if (!other->size)
        return;
    size_t from = below(other->size), n = 1 + below(other->size - from);
    if (at + n > MOST_BYTES)
        n = MOST_BYTES - at;
    size_t end = between ? size + n : at + n > size ? at + n : size;
    if (end > MOST_BYTES)
        end = MOST_BYTES;
    if (between && at + n < end)
        memmove(bytes + at + n, bytes + at, end - at - n);
    memcpy(bytes + at, other->bytes + from, n);
    size = end;
}

static void cut(size_t at)
{
    size_t n = 1 + below(size - at);
    memmove(bytes + at, bytes + at + n, size - at - n);
    size -= n;
}

static void mutate(void)
{
    static const uint8_t odd[] = {0, 1, 0x7f, 0x80, 0xff};
    size_t at = size ? below(size) : 0;
    size_t kind = size ? below(8) : 7;
    switch (kind) {
    case 0: bytes[at] ^= (uint8_t)(1 << below(8)); break;
    case 1: bytes[at] = odd[below(sizeof odd)]; break;
    case 2: bytes[at] = (uint8_t)(bytes[at] + 1 - 2 * below(2)); break;
    case 3: cut(at); break;
    case 4:
    case 5: splice(at, kind == 4); break;
    case 6: bytes[at] = (uint8_t)below(256); break;
    default: /* grow by random bytes */
        for (size_t n = 1 + below(64); n && size < MOST_BYTES; n--)
            bytes[size++] = (uint8_t)below(256);
    }
}

static void choose_input(void)
{
    const sample *chosen = &pool[below((size_t)pooled)];
    size = chosen->size;
    memcpy(bytes, chosen->bytes, size);
    for (size_t n = 1 + below(6); n; n--)
        mutate();
}

static long fuzz(double seconds)
{
    long tried = 0;
    struct timespec begun, now;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    do {
        alarm(SLOWEST);
        choose_input();
        try_input();
        if (reached_new)
            add_input(bytes, size);
        tried++;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((double)(now.tv_sec - begun.tv_sec) + 1e-9 * (double)(now.tv_nsec - begun.tv_nsec)
             < seconds);
    return tried;
}

static int is_number(const char *text) { return *text && !text[strspn(text, "0123456789")]; }

int main(int argc, char **argv)
{
    int fuzzing = argc > 3 && is_number(argv[1]) && is_number(argv[2]);
    failure = fuzzing ? argv[3] : NULL;
    __sanitizer_set_death_callback(keep_failure);
    signal(SIGALRM, too_slow);
    add_input(bytes, 0);
    for (int i = fuzzing ? 4 : 1; i < argc; i++) {
        read_input(argv[i]);
        try_input();
        add_input(bytes, size);
    }
    int files = pooled - 1;
    random_state = 0x9E3779B97F4A7C15ULL ^ (fuzzing ? strtoull(argv[2], NULL, 10) : 0);
    long tried = fuzzing ? fuzz(strtod(argv[1], NULL)) : 0;
    printf("%s: %d files, %ld mutations, %d places reached\n", argv[0], files, tried,
           count_reached());
    for (int i = 0; i < pooled; i++)
        free(pool[i].bytes);
    return 0;
}
