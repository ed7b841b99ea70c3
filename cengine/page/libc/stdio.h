/* Of C's library, what the engine needs in a browser (libc.c). */
#ifndef SK_PAGE_STDIO_H
#define SK_PAGE_STDIO_H

#include <stddef.h>

int snprintf(char *out, size_t size, const char *format, ...);

#endif
