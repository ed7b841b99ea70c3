/* Reading "key=value key=value" into named integers. */
#ifndef SK_RULES_TEXT_H
#define SK_RULES_TEXT_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char *name; /* NULL ends a list */
    int32_t *value;
    int32_t least, most;
} rule_slot;

/* 0 and a text in `error` when a key is unknown or a value out of range. */
int sk_read_rules(const char *text, const rule_slot *slots, char *error, size_t error_size);

#endif
