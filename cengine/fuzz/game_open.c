/* sk_game_open: any name, any text of rules. The input: size of the error text, name, newline,
 * rules. */
#include <string.h>

#include "input.h"

static char *take_line(input *in)
{
    size_t length = 0;
    while (length < in->left && in->at[length] != '\n')
        length++;
    char *line = take_memory(length + 1);
    memcpy(line, in->at, length);
    line[length] = 0;
    size_t used = length + (length < in->left);
    in->at += used;
    in->left -= used;
    return line;
}

/* Endings are numbered from 0, without gaps. */
static void check_endings(const sk_game *game)
{
    int named = 1;
    for (int32_t code = 0; code < 20; code++) {
        int is_named = sk_game_ending(game, code) != NULL;
        MUST(is_named <= named && (is_named || code >= 2));
        named = is_named;
    }
    MUST(!named && !sk_game_ending(game, -1) && !sk_game_ending(game, -2));
}

/* What a game says of its rules makes the same game again; a text that does not fit is cut. */
static void check_rules(const char *name, const sk_game *game, size_t small)
{
    char rules[400], again[400], error[400];
    sk_game_rules(game, rules, sizeof rules);
    MUST(strlen(rules) < sizeof rules - 1);
    sk_game *twin = sk_game_open(name, rules, error, sizeof error);
    MUST(twin);
    sk_game_rules(twin, again, sizeof again);
    MUST(strcmp(rules, again) == 0);
    sk_description a, b;
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    sk_game_describe(game, &a);
    sk_game_describe(twin, &b);
    MUST(memcmp(&a, &b, sizeof a) == 0);
    MUST(a.players >= 1 && a.actions > 0 && a.max_length >= 0 && a.state_bytes > 0);
    sk_game_close(twin);
    char *cut = take_memory(small);
    sk_game_rules(game, cut, small);
    MUST(strlen(cut) == (strlen(rules) < small ? strlen(rules) : small - 1));
    MUST(memcmp(cut, rules, strlen(cut)) == 0);
    free(cut);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input in = {data, size};
    size_t error_size = (size_t)take8(&in) + 1;
    char *error = take_memory(error_size), *name = take_line(&in), *rules = take_line(&in);
    error[0] = 0;
    sk_game *game = sk_game_open(name, rules, error, error_size);
    if (game)
        check_rules(name, game, error_size);
    else
        MUST(strlen(error) > 0 || error_size == 1);
    if (game)
        check_endings(game);
    sk_game_close(game);
    free(error);
    free(name);
    free(rules);
    return 0;
}
