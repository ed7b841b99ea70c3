/* Of C's library, what the engine needs in a browser (libc.c). */
#ifndef SK_PAGE_STRING_H
#define SK_PAGE_STRING_H

#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int byte, size_t n);
int memcmp(const void *a, const void *b, size_t n);
size_t strlen(const char *text);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
char *strchr(const char *text, int c);
size_t strspn(const char *text, const char *of);
size_t strcspn(const char *text, const char *of);

#endif
