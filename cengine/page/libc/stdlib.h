/* Of C's library, what the engine needs in a browser (libc.c). */
#ifndef SK_PAGE_STDLIB_H
#define SK_PAGE_STDLIB_H

#include <stddef.h>

void *malloc(size_t n);
void *calloc(size_t n, size_t size);
void *aligned_alloc(size_t alignment, size_t n);
void free(void *at);
long strtol(const char *text, char **end, int base);

#endif
