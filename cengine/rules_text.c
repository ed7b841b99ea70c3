#include "rules_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const rule_slot *slot_named(const rule_slot *slots, const char *name, size_t length)
{
    for (; slots->name; slots++)
        if (strlen(slots->name) == length && memcmp(slots->name, name, length) == 0)
            return slots;
    return NULL;
}

int sk_read_rules(const char *text, const rule_slot *slots, char *error, size_t error_size)
{
    while (*text) {
        size_t length = strcspn(text, "= ");
        const rule_slot *slot = slot_named(slots, text, length);
        if (!slot || text[length] != '=') {
            snprintf(error, error_size, "unknown rule '%.*s'", (int)length, text);
            return 0;
        }
        char *end;
        long value = strtol(text + length + 1, &end, 10);
        if (end == text + length + 1 || (*end && *end != ' ') || value < slot->least
            || value > slot->most) {
            snprintf(error, error_size, "rule %s: a number from %d to %d is needed", slot->name,
                     (int)slot->least, (int)slot->most);
            return 0;
        }
        *slot->value = (int32_t)value;
        text = end + strspn(end, " ");
    }
    return 1;
}
