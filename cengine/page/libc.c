/* Of C's library, what the engine needs in a browser. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "functions.h"

/* ---- Memory: blocks that grow from the module's end; freed ones serve who asks for as much ----
 */

enum { ALIGNMENT = 64, PAGE_BYTES = 65536 };

typedef struct block {
    size_t size;
    struct block *next; /* of those that are free */
} block;

extern unsigned char __heap_base;
static uintptr_t top; /* 0: nothing is taken yet */
static block *freed;

static block *block_of(void *at) { return (block *)((uintptr_t)at - ALIGNMENT); }

void *malloc(size_t n)
{
    size_t size = (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + ALIGNMENT;
    for (block **at = &freed; *at; at = &(*at)->next)
        if ((*at)->size == size) {
            block *found = *at;
            *at = found->next;
            return (void *)((uintptr_t)found + ALIGNMENT);
        }
    if (!top)
        top = ((uintptr_t)&__heap_base + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    uintptr_t end = top + size, have = __builtin_wasm_memory_size(0) * PAGE_BYTES;
    size_t pages = end > have ? (end - have + PAGE_BYTES - 1) / PAGE_BYTES : 0;
    if (end < top || (pages && __builtin_wasm_memory_grow(0, pages) == (size_t)-1))
        return NULL;
    block *found = (block *)top;
    found->size = size;
    top = end;
    return (void *)((uintptr_t)found + ALIGNMENT);
}

void *calloc(size_t n, size_t size)
{
    void *out = malloc(n * size);
    return out ? memset(out, 0, n * size) : NULL;
}

void *aligned_alloc(size_t alignment, size_t n) { return alignment > ALIGNMENT ? NULL : malloc(n); }

void free(void *at)
{
    if (!at)
        return;
    block_of(at)->next = freed;
    freed = block_of(at);
}

/* ---- Bytes and text ---- */

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    unsigned char *out = to;
    for (const unsigned char *in = from; n--;)
        *out++ = *in++;
    return to;
}

void *memmove(void *to, const void *from, size_t n)
{
    unsigned char *out = to;
    const unsigned char *in = from;
    if ((uintptr_t)out <= (uintptr_t)in)
        return memcpy(to, from, n);
    while (n--)
        out[n] = in[n];
    return to;
}

void *memset(void *to, int byte, size_t n)
{
    for (unsigned char *out = to; n--;)
        *out++ = (unsigned char)byte;
    return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
    const unsigned char *x = a, *y = b;
    for (; n; n--, x++, y++)
        if (*x != *y)
            return *x - *y;
    return 0;
}

size_t strlen(const char *text)
{
    size_t n = 0;
    while (text[n])
        n++;
    return n;
}

int strcmp(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return (unsigned char)*a - (unsigned char)*b;
}

char *strchr(const char *text, int c)
{
    for (; *text != (char)c; text++)
        if (!*text)
            return NULL;
    return (char *)text;
}

size_t strcspn(const char *text, const char *of)
{
    size_t n = 0;
    while (text[n] && !strchr(of, text[n]))
        n++;
    return n;
}

size_t strspn(const char *text, const char *of)
{
    size_t n = 0;
    while (text[n] && strchr(of, text[n]))
        n++;
    return n;
}

/* A decimal number without sign, as rules have them. */
long strtol(const char *text, char **end, int base)
{
    long value = 0;
    for (; *text >= '0' && *text <= '9' && value < 100000000; text++)
        value = 10 * value + (*text - '0');
    *end = (char *)text;
    return value;
}

/* The format as it stands: nobody reads a message here, since who wrote the page has seen them. */
int snprintf(char *out, size_t size, const char *format, ...)
{
    size_t n = strlen(format);
    n = n < size ? n : size - 1;
    if (size) {
        memcpy(out, format, n);
        out[n] = 0;
    }
    return (int)n;
}

/* ---- Numbers ---- */

float expf(float x) { return (float)script_exp(x); }

/* ---- What compilers call ---- */

__extension__ typedef unsigned __int128 wide;

typedef union {
    wide all;
    uint64_t half[2]; /* the lower one first */
} halves;

wide __ashlti3(wide x, int by)
{
    halves in = {.all = x}, out = {.half = {0, in.half[0] << (by & 63)}};
    if (by < 64) {
        out.half[1] = in.half[1] << by | (by ? in.half[0] >> (64 - by) : 0);
        out.half[0] = in.half[0] << by;
    }
    return out.all;
}

wide __lshrti3(wide x, int by)
{
    halves in = {.all = x}, out = {.half = {in.half[1] >> (by & 63), 0}};
    if (by < 64) {
        out.half[0] = in.half[0] >> by | (by ? in.half[1] << (64 - by) : 0);
        out.half[1] = in.half[1] >> by;
    }
    return out.all;
}
